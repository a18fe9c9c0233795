"""K104: find_package of CUDA's packages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.cmake import Command
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports
from porter.buildfiles.tables import table

_KEPT = ("REQUIRED", "QUIET")
_FINDING = frozenset({"find_package", "find_dependency"})
_NVIDIA_ONLY = frozenset(
    {
        "CUDNN",
        "cudnn",
        "CUDNN_FRONTEND",
        "cuDNN",
        "TensorRT",
        "TENSORRT",
        "NvInfer",
        "OptiX",
        "cutensor",
        "cuTENSOR",
        "nvshmem",
        "NVSHMEM",
        "nvcomp",
        "nvtx3",
        "cuCollections",
        "rmm",
        "raft",
        "cudf",
        "CUDSS",
        "NvidiaCutlass",
        "CUSPARSELT",
    }
)


class CMakePackage(BuildRule):
    """CUDA package in CMake

    `find_package(CUDAToolkit)` becomes `find_package(hip)`; the deprecated `find_package(CUDA)` also stood for the
    language, which is enabled. Packages of the libraries whose targets the file links are added after it (ROCm has one
    package per library). So it is with `find_dependency` in the file that finds the project once it is installed, and
    there is no target in sight there: who links hipBLAS has to ask for it by hand. NVIDIA's packages without a
    counterpart are reported.
    """

    code = "K104"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-cuda-language",)
    examples = (
        fixes("find_package(CUDAToolkit 11.2 REQUIRED)", "find_package(hip REQUIRED)", path="CMakeLists.txt"),
        fixes("find_package(CUDA REQUIRED)", "enable_language(HIP)\nfind_package(hip REQUIRED)", path="CMakeLists.txt"),
        fixes(
            "find_package(CUDAToolkit REQUIRED)\ntarget_link_libraries(t CUDA::cublas CUDA::cufft)",
            "find_package(hip REQUIRED)\nfind_package(hipblas REQUIRED)\nfind_package(hipfft REQUIRED)\n"
            "target_link_libraries(t CUDA::cublas CUDA::cufft)",
            path="CMakeLists.txt",
        ),
        fixes(
            "@PACKAGE_INIT@\nfind_dependency(CUDAToolkit 12)",
            "@PACKAGE_INIT@\nfind_dependency(hip)",
            path="foo-config.cmake.in",
            effort=Effort.REVIEW,
        ),
        reports("find_package(cuTENSOR REQUIRED)", path="CMakeLists.txt"),
        clean("find_package(Threads REQUIRED)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        needed = _needed(unit)
        anchor = _anchor(unit, needed)
        for command in unit.commands:
            row = table("packages").get(command.word(0)) if command.name in _FINDING else None
            extra = _lines(unit, command, needed) if command is anchor else ""
            if row is not None:
                new = _written(unit, command, row)
                where = (command.start, command.end)
                message = f"{unit.text[command.start : command.end]} becomes {_listed(new + extra)}"
                if command.name == "find_package":
                    yield self.finding(unit, *where, _short(message), Effort.NONE, (Edit(*where, new + extra),))
                else:
                    message += "; ROCm has one package per library: ask for those that the exported targets link, too"
                    yield self.finding(unit, *where, _short(message), Effort.REVIEW, (Edit(*where, new),))
            elif command.name in _FINDING and command.word(0) in _NVIDIA_ONLY:
                message = f"{command.word(0)} is NVIDIA's alone: what is used of it has to be replaced"
                yield self.finding(unit, command.start, command.end, message, Effort.MANUAL)
            elif extra:
                message = f"packages of the libraries that are linked: {', '.join(needed)}"
                at = command.end if command.name == "find_package" else command.start
                text = extra if command.name == "find_package" else extra.lstrip() + "\n" + _indent(unit, command)
                yield self.finding(unit, command.start, command.end, message, Effort.NONE, (Edit(at, at, text),))


def _listed(written: str) -> str:
    """Commands stand on lines of their own; words between blanks are one package and its options."""
    return " and ".join(line.strip() for line in written.splitlines() if line.strip())


def _short(message: str) -> str:
    return " ".join(message.split())


def _needed(unit: BuildUnit) -> tuple[str, ...]:
    """Packages for the targets that the file names, that it does not look for yet."""
    found = {command.word(0) for command in unit.commands if command.name == "find_package"}
    targets, variables, commands = table("targets"), table("variables"), table("commands")
    new_names = {row["name"]: row["package"] for row in targets.values() if "package" in row}
    wanted: dict[str, None] = {}
    for command in unit.commands:
        if command.name in commands and "package" in commands[command.name]:
            wanted[commands[command.name]["package"]] = None
        for argument in command.arguments:
            row = targets.get(argument.text)
            if row is not None and "package" in row and command.name != "find_package":
                wanted[row["package"]] = None
            for name in re.findall(r"\$\{(\w+)\}", argument.text):
                text = variables.get(name, {}).get("text")
                if text in new_names:
                    wanted[new_names[text]] = None
    renamed = {table("packages")[name]["name"] for name in found if name in table("packages")}
    return tuple(name for name in wanted if name != "hip" and name not in found and name not in renamed)


def _anchor(unit: BuildUnit, needed: tuple[str, ...]) -> Command | None:
    """The command that the new find_package lines go to."""
    if not needed:
        return None
    finds = [c for c in unit.commands if c.name == "find_package" and c.word(0) in {*table("packages"), "hip"}]
    if finds:
        return finds[0]
    targets = table("targets")
    for command in unit.commands:
        if command.name in table("commands") or any(argument.text in targets for argument in command.arguments):
            return command
        if (
            any("${CUDA_" in argument.text for argument in command.arguments)
            and command.name == "target_link_libraries"
        ):
            return command
    return None


def _lines(unit: BuildUnit, command: Command, needed: tuple[str, ...]) -> str:
    required = " REQUIRED" if command.name != "find_package" or _is_required(command) else ""
    end = unit.source.newline
    return "".join(f"{end}{_indent(unit, command)}find_package({name}{required})" for name in needed)


def _is_required(command: Command) -> bool:
    return any(argument.text == "REQUIRED" for argument in command.arguments)


def _indent(unit: BuildUnit, command: Command) -> str:
    line, _ = unit.source.position(command.start)
    before = unit.text[unit.source.line_start(line) : command.start]
    return before if before.isspace() else ""


def _written(unit: BuildUnit, command: Command, row: dict[str, object]) -> str:
    kept = "".join(f" {argument.text}" for argument in command.arguments if argument.text in _KEPT)
    found = f"{command.name}({row['name']}{kept})"
    if not row.get("language"):
        return found
    end, indent = unit.source.newline, _indent(unit, command)
    if _is_required(command):
        return f"enable_language(HIP){end}{indent}{found}"
    lines = ("include(CheckLanguage)", "check_language(HIP)", "if(CMAKE_HIP_COMPILER)", "  enable_language(HIP)")
    return (end + indent).join((*lines, f"  {found}", "endif()"))
