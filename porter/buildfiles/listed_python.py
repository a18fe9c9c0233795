"""The sources in a `setup.py`, each with the builds for which its line runs; nothing is executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from porter.buildfiles.vendor import ALWAYS, UNKNOWN, Answer, of_name, of_value
from porter.system.reading import parsed_python

_FILE = re.compile(r"[\w./+*-]+\.\w+")


def python_mentions(data: bytes) -> Iterator[tuple[str, Answer]]:
    """File names and patterns in strings, with the builds that come to them."""
    try:
        module = parsed_python(data)
    except (SyntaxError, ValueError):
        return
    yield from _in(module.body, ALWAYS)


def _in(nodes: list[ast.stmt], where: Answer) -> Iterator[tuple[str, Answer]]:
    for node in nodes:
        if isinstance(node, ast.If):
            asked = _condition(node.test)
            yield from _in(node.body, where.and_(asked))
            yield from _in(node.orelse, where.and_(asked.inverted()))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.Try)):
            yield from _in(node.body, where)
            yield from _in(getattr(node, "orelse", []), where)
            for handler in getattr(node, "handlers", []):
                yield from _in(handler.body, where)
        else:
            yield from _strings(node, where)


def _strings(node: ast.AST, where: Answer) -> Iterator[tuple[str, Answer]]:
    if isinstance(node, ast.IfExp):
        asked = _condition(node.test)
        yield from _strings(node.body, where.and_(asked))
        yield from _strings(node.orelse, where.and_(asked.inverted()))
        return
    if isinstance(node, ast.Call) and _dotted(node.func).endswith("join"):
        parts = [one.value if isinstance(one, ast.Constant) else "" for one in node.args]
        tail = [str(part) for part in parts[len(parts) - _constants_at_the_end(parts) :]]
        if tail and _FILE.fullmatch("/".join(tail)):
            yield "/".join(tail), where
            return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _FILE.fullmatch(node.value):
        yield node.value, where
    for child in ast.iter_child_nodes(node):
        yield from _strings(child, where)


def _constants_at_the_end(parts: Sequence[object]) -> int:
    count = 0
    while count < len(parts) and isinstance(parts[-1 - count], str) and parts[-1 - count]:
        count += 1
    return count


def _condition(node: ast.expr) -> Answer:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _condition(node.operand).inverted()
    if isinstance(node, ast.BoolOp):
        found = _condition(node.values[0])
        for value in node.values[1:]:
            other = _condition(value)
            found = found.and_(other) if isinstance(node.op, ast.And) else found.or_(other)
        return found
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node.left, node.ops[0], node.comparators[0])
    if isinstance(node, ast.Call):
        return _condition(node.func) if not node.args else UNKNOWN
    return of_name(_dotted(node)) if isinstance(node, (ast.Name, ast.Attribute)) else UNKNOWN


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Answer:
    """`torch.version.hip is not None`, `platform == "rocm"`."""
    value = right.value if isinstance(right, ast.Constant) else ...
    if value is None or value is False:
        found = _condition(left).inverted()
    elif value is True:
        found = _condition(left)
    elif isinstance(value, str):
        found = of_value(value)
    else:
        return UNKNOWN
    if isinstance(operator, (ast.Is, ast.Eq)):
        return found
    return found.inverted() if isinstance(operator, (ast.IsNot, ast.NotEq)) else UNKNOWN


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
