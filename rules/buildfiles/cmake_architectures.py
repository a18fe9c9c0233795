"""K103: the list of NVIDIA targets in CMake."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.cmake import Argument, Command
from porter.buildfiles.flags import ARCHITECTURE
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports

_NVIDIA = re.compile(r"(?:(?:\d{2,3}[af]?(?:-real|-virtual)?|native|all|all-major)(?=[\s;]|\Z)|[\s;])+")
_VARIABLES = frozenset({"CMAKE_CUDA_ARCHITECTURES", "CMAKE_HIP_ARCHITECTURES"})
_PROPERTIES = frozenset({"CUDA_ARCHITECTURES", "HIP_ARCHITECTURES"})
_END = frozenset({"CACHE", "PARENT_SCOPE"})


class CMakeArchitectures(BuildRule):
    """NVIDIA targets in CMake

    The numbers in CMAKE_CUDA_ARCHITECTURES are compute capabilities; CMAKE_HIP_ARCHITECTURES lists AMD targets, here
    gfx942. `-DCMAKE_HIP_ARCHITECTURES=...` on the command line names others where the file lets it. A variable of the
    file that such a list comes from is set to AMD's targets; one that is set elsewhere is reported.
    """

    code = "K103"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-cuda-language",)
    examples = (
        fixes("set(CMAKE_HIP_ARCHITECTURES 70 80-real)", "set(CMAKE_HIP_ARCHITECTURES gfx942)", path="CMakeLists.txt"),
        fixes(
            'set(CMAKE_CUDA_ARCHITECTURES "70;80" CACHE STRING "")',
            'set(CMAKE_CUDA_ARCHITECTURES gfx942 CACHE STRING "")',
            path="CMakeLists.txt",
        ),
        fixes(
            "set_target_properties(t PROPERTIES CUDA_ARCHITECTURES 80)",
            "set_target_properties(t PROPERTIES CUDA_ARCHITECTURES gfx942)",
            path="CMakeLists.txt",
        ),
        fixes(
            "set(CMAKE_CUDA_ARCHITECTURES ${MY_ARCHS})",
            "set(CMAKE_CUDA_ARCHITECTURES ${MY_ARCHS})\n"
            'list(FILTER CMAKE_HIP_ARCHITECTURES INCLUDE REGEX "^gfx")\n'
            "if(NOT CMAKE_HIP_ARCHITECTURES)\n  set(CMAKE_HIP_ARCHITECTURES gfx942)\nendif()",
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        reports("set_target_properties(t PROPERTIES CUDA_ARCHITECTURES ${X})", path="a.cmake", effort=Effort.REVIEW),
        fixes(
            "set(CAPABILITY 86)\nset_target_properties(t PROPERTIES HIP_ARCHITECTURES ${CAPABILITY})",
            "set(CAPABILITY gfx942)\nset_target_properties(t PROPERTIES HIP_ARCHITECTURES ${CAPABILITY})",
            path="CMakeLists.txt",
        ),
        clean("set(CMAKE_HIP_ARCHITECTURES gfx942)", path="CMakeLists.txt"),
        clean("set(CMAKE_HIP_ARCHITECTURES ${MY_AMD_TARGETS})", path="CMakeLists.txt"),
        clean("set(SIZES 70 80)", path="CMakeLists.txt"),
        clean("set_target_properties(t PROPERTIES CUDA_ARCHITECTURES OFF)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        sources = _sources(unit)
        known = {command.word(0) for command in unit.commands if _sets(command, sources)}
        for command in unit.commands:
            values = _until(command.arguments[1:], _END) if _sets(command, sources) else _values(command)
            if not values:
                continue
            start, end = values[0].start, values[-1].end
            text = " ".join(value.text for value in values)
            if _NVIDIA.fullmatch(text):
                message = f"{text} becomes {ARCHITECTURE}"
                yield self.finding(unit, start, end, message, Effort.NONE, (Edit(start, end, ARCHITECTURE),))
            elif (
                "$" in text
                and not _is_hips(command)
                and _variable(text) not in known
                and "_HIP_ARCHITECTURES" not in text
                and "CMAKE_CUDA_ARCHITECTURES" not in text
            ):
                yield self._unknown(unit, command, values, text)

    def _unknown(self, unit: BuildUnit, command: Command, values: tuple[Argument, ...], text: str) -> Finding:
        """Targets from elsewhere: AMD's are taken, and gfx942 where there are none; a property is only reported."""
        start, end = values[0].start, values[-1].end
        message = f"the targets come from {text}: it must hold AMD targets such as {ARCHITECTURE}"
        words = [argument.text for argument in command.arguments]
        if command.name not in ("set", "list") or words[-1] in _END or "CACHE" in words:
            return self.finding(unit, start, end, message, Effort.REVIEW)
        line = unit.text.rfind("\n", 0, command.start) + 1
        indent = unit.text[line : command.start]
        if indent.strip():
            return self.finding(unit, start, end, message, Effort.REVIEW)
        lines = (
            'list(FILTER CMAKE_HIP_ARCHITECTURES INCLUDE REGEX "^gfx")',
            "if(NOT CMAKE_HIP_ARCHITECTURES)",
            f"  set(CMAKE_HIP_ARCHITECTURES {ARCHITECTURE})",
            "endif()",
        )
        new = "".join(f"\n{indent}{one}" for one in lines)
        if unit.text.startswith(new, command.end):
            return self.finding(unit, start, end, message, Effort.REVIEW)
        message += f"; others are left out, and it is {ARCHITECTURE} where none is left"
        return self.finding(unit, start, end, message, Effort.REVIEW, (Edit(command.end, command.end, new),))


def _variable(text: str) -> str | None:
    """The variable that a list consists of."""
    found = re.fullmatch(r"\$\{(\w+)\}", text)
    return found[1] if found else None


def _sources(unit: BuildUnit) -> frozenset[str]:
    """Variables of the file that lists of targets consist of."""
    listed = (values[0].text for command in unit.commands if len(values := _values(command)) == 1)
    return frozenset(name for text in listed if (name := _variable(text)) is not None) - _VARIABLES


def _sets(command: Command, variables: frozenset[str]) -> bool:
    return command.name == "set" and command.word(0) in variables and len(command.arguments) > 1


def _is_hips(command: Command) -> bool:
    """Whether the file sets AMD's targets already."""
    return any(argument.text in ("CMAKE_HIP_ARCHITECTURES", "HIP_ARCHITECTURES") for argument in command.arguments)


def _values(command: Command) -> tuple[Argument, ...]:
    """The arguments that list targets."""
    arguments = command.arguments
    names = [argument.text for argument in arguments]
    if command.name == "set" and names and names[0] in _VARIABLES:
        return _until(arguments[1:], _END)
    if command.name == "list" and len(names) > 2 and names[1] in _VARIABLES and names[0] in ("APPEND", "PREPEND"):
        return arguments[2:]
    if command.name in ("set_target_properties", "set_property"):
        for index, name in enumerate(names):
            if name in _PROPERTIES and "PROPERTY" in names[:index]:
                return arguments[index + 1 :]
            if name in _PROPERTIES and "PROPERTIES" in names[:index]:
                return arguments[index + 1 : index + 2]
    return ()


def _until(arguments: tuple[Argument, ...], words: frozenset[str]) -> tuple[Argument, ...]:
    for index, argument in enumerate(arguments):
        if argument.text in words:
            return arguments[:index]
    return arguments
