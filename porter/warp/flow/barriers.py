"""A quick look for block barriers inside branches and loops, before the function is walked."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from porter.warp.bodies import Bodies, Function


def nested_barriers(bodies: Bodies) -> Iterator[Function]:
    """Functions in which a branch, a loop or a `return` could part the threads of a wavefront before a barrier."""
    tokens = bodies.tokens
    places = bodies.barrier_places
    for function in bodies.functions:
        head = function.head
        inside = places[bisect.bisect_right(places, head.body or 0) : bisect.bisect_left(places, head.end)]
        leaves = inside and "return" in tokens.texts[head.body or 0 : inside[-1]]
        seen: set[int] = set()
        if leaves or any(_nested(bodies, function, index, seen) for index in inside):
            yield function


def _nested(bodies: Bodies, function: Function, index: int, seen: set[int]) -> bool:
    """Whether a barrier stands below a condition that is more than a count from one constant to another.

    `seen` are the places that were walked through without finding one.
    """
    tokens = bodies.tokens
    texts = tokens.texts
    position = index - 1
    body = function.head.body or 0
    while position > body:
        if position in seen:
            return False
        seen.add(position)
        text = texts[position]
        if text in (")", "}", "]"):
            partner = tokens.partner.get(position)
            if partner is None:
                return True
            if text == ")" and position == index - 1:
                return True
            position = partner - 1
            continue
        if text == "{":
            if texts[position - 1] in ("else", "do"):
                return True
            if texts[position - 1] == ")" and _parts_threads(bodies, position - 1):
                return True
        position -= 1
    return False


def _parts_threads(bodies: Bodies, closing: int) -> bool:
    """Whether the condition in the parentheses that close here may differ between threads, by its words."""
    tokens = bodies.tokens
    opening = tokens.partner.get(closing)
    if opening is None:
        return True
    keyword = tokens.texts[opening - 1]
    if keyword not in ("if", "for", "while", "switch"):
        return False
    inside = tokens.texts[opening + 1 : closing]
    if keyword == "for" and inside.count(";") >= 2:
        first = inside.index(";")
        second = inside.index(";", first + 1)
        start, condition = inside[:first], inside[first + 1 : second]
        return _varies(start) or _varies(condition)
    return True


def _varies(texts: list[str]) -> bool:
    """Whether words could stand for something that differs between threads."""
    return any(
        word == "threadIdx"
        or word == "["
        or "tid" in word.lower()
        or "thread" in word.lower()
        or "lane" in word.lower()
        for word in texts
    ) or (bool(texts) and not _counts(texts))


def _counts(texts: list[str]) -> bool:
    """`int k = 0`, `k < n`: a counter from a plain start or to a plain bound."""
    words = [text for text in texts if text not in ("int", "unsigned", "size_t", "long", "const", "auto", "uint")]
    return len(words) <= 5 and all(text not in ("(", "*", "&", "&&", "||") for text in words)
