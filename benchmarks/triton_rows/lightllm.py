"""lightllm: what serves language models: attention over a cache, decoding, sampling. Forward only, in place mostly."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as f

from benchmarks.triton_rows.base import Library, Row, Tensors, of

_LLAMA = "lightllm.models.llama.triton_kernel."
_BASE = "lightllm.common.basemodel.triton_kernel."
_MOE = "lightllm.common.fused_moe."
_HEADS, _KV, _WIDTH = 4, 2, 16
_MODELS = ("llama", "gemma_2b", "vit")
_LENGTHS = (20, 37)
_STARTS = (0, 20)
_TOKENS = 57
_REQUESTS = torch.stack([torch.arange(64), torch.arange(64) + 64]).to(torch.int32) * 37 % 128


def _int(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def _into(call: Callable[..., object], shape: tuple[int, ...]) -> Callable[..., torch.Tensor]:
    """Calls with an output as the last argument."""

    def made(*tensors: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(shape, dtype=tensors[0].dtype)
        call(*tensors, out)
        return out

    return made


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """One sequence: [time, heads, width], fewer heads of keys than of queries."""
    many = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(many, 1) for t in (k, v))
    q, k, v = (t.transpose(0, 1) for t in (q, k, v))
    return f.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(0, 1)


def _ragged(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    parts = [
        _attention(*(t[start : start + n] for t in (q, k, v)), causal=True)
        for start, n in zip(_STARTS, _LENGTHS, strict=True)
    ]
    return torch.cat(parts)


def _cached(index: int, cache: torch.Tensor) -> torch.Tensor:
    return cache[_REQUESTS[index, : _LENGTHS[index]].long()]


def _decoded(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.cat([_attention(q[i : i + 1], _cached(i, k), _cached(i, v), causal=False) for i in range(2)])


def _scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    found = []
    for i in range(2):
        keys = _cached(i, k).repeat_interleave(_HEADS // _KV, 1)
        found.append(torch.einsum("hd,thd->ht", q[i], keys) * _WIDTH**-0.5)
    return torch.cat(found, 1)


def _call_prefill(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor) -> None:
    name = "context_attention_fwd_no_prompt_cache"
    of(_LLAMA + "context_flashattention_nopad", name)(q, k, v, out, _int(*_STARTS), _int(*_LENGTHS), max(_LENGTHS))


def _call_cached_prefill(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor) -> None:
    of(_LLAMA + "context_flashattention_nopad", "context_attention_fwd")(
        q, k, v, out, _int(0, 1), _int(*_STARTS), _int(*_LENGTHS), _int(0, 0), max(_LENGTHS), _REQUESTS
    )


def _cached_prefill(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    parts = [
        _attention(q[start : start + n], _cached(i, k), _cached(i, v), causal=True)
        for i, (start, n) in enumerate(zip(_STARTS, _LENGTHS, strict=True))
    ]
    return torch.cat(parts)


def _call_decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor) -> None:
    of(_LLAMA + "gqa_decode_flashattention_nopad", "gqa_decode_attention_fwd")(
        q, k, v, out, _REQUESTS, _int(0, 1), _int(*_LENGTHS)
    )


def _call_flash_decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor) -> None:
    middle = torch.zeros(2, _HEADS, 3, _WIDTH)
    logarithms = torch.zeros(2, _HEADS, 3)
    of(_LLAMA + "flash_decoding_stage1", "flash_decode_stage1")(
        q, k, v, _REQUESTS, _int(0, 1), _int(*_LENGTHS), max(_LENGTHS), middle, logarithms, 16
    )
    of(_LLAMA + "flash_decoding_stage2", "flash_decode_stage2")(middle, logarithms, _int(*_LENGTHS), out, 16)


def _call_scores(q: torch.Tensor, k: torch.Tensor, out: torch.Tensor) -> None:
    of(_LLAMA + "token_attention_nopad_att1", "token_att_fwd")(
        q, k, out, _REQUESTS, _int(0, 1), _int(*_STARTS), _int(*_LENGTHS), max(_LENGTHS)
    )


def _call_token_softmax(scores: torch.Tensor, out: torch.Tensor) -> None:
    of(_LLAMA + "token_attention_nopad_softmax", "token_softmax_fwd")(
        scores, _int(*_STARTS), _int(*_LENGTHS), out, max(_LENGTHS)
    )


def _token_softmax(scores: torch.Tensor) -> torch.Tensor:
    return torch.cat([part.softmax(-1) for part in scores.split(_LENGTHS, 1)], 1)


def _call_weighted(weights: torch.Tensor, v: torch.Tensor, out: torch.Tensor) -> None:
    of(_LLAMA + "token_attention_nopad_reduceV", "token_att_fwd2")(
        weights, v, out, _REQUESTS, _int(0, 1), _int(*_STARTS), _int(*_LENGTHS)
    )


def _weighted(weights: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    many = [_cached(i, v).repeat_interleave(_HEADS // _KV, 1) for i in range(2)]
    parts = weights.split(_LENGTHS, 1)
    return torch.stack([torch.einsum("ht,thd->hd", part, one) for part, one in zip(parts, many, strict=True)])


def _call_rope(q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    cos, sin = _angles(q.dtype)
    of(_LLAMA + "rotary_emb", "rotary_emb_fwd")(q, k, cos, sin)
    return q, k


def _angles(dtype: torch.dtype) -> Tensors:
    angle = torch.arange(9, dtype=torch.float64)[:, None] / 100 ** (torch.arange(8, dtype=torch.float64) / 8)
    return angle.cos().to(dtype), angle.sin().to(dtype)


def _rope(q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, ...]:
    cos, sin = (t[:, None] for t in _angles(q.dtype))
    return tuple(
        torch.cat([t[..., :8] * cos - t[..., 8:] * sin, t[..., :8] * sin + t[..., 8:] * cos], -1) for t in (q, k)
    )


_IDS = _int(3, 40, 12, 0, 49)


def _call_embedding(weight: torch.Tensor, out: torch.Tensor) -> None:
    of(_LLAMA + "embedding", "embedding")(_IDS, weight, 10, 50, out)


def _embedding(weight: torch.Tensor) -> torch.Tensor:
    inside = (_IDS >= 10) & (_IDS < 50)
    return weight[(_IDS.long() - 10).clamp(min=0)] * inside[:, None]


_PLACES = _int(7, 2, 11, 5)


def _call_copied(k: torch.Tensor, out: torch.Tensor) -> None:
    of(_BASE + "destindex_copy_kv", "destindex_copy_kv")(k, _PLACES, out)


def _copied(k: torch.Tensor) -> torch.Tensor:
    return torch.zeros(16, 2, 16, dtype=k.dtype).index_copy(0, _PLACES.long(), k)


def _dequantized(k: torch.Tensor) -> torch.Tensor:
    """Eight bits and a scale per head, back again."""
    out, scale = torch.zeros(16, 2, 16, dtype=torch.int8), torch.zeros(16, 2, 1)
    of(_BASE + "destindex_copy_kv", "destindex_copy_quantize_kv")(k, _PLACES, out, scale)
    return out.to(k.dtype) * scale.to(k.dtype)


def _call_index(loose: torch.Tensor) -> torch.Tensor:
    table = torch.zeros(3, 9, dtype=torch.int32)
    of(_BASE + "copy_kv_index_to_req", "copy_kv_index_to_req")(table, _int(2, 0), _int(5, 9), _int(70, 80))
    return table.to(loose.dtype) * loose


def _index(loose: torch.Tensor) -> torch.Tensor:
    table = torch.zeros(3, 9, dtype=loose.dtype)
    table[2, 4], table[0, 8] = 70, 80
    return table * loose


def _norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return f.rms_norm(x, (100,), w, 1e-5)


_Q, _CACHE = (2, _HEADS, _WIDTH), (128, _KV, _WIDTH)
_ROWS = (
    Row("rmsnorm", lambda x, w: of(_LLAMA + "rmsnorm", "rmsnorm_forward")(x, w, 1e-5), _norm, ((5, 100), (100,))),
    Row("rotary_emb", _call_rope, _rope, ((9, _HEADS, 16), (9, _KV, 16))),
    Row("silu_and_mul", _into(of(_LLAMA + "silu_and_mul", "silu_and_mul_fwd"), (5, 48)),
        lambda x: f.silu(x[:, :48]) * x[:, 48:], ((5, 96),)),
    Row("gelu_and_mul", _into(of("lightllm.models.gemma_2b.triton_kernel.gelu_and_mul", "gelu_and_mul_fwd"), (5, 48)),
        lambda x: f.gelu(x[:, :48], approximate="tanh") * x[:, 48:], ((5, 96),)),
    Row("embedding", _into(_call_embedding, (5, 32)), _embedding, ((40, 32),)),
    Row("prefill", _into(_call_prefill, (_TOKENS, _HEADS, _WIDTH)), _ragged,
        ((_TOKENS, _HEADS, _WIDTH), (_TOKENS, _KV, _WIDTH), (_TOKENS, _KV, _WIDTH)), tolerance=1e-2),
    Row("cached_prefill", _into(_call_cached_prefill, (_TOKENS, _HEADS, _WIDTH)), _cached_prefill,
        ((_TOKENS, _HEADS, _WIDTH), _CACHE, _CACHE), tolerance=1e-2),
    Row("gqa_decode", _into(_call_decode, _Q), _decoded, (_Q, _CACHE, _CACHE), tolerance=1e-2),
    Row("flash_decode", _into(_call_flash_decode, _Q), _decoded, (_Q, _CACHE, _CACHE), tolerance=1e-2),
    Row("token_scores", _into(_call_scores, (_HEADS, _TOKENS)), _scores, (_Q, _CACHE)),
    Row("token_softmax", _into(_call_token_softmax, (_HEADS, _TOKENS)), _token_softmax, ((_HEADS, _TOKENS),)),
    Row("token_weighted", _into(_call_weighted, _Q), _weighted, ((_HEADS, _TOKENS), _CACHE)),
    Row("add_in_place", lambda a, b: of(_BASE + "add_in_place", "add_in_place")(a, b, alpha=2),
        lambda a, b: a + 2 * b, ((6, 50), (6, 50))),
    Row("destindex_copy_kv", _into(_call_copied, (16, 2, 16)), _copied, ((4, 2, 16),)),
    Row("destindex_copy_quantize_kv", _dequantized, _copied, ((4, 2, 16),), tolerance=1e-2),
    Row("copy_kv_index", _call_index, _index, ((3, 9),)),
    Row("softmax_topk", lambda x: of(_MOE + "softmax_topk", "softmax_topk")(x, 4)[0],
        lambda x: x.softmax(-1).topk(4)[0], ((5, 30),)),
    Row("vit_rms_norm", lambda x, w: of("lightllm.models.vit.triton_kernel.rms_norm_vit", "rms_norm")(x, w, 1e-5),
        _norm, ((5, 100), (100,))),
    Row("vit_gelu", of("lightllm.models.vit.triton_kernel.gelu_vit", "gelu_fwd"), f.gelu, ((5, 96),)),
)  # fmt: skip
LIBRARY = Library(
    tuple(Row(row.name, row.call, row.reference, row.shapes, False, row.tolerance) for row in _ROWS),
    bare=("lightllm", "lightllm.utils", "lightllm.common", "lightllm.common.basemodel", "lightllm.common.fused_moe",
          "lightllm.common.basemodel.triton_kernel", "lightllm.models",
          *(f"lightllm.models.{name}{below}" for name in _MODELS for below in ("", ".triton_kernel"))),
)  # fmt: skip
