"""The form of the instruction tables: one row per instruction, its meaning as C over lane values."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`v_add_f32  f32 = f32 f32 : a + b`.

    Left of `=` the types of the results, right of it those of the sources, then one C expression per result,
    separated by `;`. Sources are a, b, c, e, f in order, `d` is the old value of the first result, `l` the lane,
    `r` (in later expressions) the first result. In scalar rows the last result may be `scc`.
    """

    mnemonic: str
    results: tuple[str, ...]
    sources: tuple[str, ...]
    expressions: tuple[str, ...]
    section: str

    @property
    def reads_result(self) -> bool:
        """True when the old value of the destination is a source too."""
        return any(re.search(r"\bd\b", expression) for expression in self.expressions)


SOURCE_NAMES = ("a", "b", "c", "e", "f")


def table(section: str, text: str) -> dict[str, Row]:
    """Rows of one section of the ISA document."""
    rows: dict[str, Row] = {}
    for line in text.strip().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        signature, _, meaning = line.partition(":")
        left, _, right = signature.partition("=")
        mnemonic, *results = left.split()
        expressions = tuple(part.strip() for part in meaning.split(";"))
        if mnemonic in rows or len(expressions) != len(results):
            raise ValueError(f"bad row: {line}")
        rows[mnemonic] = Row(mnemonic, tuple(results), tuple(right.split()), expressions, section)
    return rows


def family(section: str, pattern: str, choices: dict[str, str]) -> dict[str, Row]:
    """Rows that differ in one word and one operator: `{name}` and `{op}` in the pattern."""
    text = "\n".join(pattern.format(name=name, op=op) for name, op in choices.items())
    return table(section, text)
