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
    *("[munp]?s", "[mun]sec", "secs?", "seconds?", "(?:milli|micro|nano)seconds?", "cycles", "ticks", "fps"),
    *("[KMGT]i?B/s(?:ec)?", "[KMGTP]?FLOPS?(?:/s)?", "[KMGT]?Hz", "[KMG]?ops", "it/s", "GUPS", "GCUPS", "MLUPS"),
    "Mpixels?/s(?:ec)?",
)
_WORDS = (
    *("tim(?:e|es|ed|er|ing|ings)(?![-_ ]*steps?\\b)", "elapsed", "duration", "latency", "bandwidth", "throughput"),
    *("g?flops?", "speed-?up", "performance", "perf", "took", "per second", "seconds?", "msec", "usec", "runtime"),
    *("overhead", "cycles", "fps"),
)
_UNIT, _WORD = "|".join(_UNITS), "|".join(_WORDS)
_IN_UNITS = re.compile(rf"\s*[(\[]?(?:(?:{_UNIT})\b|\w+(?:/s|/sec|/second| per sec(?:ond)?)\b)", re.IGNORECASE)
_OF_TIME = re.compile(rf"\b(?:{_WORD})\b|[(\[](?:{_UNIT})[)\]]|/s(?:ec)?\b", re.IGNORECASE)
_OF_RESULT = re.compile(
    r"\b(?:err(?:or)?s?|sum|checksum|result|values?|accuracy|residual|norm|energy|count|mismatch(?:es)?)\b",
    re.IGNORECASE,
)
"""A time's label does not say these: `error after that time: 0.5`."""
_REPEATED = re.compile(r"\s*times\b", re.IGNORECASE)
"""`3 times: 5`: no time."""
_CLAUSE = re.compile(r"[,;|]")
_ADDRESSES = range(1 << 32, 1 << 47)
_WHOLE = re.compile(r"[-+]?\d+\Z")
_NAMES = re.compile(
    r"porter virtual (?:NVIDIA GPU|MI300X)|(?<=\w)\.(?:cu|hip)\b|\bhip(?=[A-Z_]|\b)|\bcuda(?=[A-Z_]|\b)|\bROCm\b",
    re.IGNORECASE,
)
_CAPABILITIES = {(float(major), 9.0) for major in (10, 11, 12)} | {(float(minor), 4.0) for minor in (3, 6, 7, 9, 1)}
_CAPABILITIES |= {(number, 9.4) for number in (8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1)}
"""Of the targets that an original may be built for, as a number or in two."""
_PROPERTIES = (
    (r"shared", {(49152.0, 65536.0), (48.0, 64.0)}),
    (r"\bwarp[\s_-]*size|\bthreads (?:per|in a) warp|\bwave(?:front)?[\s_-]*size", {(32.0, 64.0)}),
    (r"multi-?processor|\bSMs?\b|compute units?\b", {(108.0, 304.0)}),
    (r"grid|block|dim", {(65535.0, 65536.0), (64.0, 1024.0)}),
    (r"compute|capability|version|major|minor", {(8.0, 9.0), (8.0, 9.4), (0.0, 4.0)}),
    (r"\bcapability|\bcompute (?:SM|version)|\bCC\b|\bSM[ _]?\d", _CAPABILITIES),
)
_PAIRS = tuple((re.compile(words, re.IGNORECASE), frozenset(pairs)) for words, pairs in _PROPERTIES)
"""Properties of the two devices: what a program prints of them differs rightly, on lines with these words."""
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
    whole: bool = False
    """Whether that goes for whole numbers, too; else they agree exactly."""

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


def compare_output(first: str, second: str, tolerance: Tolerance, *, any_order: bool = False) -> Difference | None:
    """The first difference, None when there is none; with `any_order` the lines may come in another order."""
    left, right = _lines(first), _lines(second)
    found = _in_order(left, right, tolerance)
    if found is None or not any_order or len(left) != len(right):
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
    """Whether two lines say the same, times aside."""
    left, right = _tokens(one), _tokens(other)
    if left == right:
        return True
    if len(left) != len(right):
        return False
    timed = _timed(one) & _timed(other)
    return all(i in timed or _same(a, b, tolerance, one) for i, (a, b) in enumerate(zip(left, right, strict=True)))


def differing_numbers(one: str, other: str, tolerance: Tolerance) -> frozenset[int] | None:
    """Which numbers (addresses among them) of two lines differ; None where their words do."""
    left, right = _tokens(one), _tokens(other)
    if len(left) != len(right):
        return None
    timed, found = _timed(one) & _timed(other), set[int]()
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        if i in timed or _same(a, b, tolerance, one):
            continue
        if not (_is_value(a) and _is_value(b)):
            return None
        found.add(i)
    return frozenset(found)


def shape(line: str) -> tuple[str, ...]:
    """A line without its numbers."""
    return tuple("#" if _is_value(token) else token for token in _tokens(line))


def blanked(line: str, places: frozenset[int]) -> str:
    """A line without some of its numbers."""
    return " ".join("<varies>" if place in places else token for place, token in enumerate(_tokens(line)))


def _tokens(line: str) -> list[str]:
    return [token for token in _TOKEN.findall(line) if not token.isspace()]


def _is_value(token: str) -> bool:
    return token.startswith("0x") or _IS_NUMBER.match(token) is not None


def _timed(line: str) -> set[int]:
    """Which tokens are times, rates or cycles: a unit stands behind them, or their label says so."""
    found: set[int] = set()
    begin, labelled = 0, False
    for place, match in enumerate(match for match in _TOKEN.finditer(line) if not match[0].isspace()):
        if not _IS_NUMBER.match(match[0]):
            continue
        label = _CLAUSE.split(_REPEATED.sub("", line[begin : match.start()]) if begin else line[: match.start()])[-1]
        if not begin or re.search(r"[^\W\d_]", line[begin : match.start()]):
            labelled = _OF_TIME.search(label) is not None and _OF_RESULT.search(label) is None
        if labelled or _IN_UNITS.match(line, match.end()):
            found.add(place)
        begin = match.end()
    return found


def _same(one: str, other: str, tolerance: Tolerance, line: str) -> bool:
    if one == other:
        return True
    if one.startswith("0x") and other.startswith("0x"):
        return all(len(text) > 2 and int(text, 16) in _ADDRESSES for text in (one, other))
    if not (_IS_NUMBER.match(one) and _IS_NUMBER.match(other)):
        return False
    first, second = float(one), float(other)
    if any((first, second) in pairs and words.search(line) for words, pairs in _PAIRS):
        return True
    if not tolerance.whole and _WHOLE.match(one) and _WHOLE.match(other):
        return int(one) == int(other)
    return tolerance.agrees(first, second)
