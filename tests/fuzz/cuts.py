"""Sources with their end cut off, their beginning cut off, or one token gone: rules that look ahead fall."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.lex import lex


def cuts(text: str) -> Iterator[str]:
    """A source after each of its tokens, before each, and without each."""
    tokens = lex(text)
    for index in range(len(tokens)):
        start, end = tokens.starts[index], tokens.end(index)
        yield text[:end]
        yield text[start:]
        yield text[:start] + text[end:]
