"""L014: functions of the host's standard library under `std::` in device code."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_NAMES = frozenset({"printf", "malloc", "free", "memcpy", "memset"})


class StdInDeviceCode(Rule):
    """Device function called as std::

    `std::printf` in a kernel is CUDA's own `printf` to nvcc; clang finds the host's function, which device code may not
    call. Without `std::` it is the device's.
    """

    code = "L014"
    text = "(?i:global|device)"
    triggers = _NAMES
    examples = (
        fixes(
            '__global__ void k(float *p) { std::printf("%f", p[0]); }',
            '__global__ void k(float *p) { printf("%f", p[0]); }',
        ),
        fixes(
            "__device__ void *f(int n) { return ::std::malloc(n); }",
            "__device__ void *f(int n) { return malloc(n); }",
        ),
        clean('void f(float *p) { std::printf("%f", p[0]); }'),
        clean('__host__ __device__ void f(int x) { mine::printf("%d", x); }'),
        clean('__global__ void k(float *p) { printf("%f", p[0]); }'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        texts = unit.tokens.texts
        for name in sorted(self.triggers & unit.identifiers):
            for index in unit.tokens.names[name]:
                if texts[index - 2 : index] != ["std", "::"] or not unit.next_is(index, "("):
                    continue
                if unit.kernel_at(unit.tokens.starts[index]) is None:
                    continue
                first = index - 3 if index > 2 and texts[index - 3] == "::" else index - 2
                edit = Edit(unit.tokens.starts[first], unit.tokens.starts[index], "")
                message = f"std::{name} is the host's alone to clang: {name} is the device's"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, (edit,))
