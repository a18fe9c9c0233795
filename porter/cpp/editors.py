"""Code for the eyes of an editor alone: `#ifdef __INTELLISENSE__` and its kin, which no compiler takes."""

from __future__ import annotations

import re

NAMES = (
    *(b"__INTELLISENSE__", b"__CDT_PARSER__", b"__JETBRAINS_IDE__", b"__CLION_IDE__"),
    *(b"__RESHARPER__", b"Q_CREATOR_RUN", b"__CLANGD__"),
)
_MACROS = rb"(?:" + b"|".join(NAMES) + rb")"
_DEFINED = re.compile(rb"\(*\s*(?:defined\b\s*\(?\s*)?" + _MACROS + rb"[\s)]*")
_UNDEFINED = re.compile(rb"!\s*defined\b\s*\(?\s*" + _MACROS + rb"[\s)]*")
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b([^\n]*)", re.MULTILINE)
_COMMENT = re.compile(rb"//.*|/\*.*?(?:\*/|$)")


def editor_spans(data: bytes) -> tuple[tuple[int, int], ...]:
    """Byte ranges of the branches that are there for an editor, in order."""
    if not any(name in data for name in NAMES):
        return ()
    spans: list[tuple[int, int]] = []
    open_groups: list[tuple[int | None, bool]] = []
    for match in _DIRECTIVE.finditer(data):
        name, condition = match[1], _COMMENT.sub(b"", match[2]).strip()
        if name.startswith(b"if"):
            open_groups.append((match.end() if _asks_editor(name, condition) else None, _excludes(name, condition)))
        elif open_groups:
            start, otherwise = open_groups.pop()
            if start is not None:
                spans.append((start, match.start()))
            if name != b"endif":
                open_groups.append((match.end() if otherwise and name == b"else" else None, False))
    return tuple(sorted(spans))


def is_for_editor(spans: tuple[tuple[int, int], ...], offset: int) -> bool:
    """Whether an offset lies in one of the ranges."""
    return any(start <= offset < end for start, end in spans)


def _asks_editor(name: bytes, condition: bytes) -> bool:
    """Whether the condition holds in an editor alone: each alternative asks for one."""
    if name == b"ifndef":
        return False
    return all(
        any(_DEFINED.fullmatch(factor.strip()) for factor in alternative.split(b"&&"))
        for alternative in condition.split(b"||")
    )


def _excludes(name: bytes, condition: bytes) -> bool:
    """Whether the condition holds everywhere but in an editor, so that `#else` is for that one."""
    if name == b"ifndef":
        return re.fullmatch(_MACROS, condition) is not None
    return name == b"if" and _UNDEFINED.fullmatch(condition) is not None
