"""C++ expressions of host code as expressions of case files: `(n + T - 1) / T` with what T is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[uUlLfF]*)"
    r"|(?P<name>(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)"
    r"|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||->|\+\+|--|[-+*/%<>&|^~!?:()\[\],.{}]))"
)
_LEVELS = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
           "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}  # fmt: skip
_WORDS = {"||": "or", "&&": "and"}
_ATOM = 20
_REAL_TYPES = frozenset({"float", "double", "long double"})
_DEEPEST = 60


class Unknown(Exception):
    """What host code does not tell, in its own words."""


@dataclass(frozen=True)
class Value:
    """`factor * text`; a number where the text is empty."""

    factor: float = 1
    text: str = ""
    level: int = _ATOM
    """How tightly the text binds."""
    real: bool = False
    ratio: tuple[Value, Value] | None = None
    """What was divided by what, with a fraction."""

    @property
    def number(self) -> float | None:
        """Its value, when it is a number."""
        return None if self.text else self.factor

    def shown(self, level: int = 0) -> str:
        """As a case file has it, in parentheses where the place binds more tightly."""
        if not self.text:
            return repr(self.factor)
        if self.factor == 1:
            return self.text if self.level >= level else f"({self.text})"
        inner = self.text if self.level > _LEVELS["*"] else f"({self.text})"
        return f"{self.factor} * {inner}" if level <= _LEVELS["*"] else f"({self.factor} * {inner})"


def symbol(name: str) -> Value:
    """A size that the case file names."""
    return Value(text=name)


_BEYOND = 1 << 64
_MOST_DIGITS = 200


def number(value: float) -> Value:
    """A number; Unknown for one that no type of C++ holds."""
    if abs(value) >= _BEYOND and not isinstance(value, float):
        raise Unknown("a number of more than 64 bits")
    return Value(value, real=isinstance(value, float))


def over(value: Value, by: int) -> Value:
    """Divided by a whole number, rounded down."""
    if by == 1:
        return value
    if not value.text:
        return number(int(value.factor) // by)
    if isinstance(value.factor, int) and value.factor % by == 0:
        return Value(value.factor // by, value.text, value.level)
    return Value(text=f"{value.shown(10)} // {by}", level=10)


@dataclass(frozen=True)
class Scope:
    """What names mean where an expression stands."""

    name: Callable[[str], Value]
    call: Callable[[str, tuple[str, ...], tuple[str, ...]], Value]
    """Name, template arguments and arguments as written."""
    size_of: Callable[[str], int]
    is_type: Callable[[str], bool]


def evaluate(text: str, scope: Scope) -> Value:
    """The expression; raises Unknown."""
    parser = _Parser(text, scope)
    value = parser.ternary(0)
    if parser.at is not None:
        raise Unknown(" ".join(text.split()))
    return value


class _Parser:
    """Reads by precedence; what the language of case files lacks is Unknown."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text, self.scope = text, scope
        self.tokens: list[re.Match[str]] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise Unknown(" ".join(text.split()))
            self.tokens.append(match)
            position = match.end()
        self.index = 0

    @property
    def at(self) -> str | None:
        return self.tokens[self.index][0].strip() if self.index < len(self.tokens) else None

    def take(self, text: str) -> bool:
        if self.at == text:
            self.index += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise Unknown(" ".join(self.text.split()))

    def ternary(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise Unknown(self.text)
        test = self.binary(1, depth + 1)
        if not self.take("?"):
            return test
        first = self.ternary(depth + 1)
        self.expect(":")
        second = self.ternary(depth + 1)
        if test.number is not None:
            return first if test.number else second
        text = f"{first.shown(1)} if {test.shown(1)} else {second.shown(1)}"
        return Value(text=text, level=0, real=first.real or second.real)

    def binary(self, lowest: int, depth: int) -> Value:
        if depth > _DEEPEST:
            raise Unknown(self.text)
        left = self.unary(depth + 1)
        while (sign := self.at) in _LEVELS and _LEVELS[sign] >= lowest:
            self.index += 1
            right = self.binary(_LEVELS[sign] + 1, depth + 1)
            left = _joined(left, sign, right)
        return left

    def unary(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise Unknown(self.text)
        if self.take("+"):
            return self.unary(depth + 1)
        if self.take("-"):
            value = self.unary(depth + 1)
            return Value(-value.factor, value.text, value.level, value.real)
        if self.take("!"):
            value = self.unary(depth + 1)
            return number(int(not value.number)) if value.number is not None else _plain(f"not {value.shown(10)}", 5)
        cast = self.cast_ahead()
        if cast is not None:
            return _cast(cast, self.unary(depth + 1))
        return self.primary(depth + 1)

    def cast_ahead(self) -> str | None:
        """The type of `(type)` that stands here, consumed."""
        if self.at != "(":
            return None
        closed = next((i for i in range(self.index, len(self.tokens)) if self.tokens[i][0].strip() == ")"), None)
        if closed is None or closed + 1 >= len(self.tokens):
            return None
        words = [token[0].strip() for token in self.tokens[self.index + 1 : closed]]
        follow = self.tokens[closed + 1]
        kind = " ".join(words)
        if not (follow["number"] or follow["name"] or follow[0].strip() == "(") or not self.scope.is_type(kind):
            return None
        self.index = closed + 1
        return kind

    def primary(self, depth: int) -> Value:
        if self.index >= len(self.tokens):
            raise Unknown(" ".join(self.text.split()))
        token = self.tokens[self.index]
        self.index += 1
        if token["number"]:
            return _literal(token["number"])
        if token[0].strip() == "(":
            value = self.ternary(depth)
            self.expect(")")
            return value
        if not token["name"]:
            raise Unknown(" ".join(self.text.split()))
        return self.named(token["name"], depth)

    def named(self, name: str, depth: int) -> Value:
        name = name.removeprefix("::").removeprefix("std::")
        if name == "sizeof":
            return number(self.scope.size_of(self.inside("(")))
        if name in ("static_cast", "reinterpret_cast", "const_cast"):
            kind = self.inside("<")
            self.expect("(")
            value = self.ternary(depth)
            self.expect(")")
            return _cast(kind, value)
        template: tuple[str, ...] = ()
        if self.at == "<" and (found := self.template_ahead()) is not None:
            template = found
        while self.at in (".", "->"):
            self.index += 1
            name += f".{self.tokens[self.index][0].strip()}" if self.index < len(self.tokens) else ""
            self.index += 1
        if self.at == "[":
            name += f"[{self.inside('[')}]"
            while self.at in (".", "->"):
                self.index += 1
                name += f".{self.tokens[self.index][0].strip()}" if self.index < len(self.tokens) else ""
                self.index += 1
        if self.at == "(" or (self.at == "{" and self.scope.is_type(name)):
            arguments = split_arguments(self.inside(self.at))
            return self.called(name, template, arguments)
        if name in ("true", "false"):
            return number(int(name == "true"))
        return self.scope.name(name)

    def template_ahead(self) -> tuple[str, ...] | None:
        """`<a, b>` before a parenthesis, consumed."""
        depth = 0
        for index in range(self.index, len(self.tokens)):
            sign = self.tokens[index][0].strip()
            depth += {"<": 1, ">": -1, ">>": -2}.get(sign, 0)
            if depth <= 0:
                if index + 1 < len(self.tokens) and self.tokens[index + 1][0].strip() in ("(", "{"):
                    text = self.text[self.tokens[self.index].end() : self.tokens[index].start()]
                    self.index = index + 1
                    return split_arguments(text)
                return None
        return None

    def inside(self, opening: str) -> str:
        """The text in the brackets that begin here, consumed."""
        closing = {"(": ")", "<": ">", "[": "]", "{": "}"}[opening]
        self.expect(opening)
        depth, start = 1, self.tokens[self.index - 1].end()
        while self.index < len(self.tokens):
            sign = self.tokens[self.index][0].strip()
            depth += (sign == opening) - (sign == closing)
            self.index += 1
            if depth == 0:
                return self.text[start : self.tokens[self.index - 1].end() - 1].strip()
        raise Unknown(" ".join(self.text.split()))

    def called(self, name: str, template: tuple[str, ...], arguments: tuple[str, ...]) -> Value:
        if self.scope.is_type(name) and len(arguments) == 1:
            return _cast(name, evaluate(arguments[0], self.scope))
        plain = name.rpartition("::")[2]
        known = _MATH.get(plain)
        if known is not None and len(arguments) == known[0]:
            return known[1](*(evaluate(argument, self.scope) for argument in arguments))
        return self.scope.call(name, template, arguments)


def split_arguments(text: str) -> tuple[str, ...]:
    """Parts between the commas outside of all brackets."""
    parts: list[str] = []
    depth, start = 0, 0
    for index, char in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(char, 0)
        if char == "," and depth == 0 and text[start:index].count("<") <= text[start:index].count(">"):
            parts.append(text[start:index].strip())
            start = index + 1
    last = text[start:].strip()
    return tuple([*parts, last] if last or parts else [])


def _literal(text: str) -> Value:
    if len(text) > _MOST_DIGITS:
        raise Unknown("a number of more than 64 bits")
    if text[:2].lower() == "0x":
        return number(int(text.rstrip("uUlL"), 16))
    plain = text.rstrip("uUlLfF")
    if plain.isdigit() and not re.search(r"[fF]$", text):
        return number(int(plain, 8 if len(plain) > 1 and plain[0] == "0" and set(plain) <= set("01234567") else 10))
    return Value(float(plain), real=True)


def _cast(kind: str, value: Value) -> Value:
    words = " ".join(re.sub(r"\bconst\b|&", " ", kind).split())
    if words in _REAL_TYPES:
        return Value(value.factor, value.text, value.level, True, value.ratio)
    if not value.real:
        return value
    return _floor(value)


def _floor(value: Value) -> Value:
    if value.number is not None:
        return number(math.floor(value.number) if math.isfinite(value.number) else 0)
    if value.ratio is not None:
        return _joined(_whole(value.ratio[0]), "/", _whole(value.ratio[1]))
    return _plain(f"int({value.shown()})") if value.real and "/" in value.text else _whole(value)


def _whole(value: Value) -> Value:
    factor = int(value.factor) if float(value.factor).is_integer() else value.factor
    return Value(factor, value.text, value.level)


def _ceil(value: Value) -> Value:
    if value.number is not None:
        return number(math.ceil(value.number))
    if value.ratio is not None:
        first, second = (_whole(part) for part in value.ratio)
        return _plain(f"ceil_div({first.shown()}, {second.shown()})")
    return value if not value.real else _plain(f"ceil_div({value.shown()}, 1)")


def _plain(text: str, level: int = _ATOM, *, real: bool = False) -> Value:
    return Value(text=text, level=level, real=real)


def _of(name: str, *values: Value, fold: Callable[..., float] | None = None) -> Value:
    numbers = [value.number for value in values]
    if fold is not None and None not in numbers:
        return number(fold(*numbers))
    return _plain(f"{name}({', '.join(v.shown() for v in values)})", real=any(v.real for v in values))


def _power(base: Value, exponent: Value) -> Value:
    if base.number is not None and exponent.number is not None and abs(exponent.number) < 64:
        result = base.number**exponent.number
        return number(int(result) if result == int(result) else result)
    return _plain(f"{_whole(base).shown(_ATOM)} ** {_whole(exponent).shown(_ATOM)}", 11)


_MATH: dict[str, tuple[int, Callable[..., Value]]] = {
    **dict.fromkeys(("ceil", "ceilf"), (1, _ceil)),
    **dict.fromkeys(("floor", "floorf"), (1, _floor)),
    **dict.fromkeys(("min", "fmin", "fminf", "MIN"), (2, lambda a, b: _of("min", a, b, fold=min))),
    **dict.fromkeys(("max", "fmax", "fmaxf", "MAX"), (2, lambda a, b: _of("max", a, b, fold=max))),
    **dict.fromkeys(("abs", "fabs"), (1, lambda a: _of("abs", a, fold=abs))),
    **dict.fromkeys(("log2", "log2f"), (1, lambda a: _of("log2", _whole(a)))),
    **dict.fromkeys(("sqrt", "sqrtf"), (1, lambda a: Value(text=_of("sqrt", a, fold=None).text, real=True))),
    **dict.fromkeys(("pow", "powf"), (2, _power)),
}


def _joined(left: Value, sign: str, right: Value) -> Value:
    if left.number is not None and right.number is not None:
        return _folded(left, sign, right)
    real = left.real or right.real
    level = _LEVELS[sign]
    if sign == "*":
        return _product(left, right)
    if sign == "/":
        return _quotient(left, right)
    if sign in "+-" and not real:
        return _sum(left, sign, right)
    if sign == "<<" and right.number is not None:
        return _product(left, _shifted(1, int(right.number)))
    if sign in ("^",):
        raise Unknown(f"{left.shown()} {sign} {right.shown()}")
    return Value(text=f"{left.shown(level)} {_WORDS.get(sign, sign)} {right.shown(level + 1)}", level=level, real=real)


def _shifted(value: int, by: int) -> Value:
    if not 0 <= by < _BEYOND.bit_length():
        raise Unknown(f"{value} << {by}")
    return number(value << by)


def _folded(left: Value, sign: str, right: Value) -> Value:
    a, b = left.factor, right.factor
    try:
        if sign == "/":
            return number(a / b) if left.real or right.real else number(int(a) // int(b))
        if sign in ("%", "<<", ">>", "&", "|", "^"):
            i, j = int(a), int(b)
            if sign == "<<":
                return _shifted(i, j)
            return number({"%": lambda: i % j, ">>": lambda: i >> j, "&": lambda: i & j,
                           "|": lambda: i | j, "^": lambda: i ^ j}[sign]())  # fmt: skip
        both: dict[str, Callable[[], float]] = {
            "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "==": lambda: a == b, "!=": lambda: a != b,
            "<": lambda: a < b, ">": lambda: a > b, "<=": lambda: a <= b, ">=": lambda: a >= b,
            "&&": lambda: bool(a and b), "||": lambda: bool(a or b),
        }  # fmt: skip
        result = both[sign]()
        return number(int(result) if isinstance(result, bool) else result)
    except (ZeroDivisionError, ValueError, OverflowError):
        raise Unknown(f"{left.shown()} {sign} {right.shown()}") from None


def _product(left: Value, right: Value) -> Value:
    factor, real = left.factor * right.factor, left.real or right.real
    if not left.text or not right.text:
        one = left if left.text else right
        return Value(factor, one.text, one.level, real) if factor else number(0)
    text = (
        f"{Value(text=left.text, level=left.level).shown(10)} * {Value(text=right.text, level=right.level).shown(11)}"
    )
    return Value(factor, text, 10, real)


def divided(left: Value, right: Value) -> Value:
    """Divided as whole numbers are."""
    return _joined(left, "/", right)


def _quotient(left: Value, right: Value) -> Value:
    if right.number == 0:
        raise Unknown(f"{left.shown()} / 0")
    if left.real or right.real:
        return Value(text=f"{left.shown(10)} / {right.shown(11)}", level=10, real=True, ratio=(left, right))
    if right.number is not None and right.number > 0 and float(right.number).is_integer():
        return over(left, int(right.number))
    return Value(text=f"{left.shown(10)} // {right.shown(11)}", level=10)


def _sum(left: Value, sign: str, right: Value) -> Value:
    """A common factor stays outside, so that bytes become elements again."""
    if right.number is not None and right.number < 0:
        sign, right = ("-" if sign == "+" else "+"), number(-right.number)
    if right.number == 0:
        return left
    common = math.gcd(int(left.factor), int(right.factor)) if left.factor > 0 and right.factor > 0 else 1
    if common == 1 or not (isinstance(left.factor, int) and isinstance(right.factor, int)):
        return Value(text=f"{left.shown(9)} {sign} {right.shown(10)}", level=9)
    one, two = (Value(int(part.factor) // common, part.text, part.level) for part in (left, right))
    return Value(common, f"{one.shown(9)} {sign} {two.shown(10)}", 9)
