"""Which of two estimates is smaller, where the bands let that be said. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from porter.errors import Unusable


class Time(NamedTuple):
    """An estimate, as far as a comparison needs it."""

    nanoseconds: float
    band: float
    limit: str
    tested: bool


@dataclass(frozen=True)
class Compared:
    """What becomes of an estimate when one thing changes."""

    case: str
    shape: str
    before: str
    """As `block=256`, `preserve` or `before`."""
    after: str
    ratio: float
    """Estimate after over estimate before."""
    needed: float
    """The factor below which nothing is said."""
    direction: str
    """`less`, `more`, or `open`: the model does not tell them apart."""
    doubt: str = ""
    """Why even that may not be the whole truth."""

    @property
    def said(self) -> str:
        """In a sentence."""
        times = f"estimate x {self.ratio:.2f}"
        doubt = f"; {self.doubt}" if self.doubt else ""
        if self.direction == "open":
            return f"{times}, open (x/÷ {self.needed:.2f} is needed){doubt}"
        return f"{times}, {self.direction} time (beyond x/÷ {self.needed:.2f}){doubt}"


def is_within(measured: float, estimate: float, band: float) -> bool:
    """Whether a time lies in the band of an estimate."""
    return 1 / band <= measured / estimate <= band


def needed(before: Time, after: Time) -> float:
    """How far apart two estimates of one kernel have to be.

    The same limit errs alike on both: its band is enough. Of two limits one may be too high and the other too low:
    both bands count.
    """
    if before.limit == after.limit and before.tested and after.tested:
        return max(before.band, after.band)
    return before.band * after.band


def compared(case: str, shape: str, names: tuple[str, str], times: tuple[Time, Time], doubt: str = "") -> Compared:
    """One comparison."""
    ratio, least = times[1].nanoseconds / times[0].nanoseconds, needed(*times)
    direction = "less" if ratio < 1 / least else "more" if ratio > least else "open"
    return Compared(case, shape, *names, ratio, least, direction, doubt)


Key = tuple[str, str, str, str]
"""Case, warps, variant, shape."""


def earlier(document: Any, chip: str) -> dict[Key, Time]:
    """The estimates of an earlier `porter bench --devices gfx942 --format json`, for the same GPU."""
    if not isinstance(document, dict) or document.get("schema") != "porter-estimate-1":
        raise Unusable("--against: no document of `porter bench --devices gfx942 --format json`")
    if str(document.get("chip", "")).lower() != chip.lower():
        raise Unusable(f"--against: estimates for {document.get('chip')}, not for {chip}")
    try:
        return dict(_rows(document["estimates"]))
    except (KeyError, TypeError, ValueError) as error:
        raise Unusable(f"--against: damaged ({error!r})") from None


def _rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Key, Time]]:
    for row in rows:
        found = row["estimate"]
        if found is None:
            continue
        time = Time(float(found["nanoseconds"]), float(found["band"]), str(found["limit"]), bool(found["tested"]))
        yield (row["case"], row["warp"] or "", row.get("variant", ""), row["shape"]), time
