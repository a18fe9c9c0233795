"""A quick look for block barriers inside branches and loops, before the function is walked."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from porter.warp.bodies import Bodies
from porter.warp.function import Function


def nested_barriers(bodies: Bodies) -> Iterator[Function]:
    """Functions in which a branch, a loop or a `return` could part the threads of a wavefront before a barrier."""
    tokens = bodies.tokens
    places = bodies.operations.barrier_places
    for function in bodies.functions:
        head = function.head
        inside = places[bisect.bisect_right(places, head.body or 0) : bisect.bisect_left(places, head.end)]
        leaves = inside and "return" in tokens.texts[head.body or 0 : inside[-1]]
        seen: set[tuple[int, bool]] = set()
        if leaves or any(_nested(bodies, function, index, seen) for index in inside):
            yield function


def _nested(bodies: Bodies, function: Function, index: int, seen: set[tuple[int, bool]]) -> bool:
    """Whether a barrier stands below a condition that is more than a count from one constant to another.

    `seen` are the places that were walked through without finding one, each with whether its statement had ended.
    """
    tokens = bodies.tokens
    texts = tokens.texts
    position = before = _before_attributes(bodies, _beginning(bodies, index)) - 1
    body = function.head.body or 0
    is_same = True  # nothing ended a statement since
    while position > body:
        if position != before and (position, is_same) in seen:
            return False
        seen.add((position, is_same))
        text = texts[position]
        is_same &= text not in (";", "}")
        if text in (")", "}", "]"):
            partner = tokens.partner.get(position)
            if partner is None:
                return True
            if text == ")" and (position == before or (is_same and texts[partner - 1] in _PARTING)):
                return True
            if text == "]" and is_same and texts[position + 1] in ("{", "("):
                return True  # a lambda: it is called elsewhere
            position = partner - 1
            continue
        if text in ("?", "&&", "||", "and", "or") and is_same:
            return True
        if text == "{":
            is_same = texts[position - 1] in ("(", "]", ")")
            if texts[position - 1] in ("else", "do"):
                return True
            closing = _before_attributes(bodies, position) - 1
            if texts[closing] == ")" and _parts_threads(bodies, function, closing):
                return True
        position -= 1
    return False


def _beginning(bodies: Bodies, index: int) -> int:
    """The first token of a call: `cg::this_thread_block().sync` begins before its last name."""
    texts, partner = bodies.tokens.texts, bodies.tokens.partner
    while index > 1 and texts[index - 1] in (".", "->", "::"):
        index -= 2
        if texts[index] in (")", "]"):
            index = max(partner.get(index, index) - 1, 1)
    return index


def _before_attributes(bodies: Bodies, index: int) -> int:
    """The token itself, or the first of the `[[attributes]]` before it."""
    tokens = bodies.tokens
    while tokens.texts[index - 1] == "]" and (opening := tokens.partner.get(index - 1, 0)) > 0:
        if tokens.texts[opening + 1] != "[":
            break
        index = opening
    return index


def _parts_threads(bodies: Bodies, function: Function, closing: int) -> bool:
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
        return _varies(bodies, function, start) or _varies(bodies, function, condition)
    return True


def _varies(bodies: Bodies, function: Function, texts: list[str]) -> bool:
    """Whether words could stand for something that differs between threads: neither numbers, types and constants, nor a
    kernel's parameters, nor the counter that they begin with."""
    if len(texts) > _LONGEST or not _INVOLVED.isdisjoint(texts):
        return True
    same = _SAME.union(function.template_parameters, function.parameters if function.is_kernel else ())
    counter = next((text for text in texts if text.isidentifier() and text not in _TYPES), "")
    return any(
        text.isidentifier() and text != counter and text not in same and not text.isupper()
        and not bodies.constants.definitions(text)
        for text in texts
    )  # fmt: skip


_PARTING = frozenset({"if", "for", "while", "switch"})
_LONGEST = 8
_INVOLVED = frozenset({"(", "[", "*", "&", "&&", "||", "threadIdx"})
_TYPES = frozenset({"int", "unsigned", "size_t", "long", "const", "auto", "uint", "short", "char"})
_SAME = _TYPES | {"blockIdx", "blockDim", "gridDim", "x", "y", "z"}
