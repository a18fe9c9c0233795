"""W110: the second argument of __launch_bounds__ has another unit in HIP."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import Constants, Node, lex, looks_like_warp_size, parse_expression, unwrapped
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, apply, clean, fixes, reports
from porter.warp.bodies import bodies_of
from porter.warp.native.plan import outcome

_HELPER = "porter::waves_per_simd"


class LaunchBoundsBlocks(Rule):
    """Second argument of `__launch_bounds__`

    CUDA's second argument is the number of blocks that should fit on one multiprocessor; HIP hands the number to the
    compiler as waves per SIMD. `(128, 8)` asks CUDA for 8 blocks of 128 threads, which is 4 waves per SIMD, and asks
    HIP for 8: 64 registers and spills. The argument is converted: blocks times waves per block, spread over the four
    SIMDs of a compute unit. A third argument (cluster size) does not exist in HIP and is dropped. A bound written as a
    multiple of the warp (`32 * WARPS`) stays right and is noted: it matters when a kernel is ported to 64 lanes.
    """

    code = "W110"
    triggers = frozenset({"__launch_bounds__"})
    settles = True
    hazards = ("launch-bounds-second-arg", "launch-bounds-doc-conflict", "launch-bounds-three-args")
    examples = (
        fixes(
            "__global__ void __launch_bounds__(128, 8) k(float *x) {}",
            "__global__ void __launch_bounds__(128, porter::waves_per_simd(128, 8)) k(float *x) {}",
        ),
        fixes(
            "__global__ void __launch_bounds__(THREADS, BLOCKS, 2) k(float *x) {}",
            "__global__ void __launch_bounds__(THREADS, porter::waves_per_simd(THREADS, BLOCKS)) k(float *x) {}",
        ),
        reports("__global__ void __launch_bounds__(32 * 8) k(float *x) {}", effort=Effort.NONE),
        reports("__global__ void __launch_bounds__(WARPS << 5) k(float *x) {}", effort=Effort.NONE),
        reports(
            "constexpr int kThreads = 8 * WARP_SIZE;\n__global__ void __launch_bounds__(kThreads) k(float *x) {}",
            effort=Effort.NONE,
        ),
        fixes(
            "__global__ void __launch_bounds__(128, blocks<2, 3>()) k(float *x) {}",
            "__global__ void __launch_bounds__(128, porter::waves_per_simd(128, blocks<2, 3>())) k(float *x) {}",
        ),
        clean("template <class A, class B> __launch_bounds__(Kernel<A, B>::kThreads) __global__ void k(A *x, B *y) {}"),
        clean("constexpr int kThreads = 16 * 16;\n__global__ void __launch_bounds__(kThreads) k(float *x) {}"),
        clean("__global__ void __launch_bounds__(256) k(float *x) {}"),
        clean("__global__ void __launch_bounds__(256, porter::waves_per_simd(256, 2)) k(float *x) {}"),
        clean("__global__ void __launch_bounds__(256, 0) k(float *x) {}"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per attribute."""
        for index in unit.occurrences("__launch_bounds__"):
            arguments = _whole(unit, unit.arguments(index))
            texts = [_planned(unit, span) for span in arguments]
            if texts and _multiple_of_warp(unit, texts[0]):
                message = (
                    f"the bound {texts[0]} counts warps of 32: as many threads on gfx942, in half as many wavefronts "
                    "[log2-warp-constants]"
                )
                yield self.finding(unit, unit.span(index, unit.tokens.partner[index + 1]), message, Effort.NONE)
            if (
                len(texts) < 2
                or not texts[1].strip()
                or texts[1].startswith(_HELPER)
                or self._is_zero(unit, arguments[1].start)
            ):
                continue
            last = arguments[-1]
            new = f"{_HELPER}({texts[0]}, {texts[1]})"
            edit = Edit(arguments[1].start, last.end, new)
            message = (
                f"HIP reads {texts[1]} as waves per SIMD, CUDA means blocks per multiprocessor: converted "
                "[launch-bounds-second-arg]"
            )
            span = unit.span(index, unit.tokens.partner[index + 1])
            yield self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/launch_bounds.hpp",))

    @staticmethod
    def _is_zero(unit: Unit, offset: int) -> bool:
        place = unit.tokens.at(offset)
        return Constants(unit.tokens).value(parse_expression(unit.tokens, place, place + 1)) == 0


def _planned(unit: Unit, span: Span) -> str:
    """An argument as it will be: a kernel that is widened may have larger blocks."""
    inside = [edit for edit in outcome(unit).edits if span.start <= edit.start and edit.end <= span.end]
    moved = [Edit(edit.start - span.start, edit.end - span.start, edit.text) for edit in inside]
    return apply(unit.slice(span), moved)


def _multiple_of_warp(unit: Unit, text: str) -> bool:
    """Whether a bound is written as a product with the warp size, in place or in the constant that it names."""
    tokens = lex(text)
    return _is_product(bodies_of(unit).constants, parse_expression(tokens, 0, len(tokens)), 0)


def _is_product(constants: Constants, node: Node, depth: int) -> bool:
    node = unwrapped(node)
    if node.kind == "name" and depth < _DEEPEST:
        tokens = constants.tokens
        values = (parse_expression(tokens, c.first, c.last) for c in constants.definitions(node.text))
        return any(_is_product(constants, value, depth + 1) for value in values)
    if node.kind != "binary":
        return False
    if node.text == "<<":
        return constants.value(node.kids[1]) == _LOG2_WARP
    return node.text == "*" and any(_is_warp(kid) or _is_product(constants, kid, depth) for kid in node.kids)


def _is_warp(node: Node) -> bool:
    node = unwrapped(node)
    return (node.kind == "number" and node.text == "32") or (node.kind == "name" and looks_like_warp_size(node.text))


_DEEPEST = 3
_LOG2_WARP = 5


def _whole(unit: Unit, pieces: list[Span]) -> list[Span]:
    """The arguments; commas between the brackets of a template end none: `Kernel<A, B>::kThreads`."""
    found: list[Span] = []
    open_ = 0
    for number, piece in enumerate(pieces):
        closes = any(map(_closed, map(unit.slice, pieces[number + 1 :])))
        if open_ > 0:
            found[-1] = Span(found[-1].start, piece.end)
        else:
            found.append(piece)
        text = unit.slice(piece)
        open_ = max(0, open_ + len(_ANGLE.findall(text)) - _closed(text)) if closes or open_ > 0 else 0
    return found


def _closed(text: str) -> int:
    return len(_CLOSED.findall(text)) + 2 * len(_CLOSED_TWICE.findall(text))


_ANGLE = re.compile(r"\w\s*<(?![<=])")
_CLOSED = re.compile(r"(?<![->])>(?![>=])")
_CLOSED_TWICE = re.compile(r">>(?=\s*(?:::|[({]|$))")
