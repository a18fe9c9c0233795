"""Where new #include lines go: a pure function of the file's directives."""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.cpp.conditionals import OPENS
from porter.cpp.lex import Directive, Tokens
from porter.model import Edit
from porter.source import SourceFile

_ALLOWANCE = "porter: allow["
_FOR_BLAS = re.compile(r"porter/(?:hipblas_types|compute_type)\.hpp")
_BLAS = re.compile(r"(?:^|/)(?:cu|hip)blas\w*\.h$")
_LEADING = re.compile(r"(?:\s+|//[^\n]*|/\*(?s:.)*?\*/)*")


def include_edit(source: SourceFile, tokens: Tokens, lines: Iterable[str], changes: Iterable[Edit] = ()) -> Edit | None:
    """One insertion that adds `#include` lines where every configuration of the file sees them.

    What hipBLAS's header asks for stands before that header, in whatever part of the file it is included.
    Where one of the changes takes that place away, in a file with its guard within a statement, it is the beginning.
    """
    wanted = list(lines)
    if not wanted:
        return None
    early = any(_FOR_BLAS.search(line) for line in wanted)
    place = _place(source, tokens, early)
    code = _first_code(source, tokens)
    if any(code <= change.start < place for change in changes):  # the first #include stands behind what needs these
        start = _line_start(source, code)
        place = code if any(one.start < start < one.end for one in tokens.comments) else start
    offset = _above_allowances(source, tokens, place)
    if any(change.start < offset < change.end for change in changes):
        offset = source.body_start
    end = source.newline
    text = "".join(f"#include {line}{end}" for line in wanted)
    if offset > source.body_start and source.text[offset - 1] != "\n":
        text = end + text
    return Edit(offset, offset, text)


def _place(source: SourceFile, tokens: Tokens, early: bool) -> int:
    """A line start: before the first unconditional #include, or a conditional part with code before that (`early`: with
    hipBLAS's or cuBLAS's header); else after the guard or the first comment."""
    guard = _guard(tokens)
    blas = {include.line_start for include in tokens.includes if early and _BLAS.search(include.name)}
    code = _first_code(source, tokens)
    depth = opened = 0
    after_guard: int | None = None
    for number, directive in enumerate(tokens.directives):
        if depth and directive.start > code > opened:
            return _line_start(source, opened)
        if directive.name in OPENS:
            opened = opened if depth else directive.start
            depth += number != guard
        elif directive.name == "endif":
            depth -= 1
        elif depth and directive.start in blas:
            return _line_start(source, opened)
        elif depth == 0 and directive.name.startswith("include"):
            if not _is_in_braces(tokens, directive):
                return _line_start(source, directive.start)
            break
        elif depth == 0 and after_guard is None and _is_guard_line(tokens, directive, number, guard):
            after_guard = _next_line(source, directive.end)
    if after_guard is not None:
        return after_guard
    return _after_comment(source, tokens)


def _first_code(source: SourceFile, tokens: Tokens) -> int:
    """Where the first token stands that is in no directive."""
    return next((tokens.starts[i] for i in range(len(tokens)) if tokens.directive_of(i) is None), len(source.text))


def _is_in_braces(tokens: Tokens, directive: Directive) -> bool:
    """Whether `namespace mine {` or `extern "C" {` is open there."""
    end = directive.first
    return any(
        tokens.texts[index] == "{" and tokens.partner.get(index, end) >= end and tokens.directive_of(index) is None
        for index in range(end)
    )


def _above_allowances(source: SourceFile, tokens: Tokens, offset: int) -> int:
    """A line start above the lines that are comments with a `porter: allow` for the line at an offset."""
    for comment in reversed([comment for comment in tokens.comments if comment.end <= offset]):
        start = _line_start(source, comment.start)
        alone = source.text[start : comment.start].isspace() or start == comment.start
        if not alone or _next_line(source, comment.end) != offset or _ALLOWANCE not in source.text[start:offset]:
            break
        offset = start
    return offset


def _guard(tokens: Tokens) -> int | None:
    """Index of an `#ifndef X` that is directly followed by `#define X` and closes the file."""
    directives = tokens.directives
    if len(directives) < 3 or directives[0].name != "ifndef" or directives[1].name != "define":
        return None
    if directives[0].first >= directives[0].last or directives[1].first >= directives[1].last:
        return None
    same = tokens.texts[directives[0].first] == tokens.texts[directives[1].first]
    closes = directives[-1].name == "endif" and directives[-1].last == len(tokens)
    return 0 if same and closes else None


def _is_guard_line(tokens: Tokens, directive: Directive, number: int, guard: int | None) -> bool:
    if directive.name == "pragma":
        return tokens.texts[directive.first : directive.last] == ["once"]
    return guard is not None and number == guard + 1


def _after_comment(source: SourceFile, tokens: Tokens) -> int:
    """The first line after the comments at the top of the file."""
    start = source.body_start
    first = tokens.starts[0] if len(tokens) else len(source.text)
    if tokens.directives:
        first = min(first, tokens.directives[0].start)
    leading = [comment for comment in tokens.comments if comment.end <= first]
    if not leading:
        return start
    return _next_line(source, leading[-1].end) if _next_line(source, leading[-1].end) <= first else start


def _line_start(source: SourceFile, offset: int) -> int:
    line, _ = source.position(offset)
    return max(source.line_start(line), source.body_start)


def _next_line(source: SourceFile, offset: int) -> int:
    found = source.text.find("\n", offset)
    return len(source.text) if found < 0 else found + 1
