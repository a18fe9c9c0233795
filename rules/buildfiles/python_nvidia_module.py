"""K213: NVIDIA's own modules that Python imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.buildfiles.python import names_amd, nodes_of, parents_of, place, tree
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Effort, Finding, clean, reports

_INSTEAD = {
    "pynvml": "AMD's is amdsmi, with other functions; torch.cuda.utilization() and its kin ask it on ROCm",
    "py3nvml": "AMD's is amdsmi, with other functions",
    "cuda": "the bindings of CUDA: those of HIP are in hip-python",
    "tensorrt": "there is none for AMD: MIGraphX, or ONNX Runtime with it, runs the same networks",
    "nvidia": "libraries come with ROCm there, and in place of DALI is rocAL",
    "warp": "its kernels run on NVIDIA's GPUs and on the CPU, and find no GPU of AMD's",
    "cudf": "AMD's hipDF, in place of it, has the same name for Python",
    "rmm": "AMD's hipMM, in place of it, has the same name for Python",
    "pylibraft": "AMD's hipRAFT, in place of it, has a part of it",
    "cuml": "there is none for AMD: scikit-learn computes on the CPU",
    "cugraph": "there is none for AMD: networkx computes on the CPU",
    "dask_cuda": "there is none for AMD: workers of dask.distributed with HIP_VISIBLE_DEVICES",
    "cutlass": "its kernels are compiled for NVIDIA alone",
}
_OF_CUDA = frozenset({"bindings", "core", "cuda", "cudart", "nvrtc", "cccl", "cooperative", "parallel", "tile"})
"""Parts of the package `cuda`, which is a common name for a module of a project's own."""
_REPLACED = frozenset({"cudf", "rmm"})
"""What AMD has by the same name."""
_OF_WARP = re.compile(r"\b(?:wp|warp)\.(?:init|kernel|func|launch|array|config|set_device)\b")
"""Another common name."""
_IMPORTS = re.compile(rf"^[ \t]*(?:import|from)[ \t]+(?:[\w.]+[ \t]*,[ \t]*)*(?:{'|'.join(_INSTEAD)})\b", re.MULTILINE)
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})


class PythonNvidiaModule(BuildRule):
    """Module of NVIDIA's that Python imports

    `pynvml`, NVIDIA's bindings of CUDA (`from cuda.bindings import driver`), `tensorrt`, Warp, DALI, RAPIDS and
    CUTLASS's language fail to import where there is no CUDA, or find no GPU. Told once per file and module; to review
    where the file goes on without it, or AMD has one of the same name. A file that names HIP, ROCm or amdsmi is left
    alone, and so is a module of the project's own.
    """

    code = "K213"
    kinds = frozenset({Kind.PYTHON})
    at_run_time = True
    examples = (
        clean("from .cuda import core\nfrom . import pynvml", path="ops.py"),
        clean("import cuda\nfrom cuda import mine", path="ops.py"),
        clean("from cuda.ops import attention", path="ops.py"),
        clean("from numba import cuda", path="ops.py"),
        clean("import torch.cuda, cutlass_library", path="ops.py"),
        clean("'''\nimport pynvml\n'''\n# from cuda import cudart", path="ops.py"),
        clean("try:\n    import amdsmi\nexcept ImportError:\n    import pynvml", path="ops.py"),
        clean("import warp\nwarp.mine()", path="ops.py"),
        clean("import rmm\nimport cudf", path="python/rmm/cudf/ops.py"),
        reports("import warp as wp\nwp.init()", path="ops.py"),
        reports("from cuml import KMeans", path="ops.py"),
        reports("import cudf", path="ops.py", effort=Effort.REVIEW),
        reports("import nvidia.dali.fn as fn", path="ops.py"),
        reports("import pynvml\npynvml.nvmlInit()", path="ops.py"),
        reports("import os, pynvml as nv", path="ops.py"),
        reports("from pynvml import *", path="ops.py"),
        reports("try:\n    import pynvml\nexcept ImportError:\n    pynvml = None", path="ops.py", effort=Effort.REVIEW),
        reports("from cuda.bindings import driver", path="ops.py"),
        reports("from cuda import cudart", path="ops.py"),
        reports("import cuda.bindings.driver as cuda", path="ops.py"),
        reports("try:\n    import cutlass.cute as cute\nfinally:\n    f()", path="ops.py"),
        reports("from tensorrt import Builder", path="ops.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        if _IMPORTS.search(unit.text) is None or names_amd(unit.text):
            return
        root = tree(unit)
        if root is None:
            return
        told: set[str] = set()
        parents: dict[int, ast.AST] | None = None
        for node in nodes_of(root):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            for module in sorted(_modules(node) - told):
                if _is_own(unit, module) or (module == "warp" and _OF_WARP.search(unit.text) is None):
                    continue
                parents = parents_of(root) if parents is None else parents
                told.add(module)
                light = module in _REPLACED or _does_without(node, parents)
                effort = Effort.REVIEW if light else Effort.MANUAL
                message = f"{module} is NVIDIA's module: {_INSTEAD[module]}"
                yield self.finding(unit, *place(unit, node), message, effort)


def _modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Those of NVIDIA's among the packages that one statement imports."""
    if isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    elif node.level or node.module is None:
        return set()
    else:
        named = [f"{node.module}.{alias.name}" for alias in node.names]
    split = [[*name.split("."), ""][:2] for name in named]
    return {head for head, part in split if head in _INSTEAD and (head != "cuda" or part in _OF_CUDA)}


def _is_own(unit: BuildUnit, module: str) -> bool:
    """Whether a folder of that name is the project's: its package, or its headers."""
    paths = (unit.source.path, *unit.sources.headers)
    return module != "cuda" and any(f"/{module}/" in f"/{path}" for path in paths)


def _does_without(node: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Whether it stands in a `try` that goes on where the module is missing."""
    above = parents.get(id(node))
    while above is not None:
        if isinstance(above, ast.Try) and any(_catches(handler) for handler in above.handlers):
            return True
        above = parents.get(id(above))
    return False


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(ast.unparse(one) in _MISSING for one in caught)
