"""`// porter: allow[CODE] reason` comments: which findings they cover, and which are wrong or cover nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from porter.cpp.lex import Tokens
from porter.model import Finding, Span
from porter.source import SourceFile

_ALLOW = re.compile(r"porter:\s*allow\[([^\]\n]*)\]([^\n]*)")


@dataclass(frozen=True, slots=True)
class Allowance:
    """One allow comment; it covers its own line, or the next line when it stands alone."""

    codes: frozenset[str]
    reason: str
    line: int
    span: Span
    number: int = 0
    """Of the comment in its file, which edits do not change."""


def allowances(source: SourceFile, tokens: Tokens) -> tuple[Allowance, ...]:
    """All allow comments of a file."""
    if "porter:" not in source.text:
        return ()
    found: list[Allowance] = []
    for comment in tokens.comments:
        text = source.text[comment.start : comment.end]
        for match in _ALLOW.finditer(text):
            start = comment.start + match.start()
            codes = frozenset(code.strip() for code in match.group(1).split(",") if code.strip())
            reason = match.group(2).strip().removesuffix("*/").strip()
            line, column = source.position(comment.start)
            alone = not source.line_text(line)[: column - 1].strip()
            last, _ = source.position(max(comment.start, comment.end - 1))
            found.append(Allowance(codes, reason, last + 1 if alone else line, Span(start, comment.end), len(found)))
    return tuple(found)


def covering(finding: Finding, by_line: Mapping[int, list[Allowance]]) -> Allowance | None:
    """The allow comment that covers a finding."""
    for allowance in by_line.get(finding.line, ()):
        if allowance.reason and words_for(finding) & allowance.codes:
            return allowance
    return None


def words_for(finding: Finding) -> frozenset[str]:
    """What a comment may call a finding: its code, or its rule."""
    return frozenset({finding.code, finding.rule})


def idle(
    allowed: Iterable[Allowance], covered: Iterable[tuple[int, str]], asked: frozenset[str], known: frozenset[str]
) -> Iterator[tuple[Allowance, str]]:
    """Comments that cover nothing, or name what no rule is called, each with what to say of it.

    `covered` are the numbers of comments with the words that findings were covered by, `asked` the words for rules that
    had their say in all of the file, `known` those for all there are.
    """
    used = set(covered)
    for allowance in allowed:
        if not allowance.reason:
            continue
        foreign = sorted(allowance.codes - known)
        unused = sorted(code for code in allowance.codes & asked if (allowance.number, code) not in used)
        said = [f"no finding is called {', '.join(foreign)}"] if foreign else []
        said += [f"{', '.join(unused)} finds nothing on line {allowance.line}"] if unused else []
        said += [] if allowance.codes else ["it names no code"]
        if said:
            yield allowance, "; ".join(said)
