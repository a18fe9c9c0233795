"""Kernels in strings: the text that a program compiles at run time, as a file that any compiler takes."""

from __future__ import annotations

import re
from pathlib import Path

from porter.validation.cases.case import ANY_STRING, Case, CaseError
from porter.validation.devices.virtual import keep_unit

from porter.cpp.lex import lex
from porter.cpp.literals import Literal
from porter.cpp.runtime_strings import texts
from porter.system.reading import read_regular


def kernel_file(case: Case, holder: Path) -> Path:
    """The file that a case's kernel is compiled from: `holder`, or the text of one of its strings; raises CaseError."""
    if case.string is None:
        return holder
    data = read_regular(holder).decode("latin-1")
    text = _text(case, holder, data)
    content = _line_mark(holder, data, text) + text.text
    name = f"{holder.stem}.{case.string or 'string'}{holder.suffix}"
    try:
        return keep_unit(content.encode("latin-1"), name)
    except OSError as error:
        raise CaseError(case.path, case.line, f"{error.filename or name}: {error.strerror}") from None


def _text(case: Case, holder: Path, data: str) -> Literal:
    kernel = re.split(r"[<(]", case.kernel)[0].rpartition("::")[2].strip()
    named = list(texts(lex(data)))
    found = [
        text for name, text in named if case.string in (name, ANY_STRING) and re.search(rf"\b{kernel}\b", text.text)
    ]
    if len(found) == 1:
        return found[0]
    many = f"{len(found)} strings" if found else "no string"
    wanted = f" {case.string!r}" if case.string else ""
    there = ", ".join(sorted({name for name, _ in named if name})) or "none with a name"
    raise case.error(f"string: {many}{wanted} with kernel {kernel!r} in {holder}; there are: {there}", "string")


def _line_mark(holder: Path, data: str, text: Literal) -> str:
    """Has messages name the lines of the file that the text is in, where one literal holds the lines as they are."""
    if len(text.pieces) != 1 or text.pieces[0].mark is None:
        return ""
    path = str(holder.absolute()).replace("\\", "\\\\").replace('"', '\\"')
    line = data.count("\n", 0, text.position(0)) + 1
    return f'#line {line} "{path}"\n'
