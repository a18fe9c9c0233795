"""One function of HIP code: which expressions are masks of 64 lanes, lane numbers, and numbers of wavefronts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from porter.cpp.constants import looks_like_warp_size, number
from porter.cpp.nodes import EMPTY, Node, names, spelled, unwrapped
from porter.cpp.statements import parse_expression
from porter.engine.unit import Unit
from porter.warp.bodies import Bodies, Function, bodies_of
from porter.warp.collectives import Collective, argument, collective
from porter.warp.wave64.types import aliases_of, bits_of

WHOLE, HALF = 64, 32
TRACE = r"__device__|__global__|__builtin_amdgcn_|ballot|activemask|__shfl|threadIdx|lane_?id|warpSize|WAVEFRONT_SIZE"
"""Without one of these a file has no code that could count on lanes."""
_MASK_CALLS = """
__ballot __ballot_sync __ballot64 __activemask __match_any __match_any_sync __match_all __match_all_sync
__builtin_amdgcn_ballot_w64 __builtin_amdgcn_read_exec __lanemask_lt __lanemask_le __lanemask_gt __lanemask_ge
"""
_MASKS = frozenset(_MASK_CALLS.split())
_LANE_CALLS = frozenset({"__lane_id", "lane_id", "__builtin_amdgcn_mbcnt_hi"})
_SIZES = frozenset({"warpSize", "__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__"})
_THREAD = re.compile(
    r"(?:threadIdx\.x|hipThreadIdx_x|(?:thread_?|flat_?)?(?:id|idx|index|rank)|tid(?:_?x)?|tx|gtid|tidx)"
)
_LANE = re.compile(r"\w*lane(?:_?id(?:x)?|_?num|_?index)?", re.IGNORECASE)
_BLOCK = re.compile(r"blockDim\.x|hipBlockDim_x|block_?size|num_?threads|BLOCK_?SIZE|kBlock_?Size", re.IGNORECASE)


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
class View:
    """A function with what its expressions mean for the lanes."""

    unit: Unit
    bodies: Bodies
    function: Function
    aliases: Mapping[str, list[str]]

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the body that are AMD's and run where a wavefront has 64 lanes, in order."""
        tokens, dialects = self.function.tokens, self.unit.dialects
        everywhere = len(dialects.regions) == 1
        return tuple(
            node
            for node in self.function.body.walk()
            if not self._is_for_32(node)
            and (everywhere or node.first < 0 or dialects.is_for_64(tokens.starts[min(node.first, len(tokens) - 1)]))
        )

    @cached_property
    def parents(self) -> Mapping[int, Node]:
        """The node around each, by identity."""
        return {id(kid): node for node in self.function.body.walk() for kid in node.kids}

    def around(self, node: Node) -> Node:
        """The node around one, brackets skipped."""
        above = self.parents.get(id(node), EMPTY)
        while above.kind == "cast" and not above.text:
            above = self.parents.get(id(above), EMPTY)
        return above

    @cached_property
    def values(self) -> Mapping[str, list[Node]]:
        """What each local variable is set to."""
        found: dict[str, list[Node]] = {}
        for node in self.function.body.walk():
            if node.kind == "variable" and node.initial is not None and not node.dimensions:
                initial = node.initial
                if initial.kind == "list" and len(initial.kids) == 1:
                    initial = initial.kids[0]
                found.setdefault(node.text, []).append(initial)
            elif node.kind == "assign" and node.kids[0].kind == "name":
                found.setdefault(node.kids[0].text, []).append(node.kids[1] if node.text == "=" else node)
        return found

    @cached_property
    def types(self) -> Mapping[str, int | None]:
        """Bits of each integer variable and parameter, elements of arrays as well; None where they disagree."""
        found: dict[str, set[int | None]] = {}
        for name, text in self.function.parameter_types.items():
            words = text.replace("::", " ").replace("&", " ").split()
            found.setdefault(name, set()).add(bits_of(words, self.aliases))
        for node in self.function.body.walk():
            if node.kind == "variable":
                found.setdefault(node.text, set()).add(bits_of(node.extra.split(), self.aliases))
        return {name: next(iter(bits)) if len(bits) == 1 else None for name, bits in found.items()}

    @cached_property
    def elements(self) -> Mapping[str, int | None]:
        """Bits of what pointers and arrays hold, by their names."""
        texts = {**self.function.parameter_types}
        texts |= {node.text: node.extra for node in self.function.body.walk() if node.kind == "variable"}
        split = {name: text.replace("::", " ").replace("*", " ").split() for name, text in texts.items()}
        return {name: bits_of(words, self.aliases) for name, words in split.items()}

    def cast_bits(self, node: Node) -> int | None:
        """Bits of the integer type that a cast names."""
        return bits_of(node.text.replace("::", " ").split(), self.aliases)

    @cached_property
    def automatic(self) -> frozenset[str]:
        """Variables declared with `auto`."""
        found = (n for n in self.function.body.walk() if n.kind == "variable" and "auto" in n.extra.split())
        return frozenset(node.text for node in found)

    @cached_property
    def returns(self) -> int | None:
        """Bits of the type that the function returns."""
        head = self.function.head
        words = self.function.tokens.texts[head.begin : head.name_first]
        if "template" in words:
            return None
        return bits_of(words, self.aliases)

    # sizes

    def size(self, node: Node, depth: int = 0) -> int | None:
        """An integer; the size of a wavefront is 64, and that of a warp what the lines for AMD define it as."""
        node = unwrapped(node)
        if depth > 8:
            return None
        if node.kind == "number":
            return number(node.text)
        if node.kind == "binary" and node.text in ("-", "+", "*", "/", ">>", "<<"):
            left, right = (self.size(kid, depth + 1) for kid in node.kids)
            if left is None or right is None or (node.text == "/" and not right):
                return None
            if node.text in (">>", "<<") and not 0 <= right < WHOLE:
                return None
            return {
                "-": left - right,
                "+": left + right,
                "*": left * right,
                "/": left // (right or 1),
                ">>": left >> min(right, WHOLE) if right >= 0 else 0,
                "<<": left << min(right, WHOLE) if right >= 0 else 0,
            }[node.text]
        if node.kind != "name":
            return None
        bare = node.text.rpartition("::")[2]
        if bare in _SIZES:
            return WHOLE
        if bare in self.function.template_parameters or bare in self.function.parameters:
            return None
        return self._constant(bare, depth)

    def _constant(self, name: str, depth: int) -> int | None:
        constants, dialects = self.bodies.constants, self.unit.dialects
        tokens = self.bodies.tokens
        found: set[int | None] = set()
        for one in constants.definitions(name):
            if not dialects.is_for_64(tokens.starts[one.place]):
                continue
            if one.last - one.first == 1 and tokens.texts[one.first] in _SIZES:
                found.add(WHOLE)
            else:
                found.add(constants.value(parse_expression(tokens, one.first, one.last), _WHOLE_SIZES, depth + 1))
        return found.pop() if len(found) == 1 else None

    # lanes and wavefronts

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
            name = node.callee.rpartition("::")[2]
            return self._lane_of_function(name, depth) if name in _LANE_CALLS else None
        if node.kind == "name":
            found = {self.lane(one, depth + 1) for one in self.values.get(node.text, ())}
            return found.pop() if len(found) == 1 else None
        if node.kind == "binary" and node.text in ("%", "&"):
            group = self.divided(node)
            if group is not None:
                return group.group
            if self.lane(node.kids[0], depth + 1) == WHOLE and self.size(node.kids[1]) in (HALF, HALF - 1):
                return HALF
        return None

    def _lane_of_function(self, name: str, depth: int) -> int | None:
        """The same for a call: what a function in sight returns, else HIP's own, which knows 64."""
        found = {
            View(self.unit, self.bodies, function, self.aliases).lane(node.kids[0], depth + 1)
            for function in self.bodies.by_name.get(name, ())
            for node in function.body.walk()
            if node.kind == "return" and node.kids
        }
        return next(iter(found)) if len(found) == 1 else None if found else WHOLE

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
                one = collective(node)
                if one is not None and self.is_hips(node):
                    found.append((node, one))
        return tuple(found)

    def is_hips(self, call: Node) -> bool:
        """Whether a call's name is HIP's, and no macro or function of the project."""
        name, unit = call.callee.rpartition("::")[2], self.unit
        own = name in self.bodies.constants.macros or name in unit.declared or name in unit.own
        return not own and unit.is_free(call.kids[0].last)

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
    def counts_with_64(self) -> bool:
        """Whether something says that a wavefront is whole, and nothing that there are groups of 32."""
        return WHOLE in self.groups and HALF not in self.groups

    @cached_property
    def groups(self) -> frozenset[int]:
        """The sizes of groups of lanes that the function counts with."""
        found = {one.group for one in self.divisions}
        found |= {WHOLE for node in self.nodes if self.lane(node) == WHOLE and node.kind == "call"}
        for call, one in self.collectives:
            if one.width is not None and argument(call, one.width) is not None:
                size = self.width(call, one)
                found |= {HALF} if size is not None and size < WHOLE else set()
        return frozenset(found)

    @cached_property
    def steps_by_32(self) -> bool:
        """Whether a shuffle moves values from one half of a wavefront to the other."""
        lanes = (argument(call, one.lane) for call, one in self.collectives if one.kind == "shuffle")
        sizes = [self.size(lane) for lane in lanes if lane is not None]
        return any(size is not None and size >= HALF for size in sizes)

    # masks

    def is_mask(self, node: Node, depth: int = 0) -> bool:
        """Whether an expression holds one bit for each of 64 lanes, and is as wide."""
        node = node if node.kind == "cast" and node.text else unwrapped(node)
        if depth > 8:
            return False
        if node.kind == "call":
            return self._is_mask_call(node)
        if node.kind == "cast":
            return self.cast_bits(node) == WHOLE and self.is_mask(node.kids[0], depth + 1)
        if node.kind == "name":
            if self.types.get(node.text) != WHOLE and node.text not in self.automatic:
                return False
            return any(self.is_mask(one, depth + 1) for one in self.values.get(node.text, ()))
        if node.kind == "unary" and node.text == "~":
            return self.is_mask(node.kids[0], depth + 1)
        if node.kind == "ternary":
            return any(self.is_mask(kid, depth + 1) for kid in node.kids[1:])
        if node.kind in ("binary", "assign"):
            return self._is_mask_operation(node, depth)
        return False

    def _is_mask_call(self, node: Node) -> bool:
        name = node.callee.rpartition("::")[2]
        if node.callee.startswith("porter::"):
            return False
        return name in _MASKS and "." not in name and self.is_hips(node)

    def _is_mask_operation(self, node: Node, depth: int) -> bool:
        operator, (left, right) = node.text.removesuffix("=") or "=", node.kids
        if operator == "&":
            return any(self.is_mask(a, depth + 1) and not self._cuts(b) for a, b in ((left, right), (right, left)))
        if operator in ("|", "^"):
            return self.is_mask(left, depth + 1) or self.is_mask(right, depth + 1)
        if operator in ("<<", ">>"):
            if self.is_mask(left, depth + 1):
                return not self.is_half(right)
            return _is_long(unwrapped(left)) and self.lane(right) == WHOLE
        if operator in ("-", "+"):
            return self.is_mask(left, depth + 1) and unwrapped(right).kind == "number"
        return False

    def _cuts(self, node: Node) -> bool:
        """Whether `& node` takes a half, or single bits, on purpose."""
        value = self.size(node)
        return value is not None and 0 <= value <= 0xFFFFFFFF

    def is_half(self, shift: Node) -> bool:
        """Whether a shift by this brings one half of a wavefront down: 32, `lane & 32`, `half * 32`."""
        inner = unwrapped(shift)
        if self.size(inner) == HALF:
            return True
        if inner.kind == "name":
            return any(self.is_half(one) for one in self.values.get(inner.text, ()))
        return inner.kind in ("binary", "ternary") and any(
            self.size(kid) == HALF
            or (inner.kind == "ternary" and self.is_half(kid))
            or (unwrapped(kid).kind == "binary" and self.is_half(kid))
            for kid in inner.kids
        )

    @cached_property
    def takes_halves(self) -> bool:
        """Whether the function looks at both halves of a mask, or of a wavefront, by itself."""
        return any(
            (node.kind == "binary" and node.text == ">>" and self.is_mask(node.kids[0]) and self.is_half(node.kids[1]))
            or (node.kind == "call" and "mbcnt" in node.callee)
            for node in self.function.body.walk()
        )

    def _is_for_32(self, node: Node) -> bool:
        return any(first <= node.first and node.last <= last for first, last in self._spans_for_32)

    @cached_property
    def _spans_for_32(self) -> tuple[tuple[int, int], ...]:
        """Branches that run where a wavefront has 32 lanes, or by the first 32 lanes alone."""
        found: list[tuple[int, int]] = []
        for node in self.function.body.walk():
            if node.kind != "if" and node.kind != "ternary":
                continue
            condition, then, *other = node.kids
            asks = _asks_for(condition, self)
            if asks == HALF:
                found.append((then.first, then.last))
            elif asks == WHOLE:
                found += [(branch.first, branch.last) for branch in other if branch.last >= branch.first]
        return tuple(found)

    def guarded_below_32(self, node: Node) -> bool:
        """Whether only lanes below 32 come to a node."""
        above = self.parents.get(id(node), EMPTY)
        below = node
        while above is not EMPTY:
            if above.kind in ("if", "ternary") and below is above.kids[1] and _is_below_32(above.kids[0], self):
                return True
            below, above = above, self.parents.get(id(above), EMPTY)
        return False


_WHOLE_SIZES: dict[str, int | None] = dict.fromkeys((*_SIZES, "C10_WARP_SIZE"), WHOLE)


def _is_long(node: Node) -> bool:
    """Whether a literal has 64 bits."""
    if node.kind == "cast" and "64" in node.text:
        return True
    if node.kind == "unary" and node.text in ("~", "-"):
        return _is_long(unwrapped(node.kids[0]))
    value = number(node.text) if node.kind == "number" else None
    return value is not None and ("ll" in node.text.lower() or "l" in node.text.lower()[-2:] or value > 0xFFFFFFFF)


def _asks_for(condition: Node, view: View) -> int | None:
    """32 or 64 where a condition holds for wavefronts of so many lanes alone."""
    node = unwrapped(condition)
    if node.kind != "binary" or node.text not in ("==", "<=", ">", "!="):
        return None
    left, right = unwrapped(node.kids[0]), unwrapped(node.kids[1])
    if left.kind != "name" and not (left.kind == "call" and not left.arguments):
        return None
    text = left.text if left.kind == "name" else left.callee
    bare = text.rpartition("::")[2]
    if bare not in _SIZES and not looks_like_warp_size(bare) and "wave" not in bare.lower():
        return None
    value = view.size(right)
    if value == WHOLE:
        return {"==": WHOLE, "!=": HALF}.get(node.text)
    if value == HALF:
        return {"==": HALF, "<=": HALF, ">": WHOLE, "!=": WHOLE}[node.text]
    return None


def _is_below_32(condition: Node, view: View) -> bool:
    node = unwrapped(condition)
    if node.kind == "binary" and node.text == "&&":
        return any(_is_below_32(kid, view) for kid in node.kids)
    if node.kind != "binary" or node.text not in ("<", "<="):
        return False
    bound = view.size(node.kids[1])
    return bound is not None and bound <= HALF and any(True for _ in names(node.kids[0]))


def views(unit: Unit) -> tuple[View, ...]:
    """The functions of a file that are compiled for 64 lanes and are AMD's own."""
    bodies = bodies_of(unit)
    known = bodies.memo.get("wave64")
    if known is None:
        aliases = aliases_of(unit.tokens)
        known = bodies.memo["wave64"] = tuple(
            View(unit, bodies, function, aliases)
            for function in bodies.functions
            if function.head.body is not None and any(True for _ in _places(unit, function))
        )
    return cast("tuple[View, ...]", known)


def _places(unit: Unit, function: Function) -> Iterator[int]:
    """Offsets of a function's own lines that are AMD's: where it begins, and where its branches do."""
    tokens = function.tokens
    start, end = tokens.starts[function.head.begin], tokens.starts[function.head.end - 1]
    for place in (start, *(begin for begin, _, _ in unit.dialects.regions if start < begin < end)):
        if unit.dialects.is_for_64(place):
            yield place


def file_groups(unit: Unit) -> frozenset[int]:
    """The sizes of groups of lanes that the functions of a file count with."""
    return frozenset().union(*(view.groups for view in views(unit)))
