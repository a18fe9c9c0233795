"""Programs whose original and port are compared, one after the other: options, kept results, and how many agree."""

from __future__ import annotations

import argparse
import json
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

Row = dict[str, Any]
T = TypeVar("T")


def options(parser: argparse.ArgumentParser, what: str, limit: int) -> None:
    """What these benchmarks share; `what` is one of their programs."""
    parser.add_argument("--count", type=int, default=0, help="so many, drawn by the seed; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help=f"{what}; can be repeated")
    parser.add_argument("--limit", type=int, default=limit, help="processor time of one run")
    parser.add_argument("--minutes", type=float, default=0, help="start no program after so many")
    parser.add_argument("--show", type=Path, help="print what a file of results says")


def drawn(all_of_them: Iterable[T], count: int, seed: int) -> list[T]:
    """So many by the seed; 0: all, in their order."""
    found = list(all_of_them)
    if count:
        random.Random(seed).shuffle(found)
        found = found[:count]
    return found


def run_all(names: Iterable[str], do: Callable[[str], Row], given: argparse.Namespace) -> dict[str, Row]:
    """All that have no result yet, each kept as it ends; a run that was cut off goes on where it ended."""
    results: dict[str, Row] = json.loads(given.output.read_text()) if given.output.exists() else {}
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started is ended with it
    start = time.monotonic()
    for name in names:
        if name in results and not given.only:
            continue
        if given.minutes and time.monotonic() - start > 60 * given.minutes:
            break
        results[name] = row = do(name)
        shown = " ".join((name, *row.get("arguments", ())))
        print(f"{row['verdict']:14} {shown}: {row['reason']}"[:240], flush=True)
        given.output.write_text(json.dumps(results, indent=1))
    return results


def share(results: Mapping[str, Row]) -> str:
    """How many agree, and what the others do."""
    counts = Counter(row["verdict"] for row in results.values())
    part = 100 * counts["agree"] / len(results) if results else 0.0
    return f"{counts['agree']} of {len(results)} agree ({part:.0f} %); {dict(counts.most_common())}"


def agreeing(results: Mapping[str, Row]) -> dict[str, Row]:
    """Those that agree."""
    return {name: row for name, row in results.items() if row["verdict"] == "agree"}


def others(results: Mapping[str, Row]) -> Iterator[str]:
    """A line for each that does not agree."""
    for name, row in sorted(results.items(), key=lambda item: item[1]["verdict"]):
        if row["verdict"] != "agree":
            yield f"  {row['verdict']:13} {name}: {row['reason']}"[:200]
