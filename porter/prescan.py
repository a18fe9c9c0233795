"""A quick look at the raw bytes of a file: what it includes, and which names it seems to declare."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from porter.editors import editor_spans, is_for_editor

# Every repetition that could start again at each line is bounded: no input makes this quadratic.
_KEYWORD = (
    rb"(?:return|else|do|case|goto|throw|delete|new|using|co_return|co_yield|define|public|private|operator|typedef)\b"
)
_LINE = re.compile(
    rb"""\n[ \t]*(?:
      \#[ \t]*(?:define[ \t]+(\w+) | (?:include|include_next|import)[ \t]*[<"]([^>"\n]+)[>"])
    | (?:typedef[ \t][^;{\n]{0,300}?[ \t*&](\w+)[ \t]*(?:\[[^\]\n]*\])?;)
    | (?:using[ \t]+(\w+)[ \t]*=)
    | (?:(?:typedef[ \t]+)?(?:struct|class|union|enum(?:[ \t]+class|[ \t]+struct)?)[ \t]+
        (?:__\w+__[ \t]*(?:\([^)\n]*\)+)?[ \t]*|alignas\([^)\n]*\)[ \t]*)*(\w+)[ \t]*(?:final[ \t]*)?[:{\n\r])
    | \}[ \t]*(\w+)[ \t]*[;,]
    | (?:extern[ \t]*"C"[ \t]*)?(?:template[ \t]*<[^;{}\n]{0,300}>[ \t]*)?
        (?:(?!KEYWORD)[A-Za-z_>][\w:<>,]*[ \t*&]+){0,11}
        (?!KEYWORD)[A-Za-z_>][\w:<>,]*(?<!,)[ \t*&]+(\w+)[ \t]*[=;,(\[{]
    | (\w+)[ \t]*\([^;{}]{0,2000}\)\s*\{
    )""".replace(b"KEYWORD", _KEYWORD),
    re.VERBOSE,
)
_OPAQUE = re.compile(rb"\bCU\w+_st\b")
"""CUDA's own structs behind its handles: who declares a handle by them declares CUDA's."""
_ENUM = re.compile(rb"\benum\b[^;{}()]{0,200}\{([^{}]*)\}")
_ENUMERATOR = re.compile(rb"(?:^|,)\s*(\w+)")
_COMMENT = re.compile(rb"/\*(?s:.)*?(?:\*/|\Z)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_INCLUDE_GROUP = 2


class Scan(NamedTuple):
    """What the quick look found; names are only those that the caller asked about."""

    includes: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()


NOTHING = Scan()


def scan(data: bytes, is_interesting: Callable[[str], bool]) -> Scan:
    """Includes and declared names of one file, whatever its bytes are.

    Lines that begin like a declaration at any depth count, so that members and shims are found; text in comments does
    not, and neither does code for an editor alone.
    """
    text = b"\n" + data.removeprefix(_BYTE_ORDER_MARK)
    for_editor = editor_spans(text)
    includes: dict[str, None] = {}
    declared: set[str] = set()
    comments: list[int] | None = None
    for match in _LINE.finditer(text):
        group = match.lastindex or 0
        name = match[group].decode("latin-1")
        if group == _INCLUDE_GROUP:
            includes[name] = None
        elif name not in declared and is_interesting(name) and not _is_handle(text, match):
            comments = _comment_edges(text) if comments is None else comments
            place = match.start(group)
            if bisect.bisect_right(comments, place) % 2 == 0 and not is_for_editor(for_editor, place):
                declared.add(name)
    if b"enum" in text:
        declared.update(name for name in _enumerators(text) if is_interesting(name))
    return Scan(tuple(includes), tuple(sorted(declared)))


def _is_handle(text: bytes, match: re.Match[bytes]) -> bool:
    """Whether a type is declared as CUDA does it: `using cudaStream_t = CUstream_st *;`"""
    end = text.find(b"\n", match.end())
    return _OPAQUE.search(text, match.start(), end if end >= 0 else len(text)) is not None


def _comment_edges(text: bytes) -> list[int]:
    """Begin and end of each block comment, flat and in order."""
    return [edge for match in _COMMENT.finditer(text) for edge in match.span()]


def _enumerators(text: bytes) -> Iterator[str]:
    for body in _ENUM.findall(text):
        for name in _ENUMERATOR.findall(body):
            yield name.decode("latin-1")
