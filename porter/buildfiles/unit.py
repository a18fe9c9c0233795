"""A build file as the build rules see it, and what such a rule is."""

from __future__ import annotations

import enum
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from porter.buildfiles.flags import Word, translate
from porter.buildfiles.sources import Sources
from porter.engine.rule import Explained
from porter.model import Edit, Effort, Finding, Settings, Span
from porter.source import SourceFile

if TYPE_CHECKING:
    from porter.buildfiles.cmake import Command
    from porter.buildfiles.make import Makefile
    from porter.names.table import NameTable


Glue = Callable[[int], str]


class Kind(enum.Enum):
    """The language of a build file."""

    CMAKE = "CMake"
    MAKE = "Makefile"
    PYTHON = "Python"
    SHELL = "shell script"
    COMMANDS = "compilation database"
    MESON = "Meson"
    BAZEL = "Bazel"
    SETTINGS = "settings of a Python project"


@dataclass(frozen=True)
class BuildUnit:
    """One build file: its bytes, and views that are made when a rule asks for them."""

    source: SourceFile
    kind: Kind
    sources: Sources = field(default_factory=Sources)
    settings: Settings = field(default_factory=Settings)

    @property
    def text(self) -> str:
        """The bytes as characters."""
        return self.source.text

    @property
    def folder(self) -> str:
        """The folder of the file, that names in it begin at."""
        return posixpath.dirname(self.source.path)

    @property
    def names(self) -> NameTable:
        """What CUDA's names are in HIP."""
        from porter.names.table import load_names

        return load_names(self.settings.rocm, dict(self.settings.custom_names))

    @cached_property
    def _cmake(self) -> tuple[tuple[Command, ...], int | None]:
        from porter.buildfiles.cmake import parse_cmake

        return parse_cmake(self.source.data)

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands of a CMake file."""
        return self._cmake[0]

    @property
    def broken_at(self) -> int | None:
        """Where the parser did not understand the file."""
        return self._cmake[1] if self.kind is Kind.CMAKE else None

    @cached_property
    def makefile(self) -> Makefile:
        """The assignments and recipes of a Makefile or script."""
        from porter.buildfiles.make import parse_make, parse_shell

        return (parse_make if self.kind is Kind.MAKE else parse_shell)(self.source.data)


class BuildRule(Explained):
    """Base of the rules for build files: like a Rule, for one kind of build file (or several)."""

    kinds: ClassVar[frozenset[Kind]] = frozenset()
    at_run_time: ClassVar[bool] = False
    """Whether it is asked about Python that compiles nothing, too."""

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        raise NotImplementedError

    def finding(
        self, unit: BuildUnit, start: int, end: int, message: str, effort: Effort, edits: tuple[Edit, ...] = ()
    ) -> Finding:
        """A finding of this rule at a byte range."""
        line, column = unit.source.position(start)
        return Finding(
            self.code, self.name, effort, unit.source.path, line, column, message, Span(start, end), edits=edits
        )

    def replaced(self, unit: BuildUnit, start: int, end: int, new: str, why: str = "") -> Finding:
        """A finding that is done with one edit."""
        old = unit.text[start:end]
        message = f"{old} becomes {new}" if new else f"{old} is left out"
        return self.finding(
            unit, start, end, message + (f": {why}" if why else ""), Effort.NONE, (Edit(start, end, new),)
        )

    def flags(
        self, unit: BuildUnit, words: list[Word], *, all_known: bool, arch_flags: bool, glue: str | Glue = " "
    ) -> Iterator[Finding]:
        """One finding per flag of nvcc's among words; `glue` stands between new words (or says so for an offset)."""
        texts = [word.text for word in words]
        for change in translate(texts, all_known=all_known, arch_flags=arch_flags):
            start, end = words[change.first].start, words[change.last - 1].end
            old = " ".join(texts[change.first : change.last])
            if change.row is None:
                message = f"{old}: no row for this flag of nvcc; see what it does and whether clang has it"
                yield self.finding(unit, start, end, message, Effort.REVIEW)
                continue
            new = " ".join(change.new)
            if list(change.new) == texts[change.first : change.last]:
                yield self.finding(unit, start, end, f"{old}: {change.row.why}", change.row.effort)
                continue
            if unit.text[start:end].count('"') % 2:
                message = f"{old}: begins inside or outside of quotes and ends on the other side: {change.row.why}"
                yield self.finding(unit, start, end, message, Effort.REVIEW)
                continue
            written = (glue if isinstance(glue, str) else glue(start)).join(change.new)
            edit = Edit(start, end, written) if written else removal(unit.text, start, end)
            message = f"{old} becomes {new}" if new else f"{old} is left out"
            yield self.finding(unit, start, end, f"{message}: {change.row.why}", change.row.effort, (edit,))


def removal(text: str, start: int, end: int) -> Edit:
    """Takes a word out, with the blanks or the semicolon before it where that leaves no hole."""
    before = start
    while before > 0 and text[before - 1] in " \t":
        before -= 1
    if before == start and before > 0 and text[before - 1] == ";":
        return Edit(before - 1, end, "")
    at_line_start = before == 0 or text[before - 1] in "\n"
    rest = text[end : end + 1]
    if at_line_start and text[:before].rstrip("\r\n").endswith("\\") and before > 0:
        return Edit(start, end, "")  # an empty last line ends what the backslash goes on with
    if at_line_start and rest in ("\n", "") and before > 0:
        return Edit(before - 1, end, "")
    if before == start and rest == ";":
        return Edit(start, end + 1, "")
    if before == start and rest in (" ", "\t"):
        while text[end : end + 1] in (" ", "\t") and end < len(text):
            end += 1
        return Edit(start, end, "")
    return Edit(start if at_line_start else before, end, "")


def whole_removal(text: str, start: int, end: int) -> Edit:
    """Takes a command out, with its line where it has one to itself."""
    line = text.rfind("\n", 0, start) + 1
    newline = text.find("\n", end)
    if not text[line:start].strip() and newline >= 0 and not text[end:newline].strip():
        return Edit(line, newline + 1, "")
    return Edit(start, end, "")
