"""A012: nvcc includes the runtime by itself, hipcc does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Span, Unit, clean, fixes

_RUNTIME = "hip/hip_runtime.h"
_OF_NVCC = re.compile(r"\.cu(?:\.(?:cc|cpp|cxx|c\+\+))?$", re.IGNORECASE)
"""TensorFlow's operators are in `.cu.cc`, compiled with `nvcc -x cu`."""


class RuntimeHeader(Rule):
    """CUDA source that relies on nvcc's implicit runtime header

    nvcc includes `cuda_runtime.h` before every `.cu` file. hipcc includes nothing, so `hip/hip_runtime.h` is added to
    `.cu` files, and `.cu.cc` and their like, that do not include it by themselves. An `#include` behind a switch of the
    project's own for AMD does not count: the port is built without it.
    """

    code = "A012"
    by_names = True
    examples = (
        fixes("__global__ void k() {}", "__global__ void k() {}"),
        fixes('#include "instances.h"', '#include "instances.h"'),
        clean("#include <hip/hip_runtime.h>\n__global__ void k() {}"),
        fixes(
            "#ifdef __IS_HIP_COMPILE__\n#include <hip/hip_runtime.h>\n#endif\n__global__ void k() {}",
            "#ifdef __IS_HIP_COMPILE__\n#endif\n__global__ void k() {}",
        ),
        fixes(
            "#ifdef MY_USE_HIP\n#include <hip/hip_runtime.h>\n#endif\n__global__ void k() {}",
            "#ifdef MY_USE_HIP\n#endif\n__global__ void k() {}",
        ),
        clean("#ifdef __HIPCC__\n#include <hip/hip_runtime.h>\n#endif\n__global__ void k() {}"),
        clean("#ifdef USE_ROCM\n#include <hip/hip_runtime.h>\n#endif\n__global__ void k() {}"),
        clean("// nothing\n"),
        clean("__global__ void k() {}", path="a.cuh"),
        fixes(
            "#include <cuda_runtime_api.h>\n__global__ void k() {}",
            "#include <cuda_runtime_api.h>\n__global__ void k() {}",
            path="a.cu.cc",
        ),
        clean("#include <hip/hip_runtime.h>\n__global__ void k() {}", path="a.cu.cc"),
        clean("int a() { return 1; }", path="a.cc"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """At most one finding, at the start of the file."""
        tokens = unit.tokens
        if _OF_NVCC.search(unit.source.path) is None or not (len(tokens) or tokens.includes):
            return
        if any(self._brings_runtime(unit, name) for name in unit.included_by_port):
            return
        message = f"nvcc includes the runtime header by itself; <{_RUNTIME}> is added"
        yield self.finding(unit, Span(0, 0), message, Effort.NONE, includes=(f"<{_RUNTIME}>",))

    @staticmethod
    def _brings_runtime(unit: Unit, name: str) -> bool:
        row = unit.names.header(name)
        return name == _RUNTIME or (row is not None and row.hip == _RUNTIME)
