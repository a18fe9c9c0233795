"""The figures of a GPU that an estimate rests on: one file below `chips/` each."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from importlib import resources

from porter.validation.build.occupancy import Target, find_target
from porter.validation.devices.core.launch import Caches

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

    @property
    def cus(self) -> int:
        """Compute units."""
        return self.caches.xcds * self.caches.cus_per_xcd


def names() -> tuple[str, ...]:
    """The GPUs there are figures of."""
    folder = resources.files("porter.validation.estimate") / "chips"
    return tuple(sorted(entry.name[: -len(".toml")] for entry in folder.iterdir() if entry.name.endswith(".toml")))


@functools.cache
def load(name: str) -> Chip:
    """The figures of `mi300x`; Unusable with the names there are."""
    if name not in names():
        raise Unusable(f"no figures of {name!r}; there are: {', '.join(names())}")
    text = (resources.files("porter.validation.estimate") / "chips" / f"{name}.toml").read_text("utf-8")
    table = tomllib.loads(text)
    target = find_target(table["target"])
    if target is None:
        raise ValueError(f"{name}: {table['target']} has no occupancy rules")
    sizes = table["caches"]
    levels = [(sizes[f"{level}_bytes"] // (LINE * sizes[f"{level}_ways"]), sizes[f"{level}_ways"]) for level in _LEVELS]
    return Chip(
        name=table["name"],
        target=target,
        caches=Caches(table["shape"]["xcds"], table["shape"]["cus_per_xcd"], *levels[0], *levels[1], *levels[2]),
        clock=table["clock"]["ghz"],
        bandwidth={key: value * 1e3 for key, value in table["bandwidth"].items()},
        latency=table["latency"],
        waves_per_ns=table["rate"]["waves_per_ns"],
        launch_ns=table["rate"]["launch_us"] * 1e3,
    )


_LEVELS = ("l1", "l2", "last")
