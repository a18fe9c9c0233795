"""K110: names of sources that the port renames."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, fixes, reports
from porter.buildfiles.words import IN_SHELL, VARIABLE, Words

_SOURCE = re.compile(r"\.cu(?![\w.*?\[])", re.IGNORECASE)
_OBJECT = re.compile(r"\.cu(?=\.(?:o|obj|lo|d)\b)", re.IGNORECASE)
_PATH = Words((_SOURCE,))
_IN_MAKE = Words((_SOURCE, _OBJECT))
"""Objects are named after their sources, `a.cu.o`: rules and lists of them follow together."""
_IN_SHELL = Words((_SOURCE,), IN_SHELL)
_FORMATTED = Words((_SOURCE,), rf"\{{[^{{}}]*\}}|{VARIABLE}")
_WORDS = {Kind.MAKE: _IN_MAKE, Kind.SHELL: _IN_SHELL}
_GLOB = Words((re.compile(r"\.(?:c\*|cu[*?\[]|c[?])(?![\w.])"),))
_ANY = re.compile(r"\.(?:cu(?![\w.])|cu\.(?:o|obj|lo|d)\b|c[*?])", re.IGNORECASE)
"""A file or text without it has none of these endings."""
_COMPILES = frozenset({"add_library", "add_executable", "target_sources", "cuda_add_library", "cuda_add_executable"})


class SourceName(BuildRule):
    """Source that is renamed

    The port calls `a.cu` `a.hip`: clang, hipcc and CMake take the language from the suffix. Build files name the
    sources as the ported tree has them, also by patterns, in f-strings, and by the end of their names
    (`endswith("_cuda.cu")`), and so what CMake's `configure_file` makes and a target of the same file compiles. Another
    file that the tree does not have keeps its name and is reported. So is, as work by hand, a word that stands for
    files which do not all get the same suffix, and a pattern such as `*.cu*`, which matches a source no longer: the
    build would find none of them.
    """

    code = "K110"
    kinds = frozenset({Kind.CMAKE, Kind.MAKE, Kind.SHELL, Kind.PYTHON, Kind.COMMANDS, Kind.SETTINGS})
    hazards = ("makefile-nvcc",)
    examples = (
        fixes("add_library(t a.cu src/b.cu c.cpp)", "add_library(t a.hip src/b.hip c.cpp)", path="CMakeLists.txt"),
        fixes("file(GLOB S ${D}/*.cu)", "file(GLOB S ${D}/*.hip)", path="CMakeLists.txt"),
        fixes('if(e STREQUAL ".cu")\nendif()', 'if(e STREQUAL ".hip")\nendif()', path="CMakeLists.txt"),
        fixes(
            'list(FILTER S INCLUDE REGEX "\\\\.cu$")', 'list(FILTER S INCLUDE REGEX "\\\\.hip$")', path="CMakeLists.txt"
        ),
        reports('file(GLOB S "src/*.c*")', path="CMakeLists.txt"),
        fixes(
            "configure_file(w.cpp s/w.cu COPYONLY)\nadd_library(w s/w.cu ${B}/w.cu)",
            "configure_file(w.cpp s/w.hip COPYONLY)\nadd_library(w s/w.hip ${B}/w.hip)",
            path="CMakeLists.txt",
        ),
        reports(
            "configure_file(w.in w.cu)\ninstall(FILES w.cu DESTINATION d)", path="CMakeLists.txt", effort=Effort.REVIEW
        ),
        fixes("%.o: %.cu\n\tcp $< $@", "%.o: %.hip\n\tcp $< $@", path="Makefile"),
        fixes("O = $(S:.cu=.o)\n%.cu.o: %.cu", "O = $(S:.hip=.o)\n%.hip.o: %.hip", path="Makefile"),
        fixes("O = $(S:.cu=.o)\n.cu.o:\n\tcp $< $@", "O = $(S:.hip=.o)\n.hip.o:\n\tcp $< $@", path="Makefile"),
        fixes("all: a.cu.o", "all: a.hip.o", path="Makefile"),
        fixes("all: build/a.cu.o\nbuild/a.cu.o: a.cu", "all: build/a.hip.o\nbuild/a.hip.o: a.hip", path="Makefile"),
        clean("O = $(S:.cuda=.o)", path="Makefile"),
        fixes("gcc $D/a.cu && cat $D/src/b.cu", "gcc $D/a.hip && cat $D/src/b.hip", path="make.sh"),
        fixes("for f in a b; do gcc $f.cu; done", "for f in a b; do gcc $f.hip; done", path="make.sh"),
        reports("cat made.cu # by nvcc", path="make.sh", effort=Effort.REVIEW),
        fixes("S = ['a.cu', 'c.cpp']", "S = ['a.hip', 'c.cpp']", path="setup.py"),
        fixes('s = f"src/{name}.cu"', 's = f"src/{name}.hip"', path="setup.py"),
        fixes("s = [p for p in g if p.endswith('b.cu')]", "s = [p for p in g if p.endswith('b.hip')]", path="setup.py"),
        fixes("recursive-include src *.h *.cu", "recursive-include src *.h *.hip", path="MANIFEST.in"),
        fixes('package-data = ["src/*.cu"]', 'package-data = ["src/*.hip"]', path="pyproject.toml"),
        reports("d = {'package_data': ['src/*.cu*']}", path="setup.py"),
        reports(
            'install(DIRECTORY src DESTINATION s PATTERN "*.cu*" EXCLUDE)',
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        reports('install(DIRECTORY src DESTINATION s FILES_MATCHING PATTERN "*.cu*")', path="CMakeLists.txt"),
        clean(
            'install(DIRECTORY src DESTINATION s FILES_MATCHING PATTERN "*.h" PATTERN "*.cu*" EXCLUDE)',
            path="CMakeLists.txt",
        ),
        clean("# a.cu\nadd_library(t a.cuh)", path="CMakeLists.txt"),
        clean("s = f'{name}.cuh'; # a.cu", path="setup.py"),
        clean("# *.cu\ninclude *.cuh", path="MANIFEST.in"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        made = _made(unit)
        if _ANY.search(unit.text) is None or not (unit.sources.renamed or made):
            return
        excluded = _excluded(unit)
        for start, text in _texts(unit):
            if _ANY.search(text) is None:
                continue
            for begin, end in _WORDS.get(unit.kind, _PATH).within(text):
                if posixpath.basename(text[begin:end]) in made:
                    yield self.replaced(unit, start + begin, start + end, text[begin : end - 3] + ".hip")
                    continue
                yield from self._word(unit, start + begin, text[begin:end])
            yield from self._globs(unit, start, text, excluded.get(start))
        if unit.kind is Kind.PYTHON:
            from porter.buildfiles.python import formatted

            for start, text in formatted(unit):
                for begin, end in _FORMATTED.within(text):
                    yield from self._word(unit, start + begin, text[begin:end])

    def _word(self, unit: BuildUnit, start: int, word: str) -> Iterator[Finding]:
        end = start + len(word)
        is_object = unit.kind is Kind.MAKE and unit.text[end : end + 1] == "."
        name = unit.sources.object_name if is_object else unit.sources.new_name
        new = name(unit.folder, word)
        if new is not None:
            yield self.replaced(unit, start, end, new)
        elif unit.sources.breaks(unit.folder, word):
            message = f"{word} stands for files that the port renames in different ways: the build does not find them"
            yield self.finding(unit, start, end, message, Effort.MANUAL)
        elif unit.sources.is_missing(unit.folder, word):
            message = "a source that is not in this tree, perhaps made by the build: its name stays"
            yield self.finding(unit, start, end, message, Effort.REVIEW)

    def _globs(self, unit: BuildUnit, start: int, text: str, excluded: bool | None) -> Iterator[Finding]:
        for begin, end in _GLOB.within(text):
            word = text[begin:end]
            if unit.sources.lost(word) and excluded is not False:
                suffix = word.rpartition(".")[0] + ".hip"
                if excluded:
                    message = f"{word} leaves out sources that the port calls .hip: add {suffix}, or they are installed"
                    yield self.finding(unit, start + begin, start + end, message, Effort.REVIEW)
                    continue
                message = f"{word} matches sources that the port calls .hip: add {suffix}, or the build lacks them"
                yield self.finding(unit, start + begin, start + end, message, Effort.MANUAL)


def _made(unit: BuildUnit) -> frozenset[str]:
    """Sources that a CMake file fills in or copies to the names of others, and compiles."""
    if unit.kind is not Kind.CMAKE or "configure_file" not in unit.text.lower():
        return frozenset()
    outputs = {
        posixpath.basename(command.word(1))
        for command in unit.commands
        if command.name == "configure_file" and _SOURCE.search(command.word(1)) is not None
    }
    in_tree = frozenset(map(posixpath.basename, unit.sources.paths))
    compiled = {
        posixpath.basename(argument.text)
        for command in unit.commands
        if command.name in _COMPILES
        for argument in command.arguments
    }
    return frozenset(outputs & compiled - in_tree)


def _excluded(unit: BuildUnit) -> dict[int, bool]:
    """Where a pattern of `install(DIRECTORY ...)` or `file(COPY ...)` stands that leaves files out, and whether they
    would be taken without it: not where other patterns say which are (`FILES_MATCHING`)."""
    if unit.kind is not Kind.CMAKE or "EXCLUDE" not in unit.text:
        return {}
    return {
        argument.inner: not any(one.text == "FILES_MATCHING" for one in command.arguments)
        for command in unit.commands
        if command.name in ("install", "file")
        for word, argument, last in zip(command.arguments, command.arguments[1:], command.arguments[2:], strict=False)
        if word.text in ("PATTERN", "REGEX") and last.text == "EXCLUDE"
    }


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
    elif unit.kind is Kind.SETTINGS:
        yield from ((match.start(), match[0]) for match in re.finditer(r"^[^#;\n]*", unit.text, re.MULTILINE))
    else:
        yield 0, unit.text
