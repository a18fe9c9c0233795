"""The `#if ... #elif ... #else ... #endif` groups of a file, nested, as written."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.lex import Directive, Tokens
from porter.cpp.nesting import Nesting
from porter.model import Span

OPENS = frozenset({"if", "ifdef", "ifndef"})
CONTINUES = frozenset({"elif", "elifdef", "elifndef", "else"})


@dataclass(frozen=True, slots=True)
class Group:
    """One conditional: its directives from `#if` to `#endif`, and the group around it."""

    directives: tuple[Directive, ...]
    parent: Group | None

    @property
    def span(self) -> Span:
        """From the first character of `#if` to the end of `#endif`."""
        return Span(self.directives[0].start, self.directives[-1].end)

    def names(self, tokens: Tokens) -> frozenset[str]:
        """Identifiers in the conditions of all branches."""
        return frozenset(
            tokens.texts[index] for directive in self.directives for index in range(directive.first, directive.last)
        )

    def around(self) -> Iterator[Group]:
        """This group and those that it lies in."""
        group: Group | None = self
        while group is not None:
            yield group
            group = group.parent


class Groups(tuple[Group, ...]):
    """The groups of a file, inner ones before the group around them."""

    @functools.cached_property
    def nesting(self) -> Nesting:
        """Where they are."""
        return Nesting([(group.span.start, group.span.end + 1) for group in self])


def find_groups(tokens: Tokens) -> Groups:
    """Complete groups, inner ones before the group around them; unbalanced directives belong to none."""
    open_groups: list[list[Directive]] = []
    closed: list[tuple[int, list[Directive]]] = []
    for directive in tokens.directives:
        if directive.name in OPENS:
            open_groups.append([directive])
        elif directive.name in CONTINUES and open_groups:
            open_groups[-1].append(directive)
        elif directive.name == "endif" and open_groups:
            group = open_groups.pop()
            group.append(directive)
            closed.append((len(open_groups), group))
    return Groups(reversed(_linked(closed)))


def _linked(closed: list[tuple[int, list[Directive]]]) -> list[Group]:
    """Outer groups first, so that each knows its parent."""
    groups: list[Group] = []
    stack: list[tuple[int, Group]] = []
    for depth, directives in reversed(closed):
        while stack and stack[-1][0] >= depth:
            stack.pop()
        parent = next((group for _, group in reversed(stack) if _inside(directives[0], group)), None)
        group = Group(tuple(directives), parent)
        groups.append(group)
        stack.append((depth, group))
    return groups


def _inside(directive: Directive, group: Group) -> bool:
    return group.directives[0].start < directive.start < group.directives[-1].end


def group_at(groups: Groups, offset: int) -> Group | None:
    """The innermost group around an offset."""
    number = next(groups.nesting.around(offset + 1), None)
    return None if number is None else groups[number]


_HIP_MACRO = re.compile(r"(?:^|_)HIP(?:$|_|CC)|ROCM|AMDGCN|__HCC__|__gfx|__GFX")


def knows_hip(group: Group | None, tokens: Tokens) -> bool:
    """Whether a condition here or further out asks for HIP, so that the project has made the choice itself."""
    if group is None:
        return False
    return any(
        any(map(_HIP_MACRO.search, outer.names(tokens))) or _is_beside_hip(outer, tokens) for outer in group.around()
    )


_OF_COMPILER = frozenset({"__NVCC__", "__CUDACC__"})
_FOR_HIP = frozenset({"__HIP__", "__HIPCC__", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__"})


def _is_beside_hip(group: Group, tokens: Tokens) -> bool:
    """Whether `#ifdef __NVCC__ ... #endif` and the same for HIP's compiler follow each other, and nothing between."""
    first, last = group.directives[0], group.directives[-1]
    if len(group.directives) != len(("if", "endif")) or not _asks(first, tokens, _OF_COMPILER):
        return False
    every = tokens.directives
    place = bisect.bisect_left(every, last.start, key=lambda directive: directive.start)
    after = every[place + 1] if place + 1 < len(every) else None
    if after is not None and after.first == last.last and _asks(after, tokens, _FOR_HIP):
        return True
    before = bisect.bisect_left(every, first.start, key=lambda directive: directive.start) - 1
    if before < 0 or every[before].name != "endif" or every[before].last != first.first:
        return False
    depth = 0
    while before >= 0:
        depth += (every[before].name == "endif") - (every[before].name in OPENS)
        if depth == 0:
            return _asks(every[before], tokens, _FOR_HIP)
        before -= 1
    return False


def _asks(directive: Directive, tokens: Tokens, macros: frozenset[str]) -> bool:
    """Whether it is `#ifdef X` or `#if defined(X)` of one of some macros."""
    words = [text for text in tokens.texts[directive.first : directive.last] if text not in ("defined", "(", ")")]
    return directive.name in ("if", "ifdef") and len(words) == 1 and words[0] in macros
