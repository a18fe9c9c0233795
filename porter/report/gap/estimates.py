"""What `porter bench --devices gfx942` and `porter run --profile` say about kernels. Nothing of it was measured."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from porter.report.gap.evidence import Key, Paths, plain_name
from porter.report.gap.model import Estimated, Roofs

_COSTS = 5


def estimates_by_kernel(
    documents: Iterable[Mapping[str, Any]], paths: Paths, outputs: Mapping[str, str]
) -> dict[Key, list[Estimated]]:
    """Estimates by the kernel of the source; `outputs` names the port of each file."""
    found: defaultdict[Key, list[Estimated]] = defaultdict(list)
    for document in documents:
        for row in document["estimates"]:
            if row["estimate"] is None or row["variant"]:
                continue
            path = paths.find(row["source"])
            port = outputs.get(path) or path
            found[path, plain_name(row["kernel"])].append(_estimated(row, str(document["chip"]), port))
    return found


def profiles_as_estimates(runs: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Profiled programs in the form of estimates: a launch, and its like, is a shape of a case that is the program."""
    for run in runs:
        profile = run.get("profile")
        if profile is None:
            continue
        rows = (row for row in profile["launches"] if row["estimate"] is not None)
        yield {
            "chip": profile["chip"],
            "left_out": profile["left_out"],
            "roofs": profile["roofs"],
            "estimates": [
                {
                    "case": " ".join(run["command"]),
                    "shape": _launches(row),
                    "variant": "",
                    "warp": "",
                    "source": _file_of(row["estimate"]["lines"]),
                    "kernel": row["kernel"],
                    "estimate": row["estimate"],
                }
                for row in rows
            ],
        }


def _launches(row: Mapping[str, Any]) -> str:
    grid, block = ("x".join(map(str, row[name])).removesuffix("x1").removesuffix("x1") for name in ("grid", "block"))
    count = len(row["launches"])
    return f"{grid} blocks of {block}, {count:,} launch{'es' * (count > 1)}"


def _file_of(lines: Iterable[tuple[str, float]]) -> str:
    """The file that most of the time is spent in: a launch does not say where its kernel stands."""
    shares: defaultdict[str, float] = defaultdict(float)
    for where, share in lines:
        shares[str(where).rpartition(":")[0]] += share
    return max(shares, key=lambda name: shares[name], default="")


def roofs_of(documents: Iterable[Mapping[str, Any]]) -> Roofs | None:
    """Of the GPU of the first document that has estimates."""
    for document in documents:
        if any(row["estimate"] is not None for row in document["estimates"]):
            roofs = document["roofs"]
            return Roofs(str(document["chip"]), roofs["bandwidth"], roofs["rate"], str(document["left_out"]))
    return None


def _estimated(row: Mapping[str, Any], chip: str, port: str) -> Estimated:
    one = row["estimate"]
    lines: defaultdict[int, float] = defaultdict(float)
    elsewhere = 0.0
    for where, share in one["lines"]:
        file, _, number = str(where).rpartition(":")
        if posixpath.basename(file) == posixpath.basename(port) and number.isdecimal():
            lines[int(number)] += share
        else:
            elsewhere += share
    costs = (
        (str(cost["cause"]), cost["nanoseconds"] / one["nanoseconds"], str(cost["remedy"]))
        for cost in one["costs"][:_COSTS]
    )
    traffic = one["traffic"]
    return Estimated(
        case=str(row["case"]),
        shape=str(row["shape"]),
        warp=str(row["warp"] or ""),
        chip=chip,
        nanoseconds=float(one["nanoseconds"]),
        band=float(one["band"]),
        limit=str(one["limit"]),
        tested=bool(one["tested"]),
        waves_per_simd=float(one["waves_per_simd"]),
        operations=float(one["operations"]),
        memory_bytes=float(traffic["read"] + traffic["last"] + traffic["write"]),
        costs=tuple(costs),
        lines=tuple(sorted(lines.items())),
        elsewhere=elsewhere,
    )
