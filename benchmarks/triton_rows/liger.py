"""Liger-Kernel."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as f

from benchmarks.triton_rows.base import Library, Row, Tensors, first, rms


def _liger(module: str, name: str, *more: Any) -> Callable[..., Any]:
    def call(*tensors: Any) -> Any:
        return getattr(importlib.import_module(f"liger_kernel.ops.{module}"), name).apply(*tensors, *more)

    return call


def _logged(tensors: Tensors) -> Tensors:
    return (tensors[0].log_softmax(-1), tensors[1].softmax(-1))


def _both_logged(tensors: Tensors) -> Tensors:
    return tuple(t.log_softmax(-1) for t in tensors)


def _both_soft(tensors: Tensors) -> Tensors:
    return tuple(t.softmax(-1) for t in tensors)


def _jsd(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    middle = (0.5 * (p.exp() + q.exp())).log()
    return 0.5 * (p.exp() * (p - middle) + q.exp() * (q - middle)).sum() / p.shape[0]


def _angles(dtype: torch.dtype) -> Tensors:
    angle = torch.arange(6, dtype=torch.float64)[:, None] / 100 ** (torch.arange(8, dtype=torch.float64) / 8)
    both = torch.cat([angle, angle], -1)[None]
    return both.cos().to(dtype), both.sin().to(dtype)


def _rotated(q: torch.Tensor) -> torch.Tensor:
    cos, sin = (t[:, None] for t in _angles(q.dtype))
    half = torch.cat([-q[..., 8:], q[..., :8]], -1)
    return q * cos + half * sin


def _sparsemax(x: torch.Tensor) -> torch.Tensor:
    ordered = x.sort(-1, descending=True)[0]
    sums = ordered.cumsum(-1) - 1
    counts = torch.arange(1, x.shape[-1] + 1)
    size = (ordered * counts > sums).sum(-1, keepdim=True)
    return f.relu(x - sums.gather(-1, size - 1) / size)


_TARGET = torch.tensor([3, 1, 7, 0, 50])
_LINEAR = "LigerFusedLinearCrossEntropyFunction"
LIBRARY = Library((
    Row("rms_norm", _liger("rms_norm", "LigerRMSNormFunction", 1e-6, 0.0, "llama", False), rms, ((5, 100), (100,))),
    Row("layer_norm", _liger("layer_norm", "LigerLayerNormFunction", 1e-5),
        lambda x, w, b: f.layer_norm(x, (100,), w, b, 1e-5), ((5, 100), (100,), (100,))),
    Row("group_norm", _liger("group_norm", "LigerGroupNormFunction", 8, 2, 1e-5),
        lambda x, w, b: f.group_norm(x, 2, w, b, 1e-5), ((2, 8, 6), (8,), (8,))),
    Row("swiglu", _liger("swiglu", "LigerSiLUMulFunction"), lambda a, b: f.silu(a) * b, ((5, 100), (5, 100))),
    Row("geglu", _liger("geglu", "LigerGELUMulFunction"), lambda a, b: f.gelu(a, approximate="tanh") * b,
        ((5, 100), (5, 100))),
    Row("cross_entropy", first(lambda x: _liger("cross_entropy", "LigerCrossEntropyFunction")(x, _TARGET, None)),
        lambda x: f.cross_entropy(x, _TARGET), ((5, 100),)),
    Row("softmax", _liger("softmax", "LigerSoftmaxFunction"), lambda x: x.softmax(-1), ((5, 100),)),
    Row("sparsemax", _liger("sparsemax", "LigerSparsemaxFunction", -1), lambda x: _sparsemax(x), ((5, 100),)),
    Row("kl_div", _liger("kl_div", "LigerKLDivLossFunction"), lambda p, q: f.kl_div(p, q, reduction="batchmean"),
        ((5, 100), (5, 100)), change=_logged),
    Row("jsd", _liger("jsd", "LigerJSDFunction"), _jsd, ((5, 100), (5, 100)), change=_both_logged),
    Row("tvd", _liger("tvd", "LigerTVDLossFunction"), lambda p, q: 0.5 * (p - q).abs().sum() / p.shape[0],
        ((5, 100), (5, 100)), change=_both_soft),
    Row("dyt", _liger("dyt", "LigerDyTFunction"), lambda x, a, g, b: g * torch.tanh(a * x) + b,
        ((2, 5, 96), (1,), (96,), (96,))),
    Row("relu_squared", _liger("relu_squared", "LigerReLUSquaredFunction"), lambda x: f.relu(x) ** 2, ((5, 100),)),
    Row("fused_add_rms_norm",
        first(_liger("fused_add_rms_norm", "LigerFusedAddRMSNormFunction", 1e-6, 0.0, "llama", False)),
        lambda x, r, w: rms(x + r, w), ((5, 100), (5, 100), (100,))),
    Row("rope", first(lambda q, k: _liger("rope", "LigerRopeFunction")(q, k, *_angles(q.dtype))),
        lambda q, k: _rotated(q), ((1, 2, 6, 16), (1, 2, 6, 16)), backward=False),
    Row("fused_linear_cross_entropy",
        first(lambda x, w: _liger("fused_linear_cross_entropy", _LINEAR)(x, w, _TARGET)),
        lambda x, w: f.cross_entropy(x @ w.T, _TARGET), ((5, 64), (100, 64))),
    Row("poly_norm", _liger("poly_norm", "LigerPolyNormFunction", 1e-6, False),
        lambda x, w, b: sum(w[i] * rms(x ** (3 - i), torch.ones(())) for i in range(3)) + b,
        ((5, 100), (3,), ())),
))  # fmt: skip
