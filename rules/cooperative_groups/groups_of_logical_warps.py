"""C101: cooperative groups count lanes of the hardware."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_HEADER = "porter/cooperative_groups.hpp"


class GroupsOfLogicalWarps(Rule):
    """Cooperative groups on a 64-lane wavefront

    HIP's `coalesced_threads()` gathers up to 64 lanes where CUDA gathers 32, votes of a tile need a macro and return 64
    bits, `tile.shfl` takes arithmetic types only, and `reduce`, the scans, `labeled_partition`, `invoke_one` and
    `num_threads` are missing in most versions, wrong for two-dimensional blocks in others. The namespace is replaced by
    one of the same content whose tiles and coalesced groups lie within logical warps of 32 lanes.
    """

    code = "C101"
    triggers = frozenset({"cooperative_groups"})
    answers = frozenset(
        f"cooperative_groups::{name}"
        for name in ("binary_partition", "bit_and", "bit_or", "bit_xor", "greater", "less", "plus", "reduce")
    )
    hazards = (
        "cg-vote-needs-macro",
        "cg-tile32-ballot-width",
        "cg-tile-shfl-types",
        "cg-missing-reduce-scan",
        "cg-reduce-multidim-bug",
        "cg-reduce-coalesced-mask",
        "cg-num-threads",
        "cg-coalesced-tile-shift-bug",
        "cg-tile-sync-agent-fence",
        "cg-memcpy-async",
    )
    examples = (
        fixes(
            """
            namespace cg = cooperative_groups;
            __device__ int rank() { return cg::coalesced_threads().thread_rank(); }
            """,
            """
            namespace cg = porter::cooperative_groups;
            __device__ int rank() { return cg::coalesced_threads().thread_rank(); }
            """,
        ),
        fixes(
            """
            using namespace cooperative_groups;
            __device__ void f() { ::cooperative_groups::this_thread_block().sync(); }
            """,
            """
            using namespace porter::cooperative_groups;
            __device__ void f() { porter::cooperative_groups::this_thread_block().sync(); }
            """,
        ),
        clean("namespace cooperative_groups { class thread_block; }"),
        clean("namespace cg = porter::cooperative_groups;"),
        clean(
            "namespace my { namespace cooperative_groups { int f(); } } int g() { return my::cooperative_groups::f(); }"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per mention of the namespace."""
        tokens = unit.tokens
        for index in tokens.names["cooperative_groups"]:
            if not unit.is_free(index) or unit.next_is(index, "{"):
                continue
            first = index - 1 if index and tokens.texts[index - 1] == "::" else index
            span = unit.span(first, index)
            message = (
                "HIP's groups count 64 lanes: replaced by groups of logical warps of 32 [cg-coalesced-tile-shift-bug]"
            )
            edit = Edit(span.start, span.end, "porter::cooperative_groups")
            yield self.finding(unit, span, message, Effort.NONE, (edit,), (_HEADER,))
