"""K113: HIP's headers for the host files of a CMake project."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Edit, Effort, Finding, clean, fixes

_FOLDERS = re.compile(
    r"\$\{(?:CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES|CUDA_(?:TOOLKIT_)?INCLUDE_DIRS?|CUDAToolkit_INCLUDE_DIRS|hip_INCLUDE_DIRS)\}"
)
_COMMANDS = frozenset({"include_directories", "target_include_directories"})
_PACKAGES = frozenset({"hip", "CUDA", "CUDAToolkit"})
_TARGETS = frozenset({"cuda_add_library", "cuda_add_executable"})
_HOST_FILE = re.compile(r"\$\{|\.(?:cpp|cc|cxx|c\+\+|C)\Z")
_MACRO = "__HIP_PLATFORM_AMD__"


class CMakeHostHeaders(BuildRule):
    """HIP's headers in C++ files of CMake

    Enabling the language CUDA gives CMake the folder of the toolkit's headers; enabling HIP does not: it comes with
    the package hip. And what compiles C++ files does not say whose HIP it is, which `hip_runtime_api.h` demands. Where
    a file adds that folder, the package is asked for, and the macro defined. FindCUDA's targets had the folder by
    themselves: where they may have C++ files, it is added as well.
    """

    code = "K113"
    kinds = frozenset({Kind.CMAKE})
    examples = (
        fixes(
            "project(p LANGUAGES CXX CUDA)\ninclude_directories(${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})",
            "project(p LANGUAGES CXX CUDA)\nfind_package(hip REQUIRED)\nadd_compile_definitions(__HIP_PLATFORM_AMD__)\n"
            "include_directories(${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})",
            path="CMakeLists.txt",
        ),
        fixes(
            "find_package(CUDA)\nif(A)\n  target_include_directories(t PRIVATE ${CUDA_INCLUDE_DIRS})\nendif()",
            "find_package(CUDA)\nif(A)\n  add_compile_definitions(__HIP_PLATFORM_AMD__)\n"
            "  target_include_directories(t PRIVATE ${CUDA_INCLUDE_DIRS})\nendif()",
            path="CMakeLists.txt",
        ),
        fixes(
            "find_package(CUDA)\ncuda_add_library(t a.cu b.cpp)",
            "find_package(CUDA)\nadd_compile_definitions(__HIP_PLATFORM_AMD__)\ninclude_directories(${hip_INCLUDE_DIRS})\n"
            "cuda_add_library(t a.cu b.cpp)",
            path="CMakeLists.txt",
        ),
        clean("find_package(CUDA)\ncuda_add_executable(t a.cu)", path="CMakeLists.txt"),
        clean(
            "add_definitions(-D__HIP_PLATFORM_AMD__)\ninclude_directories(${CUDA_INCLUDE_DIRS})", path="CMakeLists.txt"
        ),
        clean("include_directories(${CMAKE_SOURCE_DIR}/include)", path="CMakeLists.txt"),
        clean("set(X ${CUDA_INCLUDE_DIRS})", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """At most one finding, at the first command that adds the folder."""
        if _MACRO in unit.text:
            return
        for command in unit.commands:
            if command.name in _COMMANDS and any(_FOLDERS.search(argument.text) for argument in command.arguments):
                break
            if command.name in _TARGETS and any(_HOST_FILE.search(argument.text) for argument in command.arguments[1:]):
                break
        else:
            return
        asked = any(one.name == "find_package" and one.word(0) in _PACKAGES for one in unit.commands)
        line = unit.text.rfind("\n", 0, command.start) + 1
        indent = unit.text[line : command.start]
        if indent.strip():
            return
        lines = (
            "" if asked else f"{indent}find_package(hip REQUIRED)\n"
        ) + f"{indent}add_compile_definitions({_MACRO})\n"
        if command.name in _TARGETS:
            lines += f"{indent}include_directories(${{hip_INCLUDE_DIRS}})\n"
        message = f"C++ files that include HIP's headers: {_MACRO} is defined" + (
            "" if asked else ", and the package hip asked for"
        )
        yield self.finding(unit, command.start, command.end, message, Effort.NONE, (Edit(line, line, lines),))
