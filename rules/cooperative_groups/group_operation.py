"""C104: operations of groups that the port supplies."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_FUNCTIONS = {
    **dict.fromkeys(("inclusive_scan", "exclusive_scan", "labeled_partition", "invoke_one", "invoke_one_broadcast",
                     "reduce", "plus", "less", "greater", "bit_and", "bit_or", "bit_xor"), "cg-missing-reduce-scan"),
    **dict.fromkeys(("memcpy_async", "wait", "wait_prior"), "cg-memcpy-async"),
    "binary_partition": "cg-vote-needs-macro",
    "coalesced_threads": "cg-reduce-coalesced-mask",
    "tiled_partition": "cg-coalesced-tile-shift-bug",
}  # fmt: skip
_MEMBERS = {
    **dict.fromkeys(("ballot", "any", "all", "match_any", "match_all"), "cg-vote-needs-macro, cg-tile32-ballot-width"),
    **dict.fromkeys(("shfl", "shfl_up", "shfl_down", "shfl_xor"), "cg-tile-shfl-types"),
    **dict.fromkeys(("num_threads", "num_blocks", "block_rank", "dim_blocks", "dim_threads"), "cg-num-threads"),
    "sync": "cg-tile-sync-agent-fence",
}  # fmt: skip
_EXTRA = {"reduce": "cg-reduce-multidim-bug, cg-reduce-coalesced-mask"}


class GroupOperation(Rule):
    """Group operation that the port supplies

    HIP lacks this operation in some versions, or gives it another meaning on 64 lanes. `porter/cooperative_groups.hpp`,
    whose namespace stands in for CUDA's, has it with CUDA's meaning; nothing is left to do here.
    """

    code = "C104"
    only_reports = True
    triggers = frozenset({"cooperative_groups"})
    hazards = ("cg-missing-reduce-scan", "cg-vote-needs-macro", "cg-num-threads", "cg-memcpy-async")
    examples = (
        reports(
            """
            namespace cg = cooperative_groups;
            __device__ int sum(int v) {
              auto tile = cg::tiled_partition<32>(cg::this_thread_block());
              return cg::reduce(tile, v, cg::plus<int>());
            }
            """,
            effort=Effort.NONE,
        ),
        clean("namespace cg = cooperative_groups;\n__device__ void f() { cg::this_thread_block(); std::reduce(1); }"),
        clean("namespace cg = cooperative_groups;\n__device__ void f(Votes v) { v.list(); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per operation."""
        tokens = unit.tokens
        texts = tokens.texts
        scopes = {"cooperative_groups", *self._aliases(unit)}
        for name in sorted(_FUNCTIONS.keys() & tokens.names.keys()):
            for index in tokens.names[name]:
                if texts[index - 1] == "::" and texts[index - 2] in scopes:
                    yield self._note(unit, index, ", ".join(filter(None, (_FUNCTIONS[name], _EXTRA.get(name)))))
        for name in sorted(_MEMBERS.keys() & tokens.names.keys()):
            for index in tokens.names[name]:
                if texts[index - 1] == "." and unit.next_is(index, "(") and unit.kernel_at(tokens.starts[index]):
                    yield self._note(unit, index, _MEMBERS[name])

    @staticmethod
    def _aliases(unit: Unit) -> Iterator[str]:
        tokens = unit.tokens
        for index in tokens.names["cooperative_groups"]:
            if tokens.texts[index - 1] == "=" and index > 2:
                yield tokens.texts[index - 2]

    def _note(self, unit: Unit, index: int, slugs: str) -> Finding:
        message = f"{unit.tokens.texts[index]} comes from porter/cooperative_groups.hpp [{slugs}]"
        return self.finding(unit, unit.span(index), message, Effort.NONE)
