"""W104: PyTorch's warp size is the hardware's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import chain_start
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_USING = re.compile(r"using\s+(?:at::cuda::warp_size|namespace\s+at::cuda)\s*;|namespace\s+at::cuda\s*\{")
_AT = re.compile(r"using\s+namespace\s+at\s*;|namespace\s+at\s*\{|namespace\s+cuda\s*=\s*at::cuda")


class TorchWarpSize(Rule):
    """PyTorch's warp size, which is 64 on MI300X

    `C10_WARP_SIZE` is 64 in device code for gfx942, a call that asks the device in host code (so no constant
    expression), and `at::cuda::warp_size()` answers 64. The ported kernels keep warps of 32 lanes; all of these become
    their width, a constant in host and device code.
    """

    code = "W104"
    triggers = frozenset({"C10_WARP_SIZE", "warp_size"})
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
            "using at::cuda::warp_size;\nint f() { return warp_size(); }",
            "using at::cuda::warp_size;\nint f() { return porter::warpSize; }",
        ),
        clean("int warp_size(); int f() { return warp_size(); }"),
        clean("using namespace at::cuda;\nint f(G g) { return g.warp_size(); }"),
        clean("#define C10_WARP_SIZE 32\nint f() { return C10_WARP_SIZE; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        tokens = unit.tokens
        for index in tokens.names.get("C10_WARP_SIZE", ()):
            if tokens.defines(index):
                return
            directive = tokens.directive_of(index)
            if directive is not None and directive.name != "define":
                message = "this branch is chosen by PyTorch's warp size, 64 on gfx942 [c10-warp-size-host]"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)
            elif unit.is_free(index):
                yield self._replaced(unit, index, index)
        for index in tokens.names.get("warp_size", ()):
            first = chain_start(tokens, index)
            scope = "".join(tokens.texts[first:index]).removeprefix("::")
            if scope in _scopes(unit) and tokens.texts[index + 1 : index + 3] == ["(", ")"]:
                yield self._replaced(unit, first, index + 2)

    def _replaced(self, unit: Unit, first: int, last: int) -> Finding:
        span = unit.span(first, last)
        edit = Edit(span.start, span.end, "porter::warpSize")
        message = "PyTorch's warp size is 64 on gfx942, the kernels count warps of 32 [c10-warp-size-host]"
        return self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/warp32.hpp",))


def _scopes(unit: Unit) -> tuple[str, ...]:
    """What may stand before the function's name here."""
    text = unit.source.text
    brought = _USING.search(text) is not None and not any(map(unit.declares, unit.tokens.names["warp_size"]))
    inner = ("cuda::",) if _AT.search(text) else ()
    return ("at::cuda::", *inner, *(("",) if brought else ()))
