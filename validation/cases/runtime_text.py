"""Kernels in strings: the text that a program compiles at run time, as a file that any compiler takes."""

from __future__ import annotations

import re
from pathlib import Path

from porter.validation.cases.case import ANY_STRING, Case, CaseError
from porter.validation.cases.python_kernels import lined
from porter.validation.cases.python_units import PythonUnit, named, python_units
from porter.validation.devices.virtual import keep_unit

from porter.cpp.lex import lex
from porter.cpp.literals import Literal
from porter.cpp.runtime_strings import texts
from porter.source import SourceFile
from porter.system.reading import read_regular

MOST_TOLD = 5


def kernel_file(case: Case, holder: Path) -> Path:
    """The file that a case's kernel is compiled from: `holder`, or the text of one of its strings; raises CaseError."""
    if case.string is None:
        return holder
    if holder.suffix == ".py":
        content, suffix = _of_python(case, holder), ".cu"
    else:
        source = SourceFile(str(holder.absolute()), read_regular(holder))
        content, suffix = lined(source, _text(case, holder, source.text)), holder.suffix
    name = f"{holder.stem}.{case.string or 'string'}{suffix}"
    try:
        return keep_unit(content.encode("latin-1"), name)
    except OSError as error:
        raise CaseError(case.path, case.line, f"{error.filename or name}: {error.strerror}") from None


def _kernel(case: Case) -> str:
    return re.split(r"[<(]", case.kernel)[0].rpartition("::")[2].strip()


def _of_python(case: Case, holder: Path) -> str:
    """What a Python file has compiled: of the port the same call as of the original."""
    try:
        units = python_units(case.source)
        (index,) = _wanted(case, case.source, units)
        if holder == case.source:
            return units[index].content
        ported = python_units(holder, for_hip=True)
    except OSError as error:
        raise case.error(f"{error.filename}: {error.strerror}", "source") from None
    if len(ported) != len(units):
        (index,) = _wanted(case, holder, ported)
    if not ported[index].content:
        raise case.error(f"{holder}:{ported[index].line}: {ported[index].problem}", "string")
    return ported[index].content


def _wanted(case: Case, holder: Path, units: tuple[PythonUnit, ...]) -> tuple[int]:
    kernel, string = _kernel(case), case.string or ""
    found = list(named(units, kernel, string))
    if len({units[index].content for index in found}) == 1:
        return (found[0],)
    wanted = f" {string!r}" if string else ""
    if found:
        there = ", ".join(str(units[index].line) for index in found)
        what = f"{len(found)} texts{wanted} with kernel {kernel!r} in {holder}: give one of the lines {there}"
    else:
        missing = [f"line {unit.line}: {unit.problem}" for unit in units if unit.problem]
        left = f"; not followed: {'; '.join(missing[:MOST_TOLD])}" if missing else ""
        what = f"no text{wanted} with kernel {kernel!r} is compiled in {holder}{left}"
    raise case.error(f"string: {what}", "string")


def _text(case: Case, holder: Path, data: str) -> Literal:
    kernel = _kernel(case)
    named_texts = list(texts(lex(data)))
    found = [
        text
        for name, text in named_texts
        if case.string in (name, ANY_STRING) and re.search(rf"\b{kernel}\b", text.text)
    ]
    if len(found) == 1:
        return found[0]
    many = f"{len(found)} strings" if found else "no string"
    wanted = f" {case.string!r}" if case.string else ""
    there = ", ".join(sorted({name for name, _ in named_texts if name})) or "none with a name"
    raise case.error(f"string: {many}{wanted} with kernel {kernel!r} in {holder}; there are: {there}", "string")
