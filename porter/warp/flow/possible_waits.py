"""Loops that may turn out to wait once macros, lambdas and helpers are put in: most need not be looked at so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from porter.cpp.nodes import Node, bare_callee, calls, unwrapped
from porter.warp.flow.waiting_loop import STEPS, parts_of

_LOOPS = frozenset({"for", "while", "do"})
_WORK = frozenset({"for", "while", "do", "range", "return"})
"""Statements that no waiting loop has."""


@dataclass(frozen=True, slots=True)
class PossibleWaits:
    """A function's own loops, before anything is put in."""

    may_idle: Callable[[str], bool]
    """Whether a waiting loop may have calls of a name, or another text may stand for it."""

    def stand_in(self, body: Node, *, locks: bool) -> bool:
        """Whether a loop has no counter, nor, unless there are locks to take in it, work of its own."""
        return any(self._may_wait(node, locks) for node in body.walk() if node.kind in _LOOPS)

    def _may_wait(self, node: Node, locks: bool) -> bool:
        loop = parts_of(node)
        return (locks or all(map(self._idle, loop.statements))) and not loop.is_counted

    def _idle(self, statement: Node) -> bool:
        if statement.kind in _WORK:
            return False
        if statement.kind == "block":
            return all(map(self._idle, statement.kids))
        if statement.kind == "if":
            return all(self._idle(kid) or any(calls(kid)) for kid in statement.kids[1:])
        if statement.kind == "switch":
            return self._idle(statement.kids[1])
        if statement.kind == "statement":
            return len(statement.kids) == 1 and self._idle_value(statement.kids[0])
        return True

    def _idle_value(self, node: Node) -> bool:
        inner = unwrapped(node)
        if inner.kind == "comma":
            return all(map(self._idle_value, inner.kids))
        if inner.kind == "call":
            return inner.kids[0].kind == "lambda" or self.may_idle(bare_callee(inner))
        if inner.kind == "name":
            return self.may_idle(inner.text)
        if inner.kind == "assign":
            is_own = unwrapped(inner.kids[0]).kind == "name"
            return is_own and all(self.may_idle(bare_callee(call)) for call in calls(inner.kids[1]))
        is_step = inner.kind == "postfix" or (inner.kind == "unary" and inner.text in STEPS)
        return inner.kind == "opaque" or (is_step and unwrapped(inner.kids[0]).kind == "name")
