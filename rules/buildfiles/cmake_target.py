"""K105: CUDA's imported targets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.cmake import Command
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports
from porter.buildfiles.tables import table

_TARGET = re.compile(r"(?<!\w)(?<!::)(?:CUDA|CUB|Thrust|NCCL)::\w+")

_EXISTS = "TARGET_EXISTS:"

_NPP = re.compile(r"CUDA::npp\w*")


class CMakeTarget(BuildRule):
    """Imported target of CUDA

    `CUDA::cublas` is `roc::hipblas`, `CUDA::cudart` is `hip::host` (`hip::device` would hand --offload-arch to plain
    C++ files as well). rules/buildfiles/cmake.toml has the list; a target that is not in it is manual work. NVTX is a
    library of ROCm's without a target (`roctx64`): `TARGET CUDA::nvToolsExt` in a condition asks for `hip_FOUND`.
    """

    code = "K105"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("hip-device-flags-host",)
    examples = (
        fixes(
            "target_link_libraries(t PRIVATE CUDA::cudart)",
            "target_link_libraries(t PRIVATE hip::host)",
            path="CMakeLists.txt",
        ),
        fixes(
            'set(LIBS "$<BUILD_INTERFACE:CUDA::cublas>")',
            'set(LIBS "$<BUILD_INTERFACE:roc::hipblas>")',
            path="CMakeLists.txt",
        ),
        fixes(
            "if(NOT TARGET CUDA::nvToolsExt OR A)\nendif()",
            "if(NOT hip_FOUND OR A)\nendif()",
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        fixes("if(TARGET CUDA::cublas)\nendif()", "if(TARGET roc::hipblas)\nendif()", path="CMakeLists.txt"),
        fixes(
            "add_compile_definitions($<$<TARGET_EXISTS:CUDA::nvtx3>:NVTX>)",
            "add_compile_definitions($<$<BOOL:${hip_FOUND}>:NVTX>)",
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        fixes(
            "set(TARGET CUDA::nvToolsExt)",
            "set(TARGET roctx64)",
            path="CMakeLists.txt",
            effort=Effort.REVIEW,
        ),
        reports("target_link_libraries(t PRIVATE CUDA::nvjpeg)", path="CMakeLists.txt"),
        clean("target_link_libraries(t PRIVATE Boost::headers) # CUDA::cudart", path="CMakeLists.txt"),
        clean("_my_interface_alias(Thrust::CPP _T)\ntarget_link_libraries(t Thrust::CPP)", path="CMakeLists.txt"),
        clean("add_library(CUDA::mine ALIAS m)\ntarget_link_libraries(t CUDA::mine)", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        own = {c.word(0) for c in unit.commands if c.name == "add_library" or "alias" in c.name}
        for command in unit.commands:
            if command.name in ("message", "add_library"):
                continue
            asked = _asked(command)
            for argument in command.arguments:
                for match in _TARGET.finditer(argument.text):
                    start, end = argument.inner + match.start(), argument.inner + match.end()
                    row = table("targets").get(match[0])
                    if match[0] in own:
                        continue
                    if row is None:
                        message = _without_counterpart(match[0])
                        yield self.finding(unit, start, end, message, Effort.MANUAL)
                        continue
                    effort, new = Effort(row.get("effort", "none")), row["name"]
                    why = f": {row['why']}" if "why" in row else ""
                    message = f"{match[0]} becomes {new}{why}"
                    if "::" not in new and argument.inner in asked:
                        start, new = asked[argument.inner], "hip_FOUND"
                        message = f"{match[0]} is no target with ROCm: whether HIP was found is asked instead"
                    elif "::" not in new and unit.text[:start].endswith(_EXISTS):
                        start, new = start - len(_EXISTS), "BOOL:${hip_FOUND}"
                        message = f"{match[0]} is no target with ROCm: whether HIP was found is asked instead"
                    yield self.finding(unit, start, end, message, effort, (Edit(start, end, new),))


def _asked(command: Command) -> dict[int, int]:
    """Where a condition names a target that shall exist, and where its `TARGET` begins."""
    if command.name not in ("if", "elseif", "while"):
        return {}
    pairs = zip(command.arguments, command.arguments[1:], strict=False)
    return {name.inner: word.inner for word, name in pairs if word.text == "TARGET"}


def _without_counterpart(target: str) -> str:
    """One cause for all parts of a library."""
    if _NPP.fullmatch(target):
        return "CUDA::npp and its parts: NPP has no source-compatible counterpart; RPP or rocAL cover part of it"
    return f"{target}: no counterpart is known"
