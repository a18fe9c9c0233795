"""Unsloth: activations, norms, rotary embedding, cross entropy, 8-bit floats in blocks."""

from __future__ import annotations

import logging
import types
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as f
from packaging.version import Version

from benchmarks.triton_rows.base import Library, Row, Tensors, of

_KERNELS = "unsloth.kernels."
_SHAPE = (2, 5, 96)
_WIDTH = 16
_BLOCK = 128
_LABELS = torch.tensor([[3, 1, 7, 0], [50, -100, 2, 9]])


def _through(module: str, forward: str, backward: str) -> Callable[..., Any]:
    """A gate as Unsloth's LoRA layers call it: forward, and what the backward gives for a gradient of ones."""

    def call(gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        out = of(_KERNELS + module, forward)(gate.clone(), up.clone())
        flat = [t.reshape(-1, t.shape[-1]).clone() for t in (torch.ones_like(gate), gate, up)]
        _, by_up, by_gate = of(_KERNELS + module, backward)(*flat)
        return out, by_gate.view(gate.shape), by_up.view(gate.shape)

    return call


def _gated(activation: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    def reference(gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        gate, up = gate.detach().requires_grad_(), up.detach().requires_grad_()
        out = activation(gate) * up
        by_gate, by_up = torch.autograd.grad(out.sum(), (gate, up))
        return out.detach(), by_gate, by_up

    return reference


def _rms(x: torch.Tensor, w: torch.Tensor, more: float = 0.0) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * (w + more)


def _norm(gemma: bool) -> Callable[..., Any]:
    def call(x: torch.Tensor, w: torch.Tensor) -> Any:
        layer = types.SimpleNamespace(weight=w, eps=1e-6)
        return of(_KERNELS + "rms_layernorm", "fast_rms_layernorm")(layer, x, gemma)

    return call


def _layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    layer = types.SimpleNamespace(weight=w, bias=b, eps=1e-6, elementwise_affine=True)
    return of(_KERNELS + "layernorm", "fast_layernorm")(layer, x)


def _angles(dtype: torch.dtype, rows: int) -> Tensors:
    half = _WIDTH // 2
    angle = torch.arange(rows, dtype=torch.float64)[:, None] / 100 ** (torch.arange(half, dtype=torch.float64) / half)
    both = torch.cat([angle, angle], -1)
    return both.cos().to(dtype), both.sin().to(dtype)


def _rope(q: torch.Tensor, k: torch.Tensor) -> Any:
    cos, sin = _angles(q.dtype, q.shape[2])
    return of(_KERNELS + "rope_embedding", "fast_rope_embedding")(q, k, cos, sin)


def _rope_by_index(q: torch.Tensor, k: torch.Tensor) -> Any:
    cos, sin = _angles(q.dtype, q.shape[2])
    places = torch.arange(q.shape[2], dtype=torch.int32).repeat(q.shape[0])
    return of(_KERNELS + "rope_embedding", "fast_rope_embedding")(q.clone(), k.clone(), cos, sin, places)


def _rotated(q: torch.Tensor, k: torch.Tensor) -> Tensors:
    cos, sin = _angles(q.dtype, q.shape[2])
    half = _WIDTH // 2
    return tuple(x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin for x in (q, k))


def _loss(soft: float = 0.0, scale: float = 0.0) -> Callable[..., Any]:
    def call(logits: torch.Tensor) -> Any:
        labels = _LABELS[:, : logits.shape[1]].contiguous()  # as rows that follow one another they are read
        return of(_KERNELS + "cross_entropy_loss", "fast_cross_entropy_loss")(logits, labels, soft, scale)

    return call


def _cross_entropy(soft: float = 0.0, scale: float = 0.0) -> Callable[..., Any]:
    def reference(logits: torch.Tensor) -> torch.Tensor:
        labels = _LABELS[:, : logits.shape[1]].reshape(-1)
        flat = logits.reshape(-1, logits.shape[-1]) * (scale or 1.0)
        flat = soft * torch.tanh(flat / soft) if soft else flat
        return f.cross_entropy(flat, labels)

    return reference


def _eight(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float8_e4m3fn)


def _dequantised(x: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    return _eight(x.float()).double() * scales.repeat_interleave(_BLOCK, 0)[: x.shape[0]].repeat_interleave(_BLOCK, 1)


def _quantised(x: torch.Tensor) -> torch.Tensor:
    out, scales = of(_KERNELS + "fp8", "act_quant")(x)
    return out.float() * scales.repeat_interleave(_BLOCK, -1)


def _matmul(a: torch.Tensor, b: torch.Tensor, by_a: torch.Tensor, by_b: torch.Tensor) -> Any:
    call = of(_KERNELS + "fp8", "w8a8_block_fp8_matmul_triton")
    return call(_eight(a), _eight(b), by_a, by_b, [_BLOCK, _BLOCK])


def _product(a: torch.Tensor, b: torch.Tensor, by_a: torch.Tensor, by_b: torch.Tensor) -> torch.Tensor:
    left = _eight(a.float()).double() * by_a.repeat_interleave(_BLOCK, -1)
    return left @ _dequantised(b, by_b).T


def _positive(tensors: Tensors) -> Tensors:
    """Scales, of which there are few, are positive."""
    return tuple(t.abs() + 0.5 if t.shape[-1] <= 2 else t for t in tensors)


class _Version(Version):
    """Of a package, or as written."""

    def __init__(self, text: str) -> None:
        super().__init__(str(text))


def _same(function: Any = None, **_: Any) -> Any:
    return function if callable(function) else (lambda inner: inner)


_STAND_INS = (
    ("unsloth_zoo.utils", {"Version": _Version}),
    ("unsloth_zoo.log", {"logger": logging.getLogger("rows")}),
    ("unsloth_zoo.temporary_patches.common", {"torch_compile": _same}),
    ("unsloth_zoo.patching_utils", {"patch_layernorm": _same}),
    ("unsloth_zoo.loss_utils", {"patch_loss_functions": _same, "post_patch_loss_function": _same}),
    (
        "transformers.models.llama.modeling_llama",
        {"LlamaRMSNorm": torch.nn.Module, "logger": logging.getLogger("rows")},
    ),
)
LIBRARY = Library((
    Row("swiglu", _through("swiglu", "swiglu_fg_kernel", "swiglu_DWf_DW_dfg_kernel"), _gated(f.silu),
        (_SHAPE, _SHAPE), backward=False),
    Row("geglu_exact", _through("geglu", "geglu_exact_forward_kernel", "geglu_exact_backward_kernel"), _gated(f.gelu),
        (_SHAPE, _SHAPE), backward=False),
    Row("geglu_approx", _through("geglu", "geglu_approx_forward_kernel", "geglu_approx_backward_kernel"),
        _gated(lambda x: f.gelu(x, approximate="tanh")), (_SHAPE, _SHAPE), backward=False),
    Row("rms_norm", _norm(gemma=False), lambda x, w: _rms(x, w.detach()), (_SHAPE, (96,))),
    Row("rms_norm_gemma", _norm(gemma=True), lambda x, w: _rms(x, w.detach(), 1.0), (_SHAPE, (96,))),
    Row("layer_norm", _layer_norm, lambda x, w, b: f.layer_norm(x, (96,), w.detach(), b.detach(), 1e-6),
        (_SHAPE, (96,), (96,))),
    Row("rope", _rope, _rotated, ((2, 4, 6, _WIDTH), (2, 2, 6, _WIDTH))),
    Row("rope_by_index", _rope_by_index, _rotated, ((2, 4, 6, _WIDTH), (2, 2, 6, _WIDTH))),
    Row("cross_entropy", _loss(), _cross_entropy(), ((2, 4, 97),)),
    Row("cross_entropy_soft", _loss(30.0), _cross_entropy(30.0), ((2, 4, 97),)),
    Row("cross_entropy_chunked", _loss(), _cross_entropy(), ((2, 1, 70000),)),
    Row("fp8_dequant", lambda x, s: of(_KERNELS + "fp8", "weight_dequant")(_eight(x), s, torch.float32), _dequantised,
        ((256, 256), (2, 2)), backward=False, change=_positive),
    Row("fp8_quant", _quantised, lambda x: x, ((6, 256),), backward=False, tolerance=6e-2),
    Row("fp8_matmul", _matmul, _product, ((20, 256), (256, 256), (20, 2), (2, 2)), backward=False, change=_positive),
), bare=("unsloth", "unsloth.kernels"), stand_ins=_STAND_INS)  # fmt: skip
