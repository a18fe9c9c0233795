"""Macros and named constants of a file, and what a constant expression comes to."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.brackets import split_commas, words
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.cpp.nodes import Node
from porter.cpp.statements import parse_expression

WARP = 32
_WARP_NAME = re.compile(
    r"(?:[A-Za-z]+_)?(?:k?warp_?size|k?warp_?threads|(?:num_)?threads_?(?:per|in)_?(?:a_)?warp|warp_?width|warp_?sz"
    r"|lanes_?per_?warp|(?:cuda|gpu|c10|device)_?warp_?size)_?",
    re.IGNORECASE,
)
_SHORT_NAME = re.compile(r"k?warp|ws|wsz|k?warp_?lanes|k?lanes|k?warp_?s", re.IGNORECASE)
"""Names that mean the warp size when the file defines them as 32."""


def _quotient(a: int, b: int) -> int:
    """Division as C does it, towards zero, exact for 64 bits."""
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


_SUFFIX = re.compile(r"[uUlLzZ]+$")
_MOST_DIGITS = 200
_OCTAL = re.compile(r"0[0-7]+")
_BEYOND = 1 << 128
_BINARY: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "<<": lambda a, b: a << b if 0 <= b < 64 else None, ">>": lambda a, b: a >> b if 0 <= b < 64 else None,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "/": lambda a, b: _quotient(a, b) if b else None, "%": lambda a, b: a - b * _quotient(a, b) if b else None,
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b), "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a and b)), "||": lambda a, b: int(bool(a or b)),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Macro:
    """One `#define`: its name token, parameters (None: object-like) and the tokens [first, last) of its body."""

    name: str
    place: int
    parameters: tuple[str, ...] | None
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A `constexpr`, `const`, enumerator or macro with one value: its name token and its value's tokens."""

    name: str
    place: int
    first: int
    last: int
    kind: str


@functools.lru_cache(maxsize=4096)
def number(text: str) -> int | None:
    """The value of an integer literal; None for one that no type of C++ holds."""
    digits = _SUFFIX.sub("", text.replace("'", ""))
    if len(digits) > _MOST_DIGITS:
        return None
    try:
        return within_range(int(digits, 8) if _OCTAL.fullmatch(digits) else int(digits, 0))
    except ValueError:
        return None


def within_range(value: int | None) -> int | None:
    """A value that an integer of C++ can have; None for what grew out of it, which could go on until memory ends."""
    return value if value is not None and -_BEYOND < value < _BEYOND else None


def looks_like_warp_size(name: str) -> bool:
    """Whether a name says that it is the warp size."""
    return _WARP_NAME.fullmatch(name.rpartition("::")[2]) is not None


@dataclass(frozen=True)
class Constants:
    """The named constants of one file."""

    tokens: Tokens

    @cached_property
    def macros(self) -> Mapping[str, tuple[Macro, ...]]:
        """All definitions of each macro, in every branch of the preprocessor."""
        found: dict[str, tuple[Macro, ...]] = {}
        for directive in self.tokens.directives:
            if directive.name == "define" and directive.first < directive.last:
                macro = _macro(self.tokens, directive.first, directive.last)
                found[macro.name] = (*found.get(macro.name, ()), macro)
        return found

    @cached_property
    def _known(self) -> dict[str, tuple[Constant, ...]]:
        return {}

    @cached_property
    def _values(self) -> dict[str, int | None]:
        return {}

    def definitions(self, name: str) -> tuple[Constant, ...]:
        """Where a name gets a constant value: object-like macros, `const`/`constexpr` variables, enumerators."""
        if name not in self._known:
            self._known[name] = self._definitions(name)
        return self._known[name]

    def _definitions(self, name: str) -> tuple[Constant, ...]:
        tokens = self.tokens
        found = [
            Constant(name, macro.place, macro.first, macro.last, "macro")
            for macro in self.macros.get(name, ())
            if macro.parameters is None and macro.first < macro.last
        ]
        for index in tokens.names.get(name, ()):
            if tokens.directive_of(index) is None and (constant := _constant(tokens, index)) is not None:
                found.append(constant)
        return tuple(found)

    def value(self, node: Node, bound: Mapping[str, int | None] | None = None, depth: int = 0) -> int | None:
        """The value of an integer constant expression; None when it is none or its definitions disagree."""
        if depth > 12:
            return None
        kids = node.kids
        if node.kind == "number":
            return number(node.text)
        if node.kind == "cast" and len(kids) == 1:
            return self.value(kids[0], bound, depth + 1)
        if node.kind == "unary" and node.text in ("-", "+", "~", "!"):
            return _unary(node.text, self.value(kids[0], bound, depth + 1))
        if node.kind == "binary" and node.text in _BINARY:
            left, right = (self.value(kid, bound, depth + 1) for kid in kids)
            return None if left is None or right is None else within_range(_BINARY[node.text](left, right))
        if node.kind == "ternary":
            condition = self.value(kids[0], bound, depth + 1)
            return None if condition is None else self.value(kids[1 if condition else 2], bound, depth + 1)
        if node.kind == "name":
            return self._named(node.text, bound or {}, depth)
        if node.kind == "call" and len(kids) == 2 and kids[0].text in _INTEGERS:
            return self.value(kids[1], bound, depth + 1)
        return None

    def _named(self, name: str, bound: Mapping[str, int | None], depth: int) -> int | None:
        if name in bound:
            return bound[name]
        if name == "porter::wide::warpSize":
            return 2 * WARP
        bare = name.rpartition("::")[2]
        if bare in _BUILT_IN:
            return _BUILT_IN[bare]
        if bare not in self._values:
            self._values[bare] = None
            self._values[bare] = self._agreed(bare, depth)
        return self._values[bare]

    def possible(self, node: Node) -> frozenset[int]:
        """The values that an expression has in some branch of the preprocessor: those of a name one by one."""
        value = self.value(node)
        if value is not None:
            return frozenset({value})
        if node.kind != "name":
            return frozenset()
        defined = map(self.number_of, self.definitions(node.text.rpartition("::")[2]))
        return frozenset(value for value in defined if value is not None)

    def is_warp_size(self, name: str) -> bool:
        """Whether a name is the warp size, by its name and its value."""
        bare = name.rpartition("::")[2]
        if bare in ("warpSize", "C10_WARP_SIZE"):
            return True
        named = looks_like_warp_size(bare) or (_SHORT_NAME.fullmatch(bare) and self.definitions(bare))
        return bool(named) and self.value(Node("name", 0, 0, bare)) == WARP

    def _agreed(self, name: str, depth: int) -> int | None:
        values = {self._defined(constant, depth) for constant in self.definitions(name)}
        if len(values) == 1:
            return values.pop()
        return WARP if not values and looks_like_warp_size(name) else None

    def _defined(self, constant: Constant, depth: int) -> int | None:
        node = parse_expression(self.tokens, constant.first, constant.last)
        return self.value(node, None, depth + 1) if node.last >= constant.last - 1 else None

    def number_of(self, constant: Constant) -> int | None:
        """The value of one definition."""
        return self._defined(constant, 0)


_BUILT_IN = {
    **dict.fromkeys(("warpSize", "C10_WARP_SIZE", "CUB_PTX_WARP_THREADS"), WARP),
    **dict.fromkeys(("UINT_MAX", "UINT32_MAX"), 0xFFFFFFFF),
}
_INTEGERS = words(
    "int unsigned long short size_t uint32_t int32_t uint64_t int64_t std::uint32_t std::uint64_t uint ulong"
)
"""Types whose names make a value of their type from one: `unsigned(-1)`."""


def _unary(operator: str, value: int | None) -> int | None:
    if value is None:
        return None
    return {"-": -value, "+": value, "~": ~value & 0xFFFFFFFF if value >= 0 else ~value, "!": int(not value)}[operator]


def _macro(tokens: Tokens, first: int, last: int) -> Macro:
    opening = first + 1
    is_function = opening < last and tokens.texts[opening] == "(" and tokens.starts[opening] == tokens.end(first)
    if not is_function:
        return Macro(tokens.texts[first], first, None, opening, last)
    closed = tokens.partner.get(opening, opening)
    names = [tokens.texts[a] for a, b in split_commas(tokens, opening + 1, closed) if a < b]
    return Macro(tokens.texts[first], first, tuple(names), closed + 1, last)


_CONSTANT_WORDS = frozenset({"const", "constexpr", "constinit"})
_STATEMENT_START = frozenset(";{}):>")


def _constant(tokens: Tokens, index: int) -> Constant | None:
    """`const int NAME = value` and `enum { NAME = value }` around a name token."""
    texts = tokens.texts
    if texts[index + 1] not in ("=", "{", "("):
        return None
    before = index - 1
    while before >= 0 and (tokens.kinds[before] == IDENTIFIER or texts[before] in ("::", "<", ">")):
        if texts[before] in _CONSTANT_WORDS:
            end = value_end(tokens, index + 2)
            return Constant(texts[index], index, index + 2, end, "constant")
        before -= 1
    if texts[index + 1] == "=" and before >= 0 and texts[before] in ("{", ",") and _in_enum(tokens, before):
        return Constant(texts[index], index, index + 2, value_end(tokens, index + 2), "enumerator")
    return None


def value_end(tokens: Tokens, index: int) -> int:
    """Index of the token that ends a value: `;`, or the comma to the next variable."""
    texts = tokens.texts
    while index < len(tokens) and texts[index] not in (";", ",", "}", ")"):
        partner = tokens.partner.get(index) if texts[index] in ("(", "[", "{") else None
        index = index + 1 if partner is None else partner + 1
    return index


def _in_enum(tokens: Tokens, index: int) -> bool:
    """Whether the `{` or `,` at an index is inside an enumeration."""
    while index >= 0 and tokens.texts[index] != "{":
        if tokens.texts[index] in (";", "}"):
            return False
        index -= 1
    return "enum" in tokens.texts[max(0, index - 5) : index]
