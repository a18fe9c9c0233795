"""R027: DLPack's name of CUDA's devices."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_DEVICES = {"kDLCUDA": "kDLROCM", "kDLGPU": "kDLROCM", "kDLCUDAHost": "kDLROCMHost", "kDLCPUPinned": "kDLROCMHost"}
_AMDS = frozenset(_DEVICES.values())


class DlpackDevice(Rule):
    """DLPack's name of CUDA's devices

    Tensors that PyTorch and CuPy hand over on ROCm say `kDLROCM`, and those that they are given have to: what asks for
    `kDLCUDA` turns them down while the program runs, and compilers say nothing. Where a file knows `kDLROCM` already
    nothing is written, for a `switch` would have it twice: see that a build for AMD comes to it.
    """

    code = "R027"
    triggers = frozenset(_DEVICES)
    examples = (
        clean("enum DLDeviceType { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLROCM = 10 };", path="dlpack.h"),
        clean(
            "#ifdef USE_ROCM\nint type = kDLROCM;\n#else\nint type = kDLCUDA;\n#endif",
            path="a.cc",
        ),
        clean("const char *name = one.kDLCUDA;", path="a.cc"),
        fixes(
            "bool is_mine(DLDevice d) { return d.device_type == kDLCUDA; }",
            "bool is_mine(DLDevice d) { return d.device_type == kDLROCM; }",
            path="a.cc",
            effort=Effort.REVIEW,
        ),
        fixes(
            "bool f(int t) { return t == DLDeviceType::kDLCUDAHost || t == DLDeviceType::kDLCUDA; }",
            "bool f(int t) { return t == DLDeviceType::kDLROCMHost || t == DLDeviceType::kDLROCM; }",
            path="a.cc",
            effort=Effort.REVIEW,
        ),
        reports(
            "int f(int t) { switch (t) { case kDLCUDA: return 1; case kDLROCM: return 2; } }",
            effort=Effort.REVIEW,
            path="a.cc",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per use."""
        tokens = unit.tokens
        knows = any(not _is_enumerator(unit, index) for name in _AMDS for index in tokens.names.get(name, ()))
        for name, new in _DEVICES.items():
            for index in tokens.names.get(name, ()):
                if tokens.texts[index - 1] in (".", "->") or _is_enumerator(unit, index) or not unit.is_for_cuda(index):
                    continue
                if knows:
                    message = (
                        f"{name} is CUDA's; on ROCm tensors say {new}, which the file knows: let AMD's build come to it"
                    )
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW)
                else:
                    message = f"tensors of PyTorch and CuPy say {new} on ROCm, and {name} nowhere there"
                    edits = (Edit(*unit.span(index), new),)
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW, edits)


def _is_enumerator(unit: Unit, index: int) -> bool:
    """Whether the name is made here: `kDLCUDA = 2`."""
    return unit.tokens.texts[index + 1] == "="
