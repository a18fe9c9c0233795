"""The figures of a GPU that an estimate rests on: one file below `chips/` each."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from importlib import resources
from typing import Any

from porter.validation.build.occupancy import Target, find_target
from porter.validation.devices.core.launch import Caches
from porter.validation.estimate.issue import issue

from porter.errors import Unusable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LINE = 128
"""Bytes of a cache line at every level."""


@dataclass(frozen=True)
class Chip:
    """One GPU: latencies in nanoseconds, bandwidths in bytes per nanosecond, clocks in GHz."""

    name: str
    target: Target
    caches: Caches
    clock: float
    bandwidth: dict[str, float]
    latency: dict[str, float]
    waves_per_ns: float
    launch_ns: float
    atomic_ns: float
    """Between two atomics of lanes on one line."""

    @property
    def cus(self) -> int:
        """Compute units."""
        return self.caches.xcds * self.caches.cus_per_xcd

    @property
    def roofs(self) -> dict[str, dict[str, float]]:
        """Of a roofline: bytes per nanosecond by level, floating-point operations per nanosecond by unit."""
        simds = self.cus * self.target.simds * self.clock
        rates = {
            name: simds * work / issue(mnemonic).cycles
            for name, (mnemonic, work) in {
                "f32 VALU": ("v_fma_f32", 2 * 64),
                "f64 VALU": ("v_fma_f64", 2 * 64),
                "f16 MFMA": ("v_mfma_f32_32x32x8_f16", 2 * 32 * 32 * 8),
                "f64 MFMA": ("v_mfma_f64_16x16x4_f64", 2 * 16 * 16 * 4),
            }.items()
        }
        levels = {
            "memory": self.bandwidth["read"],
            "last-level cache": self.bandwidth["last"],
            "L2": self.bandwidth["l2"],
        }
        return {"bandwidth": {**levels, "LDS": self.cus * LINE * self.clock}, "rate": rates}


def names() -> tuple[str, ...]:
    """The GPUs there are figures of."""
    folder = resources.files("porter.validation.estimate") / "chips"
    return tuple(sorted(entry.name[: -len(".toml")] for entry in folder.iterdir() if entry.name.endswith(".toml")))


@dataclass(frozen=True)
class Original:
    """The GPU that originals are counted on: its caches. No time is estimated for it."""

    name: str
    caches: Caches


@functools.cache
def load(name: str) -> Chip:
    """The figures of `mi300x`; Unusable with the names there are."""
    if name not in names():
        raise Unusable(f"no figures of {name!r}; there are: {', '.join(names())}")
    table = _table("chips", name)
    target = find_target(table["target"])
    if target is None:
        raise ValueError(f"{name}: {table['target']} has no occupancy rules")
    return Chip(
        name=table["name"],
        target=target,
        caches=_caches(table),
        clock=table["clock"]["ghz"],
        bandwidth={key: value * 1e3 for key, value in table["bandwidth"].items()},
        latency=table["latency"],
        waves_per_ns=table["rate"]["waves_per_ns"],
        launch_ns=table["rate"]["launch_us"] * 1e3,
        atomic_ns=table["rate"]["atomic_ns"],
    )


@functools.cache
def load_original(name: str = "h100") -> Original:
    """The caches of the GPU that CUDA's side is counted on."""
    table = _table("originals", name)
    return Original(table["name"], _caches(table))


def _table(folder: str, name: str) -> dict[str, Any]:
    path = resources.files("porter.validation.estimate") / folder / f"{name}.toml"
    found: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    return found


def _caches(table: dict[str, Any]) -> Caches:
    sizes, shape = table["caches"], table["shape"]
    line, piece = sizes.get("line_bytes", LINE), sizes.get("write_bytes", LINE // 2)
    levels = [(sizes[f"{level}_bytes"] // (line * sizes[f"{level}_ways"]), sizes[f"{level}_ways"]) for level in _LEVELS]
    bits = (line.bit_length() - 1, piece.bit_length() - 1)
    return Caches(shape["xcds"], shape["cus_per_xcd"], *levels[0], *levels[1], *levels[2], *bits)


_LEVELS = ("l1", "l2", "last")
