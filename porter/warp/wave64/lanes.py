"""What counts threads, lanes and wavefronts in a function of HIP code, and its operations between lanes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from porter.cpp.constants import number
from porter.cpp.nodes import Node, spelled, unwrapped
from porter.warp.collectives import Collective, argument, collective
from porter.warp.function import Function
from porter.warp.wave64.body import Body
from porter.warp.wave64.names import HALF, LANE_CALLS, WHOLE

_THREAD = re.compile(
    r"(?:threadIdx\.x|hipThreadIdx_x|(?:thread_?|flat_?)?(?:id|idx|index|rank)|tid(?:_?x)?|tx|gtid|tidx)"
)
_LANE = re.compile(r"\w*lane(?:_?id(?:x)?|_?num|_?index)?", re.IGNORECASE)
_BLOCK = re.compile(r"blockDim\.x|hipBlockDim_x|block_?size|num_?threads|BLOCK_?SIZE|kBlock_?Size", re.IGNORECASE)


TORCHS_SHUFFLES = {
    name: Collective(name, "shuffle", None, 0, 1, 2)
    for name in ("WARP_SHFL", "WARP_SHFL_UP", "WARP_SHFL_DOWN", "WARP_SHFL_XOR")
}
"""PyTorch's helpers, whose width is that of the hardware where it is left out."""


@dataclass(frozen=True)
class Divided:
    """A thread's number, or the number of threads, divided: what is divided, by which group, and its remainder."""

    node: Node
    group: int
    """32 or 64."""
    remainder: bool
    threads: bool
    """The number of threads of a block, and not a thread's."""


@dataclass(frozen=True)
class Lanes(Body):
    """A function with the numbers of lanes in it."""

    def is_thread(self, node: Node, depth: int = 0) -> bool:
        """Whether an expression counts threads: `threadIdx.x`, `tid`, and sums with them."""
        node = unwrapped(node)
        if depth > 6:
            return False
        if node.kind in ("name", "member"):
            text = spelled(node)
            if text in ("threadIdx.x", "hipThreadIdx_x"):
                return True
            known = self.values.get(text)
            if known:
                return all(self.is_thread(one, depth + 1) for one in known)
            return text in self.function.parameters and _THREAD.fullmatch(text) is not None
        return (
            node.kind == "binary"
            and node.text in ("+", "*")
            and any(self.is_thread(kid, depth + 1) for kid in node.kids)
        )

    def is_block(self, node: Node) -> bool:
        """Whether an expression is the number of threads of a block."""
        return _BLOCK.fullmatch(spelled(unwrapped(node))) is not None

    def divided(self, node: Node) -> Divided | None:
        """`threadIdx.x % 64`, `tid & 31`, `blockDim.x / 32`, `tid >> 6`."""
        if node.kind != "binary" or node.text not in ("%", "&", "/", ">>"):
            return None
        threads = node.text in ("/", ">>") and self.is_block(node.kids[0])
        if not threads and not self.is_thread(node.kids[0]):
            return None
        size = self.size(node.kids[1])
        group = {"%": size, "/": size, "&": None if size is None else size + 1}.get(node.text)
        if node.text == ">>":
            group = None if size is None or not 0 <= size < 16 else 1 << size
        return Divided(node, group, node.text in "%&", threads) if group in (WHOLE, HALF) else None

    @cached_property
    def divisions(self) -> tuple[Divided, ...]:
        """All such expressions of the function."""
        return tuple(found for node in self.nodes if (found := self.divided(node)) is not None)

    def lane(self, node: Node, depth: int = 0) -> int | None:
        """64 for the number of a lane in its wavefront, 32 for that in a group of 32."""
        node = unwrapped(node)
        if depth > 6:
            return None
        if node.kind == "call":
            return self._lane_of_call(node, depth)
        if node.kind == "name":
            found = {self.lane(one, depth + 1) for one in self.values.get(node.text, ())}
            return found.pop() if len(found) == 1 else None
        if node.kind == "binary" and node.text in ("%", "&"):
            group = self.divided(node)
            if group is not None:
                return group.group
            if self.lane(node.kids[0], depth + 1) == WHOLE and self.size(node.kids[1]) == (
                HALF if node.text == "%" else HALF - 1
            ):
                return HALF
        return None

    def _lane_of_call(self, call: Node, depth: int) -> int | None:
        """What a helper returns, here or in a header, whatever its name; otherwise HIP's functions are known."""
        if call.callee == "porter::lane_id":
            return HALF
        name = call.callee.rpartition("::")[2]
        helpers = self.bodies.by_name.get(name, ())
        if not helpers:
            return WHOLE if name in LANE_CALLS else None
        found = {self._lane_returned(helper, depth + 2) for helper in helpers if helper.head.body is not None}
        return found.pop() if len(found) == 1 else None

    def _lane_returned(self, helper: Function, depth: int) -> int | None:
        key = "lane returned", id(helper), depth  # a name may have a hundred functions, and each call as many
        if key not in self.bodies.memo:
            inside = replace(self, function=helper)
            returned = [node.kids[0] for node in helper.body.walk() if node.kind == "return" and node.kids]
            self.bodies.memo[key] = inside.lane(returned[0], depth) if len(returned) == 1 else None
        return cast("int | None", self.bodies.memo[key])

    def looks_like_lane(self, node: Node) -> bool:
        """A lane of 64, or one by its name where nothing says of how many."""
        inner = unwrapped(node)
        known = self.lane(inner)
        return known == WHOLE or (known is None and inner.kind == "name" and _LANE.fullmatch(inner.text) is not None)

    @cached_property
    def collectives(self) -> tuple[tuple[Node, Collective], ...]:
        """The warp-wide calls of HIP's own names; those through `porter::` have 32 lanes and are right."""
        found = []
        for node in self.nodes:
            if node.kind == "call" and not node.callee.startswith("porter::"):
                one = collective(node) or TORCHS_SHUFFLES.get(node.callee)
                if one is None or not self.is_hips(node):
                    one = self.branches.operations.get(node.callee)
                if one is not None:
                    found.append((node, one))
        return tuple(found)

    def is_hips(self, call: Node) -> bool:
        """Whether a call's name is HIP's, and no macro or function of the project."""
        name, unit = call.callee.rpartition("::")[2], self.unit
        own = name in self.bodies.constants.macros or name in unit.declared or name in unit.own
        place = call.kids[0].last
        if place >= len(unit.tokens):  # in a helper of a header
            return not own and self.function.tokens.texts[place - 1] not in (".", "->", "::")
        return not own and unit.is_free(place)

    def width(self, call: Node, one: Collective) -> int | None:
        """Width of a shuffle: 64 when it is left out, None when it is not known."""
        if one.width is None:
            return WHOLE
        given = argument(call, one.width)
        return WHOLE if given is None else self.size(given)

    @cached_property
    def counts_with_32(self) -> bool:
        """Whether something in the function says that its groups have 32 lanes, and nothing that they have 64."""
        return HALF in self.groups and WHOLE not in self.groups

    @cached_property
    def speaks_of_64(self) -> bool:
        """Whether something hints at whole wavefronts: a literal 63 or 64, or a lane that is a thread's own number."""
        if any(node.kind == "number" and number(node.text) in (WHOLE - 1, WHOLE) for node in self.nodes):
            return True
        lanes = (argument(call, one.lane) for call, one in self.collectives if one.kind == "shuffle")
        return any(lane is not None and self._has_whole_thread(lane) for lane in lanes)

    def _has_whole_thread(self, node: Node) -> bool:
        """Whether an expression has a thread's number that is not cut to a lane's."""
        inner = unwrapped(node)
        if self.divided(inner) is not None or self.lane(inner) is not None:
            return False
        if inner.kind in ("name", "member"):
            return self.is_thread(inner)
        return any(self._has_whole_thread(kid) for kid in inner.kids)

    @cached_property
    def counts_with_64(self) -> bool:
        """Whether something says that a wavefront is whole, and nothing that there are groups of 32."""
        return WHOLE in self.groups and HALF not in self.groups

    @cached_property
    def groups(self) -> frozenset[int]:
        """The sizes of groups of lanes that the function counts with."""
        found = {one.group for one in self.divisions}
        found |= {lane for node in self.nodes if node.kind == "call" and (lane := self._lane_counted(node)) is not None}
        for call, one in self.collectives:
            if one.width is not None and argument(call, one.width) is not None:
                size = self.width(call, one)
                found |= {HALF} if size is not None and size < WHOLE else set()
        return frozenset(found)

    def _lane_counted(self, call: Node) -> int | None:
        """The group that a lane's number from a call is counted in: 32 for `__lane_id() & 31`."""
        lane, above = self.lane(call), self.around(call)
        cut = lane is not None and above.kind == "binary" and unwrapped(above.kids[0]) is call
        return HALF if cut and self.lane(above) == HALF else lane

    @cached_property
    def steps_by_32(self) -> bool:
        """Whether a shuffle moves values from one half of a wavefront to the other."""
        lanes = (argument(call, one.lane) for call, one in self.collectives if one.kind == "shuffle")
        sizes = [self.size(lane) for lane in lanes if lane is not None]
        return any(size is not None and size >= HALF for size in sizes)
