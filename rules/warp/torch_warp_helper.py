"""W105: PyTorch's warp helpers work on the hardware's width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.cpp.syntax import chain_start
from porter.engine.reach import Reach
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_FREE = frozenset(
    {"WARP_SHFL", "WARP_SHFL_XOR", "WARP_SHFL_UP", "WARP_SHFL_DOWN", "WARP_BALLOT", "WARP_SYNC", "ACTIVE_MASK"}
)
_REDUCTIONS = "at::native::cuda_utils"
_LIMIT = "kCUDABlockReduceMaxThreads"
_SCOPES: Mapping[str, str] = {
    **dict.fromkeys(
        ("WarpReduceSum", "WarpReduceMax", "WarpReduce", "BlockReduceSum", "BlockReduceMax", "BlockReduce"), _REDUCTIONS
    ),
    **dict.fromkeys(("Block1D", "Block2D", _LIMIT), _REDUCTIONS),
    **dict.fromkeys(("getLaneId", "getLaneMaskLt", "getLaneMaskLe", "getLaneMaskGt", "getLaneMaskGe"), "at::cuda"),
    **dict.fromkeys(("inclusiveBinaryPrefixScan", "exclusiveBinaryPrefixScan"), "at::cuda"),
}
"""Helpers in namespaces -> their namespace."""
_WAVES: Mapping[str, str] = {
    "reduce": "Normalization.cuh",
    "reduceBlockWithNThreadLocalReductions": "TensorModeKernel.cuh",
    "compute_mode": "TensorModeKernel.cuh",
    "warpMergeSortKVInPlace": "SortUtils.cuh",
    **dict.fromkeys(
        ("radixSelect", "countRadixUsingMask", "countRadixUsingMaskDataSmem", "countRadixAggregateCounts"),
        "SortingRadixSelect.cuh",
    ),
}
"""Device functions and kernels of at::native that count on blocks of whole wavefronts -> the header that has them."""
_EXCHANGE = "warp_shfl_down"
_OPERATIONS = "ATen/native/SharedReduceOps.h"
"""PyTorch's operations for reductions, and what they exchange values by."""
_PYTORCHS = ("ATen/", "torch/", "c10/", "THC/")
_NEW = "porter::torch_warp::"


class TorchWarpHelper(Rule):
    """PyTorch warp helper that works on 64 lanes

    `WARP_SHFL_DOWN` and its family from `ATen/cuda/DeviceUtils.cuh` default to the hardware's width and drop the mask
    on ROCm, `WARP_BALLOT` returns 64 bits and takes one argument, `WARP_SYNC` is empty; `cuda_utils::WarpReduceSum`
    adds up 64 lanes, and `BlockReduceSum` gives 0 for blocks of 32 threads. Each becomes a function of the same name
    with warps of 32 lanes, as do `at::cuda::getLaneId`, the masks of lanes beside it and the prefix scans over votes.
    Functions of `at::native` that count on blocks of whole wavefronts (`reduce` of `Normalization.cuh`, `radixSelect`)
    are reported: launch them so, with the shared memory that PyTorch for ROCm wants. So is `warp_shfl_down` of an
    operation of `ATen/native/SharedReduceOps.h`, which reads over 64 lanes. Helpers that the project defines itself are
    ported where they are defined.
    """

    code = "W105"
    in_sight = r"\b(?:ATen|torch|c10|THC)/"
    triggers = _FREE | _SCOPES.keys() | _WAVES.keys() | {_EXCHANGE}
    hazards = ("warp-helpers-ignore-mask", "torch-warp-shfl-down-int64-width", "syncwarp-dropped-to-nothing")
    examples = (
        fixes(
            """
            #include <ATen/cuda/DeviceUtils.cuh>
            __global__ void k(float *x) { x[threadIdx.x] += WARP_SHFL_DOWN(x[threadIdx.x], 1); WARP_SYNC(); }
            """,
            """
            #include <ATen/cuda/DeviceUtils.cuh>
            __global__ void k(float *x) { x[threadIdx.x] += porter::torch_warp::WARP_SHFL_DOWN(x[threadIdx.x], 1); """
            """porter::torch_warp::WARP_SYNC(); }
            """,
        ),
        fixes(
            """
            #include <ATen/native/cuda/block_reduce.cuh>
            __device__ float f(float v, float *s) { return at::native::cuda_utils::BlockReduceSum(v, s); }
            """,
            """
            #include <ATen/native/cuda/block_reduce.cuh>
            __device__ float f(float v, float *s) { return porter::torch_warp::BlockReduceSum(v, s); }
            """,
        ),
        fixes(
            """
            #include <ATen/native/cuda/block_reduce.cuh>
            namespace cu = at::native::cuda_utils;
            __device__ float f(float v, float *s) { return cu::BlockReduceSum(v, s); }
            """,
            """
            #include <ATen/native/cuda/block_reduce.cuh>
            namespace cu = at::native::cuda_utils;
            __device__ float f(float v, float *s) { return porter::torch_warp::BlockReduceSum(v, s); }
            """,
        ),
        fixes(
            """
            #include <ATen/native/cuda/block_reduce.cuh>
            using namespace at::native::cuda_utils;
            __device__ float f(float v, float *s) { return BlockReduceSum<float, Block1D>(v, s); }
            """,
            """
            #include <ATen/native/cuda/block_reduce.cuh>
            using namespace at::native::cuda_utils;
            __device__ float f(float v, float *s) { """
            """return porter::torch_warp::BlockReduceSum<float, porter::torch_warp::Block1D>(v, s); }
            """,
        ),
        fixes(
            """
            #include <ATen/cuda/AsmUtils.cuh>
            __device__ int below(unsigned m) { return __popc(m & at::cuda::getLaneMaskLt()); }
            """,
            """
            #include <ATen/cuda/AsmUtils.cuh>
            __device__ int below(unsigned m) { return __popc(m & porter::torch_warp::getLaneMaskLt()); }
            """,
        ),
        fixes(
            """
            #include <ATen/native/cuda/block_reduce.cuh>
            namespace at::native { int most() { return cuda_utils::kCUDABlockReduceMaxThreads(); } }
            """,
            """
            #include <ATen/native/cuda/block_reduce.cuh>
            namespace at::native { int most() { return porter::torch_warp::kCUDABlockReduceMaxThreads(); } }
            """,
        ),
        reports(
            """
            #include <ATen/native/cuda/Normalization.cuh>
            __device__ float total(Op op, View x, int plane) { return at::native::reduce<float>(op, x, plane); }
            """,
            effort=Effort.REVIEW,
        ),
        clean(
            """
            #include <torch/extension.h>
            namespace mine { __device__ float BlockReduceSum(float v, float *s); }
            namespace cu = mine;
            __device__ float f(float v, float *s) { return cu::BlockReduceSum(v, s) + mine::BlockReduceSum(v, s); }
            """
        ),
        clean(
            """
            #include <torch/extension.h>
            using namespace at::native::cuda_utils;
            __device__ float BlockReduceSum(float v, float *s);
            __device__ float f(float v, float *s) { return BlockReduceSum(v, s); }
            """
        ),
        reports(
            """
            #include <ATen/native/SharedReduceOps.h>
            template <class Op> __device__ float next(Op op, float v) { return op.warp_shfl_down(v, 1); }
            """,
            effort=Effort.REVIEW,
        ),
        clean(
            """
            #include <ATen/native/SharedReduceOps.h>
            struct Op { __device__ float warp_shfl_down(float v, int o) const; };
            __device__ float next(Op op, float v) { return op.warp_shfl_down(v, 1); }
            """
        ),
        clean("__device__ int lane() { return at::cuda::getLaneId(); }"),
        clean(
            """
            #include <ATen/cuda/DeviceUtils.cuh>
            #ifdef USE_ROCM
            __device__ float f(float v) { return WARP_SHFL_DOWN(v, 32); }
            #endif
            """
        ),
        clean(
            """
            #include <ATen/cuda/DeviceUtils.cuh>
            #define WARP_SYNC() __syncwarp()
            __device__ void f() { WARP_SYNC(); }
            """
        ),
        clean("__device__ float WARP_SHFL(float v, int l); __device__ float f(float v) { return WARP_SHFL(v, 0); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        tokens = unit.tokens
        if not any(name in source.text for source in (unit.source, *unit.program.headers) for name in _PYTORCHS):
            return
        programs = tuple(unit.program.all_tokens)
        included = [include.name for one in programs for include in one.includes]
        if not any(name.startswith(_PYTORCHS) for name in included):
            return
        for name in sorted(_FREE & tokens.names.keys()):
            if not unit.program.declares(name):
                for index in tokens.names[name]:
                    if unit.is_free_of_amd(index):
                        yield self._replaced(unit, index, index)
        reach = Reach.of(programs)
        for name in sorted(_SCOPES.keys() & tokens.names.keys()):
            for index in tokens.names[name]:
                if _is_pytorchs(unit, reach, index, _SCOPES[name]) and unit.is_for_cuda(index):
                    yield self._replaced(unit, chain_start(tokens, index), index)
        for name in sorted(_WAVES.keys() & tokens.names.keys()):
            if any(header.endswith(f"native/cuda/{_WAVES[name]}") for header in included):
                for index in tokens.names[name]:
                    if _is_pytorchs(unit, reach, index, "at::native") and unit.is_for_cuda(index):
                        yield self._reported(unit, index)

        if _OPERATIONS in included and not unit.program.declares(_EXCHANGE):
            for index in tokens.names.get(_EXCHANGE, ()):
                if tokens.texts[index - 1] in (".", "->") and unit.is_for_cuda(index):
                    yield self._exchanged(unit, index)

    def _exchanged(self, unit: Unit, index: int) -> Finding:
        message = (
            f"{_EXCHANGE} of PyTorch's operations reads over 64 lanes in PyTorch for ROCm: only what lane 0 gets by "
            "steps from 16 down is surely its warp's [warp-helpers-ignore-mask]"
        )
        return self.finding(unit, unit.span(index), message, Effort.REVIEW)

    def _replaced(self, unit: Unit, first: int, last: int) -> Finding:
        span = unit.span(first, last)
        name = unit.tokens.texts[last]
        message = f"{name} works on 64 lanes in PyTorch for ROCm; the port's has 32 [warp-helpers-ignore-mask]"
        called = (
            "()" if name == _LIMIT and not unit.next_is(last, "(") and unit.tokens.texts[first - 1] != "using" else ""
        )
        edit = Edit(span.start, span.end, f"{_NEW}{name}{called}")
        return self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/torch_warp.hpp",))

    def _reported(self, unit: Unit, index: int) -> Finding:
        name = unit.tokens.texts[index]
        message = (
            f"{name} of PyTorch for ROCm counts on blocks of whole wavefronts: 64 threads, not 32, make a warp in it"
        )
        return self.finding(unit, unit.span(index), message, Effort.REVIEW)


def _is_pytorchs(unit: Unit, reach: Reach, index: int, namespace: str) -> bool:
    """Whether a name is PyTorch's: by its whole scope, or by the end of it where the project has no such name."""
    tokens = unit.tokens
    found = reach.found_in(tokens, index)
    if reach.scope(tokens, index) == namespace:
        return True
    ending = namespace.rpartition("::")[2] == "cuda_utils" and any(one.endswith("cuda_utils") for one in found)
    return (namespace in found or ending) and not unit.program.declares(tokens.texts[index])
