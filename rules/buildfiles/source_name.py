"""K110: names of sources that the port renames."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.model import Effort, Finding
from porter.rule import clean, fixes

_PATH = re.compile(r"(?:\$\{[^{}\s]*\}|\$\([^()\s]*\)|[^\s;\"'<>,:()={}$|&`])+\.cu(?![\w.])", re.IGNORECASE)


class SourceName(BuildRule):
    """Source that is renamed

    The port calls `a.cu` `a.hip`: clang, hipcc and CMake take the language from the suffix. Build files name the
    sources as the ported tree has them. A file that the tree does not have keeps its name and is reported.
    """

    code = "K110"
    kinds = frozenset({Kind.CMAKE, Kind.MAKE, Kind.SHELL, Kind.PYTHON, Kind.COMMANDS})
    hazards = ("makefile-nvcc",)
    examples = (
        fixes("add_library(t a.cu src/b.cu c.cpp)", "add_library(t a.hip src/b.hip c.cpp)", path="CMakeLists.txt"),
        fixes("file(GLOB S ${D}/*.cu)", "file(GLOB S ${D}/*.hip)", path="CMakeLists.txt"),
        fixes("%.o: %.cu\n\tcp $< $@", "%.o: %.hip\n\tcp $< $@", path="Makefile"),
        fixes("S = ['a.cu', 'c.cpp']", "S = ['a.hip', 'c.cpp']", path="setup.py"),
        clean("# a.cu\nadd_library(t a.cuh)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for start, text in _texts(unit):
            for match in _PATH.finditer(text):
                first, last = start + match.start(), start + match.end()
                new = unit.sources.new_name(unit.folder, match[0])
                if new is not None and new != match[0]:
                    yield self.replaced(unit, first, last, new)
                elif unit.sources.renamed and unit.sources.is_missing(unit.folder, match[0]):
                    message = f"{match[0]} is not in this tree: its name stays"
                    yield self.finding(unit, first, last, message, Effort.REVIEW)


def _texts(unit: BuildUnit) -> Iterator[tuple[int, str]]:
    """Stretches that can name files: no comments."""
    if unit.kind is Kind.CMAKE:
        for command in unit.commands:
            if command.name != "message":
                yield from ((argument.inner, argument.text) for argument in command.arguments)
    elif unit.kind in (Kind.MAKE, Kind.SHELL):
        yield from unit.makefile.code
    elif unit.kind is Kind.PYTHON:
        from porter.buildfiles.python import strings

        yield from ((string.inner, unit.text[string.inner : string.inner_end]) for string in strings(unit))
    else:
        yield 0, unit.text
