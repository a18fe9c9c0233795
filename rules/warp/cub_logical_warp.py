"""W106: CUB's warp classes default to the hardware's width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.cpp.syntax import Tokens, chain_start, closing_angle, split_commas, template_end
from porter.engine.reach import Reach
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
_DETAILS = {"warp_threads": "32", "log2_warp_threads": "5"}
"""In cub::detail."""
_IDS = {
    "LaneId": "porter::lane_id",
    "WarpId": "porter::warp_id",
    **{f"LaneMask{side}": f"porter::lanemask_{side.lower()}" for side in ("Lt", "Le", "Gt", "Ge")},
}
_BOUNDED: Mapping[str, str] = {"ShuffleUp": "first", "ShuffleDown": "last"}
"""Function -> the lane of its third argument, which hipCUB does not look at."""
_STRIPED = frozenset(
    {"LoadDirectWarpStriped", "StoreDirectWarpStriped", "BlockedToWarpStriped", "WarpStripedToBlocked"}
)
_ROOTS = frozenset({"cub", "hipcub", "CUB_NS_QUALIFIER"})
_HANDED_ON = frozenset({">", ",", ">>"})
_ANGLES = {"<": 1, ">": -1, ">>": -2, ">>>": -3}


class CubLogicalWarp(Rule):
    """CUB warp class without a width

    `cub::WarpReduce<T>` works on 32 lanes; hipCUB's defaults to the 64 of the hardware, so two logical warps share one
    result and half of the temporary storage stays unused. The width 32 is written out. `CUB_PTX_WARP_THREADS` and
    `cub::LaneId()` get the meaning that the code around them has. Reported: `ShuffleDown` and `ShuffleUp` with a last
    or first lane of their own, which hipCUB does not look at, and arrangements striped over a warp, whose stripes are
    64 lanes wide in hipCUB.
    """

    code = "W106"
    triggers = frozenset({*_PLACES, *_CONSTANTS, *_CALLS, *_DETAILS, *_IDS, *_BOUNDED, *_STRIPED})
    answers = frozenset(
        {*_CONSTANTS, *_CALLS, *(f"cub::detail::{name}" for name in _DETAILS), *(f"cub::{name}" for name in _IDS)}
    )
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
        fixes("int lanes = cub::detail::warp_threads;", "int lanes = 32;"),
        fixes(
            "#define LANES CUB_PTX_WARP_THREADS\nint lanes = LANES;",
            "#define LANES 32\nint lanes = LANES;",
        ),
        reports("using Sum = Pick<cub::WarpReduce, int>;", effort=Effort.REVIEW),
        reports("#define SUM cub::WarpReduce\nusing Sum = SUM<int>;", effort=Effort.REVIEW),
        reports("__device__ int f(int x, int n) { return cub::ShuffleDown<32>(x, 1, n, ~0u); }", effort=Effort.REVIEW),
        reports(
            "__device__ void f(int *p, int (&x)[4]) { cub::LoadDirectWarpStriped(threadIdx.x, p, x); }",
            effort=Effort.REVIEW,
        ),
        clean("__device__ int f(int x) { return cub::ShuffleDown<16>(x, 1, 15, ~0u); }"),
        clean("namespace detail { constexpr int warp_threads = 32; } int lanes = detail::warp_threads;"),
        clean("using Sum = cub::WarpReduce<int, 16>;"),
        clean("using Sum = cub::WarpReduce<std::pair<int, int>, 16>;"),
        clean("template <class T> struct WarpReduce {}; WarpReduce<int> mine;"),
        clean("using Sum = cub::BlockReduce<int, 128>;"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        tokens = unit.tokens
        for values, is_call in ((_CONSTANTS, False), (_CALLS, True)):
            for name in sorted(values.keys() & tokens.names.keys()):
                yield from self._constants(unit, name, values[name], is_call)
        names = self.triggers & tokens.names.keys() - _CONSTANTS.keys() - _CALLS.keys()
        if not names or not any(_speaks_of_cub(source.text) for source in (unit.source, *unit.program.headers)):
            return
        reach = Reach.of(unit.program.all_tokens)
        for name in sorted(names):
            for index in tokens.names[name]:
                if _is_cub(unit, reach, index) or (name in _STRIPED and _is_a_member(unit, index)):
                    yield from self._named(unit, index, name)

    def _constants(self, unit: Unit, name: str, value: str, is_call: bool) -> Iterator[Finding]:
        tokens = unit.tokens
        for index in tokens.names[name]:
            directive = tokens.directive_of(index)
            if directive is not None and (directive.name != "define" or directive.first == index):
                continue
            last = tokens.partner.get(index + 1) if is_call else index
            if last is not None:
                yield self._constant(unit, index, last, value)

    def _named(self, unit: Unit, index: int, name: str) -> Iterator[Finding]:
        """What is found at a name of CUB's, or at a member that is called as one of its classes' is."""
        tokens = unit.tokens
        if name in _STRIPED and unit.next_in(index, frozenset({"(", "<"})):
            message = f"{name} stripes items over the 64 lanes of a wavefront in hipCUB, not over 32 [cub-hipcub]"
            yield self.finding(unit, unit.span(index), message, Effort.REVIEW)
        elif name in _PLACES and unit.next_is(index, "<"):
            yield from self._widthless(unit, index, name)
        elif name in _PLACES and (unit.next_in(index, _HANDED_ON) or _ends_macro(tokens, index)):
            message = f"{name} works on 64 lanes in hipCUB unless told otherwise [cub-warpreduce-32-literal]"
            yield self.finding(unit, unit.span(index), message, Effort.REVIEW)
        elif name in _DETAILS and _is_used(tokens, index):
            message = f"hipCUB has no {name}: take this line away, the uses are numbers [cub-internal-namespaces]"
            yield self.finding(unit, unit.span(index), message, Effort.MANUAL)
        elif name in _DETAILS:
            yield self._constant(unit, chain_start(tokens, index), index, _DETAILS[name])
        elif name in _IDS and not _is_used(tokens, index):
            yield self._id(unit, index, _IDS[name])
        elif name in _BOUNDED:
            yield from self._bounded(unit, index, name)

    def _bounded(self, unit: Unit, index: int, name: str) -> Iterator[Finding]:
        """A shuffle within part of a warp."""
        tokens = unit.tokens
        after = template_end(tokens, index + 1, len(tokens)) if unit.next_is(index, "<") else None
        closed = tokens.partner.get(after) if after is not None else None
        if after is None or closed is None:
            return
        width = tokens.texts[index + 2] if after == index + 4 else ""
        arguments = split_commas(tokens, after + 1, closed)
        lane = "".join(tokens.texts[slice(*arguments[2])]) if len(arguments) > 2 else ""
        widths = {**_CONSTANTS, **{str(2**power): str(2**power) for power in range(1, 6)}}
        if width in widths and lane == ("0" if name == "ShuffleUp" else str(int(widths[width]) - 1)):
            return
        if name == "ShuffleUp" and lane == "0":
            return
        message = f"hipCUB's {name} does not look at the {_BOUNDED[name]} lane that it is given [cub-hipcub]"
        yield self.finding(unit, unit.span(index, closed), message, Effort.REVIEW)

    def _widthless(self, unit: Unit, index: int, name: str) -> Iterator[Finding]:
        tokens = unit.tokens
        closed = closing_angle(tokens, index + 1)
        if closed is None:
            return
        last, inner = closed
        place, defaults = _PLACES[name]
        given = _given(tokens, index + 2, last)
        if given > place or given < place - len(defaults):
            return
        missing = [f"{_scope(tokens, index)}{default}" for default in defaults[len(defaults) - (place - given) :]]
        text = ", ".join(["", *(missing if given < place else []), "32"])
        end = tokens.starts[last] + inner if inner else tokens.end(last - 1)
        message = (
            f"{name} works on 64 lanes in hipCUB unless told otherwise: width 32 added [cub-warpreduce-32-literal]"
        )
        yield self.finding(unit, unit.span(index, last), message, Effort.NONE, (Edit(end, end, text),))

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


def _speaks_of_cub(text: str) -> bool:
    return "cub" in text or "CUB" in text


def _is_cub(unit: Unit, reach: Reach, index: int) -> bool:
    """Whether a name is CUB's: by its scope, or by what the file and its headers open."""
    tokens = unit.tokens
    name, first = tokens.texts[index], chain_start(tokens, index)
    if name in _DETAILS:
        return not reach.found_in(tokens, index).isdisjoint({"cub::detail", "hipcub::detail"})
    if first == index and tokens.texts[index - 1] in ("class", "struct", "typename"):
        return False
    return reach.is_below(tokens, index, _ROOTS) and (first < index or not unit.program.declares(name))


def _is_a_member(unit: Unit, index: int) -> bool:
    """Whether a name is called as a member, of a class that is none of the project's."""
    texts = unit.tokens.texts
    before = texts[index - 2] if texts[index - 1] == "template" else texts[index - 1]
    return before in (".", "->") and not unit.program.declares(texts[index])


def _is_used(tokens: Tokens, index: int) -> bool:
    """Whether a name stands in `using cub::name;`."""
    return tokens.texts[chain_start(tokens, index) - 1] == "using"


def _ends_macro(tokens: Tokens, index: int) -> bool:
    """Whether a name is the last word of a macro."""
    directive = tokens.directive_of(index)
    return directive is not None and directive.name == "define" and directive.last == index + 1
