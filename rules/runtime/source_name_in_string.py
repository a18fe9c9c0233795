"""R019: a renamed source, named in a string."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from porter.cpp.literals import Literal, read_literal
from porter.cpp.syntax import STRING
from porter.engine.rule import Dialect, Edit, Effort, Example, Finding, Rule, Unit, clean, fixes, reports

_NAME = re.compile(r"(?:\.{1,2}/|/)*((?:[\w.+-]+/)*[\w.+-]+\.cu)", re.IGNORECASE)
_ROLES = frozenset({"asm", "__asm__", "extern", "line", "pragma"})


def _where(example: Example, **renamed: str) -> Example:
    return replace(example, renamed=tuple(renamed.items()))


class SourceNameInString(Rule):
    """Name of a renamed source in a string

    Programs that compile kernels at run time open them by name, and `scale.cu` is `scale.hip` in the port. A literal
    that is nothing but the name of a source of the project that gets another name follows it; folders in it stay.
    Where the name is a label only, nothing depends on it.
    """

    code = "R019"
    dialect = Dialect.BOTH
    text = r"\.[cC][uU]"
    examples = (
        _where(
            fixes('auto text = read_file("scale.cu");', 'auto text = read_file("scale.hip");', effort=Effort.REVIEW),
            **{"scale.cu": "scale.hip"},
        ),
        _where(
            fixes('auto f = open(SOURCES "/k/a.cu");', 'auto f = open(SOURCES "/k/a.hip");', effort=Effort.REVIEW),
            **{"src/k/a.cu": "src/k/a.hip"},
        ),
        _where(
            reports('auto text = read_file("a.cu");', effort=Effort.REVIEW),
            **{"x/a.cu": "x/a.hip", "y/a.cu": "y/a.cu.hip"},
        ),
        _where(clean('auto text = read_file("other.cu");'), **{"scale.cu": "scale.hip"}),
        _where(clean('puts("compile scale.cu first");'), **{"scale.cu": "scale.hip"}),
        _where(clean('auto f = open("k/scale.cu");'), **{"scale.cu": "scale.hip"}),
        clean('auto text = read_file("scale.cu");'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per literal."""
        tokens = unit.tokens
        if not unit.renamed:
            return
        for place in re.finditer(STRING, tokens.kinds):
            index = place.start()
            if ".cu" not in tokens.texts[index].lower():
                continue
            literal = read_literal(tokens, index, index)
            named = _NAME.fullmatch(literal.text) if literal is not None else None
            if literal is None or named is None or (index and tokens.texts[index - 1] in _ROLES):
                continue
            names = {posixpath.basename(output) for path, output in unit.renamed.items() if _ends(path, named[1])}
            yield from self._findings(unit, index, literal, names)

    def _findings(self, unit: Unit, index: int, literal: Literal, names: set[str]) -> Iterator[Finding]:
        old = posixpath.basename(literal.text)
        if len(names) > 1:
            message = f"{old} is one of several renamed files: write {' or '.join(sorted(names))}"
            yield self.finding(unit, unit.span(index), message, Effort.REVIEW)
        for new in names if len(names) == 1 else ():
            edit = Edit(len(literal.text) - len(old), len(literal.text), new)
            message = f"{old} is now {new}; a program that opens it needs the new name"
            yield self.finding(unit, unit.span(index), message, Effort.REVIEW, literal.edits(edit) or ())


def _ends(path: str, tail: str) -> bool:
    return path == tail or path.endswith("/" + tail)
