"""K205: the headers of a dual tree in setup.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.buildfiles.python import HIP_TEST, mentions_extension, missing_imports, nodes_of, place, tree
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Edit, Effort, Example, Finding, Settings, clean

_HEADERS = "porter/hip"
_BUILDERS = ("CUDAExtension", "load")
_DUAL = Settings(style="dual")
_FLAGS = (
    '*(["-I" + os.path.join(os.path.dirname(os.path.abspath(__file__)), "porter/hip"), '
    f'"-include", "cuda_to_hip.h"] if {HIP_TEST} else [])'
)


class PythonDualHeaders(BuildRule):
    """Flags for nvcc without the headers of a tree for both vendors

    A tree that was ported with `--style dual` has the names that PyTorch's hipify does not know (warps, masks,
    intrinsics) in `porter/hip/cuda_to_hip.h`: hipcc includes it first in every source.
    """

    code = "K205"
    kinds = frozenset({Kind.PYTHON})
    hazards = ("hipify-textual-limits",)
    examples = (
        Example(
            'import os\nimport torch\nfrom torch.utils import cpp_extension\na = {"nvcc": ["-O3"]}',
            'import os\nimport torch\nfrom torch.utils import cpp_extension\na = {"nvcc": ["-O3", ' + _FLAGS + "]}",
            Effort.NONE,
            "setup.py",
            _DUAL,
        ),
        Example(
            "from torch.utils import cpp_extension\nsetup(ext_modules=[cpp_extension.CUDAExtension('a', ['a.cpp'])])",
            "from torch.utils import cpp_extension\nsetup(ext_modules=[cpp_extension.CUDAExtension('a', ['a.cpp'])])",
            Effort.MANUAL,
            "setup.py",
            _DUAL,
        ),
        clean('from torch.utils import cpp_extension\na = {"nvcc": ["-O3"]}', path="setup.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        root = tree(unit)
        if unit.settings.style != "dual" or root is None or not mentions_extension(root) or _HEADERS in unit.text:
            return
        lists = [value for value in _nvcc_values(root) if isinstance(value, ast.List)]
        if not lists:
            for node in nodes_of(root):
                if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
                    "CUDAExtension",
                    "load",
                ):
                    message = f"no list of flags for nvcc: hipcc needs -I{_HEADERS} -include cuda_to_hip.h"
                    yield self.finding(unit, *place(unit, node.func), message, Effort.MANUAL)
            return
        for value in lists:
            start, end = place(unit, value)
            last = place(unit, value.elts[-1])[1] if value.elts else start + 1
            edit = Edit(last, last, (", " if value.elts else "") + _FLAGS)
            edits = (edit, *missing_imports(unit, root, "os", "torch"))
            yield self.finding(unit, start, end, "hipcc gets the names and headers for AMD", Effort.NONE, edits)


def _nvcc_values(root: ast.Module) -> Iterator[ast.expr]:
    for node in nodes_of(root):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "nvcc")
        elif isinstance(node, ast.keyword) and node.arg == "extra_cuda_cflags":
            yield node.value
