"""K112: branches of CMake that CUDA's version decides."""

from __future__ import annotations

from collections.abc import Iterator

from porter.buildfiles.cmake_versions import NEVER, decided_by_version
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes


class CMakeVersionBranch(BuildRule):
    """CUDA's version as a reason to stop, or for targets

    With HIP the version has no value, and CMake takes an empty value for less than any: a build that refuses old
    versions of CUDA stops. Branches that only refuse or tell, or name NVIDIA's targets, are never taken in the port.
    What else depends on CUDA's version is a decision (K190).
    """

    code = "K112"
    kinds = frozenset({Kind.CMAKE})
    examples = (
        fixes(
            'if(CUDA_VERSION VERSION_LESS 11)\n  message(FATAL_ERROR "too old")\nendif()',
            'if(FALSE AND (CUDA_VERSION VERSION_LESS 11))\n  message(FATAL_ERROR "too old")\nendif()',
            path="CMakeLists.txt",
        ),
        fixes(
            'if(A)\nelseif("${CUDA_VERSION}" GREATER 9 OR B)\n  list(APPEND ARCHES 75)\nendif()',
            'if(A)\nelseif(FALSE AND ("${CUDA_VERSION}" GREATER 9 OR B))\n  list(APPEND ARCHES 75)\nendif()',
            path="CMakeLists.txt",
        ),
        clean("if(CUDA_VERSION VERSION_LESS 11)\n  set(OLD ON)\nendif()", path="CMakeLists.txt"),
        clean("if(CUDA_VERSION VERSION_LESS 11)\nendif()", path="CMakeLists.txt"),
        clean('if(X_VERSION VERSION_LESS 11)\n  message(FATAL_ERROR "x")\nendif()', path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for index, command in enumerate(unit.commands):
            if not decided_by_version(unit.commands, index) or command.word(0) == NEVER:
                continue
            first, last = command.arguments[0].start, command.end - 1
            edits = (Edit(first, first, f"{NEVER} AND ("), Edit(last, last, ")"))
            message = "depends on CUDA's version, which HIP has not: this branch is for NVIDIA alone"
            yield self.finding(unit, command.start, command.end, message, Effort.NONE, edits)
