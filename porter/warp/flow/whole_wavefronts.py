"""Conditions that part a block between whole wavefronts of 64 threads: `threadIdx.x / 128 == 0`, `warp < 2`."""

from __future__ import annotations

from porter.cpp.nodes import Node, bare_callee, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.flow.lane_distance import Distances
from porter.warp.function import Function

_WAVEFRONT = 64
_DEEPEST = 6
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def keeps_wavefronts(bodies: Bodies, function: Function, condition: Node) -> bool | None:
    """Whether all threads of a wavefront take the same side, in a block of one dimension; None: nothing tells."""
    if not function.words.isdisjoint(("y", "z")):  # rows of another length than 64 would cut wavefronts in two
        return None
    return _Reader(bodies, function).keeps(condition, 0)


class _Reader:
    def __init__(self, bodies: Bodies, function: Function) -> None:
        self.bodies = bodies
        self.function = function
        self.sources = Distances(bodies, function).sources

    def keeps(self, node: Node, depth: int) -> bool | None:
        """Whether a condition is the same for each group of 64 threads."""
        node = unwrapped(node)
        if depth > _DEEPEST:
            return None
        if node.kind == "binary" and node.text in ("&&", "||"):
            kept = [self.keeps(kid, depth + 1) for kid in node.kids]
            return None if None in kept else all(kept)
        if node.kind == "unary" and node.text == "!":
            return self.keeps(node.kids[0], depth + 1)
        if node.kind == "binary" and node.text in _MIRROR:
            return self._compares(node.text, *node.kids)
        if (group := self._group(node, 0)) is not None:
            return group % _WAVEFRONT == 0
        source = self._only(node)
        return None if source is None else self.keeps(source, depth + 1)

    def _compares(self, operator: str, left: Node, right: Node) -> bool | None:
        group, bound = self._group(left, 0), self.bodies.constants.value(right)
        if group is None:
            operator, group, bound = _MIRROR[operator], self._group(right, 0), self.bodies.constants.value(left)
        if group is None or group % _WAVEFRONT == 0:
            return None if group is None else True
        if operator in ("==", "!="):
            return False
        return None if bound is None else group * (bound + (operator in ("<=", ">"))) % _WAVEFRONT == 0

    def _group(self, node: Node, depth: int) -> int | None:
        """For how many threads that stand side by side a number of threads, warps or groups is the same."""
        node = unwrapped(node)
        if depth > _DEEPEST:
            return None
        if node.kind == "member" and node.text == "x" and unwrapped(node.kids[0]).text == "threadIdx":
            return 1
        if node.kind == "cast" and len(node.kids) == 1:
            return self._group(node.kids[0], depth + 1)
        if node.kind == "binary" and node.text in ("/", ">>"):
            by, group = self.bodies.constants.value(node.kids[1]), self._group(node.kids[0], depth + 1)
            if by is None or group is None or not 0 < by < 1024:
                return None
            return group * by if node.text == "/" else group << min(by, 10)
        if node.kind == "binary" and node.text == "%":
            by = self.bodies.constants.value(node.kids[1])
            return self._group(node.kids[0], depth + 1) if by is not None and by % _WAVEFRONT == 0 else None
        if node.kind == "call" and bare_callee(node) == "__shfl_sync" and len(node.arguments) == 3:
            group = self._group(node.arguments[1], depth + 1)
            return group if group is not None and group % (_WAVEFRONT // 2) == 0 else None
        source = self._only(node)
        return None if source is None else self._group(source, depth + 1)

    def _only(self, node: Node) -> Node | None:
        """What a variable is set to, where that is one place; what a helper without parameters returns."""
        if node.kind == "name":
            sources = self.sources.get(node.text, ())
            return sources[0] if len(sources) == 1 and node.text not in self.function.parameters else None
        helpers = self.bodies.by_name.get(bare_callee(node), ()) if node.kind == "call" and not node.arguments else ()
        if len(helpers) == 1:
            kids = helpers[0].body.kids
            return kids[0].kids[0] if len(kids) == 1 and kids[0].kind == "return" and kids[0].kids else None
        return None
