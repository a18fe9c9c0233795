"""W111: a warp-transposed block primitive on a block that is no multiple of the wavefront."""

from __future__ import annotations

import math
from collections.abc import Iterator

from porter.cpp.syntax import chain_start, closing_angle, parse_expression, split_commas
from porter.engine.reach import Reach
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes
from porter.warp.bodies import bodies_of

_CLASSES = {"BlockLoad": "BLOCK_LOAD", "BlockStore": "BLOCK_STORE"}
_ROOTS = frozenset({"cub", "hipcub"})
_WAVEFRONT = 64


class WarpTransposedBlock(Rule):
    """Warp-transposed loads in a block of part of a wavefront

    `cub::BlockLoad<T, 32, N, BLOCK_LOAD_WARP_TRANSPOSE>` works on any multiple of 32 threads; rocPRIM asserts a
    multiple of the wavefront's 64. For other blocks the plain transposed algorithm takes its place: same result, other
    temporary storage. Where the size is a template parameter, the compiler chooses.
    """

    code = "W111"
    triggers = frozenset(_CLASSES)
    hazards = ("rocprim-warp-multiple",)
    examples = (
        fixes(
            "using Load = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;",
            "using Load = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_TRANSPOSE>;",
        ),
        fixes(
            """
            template <int THREADS> __global__ void k(int *in) {
              using Load = cub::BlockLoad<int, THREADS, 4,
                  cub::BLOCK_LOAD_WARP_TRANSPOSE>;
            }
            """,
            """
            template <int THREADS> __global__ void k(int *in) {
              using Load = cub::BlockLoad<int, THREADS, 4,
                  (THREADS % 64 == 0 ? cub::BLOCK_LOAD_WARP_TRANSPOSE : cub::BLOCK_LOAD_TRANSPOSE)>;
            }
            """,
        ),
        fixes(
            """
            using namespace cub;
            template <int X> struct S : BlockStore<int, X + 1, 4,
                  BLOCK_STORE_WARP_TRANSPOSE, 2> {};
            """,
            """
            using namespace cub;
            template <int X> struct S : BlockStore<int, X + 1, 4,
                  ((X + 1) * 2 % 64 == 0 ? BLOCK_STORE_WARP_TRANSPOSE : BLOCK_STORE_TRANSPOSE), 2> {};
            """,
        ),
        clean("template <int N> struct S : own::BlockStore<int, N, 4, BLOCK_STORE_WARP_TRANSPOSE> {};"),
        clean("using Load = cub::BlockLoad<int, 16, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE, 4, 1>;"),
        clean("using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;"),
        clean("using Load = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_DIRECT>;"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per class."""
        tokens = unit.tokens
        reach: Reach | None = None
        for name, prefix in _CLASSES.items():
            algorithms = {f"{prefix}_WARP_TRANSPOSE", f"{prefix}_WARP_TRANSPOSE_TIMESLICED"} & tokens.names.keys()
            for index in tokens.names.get(name, ()) if algorithms else ():
                closed = closing_angle(tokens, index + 1) if unit.next_is(index, "<") else None
                reach = reach or Reach.of(unit.program.all_tokens)
                if closed is None or not reach.is_below(tokens, index, _ROOTS):
                    continue
                last = closed[0]
                arguments = split_commas(tokens, index + 2, last)
                place = next((i for i in range(index, last) if tokens.texts[i] in algorithms), None)
                if place is None or len(arguments) < 2 or "?" in tokens.texts[index:last]:
                    continue
                yield from self._replaced(unit, place, prefix, [arguments[1], *arguments[4:6]])

    def _replaced(self, unit: Unit, place: int, prefix: str, sizes: list[tuple[int, int]]) -> Iterator[Finding]:
        """The plain algorithm for a block of part of a wavefront; a choice where the size is not known here."""
        constants = bodies_of(unit).constants
        known = [constants.value(parse_expression(unit.tokens, *size)) for size in sizes]
        span = unit.span(place)
        if None not in known:
            threads = math.prod(size for size in known if size is not None)
            if threads % _WAVEFRONT:
                message = f"{threads} threads are no multiple of 64"
                yield self._found(unit, span, message, (Edit(*span, f"{prefix}_TRANSPOSE"),))
            return
        threads_text = " * ".join(_factor(unit, size) for size in sizes)
        first = unit.tokens.starts[chain_start(unit.tokens, place)]
        scope = unit.slice(Span(first, span.start))
        edits = (
            Edit(first, first, f"({threads_text} % {_WAVEFRONT} == 0 ? "),
            Edit(span.end, span.end, f" : {scope}{prefix}_TRANSPOSE)"),
        )
        yield self._found(unit, span, f"{threads_text} may be no multiple of 64", edits)

    def _found(self, unit: Unit, span: Span, message: str, edits: tuple[Edit, ...]) -> Finding:
        message = f"rocPRIM transposes by wavefronts; {message} [rocprim-warp-multiple]"
        return self.finding(unit, span, message, Effort.NONE, edits)


def _factor(unit: Unit, size: tuple[int, int]) -> str:
    first, last = size
    text = unit.slice(unit.span(first, last - 1))
    return text if last - first == 1 else f"({text})"
