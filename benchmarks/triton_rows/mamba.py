"""Mamba: norms, gates and state space models, forward and backward."""

from __future__ import annotations

import torch
import torch.nn.functional as f

from benchmarks.triton_rows.base import Library, Row, Tensors, of, rms

_OPS = "mamba_ssm.ops.triton."
_X, _DT, _A, _BC = (1, 48, 2, 16), (1, 48, 2), (2,), (1, 48, 1, 16)
_CHUNK = 32


def _steps(tensors: Tensors) -> Tensors:
    """Positive time steps, and decays that are negative."""
    x, dt, a, *rest = tensors
    return (x, f.softplus(dt - 1), -a.exp(), *rest)


def _scan(x: torch.Tensor, dt: torch.Tensor, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *rest: torch.Tensor,
          ) -> torch.Tensor:  # fmt: skip
    """The state space model, one step after the other; `rest`: what skips it, and a gate."""
    state = torch.zeros(x.shape[0], x.shape[2], x.shape[3], b.shape[-1], dtype=x.dtype)
    found = []
    for t in range(x.shape[1]):
        decay = (dt[:, t] * a).exp()[..., None, None]
        state = state * decay + dt[:, t, :, None, None] * x[:, t, :, :, None] * b[:, t, :, None, :]
        found.append((state * c[:, t, :, None, :]).sum(-1))
    out = torch.stack(found, 1)
    if rest:
        out = out + x * rest[0][:, None]
    return out * f.silu(rest[1]) if len(rest) > 1 else out


def _update(state: torch.Tensor, x: torch.Tensor, dt: torch.Tensor, a: torch.Tensor, b: torch.Tensor,
            c: torch.Tensor, d: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    dt = dt + bias
    after = state * (dt[..., None] * a).exp() + dt[..., None] * b[:, None] * x[..., None]
    return (after * c[:, None]).sum(-1) + d * x, after


def _updated(state: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    *given, bias = rest
    return of(_OPS + "selective_state_update", "selective_state_update")(state, *given, dt_bias=bias), state


def _decays(tensors: Tensors) -> Tensors:
    state, x, dt, a, b, c, d, bias = tensors
    return state, x, f.softplus(dt), -a.exp(), b, c, d, bias.abs()


def _swiglu(xy: torch.Tensor) -> torch.Tensor:
    x, y = xy.chunk(2, -1)
    return f.silu(x) * y


def _passed(states: torch.Tensor, decay: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """States at the beginning of each chunk, and the last."""
    now, found = torch.zeros_like(states[:, 0]), []
    for chunk in range(states.shape[1]):
        found.append(now)
        now = now * decay[:, :, chunk, None].exp() + states[:, chunk]
    return torch.stack(found, 1), now


LIBRARY = Library((
    Row("layer_norm", of(_OPS + "layer_norm", "layer_norm_fn"), lambda x, w, b: f.layer_norm(x, (96,), w, b, 1e-6),
        ((5, 96), (96,), (96,))),
    Row("rms_norm", lambda x, w: of(_OPS + "layer_norm", "rms_norm_fn")(x, w, None), rms, ((5, 96), (96,))),
    Row("norm_residual", lambda x, w, b, r: of(_OPS + "layer_norm", "layer_norm_fn")(x, w, b, residual=r),
        lambda x, w, b, r: f.layer_norm(x + r, (96,), w, b, 1e-6), ((5, 96), (96,), (96,), (5, 96))),
    Row("gated_rms_norm",
        lambda x, w, z: of(_OPS + "layernorm_gated", "rmsnorm_fn")(x, w, None, z, norm_before_gate=False),
        lambda x, w, z: rms(x * f.silu(z), w), ((5, 96), (96,), (5, 96))),
    Row("swiglu", of(_OPS + "k_activations", "swiglu"), _swiglu, ((5, 96),)),
    Row("selective_state_update", _updated, _update,
        ((2, 24, 16), (2, 24), (2, 24), (24, 16), (2, 16), (2, 16), (24,), (24,)),
        change=_decays, backward=False),
    Row("state_passing", of(_OPS + "ssd_state_passing", "state_passing"), _passed, ((1, 3, 2, 40), (1, 2, 3))),
    Row("chunk_scan_combined",
        lambda x, dt, a, b, c: of(_OPS + "ssd_combined", "mamba_chunk_scan_combined")(x, dt, a, b, c, _CHUNK),
        _scan, (_X, _DT, _A, _BC, _BC), change=_steps, tolerance=1e-2),
    Row("chunk_scan_combined_gated",
        lambda x, dt, a, b, c, d, z: of(_OPS + "ssd_combined", "mamba_chunk_scan_combined")(
            x, dt, a, b, c, _CHUNK, D=d, z=z),
        _scan, (_X, _DT, _A, _BC, _BC, (2,), _X), change=_steps, tolerance=1e-2),
    Row("chunk_scan",
        lambda x, dt, a, b, c: of(_OPS + "ssd_combined", "mamba_chunk_scan")(x, dt, a, b, c, _CHUNK),
        _scan, ((1, 64, 2, 16), (1, 64, 2), _A, (1, 64, 1, 16), (1, 64, 1, 16)), change=_steps, tolerance=1e-2),
), bare=("mamba_ssm", "mamba_ssm.ops", "mamba_ssm.utils"))  # fmt: skip
