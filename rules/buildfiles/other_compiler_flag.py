"""K310: flags by which other compilers build for NVIDIA's GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from porter.buildfiles.backends import load_backends
from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, reports
from porter.buildfiles.written import found_written


class OtherCompilerFlag(BuildRule):
    """Flag by which another compiler builds for NVIDIA's GPUs

    OpenMP, SYCL, OpenACC and the standard's parallel algorithms come to GPUs by flags of clang's, DPC++'s, GCC's and
    NVIDIA's HPC compilers. What is built with them for NVIDIA does not run on MI300X, or runs on the CPU. Nothing is
    changed; the message names the nearest flags for AMD. Told once per file and compiler, and not in files that name
    AMD's targets as well. rules/buildfiles/backends.toml has the rows.
    """

    code = "K310"
    kinds = frozenset({Kind.CMAKE, Kind.MAKE, Kind.SHELL, Kind.PYTHON})
    at_run_time = True
    examples = (
        *(clean(text, path=path) for row in load_backends("flags") for path, text in row.near_misses),
        *(
            reports(text, path=path, effort=Effort.REVIEW)
            for row in load_backends("flags")
            for path, text in row.examples
        ),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for row in load_backends("flags"):
            if not row.is_for(unit.text, unit.sources.headers):
                continue
            first = next(found_written(unit, row.what), None)
            if first is not None:
                start, end, flag = first
                yield self.finding(unit, start, end, f"{flag}: {row.instead}", Effort.REVIEW)
