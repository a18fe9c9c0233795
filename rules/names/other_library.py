"""A021: names by which other libraries ask for NVIDIA's GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports


@dataclass(frozen=True)
class _Library:
    """A row of the table: a library that has names of its own for NVIDIA's GPUs."""

    names: str
    instead: str
    knows: str
    """A regular expression for what shows that a file has seen to AMD's GPUs, or guards what is NVIDIA's."""
    header: str
    """The end of the path of its header: where that is the project's, this is the library itself."""
    example: str
    scope: str = ""
    """The namespace that has to stand in front."""


_LIBRARIES = (
    _Library(
        names="Cuda CudaSpace CudaUVMSpace CudaHostPinnedSpace",
        instead="Kokkos for AMD has HIP, HIPSpace, HIPManagedSpace and HIPHostPinnedSpace, and DefaultExecutionSpace",
        knows=r"KOKKOS_ENABLE_(?:CUDA|HIP)|\bHIP(?:Managed|HostPinned)?Space\b|Kokkos::(?:Experimental::)?HIP\b",
        header="/Kokkos_Core.hpp",
        example="Kokkos::View<double *, Kokkos::CudaSpace> v;",
        scope="Kokkos",
    ),
    _Library(
        names="cuda_exec cuda_exec_async cuda_reduce cuda_atomic cuda_work cuda_launch_t CudaKernel CudaKernelAsync",
        instead="RAJA's policies for AMD begin with hip_ and Hip; a warp of theirs is a wavefront of 64 lanes",
        knows=r"RAJA_ENABLE_(?:CUDA|HIP)|RAJA_(?:CUDA|HIP)_ACTIVE|\bhip_exec|\bHipKernel",
        header="/RAJA/RAJA.hpp",
        example="void f() { RAJA::forall<RAJA::cuda_exec<256>>(r, g); }",
    ),
    _Library(
        names="AccGpuCudaRt DevCudaRt PlatformCudaRt TagGpuCudaRt QueueCudaRtBlocking QueueCudaRtNonBlocking",
        instead="alpaka's for AMD have Hip in place of Cuda",
        knows=r"ALPAKA_ACC_GPU_(?:CUDA|HIP)|HipRt",
        header="/alpaka/alpaka.hpp",
        example="using Acc = alpaka::AccGpuCudaRt<Dim, Idx>;",
    ),
    _Library(
        names="AV_HWDEVICE_TYPE_CUDA AV_PIX_FMT_CUDA",
        instead="FFmpeg decodes on AMD's GPUs through VAAPI or Vulkan, and has no frames in HIP's memory",
        knows=r"AV_(?:HWDEVICE_TYPE|PIX_FMT)_(?:VAAPI|VULKAN)",
        header="libavutil/hwcontext.h",
        example="int f() { return AV_HWDEVICE_TYPE_CUDA; }",
    ),
    _Library(
        names="MPIX_Query_cuda_support MPIX_CUDA_AWARE_SUPPORT",
        instead="Open MPI's for AMD are MPIX_Query_rocm_support and MPIX_ROCM_AWARE_SUPPORT",
        knows=r"(?i:mpix_(?:query_)?(?:rocm|hip))",
        header="/mpiext_cuda_c.h",
        example="int f() { return MPIX_Query_cuda_support(); }",
    ),
    _Library(
        names="UCS_MEMORY_TYPE_CUDA UCS_MEMORY_TYPE_CUDA_MANAGED",
        instead="UCX's for AMD's memory are UCS_MEMORY_TYPE_ROCM and UCS_MEMORY_TYPE_ROCM_MANAGED",
        knows=r"UCS_MEMORY_TYPE_ROCM",
        header="ucs/memory/memory_type.h",
        example="int f() { return UCS_MEMORY_TYPE_CUDA; }",
    ),
    _Library(
        names="FI_HMEM_CUDA",
        instead="libfabric's for AMD's memory is FI_HMEM_ROCR",
        knows=r"FI_HMEM_ROCR",
        header="rdma/fi_domain.h",
        example="int f() { return FI_HMEM_CUDA; }",
    ),
    _Library(
        names="hwloc_cudart_get_device_cpuset hwloc_cudart_get_device_osdev_by_index hwloc_cuda_get_device_cpuset",
        instead="hwloc finds AMD's GPUs through hwloc/rsmi.h",
        knows=r"hwloc_rsmi",
        header="hwloc/cudart.h",
        example="int f() { return hwloc_cudart_get_device_cpuset(t, 0, s); }",
    ),
    _Library(
        names="AF_BACKEND_CUDA",
        instead="ArrayFire runs on AMD's GPUs by its OpenCL backend, AF_BACKEND_OPENCL",
        knows=r"AF_BACKEND_OPENCL",
        header="/af/defines.h",
        example="void f() { af::setBackend(AF_BACKEND_CUDA); }",
    ),
    _Library(
        names="OrtCUDAProviderOptions OrtCUDAProviderOptionsV2 OrtSessionOptionsAppendExecutionProvider_CUDA "
        "AppendExecutionProvider_CUDA AppendExecutionProvider_CUDA_V2 OrtTensorRTProviderOptions",
        instead="ONNX Runtime's provider for AMD's GPUs is MIGraphX",
        knows=r"MIGraphX|_ROCM\b",
        header="/onnxruntime_c_api.h",
        example="void f(Ort::SessionOptions &o) { o.AppendExecutionProvider_CUDA(c); }",
    ),
    _Library(
        names="DNN_BACKEND_CUDA DNN_TARGET_CUDA DNN_TARGET_CUDA_FP16",
        instead="OpenCV's networks run on AMD's GPUs by DNN_TARGET_OPENCL",
        knows=r"DNN_TARGET_OPENCL",
        header="opencv2/dnn/dnn.hpp",
        example="void f(Net &n) { n.setPreferableTarget(cv::dnn::DNN_TARGET_CUDA_FP16); }",
    ),
    _Library(
        names="CL_DEVICE_WARP_SIZE_NV CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV",
        instead="OpenCL on AMD's GPUs has CL_DEVICE_WAVEFRONT_WIDTH_AMD (64) and CL_DEVICE_BOARD_NAME_AMD",
        knows=r"CL_DEVICE_\w+_AMD",
        header="CL/cl_ext.h",
        example="auto p = CL_DEVICE_WARP_SIZE_NV;",
    ),
    _Library(
        names="ext_oneapi_cuda",
        instead="SYCL's backend for AMD's GPUs is ext_oneapi_hip",
        knows=r"ext_oneapi_hip",
        header="sycl/backend_types.hpp",
        example="auto b = sycl::backend::ext_oneapi_cuda;",
    ),
    _Library(
        names="acc_device_nvidia",
        instead="OpenACC's type for AMD's GPUs is acc_device_radeon",
        knows=r"acc_device_radeon",
        header="openacc.h",
        example="void f() { acc_init(acc_device_nvidia); }",
    ),
)


class OtherLibrary(Rule):
    """Name by which another library asks for NVIDIA's GPU

    Kokkos, RAJA and alpaka, FFmpeg, Open MPI, UCX and libfabric, hwloc, ArrayFire, ONNX Runtime, OpenCV's networks,
    OpenCL, SYCL and OpenACC have names of their own for NVIDIA's GPUs, and mostly others for AMD's. Compilers stop at
    some of them; others go on without the GPU (`MPIX_Query_cuda_support()` is 0, a device is not found). Told once per
    file and library, and neither where the file names AMD's as well or guards what is NVIDIA's, nor in the library.
    """

    code = "A021"
    triggers = frozenset(name for library in _LIBRARIES for name in library.names.split())
    only_reports = True
    examples = (
        clean("using Space = Kokkos::DefaultExecutionSpace;\nstruct Cuda {}; Cuda c; mine::Cuda d;"),
        clean("#ifdef KOKKOS_ENABLE_CUDA\nusing Space = Kokkos::Cuda;\n#endif"),
        clean("#if MPIX_CUDA_AWARE_SUPPORT\n#endif\nint f() { return MPIX_Query_rocm_support(); }"),
        clean("enum { UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_ROCM };"),
        clean('const char *name = "AV_HWDEVICE_TYPE_CUDA"; // DNN_BACKEND_CUDA'),
        *(reports(library.example, effort=Effort.REVIEW, path="example.cpp") for library in _LIBRARIES),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per library."""
        for library in _LIBRARIES:
            here = sorted(index for name in library.names.split() for index in unit.tokens.names.get(name, ()))
            first = next((index for index in here if _is_in(unit, index, library.scope)), None)
            if first is None or re.search(library.knows, unit.source.text) is not None or _is_part(unit, library):
                continue
            yield self.finding(unit, unit.span(first), f"{unit.tokens.texts[first]}: {library.instead}", Effort.REVIEW)


def _is_in(unit: Unit, index: int, scope: str) -> bool:
    return not scope or unit.tokens.texts[max(index - 2, 0) : index] == [scope, "::"]


def _is_part(unit: Unit, library: _Library) -> bool:
    """Whether the library's header is the project's: the library itself, or a copy with the project."""
    end = f"/{library.header.lstrip('/')}"
    paths = (*unit.headers, *(header.path for header in unit.program.headers))
    return any(f"/{path}".endswith(end) for path in paths)
