"""K214: NVIDIA's tools and ONNX Runtime's providers, named in Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.buildfiles.python import names_amd, nodes_of, parents_of, place, tree
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Effort, Finding, clean, reports

_SMI = re.compile(r"(?:^|[\s;&|/\"'(])nvidia-smi(?![\w./-]*\.(?:txt|log|csv|json)|-)")
_STARTS = frozenset(
    {
        *("run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput", "system", "popen"),
        *("which", "create_subprocess_exec", "create_subprocess_shell", "find_executable", "execute", "run_command"),
    }
)
"""Last names of functions that start a program, or look for one."""
_PROVIDERS = frozenset({"CUDAExecutionProvider", "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider"})
_INSTEAD = "MIGraphXExecutionProvider (in old versions also ROCMExecutionProvider)"


class PythonGpuTool(BuildRule):
    """nvidia-smi, and ONNX Runtime's providers for NVIDIA, in Python

    A program that starts `nvidia-smi` finds none on an AMD machine: where it reads how many GPUs there are, or how much
    memory is free, it fails, or goes on without a GPU (`amd-smi` and `rocm-smi` print other things; `torch.cuda` asks
    the same of both). `CUDAExecutionProvider` is not in ONNX Runtime for ROCm, which then runs on the CPU with no more
    than a warning. Told once per file and word; a file that names ROCm or its tools is left alone.
    """

    code = "K214"
    kinds = frozenset({Kind.PYTHON})
    at_run_time = True
    examples = (
        clean("'''\nCall nvidia-smi to see more.\n'''\nprint('no GPU: look at nvidia-smi')", path="ops.py"),
        clean("subprocess.run(['rocm-smi'] if amd else ['nvidia-smi'])", path="ops.py"),
        clean("subprocess.run(['cat', 'nvidia-smi.log'])\nlog = open('nvidia-smi.txt')", path="ops.py"),
        clean("# CUDAExecutionProvider\nproviders = ['CPUExecutionProvider']", path="ops.py"),
        clean("p = ['MIGraphXExecutionProvider', 'CUDAExecutionProvider']", path="ops.py"),
        reports("subprocess.check_output(['nvidia-smi', '-L'])", path="ops.py", effort=Effort.REVIEW),
        reports("free = os.popen('LANG=C nvidia-smi -q | grep Free').read()", path="ops.py", effort=Effort.REVIEW),
        reports("if which('nvidia-smi') is None: raise SystemExit", path="ops.py", effort=Effort.REVIEW),
        reports("cmd = 'nvidia-smi -q -x'\nsubprocess.run(cmd.split())", path="ops.py", effort=Effort.REVIEW),
        reports("s = InferenceSession(m, providers=['CUDAExecutionProvider'])", path="ops.py", effort=Effort.REVIEW),
        reports("p = [('TensorrtExecutionProvider', {'fp16': True})]", path="ops.py", effort=Effort.REVIEW),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        asked = "nvidia-smi" in unit.text or any(name in unit.text for name in _PROVIDERS)
        root = tree(unit) if asked and not names_amd(unit.text) else None
        if root is None:
            return
        parents = parents_of(root)
        told: set[str] = set()
        for node in nodes_of(root):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if node.value in _PROVIDERS - told:
                told.add(node.value)
                message = f"{node.value} is not in ONNX Runtime for AMD, which takes the CPU then: {_INSTEAD} is"
                yield self.finding(unit, *place(unit, node), message, Effort.REVIEW)
            elif "smi" not in told and _SMI.search(node.value) is not None and _is_started(node, parents):
                told.add("smi")
                message = "nvidia-smi: none is with ROCm: amd-smi or rocm-smi, whose options and output are others"
                yield self.finding(unit, *place(unit, node), message, Effort.REVIEW)


def _is_started(node: ast.Constant, parents: dict[int, ast.AST]) -> bool:
    """Whether a text is a command: handed to what starts programs, or what a variable begins with."""
    above = parents.get(id(node))
    while isinstance(above, (ast.List, ast.Tuple, ast.BinOp, ast.JoinedStr, ast.Attribute, ast.Call)):
        if isinstance(above, ast.Call):
            name = ast.unparse(above.func).rpartition(".")[2]
            if name in _STARTS:
                return True
            if name not in ("split", "format", "join", "strip"):
                return False
        above = parents.get(id(above))
    return isinstance(above, ast.Assign) and str(node.value).lstrip().startswith("nvidia-smi")
