"""A021: names by which other libraries ask for NVIDIA's GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports


@dataclass(frozen=True)
class _Library:
    """A library that runs on GPUs of several vendors, or on NVIDIA's alone."""

    names: frozenset[str]
    instead: str
    knows: str
    """A regular expression for what shows that a file has seen to AMD's GPUs, or guards NVIDIA's."""
    scope: str = ""
    """The namespace that has to stand in front."""


def _names(prefix: str, *words: str) -> frozenset[str]:
    return frozenset(prefix + word for word in words)


_LIBRARIES = (
    _Library(
        _names("Cuda", "", "Space", "UVMSpace", "HostPinnedSpace"),
        "Kokkos for AMD has HIP, HIPSpace, HIPManagedSpace and HIPHostPinnedSpace; DefaultExecutionSpace is for both",
        r"KOKKOS_ENABLE_(?:CUDA|HIP)|\bHIP(?:Managed|HostPinned)?Space\b|Kokkos::(?:Experimental::)?HIP\b",
        "Kokkos",
    ),
    _Library(
        _names("cuda_", "exec", "exec_async", "reduce", "atomic", "work", "launch_t", "multi_reduce_atomic")
        | _names("Cuda", "Kernel", "KernelAsync", "KernelFixed", "SyncBlock", "SyncWarp"),
        "RAJA's policies for AMD begin with hip_ and Hip; those by warp have wavefronts of 64 lanes there",
        r"RAJA_ENABLE_(?:CUDA|HIP)|RAJA_(?:CUDA|HIP)_ACTIVE|\bhip_exec|\bHipKernel",
        "RAJA",
    ),
    _Library(
        _names("", "AccGpuCudaRt", "DevCudaRt", "PlatformCudaRt", "TagGpuCudaRt", "QueueCudaRtBlocking")
        | _names("QueueCudaRt", "NonBlocking"),
        "alpaka's for AMD have Hip in place of Cuda",
        r"ALPAKA_ACC_GPU_(?:CUDA|HIP)|HipRt",
    ),
    _Library(
        _names("AV_", "HWDEVICE_TYPE_CUDA", "PIX_FMT_CUDA"),
        "FFmpeg decodes on AMD's GPUs through VAAPI or Vulkan, and has no frames in HIP's memory",
        r"AV_(?:HWDEVICE_TYPE|PIX_FMT)_(?:VAAPI|VULKAN)",
    ),
    _Library(
        _names("MPIX_", "Query_cuda_support", "CUDA_AWARE_SUPPORT"),
        "Open MPI's for AMD are MPIX_Query_rocm_support and MPIX_ROCM_AWARE_SUPPORT",
        r"(?i:mpix_(?:query_)?(?:rocm|hip))",
    ),
    _Library(
        _names("UCS_MEMORY_TYPE_CUDA", "", "_MANAGED"),
        "UCX's for AMD's memory are UCS_MEMORY_TYPE_ROCM and UCS_MEMORY_TYPE_ROCM_MANAGED",
        r"UCS_MEMORY_TYPE_ROCM",
    ),
    _Library(_names("FI_", "HMEM_CUDA"), "libfabric's for AMD's memory is FI_HMEM_ROCR", r"FI_HMEM_ROCR"),
    _Library(
        _names("hwloc_cuda", "rt_get_device_cpuset", "rt_get_device_osdev_by_index", "_get_device_cpuset"),
        "hwloc finds AMD's GPUs through hwloc/rsmi.h",
        r"hwloc_rsmi",
    ),
    _Library(
        _names("AF_", "BACKEND_CUDA"),
        "ArrayFire runs on AMD's GPUs by its OpenCL backend, AF_BACKEND_OPENCL",
        r"AF_BACKEND_OPENCL",
    ),
    _Library(
        _names("OrtCUDAProviderOptions", "", "V2")
        | _names("AppendExecutionProvider_", "CUDA", "CUDA_V2", "TensorRT")
        | _names("", "OrtSessionOptionsAppendExecutionProvider_CUDA", "OrtTensorRTProviderOptions"),
        "ONNX Runtime's provider for AMD's GPUs is MIGraphX",
        r"MIGraphX|_ROCM\b",
    ),
    _Library(
        _names("DNN_", "BACKEND_CUDA", "TARGET_CUDA", "TARGET_CUDA_FP16"),
        "OpenCV's networks run on AMD's GPUs by DNN_TARGET_OPENCL",
        r"DNN_TARGET_OPENCL",
    ),
    _Library(
        _names("CL_DEVICE_", "WARP_SIZE_NV", "COMPUTE_CAPABILITY_MAJOR_NV", "COMPUTE_CAPABILITY_MINOR_NV"),
        "OpenCL on AMD's GPUs has CL_DEVICE_WAVEFRONT_WIDTH_AMD (64) and CL_DEVICE_BOARD_NAME_AMD",
        r"CL_DEVICE_\w+_AMD",
    ),
    _Library(_names("ext_oneapi_", "cuda"), "SYCL's backend for AMD's GPUs is ext_oneapi_hip", r"ext_oneapi_hip"),
    _Library(
        _names("acc_device_", "nvidia"), "OpenACC's type for AMD's GPUs is acc_device_radeon", r"acc_device_radeon"
    ),
)


class OtherLibrary(Rule):
    """Name by which another library asks for NVIDIA's GPU

    Kokkos, RAJA and alpaka, FFmpeg, Open MPI, UCX and libfabric, hwloc, ArrayFire, ONNX Runtime, OpenCV's networks,
    OpenCL, SYCL and OpenACC have names of their own for NVIDIA's GPUs, and mostly others for AMD's. Compilers stop at
    some of them; others go on without the GPU (`MPIX_Query_cuda_support()` is 0, a device that is not found). Told
    once per file and library, and not where the file names AMD's as well or guards what is NVIDIA's.
    """

    code = "A021"
    triggers = frozenset(name for library in _LIBRARIES for name in library.names)
    only_reports = True
    examples = (
        clean("using Space = Kokkos::DefaultExecutionSpace;\nstruct Cuda {}; Cuda c; mine::Cuda d;"),
        clean("#ifdef KOKKOS_ENABLE_CUDA\nusing Space = Kokkos::Cuda;\n#endif"),
        clean("#if MPIX_CUDA_AWARE_SUPPORT\n#endif\nint f() { return MPIX_Query_rocm_support(); }"),
        clean("enum { UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_ROCM };"),
        clean('const char *name = "AV_HWDEVICE_TYPE_CUDA"; // DNN_BACKEND_CUDA'),
        reports("Kokkos::View<double *, Kokkos::CudaSpace> v;", effort=Effort.REVIEW, path="a.cpp"),
        reports("void f() { RAJA::forall<RAJA::cuda_exec<256>>(r, g); }", effort=Effort.REVIEW),
        reports("using Acc = alpaka::AccGpuCudaRt<Dim, Idx>;", effort=Effort.REVIEW, path="a.cpp"),
        reports("int f() { return MPIX_Query_cuda_support(); }", effort=Effort.REVIEW, path="a.c"),
        reports("void f(Ort::SessionOptions &o) { o.AppendExecutionProvider_CUDA(c); }", effort=Effort.REVIEW),
        reports("void f(Net &n) { n.setPreferableTarget(cv::dnn::DNN_TARGET_CUDA_FP16); }", effort=Effort.REVIEW),
        reports("int f() { return AV_HWDEVICE_TYPE_CUDA; }", effort=Effort.REVIEW, path="a.c"),
        reports("auto p = CL_DEVICE_WARP_SIZE_NV;", effort=Effort.REVIEW, path="a.cpp"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per library."""
        for library in _LIBRARIES:
            here = sorted(index for name in library.names for index in unit.tokens.names.get(name, ()))
            first = next((index for index in here if _is_in(unit, index, library.scope)), None)
            if first is not None and re.search(library.knows, unit.source.text) is None:
                message = f"{unit.tokens.texts[first]}: {library.instead}"
                yield self.finding(unit, unit.span(first), message, Effort.REVIEW)


def _is_in(unit: Unit, index: int, scope: str) -> bool:
    return not scope or unit.tokens.texts[max(index - 2, 0) : index] == [scope, "::"]
