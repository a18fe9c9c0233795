"""K208: kernels in Python that Numba compiles for CUDA."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.buildfiles.python import place, tree
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Effort, Finding, clean, reports

_WARPS = frozenset({
    *("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "ballot_sync", "all_sync", "any_sync"),
    *("match_any_sync", "match_all_sync", "activemask", "lanemask_lt", "syncwarp", "warpsize", "laneid"),
})  # fmt: skip


class NumbaCuda(BuildRule):
    """Kernel that Numba compiles for CUDA

    Numba's CUDA target has no AMD GPUs. AMD's numba-hip compiles the same decorators for ROCm
    (`from numba import hip; hip.pose_as_cuda()` before the first kernel). Nothing is rewritten: what a kernel says of
    warps holds for 32 lanes, and has to be looked at for 64.
    """

    code = "K208"
    kinds = frozenset({Kind.PYTHON})
    examples = (
        reports("from numba import cuda\n@cuda.jit\ndef k(x): pass", path="build.py"),
        reports(
            "from numba import cuda\n@cuda.jit('void(f4[:])')\ndef k(x): cuda.shfl_down_sync(-1, x, 16)",
            path="build.py",
        ),
        clean("from numba import njit, cuda\n@njit\ndef k(x): pass  # not cuda.jit", path="build.py"),
        clean("from mine import cuda\n@cuda.jit\ndef k(x): pass", path="build.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """One finding per kernel, and one per use of a warp."""
        root = tree(unit)
        if root is None or "cuda.jit" not in unit.text or not _imports_numba(root):
            return
        for node in ast.walk(root):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    named = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if ast.unparse(named) == "cuda.jit":
                        message = f"{node.name}: Numba compiles for CUDA alone; numba-hip takes the same decorator"
                        yield self.finding(unit, *place(unit, named), message, Effort.MANUAL)
            elif isinstance(node, ast.Attribute) and node.attr in _WARPS and ast.unparse(node.value) == "cuda":
                message = f"cuda.{node.attr}: a warp has 32 lanes here, a wavefront of gfx942 has 64"
                yield self.finding(unit, *place(unit, node), message, Effort.MANUAL)


def _imports_numba(root: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba"))
        or (isinstance(node, ast.Import) and any(alias.name.startswith("numba") for alias in node.names))
        for node in ast.walk(root)
    )
