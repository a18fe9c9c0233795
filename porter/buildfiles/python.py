"""Python build files: string literals and lists of them with byte offsets, from `ast`; nothing is executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from porter.buildfiles.unit import BuildUnit
from porter.model import Edit
from porter.system.reading import parsed_python


class Literal(NamedTuple):
    """A plain string literal: [start, end) with quotes, and its inside when it is written without escapes."""

    start: int
    end: int
    inner: int
    inner_end: int
    value: str
    quote: str


def tree(unit: BuildUnit) -> ast.Module | None:
    """The syntax tree; None for a file that is not Python 3 in UTF-8."""
    cached: ast.Module | None = unit.__dict__.get("_python_tree")
    if cached is None:
        try:
            unit.source.data.decode("utf-8")
            cached = parsed_python(unit.source.data)
        except ValueError:
            return None
        unit.__dict__["_python_tree"] = cached
    return cached


_last: list[tuple[ast.AST, tuple[ast.AST, ...]]] = []


def nodes_of(root: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a file's tree; kept for the rules that ask one after the other."""
    if not _last or _last[0][0] is not root:
        nodes = [root]
        for node in nodes:  # as ast.walk does it, level by level
            nodes += _children(node)
        _last[:] = [(root, tuple(nodes))]
    return _last[0][1]


def parents_of(root: ast.AST) -> dict[int, ast.AST]:
    """What each node stands in, by the node's identity."""
    return {id(child): node for node in nodes_of(root) for child in _children(node)}


def _children(node: ast.AST) -> list[ast.AST]:
    """As ast.iter_child_nodes gives them, in half the time."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def place(unit: BuildUnit, node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Byte range of a node: ast counts columns in bytes of UTF-8."""
    source = unit.source
    assert node.end_lineno is not None and node.end_col_offset is not None
    start = _line_start(unit, node.lineno) + node.col_offset
    return start, source.line_start(node.end_lineno) + node.end_col_offset


def _line_start(unit: BuildUnit, line: int) -> int:
    return unit.source.line_start(line)


def literal(unit: BuildUnit, node: ast.AST) -> Literal | None:
    """A string constant that is one literal without escapes and prefixes."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    start, end = place(unit, node)
    text = unit.text[start:end]
    value = node.value.encode("utf-8", "surrogatepass").decode("latin-1")
    for prefix in ("", "r", "R", "u"):
        for quote in ('"""', "'''", '"', "'"):
            if text == f"{prefix}{quote}{value}{quote}":
                inner = start + len(prefix) + len(quote)
                return Literal(start, end, inner, inner + len(value), value, quote)
    return None


def strings(unit: BuildUnit) -> tuple[Literal, ...]:
    """All plain string literals that are not documentation and not part of an f-string."""
    known: tuple[Literal, ...] | None = unit.__dict__.get("_python_strings")
    if known is None:
        root = tree(unit)
        known = unit.__dict__["_python_strings"] = () if root is None else tuple(_strings(unit, root))
    return known


def _strings(unit: BuildUnit, root: ast.AST) -> Iterator[Literal]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        found = literal(unit, node)
        if found is not None:
            yield found
        else:
            waiting += reversed(_children(node))


def formatted(unit: BuildUnit) -> Iterator[tuple[int, str]]:
    """Where each f-string begins, and its source text."""
    root = tree(unit)
    for node in nodes_of(root) if root is not None else ():
        if isinstance(node, ast.JoinedStr):
            start, end = place(unit, node)
            if unit.text[start : start + 2].lower().rstrip("\"'") in ("f", "fr", "rf"):
                yield start, unit.text[start:end]


_NAMES_AMD = re.compile(
    r"(?<![A-Za-z])(?:(?i:amdhip|rccl|rocm|amd-?smi|pyrsmi|migraphx)|[hH]ip(?:(?![a-z])|(?:blas|fft|rand|rtc|solver|sparse))"
    r"|HIP(?![A-Za-z]))|is_(?:hip|rocm)|gfx9"
)


def names_amd(text: str) -> bool:
    """Whether a Python file names HIP, ROCm or what comes with it: then its authors have seen to AMD's GPUs."""
    return _NAMES_AMD.search(text) is not None


HIP_TEST = "torch.version.hip"
"""What Python code asks to know whether PyTorch was built for AMD."""


def has_both_paths(node: ast.AST) -> bool:
    """Whether an expression or statement chooses between AMD and NVIDIA itself."""
    return isinstance(node, (ast.IfExp, ast.If)) and HIP_TEST in ast.unparse(node.test)


def decided(root: ast.Module) -> frozenset[int]:
    """Every node below a choice between AMD and NVIDIA, by identity."""
    return frozenset(id(inner) for node in nodes_of(root) if has_both_paths(node) for inner in ast.walk(node))


def missing_imports(unit: BuildUnit, root: ast.Module, *names: str) -> tuple[Edit, ...]:
    """Imports of modules that the file lacks, before its first one."""
    bound = {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes_of(root)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    wanted = [name for name in names if name not in bound]
    first = next((n for n in root.body if isinstance(n, (ast.Import, ast.ImportFrom)) and _is_ordinary(n)), None)
    if not wanted or first is None:
        return ()
    start, _ = place(unit, first)
    return (Edit(start, start, "".join(f"import {name}{unit.source.newline}" for name in wanted)),)


def _is_ordinary(node: ast.Import | ast.ImportFrom) -> bool:
    return not isinstance(node, ast.ImportFrom) or node.module != "__future__"


def imports_torch(root: ast.Module) -> bool:
    """Whether the name `torch` is bound by an import."""
    return any(
        alias.name.partition(".")[0] == "torch" and alias.asname is None
        for node in nodes_of(root)
        if isinstance(node, ast.Import)
        for alias in node.names
    )


def mentions_extension(root: ast.Module) -> bool:
    """Whether the file builds PyTorch extensions."""
    for node in nodes_of(root):
        if isinstance(node, ast.ImportFrom) and node.module is not None and "cpp_extension" in node.module:
            return True
        if isinstance(node, (ast.ImportFrom, ast.Import)) and any("cpp_extension" in a.name for a in node.names):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("cpp_extension", "CUDAExtension", "CppExtension"):
            return True
    return False


class FlagList(NamedTuple):
    """Expressions that are words of one command line, in order, and whether nvcc gets them."""

    elements: tuple[ast.expr, ...]
    statements: tuple[ast.stmt, ...]
    """For words that are appended one by one: the statement of each."""
    certain: bool


def flag_lists(root: ast.Module) -> Iterator[FlagList]:
    """Lists of words, and runs of `x.append(word)`, with the knowledge whether they go to nvcc."""
    sinks, assigned = tuple(_sinks(root)), _assigned(root)
    certain = _nvcc_names(root, sinks, assigned)
    nvcc_nodes = {id(node) for node in _nvcc_expressions(root, sinks, assigned, certain)}
    for node in nodes_of(root):
        if isinstance(node, (ast.List, ast.Tuple)):
            yield FlagList(tuple(node.elts), (), id(node) in nvcc_nodes)
    for body in _bodies(root):
        runs: dict[str, list[tuple[ast.expr, ast.stmt]]] = {}
        for statement in body:
            added = _appended(statement)
            if added is not None:
                runs.setdefault(added[0], []).append((added[1], statement))
        for name, pairs in runs.items():
            yield FlagList(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs), name in certain)


def _bodies(root: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in nodes_of(root):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield body


def _appended(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """`name` and `word` of `name.append(word)`."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "append" or len(call.args) != 1:
        return None
    return (ast.unparse(call.func.value), call.args[0])


_NVCC_KEYWORDS = frozenset({"extra_cuda_cflags", "cuda_flags", "nvcc_flags", "nvcc_args"})


def _sinks(root: ast.Module) -> Iterator[ast.expr]:
    """Expressions that nvcc gets: `{"nvcc": x}`, `d["nvcc"] = x`, `extra_cuda_cflags=x`."""
    for node in nodes_of(root):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "nvcc":
                    yield value
        elif isinstance(node, ast.keyword) and node.arg in _NVCC_KEYWORDS:
            yield node.value
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(_is_nvcc_target(target) for target in targets):
                yield node.value
        elif (call := _adding(node)) is not None and _is_nvcc_target(call[0]):
            yield from call[1].args


def _adding(node: ast.AST) -> tuple[ast.expr, ast.Call] | None:
    """What a call of `append` or `extend` adds to, and the call."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("extend", "append"):
        return node.func.value, node
    return None


def _is_nvcc_target(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value == "nvcc"
    return isinstance(node, ast.Name) and "nvcc" in node.id.lower() and "flag" in node.id.lower()


_Assigned: TypeAlias = Mapping[str, list[ast.expr]]


def _nvcc_names(root: ast.Module, sinks: Iterable[ast.expr], assigned: _Assigned) -> frozenset[str]:
    """Names of variables whose values reach nvcc."""
    names: set[str] = set()
    waiting = list(sinks)
    while waiting:
        expression = waiting.pop()
        for node in ast.walk(expression):
            if isinstance(node, ast.Name) and node.id not in names:
                names.add(node.id)
                waiting += assigned.get(node.id, ())
    for node in nodes_of(root):
        if isinstance(node, ast.Subscript) and _is_nvcc_target(node):
            names.add(ast.unparse(node))
    return frozenset(names)


def _assigned(root: ast.Module) -> _Assigned:
    """What is assigned or added to each name, or given back by the function of that name."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes_of(root):
        if isinstance(node, ast.FunctionDef):
            given = (part.value for part in ast.walk(node) if isinstance(part, ast.Return))
            found.setdefault(node.name, []).extend(value for value in given if value is not None)
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in dict.fromkeys(target.id for target in targets if isinstance(target, ast.Name)):
                found.setdefault(name, []).append(node.value)
    return found


def _nvcc_expressions(
    root: ast.Module, sinks: Iterable[ast.expr], assigned: _Assigned, names: frozenset[str]
) -> Iterator[ast.AST]:
    """Every list that reaches nvcc."""
    for sink in (*sinks, *(value for name in names for value in assigned.get(name, ()))):
        yield from (node for node in ast.walk(sink) if isinstance(node, (ast.List, ast.Tuple)))
    for node in nodes_of(root):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "extend":
            continue
        if ast.unparse(node.func.value) in names:
            yield from (part for arg in node.args for part in ast.walk(arg) if isinstance(part, (ast.List, ast.Tuple)))
