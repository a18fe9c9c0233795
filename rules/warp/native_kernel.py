"""W120: a kernel that 64 lanes can run as one warp."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Example, Finding, Rule, Settings, Span, Unit, clean
from porter.warp.collectives import COLLECTIVES, EXCHANGES
from porter.warp.native.plan import Kept, Widened, outcome
from porter.warp.native.view import view_of

_NATIVE = Settings(warp="native")


class NativeKernel(Rule):
    """Kernel widened to 64 lanes

    With `--warp native`, or for kernels listed as native in porter.toml, a kernel whose every use of the warp is
    understood is widened as a whole: reductions and scans get one more step, partial arrays, lane and warp numbers,
    ballots and their masks, strides and launches follow. Its results stay the same but for the order of additions.
    A kernel with one value whose meaning is not known keeps its logical warps of 32 lanes, and the finding names the
    value. Confirm widened kernels with `porter validate`.
    """

    code = "W120"
    native_mode_only = True
    triggers = frozenset(name for name, found in COLLECTIVES.items() if found.kind in EXCHANGES)
    hazards = (
        "hardcoded-warp-32-lane-id",
        "smem-scratch-per-warp-32",
        "butterfly-steps-from-16",
        "log2-warp-constants",
    )
    examples = (
        Example(
            """__global__ void rows(float *out, const float *in, int n, int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  float v = 0;
  for (int j = threadIdx.x % 32; j < cols; j += 32) v += in[row * cols + j];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  if (threadIdx.x % 32 == 0) out[row] = v;
}
void launch(float *out, const float *in, int n, int cols) {
  rows<<<(n * 32 + 255) / 256, 256>>>(out, in, n, cols);
}""",
            """__global__ void rows(float *out, const float *in, int n, int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64;
  if (row >= n) return;
  float v = 0;
  for (int j = threadIdx.x % 64; j < cols; j += 64) v += in[row * cols + j];
  for (int o = 32; o > 0; o >>= 1) v += porter::wide::shfl_xor_sync(~0ull, v, o);
  if (threadIdx.x % 64 == 0) out[row] = v;
}
void launch(float *out, const float *in, int n, int cols) {
  rows<<<(n * 64 + 255) / 256, 256>>>(out, in, n, cols);
}""",
            Effort.REVIEW,
            "example.cu",
            _NATIVE,
        ),
        Example(
            """__global__ void groups(float *out, const float *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  out[i] = v / 32;
}
void launch(float *out, const float *in, int n) { groups<<<n / 256, 256>>>(out, in); }""",
            """__global__ void groups(float *out, const float *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  out[i] = v / 32;
}
void launch(float *out, const float *in, int n) { groups<<<n / 256, 256>>>(out, in); }""",
            Effort.NONE,
            "example.cu",
            _NATIVE,
        ),
        clean(
            """
            __global__ void sum(float *out, float v) {
              for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
              *out = v;
            }
            """
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether kernels are there that may be wanted: what they exchange may stand in a header."""
        settings = unit.settings
        return (settings.warp == "native" or bool(settings.native_kernels)) and "__global__" in unit.identifiers

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per kernel that was asked for."""
        found = outcome(unit)
        for widened in found.widened:
            yield self._widened(unit, widened)
        for kept in found.kept:
            yield self._kept(unit, kept)

    def _widened(self, unit: Unit, widened: Widened) -> Finding:
        head = widened.kernel.head
        includes = ["porter/warp64.hpp"]
        if any("get_warp_size" in edit.text for edit in widened.edits):
            includes.append("porter/warp_query.hpp")
        message = f"{widened.kernel.name} is widened to 64 lanes: compare its results with `porter validate`"
        span = _span(unit, head.name_first, head.name_first)
        return self.finding(unit, span, message, Effort.REVIEW, widened.edits, tuple(includes))

    def _kept(self, unit: Unit, kept: Kept) -> Finding:
        head, node = kept.kernel.head, kept.node
        inside = node is not None and node.last >= node.first
        first, last = (node.first, node.last) if inside and node is not None else (head.name_first, head.name_first)
        message = f"{kept.kernel.name} keeps 32 lanes: {kept.reason}"
        return self.finding(unit, _span(unit, first, last), message, Effort.NONE)


def _span(unit: Unit, first: int, last: int) -> Span:
    """The bytes of the file that tokens of the kernel's view stand for."""
    view = view_of(unit)
    return Span(view.tokens.starts[first] - view.base, view.tokens.end(last) - view.base)
