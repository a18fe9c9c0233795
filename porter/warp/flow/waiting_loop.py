"""Loops with what they test, do and change."""

from __future__ import annotations

from collections.abc import Sequence
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
    def tested(self) -> tuple[Node, ...]:
        """What the exits test: their own expressions, and what the loop puts into the variables they read."""
        read = {name for condition in self.exits for name in names(condition)}
        return (*self.exits, *(value for name in sorted(read) for value in self.changed.get(name, ())))

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


def jumping_back(block: Node, texts: Sequence[str]) -> tuple[Node, ...]:
    """`again: ...; if (condition) goto again;` as loops."""
    found: list[Node] = []
    for place, label in enumerate(block.kids if block.kind == "block" else ()):
        if label.kind != "label" or not label.text:
            continue
        for end, node in enumerate(block.kids[place + 1 :], place + 1):
            jump = only(node.kids[1]) if node.kind == "if" and len(node.kids) == 2 else EMPTY
            if jump.kind == "jump" and jump.text == "goto" and texts[jump.first + 1 : jump.first + 2] == [label.text]:
                between = Node("block", label.first, node.last, kids=block.kids[place + 1 : end])
                found.append(Node("do", label.first, node.last, kids=(between, node.kids[0])))
                break
    return tuple(found)


def _constant_true(condition: Node) -> bool:
    return condition is EMPTY or condition.text in ("true", "1")


def _only_breaks(statement: Node) -> bool:
    jump = only(statement)
    return jump.kind == "jump" and jump.text == "break"
