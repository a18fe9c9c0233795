"""W110: the second argument of __launch_bounds__ has another unit in HIP."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Edit, Effort, Finding
from porter.rule import Rule, clean, fixes
from porter.unit import Unit
from porter.warp.constants import Constants
from porter.warp.syntax import parse_expression

_HELPER = "porter::waves_per_simd"


class LaunchBoundsBlocks(Rule):
    """Second argument of `__launch_bounds__`

    CUDA's second argument is the number of blocks that should fit on one multiprocessor; HIP hands the number to the
    compiler as waves per SIMD. `(128, 8)` asks CUDA for 8 blocks of 128 threads, which is 4 waves per SIMD, and asks
    HIP for 8: 64 registers and spills. The argument is converted: blocks times waves per block, spread over the four
    SIMDs of a compute unit. A third argument (cluster size) does not exist in HIP and is dropped.
    """

    code = "W110"
    triggers = frozenset({"__launch_bounds__"})
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
        clean("__global__ void __launch_bounds__(32 * 8) k(float *x) {}"),
        clean("__global__ void __launch_bounds__(256, porter::waves_per_simd(256, 2)) k(float *x) {}"),
        clean("__global__ void __launch_bounds__(256, 0) k(float *x) {}"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per attribute."""
        for index in unit.occurrences("__launch_bounds__"):
            arguments = unit.arguments(index)
            texts = [unit.slice(span) for span in arguments]
            if len(texts) < 2 or texts[1].startswith(_HELPER) or self._is_zero(unit, arguments[1].start):
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
