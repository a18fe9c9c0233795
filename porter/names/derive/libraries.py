"""The CUDA libraries: their headers, and how ROCm spells their names."""

from __future__ import annotations

from porter.names.derive.library import Library
from porter.names.derive.namespaces import ccl_namespaces

_RUNTIME_HEADERS = """
    cuda_runtime_api.h driver_types.h vector_types.h vector_functions.h vector_functions.hpp channel_descriptor.h
    library_types.h surface_types.h texture_types.h cuda_texture_types.h cuda_surface_types.h cuda_runtime.h
    device_types.h builtin_types.h cuda_device_runtime_api.h device_launch_parameters.h cuda_gl_interop.h
    cuda_egl_interop.h cuda_vdpau_interop.h driver_functions.h cudart_platform.h math_constants.h
    texture_fetch_functions.h surface_functions.h texture_indirect_functions.h surface_indirect_functions.h
    host_defines.h crt/host_defines.h
"""
_DEVICE_HEADERS = """
    crt/device_functions.h crt/device_double_functions.h crt/math_functions.h crt/common_functions.h
    crt/device_fp128_functions.h crt/sm_*_rt.h sm_*_intrinsics.h sm_*_atomic_functions.h device_functions.h
    device_double_functions.h device_atomic_functions.h math_functions.h common_functions.h
"""
_INTRINSIC = (
    r"(?!__(?:nv|internal|cuda|device_builtin|cudart|NV|builtin|CUDA|CRT|SM_|DEVICE|MATH|HOST|VECTOR|libcpp|assert|cmath"
    r"|pow_helper|float_simpl|hcos_|hsin_))(?:__[a-z]\w*|[a-z]\w*)"
)
_UNDOCUMENTED = (
    r"(?!(?:all|any|ballot|saturate|d(?:add|mul|sub)|u?mul24|mul64hi|mulhi|syncthreads_\w+|fdivide|alloca|assert"
    r"|align_val_t|u?(?:int|float|double|ll)2\w+|ull2\w+|u?(?:int|float)_as_u?(?:float|int))$)"
)
"""Words of crt/device_functions.h that no manual mentions; projects use them for functions of their own."""

LIBRARIES = (
    Library(
        "runtime",
        "CUDA runtime",
        tuple(_RUNTIME_HEADERS.split()),
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
        public=r"(?:cu|CU|PFN_|cl_|CIG_|STREAM_CIG_)\w+",
        header="hip/hip_runtime.h",
    ),
    Library(
        "profiler",
        "CUDA profiler",
        ("cuda_profiler_api.h", "cudaProfiler.h"),
        (("cuda", "hip"), ("cu", "hip")),
        header="hip/hip_runtime_api.h",
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
        public=r"(?:cublas|CUBLAS)\w+",
    ),
    Library("cublaslt", "cuBLASLt", ("cublasLt.h",), (("cublasLt", "hipblasLt"), ("CUBLASLT_", "HIPBLASLT_"))),
    Library(
        "cufft",
        "cuFFT",
        ("cufft.h", "cufftXt.h", "cudalibxt.h", "cufft_device.h", "cufftw.h"),
        (("cufft", "hipfft"), ("cudaXt", "hipXt"), ("cudaLibXt", "hipLibXt"), ("LIB_FORMAT", "HIPLIB_FORMAT")),
        public=r"(?:cufft|CUFFT|NVFFT|cudaXt|cudaLibXt|LIB_|libFormat|CUDA_XT)\w*",
        header="hipfft/hipfft.h",
    ),
    Library(
        "curand",
        "cuRAND",
        ("curand*.h",),
        (("curand", "hiprand"), ("", "")),
        public=r"(?:curand|CURAND|skipahead|mtgp32_kernel_params)\w*",
        header="hiprand/hiprand_kernel.h",
        overloaded=True,
    ),
    Library(
        "cusparse",
        "cuSPARSE",
        ("cusparse.h", "cusparse_v2.h"),
        (("cusparse", "hipsparse"), ("", "")),
        header="hipsparse/hipsparse.h",
    ),
    Library(
        "cusolver",
        "cuSOLVER",
        ("cusolver*.h",),
        (("cusolver", "hipsolver"),),
        public=r"(?!_|int64_t)\w+",
        header="hipsolver/hipsolver.h",
    ),
    Library("cudnn", "cuDNN", ("cudnn.h", "cudnn_*.h"), (("cudnn", "miopen"),), public=r"(?:cudnn|CUDNN)\w+"),
    Library(
        "nccl",
        "NCCL",
        ("nccl.h", "nccl_device.h", "nccl_device/*.h"),
        (("nccl", "nccl"), ("pnccl", "pnccl"), ("NCCL_", "NCCL_")),
        public=r"(?:p?nccl|NCCL_)\w+",
    ),
    Library(
        "nvtx",
        "NVTX",
        ("nvtx3/nvToolsExt*.h", "nvToolsExt*.h"),
        (("nvtx", "roctx"), ("nvtxNameCuda", "roctxNameHip"), ("nvtxName", "roctxName")),
        public=r"(?:nvtx|NVTX)\w+",
    ),
    Library("nvml", "NVML", ("nvml.h",), (), public=r"(?:nvml|NVML)\w+"),
    Library(
        "complex", "cuComplex", ("cuComplex.h",), (("cu", "hip"), ("make_cu", "make_hip")), header="hip/hip_complex.h"
    ),
    Library("language", "CUDA language", (), ()),
    Library("other", "other libraries", (), ()),
    Library(
        "device",
        "device functions",
        tuple(_DEVICE_HEADERS.split()),
        (("", ""),),
        public=_UNDOCUMENTED + _INTRINSIC,
        inside="std::",
        overloaded=True,
        header="hip/hip_runtime.h",
    ),
    Library(
        "fp16",
        "half precision",
        ("cuda_fp16.h", "cuda_fp16.hpp"),
        (("", ""), ("__nv_", "__"), ("nv_", "__"), ("CUDART_", "HIPRT_")),
        public=_INTRINSIC + r"|(?:__)?nv_half\w*|CUDART_\w+",
        overloaded=True,
        header="hip/hip_fp16.h",
    ),
    Library(
        "bf16",
        "bfloat16",
        ("cuda_bf16.h", "cuda_bf16.hpp"),
        (("", ""), ("__nv", "__hip"), ("nv_", "__hip_"), ("CUDART_", "HIPRT_")),
        public=_INTRINSIC + r"|__nv_bfloat\w+|CUDART_\w+",
        overloaded=True,
        header="hip/hip_bf16.h",
    ),
    Library(
        "fp8",
        "fp8, fp6, fp4 and tf32",
        ("cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "cuda_tf32.h"),
        (("__nv", "__hip"), ("__NV_", "__HIP_")),
        public=r"__nv_\w+|__NV_(?!TL|SILENCE)\w+",
        overloaded=True,
    ),
    Library(
        "cooperative_groups",
        "cooperative groups",
        ("cooperative_groups.h", "cooperative_groups/*.h", "cooperative_groups/details/*.h"),
        (("cooperative_groups::", "cooperative_groups::"),),
        namespaces=ccl_namespaces,
        scopes=("cooperative_groups",),
        overloaded=True,
        header="hip/hip_cooperative_groups.h",
    ),
    Library("mma", "tensor-core fragments", ("mma.h", "crt/mma.h"), (), scopes=("nvcuda",)),
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
        macros=r"CUB_(?!DETAIL|COMP|DEFINE|TEMP|TMP|NS_|WRAPPED|DEPRECATED|IGNORE)\w+|Cub\w+",
        members=True,
        overloaded=True,
        header="hipcub/hipcub.hpp",
        header_names=(r"^cub/(.*)\.cuh$", r"hipcub/\1.hpp"),
    ),
    Library(
        "thrust",
        "Thrust",
        ("thrust/**/*.h",),
        (
            ("thrust::cuda_cub::", "thrust::hip_rocprim::"),
            ("thrust::system::cuda::", "thrust::system::hip::"),
            ("thrust::cuda::", "thrust::hip::"),
            ("thrust::", "thrust::"),
            ("THRUST_", "THRUST_"),
        ),
        namespaces=ccl_namespaces,
        scopes=("thrust",),
        macros=r"THRUST_\w*VERSION\w*|THRUST_DEVICE_SYSTEM\w*|THRUST_HOST_SYSTEM\w*|THRUST_NAMESPACE_\w+",
        overloaded=True,
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
        overloaded=True,
        header_names=(r"^(cuda/.*|nv/.*)$", r"\1"),
    ),
)


def library(name: str) -> Library:
    """A library by its name."""
    return next(entry for entry in LIBRARIES if entry.name == name)
