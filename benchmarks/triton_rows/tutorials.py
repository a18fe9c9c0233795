"""Triton's own tutorials (python/tutorials): their definitions, without the tests and timings that they run at once."""

from __future__ import annotations

import ast
import contextlib
import functools
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as f

from benchmarks.triton_rows.base import Library, Row, Tensors

_DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


@functools.cache
def _tutorial(name: str) -> types.ModuleType:
    """What the file defines. Statements that compute are left out from the first call on that makes data."""
    places = [Path(folder) / f"{name}.py" for folder in sys.path]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise ModuleNotFoundError(f"no {name}.py (put Triton's python/tutorials on PYTHONPATH)", name=name)
    module = types.ModuleType(name.replace("-", "_"))
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    computes = False
    for statement in ast.parse(path.read_text("utf-8"), str(path)).body:
        text = ast.unparse(statement)
        computes |= "manual_seed" in text or "torch.rand" in text
        defines = isinstance(statement, _DEFINING) and "perf_report" not in text
        if defines or (not computes and "__main__" not in text):
            with contextlib.suppress(ModuleNotFoundError, RuntimeError):  # cuBLAS, for one
                exec(compile(ast.Module([statement], []), str(path), "exec"), module.__dict__)
    return module


def _of(tutorial: str, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(_tutorial(tutorial), name)(*args, **kwargs)

    return call


def _half(tensors: Tensors) -> Tensors:
    return tuple(t.half() for t in tensors)


def _dropped(x: torch.Tensor) -> torch.Tensor:
    keep = (torch.arange(x.numel()) % 3 == 0).to(torch.int32)
    return _of("04-low-memory-dropout", "dropout")(x, keep, 0.5)  # type: ignore[no-any-return]


def _seeded(x: torch.Tensor) -> torch.Tensor:
    """What is kept is twice what it was; about half is."""
    kept = _of("04-low-memory-dropout", "seeded_dropout")(x, 0.5, 123)
    assert 0.3 < float((kept != 0).double().mean()) < 0.7
    return torch.where(kept != 0, kept, 2 * x)


def _asin(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    _tutorial("07-extern-functions").asin_kernel[(1,)](x, out, x.numel(), BLOCK_SIZE=1024)
    return out


def _layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return _tutorial("05-layer-norm").LayerNorm.apply(x, (100,), w, b, 1e-5)  # type: ignore[no-any-return]


def _attention(causal: bool) -> Callable[..., torch.Tensor]:
    def call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return _tutorial("06-fused-attention")._attention.apply(q, k, v, causal, 0.125, False)  # type: ignore[no-any-return]

    return call


def _grouped(*tensors: torch.Tensor) -> Any:
    return _of("08-grouped-gemm", "group_gemm_fn")(list(tensors[:2]), list(tensors[2:]))[0]


_QKV = ((1, 2, 128, 64),) * 3
_BIG = 1e-2
LIBRARY = Library((
    Row("01 add", _of("01-vector-add", "add"), torch.add, ((1000,), (1000,)), False),
    Row("02 softmax", _of("02-fused-softmax", "softmax"), lambda x: x.softmax(-1), ((7, 100),), False),
    Row("03 matmul", _of("03-matrix-multiplication", "matmul"), torch.matmul, ((50, 40), (40, 60)), False, _BIG, _half),
    Row("03 matmul leaky", lambda a, b: _of("03-matrix-multiplication", "matmul")(a, b, activation="leaky_relu"),
        lambda a, b: f.leaky_relu(a @ b, 0.01), ((50, 40), (40, 60)), False, _BIG, _half),
    Row("04 dropout", _dropped, lambda x: x * 2 * (torch.arange(x.numel()) % 3 == 0), ((1000,),), False),
    Row("04 seeded_dropout", _seeded, lambda x: 2 * x, ((1000,),), False),
    Row("05 layer_norm", _layer_norm, lambda x, w, b: f.layer_norm(x, (100,), w, b, 1e-5),
        ((5, 100), (100,), (100,))),
    Row("06 attention", _attention(False), lambda q, k, v: f.scaled_dot_product_attention(q, k, v, scale=0.125),
        _QKV, True, _BIG, _half),
    Row("06 attention causal", _attention(True),
        lambda q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.125),
        _QKV, True, _BIG, _half),
    Row("07 asin", _asin, torch.asin, ((1000,),), False, change=lambda t: (t[0].tanh(),)),
    Row("08 grouped matmul", _grouped, lambda a, b, c, d: a @ c, ((40, 32), (20, 32), (32, 48), (32, 16)),
        False, _BIG, _half),
    Row("09 matmul", _of("09-persistent-matmul", "matmul"), torch.matmul, ((50, 40), (40, 60)), False, _BIG, _half),
    Row("09 matmul persistent", _of("09-persistent-matmul", "matmul_persistent"), torch.matmul,
        ((50, 40), (40, 60)), False, _BIG, _half),
    Row("09 matmul descriptors", lambda a, b: _of("09-persistent-matmul", "matmul_descriptor_persistent")(a, b, False),
        lambda a, b: a @ b.T, ((64, 64), (64, 64)), False, _BIG, _half),
))  # fmt: skip
