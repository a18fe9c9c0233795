"""Atomics in all types on global, shared and generic addresses, against the sums and extremes that they must leave."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran

from tests.ptx.conftest import LoadPtx

Array = NDArray[Any]
HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
THREADS = 96


def wrap(step: Callable[[int, int], int]) -> Callable[[Array, Array], int]:
    """inc and dec, applied in any order: every operand is the same."""
    return lambda start, values: functools.reduce(step, (int(v) for v in values), int(start[0]))


FOLDS: list[tuple[str, str, Any, Callable[[Array, Array], Any]]] = [
    ("add", "u32", np.uint32, lambda s, v: s[0] + v.sum(dtype=np.uint32)),
    ("add", "u64", np.uint64, lambda s, v: s[0] + v.sum(dtype=np.uint64)),
    ("add", "f32", np.float32, lambda s, v: s[0] + v.sum()),
    ("add", "f64", np.float64, lambda s, v: s[0] + v.sum()),
    ("add.noftz", "f16", np.float16, lambda s, v: s[0] + v.sum()),
    ("min", "u32", np.uint32, lambda s, v: min(s[0], v.min())),
    ("max", "s32", np.int32, lambda s, v: max(s[0], v.max())),
    ("min", "s64", np.int64, lambda s, v: min(s[0], v.min())),
    ("max", "u64", np.uint64, lambda s, v: max(s[0], v.max())),
    ("and", "b32", np.uint32, lambda s, v: np.bitwise_and.reduce(v, initial=s[0])),
    ("or", "b64", np.uint64, lambda s, v: np.bitwise_or.reduce(v, initial=s[0])),
    ("xor", "b32", np.uint32, lambda s, v: np.bitwise_xor.reduce(v, initial=s[0])),
    ("inc", "u32", np.uint32, wrap(lambda old, b: 0 if old >= b else old + 1)),
    ("dec", "u32", np.uint32, wrap(lambda old, b: b if old == 0 or old > b else old - 1)),
]


@pytest.mark.parametrize("space", ["global", "shared", ""])
@pytest.mark.parametrize(("action", "kind", "dtype", "fold"), FOLDS, ids=[f"{f[0]}.{f[1]}" for f in FOLDS])
def test_all_lanes_on_one_word(
    load_ptx: LoadPtx, action: str, kind: str, dtype: Any, fold: Callable[[Array, Array], Any], space: str
) -> None:
    size = np.dtype(dtype).itemsize
    register = f"b{8 * size}"
    dotted = f".{space}" if space else ""
    place = {"global": "%out", "shared": "%box", "": "%generic"}[space]
    text = f"""{HEAD}.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 old) {{
    .reg .b64 %out, %in, %box, %generic, %old; .reg .{register} %v, %r; .reg .b32 %t; .reg .pred %p;
    .shared .align 8 .b8 box[8];
    ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.u64 %old, [old]; mov.u64 %box, box;
    cvta.shared.u64 %generic, %box; mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0;
    @!%p ld.global.{register} %v, [%out]; @!%p st.shared.{register} [%box], %v; bar.sync 0;
    mad.wide.u32 %in, %t, {size}, %in; ld.global.{register} %v, [%in];
    atom{dotted}.{action}.{kind} %r, [{place}], %v;
    mad.wide.u32 %old, %t, {size}, %old; st.global.{register} [%old], %r;
    bar.sync 0; @%p ret;
    {"" if space == "global" else f"ld.shared.{register} %v, [%box]; st.global.{register} [%out], %v;"} ret; }}"""
    rng = np.random.default_rng(4)
    whole = kind.startswith("f") or action in ("inc", "dec")
    if action in ("inc", "dec"):
        values = np.full(THREADS, 7, dtype)
    elif whole:
        values = rng.integers(0, 4, THREADS).astype(dtype)  # exact sums in any order
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, THREADS, dtype=dtype)
    start = np.array([3], dtype)
    args = [start, values, np.zeros(THREADS, dtype)]
    done = load_ptx(text).launch("k", 1, THREADS, args, options=Options(schedule=3))
    assert isinstance(done, Ran), str(done)
    with np.errstate(over="ignore"):
        assert done.output(0)[0] == np.asarray(fold(start, values)).astype(dtype)
    if action == "add" and not whole:
        assert start[0] in done.output(2)  # whoever was first saw the start


def test_exchange_and_compare_and_swap(load_ptx: LoadPtx) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 word, .param .u64 seen) {{
    .reg .b64 %w, %s; .reg .b32 %t, %r, %n;
    ld.param.u64 %w, [word]; ld.param.u64 %s, [seen]; mov.u32 %t, %tid.x; add.u32 %n, %t, 1;
    atom.global.exch.b32 %r, [%w], %n; mad.wide.u32 %s, %t, 8, %s; st.global.u32 [%s], %r;
    atom.global.cas.b32 %r, [%w+4], %t, %n; st.global.u32 [%s+4], %r; ret; }}"""
    done = load_ptx(text).launch("k", 1, 32, [np.zeros(2, np.int32), np.zeros((32, 2), np.int32)])
    assert isinstance(done, Ran)
    swapped = sorted([*done.output(1)[:, 0], done.output(0)[0]])
    assert swapped == list(range(33))  # every value was seen once, or is there
    assert done.output(0)[1] == 32  # lane by lane, each finds what the one before left
    np.testing.assert_array_equal(done.output(1)[:, 1], np.arange(32))
