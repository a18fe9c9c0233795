"""W106: CUB's warp classes default to the hardware's width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.cpp.syntax import Tokens, chain_start, template_end
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_PLACES = {
    "WarpReduce": (1, ()),
    "WarpScan": (1, ()),
    "WarpExchange": (2, ()),
    "WarpMergeSort": (2, ()),
    "WarpLoad": (3, ("WARP_LOAD_DIRECT",)),
    "WarpStore": (3, ("WARP_STORE_DIRECT",)),
}
"""Class -> place of its logical warp width among the template arguments, and what stands before it by default."""
_CONSTANTS = {"CUB_PTX_WARP_THREADS": "32", "CUB_PTX_LOG_WARP_THREADS": "5"}
_CALLS = {"CUB_WARP_THREADS": "32", "CUB_LOG_WARP_THREADS": "5"}
_IDS = {
    "LaneId": "porter::lane_id",
    "WarpId": "porter::warp_id",
    **{f"LaneMask{side}": f"porter::lanemask_{side.lower()}" for side in ("Lt", "Le", "Gt", "Ge")},
}
_ROOTS = frozenset({"cub", "hipcub", "CUB_NS_QUALIFIER"})
_HANDED_ON = frozenset({">", ",", ">>"})
_ANGLES = {"<": 1, ">": -1, ">>": -2}


class CubLogicalWarp(Rule):
    """CUB warp class without a width

    `cub::WarpReduce<T>` works on 32 lanes; hipCUB's defaults to the 64 of the hardware, so two logical warps share one
    result and half of the temporary storage stays unused. The width 32 is written out. `CUB_PTX_WARP_THREADS` and
    `cub::LaneId()` get the meaning that the code around them has.
    """

    code = "W106"
    triggers = frozenset({*_PLACES, *_CONSTANTS, *_CALLS, *_IDS})
    answers = frozenset({*_CONSTANTS, *_CALLS, *(f"cub::{name}" for name in _IDS)})
    hazards = ("cub-warpreduce-32-literal", "cub-hipcub")
    examples = (
        fixes(
            "__global__ void k(int *x) { using Sum = cub::WarpReduce<int>; __shared__ Sum::TempStorage t[4]; }",
            "__global__ void k(int *x) { using Sum = cub::WarpReduce<int, 32>; __shared__ Sum::TempStorage t[4]; }",
        ),
        fixes(
            "using Load = cub::WarpLoad<float, 4>;", "using Load = cub::WarpLoad<float, 4, cub::WARP_LOAD_DIRECT, 32>;"
        ),
        fixes("typedef cub::WarpExchange<T, 4> X;", "typedef cub::WarpExchange<T, 4, 32> X;"),
        fixes(
            "__global__ void k(int *x) { x[threadIdx.x] = cub::ShuffleDown<CUB_PTX_WARP_THREADS>(x[0], 1, 31, ~0u); }",
            "__global__ void k(int *x) { x[threadIdx.x] = cub::ShuffleDown<32>(x[0], 1, 31, ~0u); }",
        ),
        fixes(
            "__global__ void k(unsigned *x) { x[threadIdx.x] = cub::LaneMaskLt(); }",
            "__global__ void k(unsigned *x) { x[threadIdx.x] = porter::lanemask_lt(); }",
        ),
        fixes(
            "using Sum = cub::WarpReduce<std::pair<int, float>>;",
            "using Sum = cub::WarpReduce<std::pair<int, float>, 32>;",
        ),
        fixes(
            "namespace blocks = cub;\nusing Sum = blocks::WarpReduce<int>;",
            "namespace blocks = cub;\nusing Sum = blocks::WarpReduce<int, 32>;",
        ),
        fixes(
            "using cub::WarpReduce;\nusing Sum = WarpReduce<int>;",
            "using cub::WarpReduce;\nusing Sum = WarpReduce<int, 32>;",
        ),
        reports("using Sum = Pick<cub::WarpReduce, int>;", effort=Effort.REVIEW),
        clean("using Sum = cub::WarpReduce<int, 16>;"),
        clean("using Sum = cub::WarpReduce<std::pair<int, int>, 16>;"),
        clean("template <class T> struct WarpReduce {}; WarpReduce<int> mine;"),
        clean("using Sum = cub::BlockReduce<int, 128>;"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        tokens = unit.tokens
        for name in sorted(_PLACES.keys() & tokens.names.keys()):
            for index in tokens.names[name]:
                if not self._is_cub(unit, index):
                    continue
                if unit.next_is(index, "<"):
                    yield from self._widthless(unit, index, name)
                elif unit.next_in(index, _HANDED_ON):
                    message = f"{name} works on 64 lanes in hipCUB unless told otherwise [cub-warpreduce-32-literal]"
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW)
        for name, value in sorted(_CONSTANTS.items()):
            for index in tokens.names.get(name, ()):
                if tokens.directive_of(index) is None:
                    yield self._constant(unit, index, index, value)
        for name, value in sorted(_CALLS.items()):
            for index in tokens.names.get(name, ()):
                closed = tokens.partner.get(index + 1)
                if tokens.directive_of(index) is None and closed is not None:
                    yield self._constant(unit, index, closed, value)
        for name, value in sorted(_IDS.items()):
            for index in tokens.names.get(name, ()):
                if self._is_cub(unit, index) and unit.next_is(index, "("):
                    yield self._id(unit, index, value)

    @staticmethod
    def _is_cub(unit: Unit, index: int) -> bool:
        """Whether a name is CUB's: qualified by it, or found through `using namespace cub`."""
        tokens = unit.tokens
        first = chain_start(tokens, index)
        if first != index:
            return not _roots(tokens).isdisjoint(tokens.texts[first:index])
        if tokens.texts[index - 1] in ("class", "struct", "typename"):
            return False
        return any(_brings(tokens.texts, i, tokens.texts[index]) for root in _ROOTS for i in tokens.names.get(root, ()))

    def _widthless(self, unit: Unit, index: int, name: str) -> Iterator[Finding]:
        tokens = unit.tokens
        after = template_end(tokens, index + 1, len(tokens))
        if after is None:
            return
        place, defaults = _PLACES[name]
        given = _given(tokens, index + 2, after - 1)
        if given > place or given < place - len(defaults):
            return
        missing = [f"{_scope(tokens, index)}{default}" for default in defaults[len(defaults) - (place - given) :]]
        text = ", ".join(["", *(missing if given < place else []), "32"])
        end = tokens.starts[after - 1] + max(0, len(tokens.texts[after - 1]) - 1)
        end = tokens.end(after - 2) if tokens.texts[after - 1] == ">" else end
        message = (
            f"{name} works on 64 lanes in hipCUB unless told otherwise: width 32 added [cub-warpreduce-32-literal]"
        )
        yield self.finding(unit, unit.span(index, after - 1), message, Effort.NONE, (Edit(end, end, text),))

    def _constant(self, unit: Unit, first: int, last: int, value: str) -> Finding:
        span = unit.span(first, last)
        message = f"CUB's warp constant becomes {value}, the width of the logical warps [cub-internal-namespaces]"
        return self.finding(unit, span, message, Effort.NONE, (Edit(span.start, span.end, value),))

    def _id(self, unit: Unit, index: int, value: str) -> Finding:
        span = unit.span(chain_start(unit.tokens, index), index)
        message = f"hipCUB's {unit.tokens.texts[index]} counts 64 lanes, the port's counts 32 [cub-hipcub]"
        return self.finding(
            unit, span, message, Effort.NONE, (Edit(span.start, span.end, value),), ("porter/warp32.hpp",)
        )


def _scope(tokens: Tokens, index: int) -> str:
    """What stands before the class's name: `cub::`."""
    return "".join(tokens.texts[chain_start(tokens, index) : index])


def _given(tokens: Tokens, first: int, last: int) -> int:
    """How many arguments a list of template arguments has, which `>>` may end together with one inside."""
    depth, commas, index = 0, 0, first
    while index < last:
        text = tokens.texts[index]
        if text in ("(", "[", "{"):
            index = tokens.partner.get(index, index)
        depth += _ANGLES.get(text, 0)
        commas += text == "," and depth == 0 and index + 1 < last
        index += 1
    return commas + (first < last)


def _roots(tokens: Tokens) -> frozenset[str]:
    """CUB's namespace and the names that the file gives it."""
    found = set(_ROOTS)
    for root in _ROOTS & tokens.names.keys():
        for index in tokens.names[root]:
            before = tokens.texts[max(0, index - 4) : index]
            if before[-1:] == ["::"]:
                before = before[:-1]
            if before[-1:] == ["="] and before[-3:-2] == ["namespace"]:
                found.add(before[-2])
    return frozenset(found)


def _brings(texts: Sequence[str], index: int, name: str) -> bool:
    """`using namespace cub`, `using cub::WarpReduce`, also with `::` before."""
    before = index - 1 - (texts[index - 1] == "::")
    if texts[before] == "namespace":
        return texts[before - 1] == "using"
    return texts[before] == "using" and list(texts[index + 1 : index + 4]) == ["::", name, ";"]
