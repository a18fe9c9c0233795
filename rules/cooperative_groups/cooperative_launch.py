"""C105: a cooperative launch needs all of its blocks at once."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_LAUNCHES = frozenset({"cudaLaunchCooperativeKernel", "cuLaunchCooperativeKernel", "cudaLaunchAttributeCooperative"})
_OCCUPANCY = frozenset(
    {
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
        "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    }
)


class CooperativeLaunch(Rule):
    """Cooperative launch with a grid that was not computed for the device

    `grid.sync()` needs all blocks to be resident; HIP refuses the launch when they are not. What fits differs: 304
    compute units, 64 KiB of shared memory and 2048 threads on each. Compute the grid from
    `hipOccupancyMaxActiveBlocksPerMultiprocessor` and the number of compute units. A file that asks for the
    occupancy is not reported.
    """

    code = "C105"
    only_reports = True
    triggers = _LAUNCHES
    hazards = ("cg-grid-sync-launch", "persistent-grid-sizing")
    examples = (
        reports(
            "void f(void *k, void **a) { cudaLaunchCooperativeKernel(k, dim3(128), dim3(256), a, 0, 0); }",
            effort=Effort.REVIEW,
        ),
        clean(
            """
            void f(void *k, void **a, int sms) {
              int blocks;
              cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 256, 0);
              cudaLaunchCooperativeKernel(k, dim3(blocks * sms), dim3(256), a, 0, 0);
            }
            """
        ),
        clean("void f(void *k, void **a) { cudaLaunchKernel(k, dim3(128), dim3(256), a, 0, 0); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per launch."""
        if not _OCCUPANCY.isdisjoint(unit.tokens.names):
            return
        for name in sorted(_LAUNCHES):
            for index in unit.occurrences(name):
                message = (
                    "all blocks of this grid must be resident at once, or HIP refuses the launch: compute the grid "
                    "from the occupancy on gfx942 [cg-grid-sync-launch]"
                )
                yield self.finding(unit, unit.span(index), message, Effort.REVIEW)
