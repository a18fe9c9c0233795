"""K102: CMake's variables about CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.cmake import Argument, Command
from porter.buildfiles.tables import language_variable, table
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind, whole_removal
from porter.engine.rule import Edit, Effort, Finding, clean, fixes

_REFERENCE = re.compile(r"\$(?:CACHE|ENV)?\{(?P<name>\w+)\}|@(?P<filled>\w+)@")
"""`@NAME@` stands in templates, for configure_file to fill in."""
_NESTED = re.compile(r"\$\{(CMAKE_CUDA_\w+_)(?=\$\{)")
_ASSIGNING = frozenset(
    {"set", "unset", "option", "list", "string", "mark_as_advanced", "set_property", "separate_arguments"}
)
_ANYWHERE = frozenset({"list", "string"})
"""Commands whose result goes to a variable that they name at some place."""
_CONDITION = frozenset({"if", "elseif", "while"})
_OF_LANGUAGE = "CMAKE_CUDA_"
"""What begins so, and is a word of its own, names the variable wherever it stands."""
_NVCC = re.compile(r"/(nvcc)$")
_DEFINITION = re.compile(r"-D(\w+)(?::\w+)?=")

_LIB64 = re.compile(r"/lib64(?:/stubs)?(?![\w-])")
"""Where CUDA has its libraries: ROCm's are in `lib`."""


class CMakeVariable(BuildRule):
    """CMake variable of CUDA

    `CMAKE_CUDA_FLAGS` and its kin are `CMAKE_HIP_FLAGS` for HIP, the results of FindCUDA and FindCUDAToolkit are those
    of ROCm's packages (`rules/buildfiles/cmake.toml` lists both). Commands that only set a variable without meaning on
    AMD are left out. Variables that the file sets itself keep their names.
    """

    code = "K102"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-cuda-language",)
    examples = (
        fixes("set(CMAKE_CUDA_STANDARD 17)", "set(CMAKE_HIP_STANDARD 17)", path="CMakeLists.txt"),
        fixes("if(NOT CUDA_FOUND)\nendif()", "if(NOT hip_FOUND)\nendif()", path="CMakeLists.txt"),
        fixes(
            "include_directories(${CUDA_INCLUDE_DIRS})",
            "include_directories(${hip_INCLUDE_DIRS})",
            path="CMakeLists.txt",
        ),
        fixes(
            "target_link_libraries(t ${CUDA_LIBRARIES})", "target_link_libraries(t hip::host)", path="CMakeLists.txt"
        ),
        fixes("set(CUDA_PROPAGATE_HOST_FLAGS OFF)\nset(A 1)", "set(A 1)", path="CMakeLists.txt"),
        fixes(
            'string(REPLACE ";" " " CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}")',
            'string(REPLACE ";" " " CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS}")',
            path="CMakeLists.txt",
        ),
        fixes(
            "set(CMAKE_CUDA_ARCHITECTURES @CMAKE_CUDA_ARCHITECTURES@)",
            "set(CMAKE_HIP_ARCHITECTURES @CMAKE_HIP_ARCHITECTURES@)",
            path="example/CMakeLists.txt.in",
        ),
        fixes(
            'wipe(CMAKE_CUDA_FLAGS_${T})\nset(F "${CMAKE_CUDA_FLAGS_${T}}")',
            'wipe(CMAKE_HIP_FLAGS_${T})\nset(F "${CMAKE_HIP_FLAGS_${T}}")',
            path="CMakeLists.txt",
        ),
        fixes(
            "cmake_path(GET CMAKE_CUDA_COMPILER PARENT_PATH D)",
            "cmake_path(GET CMAKE_HIP_COMPILER PARENT_PATH D)",
            path="CMakeLists.txt",
        ),
        fixes(
            'set(NVCC "${CUDA_TOOLKIT_ROOT_DIR}/bin/nvcc")',
            'set(NVCC "${ROCM_PATH}/bin/hipcc")',
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        clean('set(CUDA_TOOLKIT_ROOT_DIR x)\nset(NVCC "${CUDA_TOOLKIT_ROOT_DIR}/bin/nvcc")', path="CMakeLists.txt"),
        clean('set(NVCC "${MINE}/bin/nvcc")', path="CMakeLists.txt"),
        clean('flag("CMAKE_CUDA_COMPILER" CMAKE_CUDA_COMPILER_NOTE)', path="CMakeLists.txt"),
        clean("set(FOO_CUDA @FOO_CUDA@)", path="foo-config.cmake.in"),
        clean('string(REPLACE "CMAKE_CUDA_FLAGS" "x" A "${B}")', path="CMakeLists.txt"),
        clean("option(USE_CUDA OFF)\nif(USE_CUDA)\nendif()", path="CMakeLists.txt"),
        fixes(
            "link_directories(${CUDA_TOOLKIT_ROOT_DIR}/lib64)",
            "link_directories(${ROCM_PATH}/lib)",
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        clean("set(CUDA_LIBRARIES mine)\ntarget_link_libraries(t ${CUDA_LIBRARIES})", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        own = own_variables(unit)
        dropped = frozenset(table("dropped_variables")["names"])
        for command in unit.commands:
            if command.name in ("set", "unset", "option") and command.word(0) in dropped:
                message = f"{command.word(0)} has no meaning with HIP: the command is left out"
                edit = whole_removal(unit.text, command.start, command.end)
                yield self.finding(unit, command.start, command.end, message, Effort.NONE, (edit,))
                continue
            if command.name == "message":
                continue
            for argument in command.arguments:
                if not argument.raw:
                    yield from self._references(unit, argument, own)
            yield from self._bare(unit, command, own)
            yield from self._compiler(unit, command, own)

    def _compiler(self, unit: BuildUnit, command: Command, own: frozenset[str]) -> Iterator[Finding]:
        """nvcc in the toolkit's folder, whose name is kept for later: `set(NVCC ${CUDA_TOOLKIT_ROOT_DIR}/bin/nvcc)`."""
        if command.name != "set" or command.word(0) == "CMAKE_CUDA_COMPILER":
            return
        for argument in command.arguments[1:]:
            match = None if argument.raw else _NVCC.search(argument.text)
            folder = match and _REFERENCE.match(argument.text)
            name = folder and (folder["name"] or folder["filled"])
            if match and name not in own and name in table("variables"):
                start = argument.inner + match.start(1)
                yield self.replaced(unit, start, start + len(match[1]), "hipcc")

    def _references(self, unit: BuildUnit, argument: Argument, own: frozenset[str]) -> Iterator[Finding]:
        for nested in _NESTED.finditer(argument.text):
            start, whole = argument.inner + nested.start(1), language_variable(nested[1])
            if whole is not None:
                yield self.replaced(unit, start, start + len(nested[1]), whole)
        for match in _REFERENCE.finditer(argument.text):
            group = "name" if match["filled"] is None else "filled"
            name = match[group]
            if name in own:
                continue
            row = table("variables").get(name)
            begin = argument.inner + match.start()
            if row is not None and "text" in row:
                new, effort = row["text"], Effort(row.get("effort", "none"))
                why = f": {row['why']}" if "why" in row else ""
                folder = _LIB64.match(argument.text, match.end()) if new == "${ROCM_PATH}" else None
                end = argument.inner + (match.end() if folder is None else folder.end())
                edit = Edit(begin, end, new if folder is None else f"{new}/lib")
                yield self.finding(unit, begin, edit.end, f"{match[0]} becomes {new}{why}", effort, (edit,))
                continue
            new_name = row["name"] if row is not None else language_variable(name)
            if new_name is not None and new_name != name:
                start = argument.inner + match.start(group)
                yield self.replaced(unit, start, start + len(name), new_name)

    def _bare(self, unit: BuildUnit, command: Command, own: frozenset[str]) -> Iterator[Finding]:
        """Names of variables that are set or tested."""
        if command.name in _CONDITION:
            candidates = command.arguments
        elif command.name in _ASSIGNING:
            words = command.arguments
            candidates = tuple(a for a in words if not a.quoted) if command.name in _ANYWHERE else words[:1]
        else:
            yield from self._definitions(unit, command)
            words = command.arguments
            candidates = tuple(a for a in words if not a.quoted and a.text.startswith(_OF_LANGUAGE))
        for argument in candidates:
            name = argument.text
            row = table("variables").get(name) if name not in own else None
            new = language_variable(name) or (row.get("name") if row is not None else None)
            if new is not None and not argument.raw and new != name:
                yield self.replaced(unit, argument.inner, argument.inner + len(name), new)

    def _definitions(self, unit: BuildUnit, command: Command) -> Iterator[Finding]:
        """`-DCMAKE_CUDA_X=` that is handed to another CMake."""
        for argument in command.arguments:
            match = _DEFINITION.match(argument.text)
            new = language_variable(match[1]) if match is not None else None
            if match is not None and new is not None:
                start = argument.inner + match.start(1)
                yield self.replaced(unit, start, start + len(match[1]), new)


def own_variables(unit: BuildUnit) -> frozenset[str]:
    """Variables that the file gives a value, and that are not CMake's."""
    names = {
        command.word(0)
        for command in unit.commands
        if command.name in ("set", "option", "cmake_dependent_option", "find_path", "find_library", "find_program")
    }
    return frozenset(
        name
        for name in names
        if not name.startswith("CMAKE_") and not name.startswith(("CUDA_NVCC_FLAGS", "CUDA_NVCC_EXECUTABLE"))
    )
