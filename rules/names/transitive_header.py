"""A014: types that a CUDA library header brought along."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Effort, Finding
from porter.rule import Rule, clean, fixes
from porter.unit import Unit

_HEADERS = {
    "fp16": ("hip/hip_fp16.h", frozenset({"cuda_fp16.h", "cuda_fp16.hpp"})),
    "bf16": ("hip/hip_bf16.h", frozenset({"cuda_bf16.h", "cuda_bf16.hpp"})),
    "fp8": ("hip/hip_fp8.h", frozenset({"cuda_fp8.h", "cuda_fp8.hpp"})),
    "complex": ("hip/hip_complex.h", frozenset({"cuComplex.h"})),
}
_HALVES = frozenset({"fp16", "bf16"})
_BRINGS = {
    "cublas.h": _HALVES | {"complex"},
    "cublas_api.h": _HALVES | {"complex"},
    "cublas_v2.h": _HALVES | {"complex"},
    "cublasLt.h": _HALVES | {"complex"},
    "cublasXt.h": _HALVES | {"complex"},
    "cuda_bf16.h": frozenset({"fp16"}),
    "cuda_fp8.h": _HALVES,
    "cufft.h": frozenset({"complex"}),
    "cufftXt.h": frozenset({"complex"}),
    "cusolverDn.h": _HALVES | {"complex"},
    "cusolverSp.h": _HALVES | {"complex"},
    "cusparse.h": frozenset({"fp16", "complex"}),
    "mma.h": _HALVES,
    "nccl.h": _HALVES | {"fp8"},
    "cooperative_groups.h": _HALVES,
    **{
        f"ATen/cuda/{name}": _HALVES | {"complex"}
        for name in ("CUDAContext.h", "CUDAContextLight.h", "CUDABlas.h", "Exceptions.h")
    },
}
"""CUDA header -> tables of the headers that it includes and that its counterpart in ROCm does not."""
_TEMPLATES = ("cub/", "thrust/")


class TransitiveHeader(Rule):
    """Type whose header came with another one

    CUDA's library headers include the headers of half, bfloat16 and complex types: `cublas_v2.h` is enough to use
    `__nv_bfloat16`, and so is PyTorch's `ATen/cuda/CUDAContext.h`, which includes it. ROCm's library headers do not, so
    the header of the type is included where a file uses it and has only such a library header.
    """

    code = "A014"
    examples = (
        fixes("#include <cublas_v2.h>\n__nv_bfloat16 *p;", "#include <cublas_v2.h>\n__nv_bfloat16 *p;", path="a.h"),
        fixes("#include <cub/cub.cuh>\n__half *p;", "#include <cub/cub.cuh>\n__half *p;", path="a.h"),
        fixes(
            "#include <ATen/cuda/CUDAContext.h>\n__nv_bfloat16 *p;",
            "#include <ATen/cuda/CUDAContext.h>\n__nv_bfloat16 *p;",
            path="a.cpp",
        ),
        clean("#include <cublas_v2.h>\n#include <cuda_bf16.h>\n__nv_bfloat16 *p;", path="a.h"),
        clean("#include <cuda_runtime.h>\n__nv_bfloat16 *p;", path="a.h"),
        clean("#include <cublas_v2.h>\ncublasHandle_t h;", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per header, at the first use of a name it declares."""
        missing = {
            table
            for name in unit.included
            for table in _brought(name)
            if not unit.included & {_HEADERS[table][0], *_HEADERS[table][1]}
        }
        if not missing:
            return
        for name, indices in unit.tokens.names.items():
            row = unit.names.get(name)
            if row is None or row.library not in missing:
                continue
            index = next((i for i in indices if unit.is_cuda(i)), None)
            if index is not None:
                missing.discard(row.library)
                header = _HEADERS[row.library][0]
                message = f"{name} came with another CUDA header; <{header}> is included"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, includes=(f"<{header}>",))


def _brought(include: str) -> frozenset[str]:
    return _HALVES if include.startswith(_TEMPLATES) else _BRINGS.get(include, frozenset())
