"""Drafts of cases for the Triton kernels of a Python file; what they do not tell is marked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from porter.validation.cases.argument_rows import TODO
from porter.validation.cases.file import SCHEMA
from porter.validation.cases.python_units import python_units
from porter.validation.cases.triton_source import Written, kernels_of

from porter.errors import Unusable
from porter.system.reading import parsed_python, read_regular

_READS, _WRITES = ("load",), ("store",)
_OPTIONS = ("num_warps", "num_stages")
_SIZES = "[1, 64, 1000]"


@dataclass(frozen=True)
class TritonDraft:
    """A case file for the kernels of one file."""

    text: str
    cases: int

    @property
    def marks(self) -> int:
        """Places that have to be filled in."""
        return self.text.count(TODO)


@dataclass
class _Uses:
    """What a kernel does with its parameters."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    atomics: set[str] = field(default_factory=set)
    bounds: dict[str, set[str]] = field(default_factory=dict)
    """By pointer: the parameters that its masks compare with."""

    @property
    def pointers(self) -> set[str]:
        """All that are loaded from or stored to."""
        return self.reads | self.writes | self.atomics


def is_triton(path: Path, wanted: tuple[str, ...] = ()) -> bool:
    """Whether a file is Python, and its kernels, or those named, are Triton's; Python without any kernel is."""
    if path.suffix != ".py":
        return False
    try:
        kernels, strings = kernels_of(path), python_units(path)
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from None
    return any(name in kernels for name in wanted) if wanted and kernels else bool(kernels) or not strings


def draft_triton(path: Path, wanted: tuple[str, ...] = ()) -> TritonDraft:
    """Cases for the kernels of a file, or those named; raises Unusable."""
    try:
        kernels = kernels_of(path)
        tree = parsed_python(read_regular(path))
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from None
    unknown = [name for name in wanted if name not in kernels]
    if unknown or not kernels:
        what = f"no Triton kernel {unknown[0]!r}" if unknown else "no Triton kernels"
        raise Unusable(f"{path}: {what}; there are: {', '.join(kernels) or 'none'}")
    called = _called(kernels.values())
    chosen = [k for name, k in kernels.items() if (name in wanted if wanted else name not in called)]
    parts = [text for kernel in chosen for text in _cases(path.stem, kernel, _grids(tree, kernel.name))]
    return TritonDraft("\n".join([f'schema = "{SCHEMA}"', "", *parts]), len(parts))


def _called(kernels: Iterable[Written]) -> set[str]:
    """Functions that kernels call: helpers, which are not launched."""
    found: set[str] = set()
    for kernel in kernels:
        for node in _nodes(kernel.body):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found.add(node.func.id)
    return found


def _nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from ast.walk(statement)


def _cases(module: str, kernel: Written, grids: Sequence[ast.expr]) -> Iterator[str]:
    """One per configuration."""
    configurations = list(_configurations(kernel)) or [({}, {})]
    for number, (constants, options) in enumerate(configurations):
        suffix = f"_{number + 1}" if len(configurations) > 1 else ""
        yield _case(module, kernel, grids, constants, options, suffix)


def _configurations(kernel: Written) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Constants and options of each `triton.Config` that stands there in full."""
    for decorator in kernel.decorators:
        for node in ast.walk(decorator):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Config") and node.args):
                continue
            table = node.args[0]
            if not isinstance(table, ast.Dict) or not all(isinstance(value, ast.Constant) for value in table.values):
                continue
            constants = {str(getattr(key, "value", "")): _shown(value) for key, value in
                         zip(table.keys, table.values, strict=True)}  # fmt: skip
            options = {word.arg: ast.unparse(word.value) for word in node.keywords
                       if word.arg in _OPTIONS and isinstance(word.value, ast.Constant)}  # fmt: skip
            yield constants, {str(name): value for name, value in options.items()}


def _shown(node: ast.expr) -> str:
    value = getattr(node, "value", None)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"\"'{value}'\"" if isinstance(value, str) else str(value)


def _case(
    module: str, kernel: Written, grids: Sequence[ast.expr], given: Mapping[str, str], options: Mapping[str, str],
    suffix: str,
) -> str:  # fmt: skip
    uses = _uses(kernel)
    constants = {
        name: given.get(name, TODO) for name in kernel.constants if name not in kernel.optional or name in given
    }
    passed = [name for name in kernel.parameters if name not in kernel.constants]
    sizes = [name for name in passed if any(name in bounds for bounds in uses.bounds.values())]
    lines = ["# element types of arrays are assumed; a tensor of another type is another kernel", "[[case]]"]
    lines += [f'triton = "{module}.{kernel.name}"']
    lines += [f'name = "{kernel.name}{suffix}"'] if suffix else []
    lines += [f"sweep = {{ {', '.join(f'{name} = {_SIZES}' for name in sizes)} }}"] if sizes else []
    if constants:
        shown = (f"{name} = {value if value != TODO else _quoted(TODO)}" for name, value in constants.items())
        lines.append(f"constants = {{ {', '.join(shown)} }}")
    lines += [f"warps = {options['num_warps']}"] if "num_warps" in options else []
    lines += [f"stages = {options['num_stages']}"] if "num_stages" in options else []
    lines += [f"grid = {_grid(grids, {*constants, *sizes}, kernel)}", "arguments = ["]
    lines += [f'  "{_argument(name, uses, sizes)}",' for name in passed]
    lines += ["]", f'reference = "{TODO}"  # file.py:function']
    lines += ["deterministic = false  # atomics"] if uses.atomics else []
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _argument(name: str, uses: _Uses, sizes: Sequence[str]) -> str:
    if name in uses.pointers:
        reads, writes = name in uses.reads | uses.atomics, name in uses.writes | uses.atomics
        kind = "inout" if reads and writes else "out" if writes else "in"
        shape = ", ".join(size for size in sizes if size in uses.bounds.get(name, ())) or TODO
        return f"{kind} {name}: float32[{shape}]"
    if name in sizes:
        return f"scalar {name}: int32 = {name}"
    kind = "float32" if re.search(r"eps|scale|alpha|beta|lr|prob|^p$|momentum", name) else "int32"
    return f"scalar {name}: {kind} = {TODO}"


def _uses(kernel: Written) -> _Uses:
    """Follows pointers through assignments, in the order of the text."""
    uses = _Uses()
    origin: dict[str, str] = {}
    values: dict[str, ast.expr] = {}
    for node in _in_order(kernel.body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            values[name] = node.value
            root = _root(node.value, kernel.parameters, origin)
            if root is not None:
                origin[name] = root
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        called = node.func.attr
        root = _root(node.args[0], kernel.parameters, origin)
        if root is None or not (called in (*_READS, *_WRITES) or called.startswith("atomic_")):
            continue
        (uses.reads if called in _READS else uses.writes if called in _WRITES else uses.atomics).add(root)
        masks = [word.value for word in node.keywords if word.arg == "mask"]
        uses.bounds.setdefault(root, set()).update(
            bound for mask in masks for bound in _bounds(mask, values, kernel.parameters, 0)
        )
    return uses


def _in_order(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes with the line they are on, assignments before what their line calls."""
    found = [node for node in _nodes(body) if isinstance(node, ast.Assign | ast.Call)]
    return iter(sorted(found, key=lambda node: (node.lineno, isinstance(node, ast.Call))))


def _root(node: ast.expr, parameters: Sequence[str], origin: Mapping[str, str]) -> str | None:
    """The parameter that an address begins at: the leftmost term."""
    if isinstance(node, ast.Name):
        return origin.get(node.id) or (node.id if node.id in parameters else None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return _root(node.left, parameters, origin)
    if isinstance(node, ast.Call):
        words = {word.arg: word.value for word in node.keywords}
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in ("make_block_ptr", "make_tensor_descriptor", "advance"):
            base = words.get("base") or (node.args[0] if node.args else None)
            return _root(base, parameters, origin) if base is not None else None
        if name == "to" and isinstance(node.func, ast.Attribute):
            return _root(node.func.value, parameters, origin)
    return None


def _bounds(node: ast.expr, values: Mapping[str, ast.expr], parameters: Sequence[str], depth: int) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Compare) and isinstance(part.comparators[0], ast.Name):
            name = part.comparators[0].id
            if name in parameters:
                yield name
        elif isinstance(part, ast.Name) and part.id in values and depth < 4:
            yield from _bounds(values[part.id], values, parameters, depth + 1)


def _grids(tree: ast.AST, kernel: str) -> list[ast.expr]:
    """What stands in the brackets of launches of the kernel, through one assignment."""
    values: dict[str, ast.expr] = {}
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == kernel:
            found.append(node.slice)
    return [values.get(grid.id, grid) if isinstance(grid, ast.Name) else grid for grid in found]


def _grid(grids: Sequence[ast.expr], known: set[str], kernel: Written) -> str:
    """The launch's, where its words are sizes or constants of the case."""
    for grid in grids:
        body = grid.body if isinstance(grid, ast.Lambda) else grid
        sides = [_expression(side) for side in (body.elts if isinstance(body, ast.Tuple) else [body])]
        names = {word for side in sides for word in re.findall(r"[A-Za-z_]\w*", side)} - {"ceil_div", "min", "max"}
        if names <= known and 1 <= len(sides) <= 3:
            return _quoted(sides[0]) if len(sides) == 1 else f"[{', '.join(map(_quoted, sides))}]"
    calls = [node for node in _nodes(kernel.body) if isinstance(node, ast.Call) and node.args]
    asked = [call.args[0] for call in calls if ast.unparse(call.func).endswith("program_id")]
    axes = [axis.value for axis in asked if isinstance(axis, ast.Constant)]
    count = max((int(axis) for axis in axes if isinstance(axis, int)), default=0) + 1
    return _quoted(TODO) if count == 1 else f"[{', '.join([_quoted(TODO)] * count)}]"


def _expression(node: ast.expr) -> str:
    """In the words of case files."""
    text = re.sub(r"\b\w+\[['\"](\w+)['\"]\]", r"\1", ast.unparse(node))
    return re.sub(r"\b(?:triton\.)?cdiv\(", "ceil_div(", text)
