"""Draws findings of a scan at random, one place of each cause, beside their source: to be read and judged by a person.

porter scan TREE --format json > scan.json
python -m benchmarks.sample_findings scan.json [--count 100] [--seed 17] [--lines 3] [--codes V1,W107]

A cause is a pair of code and message; only findings that leave work take part, and those that are suppressed do not.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def causes(document: dict[str, Any], codes: tuple[str, ...]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The findings that leave work, by cause."""
    found: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for finding in document["findings"]:
        if finding["effort"] != "none" and not finding["suppressed"] and finding["code"].startswith(codes):
            found[finding["code"], finding["message"]].append(finding)
    return dict(sorted(found.items()))


def shown(source: Path, finding: dict[str, Any], around: int) -> Iterator[str]:
    """The lines of the source around a finding."""
    try:
        lines = (source / finding["path"]).read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    first = max(0, finding["line"] - 1 - around)
    for number, line in enumerate(lines[first : finding["line"] + around], first + 1):
        yield f"  {'>' if number == finding['line'] else ' '} {number:5} {line[:160]}"


def main() -> None:
    """Prints the sample."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("document", type=Path)
    arguments.add_argument("--count", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=17)
    arguments.add_argument("--lines", type=int, default=3)
    arguments.add_argument("--codes", default="", help="beginnings of codes, separated by commas")
    given = arguments.parse_args()
    document = json.loads(given.document.read_text("utf-8"))
    known = causes(document, tuple(given.codes.split(",")))
    chance = random.Random(given.seed)
    drawn = sorted(chance.sample(sorted(known), min(given.count, len(known))))
    places = sum(map(len, known.values()))
    print(f"{places} places, {len(known)} causes; {len(drawn)} drawn with seed {given.seed}")
    for number, cause in enumerate(drawn, 1):
        finding = chance.choice(known[cause])
        print(f"\n[{number}] {cause[0]} {finding['effort']}, {len(known[cause])} places: {cause[1]}")
        print(f"  {finding['path']}:{finding['line']}")
        print("\n".join(shown(Path(document["source"]), finding, given.lines)))


if __name__ == "__main__":
    main()
