"""What a small helper without loops returns and writes, in terms of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porter.cpp.nodes import EMPTY, Node, unwrapped

_MOST_STATEMENTS = 24
_MOST_NODES = 200
"""A value that is put in where its variable stands."""


@dataclass(frozen=True, slots=True)
class Result:
    """The value, None for none, and before it what is written through parameters and members, and called."""

    value: Node | None
    effects: tuple[Node, ...]


def result_of(body: Node, parameters: Sequence[str]) -> Result | None:
    """None for a body that has loops or jumps, or is no small one."""
    if not has_no_loops(body):
        return None
    reader = _Reader(frozenset(parameters))
    value = reader.read(body.kids)
    return None if reader.count > _MOST_STATEMENTS else Result(value, tuple(reader.effects))


def has_no_loops(body: Node) -> bool:
    """Whether each statement is executed at most once, one after the other."""
    return not any(node.kind in _LOOPS for node in body.walk())


def _is_small(node: Node) -> bool:
    return sum(1 for _ in node.walk()) <= _MOST_NODES


_LOOPS = frozenset({"for", "while", "do", "range", "macroloop", "switch", "jump", "lambda"})


def as_statement(effect: Node) -> Node:
    """An effect as a statement."""
    return effect if effect.kind == "if" else Node("statement", effect.first, effect.last, kids=(effect,))


class _Reader:
    def __init__(self, parameters: frozenset[str]) -> None:
        self.parameters = parameters
        self.values: dict[str, Node] = {}
        self.effects: list[Node] = []
        self.count = 0

    def read(self, statements: Sequence[Node]) -> Node | None:
        """The value that statements return, one choice in another where it hangs on conditions."""
        for place, node in enumerate(statements):
            self.count += 1
            if node.kind == "return":
                return self._known(node.kids[0]) if node.kids else None
            if node.kind == "block":
                return self.read((*node.kids, *statements[place + 1 :]))
            if node.kind == "if":
                return self._choice(node, statements[place + 1 :])
            self._one(node)
        return None

    def _choice(self, node: Node, rest: Sequence[Node]) -> Node | None:
        condition = self._known(node.kids[0])
        before, effects = dict(self.values), self.effects
        self.effects = []
        then = self.read((node.kids[1],))
        self.values = before if then is not None else self.values
        if self.effects:
            kids = tuple(map(as_statement, self.effects))
            inner = Node("block", node.first, node.last, kids=kids)
            effects.append(Node("if", node.first, node.last, kids=(condition, inner)))
        self.effects = effects
        other = self.read((*node.kids[2:], *rest))
        if then is None or other is None:
            # what is returned on the other way hangs on the condition, whatever it is
            found = then if then is not None else other
            return None if found is None else Node("comma", node.first, node.last, kids=(condition, found))
        return Node("ternary", node.first, node.last, kids=(condition, then, other))

    def _one(self, node: Node) -> None:
        if node.kind == "declaration":
            for variable in node.kids:
                if variable.initial is not None and not variable.count:
                    self._keep(variable.text, self._known(variable.initial))
        elif node.kind == "statement" and len(node.kids) == 1:
            self._expression(node.kids[0])

    def _expression(self, node: Node) -> None:
        inner = unwrapped(node)
        if inner.kind == "comma":
            for kid in inner.kids:
                self._expression(kid)
            return
        if inner.kind == "assign":
            target = unwrapped(inner.kids[0])
            value = self._known(inner.kids[1])
            is_own = target.kind == "name" and target.text not in self.parameters
            if target.kind == "name" and inner.text == "=":
                self._keep(target.text, value)
            if not is_own:
                into = target if target.kind == "name" else self._known(target)
                self.effects.append(Node("assign", inner.first, inner.last, inner.text, (into, value)))
        elif inner.kind == "call":
            self.effects.append(self._known(inner))

    def _keep(self, name: str, value: Node) -> None:
        if _is_small(value):
            self.values[name] = value
        else:
            self.values.pop(name, None)

    def _known(self, node: Node) -> Node:
        return substituted(node, self.values)


def substituted(node: Node, values: Mapping[str, Node]) -> Node:
    """A tree with the values of variables in their place."""
    if node.kind == "name" and not node.kids:
        return values.get(node.text, node)
    kids = tuple(substituted(kid, values) for kid in node.kids)
    if node is EMPTY or all(new is old for new, old in zip(kids, node.kids, strict=True)):
        return node
    return Node(node.kind, node.first, node.last, node.text, kids, node.extra, node.count)
