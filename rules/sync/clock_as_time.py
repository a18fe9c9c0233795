"""S105: a clock counter taken for time."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_RATES = frozenset({"clockRate", "cudaDevAttrClockRate", "CU_DEVICE_ATTRIBUTE_CLOCK_RATE", "clock_rate"})


class ClockAsTime(Rule):
    """Clock counter taken for time

    `clock64()` on gfx942 counts core clocks, which vary with power and differ between the eight dies, and `clock()`
    returns a `long long`. Cycles converted with the device's clock rate are no time. `wall_clock64()` counts a constant
    100 MHz (`hipDeviceAttributeWallClockRate`). Differences within one kernel that stay cycles are not reported.
    """

    code = "S105"
    only_reports = True
    triggers = frozenset({"clock64", "clock"})
    hazards = ("clock-units",)
    examples = (
        reports(
            """
            __global__ void wait(long long cycles) { long long t = clock64(); while (clock64() - t < cycles) {} }
            void f(cudaDeviceProp p, int ms) { wait<<<1, 1>>>((long long)p.clockRate * ms); }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            #define NOW clock64()
            __global__ void wait(long long cycles) { long long t = NOW; while (NOW - t < cycles) {} }
            void f(cudaDeviceProp p, int ms) { wait<<<1, 1>>>((long long)p.clockRate * ms); }
            """,
            effort=Effort.REVIEW,
        ),
        clean("#define NOW clock()\nvoid f(cudaDeviceProp p) { print(NOW, p.clockRate); } __global__ void k() {}"),
        clean("__global__ void k(long long *t) { long long a = clock64(); work(); *t = clock64() - a; }"),
        clean("double seconds(cudaDeviceProp p) { return clock() / (double)CLOCKS_PER_SEC + p.clockRate; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per counter read in device code."""
        if _RATES.isdisjoint(unit.tokens.names):
            return
        for name in ("clock64", "clock"):
            for index in unit.occurrences(name):
                if unit.next_is(index, "(") and _is_on_device(unit, index):
                    message = (
                        f"{name}() counts core clocks, whose rate varies on gfx942; for time use wall_clock64(), "
                        "100 MHz [clock-units]"
                    )
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW)


def _is_on_device(unit: Unit, index: int) -> bool:
    """Whether a token is part of device code, or of a macro that device code uses."""
    directive = unit.tokens.directive_of(index)
    if directive is None or directive.name != "define":
        return unit.kernel_at(unit.tokens.starts[index]) is not None
    uses = unit.tokens.names.get(unit.tokens.texts[directive.first], ())
    return any(unit.kernel_at(unit.tokens.starts[use]) is not None for use in uses)
