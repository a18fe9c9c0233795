"""K311: switches by which builds of other projects turn to CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.backends import load_backends
from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, reports
from porter.buildfiles.written import found_written


class OtherProjectSwitch(BuildRule):
    """Switch by which another project's build turns to CUDA

    Kokkos, RAJA, llama.cpp, PETSc, GROMACS and many others are told by a variable or by a switch of `configure` that
    they shall use CUDA: `-DKokkos_ENABLE_CUDA=ON`, `GGML_CUDA=1`, `--with-cuda`. On an AMD machine that build stops, or
    goes on without a GPU. Nothing is changed; the message names the switch for AMD. Told once per file and project,
    where it is turned on (Kokkos's also where it is asked about), and not in files that name AMD's as well. Switches of
    the project itself (`option(USE_CUDA ...)`) keep their names in a port and are not told, nor is anything in the tree
    of the other project. rules/buildfiles/backends.toml has the rows.
    """

    code = "K311"
    kinds = frozenset({Kind.CMAKE, Kind.MAKE, Kind.SHELL, Kind.PYTHON})
    at_run_time = True
    examples = (
        *(clean(text, path=path) for row in load_backends("switches") for path, text in row.near_misses),
        *(
            reports(text, path=path, effort=Effort.REVIEW)
            for row in load_backends("switches")
            for path, text in row.examples
        ),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for row in load_backends("switches"):
            if not row.is_for(unit.text, unit.sources.headers):
                continue
            own = _own(unit)
            for start, end, switch in found_written(unit, row.what):
                if own.isdisjoint(re.findall(r"\w+", switch)):
                    yield self.finding(unit, start, end, f"{switch.strip()}: {row.instead}", Effort.REVIEW)
                    break


def _own(unit: BuildUnit) -> frozenset[str]:
    """Switches that a CMake file defines: it is the project itself that has them."""
    if unit.kind is not Kind.CMAKE:
        return frozenset()
    defining = ("option", "cmake_dependent_option")
    return frozenset(command.word(0) for command in unit.commands if command.name in defining)
