"""Code for GPUs from some generation on that stands alone: there is nothing else to compile in its place."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from porter.cpp.conditionals import Group, Groups, find_groups, group_at, knows_hip
from porter.cpp.constants import number
from porter.cpp.lex import Directive, Tokens
from porter.engine.unit import Unit
from porter.model import Span
from porter.warp.ptx.asm_macros import statements
from porter.warp.ptx.foreign import is_foreign
from porter.warp.ptx.table import translate
from porter.warp.ptx.template import Unknown

NAME = "__CUDA_ARCH__"
SOLE = "PORTER_CUDA_ARCH_SOLE"
_USUAL, _NEWEST = 700, 800
"""What arch.hpp says of the two."""
_STOPS = re.compile(r"assert|trap|brkpt|abort|unsupported|not_implemented|no_device_code|printf", re.IGNORECASE)


def sole_code(unit: Unit) -> frozenset[int]:
    """Mentions of `__CUDA_ARCH__` in conditions such as `>= 800` that hold alone, without or with a useless `#else`.

    Nothing in a file that has code for older GPUs under a condition of its own, and no branch with assembly that stays.
    """
    tokens = unit.tokens
    places = [(index, directive) for index in tokens.names.get(NAME, ()) if (directive := tokens.directive_of(index))]
    bounds = {index: _bound(tokens, index) for index, _ in places}
    groups = find_groups(tokens)
    inverse = {
        directive.start for index, directive in places if _leaves_older_out(unit, groups, directive, bounds[index])
    }
    older = (bounds[index] for index, directive in places if directive.start not in inverse)
    if any(bound is not None and bound[0] in ("<", "<=") and bound[1] > _USUAL for bound in older):
        return frozenset()
    by_line: dict[int, list[tuple[str, int] | None]] = {}
    for index, directive in places:
        by_line.setdefault(directive.start, []).append(bounds[index])
    found = {index for index, directive in places if directive.start in inverse} | {
        index
        for index, directive in places
        if _asks_for_newer(by_line[directive.start])
        and (group := _group_of(groups, directive)) is not None
        and not knows_hip(group, tokens)
        and _is_alone(unit, group, directive)
    }
    return frozenset(found)


def _leaves_older_out(unit: Unit, groups: Groups, directive: Directive, bound: tuple[str, int] | None) -> bool:
    """`#if __CUDA_ARCH__ < 800` with nothing before an `#else` that can be compiled here."""
    if bound is None or bound[0] not in ("<", "<=") or not _USUAL < bound[1] + (bound[0] == "<=") <= _NEWEST:
        return False
    group = _group_of(groups, directive)
    if (
        group is None
        or [one.name for one in group.directives] != ["if", "else", "endif"]
        or knows_hip(group, unit.tokens)
    ):
        return False
    first, second = _branches(group)
    starts = unit.tokens.starts
    is_empty = bisect.bisect_left(starts, first.start) == bisect.bisect_left(starts, first.end)
    return is_empty and _translates(unit, second)


def _bound(tokens: Tokens, index: int) -> tuple[str, int] | None:
    """`__CUDA_ARCH__ >= 800` -> (">=", 800)"""
    after = tokens.texts[index + 1 : index + 3]
    value = number(after[1]) if len(after) == 2 else None
    return None if value is None else (after[0], value)


def _asks_for_newer(bounds: list[tuple[str, int] | None]) -> bool:
    lowest = [bound[1] + (bound[0] == ">") if bound[0] in (">", ">=") else 0 for bound in bounds if bound is not None]
    return bool(lowest) and min(lowest) > 0 and max(lowest) <= _NEWEST and max(lowest) > _USUAL


def _group_of(groups: Groups, directive: Directive) -> Group | None:
    """The group that a directive belongs to: one within a branch belongs to none."""
    group = group_at(groups, directive.start)
    return group if group is not None and directive in group.directives else None


def _is_alone(unit: Unit, group: Group, directive: Directive) -> bool:
    place = group.directives.index(directive)
    if directive.name not in ("if", "elif") or len(group.directives) > place + 3:
        return False
    branches = list(_branches(group))
    if len(group.directives) == place + 3 and not _only_stops(unit, group.directives[place + 1], branches[place + 1]):
        return False
    return _translates(unit, branches[place])


def _branches(group: Group) -> Iterator[Span]:
    for first, second in zip(group.directives, group.directives[1:], strict=False):
        yield Span(first.end, second.start)


def _only_stops(unit: Unit, directive: Directive, branch: Span) -> bool:
    """Whether an `#else` does nothing but complain."""
    tokens = unit.tokens
    first, last = (bisect.bisect_left(tokens.starts, offset) for offset in branch)
    texts = tokens.texts[first:last]
    return directive.name == "else" and (not texts or ("=" not in texts and any(map(_STOPS.search, texts))))


def _translates(unit: Unit, branch: Span) -> bool:
    """Whether none of the assembly of a branch is left as it is."""
    for assembly in statements(unit):
        if branch.start <= assembly.span.start < branch.end and not is_foreign(unit, assembly):
            try:
                translate(assembly, unit.support.registers)
            except Unknown:
                return False
    return True
