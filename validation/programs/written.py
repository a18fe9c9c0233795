"""The files that a program writes on either side, compared."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.output import Tolerance
from porter.validation.programs.recipes import Program
from porter.validation.programs.steady import Varying, compare_steady, varying

_KINDS = {4: "f", 8: "d"}
_SMALLEST = {4: 2.0**-126, 8: sys.float_info.min}
"""What is smaller, and not zero, is more likely a whole number (a count before the values) than a float."""


def files_of(program: Program, root: Path) -> dict[str, bytes | None]:
    """What the program wrote; None for a file that is not there."""
    paths = {name: root / program.folder / name for name in program.files}
    return {name: path.read_bytes() if path.is_file() else None for name, path in paths.items()}


def with_files(found: Compared, program: Program, written: Sequence[Mapping[str, bytes | None]]) -> Compared:
    """The verdict with the files of original, port, and the original's other run, which differs where it may."""
    reasons = [found.reason] if found.reason else []
    for name in program.files:
        left, right, again = (files[name] for files in written)
        different, without = _difference(left, right, again, program)
        if different is not None:
            return replace(found, agreement=Agreement.DIFFER, reason=f"{name}: {different}")
        reasons += [f"{name}: {without}"] if without else []
    return replace(found, reason="; ".join(reasons))


def _difference(
    left: bytes | None, right: bytes | None, again: bytes | None, program: Program
) -> tuple[str | None, str]:
    """How two files differ, and what of them was not compared."""
    if left is None or right is None:
        return (None if left is right else f"the {'original' if left is None else 'port'} did not write it"), ""
    if left == right:
        return None, ""
    if b"\0" in left or b"\0" in right:
        if program.floats and len(left) == len(right) and not len(left) % program.floats:
            return _of_floats(left, right, program.floats, program.tolerance), ""
        if again != left:
            return None, "not compared: another run of the original wrote other bytes"
        pairs = enumerate(zip(left, right, strict=False))
        at = next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))
        return f"they differ from byte {at} on{_hint(left, right)}", ""
    texts = [(text or b"").decode("utf-8", "replace") for text in (left, right, again)]
    without: Varying = varying(texts[0], texts[2], program.tolerance)
    found = compare_steady(texts[0], texts[1], program.tolerance, without)
    return (None if found is None else str(found)), str(without)


def _of_floats(left: bytes, right: bytes, size: int, tolerance: Tolerance) -> str | None:
    for at, (one, other) in enumerate(zip(*_values(left, right, size), strict=True)):
        if not _near(one, other, size, tolerance):
            return f"value {at} as f{size}: {one:.9g} and {other:.9g}"
    return None


def _hint(left: bytes, right: bytes) -> str:
    """How far apart they are as 32-bit floats, where they may be some: for `floats = 4` in the table, or not."""
    if len(left) != len(right) or len(left) % 4:
        return ""
    pairs = [(a, b) for a, b in zip(*_values(left, right, 4), strict=True) if a != b]
    if not pairs or not all(_is_ordinary(value) for pair in pairs for value in pair):
        return ""
    apart = max(abs(a - b) / max(abs(a), abs(b)) for a, b in pairs)
    counts = f"{len(pairs)} of {len(left) // 4}"
    return f" (as 32-bit floats {counts} differ, by {apart:.1e} of their size at most; `floats = 4`?)"


def _is_ordinary(value: float) -> bool:
    return value == 0 or (math.isfinite(value) and 1e-30 < abs(value) < 1e30)


def _values(left: bytes, right: bytes, size: int) -> list[array[float]]:
    return [array(_KINDS[size], text) for text in (left, right)]


def _near(one: float, other: float, size: int, tolerance: Tolerance) -> bool:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return True
    if not (math.isfinite(one) and math.isfinite(other)) or (one and max(abs(one), abs(other)) < _SMALLEST[size]):
        return False
    return abs(one - other) <= max(tolerance.absolute, tolerance.relative * max(abs(one), abs(other)))
