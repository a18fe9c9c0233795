"""Reads the declarations of a C or C++ header from its tokens: no preprocessor, no includes, every branch."""

from __future__ import annotations

from dataclasses import replace

from porter.names.derive.declarations import Declaration, Parameter, Prototype
from porter.names.derive.reading import Namespaces, Reader, Scope, no_namespaces
from porter.names.derive.syntax import (
    ATTRIBUTES,
    NOT_NAMES,
    SHOUTED,
    TYPE_WORDS,
    after_function,
    declared_names,
    is_declarator,
    is_record,
    names_function,
    parameters,
    skip_declaration,
    skip_statement,
    tag_place,
    without_attributes,
)
from porter.names.derive.tokens import Macro, closing, closing_angle, expanded, integer, read_header, split
from porter.names.derive.types_reader import read_enum, read_fields, read_typedef

_ACCESS = frozenset({"public", "private", "protected"})


_PADDING = (";",) * 8
"""Behind the last token, so that looking ahead finds an end."""


def read_declarations(
    text: str, header: str, namespaces: Namespaces = no_namespaces, values: dict[str, int] | None = None
) -> list[Declaration]:
    """Everything that a header declares at namespace scope, static members of classes, and fields of structs."""
    read = read_header(text)
    known = values if values is not None else {}
    reader = Reader(header, [*read.texts, *_PADDING], namespaces, known)
    for macro in read.macros:
        _macro(reader, macro)
    reader.macros = {macro.name: macro for macro in read.macros if macro.parameters and macro.body}
    _block(reader, 0, len(read.texts), Scope())
    return reader.found


def _macro(reader: Reader, macro: Macro) -> None:
    body = list(macro.body)
    value = integer(body, reader.values) if macro.parameters is None and body else None
    if value is not None:
        reader.values.setdefault(macro.name, value)
    overloads = []
    if macro.parameters is not None:
        variadic = "..." in macro.parameters
        kept = [Parameter("", name, variadic and name == "...") for name in macro.parameters]
        overloads = [Prototype("", tuple(kept))]
    target = body[0] if len(body) == 1 and body[0].isidentifier() else ""
    reader.found.append(Declaration(macro.name, "macro", reader.header, overloads, value, target))


def _block(reader: Reader, index: int, end: int, scope: Scope) -> None:
    """Reads the statements between two token indices."""
    opened: list[tuple[tuple[str, ...], int]] = []
    while index < end:
        text = reader.texts[index]
        words = reader.namespaces(text)
        if words is not None:
            index = _namespace_macro(reader, index, words, scope, opened)
        elif text in (";", "}", ":"):
            index += 1
        elif text in reader.macros and reader.texts[index + 1] == "(":
            index = _expansion(reader, index, scope)
        elif scope.members and text in _ACCESS and index + 1 < end and reader.texts[index + 1] == ":":
            scope.public = text == "public"
            index += 2
        else:
            index = _statement(reader, index, end, scope)


def _expansion(reader: Reader, index: int, scope: Scope) -> int:
    """Reads what a use of a function-like macro stands for; returns the index after the use."""
    macro = reader.macros[reader.texts[index]]
    closed = closing(reader.texts, index + 1)
    tokens = expanded(macro, split(reader.texts[index + 2 : closed]))
    others = {name: other for name, other in reader.macros.items() if name != macro.name}
    inner = replace(reader, texts=[*tokens, *_PADDING], macros=others)
    _block(inner, 0, len(tokens), Scope(scope.names, scope.members, scope.public))
    return closed + 1


def _namespace_macro(
    reader: Reader, index: int, words: list[str], scope: Scope, opened: list[tuple[tuple[str, ...], int]]
) -> int:
    if words:
        opened.append((scope.names, index))
        scope.names = scope.names + tuple(words)
    elif opened:
        scope.names = opened.pop()[0]
    following = reader.texts[index + 1 : index + 2]
    return closing(reader.texts, index + 1) + 1 if following == ["("] else index + 1


def _statement(reader: Reader, index: int, end: int, scope: Scope) -> int:
    """Reads one statement; returns the index after it."""
    texts = reader.texts
    start = index
    template = False
    while index < end:
        text = texts[index]
        following = texts[index + 1] if index + 1 < end else ""
        if text == "template" and following == "<":
            index = closing_angle(texts, index + 1) + 1
            template = True
        elif text == "[" and following == "[":
            index = closing(texts, index) + 1
        elif (text in ATTRIBUTES and following == "(") or (
            SHOUTED.fullmatch(text) and following == "(" and not is_declarator(texts, index, end)
        ):
            index = closing(texts, index + 1) + 1
        elif SHOUTED.fullmatch(text) and following and (following.isidentifier() or following in ("[", "#")):
            if reader.namespaces(following) is not None:
                return index + 1
            index += 1
        elif text in ("inline", "static", "constexpr", "__inline__", "extern", "friend") and following not in (
            '"C"',
            '"C++"',
        ):
            if text == "friend":
                return skip_statement(texts, index, end)
            index += 1
        else:
            break
    if index >= end:
        return end
    text = texts[index]
    if text == "extern":
        if index + 2 < end and texts[index + 2] == "{":
            closed = closing(texts, index + 2)
            _block(reader, index + 3, min(closed, end), scope)
            return closed + 1
        return _statement(reader, index + 2, end, scope)
    if text == "namespace":
        return _namespace(reader, index, end, scope)
    if text == "using":
        return _using(reader, index, end, scope)
    if text == "typedef":
        return read_typedef(reader, index, end, scope)
    if text == "enum" and (after := read_enum(reader, index, end, scope)) >= 0:
        return after
    if text in ("struct", "class", "union") and is_record(texts, index, end):
        return _record(reader, index, end, scope, template)
    after = _function_or_variable(reader, index, end, scope, template)
    return after if after > start else start + 1


def _namespace(reader: Reader, index: int, end: int, scope: Scope) -> int:
    texts = reader.texts
    place = index + 1
    names: list[str] = []
    while place < end and texts[place] not in ("{", ";", "="):
        if texts[place] == "[":
            place = closing(texts, place)
        elif texts[place].isidentifier() and texts[place] != "inline" and texts[place + 1] != "(":
            names.append(texts[place])
        place += 1
    if place >= end or texts[place] == ";":
        return place + 1
    if texts[place] == "=":
        reader.declare(
            scope,
            names[0] if names else "?",
            "namespace",
            target="".join(texts[place + 1 : skip_statement(texts, place, end) - 1]),
        )
        return skip_statement(texts, place, end)
    closed = closing(texts, place)
    inline = index > 0 and texts[index - 1] == "inline"
    names = [name for name in names if not SHOUTED.fullmatch(name)]
    inner = Scope(scope.names if inline else (*scope.names, *names), public=scope.public)
    _block(reader, place + 1, min(closed, end), inner)
    return closed + 1


def _using(reader: Reader, index: int, end: int, scope: Scope) -> int:
    texts = reader.texts
    after = skip_statement(texts, index, end)
    words = texts[index + 1 : after - 1]
    if "=" in words[:8] and words[0].isidentifier():
        target = " ".join(words[words.index("=") + 1 :])
        reader.declare(scope, words[0], "type", target=target)
    elif words and words[0] != "namespace" and words[-1].isidentifier() and not scope.members:
        reader.declare(scope, words[-1], "using", target="".join(words).removeprefix("::"))
    return after


def _record(reader: Reader, index: int, end: int, scope: Scope, template: bool) -> int:
    texts = reader.texts
    place = tag_place(texts, index + 1)
    name = texts[place] if texts[place].isidentifier() else ""
    specialised = name != "" and texts[place + 1] == "<"
    while place < end and texts[place] not in ("{", ";"):
        place = closing_angle(texts, place) + 1 if texts[place] == "<" else place + 1
    if name and not specialised:
        reader.declare(scope, name, "template" if template else "type")
    if place >= end or texts[place] == ";":
        return place + 1
    closed = closing(texts, place)
    if name and not specialised:
        if not template and not scope.names:
            read_fields(reader, texts[place + 1 : closed], name)
        inner = Scope((*scope.names, name), members=True, public=scope.public and texts[index] != "class")
        if scope.names:
            _block(reader, place + 1, min(closed, end), inner)
    after = skip_declaration(texts, closed + 1, end)
    for variable in declared_names(texts[closed + 1 : after - 1], single=False):
        reader.declare(scope, variable, "variable")
    return after


def _function_or_variable(reader: Reader, index: int, end: int, scope: Scope, template: bool) -> int:
    texts = reader.texts
    place = index
    while place < end:
        text = texts[place]
        if text == ";":
            _variable(reader, index, place, scope, template)
            return place + 1
        if text == "{":
            closed = closing(texts, place)
            _variable(reader, index, place, scope, template)
            return closed + 1
        if text == "=":
            _variable(reader, index, place, scope, template)
            return skip_declaration(texts, place, end)
        if text == "operator":
            return skip_statement(texts, place, end)
        if text == "<" and place > index and texts[place - 1].isidentifier():
            place = closing_angle(texts, place) + 1
        elif text == "(":
            if names_function(texts, place, end):
                return _function(reader, index, place, end, scope, template)
            place = closing(texts, place) + 1
        elif text == "[":
            place = closing(texts, place) + 1
        elif reader.namespaces(text) is not None:
            return place
        else:
            place += 1
    return end


def _function(reader: Reader, index: int, opened: int, end: int, scope: Scope, template: bool) -> int:
    texts = reader.texts
    named = opened - 2 if texts[opened - 1].endswith("PREVENT_MACRO_SUBSTITUTION") else opened - 1
    name = texts[named]
    closed = closing(texts, opened)
    after = after_function(texts, closed + 1, end)
    before = texts[index:named]
    if before[-1:] == ["::"] or before[-1:] == ["~"] or (scope.members and (not before or name == scope.names[-1])):
        return after
    static = not scope.members or "static" in texts[max(0, index - 6) : index] or "static" in before
    if static and before:
        result = " ".join(word for word in before if not SHOUTED.fullmatch(word))
        prototype = Prototype(result, parameters(texts[opened + 1 : closed]), template)
        reader.declare(scope, name, "function", overloads=[prototype])
    return after


def _variable(reader: Reader, index: int, stop: int, scope: Scope, template: bool) -> None:
    words = without_attributes(reader.texts[index:stop])
    if scope.members and "static" not in reader.texts[max(0, index - 4) : index]:
        return
    if len(words) < 2 or "operator" in words or words[0] in NOT_NAMES - TYPE_WORDS:
        return
    for name in declared_names(words, single=True)[:1]:
        if "(" not in words or words[words.index("(") + 1 : words.index("(") + 2] == ["*"]:
            reader.declare(scope, name, "variable")
