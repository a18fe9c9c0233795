"""Conditions of setup.py as an ordinary build for AMD meets them: true, false, or not known; nothing is executed."""

from __future__ import annotations

import ast
import re

_ON = re.compile(r"cuda|hip|rocm|gpu", re.IGNORECASE)
_AMD = re.compile(r"(?<![a-z])(?:hip|rocm)(?![a-z])", re.IGNORECASE)
_COUNTED = re.compile(r"version|capability|major|minor|arch", re.IGNORECASE)
_WINDOWS = frozenset({"win32", "nt", "Windows", "cygwin", "darwin", "Darwin"})


def truth(test: ast.expr) -> bool | None:
    """Whether a condition holds where PyTorch is built for AMD, the GPU is asked for, and no variable is set."""
    if isinstance(test, ast.BoolOp):
        return _joined([truth(value) for value in test.values], any_of=isinstance(test.op, ast.Or))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test.left, test.ops[0], test.comparators[0])
    if isinstance(test, ast.Call) and _variable(test) is not None:
        return _set(test)
    return _stands(test)


def _joined(values: list[bool | None], *, any_of: bool) -> bool | None:
    if any_of in values:
        return any_of
    return None if None in values else not any_of


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
    equal = isinstance(operator, (ast.Eq, ast.Is))
    if not equal and not isinstance(operator, (ast.NotEq, ast.IsNot)):
        found = isinstance(left, ast.Constant) and isinstance(left.value, str) and _ON.fullmatch(left.value)
        return True if found and isinstance(operator, ast.In) else None
    if isinstance(left, ast.Constant):
        left, right = right, left
    holds = _equals(left, right)
    return None if holds is None else holds is equal


def _equals(left: ast.expr, right: ast.expr) -> bool | None:
    if not isinstance(right, ast.Constant):
        return None
    if isinstance(left, ast.Call) and _variable(left) is not None:
        if _ON.search(_variable(left) or ""):
            return right.value not in (None, "0", "", "OFF", "FALSE", "False")
        return _default(left) == right.value
    if right.value is None:
        there = _stands(left)
        return None if there is None else not there
    if isinstance(right.value, str) and right.value in _WINDOWS:
        return False
    if isinstance(right.value, str) and _ON.fullmatch(right.value):
        return True
    if isinstance(right.value, bool):
        there = _stands(left)
        return None if there is None else there is right.value
    return None


def _stands(test: ast.expr) -> bool | None:
    """Whether a name or a question about the GPU is answered with yes; questions about files are never known."""
    if isinstance(test, ast.Call) and test.args:
        return None
    if not isinstance(test, (ast.Name, ast.Attribute, ast.Call)):
        return None
    text = ast.unparse(test)
    if text == "torch.version.cuda":
        return False
    last = re.sub(r"\(\)$", "", text).rpartition(".")[2]
    if _AMD.search(last.replace("_", " ")) or text == "torch.version.hip":
        return True
    return True if _ON.search(text) and not _COUNTED.search(last) else None


def _variable(call: ast.Call) -> str | None:
    """The name of the variable that `os.getenv(...)` or `os.environ.get(...)` reads."""
    if ast.unparse(call.func) in ("os.getenv", "getenv", "os.environ.get", "environ.get") and call.args:
        name = call.args[0]
        return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
    return None


def _default(call: ast.Call) -> object:
    value = call.args[1] if len(call.args) > 1 else None
    return value.value if isinstance(value, ast.Constant) else None


def _set(call: ast.Call) -> bool | None:
    return True if _ON.search(_variable(call) or "") else bool(_default(call))
