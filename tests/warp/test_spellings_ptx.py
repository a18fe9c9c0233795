"""Inline PTX in its spellings: translated, and right on the virtual gfx942, or P102 says that it is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran

from tests.warp.execution import module
from tests.warp.ptx_spellings import BEFORE, EXCHANGES, LANES, OPERATIONS, SAID, SILENT
from tests.warp.spelled import ported

Array = npt.NDArray[Any]
THREADS = 64
T = np.arange(THREADS)
LANE, WARP = T % 32, T // 32
V: Array = np.random.default_rng(5).integers(1, 1 << 31, THREADS).astype(np.uint32)
CHUNK = 40


def _of_warp(reduce: Callable[[Array], Any]) -> Array:
    return np.repeat([int(reduce(V[:32])), int(reduce(V[32:]))], 32)


def _bits(chosen: Array) -> int:
    return sum(int(one) << place for place, one in enumerate(chosen))


EXPECTED: dict[str, Array] = {
    "same": V,
    "full": np.full(THREADS, 0xFFFFFFFF),
    "ballot": _of_warp(lambda v: _bits(v & 1)),
    "warp0": (WARP == 0).astype(np.uint32),
    "lane0": (LANE == 0).astype(np.uint32),
    "match": np.array([_bits(V[w * 32 : w * 32 + 32] & 3 == V[t] & 3) for t, w in zip(T, WARP, strict=True)]),
    "xor1": V[T ^ 1],
    "up1": np.where(LANE > 0, V[np.maximum(T - 1, 0)], V),
    "down1": np.where(LANE < 31, V[np.minimum(T + 1, 63)], V),
    "down8": np.where(LANE % 8 < 7, V[np.minimum(T + 1, 63)], V),
    "idx3": V[WARP * 32 + 3],
    "sum": _of_warp(lambda v: (v & 0xFFFF).sum()),
    "or": _of_warp(np.bitwise_or.reduce),
    "and": _of_warp(np.bitwise_and.reduce),
    "xor": _of_warp(np.bitwise_xor.reduce),
    "max": _of_warp(np.max),
    "min": _of_warp(np.min),
    "sixtyfour": np.full(THREADS, 64),
}
ROWS: tuple[tuple[str, Array], ...] = (
    *((text, V ^ T.astype(np.uint32)) for text in OPERATIONS),
    *((text, LANE) for text in LANES),
    *((text, EXPECTED[name]) for text, name in EXCHANGES),
)


def _kernel(texts: Sequence[str]) -> str:
    before = "unsigned r = 0; unsigned long long w = 0; (void)w; __syncthreads();"
    rows = "\n".join(f"  {{ {before} {text} out[{n * THREADS} + t] = r; }}" for n, text in enumerate(texts))
    head = "__global__ void k(unsigned *out, const unsigned *in) { unsigned const t = threadIdx.x, v = in[t];"
    return f"{BEFORE}{head}\n{rows}\n}}\n"


def _found(text: str) -> tuple[set[str], str]:
    """What is found behind the macros, and the kernel's port."""
    done = ported(_kernel([text]))
    lines = BEFORE.count("\n")
    return {f.code for f in done.findings if f.line > lines}, done.data.decode().rpartition("__global__")[2]


@pytest.mark.parametrize("text", [text for text, _ in ROWS])
def test_they_are_translated(text: str) -> None:
    codes, port = _found(text)
    assert "P102" not in codes
    assert "asm" not in port.lower().replace("__asm__", "asm")


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(ROWS), CHUNK))
def test_they_are_right(first: int) -> None:
    rows = ROWS[first : first + CHUNK]
    loaded = module(ported(_kernel([text for text, _ in rows])).data.decode())
    arguments = [np.zeros(len(rows) * THREADS, np.uint32), V]
    done = loaded.launch(loaded.kernels[0], (1,), (THREADS,), arguments, 0, Options(uninitialised=False))
    if isinstance(done, NotRun):
        pytest.skip(done.reason)
    assert isinstance(done, Ran), str(done)
    assert done.outputs[0] is not None
    found = done.outputs[0].reshape(len(rows), THREADS)
    assert [text for (text, wanted), row in zip(rows, found, strict=True) if not _agree(row, wanted)] == []


def _agree(row: Array, wanted: Array) -> bool:
    return np.array_equal(row, wanted.astype(np.uint32))


@pytest.mark.parametrize("text", SAID)
def test_what_has_no_translation_is_said(text: str) -> None:
    codes, port = _found(text)
    assert "P102" in codes
    assert "asm" in port


@pytest.mark.parametrize("text", SILENT)
def test_what_is_no_ptx(text: str) -> None:
    codes, port = _found(text)
    assert not codes & {"P101", "P102"}
    assert "asm" in port
