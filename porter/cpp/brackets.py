"""Pieces of C++ as written: argument lists, template argument lists, names, over the tokens of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from porter.cpp.lex import IDENTIFIER, Tokens

_OPENING = frozenset("([{")
_SPLITS = re.compile(r"[,(\[{<]")
"""First characters of what separates arguments, or holds others."""
_CLOSING = frozenset(")]}")
_ANGLES = {"<": 1, ">": -1, ">>": -2, ">>>": -3}
_NEVER_IN_TEMPLATES = frozenset({";", "{", "}"})
NEVER_IN_TEMPLATE_ARGUMENTS = _NEVER_IN_TEMPLATES | {"||", "<<<", "=", "+=", "++", "--"}
LONGEST_TEMPLATE_ARGUMENTS = 300


def words(text: str) -> frozenset[str]:
    """The blank-separated words of a text."""
    return frozenset(text.split())


def written(tokens: Tokens, first: int, last: int) -> str:
    """The tokens [first, last) with comments and line splices gone and each stretch of blanks one blank."""
    if first >= last:
        return ""
    texts, starts = tokens.texts, tokens.starts
    text = texts[first]
    if first + 1 == last:
        return text
    parts = [text]
    end = starts[first] + len(text)
    for index in range(first + 1, last):
        start, text = starts[index], texts[index]
        if start > end and (start == end + 1 or not _glued(tokens, end, start)):
            parts.append(" ")
        parts.append(text)
        end = start + len(text)
    return "".join(parts)


def _glued(tokens: Tokens, start: int, end: int) -> bool:
    """Whether a gap between two tokens is nothing but the backslash of a line splice."""
    return tokens.text[start:end] in ("\\\n", "\\\r\n")


def closing(tokens: Tokens, index: int, last: int) -> int | None:
    """The partner of an opening bracket, if it comes before `last`."""
    partner = tokens.partner.get(index)
    return partner if partner is not None and index < partner < last else None


def template_end(tokens: Tokens, index: int, last: int, *, parameters: bool = False) -> int | None:
    """Index after the `>` that closes the `<` at `index`; None when it is a comparison."""
    known = cast("dict[tuple[int, int, bool], int | None]", tokens.memo.setdefault("template ends", {}))
    limit = min(last, index + LONGEST_TEMPLATE_ARGUMENTS)
    key = index, limit, parameters
    if key not in known:
        known[key], still_open = _template_end(tokens, index, limit, parameters=parameters)
        for place in still_open:  # what ends this one ends them, and they are asked about next
            known.setdefault((place, min(last, place + LONGEST_TEMPLATE_ARGUMENTS), parameters), None)
    return known[key]


def _template_end(
    tokens: Tokens, index: int, limit: int, *, parameters: bool
) -> tuple[int | None, list[int] | tuple[()]]:
    """The index; and where it is None because of a token that no list of arguments holds, each `<` open before it."""
    never = _NEVER_IN_TEMPLATES if parameters else NEVER_IN_TEMPLATE_ARGUMENTS
    opened: list[int] = []
    while index < limit:
        text = tokens.texts[index]
        if text in _OPENING:
            partner = closing(tokens, index, limit)
            if partner is None:
                return None, ()
            index = partner
        elif text in _ANGLES:
            change = _ANGLES[text]
            if change > 0:
                opened += [index] * change
            elif -change >= len(opened):
                return (index + 1 if -change == len(opened) else None), ()
            else:
                del opened[change:]
        elif text in _CLOSING or text in never:
            return None, opened
        index += 1
    return None, ()


def closing_angle(tokens: Tokens, opening: int) -> tuple[int, int] | None:
    """The token that closes a `<`, and which of its characters does: `A<B<int>>` has two lists end in one token."""
    depth, index = 0, opening
    while index < len(tokens):
        text = tokens.texts[index]
        if text in _OPENING:
            index = tokens.partner.get(index, len(tokens))
        elif text == ";" or text in _CLOSING:
            return None
        elif text == "<":
            depth += 1
        elif text in (">", ">>", ">>>"):
            if depth <= len(text):
                return index, depth - 1
            depth -= len(text)
        index += 1
    return None


def template_start(tokens: Tokens, index: int, first: int, *, parameters: bool = False) -> int | None:
    """Index of the `<` that the last `>` of the token at `index` closes, not before `first`."""
    never = _NEVER_IN_TEMPLATES if parameters else NEVER_IN_TEMPLATE_ARGUMENTS
    depth = 0
    limit = max(first, index - LONGEST_TEMPLATE_ARGUMENTS)
    while index >= limit:
        text = tokens.texts[index]
        if text in _CLOSING:
            partner = tokens.partner.get(index)
            if partner is None or partner < limit:
                return None
            index = partner
        elif text in _ANGLES:
            depth -= _ANGLES[text]
            if depth <= 0:
                return index if depth == 0 else None
        elif text in _OPENING or text in never:
            return None
        index -= 1
    return None


def split_commas(tokens: Tokens, first: int, last: int) -> list[tuple[int, int]]:
    """The comma-separated stretches of [first, last); commas inside brackets and template arguments stay."""
    stretches: list[tuple[int, int]] = []
    begin = index = first
    line = tokens.first_characters
    while (match := _SPLITS.search(line, index, last)) is not None:
        index = match.start()
        text = tokens.texts[index]
        if text == ",":
            stretches.append((begin, index))
            begin = index + 1
        elif text in _OPENING:
            index = closing(tokens, index, last) or index
        elif text == "<" and index > first and tokens.kinds[index - 1] == IDENTIFIER:
            after = template_end(tokens, index, last)
            if after is not None and _follows_template(tokens, after, last):
                index = after - 1
        index += 1
    if begin < last or stretches:
        stretches.append((begin, last))
    return stretches


def _follows_template(tokens: Tokens, index: int, last: int) -> bool:
    """Whether what stands after a `>` lets it close template arguments rather than compare."""
    if index >= last:
        return True
    text = tokens.texts[index]
    return text in ("(", "{", "::", ",", ")", "*", "&", "&&", "...", ">", "=") or (tokens.kinds[index] == IDENTIFIER)


def argument_texts(tokens: Tokens, opening: int, last: int) -> list[str]:
    """The arguments of the bracket at `opening`, as written."""
    partner = closing(tokens, opening, last)
    if partner is None:
        return []
    return [written(tokens, first, end) for first, end in split_commas(tokens, opening + 1, partner)]


def code_runs(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """Token ranges to be read on their own: the code between directives, and each directive."""
    begin = 0
    for directive in tokens.directives:
        if begin < directive.first:
            yield begin, directive.first
        if directive.first < directive.last:
            yield directive.first, directive.last
        begin = directive.last
    if begin < len(tokens):
        yield begin, len(tokens)
