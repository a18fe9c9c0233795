"""K101: the CUDA language of CMake."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from porter.buildfiles.cmake import Argument, Command
from porter.buildfiles.rule import BuildRule, BuildUnit, Finding, Kind, clean, fixes

_LISTS = frozenset({"project", "enable_language", "check_language"})
_FEATURE = "cuda_std_"
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class CMakeLanguage(BuildRule):
    """CMake language CUDA

    CMake builds AMD code with its own language, HIP (since 3.21): in `project(... LANGUAGES CUDA)`, `enable_language`,
    `check_language`, in variables that these are given, in the source property `LANGUAGE` and in `cuda_std_17` of
    target_compile_features. It compiles `.hip` files; CMAKE_HIP_COMPILER is a clang++, not hipcc.
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
        fixes(
            "set(GPU CUDA)\nset(OTHER CUDA)\nproject(a LANGUAGES CXX ${GPU})",
            "set(GPU HIP)\nset(OTHER CUDA)\nproject(a LANGUAGES CXX ${GPU})",
            path="CMakeLists.txt",
        ),
        fixes(
            'if(HAS)\n  list(APPEND L CXX "CUDA")\nendif()\nset(NAME CUDA)\nproject(${NAME} LANGUAGES ${L})',
            'if(HAS)\n  list(APPEND L CXX "HIP")\nendif()\nset(NAME CUDA)\nproject(${NAME} LANGUAGES ${L})',
            path="CMakeLists.txt",
        ),
        fixes(
            "set(L CUDA)\nset_source_files_properties(a.cpp PROPERTIES LANGUAGE ${L})",
            "set(L HIP)\nset_source_files_properties(a.cpp PROPERTIES LANGUAGE ${L})",
            path="CMakeLists.txt",
        ),
        clean("set(CUDA ON)\nset(L CUDA)\nmessage(STATUS ${L})", path="CMakeLists.txt"),
        clean("project(CUDA LANGUAGES CXX)", path="CMakeLists.txt"),
        clean('message("LANGUAGES CUDA") # enable_language(CUDA)', path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        variables = {
            match[1]
            for command in unit.commands
            for argument in _languages(command)
            if (match := _VARIABLE.fullmatch(argument.text)) is not None
        }
        for command in unit.commands:
            for argument in (*_languages(command), *_values(command, variables)):
                if argument.text == "CUDA":
                    yield self.replaced(unit, argument.inner, argument.inner + len("CUDA"), "HIP")
            if command.name == "target_compile_features":
                for argument in command.arguments:
                    if argument.text.startswith(_FEATURE):
                        yield self.replaced(unit, argument.inner, argument.inner + len("cuda"), "hip")


def _languages(command: Command) -> Iterator[Argument]:
    """Where a command takes languages."""
    arguments = command.arguments
    if command.name in _LISTS:
        yield from arguments[1 if command.name == "project" else 0 :]
    elif command.name in ("set_source_files_properties", "set_property", "set_target_properties"):
        keys = ("LANGUAGE", "LINKER_LANGUAGE")
        yield from (value for key, value in itertools.pairwise(arguments) if key.text in keys)


def _values(command: Command, variables: set[str]) -> tuple[Argument, ...]:
    """What a command puts into one of some variables."""
    if command.name == "set" and command.word(0) in variables:
        return tuple(command.arguments[1:])
    if command.name == "list" and command.word(0) in ("APPEND", "PREPEND") and command.word(1) in variables:
        return tuple(command.arguments[2:])
    return ()
