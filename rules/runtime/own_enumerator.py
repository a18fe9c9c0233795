"""R034: enumerators of CUDA's that a project declares itself, with CUDA's numbers."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.absent import AbsentBranches
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports


class OwnEnumerator(Rule):
    """CUDA's enumerator, declared by the project with CUDA's number

    Who loads the driver's or the runtime's library by name needs no header of CUDA's, and declares what is asked for:
    `enum { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16 };`. ROCm's library takes other numbers: it answers such a
    call with another attribute, and with no error. Take the enumerators from HIP's headers, or write HIP's numbers.
    """

    code = "R034"
    triggers = frozenset({"enum"})
    text = r"\b(?:CU_[A-Z]\w+|cuda[A-Z]\w+)\s*=\s*(?:0[xX][0-9a-fA-F]+|\d+)"
    only_reports = True
    examples = (
        reports("typedef enum { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16 } CUdevice_attribute;"),
        reports("enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrWarpSize = 10 };"),
        reports("enum E { MINE = 1, CU_DEVICE_ATTRIBUTE_WARP_SIZE = 0x0a, };"),
        clean("enum E { CUDA_SUCCESS = 0, CU_MEMORYTYPE_HOST = 0x01 };"),
        clean("enum E { CU_DEVICE_ATTRIBUTE_WARP_SIZE = 7 };"),
        clean("int f() { return CU_DEVICE_ATTRIBUTE_WARP_SIZE == 10; } enum E { MINE = 10 };"),
        clean("#ifndef HAVE_CUDA\nenum E { CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10 };\n#endif"),
        clean("#include <cuda.h>\nenum E { MINE = CU_DEVICE_ATTRIBUTE_WARP_SIZE };"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per enumerator."""
        texts = unit.tokens.texts
        absent = AbsentBranches(unit.source.data)
        for name in sorted(unit.known_names):
            row = unit.names.get(name)
            if row is None or row.kind != "enumerator" or row.hip is None or not row.value:
                continue
            cuda, _, hip = row.value.partition(" -> ")
            for index in unit.tokens.names[name]:
                if texts[index - 1] not in ("{", ",") or texts[index + 1] != "=" or texts[index + 3] not in (",", "}"):
                    continue
                if _number(texts[index + 2]) != cuda or absent.lacks_cuda(unit.tokens.starts[index]):
                    continue
                message = f"{name} is declared with CUDA's number {cuda}: HIP's {row.hip} is {hip}, and {cuda} another"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _number(text: str) -> str:
    try:
        return str(int(text.rstrip("uUlL"), 0))
    except ValueError:
        return text
