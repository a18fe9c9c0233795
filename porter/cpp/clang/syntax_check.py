"""Checks one file against real headers: `python -m porter.cpp.clang.syntax_check DEPFILE FILE FLAGS...`.

Run in a process of its own: what libclang cannot stand ends that process alone. What was read is written to DEPFILE, as
Make reads it, unless a header is missing: libclang does not tell which would be read if it were there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from clang import cindex

_WARNING, _ERROR = 2, 3
_SEVERITIES = {1: "note", 2: "warning", 3: "error", 4: "fatal error"}


def main(arguments: list[str]) -> int:
    """Prints what clang has to say, as clang prints it; 1 for errors."""
    depfile, source, *flags = arguments
    try:
        unit = cindex.Index.create().parse(source, flags)
    except cindex.TranslationUnitLoadError as error:
        print(f"error: {source}: {error}")
        return 2
    if not any("file not found" in diagnostic.spelling for diagnostic in unit.diagnostics):
        Path(depfile).write_text(_dependencies(unit), "utf-8", "surrogateescape")
    worst = 0
    for diagnostic in unit.diagnostics:
        if diagnostic.severity >= _WARNING:
            worst = max(worst, diagnostic.severity)
            for one in (diagnostic, *diagnostic.children):
                _show(one)
    return 1 if worst >= _ERROR else 0


def _dependencies(unit: cindex.TranslationUnit) -> str:
    names = dict.fromkeys((unit.spelling, *(str(one.include.name) for one in unit.get_includes())))
    return "unit: " + " \\\n ".join(re.sub(r"([ #])", r"\\\1", name).replace("$", "$$") for name in names) + "\n"


def _show(diagnostic: cindex.Diagnostic) -> None:
    place = diagnostic.location
    where = f"{place.file.name}:{place.line}:{place.column}: " if place.file else ""
    print(f"{where}{_SEVERITIES.get(diagnostic.severity, 'note')}: {diagnostic.spelling}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
