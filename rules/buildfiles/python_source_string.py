"""K204: CUDA source in Python strings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.buildfiles.python import nodes_of, place, tree
from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, reports

_MANUAL = {"RawKernel": "CuPy", "RawModule": "CuPy", "SourceModule": "PyCUDA", "ElementwiseKernel": "CuPy"}


class PythonSourceString(BuildRule):
    """CUDA source in a Python string

    `load_inline(cuda_sources=...)` has the source in strings, which PyTorch's hipify converts at run time: names are
    done, warps, masks and PTX are not. RawKernel and SourceModule belong to libraries of their own. Move the source to
    a file, and port that.
    """

    code = "K204"
    kinds = frozenset({Kind.PYTHON})
    hazards = ("hipify-textual-limits",)
    examples = (
        reports("m = load_inline('m', cpp_sources=c, cuda_sources=s)", path="build.py"),
        reports("k = cupy.RawKernel(code, 'k')", path="build.py"),
        clean("m = load_inline('m', cpp_sources=c)", path="build.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        root = tree(unit)
        for node in nodes_of(root) if root is not None else ():
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            if name == "load_inline" and any(keyword.arg == "cuda_sources" for keyword in node.keywords):
                message = "the CUDA source is in strings, which are not ported: move it to a .cu file"
                yield self.finding(unit, *place(unit, node.func), message, Effort.MANUAL)
            elif name in _MANUAL:
                message = f"{name} compiles CUDA source in a string ({_MANUAL[name]}), which is not ported"
                yield self.finding(unit, *place(unit, node.func), message, Effort.MANUAL)
