"""K207: what Python build files make depend on nvcc's version."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.buildfiles.nvcc_version import Question, only_adds_targets, questions
from porter.buildfiles.python import imports_torch, mentions_extension, place, tree
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports

_ASK = (
    "import subprocess\nimport torch\nfrom torch.utils.cpp_extension import CUDA_HOME, CUDAExtension\n"
    "def version(home):\n    return subprocess.check_output([home + '/bin/nvcc', '-V'])\n"
)


class PythonNvccVersion(BuildRule):
    """Version of nvcc that a build asks for

    A setup.py calls nvcc for its version and lets flags, or an error, depend on it. On ROCm there is no nvcc and
    CUDA_HOME is None, so that the build ends there. The question is asked only where PyTorch is for CUDA, and what
    depends on the answer counts as not given on ROCm. Where more than flags of NVIDIA's depends on it, look there.
    """

    code = "K207"
    kinds = frozenset({Kind.PYTHON})
    examples = (
        fixes(
            _ASK + "flags = []\nv = version(CUDA_HOME)\nif v >= 11:\n    flags.append('-gencode')\n",
            _ASK + "flags = []\nv = version(CUDA_HOME) if torch.version.hip is None else None\n"
            "if (torch.version.hip is None and v >= 11):\n    flags.append('-gencode')\n",
            path="setup.py",
        ),
        fixes(
            _ASK + "if CUDA_HOME is not None:\n    v = version(CUDA_HOME)\n    if v < 11:\n        raise SystemExit\n"
            "if v >= 12:\n    fast = True\n",
            _ASK + "if CUDA_HOME is not None:\n    v = version(CUDA_HOME)\n    if v < 11:\n        raise SystemExit\n"
            "if (torch.version.hip is None and v >= 12):\n    fast = True\n",
            effort=Effort.REVIEW,
            path="setup.py",
        ),
        reports(
            _ASK + "if CUDA_HOME is not None:\n    v = version(CUDA_HOME)\n    if v < 11:\n        raise SystemExit\n",
            effort=Effort.NONE,
            path="setup.py",
        ),
        clean(_ASK + "v = version(CUDA_HOME)\nprint(v)\n", path="setup.py"),
        clean(
            _ASK + "if CUDA_HOME is not None:\n    v = version(CUDA_HOME)\n    e = [CUDAExtension('a', ['a.cu'])]\n",
            path="setup.py",
        ),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        root = tree(unit)
        if root is None or not mentions_extension(root) or not imports_torch(root):
            return
        decisions = {id(node): one for one in ast.walk(root) if isinstance(one, ast.If) for node in ast.walk(one.test)}
        for question in questions(root).known:
            yield from self._asked(unit, question)
            for use in question.uses:
                if not _is_guarded(decisions[id(use)].test):
                    yield self._use(unit, use, decisions[id(use)])

    def _asked(self, unit: BuildUnit, question: Question) -> Iterator[Finding]:
        if question.guard is not None:
            start, end = place(unit, question.guard.test)
            message = "nvcc is asked for its version where CUDA_HOME is set: not on ROCm, as it should be"
            yield self.finding(unit, start, end, message, Effort.NONE)
            return
        start, end = place(unit, question.ask.value)
        target = question.ask.targets[0]
        nothing = ", ".join(["None"] * len(target.elts)) if isinstance(target, ast.Tuple) else ""
        new = f" if torch.version.hip is None else {f'({nothing})' if nothing else 'None'}"
        message = "nvcc is asked for its version only where PyTorch is for CUDA"
        yield self.finding(unit, start, end, message, Effort.NONE, (Edit(end, end, new),))

    def _use(self, unit: BuildUnit, use: ast.Compare, decision: ast.If) -> Finding:
        start, end = place(unit, use)
        harmless = only_adds_targets(decision.body) and not decision.orelse
        message = "depends on nvcc's version, which there is none of on ROCm: counts as not given"
        if not harmless:
            message += "; look whether ROCm needs what is decided here"
        new = f"(torch.version.hip is None and {unit.text[start:end]})"
        effort = Effort.NONE if harmless else Effort.REVIEW
        return self.finding(unit, start, end, message, effort, (Edit(start, end, new),))


def _is_guarded(test: ast.expr) -> bool:
    return "torch.version.hip is None" in ast.unparse(test)
