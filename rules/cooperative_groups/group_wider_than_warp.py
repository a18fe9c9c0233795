"""C103: groups that gfx942 does not have."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import closing_angle, parse_expression
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.bodies import bodies_of

_CLUSTERS = frozenset({"this_cluster", "cluster_group", "map_shared_rank", "query_shared_rank"})
_GRIDS = frozenset({"this_multi_grid", "multi_grid_group"})
_TILES = frozenset({"tiled_partition", "thread_block_tile"})
_WARP = 32


class GroupWiderThanWarp(Rule):
    """Cooperative group that gfx942 does not have

    Clusters with their distributed shared memory and groups over several grids have no counterpart on MI300X, and a
    tile of more than 32 threads spans logical warps, so it cannot be built from warp operations. Stage through global
    memory, run one kernel per device, or use a block-wide reduction through shared memory.
    """

    code = "C103"
    only_reports = True
    triggers = _CLUSTERS | _GRIDS | _TILES
    hazards = ("cg-cluster-group", "cg-multi-grid", "cg-tile-size-limit")
    examples = (
        reports("__global__ void k() { auto c = cooperative_groups::this_cluster(); c.sync(); }"),
        reports(
            """
            namespace cg = cooperative_groups;
            __global__ void k() { auto t = cg::tiled_partition<128>(cg::this_thread_block()); t.sync(); }
            """
        ),
        clean(
            """
            namespace cg = cooperative_groups;
            __global__ void k() { auto t = cg::tiled_partition<32>(cg::this_thread_block()); t.sync(); }
            """
        ),
        clean("int this_cluster(int); int f() { return this_cluster(3); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        tokens = unit.tokens
        if "cooperative_groups" not in tokens.names:
            return
        for name in sorted(_CLUSTERS | _GRIDS):
            slug = "cg-cluster-group" if name in _CLUSTERS else "cg-multi-grid"
            for index in tokens.names.get(name, ()):
                message = f"{name} has no counterpart on gfx942 [{slug}]"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)
        for name in sorted(_TILES):
            for index in tokens.names.get(name, ()):
                size = self._size(unit, index)
                if size is not None and size > _WARP:
                    message = f"a tile of {size} threads spans logical warps of 32 [cg-tile-size-limit]"
                    yield self.finding(unit, unit.span(index), message, Effort.MANUAL)

    @staticmethod
    def _size(unit: Unit, index: int) -> int | None:
        """The first template argument, where it is a constant."""
        tokens = unit.tokens
        closed = closing_angle(tokens, index + 1) if unit.next_is(index, "<") else None
        if closed is None:
            return None
        end = next((i for i in range(index + 2, closed[0]) if tokens.texts[i] == ","), closed[0])
        return bodies_of(unit).constants.value(parse_expression(tokens, index + 2, end))
