"""Q101: kernels that a library for AMD GPUs has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from porter.engine.rule import Effort, Finding, Rule, Span, Unit, clean, reports
from porter.warp.bodies import bodies_of

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_EXP = r"\b(?:__)?(?:exp|exp2|expf|exp2f|hexp)\b|\bsoftmax"
_ROOT = r"\b(?:__f)?r?sqrt\w*\b"
_SHARES = r"\b__(?:sync\w+|shfl\w*|reduce\w*)\b|\b__shared__\b|\bshfl\w*\b|\bBlock(?:Reduce|Scan|RadixSort)\b"
_LOOP = r"\b(?:for|while)\b"


_AROUND = frozenset((
    *("bias", "mask", "pad", "padding", "pack", "unpack", "transpose", "permute", "index", "indices", "copy", "init"),
    *("offset", "offsets", "count", "check", "test", "initialize", "prepare", "rotary", "rope", "moe", "and", "merge"),
    *("args", "quant", "quantize", "quantized", "dequant", "dequantize", "gptq", "awq", "nms", "loss", "remove"),
    *("q", "starts", "update"),
))  # fmt: skip
"""Words of kernels that do something around it: `matmul_backward_bias` adds up columns."""


@dataclass(frozen=True)
class _Kind:
    """What a kernel computes, how it shows, and who computes it on AMD."""

    what: str
    words: tuple[str, ...]
    """One of these, as neighbouring words, is in the kernel's name."""
    body: str
    """A regular expression that its body matches."""
    instead: str


_KINDS = (
    _Kind("operation of several GPUs", ("all reduce", "allreduce", "reduce scatter"), r"(?i)\brank|world|peer",
          "torch.distributed, or RCCL's ncclAllReduce and ncclReduceScatter"),
    _Kind("attention", ("attention", "attn", "flash"), _EXP,
          "torch.nn.functional.scaled_dot_product_attention (on ROCm from AOTriton or Composable Kernel)"),
    _Kind("softmax", ("softmax", "soft max"), _EXP, "torch.softmax, or MIOpen's miopenSoftmaxForward_V2"),
    _Kind("RMS norm", ("rms norm", "rmsnorm"), _ROOT,
          "torch.nn.functional.rms_norm, or MIOpen's miopenT5LayerNormForward"),
    _Kind("layer norm", ("layer norm", "layernorm"), _ROOT,
          "torch.nn.functional.layer_norm, or MIOpen's miopenLayerNormForward"),
    _Kind("matrix product", ("[shd]?gemm", "matmul", "mat mul", "matrix (?:mul|multiply|multiplication)"), _LOOP,
          "torch.matmul, or hipBLASLt's hipblasLtMatmul"),
    _Kind("embedding", ("embedding", "embeddings"), r"\[[^\]]*\[|\[", "torch.nn.functional.embedding"),
    _Kind("selection of the largest", ("top k", "topk"), _SHARES + "|" + _LOOP, "torch.topk"),
    _Kind("sort", ("sort", "bitonic", "radix sort"), _SHARES + "|" + _LOOP,
          "torch.sort, hipCUB's hipcub::DeviceRadixSort or rocPRIM's rocprim::radix_sort_keys"),
    _Kind("scan", ("scan", "prefix sum", "cumsum"), _SHARES,
          "torch.cumsum, hipCUB's hipcub::DeviceScan or rocPRIM's rocprim::inclusive_scan"),
    _Kind("reduction", ("reduce", "reduction", "block sum", "warp sum"), _SHARES,
          "torch.sum and its kin, hipCUB's hipcub::DeviceReduce or rocPRIM's rocprim::reduce"),
    _Kind("random numbers", ("rand", "random", "rng", "curand", "uniform", "normal"),
          r"\bcurand_(?:uniform|normal|log_normal|poisson)\w*\s*\(", "torch.rand, or hipRAND's hiprandGenerateUniform"),
)  # fmt: skip
"""The first that fits is named: attention has a softmax in it, and that a reduction."""
_NAMED = tuple((kind, re.compile("|".join(rf"\b{word}\b" for word in kind.words))) for kind in _KINDS)
_ANY = re.compile("|".join(pattern.pattern for _, pattern in _NAMED))


class LibraryCounterpart(Rule):
    """Kernel that a library has

    The name and the body of the kernel say what it computes: a softmax, a layer or RMS norm, a matrix product,
    attention, a reduction, a scan, a sort, random numbers, an embedding. For these PyTorch, hipBLASLt, hipCUB, rocPRIM,
    MIOpen and hipRAND have versions that are tuned for AMD GPUs. The port is right without them: this is advice, it
    leaves no work and fails no gate. Look at it where time matters; a fused kernel may well stay.
    """

    code = "Q101"
    only_reports = True
    triggers = frozenset({"__global__"})
    examples = (
        reports(
            "__global__ void softmaxForward(float *x) { x[threadIdx.x] = expf(x[threadIdx.x]); }", effort=Effort.NONE
        ),
        reports("__global__ void layer_norm(float *x, float v) { x[threadIdx.x] *= rsqrtf(v); }", effort=Effort.NONE),
        reports(
            "__global__ void sgemm_naive(const float *a, const float *b, float *c, int n) {"
            " float s = 0; for (int k = 0; k < n; k++) s += a[k] * b[k]; c[threadIdx.x] = s; }",
            effort=Effort.NONE,
        ),
        reports(
            "__global__ void blockReduceSum(float *x) { __syncthreads(); x[0] += x[threadIdx.x]; }", effort=Effort.NONE
        ),
        clean("__global__ void reduceNoise(float *x) { x[threadIdx.x] *= 0.5f; }"),
        clean("__global__ void scanline(float *x) { __syncthreads(); x[0] = 1; }"),
        clean("__global__ void softmaxMask(float *x) { x[threadIdx.x] = 0; }"),
        clean("__global__ void gatherSorted(float *x) { __syncthreads(); x[0] = 1; }"),
        clean(
            "__device__ float softmax(float x) { return expf(x); } __global__ void k(float *x) { x[0] = softmax(1); }"
        ),
        reports("__global__ void topKStage1(int *x) { for (int i = 0; i < 9; i++) x[0] += x[i]; }", effort=Effort.NONE),
        clean("__global__ void applyRotaryEmbedding(float *x) { x[threadIdx.x] *= 2; }"),
        clean("__global__ void topPSortInitialize(int *x) { for (int i = 0; i < 9; i++) x[i] = 0; }"),
        clean("__global__ void moeScanKernel(int *x) { __syncthreads(); x[0] = 1; }"),
        clean("__global__ void softmax(float *x);"),
        reports(
            "__global__ void oneShotAllReduce(float **in, int rank) { __syncthreads(); in[rank][0] += in[0][0]; }",
            effort=Effort.NONE,
        ),
        clean("__global__ void gemmHalfQ4Gptq(float *x) { for (int i = 0; i < 9; i++) x[0] += x[i]; }"),
        clean("__global__ void setGemmArgs(float **x) { for (int i = 0; i < 9; i++) x[i] = 0; }"),
        clean("__global__ void matmul_backward_bias(float *x, int n) { for (int i = 0; i < n; i++) *x += x[i * n]; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per kernel, at its name."""
        for function in bodies_of(unit).functions:
            if not function.is_kernel:
                continue
            head = function.head
            assert head.body is not None
            last = unit.tokens.partner.get(head.body, head.body)
            body = unit.slice(Span(unit.tokens.starts[head.body], unit.tokens.starts[last]))
            kind = _kind_of(function.name.rpartition("::")[2], body)
            if kind is not None:
                message = f"{function.name} looks like {_article(kind.what)}: AMD has {kind.instead}"
                yield self.finding(unit, unit.span(head.name_first), message, Effort.NONE)


def _article(what: str) -> str:
    if what in ("attention", "random numbers"):
        return what
    return f"an {what}" if what[0] in "aeiouR" else f"a {what}"


def _kind_of(name: str, body: str) -> _Kind | None:
    words = " ".join(_WORD.findall(name)).lower()
    if not _AROUND.isdisjoint(words.split()):
        return None
    if _ANY.search(words) is None:
        return None
    return next((kind for kind, name in _NAMED if name.search(words) and re.search(kind.body, body)), None)
