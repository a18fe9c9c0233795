"""W105: PyTorch's warp helpers work on the hardware's width."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import chain_start
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_FREE = frozenset(
    {"WARP_SHFL", "WARP_SHFL_XOR", "WARP_SHFL_UP", "WARP_SHFL_DOWN", "WARP_BALLOT", "WARP_SYNC", "ACTIVE_MASK"}
)
_UTILITIES = frozenset(
    {"WarpReduceSum", "WarpReduceMax", "WarpReduce", "BlockReduceSum", "BlockReduce", "Block1D", "Block2D"}
)
_HEADERS = frozenset(
    {"ATen/cuda/DeviceUtils.cuh", "ATen/native/cuda/block_reduce.cuh", "ATen/native/cuda/DeviceSqrt.cuh"}
)
_NEW = "porter::torch_warp::"


class TorchWarpHelper(Rule):
    """PyTorch warp helper that works on 64 lanes

    `WARP_SHFL_DOWN` and its family from `ATen/cuda/DeviceUtils.cuh` default to the hardware's width and drop the mask
    on ROCm, `WARP_BALLOT` returns 64 bits and takes one argument, `WARP_SYNC` is empty; `cuda_utils::WarpReduceSum`
    adds up 64 lanes, and `BlockReduceSum` gives 0 for blocks of 32 threads. Each becomes a function of the same name
    with warps of 32 lanes. Helpers that the project defines itself are ported where they are defined.
    """

    code = "W105"
    triggers = _HEADERS
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
        for name in sorted(_FREE & tokens.names.keys()):
            if not self._defined_here(unit, name):
                for index in tokens.names[name]:
                    if unit.is_free(index):
                        yield self._replaced(unit, index, index)
        for name in sorted(_UTILITIES & tokens.names.keys()):
            for index in tokens.names[name]:
                first = chain_start(tokens, index)
                if "cuda_utils" in tokens.texts[first:index]:
                    yield self._replaced(unit, first, index)

    @staticmethod
    def _defined_here(unit: Unit, name: str) -> bool:
        """Whether the file has a macro or a function of that name."""
        tokens = unit.tokens
        for index in tokens.names[name]:
            if tokens.defines(index):
                return True
            if index and tokens.kinds[index - 1] == "i" and tokens.texts[index - 1] not in ("return", "else"):
                return True
        return False

    def _replaced(self, unit: Unit, first: int, last: int) -> Finding:
        span = unit.span(first, last)
        name = unit.tokens.texts[last]
        message = f"{name} works on 64 lanes in PyTorch for ROCm; the port's has 32 [warp-helpers-ignore-mask]"
        edit = Edit(span.start, span.end, _NEW + name)
        return self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/torch_warp.hpp",))
