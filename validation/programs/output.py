"""What two runs printed, compared: numbers within a tolerance, times and addresses masked."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\b(?:nan|inf(?:inity)?)\b"
_TOKEN = re.compile(rf"0x[0-9a-fA-F]+|{NUMBER}|[A-Za-z_]+|\s+|.", re.IGNORECASE | re.DOTALL)
_IS_NUMBER = re.compile(rf"(?:{NUMBER})\Z", re.IGNORECASE)
_UNITS = (
    *("[munp]?s", "[mun]sec", "secs?", "seconds?", "(?:milli|micro|nano)seconds?", "cycles", "ticks", "fps", "%", "x"),
    *("[KMGT]i?B/s(?:ec)?", "[KMGTP]?FLOPS?(?:/s)?", "[KMGT]?Hz", "[KMG]?ops", "it/s", "GUPS", "GCUPS", "MLUPS"),
    "Mpixels?/s(?:ec)?",
)
_WORDS = (
    *(
        "tim(?:e|es|ed|er|ing|ings)",
        "elapsed",
        "duration",
        "latency",
        "bandwidth",
        "throughput",
        "g?flops?",
        "speed-?up",
    ),
    *("speed", "performance", "perf", "rate", "took", "per second", "seconds?", "msec", "usec", "runtime", "overhead"),
    *("cycles", "clock"),
)
_UNIT, _WORD = "|".join(_UNITS), "|".join(_WORDS)
_TIMED = re.compile(rf"\b(?:{_WORD})\b|\d\s*[(\[]?(?:{_UNIT})\b|[(\[](?:{_UNIT})[)\]]|/s(?:ec)?\b", re.IGNORECASE)
_NAMES = re.compile(
    r"porter virtual (?:NVIDIA GPU|MI300X)|\bhip(?=[A-Z_]|\b)|\bcuda(?=[A-Z_]|\b)|\bROCm\b", re.IGNORECASE
)
_PAIRS = {
    (49152.0, 65536.0),
    (48.0, 64.0),
    (108.0, 304.0),
    (32.0, 64.0),
    (65535.0, 65536.0),
    (64.0, 1024.0),
    (8.0, 9.0),
    (8.0, 9.4),
    (0.0, 4.0),
}
"""Properties of the two devices: what a program prints of them differs rightly."""
_PROPERTY = re.compile(
    r"shared|warp|wave|multiprocessor|\bSMs?\b|compute|capability|grid|block dim|device|memory|version", re.IGNORECASE
)
_DEVICE = re.compile(r"\bwith compute capability \d|\bMapSMto\w+ for SM \d")
"""Lines that say which GPU there is, as the helpers of CUDA's samples do: they are left out."""
_FAILS = re.compile(
    r"\bFAIL(?:ED|URE|S)?\b(?!\s*[:=]\s*0)|\bmismatch(?:es)?\b(?!\s*[:=]?\s*0)|\bincorrect\b", re.IGNORECASE
)
_PASSES = re.compile(r"\bPASS(?:ED)?\b|\bsuccess(?:ful(?:ly)?)?\b|\bcorrect\b", re.IGNORECASE)


@dataclass(frozen=True)
class Tolerance:
    """Numbers agree within relative or absolute."""

    relative: float = 1e-3
    absolute: float = 1e-5

    def agrees(self, first: float, second: float) -> bool:
        """Whether two numbers do; NaN agrees with NaN."""
        if math.isnan(first) or math.isnan(second):
            return math.isnan(first) and math.isnan(second)
        if math.isinf(first) or math.isinf(second):
            return first == second
        return abs(first - second) <= max(self.absolute, self.relative * max(abs(first), abs(second)))


@dataclass(frozen=True)
class Difference:
    """The first place where two outputs part."""

    line: int
    first: str
    second: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.first.strip()!r} and {self.second.strip()!r}"


def says(output: str) -> str | None:
    """The program's own verdict: `pass`, `fail`, or None when it says nothing."""
    if _FAILS.search(output):
        return "fail"
    return "pass" if _PASSES.search(output) else None


def compare_output(first: str, second: str, tolerance: Tolerance) -> Difference | None:
    """The first difference, None when there is none; lines may come in another order."""
    left, right = _lines(first), _lines(second)
    found = _in_order(left, right, tolerance)
    if found is None or len(left) != len(right):
        return found
    left, right = sorted(left, key=words_and_numbers), sorted(right, key=words_and_numbers)
    return None if _in_order(left, right, tolerance) is None else found


def words_and_numbers(line: str) -> tuple[list[str], list[float]]:
    """What lines are sorted by: words first, then numbers."""
    tokens = _tokens(line)
    numbers = [float(token) for token in tokens if _IS_NUMBER.match(token)]
    return [token for token in tokens if not _IS_NUMBER.match(token)], numbers


def _in_order(left: Sequence[str], right: Sequence[str], tolerance: Tolerance) -> Difference | None:
    for number, (one, other) in enumerate(zip(left, right, strict=False), 1):
        if one != other and not same_line(one, other, tolerance):
            return Difference(number, one, other)
    if len(left) == len(right):
        return None
    short = min(len(left), len(right))
    return Difference(short + 1, *("".join(lines[short : short + 1]) or "(nothing)" for lines in (left, right)))


def _lines(text: str) -> list[str]:
    return [line for line in _NAMES.sub("<vendor>", text).splitlines() if line.strip() and not _DEVICE.search(line)]


def same_line(one: str, other: str, tolerance: Tolerance) -> bool:
    """Whether two lines say the same."""
    left, right = _tokens(one), _tokens(other)
    if len(left) != len(right):
        return False
    timed = bool(_TIMED.search(one)) and bool(_TIMED.search(other))
    return all(_same(a, b, tolerance, one, timed=timed) for a, b in zip(left, right, strict=True))


def _tokens(line: str) -> list[str]:
    return [token for token in _TOKEN.findall(line) if not token.isspace()]


def _same(one: str, other: str, tolerance: Tolerance, line: str, *, timed: bool) -> bool:
    if one == other:
        return True
    if one.startswith("0x") and other.startswith("0x") and len(one) > 8:
        return True  # addresses
    if not (_IS_NUMBER.match(one) and _IS_NUMBER.match(other)):
        return False
    if timed:
        return True
    first, second = float(one), float(other)
    return tolerance.agrees(first, second) or ((first, second) in _PAIRS and bool(_PROPERTY.search(line)))
