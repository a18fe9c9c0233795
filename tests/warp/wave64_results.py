"""What right kernels of the wave64 fixtures compute from 128 integers, two wavefronts of 64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.int32]
THREADS = 128


def _per_group(size: int, compute: Callable[[Array], Any]) -> Callable[[Array], Array]:
    """A result that all threads of a group, or each of them, have."""

    def result(x: Array) -> Array:
        groups = [np.broadcast_to(compute(group), (size,)) for group in x.reshape(-1, size)]
        return np.concatenate(groups).astype(np.int32)

    return result


def _first_of(size: int, compute: Callable[[Array], Any]) -> Callable[[Array], Array]:
    """One number per group, at the beginning."""

    def result(x: Array) -> Array:
        y = np.zeros(THREADS, np.int32)
        for number, group in enumerate(x.reshape(-1, size)):
            y[number] = compute(group)
        return y

    return result


def _index(flags: npt.NDArray[np.bool_], place: int) -> int:
    found = np.flatnonzero(flags)
    return int(found[place]) if found.size else -1


def _rank(group: Array) -> Any:
    flags = group > 0
    return np.cumsum(flags) - flags


_LANES = np.arange(THREADS) % 64
_THREADS = np.arange(THREADS)

RESULTS: dict[str, Callable[[Array], Any]] = {
    "data_in_groups_of_32": lambda x: x[3] + x[67] + _THREADS // 32,
    "count_of_32": _per_group(32, lambda g: (g > 0).sum()),
    "lane_by_its_thread": lambda x: x[_THREADS ^ 33] + x[_THREADS // 64 * 64 + 2] + _THREADS % 32,
    "count": _per_group(64, lambda g: (g > 0).sum()),
    "not_count": _per_group(64, lambda g: (g <= 0).sum()),
    "positive_odd": _per_group(64, lambda g: ((g > 0) & (g & 1 != 0)).sum()),
    "active": lambda x: np.full(THREADS, 64),
    "any": _per_group(64, lambda g: int((g[40:] > 0).any())),
    "any_positive": _per_group(64, lambda g: int((g > 2).any())),
    "all_below_4": _per_group(64, lambda g: int((g < 3).all())),
    "first": _per_group(64, lambda g: _index((g > 0) & (np.arange(64) > 33), 0)),
    "last": _per_group(64, lambda g: _index(g > 0, -1)),
    "leader": _per_group(64, lambda g: np.arange(64) == _index(g > 0, 0)),
    "late_leader": _per_group(64, lambda g: np.arange(64) == _index((g > 0) & (np.arange(64) > 33), 0)),
    "positive": lambda x: x > 0,
    "rank": _per_group(64, _rank),
    "above": _per_group(64, lambda g: np.cumsum((g > 0)[::-1])[::-1]),
    "others": _per_group(64, lambda g: (g > 0).sum() - (g > 0)),
    "scan": _per_group(64, np.cumsum),
    "wave_sum": _per_group(64, np.sum),
    "wave_max": lambda x: _per_group(64, np.max)(x * 200 + _THREADS),
    "wave_min": lambda x: _per_group(64, np.min)(x * 200 + _THREADS),
    "wave_first": _per_group(64, lambda g: g[0]),
    "wave_reversed": _per_group(64, lambda g: g[::-1]),
    "wave_rotated": _per_group(64, lambda g: np.roll(g, -1)),
    "wave_sum_first": _first_of(64, np.sum),
    "half_sum": _per_group(32, np.sum),
    "half_sum_first": _first_of(32, np.sum),
    "half_scan": _per_group(32, np.cumsum),
    "half_first": _per_group(32, lambda g: g[0]),
    "half_last": _per_group(32, lambda g: g[31]),
    "half_count": _per_group(32, lambda g: (g > 0).sum()),
    "half_rank": _per_group(32, _rank),
    "low_count": _per_group(64, lambda g: (g[:32] > 0).sum()),
    "quarter_sum": _per_group(16, np.sum),
    "group_sum": lambda x: np.concatenate([np.tile(g.reshape(16, 4).sum(0), 16) for g in x.reshape(-1, 64)]),
    "strided_sum": lambda x: np.concatenate([np.tile(g.reshape(8, 4).sum(0), 8) for g in x.reshape(-1, 32)]),
    "logical_sum": lambda x: sum(_per_group(size, np.sum)(x) for size in (64, 32, 8)),
    "block_sum": lambda x: np.where(_THREADS == 0, x.sum(), 0),
    "wave_number": lambda x: _THREADS // 64,
    "wave_count": lambda x: np.full(THREADS, 2),
    "half_number": lambda x: _LANES // 32 * 100 + _LANES % 32,
    "word_and_bit": lambda x: _THREADS // 32 * 100 + _THREADS % 32,
    "guarded_bit": lambda x: (np.uint32(1) << (_LANES % 32).astype(np.uint32)).astype(np.int32),
    "lane_bit": lambda x: np.where(_LANES < 31, 1 << np.minimum(_LANES, 30), 0),
    "item_bits": lambda x: sum((np.roll(x, -i) > 0).astype(np.int32) << i for i in range(4)),
    "data_bits": lambda x: np.array([bin(int(v) & 0xFFFFFFFF).count("1") for v in x]),
    "transposed": lambda x: x.reshape(4, 32)[_THREADS % 4, _THREADS // 4],
    "short_row_guarded": lambda x: np.where(_LANES < 32, x[_LANES % 32], 0),
    "first_positive_value": _per_group(64, lambda g: g[_index(g > 0, 0)]),
    "slots": lambda x: np.where(x > 0, (x > 0).sum(), 0),
    "neighbour": lambda x: x[_THREADS ^ 1],
    "row_neighbour": lambda x: np.where(_THREADS % 16 == 0, 0, np.roll(x, 1)),
}
"""By the name that the snippets use."""
