"""Steps whose barrier is left out once one warp is left: `if (o > 32) __syncthreads();` in a loop over o."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from porter.cpp.nodes import Node, calls, only, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import BARRIERS
from porter.warp.function import Function

_WIDEST = 64
_OPPOSITE = {"<": ">", "<=": ">="}


def short_steps(bodies: Bodies, function: Function) -> frozenset[str]:
    """The variables and parameters of templates that a function's barriers ask for more than a warp."""
    known = cast("dict[Function, frozenset[str]]", bodies.memo.setdefault("short steps", {}))
    if function not in known:
        known[function] = frozenset(_steps(bodies, function)) if function.has_barrier else frozenset()
    return known[function]


def short_helpers(bodies: Bodies) -> Iterator[tuple[Function, frozenset[str]]]:
    """Functions with such steps that are handed an array, and the pointers that they take it by."""
    for function in bodies.functions:
        if function.is_kernel or not short_steps(bodies, function):
            continue
        pointers = frozenset(name for name, kind in function.parameter_types.items() if "*" in kind or "[" in kind)
        if written := pointers & _written(function.body):
            yield function, written


def _steps(bodies: Bodies, function: Function) -> Iterator[str]:
    for node in function.body.walk():
        if node.kind == "if" and len(node.kids) == 2 and _is_barrier(only(node.kids[1])):
            condition = unwrapped(node.kids[0])
            if condition.kind == "binary" and condition.text in (">", ">=", "<", "<="):
                sides = [unwrapped(kid) for kid in condition.kids]
                left, right = sides if condition.text not in _OPPOSITE else reversed(sides)
                bound = bodies.constants.value(right)
                if left.kind == "name" and bound is not None and 0 < bound <= _WIDEST:
                    yield left.text


def _is_barrier(statement: Node) -> bool:
    found = [call.callee.rpartition("::")[2] for call in calls(statement)] if statement.kind == "statement" else []
    return len(found) == 1 and (found[0] in BARRIERS or found[0].endswith(".sync"))


def _written(body: Node) -> frozenset[str]:
    """Arrays with an element that is assigned."""
    targets = (unwrapped(node.kids[0]) for node in body.walk() if node.kind == "assign")
    bases = (unwrapped(target.kids[0]) for target in targets if target.kind == "index")
    return frozenset(base.text for base in bases if base.kind == "name")
