"""C107: launches in clusters of blocks, which gfx942 does not have."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_ATTRIBUTES = frozenset(
    {
        "cudaLaunchAttributeClusterDimension",
        "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION",
    }
)
_AXES = ("x", "y", "z")


class ClusterLaunch(Rule):
    """Launch in clusters of blocks

    MI300X has no clusters: no shared memory of another block, no barrier of a cluster. The port compiles, and a launch
    that asks for more than one block per cluster is refused with `hipErrorNotSupported`; a cluster of one block is a
    plain launch. Where the kernel uses its cluster, stage through global memory and end the kernel where the cluster
    met, or launch cooperatively. Where all sizes that a file writes are the number 1, nothing is said.
    """

    code = "C107"
    only_reports = True
    triggers = _ATTRIBUTES
    hazards = ("thread-block-cluster",)
    examples = (
        reports(
            """
            void f(cudaLaunchAttribute *a, int n) {
              a->id = cudaLaunchAttributeClusterDimension;
              a->val.clusterDim.x = n; a->val.clusterDim.y = 1; a->val.clusterDim.z = 1;
            }
            """
        ),
        reports("CUlaunchAttributeID f() { return CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION; }"),
        clean(
            """
            void f(cudaLaunchAttribute *a) {
              a->id = cudaLaunchAttributeClusterDimension;
              a->val.clusterDim.x = 1; a->val.clusterDim.y = 1u; a->val.clusterDim.z = 1;
            }
            """
        ),
        clean("void f(cudaLaunchAttribute *a) { a->id = cudaLaunchAttributePriority; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per attribute that is named."""
        if _is_of_one_block(unit):
            return
        for name in sorted(_ATTRIBUTES):
            for index in unit.occurrences(name):
                message = (
                    "gfx942 has no clusters of blocks: the port refuses this launch unless a cluster is one block "
                    "[thread-block-cluster]"
                )
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _is_of_one_block(unit: Unit) -> bool:
    """Whether a file writes sizes of clusters, and no other than 1."""
    texts = unit.tokens.texts
    sizes = [
        texts[index + 4]
        for index in unit.tokens.names.get("clusterDim", ())
        if texts[index + 1] == "." and texts[index + 2] in _AXES and texts[index + 3] == "="
    ]
    return bool(sizes) and all(size.rstrip("uU") == "1" for size in sizes)
