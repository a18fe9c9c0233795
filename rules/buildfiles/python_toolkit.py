"""K202: what Python build files ask about CUDA's toolkit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from porter.buildfiles.nvcc_version import is_command, questions
from porter.buildfiles.python import imports_torch, mentions_extension, nodes_of, parents_of, place, tree
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports
from porter.buildfiles.torch_version import asks_for_none, for_cuda, is_truth, is_version


class PythonToolkit(BuildRule):
    """CUDA's toolkit in Python

    On ROCm `CUDA_HOME` and `torch.version.cuda` are None, so a file that builds its extension only where CUDA_HOME is
    set builds none, in silence: the test accepts `torch.version.hip` as well. Comparisons with CUDA's version or the
    compute capability (which is (9, 4) on MI300X) and calls of nvcc are reported.
    """

    code = "K202"
    kinds = frozenset({Kind.PYTHON})
    hazards = ("torch-capability-gates", "torch-library-linking")
    examples = (
        fixes(
            "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME\nif CUDA_HOME is not None:\n    pass",
            "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME\n"
            "if (CUDA_HOME is not None or torch.version.hip is not None):\n    pass",
            path="setup.py",
        ),
        fixes(
            "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME\n"
            "if CUDA_HOME is None:\n    raise SystemExit",
            "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME\n"
            "if (CUDA_HOME is None and torch.version.hip is None):\n    raise SystemExit",
            path="setup.py",
        ),
        reports(
            "import torch\nfrom torch.utils import cpp_extension\nv = torch.version.cuda.split('.')", path="setup.py"
        ),
        reports(
            "from torch.utils import cpp_extension\nimport subprocess\nsubprocess.check_output(['nvcc', '-V'])",
            path="setup.py",
        ),
        fixes(
            "from torch.utils.cpp_extension import CUDA_HOME\nif CUDA_HOME and not A:\n    pass",
            "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME\n"
            "if (CUDA_HOME or torch.version.hip) and not A:\n    pass",
            path="setup.py",
        ),
        fixes(
            "import torch\nfrom torch.utils import cpp_extension\n"
            "if not cpp_extension.CUDA_HOME:\n    raise SystemExit",
            "import torch\nfrom torch.utils import cpp_extension\n"
            "if not (cpp_extension.CUDA_HOME or torch.version.hip):\n    raise SystemExit",
            path="setup.py",
        ),
        clean("from torch.utils.cpp_extension import CUDA_HOME\nd = [CUDA_HOME]\nf(CUDA_HOME)", path="setup.py"),
        clean("import torch\nprint(torch.version.hip)", path="setup.py"),
        reports(
            "import torch\nfrom torch.utils import cpp_extension\nif torch.version.cuda is not None:\n"
            "    v = torch.version.cuda.split('.')",
            path="setup.py",
            effort=Effort.REVIEW,
        ),
        reports(
            "import torch\nfrom torch.utils import cpp_extension\nif torch.version.cuda is not None or A:\n"
            "    v = torch.version.cuda.split('.')",
            path="setup.py",
        ),
        clean("import torch\nfrom torch.utils import cpp_extension\nprint(f'{torch.version.cuda}')", path="setup.py"),
        clean("from torch.utils import cpp_extension\nd = {'nvcc': []}", path="setup.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        root = tree(unit)
        if root is None or not mentions_extension(root):
            return
        asked = questions(root)
        guards = {id(question.guard.test) for question in asked.known if question.guard is not None}
        guards |= {id(one) for branch in for_cuda(root) for one in ast.walk(branch) if is_version(one)}
        parents = parents_of(root)
        for node in nodes_of(root):
            if id(node) in asked.calls or id(node) in guards:
                continue
            if isinstance(node, ast.Compare):
                yield from self._home(unit, root, node, parents.get(id(node)))
            elif _is_home(node) and is_truth(node, parents.get(id(node))):
                yield self._truth(unit, root, node)
            elif isinstance(node, ast.Attribute):
                yield from self._attribute(unit, node, parents.get(id(node)))
            elif isinstance(node, (ast.List, ast.BinOp, ast.JoinedStr, ast.Tuple)):
                yield from self._call(unit, node)

    def _home(self, unit: BuildUnit, root: ast.Module, node: ast.Compare, parent: ast.AST | None) -> Iterator[Finding]:
        name = ast.unparse(node.left)
        if name.rpartition(".")[2] != "CUDA_HOME" or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return
        if isinstance(parent, ast.BoolOp) and "torch.version.hip" in ast.unparse(parent):
            return
        start, end = place(unit, node)
        positive = isinstance(node.ops[0], ast.IsNot)
        extra = "or torch.version.hip is not None" if positive else "and torch.version.hip is None"
        new = f"({unit.text[start:end]} {extra})"
        message = f"{name} is None on ROCm: torch.version.hip is tested as well"
        yield self.finding(unit, start, end, message, Effort.NONE, (Edit(start, end, new), *_torch(unit, root)))

    def _truth(self, unit: BuildUnit, root: ast.Module, node: ast.expr) -> Finding:
        """`if CUDA_HOME:`"""
        start, end = place(unit, node)
        message = f"{unit.text[start:end]} is None on ROCm: torch.version.hip is tested as well"
        new = f"({unit.text[start:end]} or torch.version.hip)"
        return self.finding(unit, start, end, message, Effort.NONE, (Edit(start, end, new), *_torch(unit, root)))

    def _attribute(self, unit: BuildUnit, node: ast.Attribute, parent: ast.AST | None) -> Iterator[Finding]:
        start, end = place(unit, node)
        if is_version(node):
            if isinstance(parent, ast.FormattedValue):
                return  # a message says None
            if is_truth(node, parent) or asks_for_none(parent):
                yield self.finding(unit, start, end, "torch.version.cuda is None on ROCm", Effort.REVIEW)
            else:
                yield self.finding(unit, start, end, "torch.version.cuda is None on ROCm", Effort.MANUAL)
        elif node.attr == "get_device_capability":
            message = "the compute capability of an AMD GPU is not NVIDIA's: (9, 4) on MI300X"
            yield self.finding(unit, start, end, message, Effort.REVIEW)

    def _call(self, unit: BuildUnit, node: ast.expr) -> Iterator[Finding]:
        """nvcc as the first word of a command."""
        if is_command(node):
            yield self.finding(unit, *place(unit, node.elts[0]), "nvcc is called", Effort.MANUAL)


def _is_home(node: ast.AST) -> TypeGuard[ast.expr]:
    return isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node).rpartition(".")[2] == "CUDA_HOME"


def _comes_first(statement: ast.stmt) -> bool:
    """A docstring, or `from __future__`."""
    return isinstance(statement, ast.Expr) or (
        isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    )


def _torch(unit: BuildUnit, root: ast.Module) -> tuple[Edit, ...]:
    """The import that binds `torch`, before the first one from it."""
    if imports_torch(root):
        return ()
    own = [one for one in root.body if isinstance(one, ast.ImportFrom) and (one.module or "").startswith("torch")]
    rest = [one for one in root.body if not _comes_first(one)]
    start, _ = place(unit, (own or rest)[0])
    return (Edit(start, start, "import torch\n"),)
