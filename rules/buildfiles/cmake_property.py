"""K109: target properties about CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from porter.buildfiles.cmake import Argument, Command
from porter.buildfiles.tables import table
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind, removal, whole_removal
from porter.engine.rule import Edit, Effort, Finding, clean, fixes, reports

_SETTERS = frozenset(
    {"set_target_properties", "set_property", "set_source_files_properties", "set_directory_properties"}
)
_RDC = "CUDA_SEPARABLE_COMPILATION"
_ON = frozenset({"ON", "TRUE", "1", "YES"})


class CMakeProperty(BuildRule):
    """Target property of CUDA

    `CUDA_STANDARD` and its kin have counterparts. Separable compilation has none: the flag `-fgpu-rdc` goes to the HIP
    sources and to the link, in commands of their own; all targets that share device functions need it. A library
    without sources (INTERFACE) has nothing to compile: the property said nothing there, and goes.
    """

    code = "K109"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-cuda-language", "rdc-link")
    examples = (
        fixes(
            "set_target_properties(t PROPERTIES CUDA_STANDARD 17 CUDA_EXTENSIONS OFF)",
            "set_target_properties(t PROPERTIES HIP_STANDARD 17 HIP_EXTENSIONS OFF)",
            path="CMakeLists.txt",
        ),
        fixes(
            "set_target_properties(t PROPERTIES CUDA_SEPARABLE_COMPILATION ON)",
            "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>)\n"
            "target_link_options(t PRIVATE -fgpu-rdc --hip-link)",
            effort=Effort.REVIEW,
            path="CMakeLists.txt",
        ),
        fixes(
            "set_target_properties(t PROPERTIES CUDA_RUNTIME_LIBRARY Shared\n    FOLDER a)",
            "set_target_properties(t PROPERTIES\n    FOLDER a)",
            path="CMakeLists.txt",
        ),
        fixes(
            "add_library(t INTERFACE)\nset_target_properties(t PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n#",
            "add_library(t INTERFACE)\n#",
            path="CMakeLists.txt",
        ),
        reports("set_target_properties(t PROPERTIES CUDA_PTX_COMPILATION ON)", path="CMakeLists.txt"),
        clean("set_target_properties(t PROPERTIES OUTPUT_NAME CUDA_STANDARD)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for command in unit.commands:
            if command.name in _SETTERS:
                yield from self._properties(unit, command)
            elif command.name == "set" and command.word(0) == "CMAKE_" + _RDC:
                yield self._separable_everywhere(unit, command)

    def _properties(self, unit: BuildUnit, command: Command) -> Iterator[Finding]:
        language = table("language")
        pairs = list(_pairs(command))
        for key, value in pairs:
            if not key.text.startswith("CUDA_"):
                continue
            rest = key.text[len("CUDA_") :]
            if rest in language["properties"]:
                yield self.replaced(unit, key.inner, key.inner + len("CUDA"), "HIP")
            elif rest in language["dropped_properties"] or (key.text == _RDC and value.text.upper() not in _ON):
                yield self._dropped(unit, command, key, value, alone=len(pairs) == 1)
            elif key.text == _RDC:
                yield self._separable(unit, command, key, value, alone=len(pairs) == 1)
            else:
                yield self.finding(unit, key.start, key.end, f"{key.text}: no counterpart is known", Effort.MANUAL)

    def _dropped(self, unit: BuildUnit, command: Command, key: Argument, value: Argument, *, alone: bool) -> Finding:
        edit = (
            whole_removal(unit.text, command.start, command.end) if alone else removal(unit.text, key.start, value.end)
        )
        message = f"{key.text} has no meaning with HIP: left out"
        return self.finding(unit, key.start, value.end, message, Effort.NONE, (edit,))

    def _separable(self, unit: BuildUnit, command: Command, key: Argument, value: Argument, *, alone: bool) -> Finding:
        named = _targets(command)
        targets = tuple(name for name in named if name not in _without_sources(unit))
        if named and not targets:
            return self._dropped(unit, command, key, value, alone=alone)
        if not targets:
            return self.finding(unit, key.start, key.end, f"{key.text}: use -fgpu-rdc and --hip-link", Effort.MANUAL)
        line, _ = unit.source.position(command.start)
        before = unit.text[unit.source.line_start(line) : command.start]
        indent = unit.source.newline + (before if before.isspace() else "")
        new = indent.join(
            text
            for target in targets
            for text in (
                f"target_compile_options({target} PRIVATE $<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>)",
                f"target_link_options({target} PRIVATE -fgpu-rdc --hip-link)",
            )
        )
        message = f"{key.text} becomes -fgpu-rdc for the sources and the link: all of them need it"
        edits = (
            (Edit(command.start, command.end, new),)
            if alone
            else (removal(unit.text, key.start, value.end), Edit(command.end, command.end, indent + new))
        )
        return self.finding(unit, key.start, value.end, message, Effort.REVIEW, edits)

    def _separable_everywhere(self, unit: BuildUnit, command: Command) -> Finding:
        where = (command.start, command.end)
        if command.word(1).upper() not in _ON:
            message = f"{command.word(0)} is the default with HIP: left out"
            return self.finding(unit, *where, message, Effort.NONE, (whole_removal(unit.text, *where),))
        end = unit.source.newline
        new = f"add_compile_options($<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>){end}add_link_options(-fgpu-rdc --hip-link)"
        message = f"{command.word(0)} becomes -fgpu-rdc for sources and links from here on"
        return self.finding(unit, *where, message, Effort.REVIEW, (Edit(*where, new),))


def _pairs(command: Command) -> Iterator[tuple[Argument, Argument]]:
    """Properties and their values."""
    names = [argument.text for argument in command.arguments]
    for keyword, many in (("PROPERTIES", True), ("PROPERTY", False)):
        if keyword in names:
            rest = command.arguments[names.index(keyword) + 1 :]
            pairs = list(zip(rest[::2], rest[1::2], strict=False))
            yield from pairs if many else pairs[:1]
            return


def _without_sources(unit: BuildUnit) -> frozenset[str]:
    """Libraries that compile nothing."""
    return frozenset(
        command.word(0) for command in unit.commands if command.name == "add_library" and command.word(1) == "INTERFACE"
    )


def _targets(command: Command) -> tuple[str, ...]:
    names = [argument.text for argument in command.arguments]
    if command.name == "set_target_properties" and "PROPERTIES" in names:
        return tuple(names[: names.index("PROPERTIES")])
    if command.name == "set_property" and names[:1] == ["TARGET"] and "PROPERTY" in names:
        return tuple(name for name in names[1 : names.index("PROPERTY")] if name not in ("APPEND", "APPEND_STRING"))
    return ()
