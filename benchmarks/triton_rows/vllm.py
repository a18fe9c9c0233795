"""vLLM: attention over a paged cache, linear attention, convolutions of state-space models, 4 and 8 bits, sampling."""

from __future__ import annotations

import importlib
import logging
import types
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as f

from benchmarks.triton_rows.base import Library, Row, Tensors, of, rms

_ATTENTION = "vllm.attention.ops."
_LAYERS = "vllm.model_executor.layers."
_QUANT = _LAYERS + "quantization."
_LENGTHS = (20, 31)
_PAGE, _PAGES = 16, 8
_WIDTH, _KV = 16, 2
_TABLE = torch.tensor([[3, 0], [6, 5]], dtype=torch.int32)
_TOKENS = torch.stack([torch.arange(32) * 37 % 64, (torch.arange(32) * 37 + 5) % 64]).to(torch.int32)
_LEFT = torch.randint(-100, 100, (40, 128), generator=torch.Generator().manual_seed(3), dtype=torch.int8)
_RIGHT = torch.randint(-100, 100, (64, 128), generator=torch.Generator().manual_seed(4), dtype=torch.int8)
_PACKED = torch.randint(-(2**31), 2**31 - 1, (64, 8), generator=torch.Generator().manual_seed(5)).to(torch.int32)
_ZEROS = torch.randint(-(2**31), 2**31 - 1, (2, 8), generator=torch.Generator().manual_seed(6)).to(torch.int32)
_AWQ = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])


def _int(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """Of one sequence: tokens, heads, width; the last query sees all keys."""
    many = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(many, 1) for t in (k, v))
    places = torch.arange(k.shape[0]) - (k.shape[0] - q.shape[0])
    seen = (places[None] <= torch.arange(q.shape[0])[:, None])[None]
    scores = torch.einsum("qhd,khd->hqk", q, k) * q.shape[-1] ** -0.5
    scores = scores if mask is None else scores + mask
    return torch.einsum("hqk,khd->qhd", scores.masked_fill(~seen, float("-inf")).softmax(-1), v)


def _decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(q)
    logits = torch.empty(q.shape[0], q.shape[1], 4, v.shape[-1] + 1)
    call = of(_ATTENTION + "triton_decode_attention", "decode_attention_fwd")
    call(q, k, v, out, _TOKENS, _int(*_LENGTHS), logits, 4, q.shape[-1] ** -0.5)
    return out


def _decoded(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    places = [_TOKENS[i, :n].long() for i, n in enumerate(_LENGTHS)]
    return torch.cat([_attention(q[i : i + 1], k[place], v[place]) for i, place in enumerate(places)])


def _merge(a: torch.Tensor, by_a: torch.Tensor, b: torch.Tensor, by_b: torch.Tensor) -> Tensors:
    out, lse = torch.empty_like(a), torch.empty_like(by_a)
    of(_ATTENTION + "triton_merge_attn_states", "merge_attn_states")(out, a, by_a, b, by_b, lse)
    return out, lse


def _merged(a: torch.Tensor, by_a: torch.Tensor, b: torch.Tensor, by_b: torch.Tensor) -> Tensors:
    lse = torch.logaddexp(by_a, by_b)
    one, other = ((part - lse).exp().T[..., None] for part in (by_a, by_b))
    return a * one + b * other, lse


def _unified(queries: tuple[int, ...]) -> Callable[..., torch.Tensor]:
    def call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out, starts = torch.empty_like(q), _int(0, queries[0], sum(queries))
        of(_ATTENTION + "triton_unified_attention", "unified_attention")(
            q, k, v, out, starts, max(queries), _int(*_LENGTHS), max(_LENGTHS), q.shape[-1] ** -0.5, True, (-1, -1),
            _TABLE, 0, None, torch.ones(2, _KV), torch.ones(2, _KV))  # fmt: skip
        return out

    return call


def _paged(queries: tuple[int, ...]) -> Callable[..., torch.Tensor]:
    def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        parts = q.split(list(queries))
        keys = [[t[_TABLE[i].long()].flatten(0, 1)[:n] for t in (k, v)] for i, n in enumerate(_LENGTHS)]
        return torch.cat([_attention(part, *pair) for part, pair in zip(parts, keys, strict=True)])

    return reference


def _slopes(dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor([0.25, 0.0625, 0.5, 0.125], dtype=dtype)


def _prefill(alibi: bool) -> Callable[..., torch.Tensor]:
    """Of each sequence the first page is in the cache, the rest is given."""

    def call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        news = [n - _PAGE for n in _LENGTHS]
        starts, given = _int(0, news[0], sum(news)), []
        for cache in (k, v):
            rest = [cache[_TABLE[i, 1].long(), : news[i]] for i in range(2)]
            given.append(torch.cat(rest).contiguous())
        by_four = k.reshape(_PAGES, _PAGE, _KV, _WIDTH // 4, 4).permute(0, 2, 3, 1, 4).contiguous()
        out = torch.empty_like(q)
        of(_ATTENTION + "prefix_prefill", "context_attention_fwd")(
            q, *given, out, "auto", by_four, v.permute(0, 2, 3, 1).contiguous(), _TABLE, starts, _int(*_LENGTHS),
            max(_LENGTHS), max(news), torch.ones(1), torch.ones(1),
            alibi_slopes=_slopes(q.dtype) if alibi else None)  # fmt: skip
        return out

    return call


def _prefilled(alibi: bool) -> Callable[..., torch.Tensor]:
    def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        news = [n - _PAGE for n in _LENGTHS]
        found = []
        for i, part in enumerate(q.split(news)):
            keys = [t[_TABLE[i].long()].flatten(0, 1)[: _LENGTHS[i]] for t in (k, v)]
            places = torch.arange(_LENGTHS[i])[None] - torch.arange(_PAGE, _LENGTHS[i])[:, None]
            mask = _slopes(q.dtype)[:, None, None] * places[None] if alibi else None
            found.append(_attention(part, *keys, mask))
        return torch.cat(found)

    return reference


def _lightning(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    found = of(_LAYERS + "lightning_attn", "lightning_attention")(q, k, v, _slopes(q.dtype)[:2])
    return found[0]  # type: ignore[no-any-return]


def _linear(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    apart = torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])[None]
    decay = torch.where(apart >= 0, (-_slopes(q.dtype)[:2, None, None] * apart).exp(), 0.0)
    return (q @ k.transpose(-1, -2) * decay) @ v


def _linear_step(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
    call = of(_LAYERS + "lightning_attn", "linear_decode_forward_triton")
    found = call(q, k, v, cache.clone(), _slopes(q.dtype), torch.tensor([1, 0]), 16)
    return found.reshape(q.shape[0], -1)  # type: ignore[no-any-return]


def _linear_stepped(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
    now = cache[[1, 0]] * (-_slopes(q.dtype))[None, :, None, None].exp() + k.transpose(-1, -2) @ v
    return (q @ now).reshape(q.shape[0], -1)


def _convolve(x: torch.Tensor, state: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    call = of(_LAYERS + "mamba.ops.causal_conv1d", "causal_conv1d_fn")
    states = state.transpose(1, 2).contiguous().transpose(1, 2)
    return call(x.T.contiguous().T, w, b, states, _int(0, 20, 51), _int(1, 0), torch.tensor([True, False]))  # type: ignore[no-any-return]


def _convolved(x: torch.Tensor, state: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    found = []
    for part, before in zip(x.split([20, 31], 1), (state[1], torch.zeros_like(state[1])), strict=True):
        whole = torch.cat([before, part], 1)[None]
        found.append(f.silu(f.conv1d(whole, w[:, None], b, groups=w.shape[0]))[0])
    return torch.cat(found, 1)


def _convolve_step(x: torch.Tensor, state: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
    return of(_LAYERS + "mamba.ops.causal_conv1d", "causal_conv1d_update")(x.clone(), state.clone(), w, b, "silu")


def _convolve_stepped(x: torch.Tensor, state: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return f.silu((torch.cat([state, x[..., None]], -1) * w).sum(-1) + b)


def _unpacked(packed: torch.Tensor) -> torch.Tensor:
    return (packed.long()[..., None] >> (4 * _AWQ)) & 15


def _weights(scales: torch.Tensor) -> torch.Tensor:
    values, zeros = _unpacked(_PACKED).flatten(1), _unpacked(_ZEROS).flatten(1).repeat_interleave(32, 0)
    return (values - zeros).to(scales.dtype) * scales.repeat_interleave(32, 0)


def _quantised(module: str, name: str, *more: int) -> Callable[..., torch.Tensor]:
    def call(x: torch.Tensor) -> torch.Tensor:
        out, scales = of(_QUANT + module, name)(x, *more)
        return (out.float().reshape(*scales.shape, -1) * scales[..., None]).reshape(x.shape)

    return call


def _greedy(x: torch.Tensor) -> torch.Tensor:
    """Drafts of two requests: the first is right up to its second token, the second throughout."""
    out = torch.full((2, 4), -1, dtype=torch.int32)
    drafts, targets = _int(5, 6, 7, 8, 9), _int(5, 4, 7, 8, 9)
    _launch("rejection_greedy_sample_kernel", (2,), out, _int(3, 5), drafts, targets, _int(1, 2), None, 3)
    return out.to(x.dtype)


def _expand(x: torch.Tensor) -> torch.Tensor:
    return of("vllm.v1.sample.rejection_sampler", "expand_batch_to_tokens")(x, _int(2, 5, 6), 6)  # type: ignore[no-any-return]


def _launch(name: str, grid: tuple[int, ...], *given: Any, **more: Any) -> None:
    """A kernel of the sampler."""
    getattr(importlib.import_module("vllm.v1.sample.rejection_sampler"), name)[grid](*given, **more)


def _recover(probabilities: torch.Tensor, other: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    out = torch.zeros(5, dtype=torch.int32)
    given = _int(3, 5), torch.zeros(5, dtype=torch.int32), other, probabilities, noise, noise.shape[-1], 128
    _launch("sample_recovered_tokens_kernel", (2, 3), out, *given, NO_DRAFT_PROBS=False)
    return out.to(noise.dtype)


def _recovered(probabilities: torch.Tensor, other: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    rows = noise[[0, 0, 0, 1, 1]]
    return ((probabilities - other).clamp(min=0) / rows).argmax(-1).to(noise.dtype)


def _soft(tensors: Tensors) -> Tensors:
    return (*(t.softmax(-1) for t in tensors[:2]), tensors[2].abs() + 0.1)


def _gather(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    out = torch.empty(5, x.shape[1])
    places = torch.tensor([[0, 3], [1, 4], [2, 2], [5, 1], [0, 0]])
    experts = torch.tensor([[0, 1], [1, 0], [0, -1], [1, 1], [0, 0]])
    of(_LAYERS + "fused_moe.deep_gemm_utils", "ep_gather")(x, experts, weights, places, None, out)
    return out


def _gathered(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    places = torch.tensor([[0, 3], [1, 4], [2, 2], [5, 1], [0, 0]])
    used = torch.tensor([[1, 1], [1, 1], [1, 0], [1, 1], [1, 1]]).to(x.dtype)
    return (x[places] * (weights * used)[..., None]).sum(1)


def _positive(tensors: Tensors) -> Tensors:
    return tuple(t.abs() + 0.1 for t in tensors)


def _names() -> dict[str, Any]:
    """What `vllm.triton_utils` gives where it finds a driver."""
    import triton
    import triton.language as tl

    return {"triton": triton, "tl": tl, "HAS_TRITON": True}


def _is_rocm() -> bool:
    return bool(torch.version.hip)


_PLATFORM = types.SimpleNamespace(
    is_rocm=_is_rocm, is_cuda=lambda: False, is_cuda_alike=lambda: True, is_tpu=lambda: False,
    has_device_capability=lambda *_: True, get_device_name=lambda *_: "none", is_fp8_fnuz=_is_rocm,
    get_device_capability=lambda *_: types.SimpleNamespace(major=9, minor=4, to_int=lambda: 94),
    fp8_dtype=lambda: torch.float8_e4m3fnuz if _is_rocm() else torch.float8_e4m3fn,
)  # fmt: skip
_STAND_INS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("vllm.triton_utils", _names()),
    ("vllm.platforms", {"current_platform": _PLATFORM}),
    ("vllm.logger", {"init_logger": logging.getLogger}),
    ("vllm._custom_ops", {}),
    ("vllm.utils", {"round_up": lambda x, y: -(-x // y) * y, "cdiv": lambda x, y: -(-x // y)}),
    ("vllm.attention.backends.utils", {"PAD_SLOT_ID": -1}),
    ("vllm.v1.sample.metadata", {"SamplingMetadata": object}),
    ("vllm.v1.sample.ops.topk_topp_sampler", {"apply_top_k_top_p": None}),
    ("vllm.v1.spec_decode.metadata", {"SpecDecodeMetadata": object}),
    (_LAYERS + "fused_moe.modular_kernel", {"ExpertTokensMetadata": object}),
    (_LAYERS + "fused_moe.utils", {"count_expert_num_tokens": None}),
)
_CACHE = (_PAGES, _PAGE, _KV, _WIDTH)
_BLOCKS = (64, _KV, _WIDTH)
LIBRARY = Library((
    Row("decode_attention", _decode, _decoded, ((2, 2, _WIDTH), _BLOCKS, _BLOCKS), backward=False),
    Row("decode_attention_grouped", _decode, _decoded, ((2, 8, _WIDTH), _BLOCKS, _BLOCKS), backward=False),
    Row("merge_attn_states", _merge, _merged, ((7, 4, 24), (4, 7), (7, 4, 24), (4, 7)), backward=False),
    Row("unified_attention", _unified((9, 5)), _paged((9, 5)), ((14, 4, _WIDTH), _CACHE, _CACHE), backward=False),
    Row("unified_attention_decode", _unified((1, 1)), _paged((1, 1)), ((2, 4, _WIDTH), _CACHE, _CACHE),
        backward=False),
    Row("prefix_prefill", _prefill(alibi=False), _prefilled(alibi=False), ((19, 4, _WIDTH), _CACHE, _CACHE),
        backward=False),
    Row("prefix_prefill_alibi", _prefill(alibi=True), _prefilled(alibi=True), ((19, 4, _WIDTH), _CACHE, _CACHE),
        backward=False),
    Row("lightning_attention", _lightning, _linear, ((1, 2, 300, 64),) * 3, backward=False),
    Row("linear_decode", _linear_step, _linear_stepped, (*(((2, 4, 1, 32),) * 3), (2, 4, 32, 32)), backward=False),
    Row("causal_conv1d", _convolve, _convolved, ((32, 51), (2, 32, 3), (32, 4), (32,)), backward=False),
    Row("causal_conv1d_update", _convolve_step, _convolve_stepped, ((2, 32), (2, 32, 3), (32, 4), (32,)),
        backward=False),
    Row("awq_dequantize",
        lambda s: of(_QUANT + "awq_triton", "awq_dequantize_triton")(_PACKED, s, _ZEROS), _weights, ((2, 64),),
        backward=False),
    Row("awq_gemm", lambda x, s: of(_QUANT + "awq_triton", "awq_gemm_triton")(x, _PACKED, s, _ZEROS, 2),
        lambda x, s: x @ _weights(s), ((5, 64), (2, 64)), backward=False),
    Row("scaled_mm", lambda a, b: of(_QUANT + "compressed_tensors.triton_scaled_mm", "triton_scaled_mm")(
            _LEFT, _RIGHT.T, a, b, torch.float32),
        lambda a, b: (_LEFT.double() @ _RIGHT.double().T) * a * b.T, ((40, 1), (64, 1)), backward=False,
        change=_positive),
    Row("per_token_quant_int8", _quantised("utils.int8_utils", "per_token_quant_int8"), lambda x: x, ((6, 100),),
        backward=False, tolerance=1e-2),
    Row("per_token_group_quant_int8", _quantised("utils.int8_utils", "per_token_group_quant_int8", 64), lambda x: x,
        ((6, 128),), backward=False, tolerance=1e-2),
    Row("w8a8_block_int8_matmul",
        lambda a, b: of(_QUANT + "utils.int8_utils", "w8a8_block_int8_matmul")(
            _LEFT, _RIGHT, a, b, [64, 64], torch.float32),
        lambda a, b: (_LEFT.double() * a.repeat_interleave(64, 1)) @ (_RIGHT.double() * b.repeat_interleave(64, 1)).T,
        ((40, 2), (1, 2)), backward=False, change=_positive),
    Row("rms_norm_gated", lambda x, w, z: of(_LAYERS + "mamba.ops.layernorm_gated", "rms_norm_gated")(
            x, w, None, z, norm_before_gate=False),
        lambda x, w, z: rms(x * f.silu(z), w), ((5, 96), (96,), (5, 96)), backward=False),
    Row("expand_batch_to_tokens", _expand, lambda x: x[[0, 0, 1, 1, 1, 2]], ((3,),), backward=False),
    Row("rejection_greedy_sample", _greedy,
        lambda x: torch.tensor([[5, 4, -1, -1], [8, 9, 2, -1]], dtype=x.dtype), ((1,),), backward=False),
    Row("sample_recovered_tokens", _recover, _recovered, ((5, 100), (5, 100), (2, 100)), backward=False, change=_soft),
    Row("ep_gather", _gather, _gathered, ((6, 128), (5, 2)), backward=False),
), bare=(
    "vllm", "vllm.attention", "vllm.attention.ops", "vllm.model_executor", "vllm.model_executor.layers",
    "vllm.model_executor.layers.mamba", "vllm.model_executor.layers.mamba.ops",
    "vllm.model_executor.layers.quantization", "vllm.model_executor.layers.quantization.utils",
    "vllm.model_executor.layers.quantization.compressed_tensors", "vllm.model_executor.layers.fused_moe", "vllm.v1",
    "vllm.v1.sample",
), stand_ins=_STAND_INS)  # fmt: skip
