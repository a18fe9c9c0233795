"""K210: what Python asks PyTorch about the GPU at run time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.buildfiles.python import mentions_extension, names_amd, nodes_of, parents_of, place, tree
from porter.buildfiles.torch_version import asks_for_none, for_cuda, is_truth, is_version
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Effort, Finding, clean, reports

_ASKS = re.compile(r"get_device_capability|get_device_properties|torch\.version\.cuda")
_ONLY_SAYS = frozenset({"print", "str", "repr", "format", "debug", "info", "warning", "warn", "error", "log", "append"})
_MEANINGS = {
    "major": "the compute capability is (9, 4) on MI300X, which passes for Hopper",
    "warp_size": "64 on MI300X, where ported kernels keep logical warps of 32",
}
_ATTRIBUTES = frozenset({"cuda", "get_device_capability", *_MEANINGS})


class PythonGpuQuery(BuildRule):
    """What Python asks about the GPU

    Python chooses kernels by `torch.cuda.get_device_capability()`, which PyTorch for ROCm answers with the numbers of
    the architecture: (9, 4) on MI300X, so `>= (9, 0)` takes what was written for Hopper, and `== (9, 0)` does not.
    `torch.version.cuda` is None there, and cannot be compared or parsed. Each place has to say what holds for AMD
    (`torch.version.hip`, `torch.cuda.get_device_properties(0).gcnArchName`). A file that names HIP or ROCm already is
    left alone; K202 does this for files that build extensions.
    """

    code = "K210"
    kinds = frozenset({Kind.PYTHON})
    at_run_time = True
    hazards = ("torch-capability-gates",)
    examples = (
        reports("if torch.cuda.get_device_capability()[0] >= 9: a()", path="ops.py", effort=Effort.REVIEW),
        reports("if get_device_properties(0).major == 9: a()", path="ops.py", effort=Effort.REVIEW),
        reports("p = get_device_properties(0)\nn = 1024 // p.warp_size", path="ops.py", effort=Effort.REVIEW),
        reports("if parse(torch.version.cuda) >= parse('12.0'): a()", path="ops.py"),
        reports("major = torch.version.cuda.split('.')[0]", path="ops.py"),
        reports("if torch.version.cuda: a()", path="ops.py", effort=Effort.REVIEW),
        reports("if torch.version.cuda is not None: a(parse(torch.version.cuda))", path="ops.py", effort=Effort.REVIEW),
        clean("print('CUDA', torch.version.cuda)", path="ops.py"),
        clean("v = {'cuda': torch.version.cuda}", path="ops.py"),
        clean("if torch.version.hip is None and torch.cuda.get_device_capability() >= (8, 0): a()", path="ops.py"),
        clean("p = torch.cuda.get_device_properties(0)\nn = p.multi_processor_count, q.major", path="ops.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """One finding per question."""
        if _ASKS.search(unit.text) is None or names_amd(unit.text):
            return
        root = tree(unit)
        if root is None or ("xtension" in unit.text and mentions_extension(root)):
            return
        asks_version, asks_properties = "version.cuda" in unit.text, "get_device_properties" in unit.text
        guarded = {id(one) for branch in for_cuda(root) for one in ast.walk(branch)} if asks_version else set()
        parents = parents_of(root) if asks_version else {}
        kept = {target.id for target in _kept(root)} if asks_properties else set()
        for node in nodes_of(root):
            if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES and id(node) not in guarded:
                said = _version(node, parents.get(id(node))) if is_version(node) else _question(node, kept)
                if said is not None:
                    yield self.finding(unit, *place(unit, node), *said)


def _question(node: ast.Attribute, kept: set[str]) -> tuple[str, Effort] | None:
    """What is said of a question to the device's properties."""
    if node.attr == "get_device_capability":
        return _MEANINGS["major"], Effort.REVIEW
    value = node.value
    of_properties = _asks_properties(value) or (isinstance(value, ast.Name) and value.id in kept)
    return (_MEANINGS[node.attr], Effort.REVIEW) if of_properties and node.attr in _MEANINGS else None


def _version(node: ast.Attribute, parent: ast.AST | None) -> tuple[str, Effort] | None:
    """What is said of `torch.version.cuda`: nothing where a text or a table just names it."""
    message = "torch.version.cuda is None on ROCm"
    if is_truth(node, parent) or asks_for_none(parent):
        return message, Effort.REVIEW
    if isinstance(parent, ast.Call) and ast.unparse(parent.func).rpartition(".")[2] in _ONLY_SAYS:
        return None
    if isinstance(parent, (ast.Attribute, ast.Call, ast.Compare, ast.Subscript, ast.BinOp)):
        return f"{message}: this fails there", Effort.MANUAL
    return None


def _asks_properties(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "get_device_properties"


def _kept(root: ast.Module) -> Iterator[ast.Name]:
    """Variables that hold a device's properties."""
    for node in nodes_of(root):
        if isinstance(node, ast.Assign) and _asks_properties(node.value):
            yield from (target for target in node.targets if isinstance(target, ast.Name))
