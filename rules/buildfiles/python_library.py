"""K203: CUDA's libraries in setup.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.buildfiles.python import HIP_TEST, decided, literal, missing_imports, nodes_of, tree
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports
from porter.buildfiles.tables import is_nvidia_library, library


class PythonLibrary(BuildRule):
    """CUDA library in Python

    The names in `libraries=[...]` go to the linker as they are; `-lcublas` in `extra_link_args` as well.
    """

    code = "K203"
    kinds = frozenset({Kind.PYTHON})
    hazards = ("torch-library-linking",)
    examples = (
        fixes(
            'CUDAExtension("a", libraries=["cublas", "z"])',
            'CUDAExtension("a", libraries=["hipblas", "z"])',
            path="setup.py",
        ),
        fixes('E(extra_link_args=["-lcudart"])', 'E(extra_link_args=["-lamdhip64"])', path="setup.py"),
        reports('E(libraries=["cudnn"])', path="setup.py"),
        clean('E(packages=["cublas"], libraries=["z"])', path="setup.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        root = tree(unit)
        if root is None:
            return
        for node in nodes_of(root):
            if isinstance(node, ast.keyword) and node.arg in ("libraries", "extra_link_args", "extra_ldflags"):
                prefix = "" if node.arg == "libraries" else "-l"
                yield from self._names(unit, root, node.value, prefix)

    def _names(self, unit: BuildUnit, root: ast.Module, value: ast.expr, prefix: str) -> Iterator[Finding]:
        chosen = decided(root)
        for node in ast.walk(value):
            found = literal(unit, node)
            if found is None or not found.value.startswith(prefix):
                continue
            name = found.value[len(prefix) :]
            new = library(name)
            if new and id(node) in chosen:
                continue
            if new and unit.settings.style == "dual":
                quote = found.quote
                both = f"({quote}{prefix}{new}{quote} if {HIP_TEST} else {unit.text[found.start : found.end]})"
                edits = (Edit(found.start, found.end, both), *missing_imports(unit, root, "torch"))
                yield self.finding(unit, found.start, found.end, f"{name} is {new} on AMD", Effort.NONE, edits)
            elif new:
                yield self.replaced(unit, found.inner, found.inner_end, prefix + new)
            elif is_nvidia_library(name):
                message = f"{name} is NVIDIA's: no counterpart that could be linked"
                yield self.finding(unit, found.start, found.end, message, Effort.MANUAL)
