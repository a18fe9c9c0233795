"""`porter explain cublasSgemmEx`: what becomes of a CUDA name by version of ROCm; and a search over rules and names."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator
from textwrap import indent

from porter.buildfiles.registry import build_rules
from porter.engine.notices import NOTICES
from porter.engine.registry import all_rules
from porter.engine.rule import Example
from porter.engine.support import load_support
from porter.names.records import load_records
from porter.names.table import NameRow, load_names, version_key
from porter.report.text import table

_SHOWN = 20
_ALIKE = 5


def name_text(name: str) -> str | None:
    """What the tables have for an identifier, a qualified name, a header or a field; None: they do not have it."""
    row = _row(name, None)
    if row is None:
        return None
    lines = [f"{row.cuda} ({row.kind} of {row.library})", ""]
    lines += _versions(name, row)
    if row.signature:
        lines += ["", f"It differs from CUDA's: {row.signature}"]
    if row.value:
        lines += ["", f"Its number differs: {row.value}"]
    if row.added or row.removed:
        span = [f"since {row.added}" if row.added else "", f"until before {row.removed}" if row.removed else ""]
        lines += ["", f"In CUDA {' '.join(filter(None, span))}."]
    if row.why:
        lines += ["", f"Set by hand: {row.why}"]
    supplied = load_support(None).get(name)
    if supplied is not None:
        lines += ["", f"The port uses {supplied.name} of its header {supplied.header} instead, for every ROCm."]
    rules = [rule for rule in all_rules() if name in rule.triggers or name in rule.answers]
    lines += ["", "Rules about it: " + ", ".join(f"{rule.code} {rule.name}" for rule in rules)] if rules else []
    shown = next((example for rule in rules for example in rule.examples if _rewrites(example, name)), None)
    if shown is not None and supplied is None and row.hip is None:
        assert shown.after is not None
        lines += ["", "Rewritten, for example:", indent(shown.before, "  "), "becomes", indent(shown.after, "  ")]
    return "\n".join(lines) + "\n"


def _rewrites(example: Example, name: str) -> bool:
    """Whether a name is gone from an example's text afterwards."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return example.after is not None and bool(word.search(example.before)) and not word.search(example.after)


def _row(name: str, rocm: str | None) -> NameRow | None:
    names = load_names(rocm, {})
    struct, _, field = name.rpartition(".")
    return names.get(name) or names.header(name) or (names.field(struct, field) if struct else None)


def _versions(name: str, newest: NameRow) -> Iterator[str]:
    """One line per span of versions in which the answer is the same."""
    before = ""
    points = _turning_points(name)
    if len({_outcome(row) for version in (*points, None) if (row := _row(name, version)) is not None}) == 1:
        yield f"  every ROCm since {points[0] if points else _oldest()}: {_outcome(newest)}"
        return
    for version in (*points, None):
        row = newest if version is None else _row(name, version)
        assert row is not None
        said = _outcome(row)
        if said == before:
            continue
        yield f"  {f'since ROCm {version}' if version else 'the newest ROCm known'}: {said}"
        before = said


def _turning_points(name: str) -> list[str]:
    """Versions at which the row of a name changes, and the one before the first of them."""
    records = load_records()
    record = records.names.get(name) or records.headers.get(name) or records.fields.get(name)
    if record is None:
        return []
    found = {record[5], record[9], *(until for until, _ in record[8])} - {""}
    return sorted({_oldest(), *found}, key=version_key)


@functools.cache
def _oldest() -> str:
    """The oldest ROCm whose headers the tables were derived from."""
    return min((record[5] for record in load_records().names.values() if record[5]), key=version_key)


def _outcome(row: NameRow) -> str:
    if row.hip is None:
        gap = row.gap.partition("; the port is for ")[0]
        return f"no counterpart ({row.effort.value}): {gap or 'nothing in ROCm does the same'}"
    if row.signature:
        return f"{row.hip}, with another signature ({row.effort.value})"
    return f"{row.hip}" + (" (the same name)" if row.hip == row.cuda else "")


def search_text(words: str) -> str | None:
    """Rules, notices and names that have all the words; None where nothing has."""
    wanted = [word.lower() for word in re.split(r"\s+", words.strip()) if word]
    rows: list[tuple[str, str, str]] = []
    for rule in (*all_rules(), *build_rules()):
        text = f"{rule.name} {rule.explanation} {' '.join(rule.hazards)}"
        text += " ".join(getattr(rule, "triggers", ())) + " ".join(example.before for example in rule.examples)
        if all(word in text.lower() for word in wanted):
            rows.append((rule.code, rule.name, rule.title))
    for notice in NOTICES:
        if all(word in f"{notice.name} {notice.title} {notice.explanation}".lower() for word in wanted):
            rows.append((notice.code, notice.name, notice.title))
    rows.sort(key=lambda row: (not all(word in f"{row[1]} {row[2]}".lower() for word in wanted), row[0]))
    names = sorted(name for name in _all_names() if all(word in name.lower() for word in wanted))
    if not rows and not names:
        return None
    parts = [f"rules about {words!r}" + _of(len(rows)), *table(("code", "name", "what"), rows[:_SHOWN])] if rows else []
    if names:
        shown = [(name, _outcome(row)) for name in names[:_SHOWN] if (row := _row(name, None)) is not None]
        parts += ["", "names" + _of(len(names)), *table(("CUDA", "ROCm"), shown)]
    return "\n".join([*parts, "", "`porter explain CODE` or `porter explain NAME` tells more."]) + "\n"


def alike(name: str) -> tuple[str, ...]:
    """Codes, rules and names that are written nearly so."""
    known = [rule.name for rule in (*all_rules(), *build_rules())] + [notice.name for notice in NOTICES]
    found = difflib.get_close_matches(name, known, _ALIKE, 0.7)
    close = [
        other for other in _all_names() if abs(len(other) - len(name)) < 3 and other[:3].lower() == name[:3].lower()
    ]
    return tuple(dict.fromkeys((*found, *difflib.get_close_matches(name, close, _ALIKE, 0.8))))


def _all_names() -> Iterator[str]:
    records = load_records()
    yield from records.names
    yield from records.headers


def _of(count: int) -> str:
    return f" (first {_SHOWN} of {count:,})" if count > _SHOWN else ""
