"""D018: kernels of which the port compiles nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.heads import Head, find_heads
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_ARCH = "__CUDA_ARCH__"
_STOPS = re.compile(r"assert|trap|abort|unsupported|not_?implemented|no_device_code|printf|error|unreachable", re.I)


class KernelLeftOut(Rule):
    """Kernel whose code is for newer NVIDIA GPUs alone

    The port's `__CUDA_ARCH__` is 700, so that plain code is compiled and not PTX for newer GPUs. A kernel whose whole
    body stands in `#if __CUDA_ARCH__ >= 900`, with nothing or an error in its place, compiles and does nothing on
    gfx942, or stops. What it does has to be written without what those GPUs alone have, or its launches left out.
    """

    code = "D018"
    triggers = frozenset({_ARCH})
    only_reports = True
    examples = (
        clean("__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 900\n  p[0] = 1;\n#else\n  p[0] = 2;\n#endif\n}"),
        clean("__global__ void k(int *p) {\n  p[0] = 0;\n#if __CUDA_ARCH__ >= 900\n  p[0] = 1;\n#endif\n}"),
        clean("__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 700\n  p[0] = 1;\n#else\n  __trap();\n#endif\n}"),
        clean("__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 800\n  p[0] = 1;\n#else\n  __trap();\n#endif\n}"),
        clean("__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 900 || defined(USE_ROCM)\n  p[0] = 1;\n#endif\n}"),
        clean("__global__ void k(int *p) {\n#ifndef USE_ROCM\n  p[0] = 1;\n#endif\n}\nint a = __CUDA_ARCH__;"),
        clean("__global__ void k() {}\nint a = __CUDA_ARCH__;"),
        clean("__device__ void f(int *p) {\n#if __CUDA_ARCH__ >= 900\n  p[0] = 1;\n#endif\n}"),
        reports("__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 900\n  p[0] = 1;\n#endif\n}"),
        reports(
            "__global__ void k(int *p) {\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000\n  p[0] = 1;\n#else\n"
            '  DEVICE_ERROR("SM 10.0 alone");\n#endif\n}'
        ),
        reports(
            "__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 900\n  p[0] = 1;\n#else\n  if (threadIdx.x == 0) {\n"
            '    printf("SM 9.0 alone");\n  }\n  return;\n#endif\n}'
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per kernel, at its name."""
        if not unit.dialects.regions[1:]:
            return
        for head in find_heads(unit.tokens, "__global__"):
            left = self._left(unit, head) if head.body is not None and head.directive is None else None
            if left is not None:
                what = "stops" if left else "does nothing"
                message = f"all code of this kernel is for newer NVIDIA GPUs (`__CUDA_ARCH__`): on gfx942 it {what}"
                yield self.finding(unit, unit.span(head.name_first), message, Effort.MANUAL)

    @staticmethod
    def _left(unit: Unit, head: Head) -> list[str] | None:
        """The words that the port compiles of a kernel that has lost all its code; None where it has not."""
        tokens, dialects = unit.tokens, unit.dialects
        assert head.body is not None
        left: list[str] = []
        is_cut = False
        for index in range(head.body + 1, head.end - 1):
            if tokens.directive_of(index) is not None:
                continue
            meaning = dialects.at(tokens.starts[index])
            if meaning.in_device_pass:
                left.append(tokens.texts[index])
                if len(left) > _LONGEST:
                    return None
            elif _ARCH not in meaning.condition:
                return None
            else:
                is_cut = True
        stops = left.count(";") <= _MOST and any(map(_STOPS.search, left))
        return left if is_cut and (not left or stops) else None


_MOST, _LONGEST = 2, 60
"""Statements and words of a body that only says why it stops."""
