"""W107: the warp size is chosen by a macro that host and device see differently."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.lex import Directive
from porter.model import Effort, Finding, Span
from porter.rule import Rule, clean, reports
from porter.unit import Unit
from porter.warp.bodies import bodies_of
from porter.warp.constants import Constant, Constants, looks_like_warp_size

_DEVICE_ONLY = re.compile(r"__CUDA_ARCH__|__HIP_DEVICE_COMPILE__|__gfx\w+|__GFX\w+|__AMDGCN\w*|__AMDGPU\w*")
_PLATFORM = re.compile(r"\w*(?:HIP|ROCM|AMD|WAVEFRONT)\w*")
_WIDTHS = frozenset({32, 64})


class WarpSizeByArchitecture(Rule):
    """Warp size that depends on a macro

    `#if defined(__GFX9__)` or `#ifdef __CUDA_ARCH__` decides between 32 and 64: such macros exist only while device
    code is compiled, so the host computes its launches with the other value and half the rows are never written. A
    branch for ROCm that says 64 does not fit the ported kernels either, whose logical warps have 32 lanes. Define the
    width once, as 32, or port the kernel to 64 lanes as a whole.
    """

    code = "W107"
    triggers = frozenset()
    hazards = ("warp-size-macro-fallback-32", "gfx-macro-host-pass", "use-rocm-vs-hipcc")
    examples = (
        reports("#if defined(__GFX9__)\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif"),
        reports("#ifdef USE_ROCM\nconstexpr int kWarpSize = 64;\n#else\nconstexpr int kWarpSize = 32;\n#endif"),
        clean("#ifndef WARP_SIZE\n#define WARP_SIZE 32\n#endif"),
        clean("#ifdef __CUDA_ARCH__\n#define TILE 64\n#else\n#define TILE 32\n#endif"),
        clean("#ifdef USE_ROCM\nconstexpr int kWarpSize = 32;\n#else\nconstexpr int kWarpSize = 32;\n#endif"),
    )

    def applies(self, unit: Unit) -> bool:
        """Only where some name with `warp` or `wave` in it is defined by a directive's choice."""
        return "64" in unit.source.text and bool(unit.tokens.directives)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per definition that gives 64 lanes."""
        names = [name for name in unit.tokens.names if _is_width(name)]
        constants = bodies_of(unit).constants if names else None
        for name in names:
            assert constants is not None
            found = [(c, _value(constants, c)) for c in constants.definitions(name)]
            if {value for _, value in found} & _WIDTHS != _WIDTHS:
                continue
            for constant, value in found:
                if value == 64:
                    yield from self._chosen(unit, name, constant)

    def _chosen(self, unit: Unit, name: str, constant: Constant) -> Iterator[Finding]:
        condition = _condition(unit, constant.place)
        text = " ".join(unit.slice(Span(condition.start, condition.end)).split()) if condition is not None else ""
        span = unit.span(constant.place)
        if condition is None or not (_DEVICE_ONLY.search(text) or _PLATFORM.search(text)):
            return
        if _DEVICE_ONLY.search(text):
            message = (
                f"{name} is 64 or 32 by '{text}', which holds while device code is compiled and never for the host: "
                "both must agree [warp-size-macro-fallback-32]"
            )
        else:
            message = (
                f"{name} is 64 under '{text}', the ported kernels keep warps of 32 lanes: make it 32 there too, or "
                "port its kernels to 64 lanes as a whole [warp-size-macro-fallback-32]"
            )
        yield self.finding(unit, span, message, Effort.MANUAL)


def _is_width(name: str) -> bool:
    lower = name.lower()
    return looks_like_warp_size(name) or ("wave" in lower and "size" in lower)


def _value(constants: Constants, constant: Constant) -> int | None:
    tokens = constants.tokens
    texts = tokens.texts[constant.first : constant.last]
    return int(texts[0]) if len(texts) == 1 and texts[0].isdigit() else None


def _condition(unit: Unit, place: int) -> Directive | None:
    """The `#if` whose branch, or whose `#else`, a definition stands in."""
    offset = unit.tokens.starts[place]
    open_: list[Directive] = []
    for directive in unit.tokens.directives:
        if directive.start > offset:
            break
        if directive.name in ("if", "ifdef", "ifndef"):
            open_.append(directive)
        elif directive.name == "elif" and open_:
            open_[-1] = directive
        elif directive.name == "endif" and open_:
            open_.pop()
    return open_[-1] if open_ else None
