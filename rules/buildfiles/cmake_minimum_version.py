"""K111: the CMake version that the HIP language needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.\d+)*")
_OLDEST = (3, 21)


class CMakeMinimumVersion(BuildRule):
    """CMake version without the HIP language

    The HIP language came with CMake 3.21. A file that enables CUDA and asks for less is raised to that; policies that
    became the default since then apply from there on.
    """

    code = "K111"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-cuda-language",)
    examples = (
        fixes(
            "cmake_minimum_required(VERSION 3.10)\nproject(a LANGUAGES CUDA)",
            "cmake_minimum_required(VERSION 3.21)\nproject(a LANGUAGES CUDA)",
            path="CMakeLists.txt",
        ),
        clean("cmake_minimum_required(VERSION 3.24)\nproject(a LANGUAGES CUDA)", path="CMakeLists.txt"),
        clean("cmake_minimum_required(VERSION 3.10)\nproject(a LANGUAGES CXX)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        if not _uses_language(unit):
            return
        for command in unit.commands:
            if command.name != "cmake_minimum_required" or len(command.arguments) < 2:
                continue
            argument = command.arguments[1]
            match = _VERSION.match(argument.text)
            if match is not None and (int(match[1]), int(match[2])) < _OLDEST:
                start = argument.inner
                end = start + match.end() if "..." not in argument.text else argument.inner + len(argument.text)
                message = f"CMake {match[0]} has no HIP language: 3.21 is asked for"
                yield self.finding(unit, start, end, message, Effort.NONE, (Edit(start, end, "3.21"),))


def _uses_language(unit: BuildUnit) -> bool:
    for command in unit.commands:
        words = [argument.text for argument in command.arguments]
        if command.name in ("project", "enable_language") and not {"CUDA", "HIP"}.isdisjoint(
            words[:1] if command.name == "enable_language" else words[1:]
        ):
            return True
        if command.name == "find_package" and words[:1] == ["CUDA"]:
            return True
    return False
