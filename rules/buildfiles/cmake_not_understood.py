"""K190: what is left of CUDA in a CMake file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from porter.buildfiles.cmake import Argument, Command
from porter.buildfiles.cmake_versions import NEVER, VERSIONS, decided_by_version
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports
from porter.buildfiles.tables import is_compiler, is_nvidia_library, language_variable, library, linked_files, table

_OF_FIND_CUDA = (
    r"CUDA_(?:\w+_)?(?:LIBRAR(?:Y|IES)|DIRS?|PATH|ROOT|HOME|FLAGS\w*|EXECUTABLE|COMPILER|VERSION\w*|ARCH(?:_BIN|_PTX|_LIST|ITECTURES)?|FOUND|COMPILATION"
    r"|RUNTIME|TARGETS?|CODE|NVCC\w*)"
)
"""What CMake's modules call their variables; any other `CUDA_X` is the project's, set in a file out of sight."""
_REFERENCE = re.compile(rf"\$(?:CACHE)?\{{((?:CMAKE_CUDA|CUDAToolkit)_\w+|{_OF_FIND_CUDA})\}}")
_NAME = re.compile(r"(?:CMAKE_CUDA|CUDAToolkit)_\w+|CUDA_VERSION\w*")
_LINKS = re.compile(r"(?:\w+_)?link_librar(?:y|ies)")
"""CMake's own commands, and a project's."""
_OUTPUT = re.compile(r"CUDA_\w+")
"""A bare name outside of a condition: some command puts a value there."""
_PROGRAM = re.compile(
    r"#[ \t]*include[ \t]*[<\"\\]+(?:cuda|cublas|cufft|curand|cusparse|cusolver|cudnn|nccl)[\w/]*\.h|\bcuda[A-Z]\w+\("
)
_OWN_FILE = re.compile(
    r"(?:\$\{(?:CMAKE_CURRENT_\w+_DIR|CMAKE_SOURCE_DIR|\w*PROJECT_SOURCE_DIR)\}/)?[\w.-]+(?:/[\w.-]+)*\.cmake"
)
"""A file of the project's own, which is converted, and has findings of its own."""
_MODULE = re.compile(r"(?:Find)?CUDA\w*|.*cuda.*\.cmake|select_compute_arch", re.IGNORECASE)


_ASKED_FOR = re.compile(r"_FIND_(?:QUIETLY|REQUIRED|COMPONENTS|VERSION\w*)")
"""How `find_package` was called, which it tells the module that looks."""
_COMPILERS = frozenset({"CMAKE_CUDA_COMPILER", "CMAKE_HIP_COMPILER"})


class CMakeNotUnderstood(BuildRule):
    """CUDA in CMake that no rule converts

    Variables, modules, calls of nvcc and comparisons with CUDA's version that have no row in the tables. Comparisons
    see an empty value with HIP: decide what they stand for.
    """

    code = "K190"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-cuda-language",)
    examples = (
        reports("if(CUDA_VERSION VERSION_LESS 11.0)\nendif()", path="CMakeLists.txt"),
        reports("execute_process(COMMAND nvcc --version)", path="CMakeLists.txt"),
        reports('set(CMAKE_CUDA_COMPILER "${DIR}/bin/nvcc")', path="CMakeLists.txt"),
        reports("set(CMAKE_CUDA_COMPILER nvcc CACHE STRING x)", path="CMakeLists.txt"),
        clean("set(CMAKE_CUDA_COMPILER ${MINE})", path="CMakeLists.txt"),
        clean('set(MINE "${DIR}/bin/nvcc_wrapper")', path="CMakeLists.txt"),
        reports("set(X ${CUDA_NPP_LIBRARY_ROOT_DIR})", path="CMakeLists.txt", effort=Effort.REVIEW),
        fixes("target_link_libraries(t cublas m)", "target_link_libraries(t hipblas m)", path="CMakeLists.txt"),
        clean("execute_process(COMMAND a OUTPUT_VARIABLE CUDA_X)\nset(X ${CUDA_X})", path="CMakeLists.txt"),
        clean("if(DEFINED CUDA_VERSION AND CUDA_VERSION VERSION_LESS 11.0)\nendif()", path="CMakeLists.txt"),
        clean("if(CUDAToolkit_FIND_REQUIRED OR NOT CUDAToolkit_FIND_QUIETLY)\nendif()", path="FindCUDAToolkit.cmake"),
        clean("set(CUDA_MINE 1)\nset(X ${CUDA_MINE})", path="CMakeLists.txt"),
        reports("include(${fetched_SOURCE_DIR}/cmake/cuda.cmake)", path="CMakeLists.txt", effort=Effort.REVIEW),
        clean("include(${CMAKE_CURRENT_LIST_DIR}/mine_cuda.cmake)\ninclude(a/b-cuda.cmake)", path="CMakeLists.txt"),
        reports(
            'check_cxx_source_compiles("#include <cuda_runtime_api.h>\nint main() { return 0; }" HAVE)',
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        reports(
            'file(WRITE ${F} "#include <cstdio>\nint main() { int n; cudaGetDeviceCount(&n); }")',
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        clean('check_cxx_source_compiles("#include <hip/hip_runtime.h>\nint main() {}" HAVE)', path="CMakeLists.txt"),
        clean('message(STATUS "cudaMalloc() is not there;")', path="CMakeLists.txt"),
        clean('option(SLOW "call cudaDeviceSynchronize() each time" OFF)', path="CMakeLists.txt"),
        clean('message(STATUS "${CUDA_VERSION}")', path="CMakeLists.txt"),
        clean("target_link_libraries(t lib${CUDA_LIB_EXT})", path="CMakeLists.txt"),
        fixes("own_link_library(cublas m)", "own_link_library(hipblas m)", path="CMakeLists.txt"),
        reports('register_link_library("nvidia-ml")', path="CMakeLists.txt"),
        clean("unlink_all(cublas)\nfunction(own_link_libraries t)\nendfunction()", path="CMakeLists.txt"),
        fixes(
            "if(EXISTS ${P}/libcudart.so OR EXISTS ${P}/libmycudart.so)\nendif()",
            "if(EXISTS ${P}/libamdhip64.so OR EXISTS ${P}/libmycudart.so)\nendif()",
            path="CMakeLists.txt",
        ),
        fixes(
            "set(L ${P}/libcudart_static.a)",
            "set(L ${P}/libamdhip64.so)",
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        reports("set(L ${P}/libcudadevrt.a)", path="CMakeLists.txt"),
        clean("message(STATUS libcudart.so)\nset(L libcudart.txt)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        if unit.broken_at is not None:
            message = "the parser does not understand this place; commands around it may be missing from the report"
            yield self.finding(unit, unit.broken_at, unit.broken_at, message, Effort.REVIEW)
        own = {
            c.word(0) for c in unit.commands if c.name in ("set", "option", "find_path", "find_library", "find_program")
        }
        own |= {c.word(1) for c in unit.commands if c.name in ("list", "string", "get_filename_component")}
        own |= {a.text for c in unit.commands if c.name in ("function", "macro", "foreach") for a in c.arguments}
        tests = ("if", "elseif", "while", "message")
        own |= {a.text for c in unit.commands if c.name not in tests for a in c.arguments if _OUTPUT.fullmatch(a.text)}
        for index, command in enumerate(unit.commands):
            decided = command.name in ("if", "elseif") and command.word(0) == NEVER
            if command.name == "message" or decided or decided_by_version(unit.commands, index):
                continue
            for argument in command.arguments:
                yield from self._argument(unit, command, argument, frozenset(own))

    def _argument(
        self, unit: BuildUnit, command: Command, argument: Argument, own: frozenset[str]
    ) -> Iterator[Finding]:
        where = (argument.start, argument.end)
        text = argument.text
        if argument.quoted and "{" in text and _PROGRAM.search(text) is not None:
            message = f"{command.name} has a program in CUDA, whose names stay: it does not compile on ROCm"
            yield self.finding(unit, *where, message, Effort.REVIEW)
        for match in _REFERENCE.finditer(text):
            if match[1] not in own and not _is_known(match[1]):
                effort = Effort.MANUAL if match[1] in VERSIONS and command.name in ("if", "elseif") else Effort.REVIEW
                yield self.finding(unit, *where, f"{match[0]} has no value with HIP", effort)
        asked = command.name in ("if", "elseif") and _NAME.fullmatch(text) is not None
        if asked and text not in own and not _is_known(text) and not _is_guarded(command, text):
            yield self.finding(unit, *where, f"{text} has no value with HIP", Effort.MANUAL)
        if is_compiler(text) and command.name in (
            "execute_process",
            "add_custom_command",
            "add_custom_target",
            "find_program",
        ):
            yield self.finding(unit, *where, f"{command.name} calls nvcc", Effort.MANUAL)
        if command.name == "set" and command.word(0) in _COMPILERS and is_compiler(text):
            message = "the compiler of HIP's language is ROCm's clang++: leave this out, and CMake finds it"
            yield self.finding(unit, *where, message, Effort.MANUAL)
        is_module = command.name == "include" and argument is command.arguments[0] and _MODULE.fullmatch(text)
        if is_module and _OWN_FILE.fullmatch(text) is None:
            yield self.finding(unit, *where, f"include({text}): a module about CUDA", Effort.REVIEW)
        if command.name == "find_library" or _LINKS.fullmatch(command.name) is not None:
            yield from self._library(unit, argument)
        for file in linked_files(text) if not argument.raw else ():
            where = (argument.inner + file.start, argument.inner + file.end)
            edits = (Edit(*where, file.new),) if file.new is not None else ()
            yield self.finding(unit, *where, file.message, file.effort, edits)

    def _library(self, unit: BuildUnit, argument: Argument) -> Iterator[Finding]:
        name = argument.text.removeprefix("-l")
        new = library(name)
        where = (argument.inner, argument.inner + len(argument.text))
        if new:
            prefix = "-l" if argument.text.startswith("-l") else ""
            message = f"{name} becomes {new}"
            yield self.finding(unit, *where, message, Effort.NONE, (Edit(*where, prefix + new),))
        elif is_nvidia_library(name):
            yield self.finding(unit, *where, f"{name} is NVIDIA's: no counterpart that could be linked", Effort.MANUAL)


def _is_known(name: str) -> bool:
    dropped = frozenset(table("dropped_variables")["names"])
    if name in VERSIONS:
        return False
    if _ASKED_FOR.search(name) is not None:
        return True
    return name in table("variables") or name in dropped or language_variable(name) is not None


def _is_guarded(command: Command, name: str) -> bool:
    """`if(DEFINED X AND X VERSION_LESS 12)`: without a value the condition is false, as it should be."""
    words = [argument.text for argument in command.arguments]
    return ("DEFINED", name) in pairwise(words) and "OR" not in words
