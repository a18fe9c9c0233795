"""Which CUDA headers make up each library, and how HIP spells its names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.names.derive.namespaces import ccl_namespaces
from porter.names.derive.reader import Namespaces, no_namespaces


@dataclass(frozen=True)
class Library:
    """One table: CUDA headers (globs below an include folder) and name families.

    A family is (CUDA prefix, HIP prefix): names match when the rest is the same but for case and underscores.
    """

    name: str
    title: str
    headers: tuple[str, ...]
    families: tuple[tuple[str, str], ...]
    public: str = r"(?!_)\w+"
    """Names outside of this expression are the header's own business."""
    namespaces: Namespaces = no_namespaces
    scopes: tuple[str, ...] = ()
    """Namespaces whose members are public; empty: the names outside of any namespace are."""
    header: str = ""
    """The ROCm header that stands for all of the library's headers without a counterpart of their own."""
    header_names: tuple[str, str] | None = None
    """Expression and replacement that turn a CUDA include path into ROCm's."""
    inside: str = ""
    """A namespace whose members count as global ones."""
    macros: str = ""
    """With scopes: macros that are public nevertheless."""

    def public_name(self, name: str) -> str | None:
        """A declared name as users write it; None for the header's own business."""
        plain = name.removeprefix(self.inside)
        return plain if self.is_public(plain) else None

    def is_public(self, name: str) -> bool:
        """Whether users may write the name."""
        if self.scopes and "::" not in name and name not in self.scopes:
            return bool(self.macros) and re.fullmatch(self.macros, name) is not None
        if self.scopes:
            parts = name.split("::")
            scoped = any(name == scope or name.startswith(scope + "::") for scope in self.scopes)
            return scoped and not any(_HIDDEN.match(part) for part in parts)
        return "::" not in name and re.fullmatch(self.public, name) is not None


_HIDDEN = re.compile(r"_|detail$|internal$|impl$|\w*_detail$|\w*_impl$|AliasTemporaries$|Int2Type$")
_INTRINSIC = r"(?!__(?:nv|internal|cuda|device_builtin|cudart|NV|builtin|CUDA|CRT|SM_|DEVICE|MATH|HOST|VECTOR))\w+"

RUNTIME_HEADERS = (
    "cuda_runtime_api.h driver_types.h vector_types.h vector_functions.h channel_descriptor.h library_types.h "
    "surface_types.h texture_types.h cuda_texture_types.h cuda_surface_types.h cuda_runtime.h device_types.h builtin_types.h "
    "cuda_device_runtime_api.h device_launch_parameters.h cuda_gl_interop.h cuda_egl_interop.h cuda_vdpau_interop.h "
    "cuda_occupancy.h driver_functions.h cudart_platform.h math_constants.h texture_fetch_functions.h surface_functions.h "
    "texture_indirect_functions.h surface_indirect_functions.h host_defines.h crt/host_defines.h vector_functions.hpp"
)
DEVICE_HEADERS = (
    "crt/device_functions.h crt/device_functions.hpp crt/device_double_functions.h crt/math_functions.h "
    "crt/common_functions.h crt/device_fp128_functions.h crt/sm_*_rt.h sm_*_intrinsics.h sm_*_atomic_functions.h "
    "device_functions.h device_double_functions.h device_atomic_functions.h math_functions.h common_functions.h"
)

LIBRARIES = (
    Library(
        "runtime",
        "CUDA runtime",
        tuple(RUNTIME_HEADERS.split()),
        (
            ("cudaDevAttr", "hipDeviceAttribute"),
            ("cuda", "hip"),
            ("CUDA_", "HIP_"),
            ("CUDART_", "HIP_"),
            ("make_cuda", "make_hip"),
            ("", ""),
        ),
        header="hip/hip_runtime.h",
    ),
    Library(
        "driver",
        "CUDA driver",
        ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaTypedefs.h", "cuda*Typedefs.h"),
        (("CU_", "hip"), ("CUDA_", "hip"), ("cu", "hip"), ("CU", "hip"), ("cu", "hipDrv"), ("cu", "hipModule")),
        header="hip/hip_runtime.h",
    ),
    Library(
        "profiler",
        "CUDA profiler",
        ("cuda_profiler_api.h", "cudaProfiler.h"),
        (("cuda", "hip"), ("cu", "hip")),
        header="hip/hip_runtime.h",
    ),
    Library(
        "nvrtc",
        "NVRTC and JIT linking",
        ("nvrtc.h", "nvPTXCompiler.h", "nvJitLink.h", "fatbinary_section.h"),
        (("nvrtc", "hiprtc"),),
    ),
    Library(
        "cublas",
        "cuBLAS",
        ("cublas_api.h", "cublas_v2.h", "cublas.h", "cublasXt.h", "nvblas.h"),
        (("cublas", "hipblas"),),
        header="",
    ),
    Library("cublaslt", "cuBLASLt", ("cublasLt.h",), (("cublasLt", "hipblasLt"), ("CUBLASLT_", "HIPBLASLT_"))),
    Library(
        "cufft",
        "cuFFT",
        ("cufft.h", "cufftXt.h", "cudalibxt.h", "cufft_device.h", "cufftw.h"),
        (("cufft", "hipfft"), ("cudaXt", "hipXt"), ("cudaLibXt", "hipLibXt"), ("LIB_FORMAT", "HIPLIB_FORMAT")),
        header="hipfft/hipfft.h",
    ),
    Library("curand", "cuRAND", ("curand*.h",), (("curand", "hiprand"),), header="hiprand/hiprand_kernel.h"),
    Library(
        "cusparse",
        "cuSPARSE",
        ("cusparse.h", "cusparse_v2.h"),
        (("cusparse", "hipsparse"), ("", "")),
        header="hipsparse/hipsparse.h",
    ),
    Library("cusolver", "cuSOLVER", ("cusolver*.h",), (("cusolver", "hipsolver"),), header="hipsolver/hipsolver.h"),
    Library("cudnn", "cuDNN", ("cudnn.h", "cudnn_*.h"), (("cudnn", "miopen"),)),
    Library(
        "nccl",
        "NCCL",
        ("nccl.h", "nccl_device.h", "nccl_device/*.h"),
        (("nccl", "nccl"), ("pnccl", "pnccl"), ("NCCL_", "NCCL_")),
        header="",
    ),
    Library("nvtx", "NVTX", ("nvtx3/nvToolsExt*.h", "nvToolsExt*.h"), (("nvtx", "roctx"),)),
    Library("nvml", "NVML", ("nvml.h",), ()),
    Library(
        "complex", "cuComplex", ("cuComplex.h",), (("cu", "hip"), ("make_cu", "make_hip")), header="hip/hip_complex.h"
    ),
    Library(
        "fp16",
        "half precision",
        ("cuda_fp16.h", "cuda_fp16.hpp"),
        (("", ""), ("CUDART_", "HIPRT_")),
        public=_INTRINSIC,
        header="hip/hip_fp16.h",
    ),
    Library(
        "bf16",
        "bfloat16",
        ("cuda_bf16.h", "cuda_bf16.hpp"),
        (("", ""), ("__nv", "__hip"), ("nv_", "hip_"), ("CUDART_", "HIPRT_")),
        public=_INTRINSIC + r"|__nv_bfloat\w+",
        header="hip/hip_bf16.h",
    ),
    Library(
        "fp8",
        "fp8, fp6, fp4 and tf32",
        ("cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "cuda_tf32.h"),
        (("__nv", "__hip"), ("__NV_", "__HIP_")),
        public=r"__nv_\w+|__NV_\w+",
    ),
    Library(
        "device",
        "device functions",
        tuple(DEVICE_HEADERS.split()),
        (("", ""),),
        public=_INTRINSIC,
        inside="std::",
        header="hip/hip_runtime.h",
    ),
    Library(
        "cooperative_groups",
        "cooperative groups",
        ("cooperative_groups.h", "cooperative_groups/*.h", "cooperative_groups/details/*.h"),
        (("cooperative_groups::", "cooperative_groups::"),),
        namespaces=ccl_namespaces,
        scopes=("cooperative_groups",),
        header="hip/hip_cooperative_groups.h",
    ),
    Library(
        "mma", "tensor-core fragments", ("mma.h", "crt/mma.h"), (("nvcuda::wmma::", "rocwmma::"),), scopes=("nvcuda",)
    ),
    Library(
        "pipeline",
        "asynchronous copies and barriers",
        ("cuda_pipeline.h", "cuda_pipeline_primitives.h", "cuda_awbarrier.h", "cuda_awbarrier_primitives.h"),
        (("", ""),),
        public=r"(?!__pipeline_helpers|__awbarrier_)__\w*[a-z]\w*",
    ),
    Library(
        "cub",
        "CUB",
        ("cub/**/*.cuh",),
        (("cub::", "hipcub::"), ("CUB_", "HIPCUB_"), ("Cub", "Hipcub")),
        namespaces=ccl_namespaces,
        scopes=("cub",),
        macros=r"(?:CUB_|Cub)\w+",
        header="hipcub/hipcub.hpp",
        header_names=(r"^cub/(.*)\.cuh$", r"hipcub/\1.hpp"),
    ),
    Library(
        "thrust",
        "Thrust",
        ("thrust/**/*.h",),
        (("thrust::", "thrust::"),),
        namespaces=ccl_namespaces,
        scopes=("thrust",),
        macros=r"THRUST_\w*VERSION\w*|THRUST_DEVICE_SYSTEM\w*|THRUST_HOST_SYSTEM\w*|THRUST_NAMESPACE_\w+",
        header="same",
        header_names=(r"^(thrust/.*)$", r"\1"),
    ),
    Library(
        "libcudacxx",
        "libcu++",
        ("cuda/**/*", "nv/target"),
        (("cuda::", "cuda::"),),
        namespaces=ccl_namespaces,
        scopes=("cuda",),
        macros=r"(?:CCCL|LIBCUDACXX|_LIBCUDACXX_CUDA)_\w*VERSION\w*|NV_\w+|_CCCL_\w*VERSION",
        header="same",
        header_names=(r"^(cuda/.*|nv/.*)$", r"\1"),
    ),
)


def library(name: str) -> Library:
    """A library by its name."""
    return next(entry for entry in LIBRARIES if entry.name == name)
