"""K103: the list of NVIDIA targets in CMake."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.cmake import Argument, Command
from porter.buildfiles.flags import ARCHITECTURE
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.model import Edit, Effort, Finding
from porter.rule import clean, fixes, reports

_NVIDIA = re.compile(r"(?:\d{2,3}[af]?(?:-real|-virtual)?|native|all|all-major|\s|;)+")
_VARIABLES = frozenset({"CMAKE_CUDA_ARCHITECTURES", "CMAKE_HIP_ARCHITECTURES"})
_PROPERTIES = frozenset({"CUDA_ARCHITECTURES", "HIP_ARCHITECTURES"})
_END = frozenset({"CACHE", "PARENT_SCOPE"})


class CMakeArchitectures(BuildRule):
    """NVIDIA targets in CMake

    The numbers in CMAKE_CUDA_ARCHITECTURES are compute capabilities; CMAKE_HIP_ARCHITECTURES lists AMD targets, here
    gfx942. `-DCMAKE_HIP_ARCHITECTURES=...` on the command line names others where the file lets it. A list that
    comes from a variable is reported.
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
        reports("set(CMAKE_CUDA_ARCHITECTURES ${MY_ARCHS})", path="CMakeLists.txt", effort=Effort.REVIEW),
        clean("set(CMAKE_HIP_ARCHITECTURES gfx942)", path="CMakeLists.txt"),
        clean("set(CMAKE_HIP_ARCHITECTURES ${MY_AMD_TARGETS})", path="CMakeLists.txt"),
        clean("set(SIZES 70 80)", path="CMakeLists.txt"),
        clean("set_target_properties(t PROPERTIES CUDA_ARCHITECTURES OFF)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for command in unit.commands:
            values = _values(command)
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
                and "_HIP_ARCHITECTURES" not in text
                and "CMAKE_CUDA_ARCHITECTURES" not in text
            ):
                message = f"the targets come from {text}: it must hold AMD targets such as {ARCHITECTURE}"
                yield self.finding(unit, start, end, message, Effort.REVIEW)


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
