"""Integer and real expressions of case files: parsed, never executed as Python."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

Number = bool | int | float
LARGEST = 2**63 - 1
_LONGEST = 400
_DEEPEST_POWER = 128


class BadExpression(Exception):
    """The text is no expression, names something unknown, or its value cannot be had."""


def _ceil_div(value: Number, by: Number) -> Number:
    return -(-value // by)


def _round_up(value: Number, to: Number) -> Number:
    return _ceil_div(value, to) * to


def _next_power_of_two(value: Number) -> Number:
    return 1 << max(int(value) - 1, 0).bit_length()


def _log2(value: Number) -> Number:
    return int(value).bit_length() - 1 if value > 0 else _refuse("log2 of a number that is not positive")


def _refuse(message: str) -> Number:
    raise BadExpression(message)


FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "min": (min, 1, 8),
    "max": (max, 1, 8),
    "abs": (abs, 1, 1),
    "int": (int, 1, 1),
    "ceil_div": (_ceil_div, 2, 2),
    "round_up": (_round_up, 2, 2),
    "next_power_of_two": (_next_power_of_two, 1, 1),
    "log2": (_log2, 1, 1),
    "sqrt": (math.sqrt, 1, 1),
}
"""Name -> function, fewest and most arguments. `log2` is that of the largest power of two not above the value."""


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > _DEEPEST_POWER:
        raise BadExpression(f"an exponent of {exponent}")
    result: Number = base**exponent
    return result


def _shift(value: Number, by: Number) -> Number:
    if not 0 <= by < _DEEPEST_POWER:
        raise BadExpression(f"a shift by {by}")
    return int(value) << int(by)


_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: _power,
    ast.LShift: _shift,
    ast.RShift: lambda a, b: int(a) >> int(b),
    ast.BitAnd: lambda a, b: int(a) & int(b),
    ast.BitOr: lambda a, b: int(a) | int(b),
}
_UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {
    ast.USub: lambda a: -a,
    ast.UAdd: lambda a: a,
    ast.Not: lambda a: not a,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


@dataclass(frozen=True)
class Expression:
    """A parsed expression: numbers, names, `+ - * / // % ** << >> & |`, comparisons, `a if b else c`, FUNCTIONS."""

    text: str

    @cached_property
    def _root(self) -> ast.expr:
        if len(self.text) > _LONGEST:
            raise BadExpression(f"an expression of more than {_LONGEST} characters")
        try:
            return ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise BadExpression(f"{self.text!r} is no expression") from None

    @cached_property
    def names(self) -> frozenset[str]:
        """The symbols it reads."""
        called = {id(node.func) for node in ast.walk(self._root) if isinstance(node, ast.Call)}
        found = (node for node in ast.walk(self._root) if isinstance(node, ast.Name) and id(node) not in called)
        return frozenset(node.id for node in found)

    def check(self) -> None:
        """Raise BadExpression unless everything in it is known."""
        for node in ast.walk(self._root):
            if isinstance(node, ast.Call):
                _function(node)
            elif not isinstance(node, _KNOWN):
                raise BadExpression(f"{self.text!r}: {type(node).__name__} is not allowed in an expression")

    def value(self, symbols: Mapping[str, Number]) -> Number:
        """Its value; raises BadExpression."""
        try:
            result = _evaluate(self._root, symbols)
        except BadExpression as error:
            raise BadExpression(f"{self.text!r}: {error}") from None
        except ZeroDivisionError:
            raise BadExpression(f"{self.text!r}: division by zero") from None
        except (OverflowError, ValueError, TypeError) as error:
            raise BadExpression(f"{self.text!r}: {error}") from None
        if isinstance(result, complex) or (not isinstance(result, float) and abs(result) > LARGEST):
            raise BadExpression(f"{self.text!r} overflows: its value does not fit 64 bits")
        return result

    def integer(self, symbols: Mapping[str, Number]) -> int:
        """Its value as a whole number; raises BadExpression when it is none."""
        value = self.value(symbols)
        if isinstance(value, float) and not value.is_integer():
            raise BadExpression(f"{self.text!r} is {value}, not a whole number")
        return int(value)


_KNOWN = (
    *(ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.BoolOp, ast.And, ast.Or),
    *(*_BINARY, *_UNARY, *_COMPARE),
)


def _function(node: ast.Call) -> Callable[..., Number]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in FUNCTIONS or node.keywords:
        raise BadExpression(f"no such function here; there are {', '.join(FUNCTIONS)}")
    function, fewest, most = FUNCTIONS[name]
    if not fewest <= len(node.args) <= most:
        raise BadExpression(f"{name} takes {fewest if fewest == most else f'{fewest} to {most}'} arguments")
    return function


def _evaluate(node: ast.expr, symbols: Mapping[str, Number]) -> Number:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in symbols:
            raise BadExpression(f"unknown symbol {node.id!r}; known are {', '.join(sorted(symbols)) or 'none'}")
        return symbols[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _bounded(_BINARY[type(node.op)](_evaluate(node.left, symbols), _evaluate(node.right, symbols)))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_evaluate(node.operand, symbols))
    if isinstance(node, ast.Compare):
        return _comparison(node, symbols)
    if isinstance(node, ast.BoolOp):
        values = (_evaluate(value, symbols) for value in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.IfExp):
        return _evaluate(node.body if _evaluate(node.test, symbols) else node.orelse, symbols)
    if isinstance(node, ast.Call):
        return _bounded(_function(node)(*(_evaluate(argument, symbols) for argument in node.args)))
    raise BadExpression(f"{type(node).__name__} is not allowed in an expression")


def _bounded(value: Number) -> Number:
    """Intermediate values may leave 64 bits, but not fill the memory."""
    if isinstance(value, int) and value.bit_length() > 4096:
        raise BadExpression("overflows")
    return value


def _comparison(node: ast.Compare, symbols: Mapping[str, Number]) -> bool:
    left = _evaluate(node.left, symbols)
    for operator, other in zip(node.ops, node.comparators, strict=True):
        if type(operator) not in _COMPARE:
            raise BadExpression(f"{type(operator).__name__} is not allowed in an expression")
        right = _evaluate(other, symbols)
        if not _COMPARE[type(operator)](left, right):
            return False
        left = right
    return True
