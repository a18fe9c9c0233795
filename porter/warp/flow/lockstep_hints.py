"""Looks at the tokens of functions for lanes that may hand values to each other without a barrier."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from porter.cpp.lex import IDENTIFIER, Tokens
from porter.warp.bodies import Bodies
from porter.warp.flow.accesses import COPIES, element_macros
from porter.warp.flow.short_barriers import short_steps
from porter.warp.function import Function


def candidates(bodies: Bodies) -> Iterator[Function]:
    """Functions that may rely on lockstep: they know the warp's size or `volatile`, and touch shared memory twice."""
    tokens = bodies.tokens
    for function in bodies.functions:
        inside = frozenset(tokens.texts[function.head.begin : function.head.end])
        shared = "__shared__" in inside or not bodies.macros.shared.isdisjoint(inside) or inside >= _ATTRIBUTE
        knows = "volatile" in inside or (shared and _knows_width(inside))
        if not knows:
            continue
        hidden = not element_macros(bodies).names.isdisjoint(inside) or (":" in inside and _has_range(tokens, function))
        if (
            hidden
            or _exchanges(bodies, function)
            or _hands_on(bodies, function)
            or (shared and (short_steps(bodies, function) or _publishes(tokens, function)))
        ):
            yield function


_ATTRIBUTE = frozenset({"__attribute__", "shared"})
_HINTS = frozenset({"32", "31", "32u", "31u", "0x1f", "0x1F", "5", "64", "16"})


def _has_range(tokens: Tokens, function: Function) -> bool:
    """Whether a loop goes over an array: `for (float q : s)`."""
    for place in tokens.named("for", function.head.begin, function.head.end):
        inside = tokens.texts[place + 2 : tokens.partner.get(place + 1, place)]
        if ":" in inside and ";" not in inside:
            return True
    return False


def _knows_width(texts: frozenset[str]) -> bool:
    return not _HINTS.isdisjoint(texts) or any("warp" in text.lower() or text == "WS" for text in texts)


def _exchanges(bodies: Bodies, function: Function) -> bool:
    """Whether, by the tokens alone, an element is written and another statement touches the array before a barrier."""
    tokens = bodies.tokens
    texts = tokens.texts
    first, last = (function.head.body or function.head.begin) + 1, function.head.end
    seen: dict[str, tuple[int, str]] = {}
    statement = 0
    for index in range(first, last):
        text = texts[index]
        if text == ";":
            statement += 1
        elif text in COPIES:
            return True
        elif _stops(text):
            seen.clear()
        base, how = _touched(tokens, index) if text in _TOUCHING else ("", "")
        if base:
            before = seen.get(base)
            if before is not None and before[0] != statement and not before[1] == how == "r":
                return True
            if how == "rw" and not _barrier_follows(tokens, index, last):
                return True
            seen[base] = (statement, how if before is None or before[0] != statement else _both(before[1], how))
    return False


def _publishes(tokens: Tokens, function: Function) -> bool:
    """Whether a single variable in shared memory is set and named again before a barrier: `s = v; w = s;`."""
    texts, first, last = tokens.texts, (function.head.body or function.head.begin) + 1, function.head.end
    for place in tokens.named("__shared__", first, last):
        end = next((i for i in range(place, last) if texts[i] == ";"), last)
        for name in texts[place + 1 : end]:
            named = tokens.named(name, end, last) if texts[end - 1] != "]" else ()
            for one, two in itertools.pairwise(named):
                if texts[one + 1] == "=" and not any(map(_stops, texts[one:two])):
                    return True
    return False


def _touched(tokens: Tokens, index: int) -> tuple[str, str]:
    """The name of what is read or written at a token, and how: `s[i]`, `*(s + i)`, `*p` where a statement begins."""
    texts, kinds = tokens.texts, tokens.kinds
    text, before = texts[index], texts[index - 1]
    if text == "[" and kinds[index - 1] == IDENTIFIER and index in tokens.partner:
        return before, _access_kind(tokens, index)
    if text == "(" and before == "*" and kinds[index + 1] == IDENTIFIER and index in tokens.partner:
        return texts[index + 1], _access_kind(tokens, index)
    if text == "*" and before in _BEFORE_STATEMENTS and kinds[index + 1] == IDENTIFIER:
        return texts[index + 1], _kind_of(texts[index + 2])
    return "", ""


_TOUCHING = frozenset({"[", "(", "*"})
_BEFORE_STATEMENTS = frozenset({";", "{", "}", ")"})


def _hands_on(bodies: Bodies, function: Function) -> bool:
    """Whether an array is the first argument of a call of a helper here, or of two calls with no barrier between."""
    texts, kinds = bodies.tokens.texts, bodies.tokens.kinds
    seen: set[str] = set()
    for index in range((function.head.body or function.head.begin) + 1, function.head.end - 2):
        text = texts[index]
        if _stops(text):
            seen.clear()
        elif text == "(" and kinds[index - 1] == kinds[index + 1] == IDENTIFIER and texts[index + 2] in (",", "+", ")"):
            name = texts[index + 1]
            if name in seen or (
                texts[index - 1] in bodies.by_name and not bodies.by_name[texts[index - 1]][0].has_barrier
            ):
                return True
            seen.add(name)
    return False


def _stops(text: str) -> bool:
    """Whether a name is a barrier's."""
    if text.endswith("async"):
        return False
    return "sync" in text or "SYNC" in text or "barrier" in text.lower() or text.startswith("__threadfence")


def _access_kind(tokens: Tokens, bracket: int) -> str:
    """`w`, `r` or `rw` for the access whose index opens at a bracket; outer dimensions are skipped."""
    after = tokens.partner[bracket] + 1
    while tokens.texts[after] == "[" and after in tokens.partner:
        after = tokens.partner[after] + 1
    return _kind_of(tokens.texts[after])


def _kind_of(follow: str) -> str:
    if follow == "=":
        return "w"
    return "rw" if len(follow) > 1 and follow[-1] == "=" and follow not in ("==", "!=", "<=", ">=") else "r"


def _both(one: str, two: str) -> str:
    return one if one == two else "rw"


def _barrier_follows(tokens: Tokens, index: int, last: int) -> bool:
    """Whether the next statement after the one around a token is a barrier, closing braces skipped."""
    while index < last and tokens.texts[index] != ";":
        index += 1
    while index < last and tokens.texts[index] in (";", "}"):
        index += 1
    while tokens.texts[index + 1] == "::":  # a rewrite may have qualified the name
        index += 2
    return index < last and _stops(tokens.texts[index])
