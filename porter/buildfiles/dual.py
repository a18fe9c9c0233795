"""Build files for both vendors: what a conversion changes, behind the switch USE_HIP, and the original beside it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable

from porter.buildfiles.cmake import Command
from porter.buildfiles.dual_python import guarded_python
from porter.buildfiles.make_blocks import blocks_of_make, whole_blocks
from porter.buildfiles.shell_blocks import Statements
from porter.buildfiles.unit import BuildUnit, Kind
from porter.engine import edits as editing
from porter.model import Edit

SHIMS = "porter/hip"
SWITCH = "USE_HIP"
"""`make USE_HIP=1`, `cmake -DUSE_HIP=ON`."""

_MERGED_LINES = 3
_CALLER = re.compile(r"(?:[^\s=]*/)?nvcc(?![\w.-])")
_CALLED = re.compile(r"(?:[^\s=]*/)?hipcc(?![\w.-])")
_ASKED = re.compile(r"\b(?:which|hash|type|command)\s[^;|&]*$|\b(?:echo|printf)\b")
_VERSION = re.compile(r"nvcc\s+(?:-V|--version|--help|--list)")
_MARKS = re.compile(r"^[ \t]*(?:ifn?(?:eq|def)|else|endif|define|endef)\b", re.MULTILINE)
_LOOKED_FOR = re.compile(r"\$\(shell\s+(?:which|command\s+-v|type\s+-p)\s.*\)", re.DOTALL)
_ONLY_NAMED = re.compile(
    r"\$[({](?:shell|info|warning|error|wildcard)\b(?!.*\))|^\s*(?:ifn?(?:eq|def)|else)\b|\b(?:echo|printf)\b"
)
"""Words before a compiler that is not called with sources there."""


def both_paths(unit: BuildUnit, edits: Iterable[Edit]) -> bytes:
    """The build file with both paths; `edits` are those of the conversion."""
    changes = sorted(edits)
    if not changes or has_switch(unit):
        return unit.source.data
    write = {Kind.CMAKE: _cmake, Kind.MAKE: _make, Kind.SHELL: _shell}.get(unit.kind)
    if unit.kind is Kind.PYTHON:
        written = guarded_python(unit.text, changes, unit.source.newline)
        return unit.source.data if written is None else written.encode("latin-1")
    if write is None:
        return unit.source.data
    return editing.apply(unit.text, write(unit, changes)).encode("latin-1")


def has_switch(unit: BuildUnit) -> bool:
    """Whether the file has a path for AMD already, from an earlier port or its authors."""
    return SWITCH in unit.text


def shims_from(unit: BuildUnit) -> str:
    """The headers for AMD builds, as a path from the build file's folder."""
    return posixpath.relpath(SHIMS, unit.folder or ".")


def _make(unit: BuildUnit, changes: list[Edit]) -> list[Edit]:
    changes = _with_headers_of_make(unit, changes, f" -I{shims_from(unit)} -include cuda_runtime.h")
    blocks = blocks_of_make(unit.text)
    regions = [whole_blocks(blocks, *_logical_lines(unit.text, e.start, e.end)) for e in changes]
    merged = _merged(unit.text, regions, lambda gap: _MARKS.search(gap) is None)
    return _guarded(unit, changes, merged, "ifdef USE_HIP", "else", "endif")


def _with_headers_of_make(unit: BuildUnit, changes: list[Edit], flags: str) -> list[Edit]:
    """A compiler that is called finds the headers that only AMD builds see; one that is only named does not."""
    written: list[Edit] = []
    for edit in changes:
        called, value, before = _with_flags(unit, edit, flags), _value_around(unit, edit), _line_before(unit, edit)
        if called is None:
            written.append(edit)
        elif value is not None and _LOOKED_FOR.fullmatch(unit.text[slice(*value)].strip()) is not None:
            written += [edit, Edit(value[0], value[0], f"$(patsubst %,%{flags},"), Edit(value[1], value[1], ")")]
        elif _ONLY_NAMED.search(before) is not None or before.count("`") % 2:
            written.append(edit)
        else:
            written.append(called)
    return sorted(set(written))


def _with_flags(unit: BuildUnit, edit: Edit, flags: str) -> Edit | None:
    """The compiler that an edit exchanges, with flags behind it; None where it exchanges something else."""
    called = _CALLED.match(edit.text) if _CALLER.match(unit.text[edit.start : edit.end]) else None
    return None if called is None else edit._replace(text=called[0] + flags + edit.text[called.end() :])


def _value_around(unit: BuildUnit, edit: Edit) -> tuple[int, int] | None:
    """The value of a variable that an edit begins in."""
    values = ((one.start, one.end) for one in unit.makefile.assignments)
    return next((value for value in values if value[0] <= edit.start < value[1]), None)


def _line_before(unit: BuildUnit, edit: Edit) -> str:
    """What stands before an edit in its line."""
    return unit.text[_logical_lines(unit.text, edit.start, edit.end)[0] : edit.start]


def _shell(unit: BuildUnit, changes: list[Edit]) -> list[Edit]:
    statements = Statements(unit.source.data)
    called = [edit for edit in changes if not statements.is_text(edit.start)]
    told = [edit for edit in changes if edit not in called]
    changes = sorted([*told, *_with_headers_of_shell(unit, called, shims_from(unit))])
    regions = [statements.around(edit.start, edit.end) for edit in changes]
    merged = _merged(unit.text, regions, lambda gap: not gap.strip())
    return _guarded(unit, changes, merged, 'if [ -n "${USE_HIP:-}" ]; then', "else", "fi")


def _with_headers_of_shell(unit: BuildUnit, changes: list[Edit], shims: str) -> list[Edit]:
    """As in Makefiles; a variable gets the compiler and the flags as one value."""
    in_quotes = f' -I$(dirname "$0")/{shims} -include cuda_runtime.h'
    flags = f' -I"$(dirname "$0")/{shims}" -include cuda_runtime.h'
    written: list[Edit] = []
    for edit in changes:
        called, value = _with_flags(unit, edit, flags), _value_around(unit, edit)
        if called is None:
            written.append(edit)
        elif value is not None and unit.text[value[0]] != "(":
            if _VERSION.search(unit.text, *value) is not None:
                written.append(edit)
                continue
            quote = "" if unit.text[value[0] - 1] == '"' else '"'
            written += [edit, Edit(value[0], value[0], quote), Edit(value[1], value[1], f"{in_quotes}{quote}")]
        elif _ASKED.search(_line_before(unit, edit)) is not None:
            written.append(edit)
        else:
            written.append(called)
    return sorted({edit for edit in written if edit.text or edit.start < edit.end})


def _logical_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Whole lines, with those that a backslash joins."""
    first = text.rfind("\n", 0, start) + 1
    while first > 1 and text[:first].rstrip("\r\n").endswith("\\") and text[first - 1] == "\n":
        first = text.rfind("\n", 0, first - 1) + 1
    last = end
    while True:
        newline = text.find("\n", last)
        if newline < 0:
            return first, len(text)
        if not text[:newline].rstrip("\r").endswith("\\"):
            return first, newline + 1
        last = newline + 1


def _merged(text: str, regions: list[tuple[int, int]], may: Callable[[str], bool]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(regions):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            continue
        gap = text[merged[-1][1] : start] if merged else ""
        if merged and gap.count("\n") <= _MERGED_LINES and may(gap):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def _guarded(
    unit: BuildUnit, changes: list[Edit], regions: list[tuple[int, int]], opening: str, middle: str, closing: str
) -> list[Edit]:
    text, end_of_line = unit.text, unit.source.newline
    written: list[Edit] = []
    for start, end in regions:
        inside = [Edit(e.start - start, e.end - start, e.text) for e in changes if start <= e.start and e.end <= end]
        old = text[start:end]
        indent = old[: len(old) - len(old.lstrip(" "))] if unit.kind is not Kind.MAKE else ""
        new = editing.apply(old, inside)
        tail = "" if old.endswith("\n") else end_of_line
        new_tail = "" if not new or new.endswith("\n") else end_of_line
        written.append(
            Edit(start, start, f"{indent}{opening}{end_of_line}{new}{new_tail}{indent}{middle}{end_of_line}")
        )
        written.append(Edit(end, end, f"{tail}{indent}{closing}{end_of_line}"))
    return written


def _cmake(unit: BuildUnit, changes: list[Edit]) -> list[Edit]:
    language = _language_command(unit)
    raised = any(_is_version(unit, edit) for edit in changes)
    own = [edit for edit in changes if language is not None and language.start <= edit.start < language.end]
    rest = [edit for edit in changes if edit not in own and not _is_version(unit, edit)]
    regions = _merged(unit.text, [_whole_commands(unit, edit) for edit in rest], lambda gap: not gap)
    written = _guarded(unit, rest, regions, "if(USE_HIP)", "else()", "endif()")
    if language is not None:
        written += _language(unit, language, own, raised=raised)
    return written + _source_languages(unit, regions)


def _is_version(unit: BuildUnit, edit: Edit) -> bool:
    return any(c.name == "cmake_minimum_required" and c.start <= edit.start < c.end for c in unit.commands)


def _language_command(unit: BuildUnit) -> Command | None:
    """`project(... CUDA)`, which cannot stand in a conditional."""
    for command in unit.commands:
        if command.name == "project" and any(argument.text == "CUDA" for argument in command.arguments[1:]):
            return command
    return None


def _language(unit: BuildUnit, command: Command, own: list[Edit], *, raised: bool) -> list[Edit]:
    end = unit.source.newline
    version = f"  cmake_minimum_required(VERSION 3.21){end}" if raised else ""
    before = (
        f'option(USE_HIP "Build for AMD GPUs" OFF){end}if(USE_HIP){end}'
        f"{version}  set(GPU_LANGUAGE HIP){end}"
        f"else(){end}  set(GPU_LANGUAGE CUDA){end}endif(){end}"
    )
    after = (
        f"{end}if(USE_HIP){end}  include_directories(BEFORE ${{CMAKE_CURRENT_SOURCE_DIR}}/{shims_from(unit)}){end}"
        f'  add_compile_options("$<$<COMPILE_LANGUAGE:HIP>:SHELL:-include cuda_runtime.h>"){end}endif()'
    )
    words = [Edit(e.start, e.end, "${GPU_LANGUAGE}") if e.text == "HIP" else e for e in own]
    return [Edit(command.start, command.start, before), *words, Edit(command.end, command.end, after)]


def _whole_commands(unit: BuildUnit, edit: Edit) -> tuple[int, int]:
    """Whole lines of whole commands; a condition takes its whole block with it."""
    start, end = edit.start, edit.end
    for command in unit.commands:
        if (command.start < max(end, start + 1) and start < command.end) or command.start <= start < command.end:
            block = _block(unit, command)
            start, end = min(start, block[0]), max(end, block[1])
    return _logical_lines(unit.text, start, end)


_OPENS = frozenset({"if", "foreach", "while", "function", "macro", "block"})
_INSIDE = frozenset({"elseif", "else", "endif", "endforeach", "endwhile", "endfunction", "endmacro", "endblock"})


def _block(unit: BuildUnit, command: Command) -> tuple[int, int]:
    if command.name not in _OPENS | _INSIDE:
        return command.start, command.end
    stack: list[int] = []
    for candidate in unit.commands:
        if candidate.name in _OPENS:
            stack.append(candidate.start)
        elif candidate.name.startswith("end") and candidate.name in _INSIDE and stack:
            first = stack.pop()
            if first <= command.start and command.end <= candidate.end:
                return first, candidate.end
    return command.start, command.end


def _source_languages(unit: BuildUnit, regions: list[tuple[int, int]]) -> list[Edit]:
    """`.cu` files are HIP's where AMD is built for."""
    end = unit.source.newline
    written: list[Edit] = []
    for command in unit.commands:
        if command.name not in (
            "add_library",
            "add_executable",
            "target_sources",
            "cuda_add_library",
            "cuda_add_executable",
        ):
            continue
        names = [argument.text for argument in command.arguments[1:] if _is_cuda_source(unit, argument.text)]
        if not names:
            continue
        line, _ = unit.source.position(command.start)
        indent = re.match(r"[ \t]*", unit.source.line_text(line))
        space = indent[0] if indent is not None else ""
        place = _logical_lines(unit.text, command.start, command.end)[0]
        inside = next((region for region in regions if region[0] <= place < region[1]), None)
        place = inside[0] if inside is not None else place
        text = (
            f"{space}if(USE_HIP){end}{space}  set_source_files_properties({' '.join(names)} PROPERTIES LANGUAGE HIP)"
            f"{end}{space}endif(){end}"
        )
        written.append(Edit(place, place, text))
    return written


def _is_cuda_source(unit: BuildUnit, text: str) -> bool:
    """Whether a word names .cu files, or is a variable that only such files are put into."""
    if text.lower().endswith(".cu"):
        return True
    variable = re.fullmatch(r"\$\{(\w+)\}", text)
    if variable is None:
        return False
    words: list[str] = []
    for command in unit.commands:
        if command.name == "set" and command.word(0) == variable[1]:
            words += [argument.text for argument in command.arguments[1:]]
        elif command.name == "file" and command.word(1) == variable[1] and command.word(0).upper().startswith("GLOB"):
            words += [argument.text for argument in command.arguments[2:] if argument.text != "CONFIGURE_DEPENDS"]
    return bool(words) and all(word.lower().endswith(".cu") for word in words)
