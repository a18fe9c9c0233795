"""K211: where Python builds without PyTorch look for nvcc, and the targets that they make up for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.buildfiles.nvcc_version import is_command
from porter.buildfiles.python import literal, mentions_extension, nodes_of, parents_of, place, tree
from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, reports

_NVCC = re.compile(r"(?:.*[/\\])?nvcc(?:\.exe)?")
_TARGET = re.compile(r"-gencode\b|--?generate-code\b|\bcompute_|\bsm_$")
_BUILDS = re.compile(r"\b(?:setuptools|distutils|skbuild|Cython|numpy\.distutils)\b")
_FINDS = re.compile(r"join|which|find|locate|Path|exists|isfile|call|run|output|Popen|set_executable", re.IGNORECASE)


class PythonNvccPath(BuildRule):
    """Path of nvcc in Python that builds without PyTorch

    A setup.py that compiles `.cu` files by itself looks for nvcc (`find_in_path("nvcc", ...)`, `join(home, "bin",
    "nvcc")`), calls it, and makes up `-gencode` from what it answers. ROCm has hipcc in its `bin`, which takes
    `--offload-arch=gfx942` and knows neither `--list-gpu-arch` nor nvcc's `--version`: change the search, and leave the
    question out. In Python that builds nothing (a test that is skipped without nvcc) it is to review.
    """

    code = "K211"
    kinds = frozenset({Kind.PYTHON})
    examples = (
        reports(
            "import setuptools\nnvcc = os.path.join(cuda['home'], 'bin', 'nvcc')", path="setup.py", effort=Effort.MANUAL
        ),
        reports(
            "from distutils.core import setup\nnvcc = find_in_path('nvcc', os.environ['PATH'])",
            path="setup.py",
            effort=Effort.MANUAL,
        ),
        reports(
            "import setuptools\nout = subprocess.check_output([home + '/bin/nvcc', '--list-gpu-arch'])",
            path="setup.py",
            effort=Effort.MANUAL,
        ),
        reports(
            "import setuptools\nargs = [f'-gencode=arch=compute_{a},code=sm_{a}' for a in archs]",
            path="setup.py",
            effort=Effort.MANUAL,
        ),
        reports("import pytest\nhas_nvcc = which('nvcc') is not None", path="test_gpu.py", effort=Effort.REVIEW),
        clean("import setuptools\nflags = {'nvcc': ['-O3']}\ncflags = flags['nvcc']", path="setup.py"),
        clean("import setuptools\nprint('nvcc'); log.warning('nvcc is missing')", path="setup.py"),
        clean("import setuptools\nnvcc = join(home, 'bin', 'hipcc')", path="setup.py"),
        clean(
            "from torch.utils import cpp_extension\nimport setuptools\nnvcc = join(home, 'bin', 'nvcc')",
            path="setup.py",
        ),
        clean("import setuptools\nname = f'sm_{arch}.bin'\nother = f'{a}_nvcc'", path="setup.py"),
        clean("# nvcc\nimport setuptools\nhelp = 'path of nvcc'\nparser.add_argument('--nvcc')", path="setup.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        if "nvcc" not in unit.text and "compute_" not in unit.text:
            return
        root = tree(unit)
        if root is None or mentions_extension(root):
            return
        effort = Effort.MANUAL if _BUILDS.search(unit.text) else Effort.REVIEW
        parents = parents_of(root)
        for node in nodes_of(root):
            if isinstance(node, ast.Constant) and _is_nvcc(unit, node) and _is_looked_for(node, parents):
                message = "nvcc is looked for or called: on ROCm it is hipcc, which answers other questions"
                yield self.finding(unit, *place(unit, node), message, effort)
            elif isinstance(node, ast.JoinedStr) and _names_targets(node):
                message = "targets of nvcc are put together here: hipcc takes --offload-arch=gfx942"
                yield self.finding(unit, *place(unit, node), message, effort)


def _is_nvcc(unit: BuildUnit, node: ast.Constant) -> bool:
    found = literal(unit, node)
    return found is not None and _NVCC.fullmatch(found.value) is not None


def _is_looked_for(node: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Whether it is an argument of what finds or runs programs, the first word of a command, or the end of a path."""
    parent = parents.get(id(node))
    while isinstance(parent, ast.BinOp):
        node, parent = parent, parents.get(id(parent))
        if isinstance(parent, (ast.Assign, ast.Return)):
            return True
    if isinstance(parent, ast.Call):
        return node in parent.args and _FINDS.search(ast.unparse(parent.func)) is not None
    return parent is not None and is_command(parent) and parent.elts[0] is node


def _names_targets(node: ast.JoinedStr) -> bool:
    """Whether an f-string writes `-gencode`, or `compute_` before a number."""
    texts = [part.value for part in node.values if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return any(_TARGET.search(text) for text in texts) and any(
        "compute_" in text or "-gencode" in text for text in texts
    )
