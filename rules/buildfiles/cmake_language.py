"""K101: the CUDA language of CMake."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from porter.buildfiles.cmake import Argument, Command
from porter.buildfiles.rule import BuildRule, BuildUnit, Finding, Kind, clean, fixes

_LISTS = frozenset({"project", "enable_language", "check_language"})
_FEATURE = "cuda_std_"


class CMakeLanguage(BuildRule):
    """CMake language CUDA

    CMake builds AMD code with its own language, HIP (since 3.21): in `project(... LANGUAGES CUDA)`, `enable_language`,
    `check_language`, in the source property `LANGUAGE` and in `cuda_std_17` of target_compile_features. It compiles
    `.hip` files; CMAKE_HIP_COMPILER is a clang++, not hipcc.
    """

    code = "K101"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-cuda-language",)
    examples = (
        fixes("project(a LANGUAGES CXX CUDA)", "project(a LANGUAGES CXX HIP)", path="CMakeLists.txt"),
        fixes("enable_language(CUDA)", "enable_language(HIP)", path="CMakeLists.txt"),
        fixes(
            "set_source_files_properties(a.cpp PROPERTIES LANGUAGE CUDA)",
            "set_source_files_properties(a.cpp PROPERTIES LANGUAGE HIP)",
            path="CMakeLists.txt",
        ),
        fixes(
            "target_compile_features(t PUBLIC cuda_std_17)",
            "target_compile_features(t PUBLIC hip_std_17)",
            path="CMakeLists.txt",
        ),
        clean("project(CUDA LANGUAGES CXX)", path="CMakeLists.txt"),
        clean('message("LANGUAGES CUDA") # enable_language(CUDA)', path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for command in unit.commands:
            for argument in self._languages(command):
                inner = argument.inner
                yield self.replaced(unit, inner, inner + len("CUDA"), "HIP")
            if command.name == "target_compile_features":
                for argument in command.arguments:
                    if argument.text.startswith(_FEATURE):
                        yield self.replaced(unit, argument.inner, argument.inner + len("cuda"), "hip")

    def _languages(self, command: Command) -> Iterator[Argument]:
        arguments = command.arguments
        if command.name in _LISTS:
            begin = 1 if command.name == "project" else 0
            yield from (argument for argument in arguments[begin:] if argument.text == "CUDA")
        elif command.name in ("set_source_files_properties", "set_property", "set_target_properties"):
            pairs = itertools.pairwise(arguments)
            keys = ("LANGUAGE", "LINKER_LANGUAGE")
            yield from (value for key, value in pairs if key.text in keys and value.text == "CUDA")
