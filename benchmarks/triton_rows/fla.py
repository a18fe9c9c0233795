"""flash-linear-attention."""

from __future__ import annotations

import torch
import torch.nn.functional as f

from benchmarks.triton_rows.base import Library, Row, Tensors, first, of, rms


def _causal(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, decay: torch.Tensor | None = None) -> torch.Tensor:
    """Linear attention, one step after the other: [batch, time, heads, width]; decay is a logarithm."""
    batch, steps, heads, width = q.shape
    state = torch.zeros(batch, heads, width, v.shape[-1], dtype=q.dtype)
    found = []
    for t in range(steps):
        if decay is not None:
            by = decay[:, t].exp()
            state = state * (by[..., None] if by.dim() == 3 else by[..., None, None])
        state = state + k[:, t, :, :, None] * v[:, t, :, None, :]
        found.append((q[:, t, :, :, None] * state).sum(-2) * width**-0.5)
    return torch.stack(found, 1)


def _delta(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    batch, steps, heads, width = q.shape
    state = torch.zeros(batch, heads, width, v.shape[-1], dtype=q.dtype)
    found = []
    for t in range(steps):
        seen = (k[:, t, :, :, None] * state).sum(-2)
        state = state + k[:, t, :, :, None] * ((v[:, t] - seen) * beta[:, t, :, None])[:, :, None, :]
        found.append((q[:, t, :, :, None] * state).sum(-2) * width**-0.5)
    return torch.stack(found, 1)


def _gate(tensors: Tensors) -> Tensors:
    return (*tensors[:-1], f.logsigmoid(tensors[-1]))


def _beta(tensors: Tensors) -> Tensors:
    return (tensors[0], f.normalize(tensors[1], dim=-1), tensors[2], tensors[3].sigmoid())


def _gated(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    state, found = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        state = g[:, t].exp() * state + x[:, t]
        found.append(state)
    return torch.stack(found, 1)


_Q = (1, 70, 2, 16)
LIBRARY = Library((
    Row("l2norm", first(of("fla.modules.l2norm", "l2norm")), lambda x: f.normalize(x, dim=-1), ((5, 96),)),
    Row("layer_norm", first(of("fla.modules.layernorm", "layer_norm")), lambda x, w, b: f.layer_norm(x, (96,), w, b),
        ((5, 96), (96,), (96,))),
    Row("rms_norm", first(lambda x, w: of("fla.modules.layernorm", "rms_norm")(x, w, None)),
        lambda x, w: rms(x, w), ((5, 96), (96,))),
    Row("swish", of("fla.modules.activations", "swish"), f.silu, ((5, 96),)),
    Row("swiglu", of("fla.modules.activations", "swiglu"), lambda a, b: f.silu(a) * b, ((5, 96), (5, 96))),
    Row("logsigmoid", of("fla.modules.activations", "logsigmoid"), f.logsigmoid, ((5, 96),)),
    Row("sqrelu", of("fla.modules.activations", "sqrelu"), lambda x: f.relu(x) ** 2, ((5, 96),)),
    Row("token_shift", of("fla.modules.token_shift", "token_shift"),
        lambda x: torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1) - x, ((2, 9, 32),)),
    Row("cumsum", of("fla.ops.utils.cumsum", "chunk_global_cumsum"), lambda x: x.cumsum(1), ((1, 70, 2),),
        backward=False),
    Row("softmax", of("fla.ops.utils.softmax", "softmax_fwd"), lambda x: x.softmax(-1), ((1, 9, 2, 32),),
        backward=False),
    Row("fused_recurrent_linear_attn",
        first(lambda q, k, v: of("fla.ops.linear_attn", "fused_recurrent_linear_attn")(q, k, v, normalize=False)),
        _causal, (_Q, _Q, _Q)),
    Row("chunk_linear_attn",
        first(lambda q, k, v: of("fla.ops.linear_attn", "chunk_linear_attn")(q, k, v, normalize=False)),
        _causal, (_Q, _Q, _Q), tolerance=1e-2),
    Row("fused_recurrent_gla", first(lambda q, k, v, g: of("fla.ops.gla", "fused_recurrent_gla")(q, k, v, g)),
        _causal, (_Q, _Q, _Q, _Q), change=_gate),
    Row("chunk_gla", first(lambda q, k, v, g: of("fla.ops.gla", "chunk_gla")(q, k, v, g)),
        _causal, (_Q, _Q, _Q, _Q), change=_gate, tolerance=1e-2),
    Row("chunk_simple_gla", first(lambda q, k, v, g: of("fla.ops.simple_gla", "chunk_simple_gla")(q, k, v, g)),
        _causal, (_Q, _Q, _Q, (1, 70, 2)), change=_gate, tolerance=1e-2),
    Row("fused_recurrent_delta_rule",
        first(lambda q, k, v, b: of("fla.ops.delta_rule", "fused_recurrent_delta_rule")(q, k, v, b)),
        _delta, (_Q, _Q, _Q, (1, 70, 2)), change=_beta),
    Row("chunk_delta_rule", first(lambda q, k, v, b: of("fla.ops.delta_rule", "chunk_delta_rule")(q, k, v, b)),
        _delta, (_Q, _Q, _Q, (1, 70, 2)), change=_beta, tolerance=1e-2),
    Row("parallel_attn", first(lambda q, k, v: of("fla.ops.attn", "parallel_attn")(q, k, v)),
        lambda q, k, v: f.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        .transpose(1, 2), (_Q, _Q, _Q), tolerance=1e-2),
    Row("fused_recurrent_hgrn", first(lambda x, g: of("fla.ops.hgrn", "fused_recurrent_hgrn")(x, g)),
        lambda x, g: _gated(x, g), ((1, 40, 32), (1, 40, 32)), change=_gate),
))  # fmt: skip
