"""Loops with what they test, do and change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.nodes import EMPTY, Node, names, only, unwrapped

STEPS = ("++", "--")


@dataclass(frozen=True)
class Loop:
    """A loop with what it tests, does and changes."""

    node: Node
    condition: Node
    body: Node

    @cached_property
    def statements(self) -> tuple[Node, ...]:
        """What one pass executes."""
        return self.body.kids if self.body.kind == "block" else (self.body,)

    @cached_property
    def changed(self) -> dict[str, tuple[Node, ...]]:
        """Names that the loop sets -> what it sets them to."""
        found: dict[str, tuple[Node, ...]] = {}
        for node in self.node.walk():
            if node.kind == "assign":
                name, value = unwrapped(node.kids[0]).text, node.kids[1] if node.text == "=" else node
            elif node.kind == "postfix" or (node.kind == "unary" and node.text in STEPS):
                name, value = unwrapped(node.kids[0]).text, node
            elif node.kind == "variable" and node.initial is not None:
                name, value = node.text, node.initial
            else:
                continue
            found[name] = (*found.get(name, ()), value)
        return found

    @cached_property
    def exits(self) -> tuple[Node, ...]:
        """The conditions that end the loop."""
        breaking = [s.kids[0] for s in self.statements if s.kind == "if" and _only_breaks(s.kids[1])]
        return (*(() if _constant_true(self.condition) else (self.condition,)), *breaking)

    @cached_property
    def leaving(self) -> tuple[Node, ...]:
        """The exits, and what guards other jumps out; who goes on is of interest where all others leave."""
        known = {id(condition) for condition in self.exits}
        last = self.statements[-1] if self.statements else EMPTY
        staying = () if last.kind == "return" or last.text == "break" else ("continue",)
        guards = (n.kids[0] for n in _branches(self.body) if any(_jumps(kid, staying) for kid in n.kids[1:]))
        return (*self.exits, *(guard for guard in guards if id(guard) not in known))

    @cached_property
    def decisions(self) -> tuple[Node, ...]:
        """The exits, and what else decides whether the loop goes on: what guards its jumps and the flags they read."""
        read = {name for condition in self.exits for name in names(condition)}
        guards = [node.kids[0] for node in _branches(self.body) if any(_decides(kid, read) for kid in node.kids[1:])]
        known = {id(condition) for condition in self.exits}
        return (*self.exits, *(guard for guard in guards if id(guard) not in known))

    @cached_property
    def tested(self) -> tuple[Node, ...]:
        """What decides: the expressions, and what the loop puts into the variables they read."""
        read = {name for condition in self.decisions for name in names(condition)}
        return (*self.decisions, *(value for name in sorted(read) for value in self.changed.get(name, ())))

    @cached_property
    def is_counted(self) -> bool:
        """Whether the loop ends by itself after some rounds: an exit compares a counter that each round moves on."""
        counters = {name for statement in self.statements for name in _stepped(statement)}
        ends = list(_parts(self.condition, "&&"))
        for condition in self.exits:
            ends += _parts(condition, "||") if condition is not self.condition else ()
        sides = (map(unwrapped, end.kids) for end in ends if end.kind == "binary" and end.text in _COMPARISONS)
        return any(_is_step(side) or side.text in counters for pair in sides for side in pair)

    def moves(self, node: Node) -> bool:
        """Whether an expression reads variables that the loop computes anew."""
        moving = {name for name, values in self.changed.items() if any(value.kind != "number" for value in values)}
        return not moving.isdisjoint(names(node))


def parts_of(loop: Node) -> Loop:
    """A loop of any kind as condition and body; the step of a `for` is the last statement."""
    if loop.kind == "for":
        step, body = loop.kids[2:]
        if step.kind == "empty":
            return Loop(loop, loop.kids[1], body)
        stepped = Node("statement", step.first, step.last, kids=(step,))
        statements = body.kids if body.kind == "block" else (body,)
        return Loop(loop, loop.kids[1], Node("block", loop.first, loop.last, kids=(*statements, stepped)))
    condition, body = (loop.kids[1], loop.kids[0]) if loop.kind == "do" else (loop.kids[0], loop.kids[1])
    return Loop(loop, condition, body)


def leaps_back(block: Node, texts: Sequence[str]) -> tuple[Node, ...]:
    """Labels that a `goto` behind them leads back to, in whatever it stands, as loops that end unless it does."""
    labels = (
        {kid.text: place for place, kid in enumerate(block.kids) if _is_label(kid)} if block.kind == "block" else {}
    )
    if not labels:
        return ()
    found: list[Node] = []
    ends = {label: place for place, kid in enumerate(block.kids) for label in _led_to(kid, texts)}
    for label, place in labels.items():
        end = ends.get(label, -1)
        if end > place:
            kids = tuple(_going_on(kid, label, texts) for kid in block.kids[place + 1 : end + 1])
            first, last = block.kids[place].first, block.kids[end].last
            body = Node("block", first, last, kids=(*kids, Node("jump", last, last, "break")))
            found.append(Node("while", first, last, kids=(EMPTY, body)))
    return tuple(found)


def _is_label(node: Node) -> bool:
    return node.kind == "label" and node.text not in ("case", "default")


def _led_to(node: Node, texts: Sequence[str]) -> Iterator[str]:
    """The labels of the jumps below a node."""
    for below in node.walk():
        if below.kind == "jump" and below.text == "goto":
            yield from texts[below.first + 1 : below.first + 2]


def _is_leap(node: Node, label: str, texts: Sequence[str]) -> bool:
    return node.kind == "jump" and node.text == "goto" and texts[node.first + 1 : node.first + 2] == [label]


def _going_on(node: Node, label: str, texts: Sequence[str]) -> Node:
    """With `continue` for the jump; in a loop inside, where that would mean another one, it stays."""
    if _is_leap(node, label, texts):
        return Node("jump", node.first, node.last, "continue")
    if node.kind not in ("block", "if"):
        return node
    kids = tuple(_going_on(kid, label, texts) for kid in node.kids)
    return Node(node.kind, node.first, node.last, node.text, kids)


_COMPARISONS = frozenset({"<", "<=", ">", ">=", "!=", "=="})
_INNER = ("for", "while", "do", "range", "macroloop", "lambda")


def _branches(node: Node) -> Iterator[Node]:
    """The branches below a node, loops of its own and lambdas left out."""
    if node.kind in ("if", "switch"):
        yield node
    if node.kind not in _INNER:
        for kid in node.kids:
            yield from _branches(kid)


def _decides(branch: Node, read: set[str]) -> bool:
    """Whether a branch jumps, or sets what the exits read."""
    return any(
        node.kind in ("jump", "return")
        or (node.kind == "assign" and unwrapped(node.kids[0]).text in read)
        or ((node.kind == "postfix" or _is_step(node)) and unwrapped(node.kids[0]).text in read)
        for node in branch.walk()
    )


def _jumps(branch: Node, staying: tuple[str, ...]) -> bool:
    """Whether a branch jumps for itself, other than to stay; the jumps of a loop in it are that loop's."""
    if branch.kind in ("jump", "return"):
        return branch.text not in staying
    return branch.kind not in _INNER and any(_jumps(kid, staying) for kid in branch.kids)


def _is_step(node: Node) -> bool:
    return node.kind in ("postfix", "unary") and node.text in STEPS


def _stepped(statement: Node) -> Iterator[str]:
    """Counters that a statement itself moves on, whatever holds: `++i`, `i += 2`."""
    inner = statement.kids[0] if statement.kind == "statement" and statement.kids else EMPTY
    for node in inner.kids if inner.kind == "comma" else (inner,):
        step = node.kind == "assign" and node.text in ("+=", "-=") and unwrapped(node.kids[1]).kind == "number"
        if (step or _is_step(node)) and unwrapped(node.kids[0]).kind == "name":
            yield unwrapped(node.kids[0]).text


def _parts(condition: Node, operator: str) -> Iterator[Node]:
    """What a condition joins by `&&` or `||`."""
    condition = unwrapped(condition)
    if condition.kind == "binary" and _SPELLED.get(condition.text, condition.text) == operator:
        for kid in condition.kids:
            yield from _parts(kid, operator)
    else:
        yield condition


_SPELLED = {"and": "&&", "or": "||"}


def _constant_true(condition: Node) -> bool:
    return condition is EMPTY or condition.text in ("true", "1")


def _only_breaks(statement: Node) -> bool:
    jump = only(statement)
    return jump.kind == "jump" and jump.text == "break"
