"""R021: pointers of any type as results, where HIP takes `void **`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_NAMES = frozenset({"cudaHostAlloc", "cudaHostGetDevicePointer", "cudaMallocPitch"})


class TypedPointerResult(Rule):
    """Pointer of another type than void as a result

    CUDA declares `cudaHostAlloc`, `cudaHostGetDevicePointer` and `cudaMallocPitch` for pointers of any type; HIP has
    such templates for its other allocations alone, and for these before some version for none. The address is cast.
    """

    code = "R021"
    triggers = _NAMES
    settles = True
    examples = (
        fixes(
            "void f(int *p) { cudaHostAlloc(&p, 4, cudaHostAllocDefault); }",
            "void f(int *p) { cudaHostAlloc((void **)&p, 4, cudaHostAllocDefault); }",
        ),
        fixes(
            "void f(S *s, float *h) { cudaHostGetDevicePointer(s->where(1), h, 0); }",
            "void f(S *s, float *h) { cudaHostGetDevicePointer((void **)(s->where(1)), h, 0); }",
        ),
        clean("void f(int *p) { cudaHostAlloc((void **)&p, 4, 0); }"),
        clean("void f(int *p) { cudaMallocPitch(reinterpret_cast<void **>(&p), &pitch, w, h); }"),
        clean("auto f = cudaHostAlloc; void g(void *p) { pool.cudaHostAlloc(&p, 4, 0); }"),
        clean("cudaError_t take(void **p) { return cudaHostAlloc((void**)p, 4, 0); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call without a cast."""
        for name in sorted(self.triggers & unit.identifiers):
            for index in unit.occurrences(name):
                arguments = unit.arguments(index)
                if len(arguments) < 3 or "void" in (text := unit.slice(arguments[0])):
                    continue
                plain = text.lstrip("&").replace("_", "").isalnum()
                edit = Edit(*arguments[0], f"(void **){text}" if plain else f"(void **)({text})")
                message = f"{name} of a pointer to another type: HIP takes void **"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, (edit,))
