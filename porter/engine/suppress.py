"""`// porter: allow[CODE] reason` comments: which findings they cover, and which are wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
            found.append(Allowance(codes, reason, last + 1 if alone else line, Span(start, comment.end)))
    return tuple(found)


def reason_for(finding: Finding, by_line: Mapping[int, list[Allowance]]) -> str | None:
    """The reason of the allow comment that covers a finding."""
    for allowance in by_line.get(finding.line, ()):
        if allowance.reason and (finding.code in allowance.codes or finding.rule in allowance.codes):
            return allowance.reason
    return None
