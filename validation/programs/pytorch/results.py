"""What the Python side of a run kept: PyTorch's operators that ran on the host, and the outcome of each test."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.validation.programs.outcome import Account, TestOutcome

from porter.system.reading import LARGEST_DOCUMENT, parsed_json, read_regular


def with_results(account: Account, folder: Path) -> Account:
    """The account, and what Python processes wrote beside it."""
    operators: Counter[str] = Counter()
    endings = list(account.endings)
    for path in sorted(folder.glob("*.torch")):
        found = parsed_json(_text(path)) if path.stat().st_size else {}
        operators.update(found.get("operators", {}))
        endings += [found["ending"]] if "ending" in found else []
    tests = tuple(test for path in sorted(folder.glob("*.tests")) for test in _tests(path))
    ranked = tuple(sorted(operators.items(), key=lambda row: (-row[1], row[0])))
    return replace(account, operators=ranked, tests=tests, endings=tuple(endings))


def _text(path: Path) -> str:
    return read_regular(path, LARGEST_DOCUMENT).decode("utf-8", "replace")


def _tests(path: Path) -> Iterator[TestOutcome]:
    """In the order in which they began; the last line may be half written."""
    found: dict[str, TestOutcome] = {}
    for line in _text(path).splitlines():
        row: list[Any] = []
        with contextlib.suppress(ValueError):
            row = json.loads(line)
        match row:
            case ["start", name]:
                found[name] = TestOutcome(name, "not-ended")
            case ["end", name, outcome, reason]:
                found[name] = TestOutcome(name, outcome, reason)
    yield from found.values()
