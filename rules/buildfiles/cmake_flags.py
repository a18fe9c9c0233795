"""K107: nvcc's flags in CMake files."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from porter.buildfiles.cmake import Argument, Command, expressions
from porter.buildfiles.flags import Word
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports

_WORD = re.compile(r'(?:\$\{[^{}]*\}|\\.|[^\s;"]|(?<==)"(?:[^"\\]|\\.)*")+')
_SETTERS = frozenset({"set", "list", "string", "set_property"})
_NVCC_VARIABLE = re.compile(r"CMAKE_CUDA_FLAGS(?:_\w+)?|CUDA_NVCC_FLAGS(?:_\w+)?")
_STRING_VARIABLE = re.compile(r"CMAKE_\w+_FLAGS\w*|COMPILE_FLAGS|LINK_FLAGS")
_TAKES_EACH = frozenset({"execute_process", "add_custom_command", "add_custom_target", "list"})
_SILENT = frozenset({"message", "if", "elseif", "project", "find_package", "add_subdirectory", "install", "add_test"})
_LANGUAGE = re.compile(r"\b(?:COMPILE_LANGUAGE|COMPILE_LANG_AND_ID):(?:CUDA|HIP)\b")


class CMakeFlags(BuildRule):
    """Flags of nvcc in CMake

    Flags in CMAKE_CUDA_FLAGS, in generator expressions for the language, in compile options: what clang has under
    another name is rewritten, what has no meaning is left out, what nobody knows is reported. The table is
    rules/buildfiles/flags.toml, with the reason for each row. Targets (-gencode, -arch) are left out, for
    CMAKE_HIP_ARCHITECTURES has them.
    """

    code = "K107"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("nvcc-flags-rejected", "nvcc-flags-silently-misread", "fast-math-flag", "cmake-generator-expr")
    examples = (
        fixes(
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -O3 -lineinfo -Xcompiler -Wall")',
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -O3 -gline-tables-only -Wall")',
            path="CMakeLists.txt",
        ),
        fixes(
            "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-fmad=false>)",
            "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-ffp-contract=off>)",
            path="CMakeLists.txt",
        ),
        fixes(
            "list(APPEND MY_FLAGS -gencode arch=compute_80,code=sm_80 -O2)",
            "list(APPEND MY_FLAGS -O2)",
            path="CMakeLists.txt",
        ),
        fixes(
            "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-O2;$<$<BOOL:${FAST}>:-lineinfo>>)",
            "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-O2;$<$<BOOL:${FAST}>:-gline-tables-only>>)",
            path="CMakeLists.txt",
        ),
        fixes(
            "add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Debug>>:$<IF:$<BOOL:${G}>,-G,-lineinfo>>)",
            "add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Debug>>:"
            "$<IF:$<BOOL:${G}>,-g;-Xarch_device;-O0,-gline-tables-only>>)",
            path="CMakeLists.txt",
        ),
        fixes(
            'execute_process(COMMAND ${HIPCC} "-Wno-deprecated-gpu-targets" "--run" a.cpp)',
            'execute_process(COMMAND ${HIPCC} "--run" a.cpp)',
            path="CMakeLists.txt",
        ),
        fixes(
            'target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo -Xcompiler="-Wall -g" -DA="b c">)',
            'target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-gline-tables-only -Wall -g -DA="b c">)',
            path="CMakeLists.txt",
        ),
        fixes(
            r'add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler="\"/wd4819 /wd4244\"">)',
            "add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:/wd4819;/wd4244>)",
            path="CMakeLists.txt",
        ),
        reports('set(CMAKE_CUDA_FLAGS "--frobnicate")', path="CMakeLists.txt", effort=Effort.REVIEW),
        fixes(
            'set_source_files_properties(a.cpp PROPERTIES COMPILE_OPTIONS "-dc")',
            'set_source_files_properties(a.cpp PROPERTIES COMPILE_OPTIONS "-fgpu-rdc;-c")',
            effort=Effort.REVIEW,
            path="CMakeLists.txt",
        ),
        reports(
            'execute_process(COMMAND ${C} -Xcompiler "-dumpfullversion -dumpversion")',
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        clean('set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -G -O3 --frobnicate")', path="CMakeLists.txt"),
        clean('message(STATUS "use --use_fast_math")', path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for command in unit.commands:
            if command.name not in _SILENT and "-" in unit.text[command.start : command.end]:
                quoted = [a for a in command.arguments if a.quoted] if command.name in _TAKES_EACH else []
                for found in self._command(unit, command):
                    yield replace(found, edits=tuple(_whole_argument(unit, quoted, edit) for edit in found.edits))

    def _command(self, unit: BuildUnit, command: Command) -> Iterator[Finding]:
        arguments = [argument for argument in command.arguments if not argument.raw]
        certain = _is_nvcc_variable(command)
        regions = [] if certain else _language_regions(unit, command)
        starts = [start for start, _ in regions]
        cuts = sorted({edge for region in regions for edge in region} | _borders(unit, command))
        inside: list[list[Word]] = [[] for _ in regions]
        outside: list[Word] = []
        for argument in arguments[1:] if command.name in _SETTERS else arguments:
            for word in _words(argument, cuts):
                place = bisect.bisect_right(starts, word.start) - 1
                (inside[place] if place >= 0 and word.start < regions[place][1] else outside).append(word)
        lists = [(a.inner, a.inner + len(a.text)) for a in arguments if a.quoted and not re.search(r"\s", a.text)]
        is_string = any(_STRING_VARIABLE.fullmatch(argument.text) for argument in arguments)

        def between(offset: int) -> str:
            return ";" if not is_string and any(start <= offset < end for start, end in lists) else " "

        yield from self.flags(unit, outside, all_known=certain, arch_flags=False, glue=between)
        for words in inside:
            semicolon = len(words) > 1 and ";" in unit.text[words[0].end : words[1].start]
            glue = ";" if semicolon or not _is_quoted(unit, words) else " "
            yield from self.flags(unit, words, all_known=True, arch_flags=False, glue=glue)


def _whole_argument(unit: BuildUnit, quoted: list[Argument], edit: Edit) -> Edit:
    """Quotes that nothing is left between go as well: a program would get an empty argument."""
    for argument in quoted:
        inner = (argument.inner, argument.inner + len(argument.text))
        if not edit.text and (edit.start, edit.end) == inner:
            before = unit.text[: argument.start]
            return Edit(len(before.rstrip(" \t")), argument.end, "")
    return edit


def _is_quoted(unit: BuildUnit, words: list[Word]) -> bool:
    return bool(words) and any(" " in unit.text[a.end : b.start] for a, b in itertools.pairwise(words))


def _is_nvcc_variable(command: Command) -> bool:
    if command.name in ("set", "list", "string", "set_property"):
        return any(_NVCC_VARIABLE.fullmatch(argument.text) for argument in command.arguments[:3])
    return False


def _language_regions(unit: BuildUnit, command: Command) -> list[tuple[int, int]]:
    """Byte ranges that only the CUDA compiler gets: the contents of `$<$<COMPILE_LANGUAGE:CUDA>:...>`."""
    if not command.arguments:
        return []
    start, end = command.arguments[0].start, command.arguments[-1].end
    found = [
        (e.content, e.end - 1)
        for e in expressions(unit.text[start:end], start)
        if e.content < e.end - 1 and _LANGUAGE.search(e.head) and "NOT" not in e.head
    ]
    outer: list[tuple[int, int]] = []
    for region in sorted(found):
        if not outer or region[1] >= outer[-1][1]:
            outer.append(region)
    return outer


def _borders(unit: BuildUnit, command: Command) -> frozenset[int]:
    """Where the contents of generator expressions begin and end, and the alternatives of `$<IF:c,a,b>` part."""
    if not command.arguments:
        return frozenset()
    start, end = command.arguments[0].start, command.arguments[-1].end
    found = expressions(unit.text[start:end], start)
    places = {edge for e in found if e.content < e.end - 1 for edge in (e.content, e.end - 1)}
    for choice in (e for e in found if e.head == "IF"):
        within = [e for e in found if choice.content <= e.start and e.end < choice.end]
        for comma in re.finditer(",", unit.text[choice.content : choice.end]):
            place = choice.content + comma.start()
            if not any(e.start < place < e.end for e in within):
                places |= {place, place + 1}
    return frozenset(places)


def _words(argument: Argument, cuts: list[int]) -> Iterator[Word]:
    """The words of an argument; those at the edge of a region or of a generator expression are cut there."""
    for match in _WORD.finditer(argument.text):
        start, end = argument.inner + match.start(), argument.inner + match.end()
        places = [start, *cuts[bisect.bisect_right(cuts, start) : bisect.bisect_left(cuts, end)], end]
        for first, last in itertools.pairwise(places):
            text = argument.text[first - argument.inner : last - argument.inner]
            yield Word(first, last, text)
