"""P002: conditionals on the include guards of CUDA's headers."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import find_groups, group_at, knows_hip
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_GUARDS = {
    "__DRIVER_TYPES_H__": "HIP_INCLUDE_HIP_DRIVER_TYPES_H",
    "__CUDA_RUNTIME_API_H__": "HIP_INCLUDE_HIP_HIP_RUNTIME_API_H",
    "__CUDA_RUNTIME_H__": "HIP_INCLUDE_HIP_HIP_RUNTIME_H",
    "__cuda_cuda_h__": "HIP_INCLUDE_HIP_HIP_RUNTIME_API_H",
    "__VECTOR_TYPES_H__": "HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H",
    "__VECTOR_FUNCTIONS_H__": "HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H",
    "__TEXTURE_TYPES_H__": "HIP_INCLUDE_HIP_TEXTURE_TYPES_H",
    "__CUDA_FP16_H__": "HIP_INCLUDE_HIP_HIP_FP16_H",
    "__CUDA_BF16_H__": "HIP_INCLUDE_HIP_HIP_BF16_H",
    "__CUDA_FP8_H__": "HIP_INCLUDE_HIP_HIP_FP8_H",
    "CU_COMPLEX_H_": "HIP_INCLUDE_HIP_HIP_COMPLEX_H",
    "CUBLAS_API_H_": "HIPBLAS_H",
    "CUBLAS_V2_H_": "HIPBLAS_H",
    "CUBLAS_H_": "HIPBLAS_H",
    "_CUFFT_H_": "HIPFFT_H_",
    "CUSPARSE_H_": "HIPSPARSE_H",
    "CUSPARSEAPI": "HIPSPARSE_H",
    "CUSOLVER_COMMON_H_": "HIPSOLVER_H",
    "CUSOLVERDN_H_": "HIPSOLVER_H",
    "CURAND_H_": "HIPRAND_H_",
    "CURAND_KERNEL_H_": "HIPRAND_KERNEL_H_",
}
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})


class CudaHeaderGuard(Rule):
    """Condition on the include guard of a CUDA header

    `#ifdef __DRIVER_TYPES_H__` asks whether CUDA's runtime has been included and `#ifdef CUBLAS_API_H_` whether cuBLAS
    has, as the samples' `helper_cuda.h` does before it defines `checkCudaErrors`. HIP's headers have guards of their
    own, without which that code would be gone.
    """

    code = "P002"
    triggers = frozenset(_GUARDS)
    examples = (
        fixes(
            "#ifdef __DRIVER_TYPES_H__\nint a;\n#endif",
            "#ifdef HIP_INCLUDE_HIP_DRIVER_TYPES_H\nint a;\n#endif",
            path="a.h",
        ),
        fixes("#if defined(CUBLAS_API_H_)\nint a;\n#endif", "#if defined(HIPBLAS_H)\nint a;\n#endif", path="a.h"),
        fixes(
            "#ifdef CUBLAS_API_H_\n#define OURS CUBLAS_API_H_\n#endif",
            "#ifdef HIPBLAS_H\n#define OURS CUBLAS_API_H_\n#endif",
            path="a.h",
        ),
        clean("#ifndef CURAND_H_\n#define CURAND_H_\nint a;\n#endif", path="curand.h"),
        clean("#if defined(__DRIVER_TYPES_H__) || defined(USE_HIP)\nint a;\n#endif", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per guard in a condition."""
        tokens = unit.tokens
        groups = find_groups(tokens)
        for name, new in _GUARDS.items():
            places = [(index, tokens.directive_of(index)) for index in tokens.names.get(name, ())]
            if any(line is not None and line.name == "define" and line.first == index for index, line in places):
                continue
            for index, directive in places:
                if directive is None or directive.name not in _CONDITIONS:
                    continue
                if not knows_hip(group_at(groups, directive.start), tokens):
                    span = unit.span(index)
                    message = f"{name} is {new} in HIP's headers"
                    yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, new),))
