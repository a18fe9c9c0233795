"""References of the reductions, scans, compactions and other warp-shaped samples against plain loops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.later import later
from tests.samples.loading import reference

if TYPE_CHECKING:
    import torch
else:
    torch = later("torch")

Array = np.ndarray[Any, Any]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def _tensor(values: Array) -> torch.Tensor:
    return torch.from_numpy(values)


def _close(got: torch.Tensor, want: Any) -> None:
    np.testing.assert_allclose(got.numpy(), np.asarray(want), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, 7, 8, 21])
def test_block_reduce(rng: np.random.Generator, n: int) -> None:
    module = reference("block_reduce")
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    chunk = 8
    sums, maxima = [], []
    for start in range(0, n, chunk):
        total, largest = 0.0, 0.0
        for i in range(start, min(n, start + chunk)):
            total += float(x[i])
            largest = max(largest, abs(float(x[i])))
        sums.append(total)
        maxima.append(largest)
    _close(module.reference_block_sum(_tensor(x), chunk), sums)
    _close(module.reference_block_max_abs(_tensor(x), chunk), maxima)
    _close(module.reference_dot(_tensor(x), _tensor(y)), sum(float(a) * float(b) for a, b in zip(x, y, strict=True)))


def test_warp_scan_rows(rng: np.random.Generator) -> None:
    data = rng.standard_normal((3, 32)).astype(np.float32)
    inclusive, exclusive = np.zeros((3, 32)), np.zeros((3, 32))
    for r in range(3):
        total = 0.0
        for c in range(32):
            exclusive[r, c] = total
            total += float(data[r, c])
            inclusive[r, c] = total
    got = reference("warp_scan").reference_warp_scan_rows(_tensor(data))
    _close(got[0], inclusive)
    _close(got[1], exclusive)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_scan_blocks(rng: np.random.Generator, n: int, exclusive: bool) -> None:
    module = reference("warp_scan")
    data = rng.integers(-9, 9, n).astype(np.int32)
    block, total = 64, 0
    out: list[int] = []
    sums: list[int] = []
    for i in range(n):
        if i % block == 0:
            total = 0
            sums.append(0)
        before = total
        total += int(data[i])
        out.append(before if exclusive else total)
        sums[-1] = total
    got, got_sums = module.reference_scan_blocks(_tensor(data), block, exclusive)
    assert got.tolist() == out
    assert got_sums.tolist() == sums
    moved = module.reference_add_block_offsets(_tensor(data), got_sums, block)
    assert moved.tolist() == [int(data[i]) + sums[i // block] for i in range(n)]


def test_stream_compaction(rng: np.random.Generator) -> None:
    module = reference("stream_compaction")
    data = rng.random(600).astype(np.float32)
    threshold = 0.4
    kept = [float(value) for value in data if value > np.float32(threshold)]
    values, count = module.reference_compact_atomic(_tensor(data), threshold)
    assert values.tolist() == kept and count.item() == len(kept)

    counts = [0, 0, 0]
    for i, value in enumerate(data):
        counts[i // 256] += bool(value > np.float32(threshold))
    assert module.reference_count_kept(_tensor(data), threshold).tolist() == counts
    offsets = np.array([0, counts[0], counts[0] + counts[1]], dtype=np.int32)
    assert module.reference_scatter_kept(_tensor(data), _tensor(offsets), threshold).tolist() == kept
    shifted = module.reference_scatter_kept(_tensor(data), _tensor(offsets + 2), threshold)
    assert shifted[:2].isnan().all() and shifted[2:].tolist() == kept


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
def test_pack_flags(rng: np.random.Generator, n: int) -> None:
    data = rng.random(n).astype(np.float32)
    words = [0] * math.ceil(n / 32)
    for i, value in enumerate(data):
        words[i // 32] |= int(value > 0.5) << (i % 32)
    assert reference("stream_compaction").reference_pack_flags(_tensor(data), 0.5).tolist() == words


def test_histogram(rng: np.random.Generator) -> None:
    module = reference("histogram")
    data = rng.integers(0, 256, 1000).astype(np.uint8)
    pixels = rng.integers(0, 256, (300, 4)).astype(np.uint8)
    keys = rng.integers(0, 9, 100).astype(np.int32)
    want_bytes, want_luma, want_keys = [0] * 256, [0] * 256, [0] * (int(keys.max()) + 1)
    for byte in data:
        want_bytes[byte] += 1
    for r, g, b, _ in pixels.tolist():
        want_luma[(77 * r + 150 * g + 29 * b) // 256] += 1
    for key in keys:
        want_keys[key] += 1
    assert module.reference_histogram_bytes(_tensor(data)).tolist() == want_bytes
    assert module.reference_histogram_luma(_tensor(pixels)).tolist() == want_luma
    assert module.reference_histogram_match(_tensor(keys)).tolist() == want_keys


def test_histogram_range(rng: np.random.Generator) -> None:
    values = np.concatenate([rng.random(500) * 14 - 2, [0.0, 10.0, np.nan, np.inf, -np.inf]]).astype(np.float32)
    want = [0] * 7
    scale = np.float32(7) / (np.float32(10) - np.float32(0))
    for value in values:
        if np.float32(0) <= value < np.float32(10):
            want[min(int((value - np.float32(0)) * scale), 6)] += 1
    assert reference("histogram").reference_histogram_range(_tensor(values), 0.0, 10.0, 7).tolist() == want


@pytest.mark.parametrize("cols", [1, 3, 40])
def test_warp_topk(rng: np.random.Generator, cols: int) -> None:
    module = reference("warp_topk")
    data = rng.integers(-3, 4, (4, cols)).astype(np.float32)
    k = 5
    for r, row in enumerate(data.tolist()):
        order = sorted(range(cols), key=lambda c: (-row[c], c))[:k]
        missing = k - len(order)
        values, indices = module.reference_warp_topk(_tensor(data), k)
        assert values[r].tolist() == [row[c] for c in order] + [-math.inf] * missing
        assert indices[r].tolist() == order + [-1] * missing
        assert module.reference_warp_argmax(_tensor(data))[r].item() == order[0]


def test_cg_reduction(rng: np.random.Generator) -> None:
    module = reference("cg_reduction")
    data = rng.standard_normal((3, 40)).astype(np.float32)
    keys = rng.integers(0, 100, 24).astype(np.int32)
    _close(module.reference_tile_row_sum(_tensor(data)), [sum(map(float, row)) for row in data])
    want = [max(int(key) for key in keys[i : i + 8]) for i in range(0, 24, 8)]
    assert module.reference_tile_max(_tensor(keys), 8).tolist() == want
    flat = data.ravel()
    assert module.reference_count_above(_tensor(flat), 0.5).item() == sum(float(value) > 0.5 for value in flat)
    norm2 = sum(float(value) ** 2 for value in flat)
    normal, got_norm2 = module.reference_normalise(_tensor(flat))
    _close(got_norm2, norm2)
    _close(normal, [float(value) / math.sqrt(norm2) for value in flat])


def test_cub_sort_reduce(rng: np.random.Generator) -> None:
    module = reference("cub_sort_reduce")
    data = rng.standard_normal((3, 40)).astype(np.float32)
    _close(module.reference_row_sum_block(_tensor(data)), [sum(map(float, row)) for row in data])
    _close(module.reference_row_max_warp(_tensor(data)), [max(map(float, row)) for row in data])
    numbers = rng.integers(-9, 9, 1100).astype(np.int32)
    want, total = [], 0
    for i, number in enumerate(numbers):
        total = 0 if i % 512 == 0 else total
        want.append(total)
        total += int(number)
    assert module.reference_block_scan(_tensor(numbers)).tolist() == want


@pytest.mark.parametrize("n", [1, 31, 32, 33, 70])
def test_inline_ptx_groups(rng: np.random.Generator, n: int) -> None:
    module = reference("inline_ptx")
    flags = rng.integers(0, 2, n).astype(np.int32)
    data = rng.standard_normal(n).astype(np.float32)
    rank, tail = module.reference_flag_ranks(_tensor(flags))
    copied = module.reference_broadcast_lane(_tensor(data), 5)
    for i in range(n):
        group = i - i % 32
        assert rank[i] == sum(flags[group:i])
        assert tail[i] == sum(flags[i : min(n, group + 32)])
        assert copied[i] == float(data[group + 5] if group + 5 < n else data[i])


def test_inline_ptx_pixels_and_sums(rng: np.random.Generator) -> None:
    module = reference("inline_ptx")
    pixels = rng.integers(0, 65536, 50).astype(np.int32)
    got = module.reference_expand_pixels(_tensor(pixels), 0x00FF00FF)
    for pixel, word in zip(pixels.tolist(), got.tolist(), strict=True):
        channels = [0xFF]
        for bits, shift in ((5, 11), (6, 5), (5, 0)):
            value = (pixel >> shift) % (1 << bits)
            channels.append((value << (8 - bits)) + (value >> (2 * bits - 8)))
        plain, swapped = int.from_bytes(bytes(channels), "big"), int.from_bytes(bytes(channels), "little")
        assert word == sum((swapped if 0x00FF00FF >> b & 1 else plain) & 1 << b for b in range(32))
    data = rng.standard_normal((6, 4)).astype(np.float32)
    _close(module.reference_scale_staged(_tensor(data), 2.5), [[2.5 * float(value) for value in row] for row in data])
    _close(module.reference_sum_last_block(_tensor(data.ravel())), sum(map(float, data.ravel())))


@pytest.mark.parametrize("beta", [0.0, -0.5])
def test_spmv_csr(rng: np.random.Generator, beta: float) -> None:
    module = reference("spmv_csr")
    lengths = [3, 0, 5, 1]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, 6, offsets[-1]).astype(np.int32)
    values = rng.standard_normal(offsets[-1]).astype(np.float32)
    x = rng.standard_normal(6).astype(np.float32)
    y = np.full(4, np.nan, np.float32) if beta == 0.0 else rng.standard_normal(4).astype(np.float32)
    want = []
    for row in range(4):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += float(values[k]) * float(x[columns[k]])
        want.append(1.5 * total + (beta * float(y[row]) if beta else 0.0))
    arguments = [_tensor(array) for array in (offsets, columns, values, x, y)]
    _close(module.reference_spmv_vector(*arguments, 1.5, beta), want)
    _close(module.reference_spmv_scalar(*arguments, 1.5, beta), want)
