"""FlagGems. It keeps compiled kernels itself, so one process serves one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as f

from benchmarks.triton_rows.base import Library, Row, of, rms

_X = (6, 50)


def _gems(name: str) -> Callable[..., Any]:
    return of("flag_gems.ops", name)


_ROWS = (
    *(
        Row(name, _gems(name), reference, shapes, backward=False)
        for name, reference, shapes in (
            ("abs", torch.abs, (_X,)),
            ("add", torch.add, (_X, _X)),
            ("mul", torch.mul, (_X, _X)),
            ("true_divide", lambda a, b: a / b, (_X, _X)),
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
            ("bmm", torch.bmm, ((2, 20, 30), (2, 30, 40))),
            ("mv", torch.mv, ((20, 30), (30,))),
        )
    ),
    Row("mm", _gems("mm"), torch.mm, ((20, 30), (30, 40)), False, 1e-2, lambda given: tuple(t.half() for t in given)),
    Row("outer", of("flag_gems.fused", "outer"), torch.outer, ((20,), (30,)), backward=False),
    Row("silu_and_mul", of("flag_gems.fused", "silu_and_mul"), lambda a, b: f.silu(a) * b, (_X, _X), backward=False),
    Row("rms_norm", lambda x, w: _gems("rms_norm")(x, [50], w, 1e-6), rms, (_X, (50,)), backward=False),
    Row("layer_norm", lambda x, w, b: _gems("layer_norm")(x, (50,), w, b)[0],
        lambda x, w, b: f.layer_norm(x, (50,), w, b), (_X, (50,), (50,)), backward=False),
    Row("addmm", _gems("addmm"), torch.addmm, ((20, 40), (20, 30), (30, 40)), backward=False),
    Row("cummax", lambda x: _gems("cummax")(x, 1)[0], lambda x: x.cummax(1)[0], (_X,), backward=False),
    Row("triu", _gems("triu"), torch.triu, (_X,), backward=False),
    Row("softmax", lambda x: _gems("softmax")(x, -1), lambda x: x.softmax(-1), (_X,), backward=False),
    Row("log_softmax", lambda x: _gems("log_softmax")(x, -1), lambda x: x.log_softmax(-1), (_X,), backward=False),
    Row("cumsum", lambda x: _gems("cumsum")(x, 1), lambda x: x.cumsum(1), (_X,), backward=False),
    Row("sum_dim", lambda x: _gems("sum_dim")(x, [1]), lambda x: x.sum(1), (_X,), backward=False),
    Row("amax", lambda x: _gems("amax")(x, [1]), lambda x: x.amax(1), (_X,), backward=False),
    Row("argmax", lambda x: _gems("argmax")(x, 1), lambda x: x.argmax(1), (_X,), backward=False),
    Row("sort", lambda x: _gems("sort")(x)[0], lambda x: x.sort()[0], (_X,), backward=False),
    Row("topk", lambda x: _gems("topk")(x, 5)[0], lambda x: x.topk(5)[0], (_X,), backward=False),
    Row("flip", lambda x: _gems("flip")(x, [1]), lambda x: x.flip(1), (_X,), backward=False),
    Row("var_mean", lambda x: _gems("var_mean")(x)[0], lambda x: x.var(), (_X,), backward=False),
)  # fmt: skip
LIBRARY = Library(_ROWS, environment=(("GEMS_VENDOR", "amd", "nvidia"),), caches=("FLAGGEMS_CACHE_DIR",))
