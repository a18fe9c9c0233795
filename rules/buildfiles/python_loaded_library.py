"""K209: CUDA's libraries that Python loads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.buildfiles.loaded import loaded_library
from porter.buildfiles.python import literal, nodes_of, place, tree
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Edit, Effort, Example, Finding, Settings, clean, fixes, reports

_LOADS = re.compile(r"\b(?:CDLL|PyDLL|WinDLL|LoadLibrary|find_library|find_loaded_library|dlopen)\b")
_KNOWS_AMD = re.compile(r"(?<![A-Za-z])(?:amdhip|hip|rccl|rocm)", re.IGNORECASE)
_FUNCTION = re.compile(r"(?:cuda|cu|cublas(?:Lt)?|cufft|curand|cusparse|cusolver|nvrtc)[A-Z]\w+")

_NCCL = 'lib = ctypes.CDLL("libnccl.so.2")'


class PythonLoadedLibrary(BuildRule):
    """Library of CUDA's that Python loads by name

    `ctypes.CDLL("libcudart.so")` fails where there is no CUDA. The file name becomes ROCm's, without a version, which
    is ROCm's own. Functions that are taken from a library by name (`cudart.cudaMalloc`) are another library's then:
    each is listed, for arguments and results have to be looked at as well. NCCL's functions have the same names in
    RCCL. A file that knows AMD's libraries already is left alone.
    """

    code = "K209"
    kinds = frozenset({Kind.PYTHON})
    at_run_time = True
    examples = (
        fixes(_NCCL, 'lib = ctypes.CDLL("librccl.so")', path="comm.py", effort=Effort.REVIEW),
        fixes(
            'lib = ctypes.CDLL(ctypes.util.find_library("cudart"))',
            'lib = ctypes.CDLL(ctypes.util.find_library("amdhip64"))',
            path="comm.py",
            effort=Effort.REVIEW,
        ),
        Example(_NCCL, _NCCL, Effort.MANUAL, "comm.py", Settings(style="dual")),
        fixes(
            'rt = CDLL("libcudart.so.12")\nrt.cudaMalloc(p, 4)',
            'rt = CDLL("libamdhip64.so")\nrt.cudaMalloc(p, 4)',
            path="comm.py",
            effort=Effort.MANUAL,
        ),
        reports('lib = ctypes.CDLL("libnvidia-ml.so.1")', path="comm.py"),
        clean('lib = ctypes.CDLL("libmine.so")', path="comm.py"),
        clean('print("libcudart.so")', path="comm.py"),
        clean('lib = CDLL("librccl.so" if torch.version.hip else "libnccl.so.2")', path="comm.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """One finding per library, and one per function."""
        if _LOADS.search(unit.text) is None or _KNOWS_AMD.search(unit.text) is not None:
            return
        root = tree(unit)
        if root is None:
            return
        found = list(self._libraries(unit, root))
        yield from found
        if any(finding.edits for finding in found):
            yield from self._functions(unit, root)

    def _libraries(self, unit: BuildUnit, root: ast.Module) -> Iterator[Finding]:
        searched = {id(node.args[0]) for node in nodes_of(root) if isinstance(node, ast.Call) and _is_search(node)}
        for node in nodes_of(root):
            found = literal(unit, node)
            if found is None:
                continue
            loaded = loaded_library(f"lib{found.value}.so" if id(node) in searched else found.value)
            if loaded is None:
                continue
            new = loaded.file
            if new is not None and unit.settings.style == "dual":
                message = f"{loaded.message}; choose between the two"
                yield self.finding(unit, found.start, found.end, message, Effort.MANUAL)
                continue
            if new is not None and id(node) in searched:
                new = new.removeprefix("lib").removesuffix(".so")
            edits = (Edit(found.inner, found.inner_end, new),) if new is not None else ()
            yield self.finding(unit, found.start, found.end, loaded.message, loaded.effort, edits)

    def _functions(self, unit: BuildUnit, root: ast.Module) -> Iterator[Finding]:
        for node in nodes_of(root):
            name = node.attr if isinstance(node, ast.Attribute) else None
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                name = node.value
            if name is not None and isinstance(node, ast.expr) and _FUNCTION.fullmatch(name):
                message = f"{name}, looked up by name: ROCm's library has it under another name"
                yield self.finding(unit, *place(unit, node), message, Effort.MANUAL)


def _is_search(call: ast.Call) -> bool:
    """Whether it is `find_library(...)` with one argument: a name without `lib` and suffix."""
    return len(call.args) == 1 and ast.unparse(call.func).endswith("find_library")
