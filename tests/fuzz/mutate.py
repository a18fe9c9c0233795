"""Changes to bytes that readers of source, build files and documents may not have thought of."""

from __future__ import annotations

import codecs
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

_LINES = (Path(__file__).parent / "dictionary.txt").read_text("ascii").splitlines()
DICTIONARY = (*(codecs.escape_decode(line)[0] for line in _LINES if not line.startswith("# ")), b"9" * 5000)
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
_BRACKETS = (
    (b"(", b")"),
    (b"{", b"}"),
    (b"[", b"]"),
    (b"<", b">"),
    (b"f(", b")"),
    (b"if (a) {", b"}"),
    (b"k<<<1,1>>>(", b")"),
)
_LONGEST = 64 << 10
Change = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def _span(data: bytes, dice: random.Random, longest: int = 60) -> tuple[int, int]:
    start = dice.randint(0, len(data))
    return start, min(len(data), start + dice.randint(0, longest))


def _insert(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    place, _ = _span(data, dice)
    return data[:place] + dice.choice(DICTIONARY) + data[place:]


def _delete(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    start, end = _span(data, dice)
    return data[:start] + data[end:]


def _overwrite(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    start, end = _span(data, dice, 12)
    return data[:start] + dice.choice(DICTIONARY) + data[end:]


def _double(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    start, end = _span(data, dice, 400)
    return data[:end] + data[start:end] * dice.choice((1, 1, 2, 3)) + data[end:]


def _move(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    start, end = _span(data, dice, 200)
    rest = data[:start] + data[end:]
    place = dice.randint(0, len(rest))
    return rest[:place] + data[start:end] + rest[place:]


def _flip(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    if not data:
        return data
    place = dice.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :]


def _swap_tokens(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    start, end = _span(data, dice, 300)
    tokens = _TOKEN.findall(data[start:end])
    if len(tokens) < 2:
        return data
    one, two = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    tokens[one], tokens[two] = tokens[two], tokens[one]
    return data[:start] + b"".join(tokens) + data[end:]


def _drop_tokens(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    start, end = _span(data, dice, 300)
    kept = [token for token in _TOKEN.findall(data[start:end]) if dice.random() > 0.15]
    return data[:start] + b"".join(kept) + data[end:]


def _nest(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    start, end = _span(data, dice, 30)
    opening, closing = dice.choice(_BRACKETS)
    count = dice.choice((2, 5, 40, 300))
    return data[:start] + opening * count + data[start:end] + closing * dice.choice((count, count - 1)) + data[end:]


def _truncate(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    return data[: dice.randint(0, len(data))] if dice.random() < 0.5 else data[dice.randint(0, len(data)) :]


def _splice(data: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    other = dice.choice(seeds)
    start, end = _span(other, dice, 600)
    place, after = _span(data, dice)
    return data[:place] + other[start:end] + data[after:]


CHANGES: tuple[Change, ...] = (
    _insert, _insert, _insert, _delete, _delete, _overwrite, _double, _move, _flip, _swap_tokens, _swap_tokens,
    _drop_tokens, _nest, _truncate, _splice, _splice,
)  # fmt: skip


def mutant(seeds: Sequence[bytes], dice: random.Random) -> bytes:
    """One of the seeds after one to six changes."""
    data = dice.choice(seeds)
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 4, 6))):
        data = dice.choice(CHANGES)(data, dice, seeds)[:_LONGEST]
    return data


def smaller(data: bytes, fails: Callable[[bytes], bool], tries: int = 2000) -> bytes:
    """A shorter input that fails as well: stretches are left out, large ones first."""
    size = max(1, len(data) // 2)
    while size and tries:
        place, before = 0, len(data)
        while place < len(data) and tries:
            tries -= 1
            shorter = data[:place] + data[place + size :]
            if fails(shorter):
                data = shorter
            else:
                place += size
        if len(data) == before or size > 1:
            size //= 2
    return data
