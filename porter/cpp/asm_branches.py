"""Inline assembly with `#if` between its strings: the statement of the branch that is compiled."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.conditionals import CONTINUES, OPENS
from porter.cpp.lex import Tokens, lex
from porter.cpp.preprocessor import Lookup, condition_holds


def of_one_branch(tokens: Tokens, first: int, closed: int, meanings: Lookup) -> Tokens | None:
    """The tokens of a statement alone, each at its place in it; None where a condition has no answer."""
    start, end = tokens.starts[first], tokens.end(min(closed + 1, len(tokens) - 1))
    left = list(_left_out(tokens, start, end, meanings))
    if None in left:
        return None
    text = tokens.text[start:end]
    for span in left:
        if span is not None:
            begin, stop = span[0] - start, span[1] - start
            text = f"{text[:begin]}{' ' * (stop - begin)}{text[stop:]}"
    return lex(text)


def _left_out(tokens: Tokens, start: int, end: int, meanings: Lookup) -> Iterator[tuple[int, int] | None]:
    """The directives and what they keep from the compiler; None once for what cannot be told."""
    open_groups: list[tuple[bool, bool]] = []  # whether this branch is compiled, whether one before it was
    dead_from = start
    for directive in tokens.directives_in(start, end):
        if not all(taken for taken, _ in open_groups):
            yield dead_from, directive.start
        yield directive.start, directive.end
        if directive.name in OPENS or (directive.name in CONTINUES and open_groups):
            done = directive.name in CONTINUES and any(open_groups.pop())
            answer = False if done else condition_holds(tokens, directive, meanings)
            if answer is None:
                yield None
                return
            open_groups.append((answer, done))
        elif directive.name == "endif" and open_groups and any(open_groups[-1]):
            open_groups.pop()
        else:  # no group of one statement's, or one of which nothing would be left
            yield None
            return
        dead_from = directive.end
    if open_groups:
        yield None
