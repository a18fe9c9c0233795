"""T003: headers of THC, which PyTorch no longer has."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Group, find_groups, group_at
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports

_MOVED = {
    "THC/THCAtomics.cuh": "ATen/cuda/Atomic.cuh",
    "THC/THCDeviceUtils.cuh": "ATen/cuda/DeviceUtils.cuh",
}


class OldTorchHeader(Rule):
    """Header of THC, which is gone from PyTorch

    PyTorch 1.11 removed the last of THC, so that the original builds with older releases only; ROCm's builds for MI300X
    are newer. `THC/THCAtomics.cuh` and `THC/THCDeviceUtils.cuh` are `ATen/cuda/Atomic.cuh` and
    `ATen/cuda/DeviceUtils.cuh` now. Of the others, `THCCeilDiv` is `at::ceil_div` (`ATen/ceil_div.h`), `THCudaCheck` is
    `C10_CUDA_CHECK`, `THCudaMalloc` is `c10::cuda::CUDACachingAllocator::raw_alloc`; nothing needs a `THCState`.
    Headers that stand behind a question for PyTorch's version are left alone.
    """

    code = "T003"
    text = "THC/"
    examples = (
        fixes("#include <THC/THCAtomics.cuh>", "#include <ATen/cuda/Atomic.cuh>"),
        reports("#include <THC/THC.h>"),
        clean(
            """
            #if TORCH_VERSION_MINOR < 11
            #include <THC/THCAtomics.cuh>
            #else
            #include <ATen/cuda/Atomic.cuh>
            #endif
            """
        ),
        clean("#include <THCA/THC.h>"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there is such a header."""
        return any(include.name.startswith("THC/") for include in unit.tokens.includes)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per header."""
        groups = find_groups(unit.tokens)
        for include in unit.tokens.includes:
            asked = _asks_for_a_version(unit, group_at(groups, include.start))
            if not include.name.startswith("THC/") or asked or unit.is_project_header(include.name):
                continue
            new = _MOVED.get(include.name)
            if new is None:
                span = Span(include.start, include.end)
                yield self.finding(unit, span, f"<{include.name}> is gone from PyTorch since 1.11", Effort.MANUAL)
                continue
            span = Span(include.start, include.start + len(include.name))
            message = f"<{include.name}> is <{new}> since PyTorch 1.11"
            yield self.finding(unit, span, message, Effort.NONE, (Edit(span.start, span.end, new),))


def _asks_for_a_version(unit: Unit, group: Group | None) -> bool:
    if group is None:
        return False
    return any("VERSION" in name for outer in group.around() for name in outer.names(unit.tokens))
