"""W104: PyTorch's warp size is the hardware's."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import chain_start
from porter.engine.reach import Reach
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_BOUNDS = frozenset({"C10_WARP_SIZE_LOWER_BOUND", "C10_WARP_SIZE_UPPER_BOUND"})
_MACROS = _BOUNDS | {"C10_WARP_SIZE"}


class TorchWarpSize(Rule):
    """PyTorch's warp size, which is 64 on MI300X

    `C10_WARP_SIZE` is 64 in device code for gfx942, a call that asks the device in host code (so no constant
    expression), and `at::cuda::warp_size()` answers 64. `C10_WARP_SIZE_LOWER_BOUND` is 64 in device code and 32 in host
    code, so arrays that one sizes by it are too small for the other. The ported kernels keep warps of 32 lanes; all of
    these become their width, a constant in host and device code.
    """

    code = "W104"
    triggers = _MACROS | {"C10_WARP_SIZE_INTERNAL", "warp_size"}
    hazards = ("c10-warp-size-host", "warpsize-host-use")
    examples = (
        fixes(
            "__global__ void k(float *o) { __shared__ float s[C10_WARP_SIZE]; s[threadIdx.x % C10_WARP_SIZE] = 1; }",
            "__global__ void k(float *o) { __shared__ float s[porter::warpSize]; "
            "s[threadIdx.x % porter::warpSize] = 1; }",
        ),
        fixes(
            "dim3 block() { return dim3(at::cuda::warp_size(), 4); }",
            "dim3 block() { return dim3(porter::warpSize, 4); }",
        ),
        reports("#if C10_WARP_SIZE == 64\nint half;\n#endif"),
        fixes(
            "constexpr int most = 1024 / C10_WARP_SIZE_LOWER_BOUND;",
            "constexpr int most = 1024 / porter::warpSize;",
        ),
        fixes(
            "namespace at::native { int f() { return cuda::warp_size(); } }",
            "namespace at::native { int f() { return porter::warpSize; } }",
        ),
        fixes(
            "using at::cuda::warp_size;\nint f() { return warp_size(); }",
            "using at::cuda::warp_size;\nint f() { return porter::warpSize; }",
        ),
        clean("int warp_size(); int f() { return warp_size(); }"),
        clean("using namespace at::cuda;\nint f(G g) { return g.warp_size(); }"),
        clean("using namespace at::cuda;\nint warp_size(); int f() { return warp_size(); }"),
        clean("#ifndef C10_WARP_SIZE_UPPER_BOUND\n#define C10_WARP_SIZE_UPPER_BOUND 32\n#endif\n"),
        clean("#define C10_WARP_SIZE 32\nint f() { return C10_WARP_SIZE; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        tokens = unit.tokens
        for name in sorted(_MACROS & tokens.names.keys()):
            if not any(map(tokens.defines, tokens.names[name])):
                yield from self._macro(unit, name)
        for index in tokens.names.get("C10_WARP_SIZE_INTERNAL", ()):
            if unit.is_free(index) and tokens.texts[index + 1 : index + 3] == ["(", ")"]:
                yield self._replaced(unit, index, index + 2)
        if "warp_size" in tokens.names:
            reach = Reach.of(unit.program.all_tokens)
            for index in tokens.names["warp_size"]:
                if tokens.texts[index + 1 : index + 3] == ["(", ")"] and _is_pytorchs(unit, reach, index):
                    yield self._replaced(unit, chain_start(tokens, index), index + 2)

    def _macro(self, unit: Unit, name: str) -> Iterator[Finding]:
        for index in unit.tokens.names[name]:
            directive = unit.tokens.directive_of(index)
            if directive is not None and directive.name != "define":
                if directive.name in ("if", "elif") and "defined" not in unit.tokens.texts[index - 2 : index]:
                    message = "this branch is chosen by PyTorch's warp size, 64 on gfx942 [c10-warp-size-host]"
                    yield self.finding(unit, unit.span(index), message, Effort.MANUAL)
            elif unit.is_free(index):
                yield self._replaced(unit, index, index)

    def _replaced(self, unit: Unit, first: int, last: int) -> Finding:
        span = unit.span(first, last)
        edit = Edit(span.start, span.end, "porter::warpSize")
        message = "PyTorch's warp size is 64 on gfx942, the kernels count warps of 32 [c10-warp-size-host]"
        return self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/warp32.hpp",))


def _is_pytorchs(unit: Unit, reach: Reach, index: int) -> bool:
    """Whether a call is at::cuda's, by its scope or by the namespaces that are open there."""
    if reach.scope(unit.tokens, index) in ("at::cuda", "c10::cuda"):
        return True
    return "at::cuda" in reach.found_in(unit.tokens, index) and not unit.program.declares("warp_size")
