"""K106: the commands of FindCUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.cmake import Command
from porter.buildfiles.tables import table
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind, whole_removal
from porter.engine.rule import Edit, Effort, Finding, clean, fixes, reports

_FLAGS = "CUDA_NVCC_FLAGS"
_OF_FIND_CUDA = re.compile(
    r"cuda_(?:add_\w+|compile\w*|wrap_srcs|include_directories|build_\w+|select_nvcc_arch_flags|source_property_format"
    r"|link_separable_\w+|compute_\w+|find_\w+|parse_nvcc_options|get_sources_and_options|\w+_to_target)"
)
"""Any other `cuda_x` is a function of the project's own, defined in a file that is not in sight."""
_CONFIGURATIONS = frozenset({"DEBUG", "RELEASE", "RELWITHDEBINFO", "MINSIZEREL"})


class CMakeLegacyCommand(BuildRule):
    """Command of FindCUDA

    FindCUDA is deprecated; with a language, `cuda_add_library` is `add_library`. CUDA_NVCC_FLAGS is a list and
    CMAKE_HIP_FLAGS a string, so `list(APPEND ...)` becomes `string(APPEND ...)`. `cuda_compile`, `cuda_wrap_srcs` and
    the like have no counterpart.
    """

    code = "K106"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-cuda-language",)
    examples = (
        fixes("cuda_add_library(t SHARED a.cpp)", "add_library(t SHARED a.cpp)", path="CMakeLists.txt"),
        fixes("CUDA_ADD_EXECUTABLE(t a.cpp)", "add_executable(t a.cpp)", path="CMakeLists.txt"),
        fixes(
            "cuda_add_executable(t a.cpp\nOPTIONS ${F} -lineinfo)",
            "add_executable(t a.cpp)\ntarget_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:HIP>:${F};-lineinfo>)",
            path="CMakeLists.txt",
        ),
        reports("cuda_add_library(t a.cpp OPTIONS DEBUG -g RELEASE -O3)", path="CMakeLists.txt"),
        fixes("cuda_add_cublas_to_target(t)", "target_link_libraries(t roc::hipblas)", path="CMakeLists.txt"),
        fixes("list(APPEND CUDA_NVCC_FLAGS -O3 -g)", 'string(APPEND CMAKE_HIP_FLAGS " -O3 -g")', path="CMakeLists.txt"),
        fixes(
            "set(CUDA_NVCC_FLAGS ${CUDA_NVCC_FLAGS};-O3)",
            'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -O3")',
            path="CMakeLists.txt",
        ),
        reports("cuda_wrap_srcs(t PTX out a.cpp)", path="CMakeLists.txt"),
        clean("cuda_archs_loose_intersection(ARCHS 8.0 9.0)", path="CMakeLists.txt"),
        clean("function(cuda_mine)\nendfunction()\ncuda_mine(a)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        own = {c.word(0).lower() for c in unit.commands if c.name in ("function", "macro")}
        for command in unit.commands:
            if _OF_FIND_CUDA.fullmatch(command.name) and command.name not in own:
                yield self._command(unit, command)
            elif _FLAGS in (command.word(0), command.word(1)) or command.word(0).startswith(_FLAGS + "_"):
                yield from self._flags(unit, command)

    def _command(self, unit: BuildUnit, command: Command) -> Finding:
        where = (command.start, command.end)
        row = table("commands").get(command.name)
        options = [index for index, argument in enumerate(command.arguments) if argument.text == "OPTIONS"]
        by_configuration = options and any(a.text in _CONFIGURATIONS for a in command.arguments[options[0] :])
        if row is None or by_configuration or (options and not command.name.startswith("cuda_add_")):
            reason = "its OPTIONS have to become target_compile_options" if options else "no counterpart is known"
            return self.finding(unit, *where, f"{command.name}: {reason}", Effort.MANUAL)
        if "name" in row:
            name_at = (command.start, command.name_end)
            message = f"{command.name} becomes {row['name']}"
            edits = (Edit(*name_at, row["name"]), *(_options(unit, command, options[0]) if options else ()))
            return self.finding(unit, *where, message, Effort.NONE, edits)
        if "link" not in row:
            edit = whole_removal(unit.text, *where)
            return self.finding(unit, *where, f"{command.name} is left out", Effort.NONE, (edit,))
        new = f"target_link_libraries({command.word(0)} {row['link']})"
        return self.finding(unit, *where, f"{command.name} becomes {new}", Effort.NONE, (Edit(*where, new),))

    def _flags(self, unit: BuildUnit, command: Command) -> Iterator[Finding]:
        """A list of flags that becomes a string."""
        appends = command.name == "list" and command.word(0).upper() in ("APPEND", "PREPEND")
        if command.name != "set" and not appends:
            return
        skip = 2 if appends else 1
        name = command.arguments[skip - 1]
        values = command.arguments[skip:]
        if not name.text.startswith(_FLAGS) or any(value.text in ("CACHE", "PARENT_SCOPE") for value in values):
            return
        text = " ".join(value.text.replace(";", " ") for value in values).replace("${" + _FLAGS, "${CMAKE_HIP_FLAGS")
        new_name = "CMAKE_HIP_FLAGS" + name.text[len(_FLAGS) :]
        start, end = command.start, command.end - 1
        if appends:
            verb = command.word(0).upper()
            value = f'" {text}"' if verb == "APPEND" else f'"{text} "'
            new = f"string({verb} {new_name} {value}" if values else f"string({verb} {new_name}"
        else:
            new = f'set({new_name} "{text}"' if values else f"set({new_name}"
        message = f"{name.text} is a list, {new_name} a string"
        yield self.finding(unit, command.start, command.end, message, Effort.NONE, (Edit(start, end, new),))


def _options(unit: BuildUnit, command: Command, at: int) -> tuple[Edit, ...]:
    """OPTIONS of a target, which are nvcc's alone, as a command of their own behind it."""
    words = [argument for argument in command.arguments[at + 1 :] if argument.text]
    before = command.arguments[at - 1].end
    cut = Edit(before, command.end - 1, "")
    if not words:
        return (cut,)
    flags = ";".join(unit.text[word.start : word.end] for word in words)
    new = f"\ntarget_compile_options({command.word(0)} PRIVATE $<$<COMPILE_LANGUAGE:HIP>:{flags}>)"
    return (cut, Edit(command.end, command.end, new))
