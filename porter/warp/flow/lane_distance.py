"""Counts that run with the lane: `32 - lane`, `lane + 1`, through casts, constants, macros and variables."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from porter.cpp.constants import WARP, looks_like_warp_size
from porter.cpp.nodes import Node, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.flow.spread import by_name
from porter.warp.flow.unit_walks import flow_of
from porter.warp.function import Function

_DEEPEST = 8
_INTEGERS = frozenset(
    {"int", "unsigned", "uint", "short", "long", "char", "size_t", "int32_t", "uint32_t", "uint64_t", "int64_t"}
)
_WIDE = ("64", "long", "size_t", "ptrdiff_t")
_OF_32_BITS = frozenset(["int", "unsigned", "uint", "int32_t", "uint32_t", "float"])
_LANE_CALLS = frozenset({"thread_rank", "lane_id", "laneid", "get_lane_id", "getlaneid"})
_TILE_NAMES = ("warp", "tile", "wrp")


class Distance(NamedTuple):
    """`slope * lane + constant`."""

    slope: int
    constant: int

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest value that a lane has."""
        last = self.slope * (WARP - 1) + self.constant
        return min(self.constant, last), max(self.constant, last)

    def plus(self, other: Distance, sign: int) -> Distance:
        """The sum, or with -1 the difference."""
        return Distance(self.slope + sign * other.slope, self.constant + sign * other.constant)


_LANE = Distance(1, 0)


@dataclass(frozen=True)
class Distances:
    """The counts of one function, or of a macro that it uses with `arguments`."""

    bodies: Bodies
    function: Function
    arguments: Mapping[str, Distance | None] = field(default_factory=dict)

    def of(self, node: Node, depth: int = 0) -> Distance | None:
        """An expression as a distance; None where it is none that is understood."""
        if depth > _DEEPEST:
            return None
        value = self.bodies.constants.value(node)
        if value is not None:
            return Distance(0, value)
        if node.kind == "cast" and len(node.kids) == 1:
            return self.of(node.kids[0], depth + 1)
        if node.kind == "call" and len(node.kids) == 2 and node.callee.rpartition("::")[2] in _INTEGERS:
            return self.of(node.kids[1], depth + 1)
        if node.kind == "size":
            size = self._size(node)
            return Distance(0, size) if size else None
        if node.kind == "name":
            return self._named(node, depth)
        return self._calculated(node, depth) or (_LANE if self._is_lane(node) else None)

    def _calculated(self, node: Node, depth: int) -> Distance | None:
        if node.kind == "unary" and node.text in ("-", "+", "++", "--"):
            inner = self.of(node.kids[0], depth + 1)
            step = {"++": 1, "--": -1}.get(node.text, 0)
            return inner and Distance(0, 0).plus(inner, -1 if node.text == "-" else 1).plus(Distance(0, step), 1)
        if node.kind != "binary":
            return None
        left, right = (self.of(kid, depth + 1) for kid in node.kids)
        if node.text in ("+", "-") and left and right:
            return left.plus(right, 1 if node.text == "+" else -1)
        if node.text == "-" and self._rounds_down(*node.kids):
            return _LANE
        if left is None or right is None:
            return None
        if node.text in ("*", "<<") and 0 in (left.slope, right.slope):
            return _scaled(node.text, left, right)
        lane_bits = node.text == "^" and left == _LANE and right.slope == 0 and 0 <= right.constant < WARP
        return _LANE if lane_bits else None

    def _named(self, node: Node, depth: int) -> Distance | None:
        name = node.text
        if name in self.arguments:
            return self.arguments[name]
        if name == "CHAR_BIT":
            return Distance(0, 8)
        macros = self.bodies.macros.expressions.get(name, ())
        if len(macros) == 1:
            return self.of(macros[0], depth + 1)
        if self._is_lane(node):
            return _LANE.plus(Distance(0, self.steps.get(name, 0)), 1)
        sources = self.sources.get(name, ())
        if len(sources) == 1:
            found = self.of(sources[0], depth + 1)
            return found and found.plus(Distance(0, self.steps.get(name, 0)), 1)
        return Distance(0, WARP) if not sources and looks_like_warp_size(name) else None

    def _is_lane(self, node: Node) -> bool:
        flow = flow_of(self.bodies, self.function)
        if flow.evaluate(node, flow.final).role == "lane":
            return True
        if node.kind == "call":
            bare = node.callee.rpartition("::")[2].rpartition(".")
            group = bare[0].rpartition(".")[2].lower()
            if bare[2] == "thread_rank":
                return any(word in group for word in _TILE_NAMES)
            return bare[2].strip("_").lower() in _LANE_CALLS or by_name(bare[2]).role == "lane"
        if node.kind == "index":
            return by_name(unwrapped(node.kids[0]).text.rstrip("_").removesuffix("s")).role == "lane"
        return node.kind in ("name", "member") and by_name(node.text.strip("_")).role == "lane"

    def _rounds_down(self, left: Node, right: Node) -> bool:
        """`t - t / 32 * 32`, `t - (t & ~31)`: the lane of a thread."""
        flow = flow_of(self.bodies, self.function)
        if flow.evaluate(left, flow.final).role != "thread":
            return False
        wanted = self._written(left)
        whole = unwrapped(right)
        if whole.kind != "binary":
            return False
        first, second = (unwrapped(kid) for kid in whole.kids)
        if whole.text == "&":
            return self._written(first) == wanted and (self.bodies.constants.value(second) or 0) & 0xFF == 0xE0
        if whole.text == "*" and self.bodies.constants.value(first) is not None:
            first, second = second, first
        by = self.bodies.constants.value(second)
        if (whole.text, by) not in (("*", WARP), ("<<", 5)) or first.kind != "binary":
            return False
        divided = (first.text, self.bodies.constants.value(first.kids[1]))
        return divided in (("/", WARP), (">>", 5)) and self._written(unwrapped(first.kids[0])) == wanted

    def _written(self, node: Node) -> list[str]:
        return self.bodies.tokens.texts[node.first : node.last + 1]

    def _size(self, node: Node) -> int:
        """What `sizeof` of a type or variable is, where that has 32 bits."""
        words = [word for word in self._written(node)[1:] if word not in ("(", ")", "std", "::", "const")]
        if words and all(word in _OF_32_BITS for word in words):
            return 4
        return 0 if len(words) != 1 or self.is_wide_name(words[0]) else 4

    def is_wide_name(self, name: str) -> bool:
        """Whether a parameter or variable is declared with more than 32 bits."""
        written = self._types.get(name) or self.function.parameter_types.get(name, "")
        if "auto" in written.split() and (sources := self.sources.get(name)):
            return any(self.is_wide(source) for source in sources)
        return _says_wide(written)

    def is_wide(self, node: Node, depth: int = 0) -> bool:
        """Whether a value has 64 bits as far as can be seen: its cast, its literals or its variables say so."""
        if depth > _DEEPEST:
            return False
        if node.kind == "cast" and len(node.kids) == 1:
            return _says_wide(node.text) if node.text else self.is_wide(node.kids[0], depth + 1)
        if node.kind == "call":
            return _says_wide(node.callee)
        if node.kind == "number":
            return "ll" in node.text.lower()
        if node.kind == "name":
            return self.is_wide_name(node.text)
        if node.kind == "index":
            return self.is_wide(node.kids[0], depth + 1)
        if node.kind == "binary" and node.text in ("<<", ">>"):
            return self.is_wide(node.kids[0], depth + 1)
        if node.kind in ("unary", "binary", "ternary"):
            return any(self.is_wide(kid, depth + 1) for kid in node.kids)
        return False

    def may_be_all(self, count: Node) -> bool:
        """Whether nothing says that a count is less than the warp size; what a compiler knows, it has folded."""
        names = {node.text for node in count.walk() if node.kind == "name"}
        known = self.of(count)
        if known is not None or names <= set(self.function.template_parameters):
            return known is not None and known.slope != 0 and known.ends[0] < WARP <= known.ends[1]
        if count.kind == "name" and len(sources := self.sources.get(count.text, ())) == 1:
            return self.may_be_all(unwrapped(sources[0])) if unwrapped(sources[0]).kind != "name" else True
        if count.kind == "binary" and count.text in ("&", "%"):
            limit = self.bodies.constants.value(count.kids[1])
            return limit is None or limit > WARP - (count.text == "&")
        return True

    @functools.cached_property
    def _types(self) -> Mapping[str, str]:
        return {
            variable.text: f"{declaration.text} {variable.extra}"
            for declaration in self.function.declarations
            for variable in declaration.kids
        }

    @functools.cached_property
    def sources(self) -> Mapping[str, tuple[Node, ...]]:
        """What each variable of the function is set to."""
        found: dict[str, tuple[Node, ...]] = {}
        for node in self.function.body.walk():
            if node.kind == "variable" and node.initial is not None and not node.count:
                initial = node.initial
                only = initial.kids[0] if initial.kind == "list" and len(initial.kids) == 1 else initial
                found[node.text] = (*found.get(node.text, ()), only)
            elif node.kind == "assign" and node.text == "=" and node.kids[0].kind == "name":
                found[node.kids[0].text] = (*found.get(node.kids[0].text, ()), node.kids[1])
        return found

    @functools.cached_property
    def steps(self) -> Mapping[str, int]:
        """What is added to a variable once it is set: `++n;`, `n += 1;` outside of loops."""
        found: dict[str, int] = {}
        for node in self.function.body.kids:
            kid = node.kids[0] if node.kind == "statement" and len(node.kids) == 1 else node
            if kid.kind in ("unary", "postfix") and kid.text in ("++", "--"):
                step = 1 if kid.text == "++" else -1
            elif kid.kind == "assign" and kid.text in ("+=", "-="):
                value = self.bodies.constants.value(kid.kids[1])
                step = 0 if value is None else value if kid.text == "+=" else -value
            else:
                continue
            if step and kid.kids[0].kind == "name":
                found[kid.kids[0].text] = found.get(kid.kids[0].text, 0) + step
        return found


def _scaled(operator: str, left: Distance, right: Distance) -> Distance | None:
    if operator == "<<":
        if right.slope or not 0 <= right.constant < WARP:
            return None
        return Distance(left.slope << right.constant, left.constant << right.constant)
    by, other = (left.constant, right) if left.slope == 0 else (right.constant, left)
    return Distance(other.slope * by, other.constant * by)


def _says_wide(written: str) -> bool:
    lower = written.lower()
    return any(word in lower for word in _WIDE)
