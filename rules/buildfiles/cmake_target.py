"""K105: CUDA's imported targets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports
from porter.buildfiles.tables import table

_TARGET = re.compile(r"(?<!\w)(?<!::)(?:CUDA|CUB|Thrust|NCCL)::\w+")

_NPP = re.compile(r"CUDA::npp\w*")


class CMakeTarget(BuildRule):
    """Imported target of CUDA

    `CUDA::cublas` is `roc::hipblas`, `CUDA::cudart` is `hip::host` (`hip::device` would hand --offload-arch to plain
    C++ files as well). rules/buildfiles/cmake.toml has the list; a target that is not in it is manual work.
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
                    effort = Effort(row.get("effort", "none"))
                    why = f": {row['why']}" if "why" in row else ""
                    message = f"{match[0]} becomes {row['name']}{why}"
                    yield self.finding(unit, start, end, message, effort, (Edit(start, end, row["name"]),))


def _without_counterpart(target: str) -> str:
    """One cause for all parts of a library."""
    if _NPP.fullmatch(target):
        return "CUDA::npp and its parts: NPP has no source-compatible counterpart; RPP or rocAL cover part of it"
    return f"{target}: no counterpart is known"
