"""K209: CUDA's libraries that Python loads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.buildfiles.loaded import loaded_library, looked_up
from porter.buildfiles.python import literal, names_amd, nodes_of, place, tree
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Edit, Effort, Example, Finding, Settings, clean, fixes, reports

_LOADS = re.compile(r"\b(?:CDLL|PyDLL|WinDLL|LoadLibrary|find_library|find_loaded_library|dlopen)\b")
_FUNCTION = re.compile(r"(?:cuda|cu|cublas(?:Lt)?|cufft|curand|cusparse|cusolver|nvrtc)[A-Z]\w+")

_NCCL = 'lib = ctypes.CDLL("libnccl.so.2")'


class PythonLoadedLibrary(BuildRule):
    """Library of CUDA's that Python loads by name

    `ctypes.CDLL("libcudart.so")` fails where there is no CUDA. The file name becomes ROCm's, without a version, which
    is ROCm's own. Functions that are taken from a library by name, as an attribute (`cudart.cudaMalloc`) or a string
    (`getattr(lib, "cudaMalloc")`), become HIP's, with a look at arguments and results; attributes of what the file
    imports are no library's and are listed, those of methods of its own stay. NCCL's functions have the same names in
    RCCL. A file that knows AMD's libraries already is left alone; other files that use the library are not looked at.
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
            'rt = CDLL("libamdhip64.so")\nrt.hipMalloc(p, 4)',
            path="comm.py",
            effort=Effort.REVIEW,
        ),
        fixes(
            'rt = CDLL("libcuda.so.1")\nrt.cuMemAlloc_v2.argtypes = []\ninit = getattr(rt, "cuInit")',
            'rt = CDLL("libamdhip64.so")\nrt.hipMalloc.argtypes = []\ninit = getattr(rt, "hipInit")',
            path="comm.py",
            effort=Effort.REVIEW,
        ),
        fixes(
            'rt = CDLL("libcuda.so.1")\nrt.cuTensorMapEncodeTiled(p)',
            'rt = CDLL("libamdhip64.so")\nrt.cuTensorMapEncodeTiled(p)',
            path="comm.py",
            effort=Effort.MANUAL,
        ),
        fixes(
            'from cuda import cudart\nrt = CDLL("libcudart.so")\ncudart.cudaMalloc(4)',
            'from cuda import cudart\nrt = CDLL("libamdhip64.so")\ncudart.cudaMalloc(4)',
            path="comm.py",
            effort=Effort.MANUAL,
        ),
        fixes(
            'class R:\n  def cudaFree(self, p):\n    R.f["cudaFree"](p)\nr = R(CDLL("libcudart.so"))\nr.cudaFree(0)',
            'class R:\n  def cudaFree(self, p):\n    R.f["hipFree"](p)\nr = R(CDLL("libamdhip64.so"))\nr.cudaFree(0)',
            path="comm.py",
            effort=Effort.REVIEW,
        ),
        fixes(
            'rt = CDLL("libcudart.so")\nrt.cudaMine(p)',
            'rt = CDLL("libamdhip64.so")\nrt.cudaMine(p)',
            path="comm.py",
            effort=Effort.REVIEW,
        ),
        reports('lib = ctypes.CDLL("libnvidia-ml.so.1")', path="comm.py"),
        clean('lib = ctypes.CDLL("libmine.so")', path="comm.py"),
        clean('print("libcudart.so")', path="comm.py"),
        clean('lib = CDLL("librccl.so" if torch.version.hip else "libnccl.so.2")', path="comm.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """One finding per library, and one per function."""
        if _LOADS.search(unit.text) is None or names_amd(unit.text):
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
        names = unit.names
        own = {node.name for node in nodes_of(root) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        modules = _imported(root)
        for node in nodes_of(root):
            if isinstance(node, ast.Attribute):
                name, start, end = node.attr, *_attribute(unit, node)
            elif (text := literal(unit, node)) is not None:
                name, start, end = text.value, text.inner, text.inner_end
            else:
                continue
            found = looked_up(name, names, unit.settings.rocm) if _FUNCTION.fullmatch(name) else None
            if found is None or (isinstance(node, ast.Attribute) and name in own):
                continue
            if isinstance(node, ast.Attribute) and _base(node) in modules:
                message = f"{name}, of a module that the file imports: NVIDIA's own"
                yield self.finding(unit, start, end, message, Effort.MANUAL)
                continue
            edits = (Edit(start, end, found.name),) if found.name is not None else ()
            yield self.finding(unit, start, end, found.message, found.effort, edits)


def _attribute(unit: BuildUnit, node: ast.Attribute) -> tuple[int, int]:
    """Where the name of an attribute is: at the end of the expression."""
    _, end = place(unit, node)
    return end - len(node.attr), end


def _base(node: ast.Attribute) -> str | None:
    """The name that a chain of attributes begins with."""
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else None


def _imported(root: ast.Module) -> frozenset[str]:
    aliases = (one for node in nodes_of(root) if isinstance(node, (ast.Import, ast.ImportFrom)) for one in node.names)
    return frozenset((one.asname or one.name).partition(".")[0] for one in aliases)


def _is_search(call: ast.Call) -> bool:
    """Whether it is `find_library(...)` with one argument: a name without `lib` and suffix."""
    return len(call.args) == 1 and ast.unparse(call.func).endswith("find_library")
