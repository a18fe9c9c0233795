"""Answers about one place of a parsed file: what a name refers to, what type an expression has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clang import cindex

from porter.cpp.brackets import closing, split_commas, template_end
from porter.cpp.clang.libclang import (
    Cursor,
    TranslationUnit,
    arguments,
    candidates,
    children,
    extent_of,
    is_invalid,
    place_of,
    type_text,
)
from porter.cpp.clang.stubs import origin_of
from porter.cpp.lex import IDENTIFIER, Tokens

_KIND = cindex.CursorKind
_KINDS = {
    _KIND.FUNCTION_DECL: "function",
    _KIND.FUNCTION_TEMPLATE: "function",
    _KIND.CXX_METHOD: "method",
    _KIND.CONSTRUCTOR: "method",
    _KIND.DESTRUCTOR: "method",
    _KIND.CONVERSION_FUNCTION: "method",
    _KIND.STRUCT_DECL: "type",
    _KIND.CLASS_DECL: "type",
    _KIND.UNION_DECL: "type",
    _KIND.ENUM_DECL: "type",
    _KIND.CLASS_TEMPLATE: "type",
    _KIND.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION: "type",
    _KIND.TYPEDEF_DECL: "type",
    _KIND.TYPE_ALIAS_DECL: "type",
    _KIND.TYPE_ALIAS_TEMPLATE_DECL: "type",
    _KIND.TEMPLATE_TYPE_PARAMETER: "type",
    _KIND.TEMPLATE_TEMPLATE_PARAMETER: "type",
    _KIND.TEMPLATE_NON_TYPE_PARAMETER: "variable",
    _KIND.VAR_DECL: "variable",
    _KIND.PARM_DECL: "variable",
    _KIND.FIELD_DECL: "field",
    _KIND.ENUM_CONSTANT_DECL: "enumerator",
    _KIND.NAMESPACE: "namespace",
    _KIND.NAMESPACE_ALIAS: "namespace",
    _KIND.MACRO_DEFINITION: "macro",
}
PROJECT, CUDA, UNKNOWN = "project", "cuda", "unknown"


@dataclass(frozen=True, slots=True)
class Declaration:
    """What an identifier refers to; `origin` is `project`, `cuda` or `std` (our stubs), or `unknown`."""

    origin: str
    kind: str
    name: str
    type: str


def declaration_at(unit: TranslationUnit, offset: int, name: str) -> Declaration:
    """What the identifier `name` at an offset refers to."""
    cursor = unit.cursor_at(offset)
    found = [] if cursor is None else [c for c in _referred(cursor) if c.spelling == name]
    if not found:
        return Declaration(UNKNOWN, UNKNOWN, name, "")
    origins = [_origin(candidate) for candidate in found]
    chosen = origins.index(PROJECT) if PROJECT in origins else 0
    target = found[chosen]
    return Declaration(
        origins[chosen], _KINDS.get(target.kind, "other"), qualified_name(target), type_text(target.type) or ""
    )


def _referred(cursor: Cursor) -> Iterator[Cursor]:
    """The declarations a cursor stands for: itself, its target, or all candidates of an overload set."""
    if cursor.kind.is_declaration() and cursor.kind != _KIND.OVERLOADED_DECL_REF:
        yield cursor
        return
    target = cursor.referenced
    if target is None:
        return
    if target.kind != _KIND.OVERLOADED_DECL_REF:
        yield target
        return
    yield from candidates(target)


def _origin(cursor: Cursor) -> str:
    place = place_of(cursor)
    if place is None:
        return UNKNOWN
    stub = origin_of(place.path)
    if stub is None:
        return PROJECT
    definition = cursor.get_definition() if cursor.kind.is_declaration() else None
    defined = place_of(definition) if definition is not None else None
    return PROJECT if defined is not None and origin_of(defined.path) is None else stub


def qualified_name(cursor: Cursor) -> str:
    """A declaration's name with its namespaces and classes."""
    parts = [cursor.spelling]
    scope = cursor.semantic_parent if cursor.kind != _KIND.MACRO_DEFINITION else None
    while scope is not None and not scope.kind.is_translation_unit() and not scope.kind.is_invalid():
        if scope.kind != _KIND.LINKAGE_SPEC and not (scope.kind == _KIND.ENUM_DECL and not scope.is_scoped_enum()):
            anonymous = not scope.spelling or scope.spelling.startswith("(")
            parts.append("(anonymous namespace)" if anonymous else scope.spelling)
        scope = scope.semantic_parent
    return "::".join(reversed(parts))


def type_at(unit: TranslationUnit, offset: int) -> str | None:
    """Type of the variable or expression whose token starts at an offset; of a function, what it returns."""
    cursor = unit.cursor_at(offset)
    return None if cursor is None else _type_of(cursor)


def _type_of(cursor: Cursor) -> str | None:
    target = cursor.referenced if cursor.kind.is_expression() else cursor
    if target is not None and is_invalid(target):
        return None
    kind = cursor.type
    if target is not None and target.kind == _KIND.OVERLOADED_DECL_REF:
        results = {type_text(candidate.type.get_result()) for candidate in candidates(target)}
        return results.pop() if len(results) == 1 else None
    result = kind.get_result()
    return type_text(kind if result.kind == cindex.TypeKind.INVALID else result)


def argument_types(unit: TranslationUnit, tokens: Tokens, index: int) -> tuple[str | None, ...] | None:
    """Types of the arguments, as they are before conversion, of the call whose callee is the token at `index`."""
    if index >= len(tokens) or tokens.kinds[index] != IDENTIFIER:
        return None
    opening = index + 1
    if tokens.texts[opening] == "<":
        opening = template_end(tokens, opening, len(tokens)) or opening
    closed = closing(tokens, opening, len(tokens)) if tokens.texts[opening] == "(" else None
    if closed is None:
        return None
    stretches = split_commas(tokens, opening + 1, closed)
    call = unit.cursor_at(tokens.starts[opening])
    given = arguments(call) if call is not None and call.kind == _KIND.CALL_EXPR else []
    if len(given) < len(stretches):
        return tuple(_stretch_type(unit, tokens, *stretch) for stretch in stretches)
    return tuple(_type_of(_before_conversion(argument)) for argument in given[: len(stretches)])


def _stretch_type(unit: TranslationUnit, tokens: Tokens, first: int, last: int) -> str | None:
    """The type of the expression that is exactly the tokens [first, last): some token is its operator."""
    if first >= last:
        return None
    wanted = tokens.starts[first], tokens.end(last - 1)
    for index in range(first, min(last, first + _LONGEST_SEARCH)):
        cursor = unit.cursor_at(tokens.starts[index])
        if cursor is not None and extent_of(cursor) == wanted:
            return _type_of(cursor)
    return None


_LONGEST_SEARCH = 24


def _before_conversion(cursor: Cursor) -> Cursor:
    """Looks through the conversions that the compiler puts around an expression."""
    while cursor.kind in (_KIND.UNEXPOSED_EXPR, _KIND.CALL_EXPR, _KIND.MEMBER_REF_EXPR):
        inner = children(cursor)
        if len(inner) != 1 or extent_of(inner[0]) != extent_of(cursor):
            break
        cursor = inner[0]
    return cursor
