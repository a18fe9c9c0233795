"""Kernels of public Triton libraries on the virtual devices, against PyTorch in float64.

    python -m benchmarks.triton_libraries [--devices gfx942,ptx] [--only TEXT]

Takes what is importable of liger_kernel, fla and flag_gems (put their sources on PYTHONPATH). Each row is a function of
a library, forward and, where it has one, backward; every kernel that it launches counts.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as f
from porter.validation.triton.driver import triton_device

import porter

Tensors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Row:
    """One function: how it is called, and what it has to give."""

    name: str
    call: Callable[..., Any]
    reference: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    backward: bool = True
    tolerance: float = 2e-3
    change: Callable[[Tensors], Tensors] = lambda tensors: tensors


@dataclass
class Result:
    """What one row came to on one device."""

    status: str = "agrees"
    error: float = 0.0
    kernels: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    said: str = ""
    notes: list[str] = field(default_factory=list)


def _of(module: str, name: str) -> Callable[..., Any]:
    """Imported when it is called: most libraries ask for a GPU at once."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args, **kwargs)

    return call


def _liger(module: str, name: str, *more: Any) -> Callable[..., Any]:
    def call(*tensors: Any) -> Any:
        return getattr(importlib.import_module(f"liger_kernel.ops.{module}"), name).apply(*tensors, *more)

    return call


def _rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


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


def _first(call: Callable[..., Any]) -> Callable[..., Any]:
    def first(*args: Any) -> Any:
        found = call(*args)
        return found[0] if isinstance(found, tuple) else found

    return first


def _logged(tensors: Tensors) -> Tensors:
    return (tensors[0].log_softmax(-1), tensors[1].softmax(-1))


def _both_logged(tensors: Tensors) -> Tensors:
    return tuple(t.log_softmax(-1) for t in tensors)


def _both_soft(tensors: Tensors) -> Tensors:
    return tuple(t.softmax(-1) for t in tensors)


def _gate(tensors: Tensors) -> Tensors:
    return (*tensors[:-1], f.logsigmoid(tensors[-1]))


def _beta(tensors: Tensors) -> Tensors:
    return (tensors[0], f.normalize(tensors[1], dim=-1), tensors[2], tensors[3].sigmoid())


def _jsd(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    middle = (0.5 * (p.exp() + q.exp())).log()
    return 0.5 * (p.exp() * (p - middle) + q.exp() * (q - middle)).sum() / p.shape[0]


_TARGET = torch.tensor([3, 1, 7, 0, 50])
_LINEAR = "LigerFusedLinearCrossEntropyFunction"
_Q = (1, 70, 2, 16)
LIGER = (
    Row("rms_norm", _liger("rms_norm", "LigerRMSNormFunction", 1e-6, 0.0, "llama", False), _rms, ((5, 100), (100,))),
    Row("layer_norm", _liger("layer_norm", "LigerLayerNormFunction", 1e-5),
        lambda x, w, b: f.layer_norm(x, (100,), w, b, 1e-5), ((5, 100), (100,), (100,))),
    Row("group_norm", _liger("group_norm", "LigerGroupNormFunction", 8, 2, 1e-5),
        lambda x, w, b: f.group_norm(x, 2, w, b, 1e-5), ((2, 8, 6), (8,), (8,))),
    Row("swiglu", _liger("swiglu", "LigerSiLUMulFunction"), lambda a, b: f.silu(a) * b, ((5, 100), (5, 100))),
    Row("geglu", _liger("geglu", "LigerGELUMulFunction"), lambda a, b: f.gelu(a, approximate="tanh") * b,
        ((5, 100), (5, 100))),
    Row("cross_entropy", _first(lambda x: _liger("cross_entropy", "LigerCrossEntropyFunction")(x, _TARGET, None)),
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
        _first(_liger("fused_add_rms_norm", "LigerFusedAddRMSNormFunction", 1e-6, 0.0, "llama", False)),
        lambda x, r, w: _rms(x + r, w), ((5, 100), (5, 100), (100,))),
    Row("rope", _first(lambda q, k: _liger("rope", "LigerRopeFunction")(q, k, *_angles(q.dtype))),
        lambda q, k: _rotated(q), ((1, 2, 6, 16), (1, 2, 6, 16)), backward=False),
    Row("fused_linear_cross_entropy",
        _first(lambda x, w: _liger("fused_linear_cross_entropy", _LINEAR)(x, w, _TARGET)),
        lambda x, w: f.cross_entropy(x @ w.T, _TARGET), ((5, 64), (100, 64))),
    Row("poly_norm", _liger("poly_norm", "LigerPolyNormFunction", 1e-6, False),
        lambda x, w, b: sum(w[i] * _rms(x ** (3 - i), torch.ones(())) for i in range(3)) + b,
        ((5, 100), (3,), (1,))),
)  # fmt: skip
FLA = (
    Row("l2norm", _first(_of("fla.modules.l2norm", "l2norm")), lambda x: f.normalize(x, dim=-1), ((5, 96),)),
    Row("layer_norm", _first(_of("fla.modules.layernorm", "layer_norm")), lambda x, w, b: f.layer_norm(x, (96,), w, b),
        ((5, 96), (96,), (96,))),
    Row("rms_norm", _first(lambda x, w: _of("fla.modules.layernorm", "rms_norm")(x, w, None)),
        lambda x, w: _rms(x, w), ((5, 96), (96,))),
    Row("swish", _of("fla.modules.activations", "swish"), f.silu, ((5, 96),)),
    Row("swiglu", _of("fla.modules.activations", "swiglu"), lambda a, b: f.silu(a) * b, ((5, 96), (5, 96))),
    Row("logsigmoid", _of("fla.modules.activations", "logsigmoid"), f.logsigmoid, ((5, 96),)),
    Row("sqrelu", _of("fla.modules.activations", "sqrelu"), lambda x: f.relu(x) ** 2, ((5, 96),)),
    Row("token_shift", _of("fla.modules.token_shift", "token_shift"),
        lambda x: torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1) - x, ((2, 9, 32),)),
    Row("cumsum", _of("fla.ops.utils.cumsum", "chunk_global_cumsum"), lambda x: x.cumsum(1), ((1, 70, 2),),
        backward=False),
    Row("softmax", _of("fla.ops.utils.softmax", "softmax_fwd"), lambda x: x.softmax(-1), ((1, 9, 2, 32),),
        backward=False),
    Row("fused_recurrent_linear_attn",
        _first(lambda q, k, v: _of("fla.ops.linear_attn", "fused_recurrent_linear_attn")(q, k, v, normalize=False)),
        _causal, (_Q, _Q, _Q)),
    Row("chunk_linear_attn",
        _first(lambda q, k, v: _of("fla.ops.linear_attn", "chunk_linear_attn")(q, k, v, normalize=False)),
        _causal, (_Q, _Q, _Q), tolerance=1e-2),
    Row("fused_recurrent_gla", _first(lambda q, k, v, g: _of("fla.ops.gla", "fused_recurrent_gla")(q, k, v, g)),
        _causal, (_Q, _Q, _Q, _Q), change=_gate),
    Row("chunk_gla", _first(lambda q, k, v, g: _of("fla.ops.gla", "chunk_gla")(q, k, v, g)),
        _causal, (_Q, _Q, _Q, _Q), change=_gate, tolerance=1e-2),
    Row("chunk_simple_gla", _first(lambda q, k, v, g: _of("fla.ops.simple_gla", "chunk_simple_gla")(q, k, v, g)),
        _causal, (_Q, _Q, _Q, (1, 70, 2)), change=_gate, tolerance=1e-2),
    Row("fused_recurrent_delta_rule",
        _first(lambda q, k, v, b: _of("fla.ops.delta_rule", "fused_recurrent_delta_rule")(q, k, v, b)),
        _delta, (_Q, _Q, _Q, (1, 70, 2)), change=_beta),
    Row("chunk_delta_rule", _first(lambda q, k, v, b: _of("fla.ops.delta_rule", "chunk_delta_rule")(q, k, v, b)),
        _delta, (_Q, _Q, _Q, (1, 70, 2)), change=_beta, tolerance=1e-2),
    Row("parallel_attn", _first(lambda q, k, v: _of("fla.ops.attn", "parallel_attn")(q, k, v)),
        lambda q, k, v: f.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        .transpose(1, 2), (_Q, _Q, _Q), tolerance=1e-2),
    Row("fused_recurrent_hgrn", _first(lambda x, g: _of("fla.ops.hgrn", "fused_recurrent_hgrn")(x, g)),
        lambda x, g: _gated(x, g), ((1, 40, 32), (1, 40, 32)), change=_gate),
)  # fmt: skip
_X = (6, 50)


def _gems(name: str, module: str | None = None) -> Callable[..., Any]:
    return _of("flag_gems.ops" if module is None else module, name)


GEMS = (
    *(
        Row(name, _gems(name), reference, shapes, backward=False)
        for name, reference, shapes in (
            ("abs", torch.abs, (_X,)),
            ("add", torch.add, (_X, _X)),
            ("mul", torch.mul, (_X, _X)),
            ("div", lambda a, b: a / b, (_X, _X)),
            ("exp", torch.exp, (_X,)),
            ("relu", torch.relu, (_X,)),
            ("silu", f.silu, (_X,)),
            ("gelu", f.gelu, (_X,)),
            ("sigmoid", torch.sigmoid, (_X,)),
            ("tanh", torch.tanh, (_X,)),
            ("sin", torch.sin, (_X,)),
            ("erf", torch.erf, (_X,)),
            ("maximum", torch.maximum, (_X, _X)),
            ("sum", torch.sum, (_X,)),
            ("max", torch.max, (_X,)),
            ("mean", torch.mean, (_X,)),
            ("prod", torch.prod, ((20,),)),
            ("mm", torch.mm, ((20, 30), (30, 40))),
            ("bmm", torch.bmm, ((2, 20, 30), (2, 30, 40))),
            ("mv", torch.mv, ((20, 30), (30,))),
            ("outer", torch.outer, ((20,), (30,))),
        )
    ),
    Row("softmax", lambda x: _gems("softmax")(x, -1), lambda x: x.softmax(-1), (_X,), backward=False),
    Row("log_softmax", lambda x: _gems("log_softmax")(x, -1), lambda x: x.log_softmax(-1), (_X,), backward=False),
    Row("cumsum", lambda x: _gems("cumsum")(x, 1), lambda x: x.cumsum(1), (_X,), backward=False),
    Row("sum_dim", lambda x: _gems("sum_dim")(x, [1]), lambda x: x.sum(1), (_X,), backward=False),
    Row("amax", lambda x: _gems("amax")(x, 1), lambda x: x.amax(1), (_X,), backward=False),
    Row("argmax", lambda x: _gems("argmax")(x, 1), lambda x: x.argmax(1), (_X,), backward=False),
    Row("sort", lambda x: _gems("sort")(x)[0], lambda x: x.sort()[0], (_X,), backward=False),
    Row("topk", lambda x: _gems("topk")(x, 5)[0], lambda x: x.topk(5)[0], (_X,), backward=False),
    Row("flip", lambda x: _gems("flip")(x, [1]), lambda x: x.flip(1), (_X,), backward=False),
    Row("var_mean", lambda x: _gems("var_mean")(x)[0], lambda x: x.var(), (_X,), backward=False),
)
LIBRARIES = {"Liger-Kernel": LIGER, "flash-linear-attention": FLA, "FlagGems": GEMS}


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


def _gated(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    state, found = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        state = g[:, t].exp() * state + x[:, t]
        found.append(state)
    return torch.stack(found, 1)


def _all(row: Row, call: Callable[..., Any], given: Tensors) -> list[torch.Tensor]:
    """Output and gradients."""
    inputs = tuple(t.detach().clone().requires_grad_(row.backward and t.is_floating_point()) for t in given)
    out = call(*inputs)
    found = [out.detach()]
    if row.backward:
        weights = torch.linspace(0.5, 1.5, out.numel(), dtype=torch.float64).reshape(out.shape).to(out.dtype)
        (out * weights).sum().backward()
        found += [t.grad for t in inputs if t.grad is not None]
    return found


def run(row: Row, device: str) -> Result:
    """One row on one device."""
    torch.manual_seed(1)
    given = row.change(tuple(torch.randn(shape) for shape in row.shapes))
    wanted = _all(row, row.reference, tuple(t.double() for t in given))
    result = Result()
    start = _cpu()
    with triton_device(device, cuda=True) as checks:
        try:
            found = _all(row, row.call, given)
            pairs = list(zip(found, wanted, strict=False))
            result.error = max(_apart(a, b) for a, b in pairs)
            result.status = "agrees" if result.error <= row.tolerance else "differs"
        except porter.KernelFault as error:
            result.status, result.said = "fault", str(error)
        except (porter.NotRunHere, porter.CompileError) as error:
            result.status, result.said = "not run", str(error)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            result.status, result.said = "error", f"{type(error).__name__}: {error} ({where})"
    result.kernels, result.notes, result.seconds = dict(checks.kernels), list(checks.notes), _cpu() - start
    if result.status == "agrees" and not checks.launches:
        result.status, result.said = "not run", "no kernel was launched"
    return result


def _apart(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found.double() - wanted).abs().max() / wanted.double().abs().max().clamp(min=1e-30))


def _cpu() -> float:
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def main() -> None:
    """Prints a line per row and device, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="gfx942,ptx")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for library, rows in LIBRARIES.items():
        counts: dict[str, dict[str, str]] = {name: {} for name in options.devices.split(",")}
        for row in (row for row in rows if options.only in f"{library}/{row.name}"):
            for device in counts:
                done = run(row, device)
                for kernel in done.kernels:
                    counts[device][kernel] = done.status if counts[device].get(kernel) != "agrees" else "agrees"
                shown = (
                    f"{library}/{row.name} on {device}: {done.status}, error {done.error:.1e}, {done.seconds:.1f} CPU s"
                )
                print(f"{shown}, {len(done.kernels)} kernels {done.said[:400]}", flush=True)
                for note in done.notes:
                    print(f"    {note[:300]}")
        for device, kernels in counts.items():
            if not kernels:
                continue
            agree = sum(status == "agrees" for status in kernels.values())
            print(
                f"{library} on {device}: {len(kernels)} kernels launched, {agree} in functions that agree", flush=True
            )


if __name__ == "__main__":
    sys.exit(main())
