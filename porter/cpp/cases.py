"""Labels of a `switch`, and what is theirs alone."""

from __future__ import annotations

from porter.cpp.lex import Tokens

_LEAVES = frozenset({"break", "return", "throw", "continue", "goto"})
_BORDERS = frozenset(";{}")


def case_alone(tokens: Tokens, first: int, last: int) -> tuple[int, int] | None:
    """First and last token of a case with its statements, given those of its value, if nothing else leads into them.

    None where the value is no label, shares its statements with another label, or the case before may go on into it.
    """
    label = first - 1
    if tokens.texts[label] != "case" or tokens.texts[last + 1] != ":" or not _is_left(tokens, label - 1):
        return None
    end = _end(tokens, last + 2)
    if end is None or any(tokens.directive_of(index) is not None for index in range(label - 1, end + 1)):
        return None
    return label, end


def _is_left(tokens: Tokens, index: int) -> bool:
    """Whether what ends with this token does not go on to what follows it: the switch begins, or is left."""
    texts, partner = tokens.texts, tokens.partner
    if texts[index] == "{":
        return texts[index - 1] == ")" and texts[partner.get(index - 1, 0) - 1] == "switch"
    if texts[index] == "}":
        # A block of another statement may not be entered at all; that behind a label always is.
        if texts[partner.get(index, 0) - 1] != ":":
            return False
        index -= 1
    return texts[index] == ";" and texts[_statement(tokens, index)] in _LEAVES


def _statement(tokens: Tokens, end: int) -> int:
    """Where the statement begins, behind its labels, that a `;` ends."""
    texts = tokens.texts
    start = end - 1
    while start > 0 and texts[start] not in _BORDERS:
        start = tokens.partner.get(start, start) - 1 if texts[start] in (")", "]") else start - 1
    start += 1
    while texts[start] in ("case", "default"):
        start = next((index for index in range(start, end) if texts[index] == ":"), end - 1) + 1
    return start


def _end(tokens: Tokens, start: int) -> int | None:
    """The last token before the next label or the end of the switch; None where there is nothing."""
    index = start
    while index < len(tokens) and tokens.texts[index] not in ("case", "default", "}"):
        index = tokens.partner.get(index, index) + 1 if tokens.texts[index] in ("(", "[", "{") else index + 1
    return index - 1 if start < index < len(tokens) else None
