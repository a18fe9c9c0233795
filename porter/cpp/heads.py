"""Heads of `__global__` and `__device__` functions found in the tokens, whatever surrounds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from porter.cpp.brackets import closing, split_commas, template_end, template_start, words
from porter.cpp.lex import IDENTIFIER, NUMBER, Directive, Tokens

TYPE_WORDS = words(
    "void bool char short int long float double unsigned signed auto const volatile struct class enum "
    "typename wchar_t char8_t char16_t char32_t __half half size_t"
)
_NOT_NAMES = TYPE_WORDS | words(
    "operator template decltype alignas noexcept throw requires sizeof return if for while switch "
    "__attribute__ __declspec __launch_bounds__ __cluster_dims__ __maxnreg__ __block_size__ __align__ "
    "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ static_assert "
    "asm"
)
ATTRIBUTES_WITH_ARGUMENTS = words(
    "__launch_bounds__ __cluster_dims__ __maxnreg__ __block_size__ __attribute__ __declspec alignas __align__"
)
PLAIN_ATTRIBUTES = words(
    "static inline constexpr extern friend virtual __inline__ __forceinline__ __noinline__ __host__ "
    "__device__ __grid_constant__ __cudart_builtin__"
)
_QUALIFIER = re.compile(r"_*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_*")
"""`NVBIO_DEVICE`, `CUTLASS_HOST_DEVICE`: what another header makes `__device__`."""
_STATEMENT_BORDERS = frozenset(";{}")
_CONDITIONS = words("if ifdef ifndef elif")
"""Lines that a declaration may go on across, after its `template <...>`, say."""
_LONGEST_HEAD = 400


@dataclass(frozen=True, slots=True)
class Head:
    """Token indices of a function: [begin, end) is the declaration, [body, end) its braces if it has any."""

    marker: int
    begin: int
    name_first: int
    name_last: int
    opening: int
    closing: int
    body: int | None
    end: int
    template: int | None
    """Index of the `<` of the innermost `template <...>`."""
    directive: Directive | None

    @property
    def is_definition(self) -> bool:
        """Whether the function has a body here."""
        return self.body is not None


def find_heads(tokens: Tokens, marker: str) -> tuple[Head, ...]:
    """Functions marked `__global__` or `__device__` (or a macro that means it), in the order of the file."""
    known = tokens.memo.get(("heads", marker))
    if known is None:
        known = tokens.memo[("heads", marker)] = tuple(_heads(tokens, marker))
    return cast("tuple[Head, ...]", known)


def _heads(tokens: Tokens, marker: str) -> Iterator[Head]:
    known = meaning(tokens, marker)
    names = {*known}
    if marker == "__device__" and "DEVICE" in tokens.text:
        names.update(name for name in tokens.names if "DEVICE" in name and _QUALIFIER.fullmatch(name))
    seen = -1
    makers = _makers(tokens, names)
    for index in sorted(i for name in (*names, *makers) for i in tokens.names.get(name, ())):
        if index <= seen or not (tokens.texts[index] in known or _may_qualify(tokens, index)):
            continue
        maker = makers.get(tokens.texts[index])
        head = _head(tokens, index) if maker is None else _made_head(tokens, index, maker)
        if head is not None:
            seen = head.closing
            yield head


_NO_QUALIFIER_AFTER = frozenset(
    ["<", ",", "(", "::", ".", "->", "=", "&", "&&", "*", "!", "==", "!=", "||", "return", "case"]
)
_NO_QUALIFIER_BEFORE = frozenset(
    [">", ",", ")", "*", "&", "&&", ";", "=", "{", "}", "]", ":", "==", "!=", "||", "?", "."]
)


def _may_qualify(tokens: Tokens, index: int) -> bool:
    """Whether a word stands where `__device__` could, and not as a type or value: `op<float, DEVICE_GPU>::run(...)`."""
    if index and tokens.texts[index - 1] in _NO_QUALIFIER_AFTER:
        return False
    if index + 1 >= len(tokens):
        return True
    after = tokens.texts[index + 1]
    is_scope = after == "::" and tokens.starts[index + 1] == tokens.end(index)
    return not is_scope and after not in _NO_QUALIFIER_BEFORE


def find_lambdas(tokens: Tokens) -> Iterator[Head]:
    """Lambdas for the device, `[=] __device__ (int i) { ... }`, those in functions for it among them."""
    texts = tokens.texts
    aliases = {*meaning(tokens, "__device__"), *(name for name in tokens.names if name.endswith("_DEVICE"))}
    sides = _SIDES | aliases
    seen = -1
    for marker in sorted(place for name in aliases for place in tokens.names.get(name, ())):
        before, opening = marker - 1, _after_sides(tokens, marker + 1, sides)
        while texts[before] in sides:
            before -= 1
        if texts[before] == ">":  # `[=] <typename T> __device__ (T a)`
            before = (template_start(tokens, before, 0, parameters=True) or 0) - 1
        closed = tokens.partner.get(opening)
        if before < 0 or texts[before] != "]" or marker <= seen or tokens.directive_of(marker) is not None:
            continue
        if texts[opening] == "{":  # without parameters
            closed = opening - 1
        elif texts[opening] != "(" or closed is None:
            continue
        body, end = body_behind(tokens, closed + 1)
        if body is not None:
            seen = opening
            begin = tokens.partner.get(before, before)
            opening = min(opening, closed)
            yield Head(marker, begin, before, opening, opening, closed, body, end, None, None)


_SIDES = frozenset({"__host__", "__device__", "__forceinline__", "__noinline__"})


def _after_sides(tokens: Tokens, index: int, sides: frozenset[str]) -> int:
    """Index after what may stand between a lambda's `__device__` and its parameters."""
    while index < len(tokens):
        text = tokens.texts[index]
        if text in sides:
            index += 1
        elif text in ATTRIBUTES_WITH_ARGUMENTS and tokens.texts[index + 1] == "(":
            index = tokens.partner.get(index + 1, index) + 1
        elif text == "<" and (after := template_end(tokens, index, len(tokens), parameters=True)) is not None:
            index = after
        else:
            break
    return index


def meaning(tokens: Tokens, marker: str) -> frozenset[str]:
    """A marker and the macros that stand for it, those that stand for others of them included."""
    key = "meaning", marker
    known = tokens.memo.get(key)
    if known is None:
        found, new = {marker}, {marker}
        while new:
            new = {alias for name in new for alias in _aliases(tokens, name)} - found
            found |= new
        known = tokens.memo[key] = frozenset(found)
    return cast("frozenset[str]", known)


@dataclass(frozen=True, slots=True)
class _Maker:
    """A macro with arguments that makes heads of functions, or begins them."""

    name: int | None
    """Which argument is the function's name; None: it follows the macro."""
    parameters: int | None
    """From which argument on the parameters stand; None: in the macro, or in parentheses behind it."""


def _makers(tokens: Tokens, markers: Iterable[str]) -> dict[str, _Maker]:
    """Macros with arguments that hold a marker and no whole function."""
    found: dict[str, _Maker] = {}
    for index in sorted(i for marker in markers for i in tokens.names.get(marker, ())):
        directive = tokens.directive_of(index)
        if directive is None or directive.name != "define" or "{" in tokens.texts[index : directive.last]:
            continue
        body = _macro_body(tokens, directive)
        if body - directive.first < 2:
            continue
        names = [tokens.texts[a] for a, b in split_commas(tokens, directive.first + 2, body - 1) if a < b]
        found.setdefault(tokens.texts[directive.first], _maker(tokens, index, directive.last, names))
    return found


def _maker(tokens: Tokens, marker: int, last: int, names: list[str]) -> _Maker:
    texts = tokens.texts
    index = marker + 1
    name: int | None = None
    while index < last:
        text = texts[index]
        if text in ATTRIBUTES_WITH_ARGUMENTS and texts[index + 1] == "(":
            index = tokens.partner.get(index + 1, index + 1) + 1
            continue
        if text in names and (name is None or texts[index - 1] == "##"):
            is_name = index + 1 >= last or texts[index + 1] in ("(", "##") or texts[index + 1] in names
            name = names.index(text) if is_name else name
        elif text == "(":
            inside = texts[index + 1]
            place = len(names) - 1 if inside == "__VA_ARGS__" else names.index(inside) if inside in names else None
            return _Maker(name, place)
        elif text in names:
            return _Maker(name, names.index(text))
        index += 1
    return _Maker(name, None)


def _made_head(tokens: Tokens, index: int, maker: _Maker) -> Head | None:
    """The head that a macro makes where it is used: `KERNEL(k)(int *p) { ... }`, `KERNEL(128) k(int *p) { ... }`."""
    directive = tokens.directive_of(index)
    if tokens.texts[index + 1] != "(" or (directive is not None and directive.name == "define"):
        return None
    closed = closing(tokens, index + 1, len(tokens))
    if closed is None:
        return None
    if maker.name is None or tokens.kinds[closed + 1] == IDENTIFIER:
        return _head(tokens, index, closed + 1)
    arguments = split_commas(tokens, index + 2, closed)
    if maker.name >= len(arguments):
        return None
    first, last = arguments[maker.name]
    opening, ending = index + 1, closed
    if tokens.texts[closed + 1] == "(" and maker.parameters is None:
        opening = closed + 1
        ending = closing(tokens, opening, len(tokens)) or closed
    elif maker.parameters is not None and maker.parameters < len(arguments):
        opening = arguments[maker.parameters][0]
        if tokens.texts[opening] == "(":
            ending = closing(tokens, opening, closed) or closed
        else:
            opening -= 1
    after = max(ending, closed) + 1
    body, end = body_behind(tokens, after)
    if body is None or first >= last:
        return None
    begin, template, _ = _beginning(tokens, index, 0, None)
    return Head(index, begin, first, last, opening, ending, body, end, template, None)


def _aliases(tokens: Tokens, marker: str) -> set[str]:
    """Object-like macros of this file whose body has the marker and no function of its own."""
    found: set[str] = set()
    for index in tokens.names.get(marker, ()):
        directive = tokens.directive_of(index)
        if directive is None or directive.name != "define" or _head(tokens, index) is not None:
            continue
        first = directive.first
        if "(" not in tokens.texts[first + 1 : first + 2] or tokens.starts[first + 1] > tokens.end(first):
            found.add(tokens.texts[first])
    return found - {"__host__", "__device__", "__global__"}


def _head(tokens: Tokens, marker: int, after: int | None = None) -> Head | None:
    """The function that a marker belongs to; its words go on `after` a macro that has the marker and arguments."""
    directive = tokens.directive_of(marker)
    low, high = (directive.first, directive.last) if directive else (0, len(tokens))
    found = _name(tokens, after or marker + 1, min(high, marker + _LONGEST_HEAD), directive)
    if found is None:
        return None
    first, opening = found
    closed = closing(tokens, opening, high)
    if closed is None:
        return None
    begin, template, instantiation = _beginning(tokens, marker, low, directive)
    if instantiation:
        return None
    body, end = body_behind(tokens, closed + 1, high, directive)
    return Head(marker, begin, first, opening, opening, closed, body, end, template, directive)


def _name(tokens: Tokens, index: int, high: int, directive: Directive | None) -> tuple[int, int] | None:
    """First token of the function's name and the `(` of its parameters."""
    texts, kinds = tokens.texts, tokens.kinds
    while index < high:
        index = _after_directives(tokens, index, directive)
        if index >= high:
            return None
        text = texts[index]
        if text in ("[", "<"):
            past = closing(tokens, index, high) if text == "[" else template_end(tokens, index, high)
            if past is None:
                return None
            index = past + (text == "[")
            continue
        if text in ("(", ")", ";", "{", "}", "=", ","):
            return None
        if text in ATTRIBUTES_WITH_ARGUMENTS or text in ("decltype", "noexcept"):
            past = closing(tokens, index + 1, high) if index + 1 < high else None
            index = index + 1 if past is None else past + 1
            continue
        if text == "operator":
            return _operator(tokens, index, high)
        if kinds[index] == IDENTIFIER and text not in _NOT_NAMES:
            after = _after_name(tokens, index, high)
            if texts[after] == "[" and texts[after + 1] == "[":
                after = (closing(tokens, after, high) or after) + 1
            if after < high and texts[after] == "(":
                past = closing(tokens, after, high)
                if past is None:
                    return None
                follow = texts[past + 1] if past + 1 < high else ""
                if follow == "(":
                    return index, past + 1
                goes_on = past + 1 < high and kinds[past + 1] == IDENTIFIER and follow not in _AFTER_PARAMETERS
                is_name = text != text.upper() and follow == follow.upper()
                if goes_on and not is_name and not _ends_in_attributes(tokens, past + 1, high):
                    index = past + 1
                    continue
                return index, after
            index = after
            continue
        index += 1
    return None


_AFTER_PARAMETERS = frozenset({"const", "noexcept", "override", "final", "requires", "volatile", "throw", "try"})


def _ends_in_attributes(tokens: Tokens, index: int, high: int) -> bool:
    """Whether nothing but attributes stands between a token and a body or the end of a declaration."""
    while tokens.kinds[index] == IDENTIFIER:
        if tokens.texts[index + 1] != "(":
            index += 1
            continue
        past = closing(tokens, index + 1, high) if tokens.texts[index] in ATTRIBUTES_WITH_ARGUMENTS else None
        if past is None:
            return False
        index = past + 1
    return index < high and tokens.texts[index] in ("{", ";")


def _operator(tokens: Tokens, index: int, high: int) -> tuple[int, int] | None:
    """The `(` of the parameters of `operator+`, `operator()` and conversion operators."""
    first = index
    index += 1
    if index + 1 < high and tokens.texts[index] == "(" and tokens.texts[index + 1] == ")":
        index += 2
    while index < high and tokens.texts[index] != "(":
        if tokens.texts[index] in _STATEMENT_BORDERS:
            return None
        index += 1
    return (first, index) if index < high else None


def _after_name(tokens: Tokens, index: int, high: int) -> int:
    """Index after an identifier with what is pasted to it (`##`), its scopes and its template arguments."""
    index += 1
    while index < high:
        text = tokens.texts[index]
        if text in ("##", "::") and index + 1 < high:
            index += 2
        elif text == "<":
            after = template_end(tokens, index, high)
            if after is None:
                return index
            index = after
        else:
            return index
    return index


def _after_directives(tokens: Tokens, index: int, own: Directive | None) -> int:
    """Skips preprocessor lines inside a declaration that is code."""
    while own is None:
        directive = tokens.directive_of(index)
        if directive is None:
            break
        index = directive.last
    return index


def _beginning(tokens: Tokens, marker: int, low: int, directive: Directive | None) -> tuple[int, int | None, bool]:
    """First token of a declaration, its innermost template list, and whether it only instantiates."""
    texts = tokens.texts
    index = marker
    template: int | None = None
    condition: int | None = None  # first token of an `#if` below what was read last
    while (index if condition is None else condition) > low:
        before = (index if condition is None else condition) - 1
        text = texts[before]
        other = tokens.directive_of(before) if directive is None else None
        if other is not None:
            if other.name not in _CONDITIONS:
                break
            condition = other.first
            continue
        if text in _STATEMENT_BORDERS:
            break
        if text in (">", ">>"):
            start = template_start(tokens, before, low, parameters=True)
            if start is None:
                break
            if start > low and texts[start - 1] == "template":
                template = start if template is None else template
                index = start - 1
            else:
                index = start
            condition = None
            continue
        if text in (")", "]"):
            partner = tokens.partner.get(before)
            if partner is None or partner < low:
                break
            index, condition = partner, None
            continue
        if text == "template":
            return before, None, True
        if text == ":" or (text in ("(", "[", ",", "=") or tokens.kinds[before] == NUMBER):
            break
        index, condition = before, None
    if directive is not None and index == low and directive.name == "define":
        index = min(marker, _macro_body(tokens, directive))
    return index, template, False


def _macro_body(tokens: Tokens, directive: Directive) -> int:
    """Index of the first token of a macro's replacement."""
    first = directive.first
    opening = first + 1
    if opening < directive.last and tokens.texts[opening] == "(" and tokens.starts[opening] == tokens.end(first):
        partner = closing(tokens, opening, directive.last)
        return opening if partner is None else partner + 1
    return opening


def body_behind(
    tokens: Tokens, index: int, high: int | None = None, directive: Directive | None = None
) -> tuple[int | None, int]:
    """The opening brace of the body, if there is one, and the index after the declaration."""
    texts = tokens.texts
    high = len(tokens) if high is None else high
    limit = min(high, index + _LONGEST_HEAD)
    after_parameters = index
    initialisers = False
    while index < limit:
        index = _after_directives(tokens, index, directive)
        if index >= limit:
            break
        text = texts[index]
        if text == ";":
            return None, index + 1
        initialisers |= text == ":"
        if text == "{" and not (initialisers and _initialises(tokens, index)):
            closed = closing(tokens, index, high)
            return index, _end_of_unbalanced(tokens, index, high) if closed is None else closed + 1
        if text == "requires" and texts[index + 1] == "requires":
            index = _past_requirements(tokens, index + 2, limit)
            continue
        if text in ("(", "[", "{"):
            closed = closing(tokens, index, limit)
            if closed is None:
                break
            index = closed
        elif text == "<" and (after := template_end(tokens, index, limit)) is not None:
            index = after - 1
        elif text in (")", "}") or (text == "," and not initialisers):
            break
        index += 1
    return None, after_parameters


def _past_requirements(tokens: Tokens, index: int, limit: int) -> int:
    """Index after `(T a) { a + a; }` of a `requires` expression."""
    for bracket in ("(", "{"):
        if tokens.texts[index] == bracket:
            index = (closing(tokens, index, limit) or index) + 1
    return index


def _initialises(tokens: Tokens, index: int) -> bool:
    """Whether a brace belongs to a member initialiser: `: x{3}`."""
    return tokens.kinds[index - 1] == IDENTIFIER or tokens.texts[index - 1] == ">"


def _end_of_unbalanced(tokens: Tokens, opening: int, high: int) -> int:
    """Where a body ends whose brace has no partner: heads in `#if ... #else` share a body, or it is cut."""
    for index in range(opening + 1, high):
        text = tokens.texts[index]
        if text == "__global__" or text == "}":
            return index if text == "__global__" else index + 1
        if text == "{":
            closed = closing(tokens, index, high)
            if closed is not None and tokens.texts[index - 1] == ")":
                return closed + 1
    return high
