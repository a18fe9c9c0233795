"""What the kernels, device functions and macros of a file call, with the work that is left in each."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from porter.cpp.brackets import written
from porter.cpp.calls import calls_between, macros_with_bodies
from porter.cpp.heads import find_heads
from porter.cpp.lex import Tokens
from porter.cpp.scopes import find_scopes, qualify
from porter.engine.dialect import Dialects
from porter.model import Calls, Effort, Finding, Span

_ARGUMENTS = re.compile(r"<[^<>]*>")


class _Place(NamedTuple):
    """A function or macro: its extent in bytes, its name, and the tokens in which it calls others."""

    span: Span
    name: str
    first: int
    last: int
    begin: int | None
    """Where its parameters begin; None for a macro."""


def calls_of(
    tokens: Tokens, dialects: Dialects, findings: Iterable[Finding], headed: Iterable[tuple[Span, str]] = ()
) -> tuple[Calls, ...]:
    """One row per function or macro that the port's device code can have; `findings` are all of the file.

    `headed` are functions whose head a macro of another file writes.
    """
    places = sorted([*_functions(tokens), *_headed(tokens, headed)])
    if "#" in tokens.text:
        places = sorted([*places, *_macros(tokens, places)])
    if not places:
        return ()
    left = _left(places, findings)
    return tuple(
        Calls(place.name, left.get(number, Effort.NONE).value, _callees(tokens, dialects, place))
        for number, place in enumerate(places)
        if dialects.at(place.span.start).in_device_pass
    )


def _functions(tokens: Tokens) -> Iterator[_Place]:
    heads = [head for marker in ("__global__", "__device__") for head in find_heads(tokens, marker)]
    scopes = find_scopes(tokens) if heads else ()
    for head in heads:
        if head.is_definition:
            name = qualify(scopes, head.marker, written(tokens, head.name_first, head.name_last))
            span = Span(tokens.starts[head.begin], tokens.end(head.end - 1))
            yield _Place(span, without_arguments(name), head.closing + 1, head.end, head.opening)


def _headed(tokens: Tokens, functions: Iterable[tuple[Span, str]]) -> Iterator[_Place]:
    for span, name in functions:
        first = tokens.at(span.start)
        yield _Place(span, without_arguments(name), first, tokens.at(span.end - 1), first)


def without_arguments(name: str) -> str:
    """A qualified name without template arguments; those of an operator (`operator<`) are none."""
    scope, separator, last = name.rpartition("operator")
    if separator:
        return without_arguments(scope) + separator + last
    while "<" in name and (shorter := _ARGUMENTS.sub("", name)) != name:
        name = shorter
    return name


def _macros(tokens: Tokens, functions: list[_Place]) -> Iterator[_Place]:
    """Macros whose body is no function of its own, and calls something or holds assembly."""
    starts = [place.span.start for place in functions]
    for directive, body in macros_with_bodies(tokens):
        place = bisect.bisect_left(starts, directive.start)
        if place < len(starts) and starts[place] < directive.end:
            continue
        if "(" in tokens.first_characters[body : directive.last]:
            span, name = Span(directive.start, directive.end), tokens.texts[directive.first]
            yield _Place(span, name, body, directive.last, None)


def _left(places: list[_Place], findings: Iterable[Finding]) -> dict[int, Effort]:
    """The most work that findings leave in each place; what stands in none is left out."""
    starts = [place.span.start for place in places]
    found: dict[int, Effort] = {}
    for finding in findings:
        if finding.suppressed is not None or finding.effort is Effort.NONE:
            continue
        number = bisect.bisect_right(starts, finding.span.start) - 1
        if number >= 0 and finding.span.start < places[number].span.end:
            known = found.get(number, Effort.NONE)
            found[number] = max(known, finding.effort, key=lambda effort: effort.rank)
    return found


def _callees(tokens: Tokens, dialects: Dialects, place: _Place) -> tuple[str, ...]:
    found = calls_between(tokens, place.first, place.last, place.begin)
    if dialects.regions[1:]:
        found = ((name, index) for name, index in found if dialects.at(tokens.starts[index]).in_device_pass)
    return tuple(dict.fromkeys(name for name, _ in found if not name.startswith("std::")))
