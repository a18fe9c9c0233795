"""D013: kernels that launch kernels, and the host API in device code."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import words
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_LAUNCHES = "<<<"
_RUNTIME = words(
    """
    cudaDeviceGetAttribute cudaDeviceGetLimit cudaDeviceSynchronize cudaEventCreateWithFlags cudaEventDestroy
    cudaEventRecord cudaFree cudaFuncGetAttributes cudaGetDevice cudaGetDeviceCount cudaGetErrorName cudaGetErrorString
    cudaGetLastError cudaGetParameterBuffer cudaLaunchDevice cudaMalloc cudaMemcpy2DAsync cudaMemcpy3DAsync
    cudaMemcpyAsync cudaMemset2DAsync cudaMemset3DAsync cudaMemsetAsync cudaPeekAtLastError cudaRuntimeGetVersion
    cudaStreamCreateWithFlags cudaStreamDestroy cudaStreamWaitEvent
    """
)


class DynamicParallelism(Rule):
    """Kernel launched, or runtime function called, by device code

    AMD GPUs have no dynamic parallelism: a kernel cannot launch a kernel, and HIP's runtime functions are for the host.
    Launch from the host in a loop, put the work into a queue that a persistent kernel drains, or call a device function
    in place of the child kernel.
    """

    code = "D013"
    only_reports = True
    text = "<<<"
    hazards = ("dynamic-parallelism",)
    examples = (
        reports("__global__ void child() {}\n__global__ void parent() { child<<<1, 32>>>(); }"),
        reports('__device__ void check(cudaError_t e) { printf("%s", cudaGetErrorString(e)); }'),
        clean("__global__ void k() {}\nvoid f() { k<<<1, 32>>>(); cudaDeviceSynchronize(); }"),
        clean(
            """
            __host__ __device__ void check(cudaError_t e)
            {
            #ifndef __CUDA_ARCH__
                cudaGetErrorString(e);
            #endif
            }
            """
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether the file has device code that could do so."""
        return bool(unit.device_spans) and (_LAUNCHES in unit.source.text or not _RUNTIME.isdisjoint(unit.tokens.names))

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per launch or call inside a kernel or device function."""
        tokens = unit.tokens
        calls = [i for name in _RUNTIME & tokens.names.keys() for i in unit.occurrences(name) if unit.next_is(i, "(")]
        for index in tokens.launches:
            if _in_device_code(unit, index):
                message = "a kernel is launched by device code: AMD GPUs cannot do that"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)
        for index in calls:
            if _in_device_code(unit, index):
                message = f"{tokens.texts[index]} is called by device code: HIP has it for the host only"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _in_device_code(unit: Unit, index: int) -> bool:
    """Inside a kernel or a device function, and not in a part that only the host compiles."""
    tokens = unit.tokens
    directive = tokens.directive_of(index)
    offset = tokens.starts[index]
    if directive is not None or unit.kernel_at(offset) is None:
        return False
    function = next((f for f in unit.device_functions if f.span.start <= offset < f.span.end), None)
    if function is None:
        return True
    head = unit.source.text[function.span.start : unit.source.text.find("{", function.span.start)]
    return "__host__" not in head
