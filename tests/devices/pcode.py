"""An interpreter for AMD's ISA pseudocode (machine-readable in the tinygrad wheel): the independent model.

It shares nothing with the device: values are Python integers and numpy scalars, fused operations exact fractions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

_FORMATS = {16: (11, -14, 15), 32: (24, -126, 127), 64: (53, -1022, 1023)}  # precision, emin, emax
_NUMPY = {16: (np.float16, np.uint16), 32: (np.float32, np.uint32), 64: (np.float64, np.uint64)}


class NoModel(Exception):
    """The pseudocode uses something that is not modelled."""


@dataclass(frozen=True)
class Val:
    """Bits with a kind: u, i, f (IEEE), b (raw), or q: an exact rational in `exact`."""

    bits: int
    width: int
    kind: str
    exact: Fraction | None = None

    @property
    def signed(self) -> int:
        return self.bits - (1 << self.width) if self.bits >> (self.width - 1) & 1 else self.bits

    @property
    def number(self) -> Any:
        if self.kind == "f":
            return from_bits(self.bits, self.width)
        return self.signed if self.kind == "i" else self.bits


def from_bits(bits: int, width: int) -> Any:
    """Bits as a numpy float."""
    floating, unsigned = _NUMPY[width]
    return np.array(bits, unsigned).view(floating)[()]


def to_bits(value: Any, width: int) -> int:
    """A float's bits."""
    floating, unsigned = _NUMPY[width]
    with np.errstate(all="ignore"):
        return int(np.array(value, floating).view(unsigned)[()])


def integer(value: int, width: int, kind: str = "u") -> Val:
    """An integer cut to its width."""
    return Val(value & ((1 << width) - 1), width, kind)


def floating(value: Any, width: int) -> Val:
    """A float."""
    return Val(to_bits(value, width), width, "f")


def round_fraction(x: Fraction, width: int, negative_zero: bool = False) -> int:
    """Bits of a rational, rounded once to nearest even."""
    precision, emin, emax = _FORMATS[width]
    if x == 0:
        return (1 << (width - 1)) if negative_zero else 0
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, emin)
    unit = Fraction(2) ** (exponent - precision + 1)
    rounded = round(size / unit)  # Python rounds halves to even
    if rounded * unit >= Fraction(2) ** (emax + 1):
        value = math.inf
        return to_bits(-value if x < 0 else value, width)
    with np.errstate(all="ignore"):
        magnitude = np.ldexp(np.float64(rounded), exponent - precision + 1)
    return to_bits(-magnitude if x < 0 else magnitude, width)


def fused(a: Any, b: Any, c: Any, width: int) -> Val:
    """a * b + c, rounded once."""
    if not all(np.isfinite([a, b, c])):
        with np.errstate(all="ignore"):
            return floating(np.float64(a) * np.float64(b) + np.float64(c), width)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    minus = bool(np.signbit(a) ^ np.signbit(b)) and bool(np.signbit(c))
    return Val(round_fraction(exact, width, minus), width, "f")


# ---- parsing ---------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:(?P<cast>\d+'(?:BF|[UIFB])(?=\())|(?P<sized>\d+'-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)[A-Z]*)
    |(?P<num>0x[0-9a-fA-F]+(?:ULL|LL|U)?|\d+\.\d+F?|\d+(?:ULL|LL|U|F)?)
    |(?P<type>\.(?:b|u|i|f|bf|fp|bf)\d+)|(?P<name>[A-Za-z_]\w*)
    |(?P<op>\*\*|<<|>>|<>|<=|>=|==|!=|&&|\|\||\+:|\+=|-=|[-+*/%&|^~!?:()\[\]{},=<>.]))""",
    re.X,
)
_BINARY = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!=", "<>"], ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"],
           ["*", "/", "%"], ["**"]]  # fmt: skip


def tokens(text: str) -> list[str]:
    """The words of a statement."""
    out: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise NoModel(f"cannot read {text[at:]!r}")
        out.append(match[match.lastgroup or 0])
        at = match.end()
    return out


class _Parser:
    """Expressions to nested tuples."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.at = 0

    def peek(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, expected: str | None = None) -> str:
        word = self.peek()
        if expected is not None and word != expected:
            raise NoModel(f"{expected!r} expected, {word!r} found in {' '.join(self.words)}")
        self.at += 1
        return word

    def expression(self) -> Any:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.take()
        yes = self.expression()
        self.take(":")
        return ("?", condition, yes, self.expression())

    def binary(self, level: int) -> Any:
        if level == len(_BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in _BINARY[level]:
            op = self.take()
            left = (op, left, self.binary(level + 1))
        return left

    def unary(self) -> Any:
        if self.peek() in ("-", "+", "!", "~"):
            return ("unary", self.take(), self.unary())
        return self.postfix()

    def postfix(self) -> Any:
        node = self.primary()
        while True:
            word = self.peek()
            if word.startswith(".") and len(word) > 1:
                node = ("type", node, self.take()[1:])
            elif word == "[":
                node = self.index(node)
            else:
                return node

    def index(self, node: Any) -> Any:
        self.take("[")
        first = self.expression()
        if self.peek() == "]":
            self.take()
            return ("bit", node, first)
        op = self.take()
        second = self.expression()
        self.take("]")
        return ("slice" if op == ":" else "part", node, first, second)

    def primary(self) -> Any:
        word = self.take()
        if word == "(":
            node = self.expression()
            self.take(")")
            return node
        if word == "{":
            parts = [self.expression()]
            while self.peek() == ",":
                self.take()
                parts.append(self.expression())
            self.take("}")
            return ("concat", parts)
        if "'" in word and self.peek() == "(" and word[-1].isalpha() and not re.search(r"'-?\d", word):
            self.take("(")
            node = self.expression()
            self.take(")")
            return ("cast", word, node)
        if word[0].isdigit():
            return ("literal", word)
        if self.peek() == "(":
            self.take()
            arguments = []
            while self.peek() != ")":
                arguments.append(self.expression())
                if self.peek() == ",":
                    self.take()
            self.take(")")
            return ("call", word, arguments)
        return ("name", word)


def parse_expression(text: str) -> Any:
    """One expression."""
    parser = _Parser(tokens(text))
    node = parser.expression()
    if parser.peek():
        raise NoModel(f"left over: {parser.words[parser.at :]}")
    return node


def parse(text: str) -> list[Any]:
    """A program: nested statements."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"lambda\((.*?)\) \((.*?)\);", lambda m: _lambda(m[1], m[2]), text, flags=re.S)
    lines = [line.strip().rstrip(";").strip() for line in text.split("\n")]
    body, rest = _statements([line for line in lines if line], 0)
    if rest != len([line for line in lines if line]):
        raise NoModel("unbalanced statements")
    return body


def _lambda(parameters: str, body: str) -> str:
    flat = " ".join(body.split())
    return f"LAMBDA<{parameters}>{flat}"


def _statements(lines: list[str], at: int) -> tuple[list[Any], int]:
    out: list[Any] = []
    while at < len(lines):
        line = lines[at]
        if line.split(" ")[0] in ("else", "elsif", "endif", "endfor"):
            return out, at
        if line.startswith("if "):
            statement, at = _if(lines, at)
            out.append(statement)
        elif line.startswith("for "):
            match = re.match(r"for (\w+) in (.+?) : (.+?) do$", line)
            if not match:
                raise NoModel(line)
            body, at = _statements(lines, at + 1)
            at += 1
            out.append(("for", match[1], parse_expression(match[2]), parse_expression(match[3]), body))
        elif line.startswith("declare "):
            match = re.match(r"declare (\w+) : (\d+)'(\w+)(?:\[(\d+)\])?$", line)
            if not match:
                raise NoModel(line)
            out.append(("declare", match[1], int(match[2]), int(match[4] or 0)))
            at += 1
        elif line == "break":
            out.append(("break",))
            at += 1
        else:
            out.append(_assignment(line))
            at += 1
    return out, at


def _if(lines: list[str], at: int) -> tuple[Any, int]:
    branches: list[tuple[Any, list[Any]]] = []
    while True:
        line = lines[at]
        if line.startswith(("if ", "elsif ")):
            condition = parse_expression(re.sub(r"^(els)?if (.*) then$", r"\2", line))
        elif line == "else":
            condition = ("literal", "1")
        elif line == "endif":
            return ("if", branches), at + 1
        else:
            raise NoModel(line)
        body, at = _statements(lines, at + 1)
        branches.append((condition, body))


def _assignment(line: str) -> Any:
    if "LAMBDA<" in line:
        raise NoModel("lambda")
    match = re.match(r"^(.*?[^=!<>+\-])\s*(\+=|-=|=)(?!=)\s*(.*)$", line, re.S)
    if not match:
        raise NoModel(line)
    target = parse_expression(match[1])
    value = parse_expression(match[3])
    if match[2] != "=":
        value = (match[2][0], target, value)
    return ("set", target, value)


# ---- evaluation ------------------------------------------------------------------------------------------


class _Break(Exception):
    pass


class Machine:
    """State of one lane."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    def run(self, program: list[Any]) -> None:
        for statement in program:
            self._one(statement)

    def _one(self, statement: Any) -> None:
        kind = statement[0]
        if kind == "set":
            self._assign(statement[1], self.value(statement[2]))
        elif kind == "if":
            for condition, body in statement[1]:
                if truth(self.value(condition)):
                    self.run(body)
                    return
        elif kind == "for":
            self._loop(statement)
        elif kind == "declare":
            zero = integer(0, statement[2], "b")
            self.state[statement[1]] = [zero] * statement[3] if statement[3] else zero
        else:
            raise _Break

    def _loop(self, statement: Any) -> None:
        _, name, low, high, body = statement
        for i in range(self.value(low).number, self.value(high).number + 1):
            self.state[name] = integer(i, 32, "i")
            try:
                self.run(body)
            except _Break:
                return

    def _assign(self, target: Any, value: Val) -> None:
        kind = target[0]
        if kind == "concat":
            shift = 0
            for part in reversed(target[1]):
                width = int(re.findall(r"\d+$", part[2])[0])
                self._assign(part, integer(value.bits >> shift, width, "b"))
                shift += width
            return
        if kind == "name":
            old = self.state.get(target[1])
            self.state[target[1]] = (
                value if not (isinstance(old, Val) and target[1] == "SCC") else integer(value.bits & 1, 1)
            )
            return
        if kind == "type":
            typed = convert(value, target[2])
            self._store(target[1], typed)
            return
        self._store(target, value)

    def _store(self, place: Any, value: Val) -> None:
        if place[0] == "name":
            old = self.state.get(place[1])
            if isinstance(old, Val) and old.width > value.width and place[1] in ("D0", "D1"):
                value = Val(old.bits & ~((1 << value.width) - 1) | value.bits, old.width, "b")
            self.state[place[1]] = value
            return
        if place[0] == "type":
            self._store(place[1], value)
            return
        if place[0] == "bit" and isinstance(self._array(place[1]), list):
            self._array(place[1])[self.value(place[2]).number] = value
            return
        low, width = self._range(place)
        base = self._root(place[1])
        old = self.state.get(base) or integer(0, 64, "b")
        mask = ((1 << width) - 1) << low
        bits = old.bits & ~mask | (value.bits << low) & mask
        self.state[base] = Val(bits, max(old.width, low + width), "b" if old.kind == "f" else old.kind)

    def _array(self, node: Any) -> Any:
        return self.state.get(node[1]) if node[0] == "name" else None

    def _root(self, node: Any) -> str:
        while node[0] == "type":
            node = node[1]
        if node[0] != "name":
            raise NoModel(f"target {node}")
        return str(node[1])

    def _range(self, node: Any) -> tuple[int, int]:
        if node[0] == "bit":
            return self.value(node[2]).number, 1
        first, second = self.value(node[2]).number, self.value(node[3]).number
        if node[0] == "part":
            return first, second
        return min(first, second), abs(first - second) + 1

    def value(self, node: Any) -> Val:
        """Evaluate an expression."""
        kind = node[0]
        if kind == "literal":
            return literal(node[1])
        if kind == "name":
            return self._name(node[1])
        if kind == "type":
            return convert_read(self.value(node[1]), node[2])
        if kind in ("bit", "slice", "part"):
            return self._slice(node)
        if kind == "?":
            return self.value(node[2] if truth(self.value(node[1])) else node[3])
        if kind == "unary":
            return unary(node[1], self.value(node[2]))
        if kind == "cast":
            return cast(node[1], self.value(node[2]), node[2])
        if kind == "concat":
            parts = [self.value(part) for part in node[1]]
            bits, width = 0, 0
            for part in parts:
                bits, width = bits << part.width | part.bits, width + part.width
            return Val(bits, width, "b")
        if kind == "call":
            return self._call(node[1], [self.value(argument) for argument in node[2]])
        if kind in ("&&", "||"):
            left = truth(self.value(node[1]))
            short = left if kind == "||" else not left
            return integer(left if short else truth(self.value(node[2])), 1)
        return binary(kind, self.value(node[1]), self.value(node[2]))

    def _slice(self, node: Any) -> Val:
        array = self._array(node[1])
        if isinstance(array, list):
            return array[self.value(node[2]).number]
        base = self.value(node[1])
        low, width = self._range(node)
        if node[0] == "slice" and self.value(node[2]).number < self.value(node[3]).number and low == 0:
            reversed_bits = int(f"{base.bits:0{width}b}"[::-1], 2)
            return integer(reversed_bits, width, "u")
        return integer(base.bits >> low, width, "u")

    def _name(self, name: str) -> Val:
        constants = {"INF": math.inf, "PI": math.pi}
        if name in constants:
            return floating(constants[name], 64)
        if name in ("UNDERFLOW_F32", "UNDERFLOW_F64"):
            return floating(0.0, int(name[-2:]))
        if name in ("OVERFLOW_F32", "OVERFLOW_F64"):
            return floating(math.inf, int(name[-2:]))
        if name == "NAN":
            return floating(math.nan, 64)
        if name == "DENORM":
            return Val(0, 64, "denormal")
        if re.fullmatch(r"BYTE[0-3]", name):
            return integer(int(name[4]), 3)
        if name not in self.state:
            raise NoModel(f"name {name}")
        found = self.state[name]
        if isinstance(found, list):
            raise NoModel(f"array {name} as a value")
        return found  # type: ignore[no-any-return]

    def _call(self, name: str, arguments: list[Val]) -> Val:
        rounding = self.state.get("ROUND_MODE")
        if name == "f32_to_f16" and rounding is not None and rounding.bits:
            return toward_zero(arguments[0])
        if name in FUNCTIONS:
            return FUNCTIONS[name](*arguments)
        match = re.match(r"v_(min|max)(3?)_(\w)(\d+)$", name)
        if match:
            return self._extreme(match[1], match[3], int(match[4]), arguments)
        raise NoModel(f"function {name}")

    def _extreme(self, which: str, kind: str, width: int, values: list[Val]) -> Val:
        result = values[0]
        for other in values[1:]:
            if kind == "f":
                result = extreme_float(which, result, other, width)
            else:
                choose = min if which == "min" else max
                result = integer(choose(result.number, other.number), width, kind)
        return result


def extreme_float(which: str, a: Val, b: Val, width: int) -> Val:
    """min/max with one NaN ignored, -0 below +0."""
    x, y = a.number, b.number
    for value in (a, b):
        if truth(_is_nan(quiet=False)(value)):
            return _quiet(value)
    if np.isnan(x):
        return b
    if np.isnan(y):
        return a
    if x == y:
        sign = 1 << (width - 1)
        wanted = sign if which == "min" else 0
        return a if (a.bits & sign) == wanted else b
    return a if (x < y) == (which == "min") else b


def toward_zero(a: Val) -> Val:
    """f32 to f16, the smaller of the two neighbours."""
    nearest = floating(a.number, 16)
    away = abs(float(nearest.number)) > abs(float(a.number))
    return Val(nearest.bits - 1, 16, "f") if away else nearest


def fnuz(code: int, mantissa: int, bias: int) -> float:
    """fp8 as gfx942 has it: one NaN, no infinity, no negative zero."""
    if code == 0x80:
        return math.nan
    exponent, fraction = (code & 0x7F) >> mantissa, code & ((1 << mantissa) - 1)
    size = (
        fraction * 2.0 ** (1 - bias - mantissa)
        if exponent == 0
        else (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias)
    )
    return -size if code & 0x80 else size


def nearest_fnuz(x: float, mantissa: int, bias: int) -> int:
    """The code whose value is nearest, by looking at all of them; ties to the even code."""
    largest = fnuz(127, mantissa, bias)
    step = largest - fnuz(126, mantissa, bias)
    if math.isnan(x) or abs(x) >= largest + step / 2:
        return 0x80
    code = min(range(128), key=lambda c: (abs(fnuz(c, mantissa, bias) - abs(x)), c & 1))
    return code | 0x80 if code and math.copysign(1, x) < 0 else code


def truth(value: Val) -> bool:
    """Non-zero."""
    return bool(value.bits) if value.kind != "f" else bool(value.number != 0)


def literal(text: str) -> Val:
    """A number as written."""
    if "'" in text:
        width, _, rest = text.partition("'")
        kind = "i" if rest.endswith("I") else "u"
        body = rest.rstrip("UI")
        if "." in body:
            return floating(float(body), int(width))
        return integer(int(body, 0), int(width), kind)
    if "." in text:
        return floating(float(text.rstrip("F")), 32 if text.endswith("F") else 64)
    if text.startswith("0x"):
        match = re.match(r"(0x[0-9a-fA-F]+?)(ULL|LL|U)?$", text)
        assert match
        width = 64 if "LL" in (match[2] or "") or len(match[1]) > 10 else 32
        return Val(int(match[1], 16), width, "u")
    match = re.match(r"(\d+)(ULL|LL|U|F)?$", text)
    assert match
    if match[2] == "F":
        return floating(float(match[1]), 32)
    return integer(int(match[1]), 64 if "LL" in (match[2] or "") else 32, "u" if "U" in (match[2] or "") else "i")


def convert_read(value: Val, name: str) -> Val:
    """`.f32` and the like on the right: take the low bits as that type."""
    match = re.match(r"(bf|fp|b|u|i|f)(\d+)$", name)
    if not match:
        raise NoModel(name)
    kind, width = match[1], int(match[2])
    if value.kind == "denormal":
        return Val(0, width, "denormal")
    if value.kind == "i" and kind in "iu" and width > value.width:
        return integer(value.signed, width, kind)
    if kind in ("bf", "fp"):
        return integer(value.bits, width if kind == "bf" else 8, "b")
    if value.kind == "f" and kind == "f" and value.width != width:
        return floating(value.number, width)
    return integer(value.bits, width, kind)


def convert(value: Val, name: str) -> Val:
    """`.f32 =` on the left: bring the value to that type."""
    match = re.match(r"(bf|fp|b|u|i|f)(\d+)$", name)
    if not match:
        raise NoModel(name)
    kind, width = match[1], int(match[2])
    if kind == "f" and value.kind == "q":
        assert value.exact is not None
        return Val(round_fraction(value.exact, width), width, "f")
    if kind == "f" and value.kind == "f":
        return floating(value.number, width) if value.width != width else value
    if value.kind == "f" and kind != "b":
        raise NoModel("float assigned to an integer")
    if kind == "bf":
        raise NoModel("bf16")
    return integer(value.number if value.kind == "i" else value.bits, width, kind)


def cast(word: str, value: Val, node: Any) -> Val:
    """`64'F(x)`: by value between numbers, by bits from raw bits."""
    width, kind = int(word.partition("'")[0]), word.partition("'")[2]
    if kind == "F":
        if value.kind == "f":
            return floating(value.number, width)
        raw = value.kind == "b" or (node[0] == "literal" and node[1].startswith("0x"))
        return Val(value.bits & ((1 << width) - 1), width, "f") if raw else floating(float(value.number), width)
    if kind in ("U", "I", "B"):
        if value.kind == "f":
            raise NoModel("float cast to an integer")
        return integer(value.number, width, kind.lower())
    raise NoModel(word)


def unary(op: str, value: Val) -> Val:
    """- + ! ~"""
    if op == "!":
        return integer(not truth(value), 1)
    if op == "+":
        return value
    if op == "~":
        return integer(~value.bits, value.width, value.kind)
    if value.kind == "f":
        return Val(value.bits ^ 1 << (value.width - 1), value.width, "f")
    return integer(-value.number, value.width, "i" if value.kind == "b" else value.kind)


def binary(op: str, a: Val, b: Val) -> Val:
    """Arithmetic, comparison, logic."""
    if b.kind == "denormal":
        return integer(a.number != 0 and bool(_exponent(a).bits == 0), 1)
    if "f" in (a.kind, b.kind) or "q" in (a.kind, b.kind):
        return binary_float(op, a, b)
    width = max(a.width, b.width, 32) if op not in ("<<", ">>") else max(a.width, 32)
    kind = "i" if a.kind == "i" and b.kind == "i" else "u"
    x, y = a.number, b.number
    if op in ("<<", ">>"):
        return integer(x << y if op == "<<" else x >> y, width, a.kind)
    if op in _COMPARE:
        return integer(_COMPARE[op](x, y), 1)
    operations: dict[str, Callable[[int, int], int]] = {
        "+": lambda p, q: p + q,
        "-": lambda p, q: p - q,
        "*": lambda p, q: p * q,
        "&": lambda p, q: p & q,
        "|": lambda p, q: p | q,
        "^": lambda p, q: p ^ q,
        "%": lambda p, q: p % q,
        "/": lambda p, q: p // q,
    }
    if op not in operations:
        raise NoModel(op)
    return integer(operations[op](x, y), width, kind)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda p, q: bool(p == q),
    "!=": lambda p, q: bool(p != q),
    "<>": lambda p, q: bool(p < q or p > q),
    "<": lambda p, q: bool(p < q),
    "<=": lambda p, q: bool(p <= q),
    ">": lambda p, q: bool(p > q),
    ">=": lambda p, q: bool(p >= q),
}


def binary_float(op: str, a: Val, b: Val) -> Val:
    """Floats: computed in the wider format of the two, rounded once."""
    if op == "**":
        return Val(0, 0, "q", Fraction(int(a.number)) ** min(max(int(b.number), -5000), 5000))
    if "q" in (a.kind, b.kind):
        return _scaled(op, a, b)
    if op in _COMPARE:
        return integer(_COMPARE[op](a.number, b.number), 1)
    width = max(v.width for v in (a, b) if v.kind == "f")
    kind = _NUMPY[width][0]
    with np.errstate(all="ignore"):
        x, y = kind(a.number), kind(b.number)
        if op not in "+-*/":
            raise NoModel(f"{op} on floats")
        return floating({"+": x + y, "-": x - y, "*": x * y, "/": x / y}[op], width)


def _scaled(op: str, a: Val, b: Val) -> Val:
    """A float times an exact power."""
    factor, value = (a.exact, b) if a.kind == "q" else (b.exact, a)
    if op != "*" or factor is None or value.kind != "f":
        raise NoModel("power")
    if not np.isfinite(value.number) or value.number == 0:
        return value
    return Val(round_fraction(Fraction(float(value.number)) * factor, value.width), value.width, "f")


def _float_function(function: Callable[[Any], Any]) -> Callable[[Val], Val]:
    def apply(a: Val) -> Val:
        with np.errstate(all="ignore"):
            return floating(function(np.float64(a.number)), a.width)

    return apply


def _to_int(width: int, signed: bool) -> Callable[[Val], Val]:
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)

    def apply(a: Val) -> Val:
        x = a.number
        if np.isnan(x):
            return integer(0, width, "i" if signed else "u")
        if np.isinf(x):
            return integer(high if x > 0 else low, width, "i" if signed else "u")
        return integer(min(max(int(x), low), high), width, "i" if signed else "u")

    return apply


def _exponent(a: Val) -> Val:
    mantissa = _FORMATS[a.width][0] - 1
    return integer(a.bits >> mantissa & ((1 << (a.width - 1 - mantissa)) - 1), 32, "i")


def _quiet(a: Val) -> Val:
    return Val(a.bits | 1 << (_FORMATS[a.width][0] - 2), a.width, "f")


def _is_nan(quiet: bool) -> Callable[[Val], Val]:
    def apply(a: Val) -> Val:
        top = a.bits >> (_FORMATS[a.width][0] - 2) & 1
        return integer(bool(np.isnan(a.number)) and bool(top) == quiet, 1)

    return apply


def _sign_from(a: Val, width: Val) -> Val:
    bits = width.number
    if bits == 0:
        return integer(0, a.width, "i")
    field = a.bits & ((1 << bits) - 1)
    return integer(field - (1 << bits) if field >> (bits - 1) & 1 else field, a.width, "i")


def _normalised(scale: int, low: float) -> Callable[[Val], Val]:
    def apply(a: Val) -> Val:
        x = float(a.number)
        x = 0.0 if math.isnan(x) else min(max(x, low), 1.0)
        return integer(int(np.rint(np.float32(x) * np.float32(scale))), 16, "i")

    return apply


def _byte_gaps(a: int, b: int) -> int:
    return sum(abs((a >> shift & 255) - (b >> shift & 255)) for shift in (0, 8, 16, 24))


FUNCTIONS: dict[str, Callable[..., Val]] = {
    "ldexp": lambda a, n: _scaled("*", a, Val(0, 0, "q", Fraction(2) ** n.number)),
    "fma": lambda a, b, c: fused(a.number, b.number, c.number, a.width),
    "floor": _float_function(np.floor),
    "trunc": _float_function(np.trunc),
    "abs": lambda a: Val(a.bits & ~(1 << (a.width - 1)), a.width, a.kind),
    "sign": lambda a: integer(a.bits >> (a.width - 1), 1),
    "exponent": _exponent,
    "isNAN": lambda a: integer(bool(np.isnan(a.number)), 1),
    "isSignalNAN": _is_nan(quiet=False),
    "isQuietNAN": _is_nan(quiet=True),
    "cvtToQuietNAN": _quiet,
    "mantissa": _float_function(lambda x: np.frexp(x)[0]),
    "sqrt": _float_function(np.sqrt),
    "log2": _float_function(np.log2),
    "sin": _float_function(np.sin),
    "cos": _float_function(np.cos),
    "pow": lambda a, b: floating(np.float64(a.number) ** np.float64(b.number), b.width),
    "signext": lambda a: integer(a.signed, max(a.width, 32), "i"),
    "signext_from_bit": _sign_from,
    "f32_to_i32": _to_int(32, True),
    "f32_to_u32": _to_int(32, False),
    "f64_to_i32": _to_int(32, True),
    "f64_to_u32": _to_int(32, False),
    "f16_to_i16": _to_int(16, True),
    "f16_to_u16": _to_int(16, False),
    "f32_to_u8": _to_int(8, False),
    "f32_to_f16": lambda a: floating(a.number, 16),
    "f16_to_f32": lambda a: floating(a.number, 32),
    "f32_to_f64": lambda a: floating(a.number, 64),
    "f64_to_f32": lambda a: floating(a.number, 32),
    "fp8_to_f32": lambda a: floating(fnuz(a.bits & 255, 3, 8), 32),
    "bf8_to_f32": lambda a: floating(fnuz(a.bits & 255, 2, 16), 32),
    "f32_to_fp8": lambda a: integer(nearest_fnuz(float(a.number), 3, 8), 8),
    "f32_to_bf8": lambda a: integer(nearest_fnuz(float(a.number), 2, 16), 8),
    "v_sad_u8": lambda a, b, c: integer(c.number + _byte_gaps(a.bits, b.bits), 32),
    "f32_to_snorm": _normalised(32767, -1.0),
    "f32_to_unorm": _normalised(65535, 0.0),
    "f16_to_snorm": _normalised(32767, -1.0),
    "f16_to_unorm": _normalised(65535, 0.0),
    **{f"{k}{w}_to_{f}": (lambda to: lambda a: floating(np.float64(a.number), to))(int(f[1:]))
       for k in "iu" for w in (8, 16, 32) for f in ("f16", "f32", "f64")},
    **{f"i{w}_to_i32": lambda a: integer(a.signed, 32, "i") for w in (4, 8, 16)},
    **{f"u{w}_to_u32": lambda a: integer(a.bits, 32, "u") for w in (4, 8, 16)},
    "i32_to_i16": lambda a: integer(min(max(a.signed, -32768), 32767), 16, "i"),
    "u32_to_u16": lambda a: integer(min(a.bits, 65535), 16, "u"),
}  # fmt: skip
