"""Mutants of the comparing modules: one operator, constant or call changed at a time."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

PACKAGE = "porter.validation.verdict"
MODULES = ("tolerance", "compare", "outcome")
"""In the order of their imports."""
CHECKS = "tests.validate.test_compare"
_KILLERS: dict[str, None] = {}
"""Checks that failed, the last one at the end: it is asked first, for the next mutant is not far from it."""
_SLOW = ("test_sums_in_float32_pass_and_sums_in_half_do_not", "test_poison_is_told_from_results")
"""Asked last."""
_COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip
_BINARY = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr,
           ast.BitOr: ast.BitAnd}  # fmt: skip
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
          "argmax": "argmin", "isnan": "isinf", "isinf": "isnan", "isfinite": "isnan", "ones": "zeros"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    text: str
    change: str
    code: CodeType

    @property
    def name(self) -> str:
        """What was changed, without the line number."""
        return f"{self.module}: {self.text}: {self.change}"


def source_of(module: str) -> tuple[Path, str]:
    """The file of a module."""
    spec = importlib.util.find_spec(f"{PACKAGE}.{module}")
    assert spec is not None and spec.origin is not None
    path = Path(spec.origin)
    return path, path.read_text("utf-8")


def mutants(module: str, functions: frozenset[str] | None = None) -> Iterator[Mutant]:
    """Every mutant of a module, or of some functions of it."""
    path, text = source_of(module)
    tree = ast.parse(text)
    lines = text.splitlines()
    for top in tree.body:
        if not isinstance(top, ast.FunctionDef | ast.Assign) or (
            functions and getattr(top, "name", "") not in functions
        ):
            continue
        annotations = {id(inner) for node in ast.walk(top) for inner in _annotation(node)}
        for node in ast.walk(top):
            if id(node) in annotations:
                continue
            for change, undo in _changes(node):
                ast.fix_missing_locations(node)  # what is new lies within it
                code = compile(tree, str(path), "exec")
                yield Mutant(module, node.lineno, lines[node.lineno - 1].strip(), change, code)  # type: ignore[attr-defined]
                undo()


def _annotation(node: ast.AST) -> Iterator[ast.AST]:
    for field in ("annotation", "returns"):
        part = getattr(node, field, None)
        if part is not None:
            yield from ast.walk(part)


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Changes the node in place; the caller undoes each before the next."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            if type(operator) in _COMPARE:
                node.ops[index] = _COMPARE[type(operator)]()
                yield (
                    f"{_word(operator)} -> {_word(node.ops[index])}",
                    lambda i=index, o=operator: node.ops.__setitem__(i, o),
                )
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        before = node.op
        node.op = _BINARY[type(before)]()
        yield f"{_word(before)} -> {_word(node.op)}", lambda: setattr(node, "op", before)
    elif isinstance(node, ast.BoolOp):
        before_bool = node.op
        node.op = ast.Or() if isinstance(before_bool, ast.And) else ast.And()
        yield f"{_word(before_bool)} -> {_word(node.op)}", lambda: setattr(node, "op", before_bool)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert | ast.Not):
        old = node.op
        node.op = ast.UAdd() if isinstance(old, ast.Invert) else ast.Not()
        if isinstance(old, ast.Invert):
            operand = node.operand
            node.operand = ast.Call(ast.Name("bool_array", ast.Load()), [operand], [])
            yield "~ dropped", lambda: (setattr(node, "op", old), setattr(node, "operand", operand))
        else:
            inner = node.operand
            node.operand = ast.UnaryOp(ast.Not(), inner)
            yield "not dropped", lambda: setattr(node, "operand", inner)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        value = node.value
        node.value = (not value) if isinstance(value, bool) else value + 1
        yield f"{value} -> {node.value}", lambda: setattr(node, "value", value)
    elif isinstance(node, ast.Name | ast.Attribute):
        field = "id" if isinstance(node, ast.Name) else "attr"
        name = getattr(node, field)
        if name in _NAMES:
            setattr(node, field, _NAMES[name])
            yield f"{name} -> {_NAMES[name]}", lambda: setattr(node, field, name)


def _word(operator: Any) -> str:
    return type(operator).__name__


def is_killed(mutant: Mutant | None) -> str | None:
    """The check that fails with the mutant in place (None: the modules as they are); None when it survives."""
    names = [f"{PACKAGE}.{module}" for module in MODULES]
    kept = {name: sys.modules.get(name) for name in [*names, CHECKS]}
    parents = {name: getattr(sys.modules[PACKAGE], name.rpartition(".")[2], None) for name in names}
    try:
        for module in MODULES[MODULES.index(mutant.module) if mutant else 0 :]:  # those before it never see it
            _put(module, mutant.code if mutant and mutant.module == module else _unchanged(module))
        sys.modules.pop(CHECKS, None)
        return _failing(importlib.import_module(CHECKS))
    except Exception as error:  # a mutant may not even import
        return f"import: {type(error).__name__}"
    finally:
        for name, module_before in kept.items():
            if module_before is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module_before
        for name, attribute in parents.items():
            setattr(sys.modules[PACKAGE], name.rpartition(".")[2], attribute)


def _put(module: str, code: CodeType) -> None:
    made = ModuleType(f"{PACKAGE}.{module}")
    made.__file__ = code.co_filename
    sys.modules[made.__name__] = made
    setattr(sys.modules[PACKAGE], module, made)
    made.__dict__["bool_array"] = lambda array: array * 1 == 1
    exec(code, made.__dict__)


@functools.cache
def _unchanged(module: str) -> CodeType:
    path, text = source_of(module)
    return compile(text, str(path), "exec")


def _failing(checks: ModuleType) -> str | None:
    found = {name: function for name, function in vars(checks).items() if name.startswith("test_")}
    for name in sorted(found, key=lambda name: (name in _SLOW, -[*_KILLERS].index(name) if name in _KILLERS else 1)):
        function = found[name]
        if hasattr(function, "hypothesis"):
            continue
        for arguments in _parameters(function):
            try:
                function(*arguments)
            except (Exception, pytest.fail.Exception):
                _KILLERS.pop(name, None)
                _KILLERS[name] = None
                return name
    return None


def _parameters(function: Any) -> list[tuple[Any, ...]]:
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "parametrize":
            rows = mark.args[1]
            return [row if isinstance(mark.args[0], tuple) else (row,) for row in rows]
    return [()]
