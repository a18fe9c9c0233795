"""Reads typedefs, enums and the fields of structs."""

from __future__ import annotations

from porter.names.derive.declarations import Declaration
from porter.names.derive.reading import Reader, Scope
from porter.names.derive.syntax import (
    ATTRIBUTES,
    SHOUTED,
    declared_names,
    function_type,
    is_field,
    skip_declaration,
    skip_statement,
    tag_place,
    without_attributes,
    without_word,
)
from porter.names.derive.tokens import closing, integer, split


def read_typedef(reader: Reader, index: int, end: int, scope: Scope) -> int:
    """Reads a typedef; returns the index after it."""
    texts = reader.texts
    place = index + 1
    while place < end and (
        texts[place] in ("const", "volatile") or SHOUTED.fullmatch(texts[place]) or texts[place] in ATTRIBUTES
    ):
        place = closing(texts, place + 1) + 1 if texts[place + 1] == "(" else place + 1
    tag, target = "", ""
    if texts[place] in ("struct", "union", "class", "enum"):
        kind = texts[place]
        name_at = tag_place(texts, place + 1)
        if texts[name_at].isidentifier():
            tag = texts[name_at]
        body = name_at
        while (
            body < end
            and texts[body] not in ("{", ";", "*", ")", "(")
            and not (body > name_at and texts[body].isidentifier())
        ):
            body += 1
        if body < end and texts[body] == "{":
            closed = closing(texts, body)
            names = _declarators(texts, closed + 1, end)
            owner = names[0] if names else tag
            if kind == "enum":
                _enumerators(reader, texts[body + 1 : closed], scope, owner)
            else:
                read_fields(reader, texts[body + 1 : closed], owner)
            place = closed + 1
            target = tag
        else:
            target = tag
            place = body if texts[body] == "*" else name_at + bool(tag)
    after = skip_declaration(texts, place, end)
    if tag and not target.startswith("struct "):
        reader.declare(scope, tag, "type")
    declared = texts[place : after - 1]
    pointers = "*" if "*" in declared[:3] else ""
    for name in declared_names(declared, single=not target):
        written = f"{target}{pointers}" if target else " ".join(without_word(declared, name))
        prototype = function_type(declared)
        if name != tag:
            reader.declare(scope, name, "type", target=written, overloads=[prototype] if prototype else [])
    return after


def read_enum(reader: Reader, index: int, end: int, scope: Scope) -> int:
    """Reads an enum; returns the index after it, or -1 when it is only the type of a function."""
    texts = reader.texts
    place = index + 1
    scoped = texts[place] in ("class", "struct")
    if scoped:
        place += 1
    place = tag_place(texts, place)
    name = texts[place] if texts[place].isidentifier() else ""
    while place < end and texts[place] not in ("{", ";", "("):
        place += 1
    if place >= end or texts[place] != "{":
        if place < end and texts[place] == "(":
            return -1
        if name and texts[place - 1] == name:
            reader.declare(scope, name, "type")
        return place + 1
    closed = closing(texts, place)
    if name:
        reader.declare(scope, name, "type")
    inner = Scope((*scope.names, name), public=scope.public) if scoped else scope
    _enumerators(reader, texts[place + 1 : closed], inner, name)
    after = skip_statement(texts, closed + 1, end)
    for variable in declared_names(texts[closed + 1 : after - 1], single=False):
        reader.declare(scope, variable, "variable")
    return after


def _enumerators(reader: Reader, words: list[str], scope: Scope, owner: str) -> None:
    value: int | None = -1
    for part in split(words):
        part = without_attributes(part)
        if not part or not part[0].isidentifier():
            continue
        if "=" in part:
            value = integer(part[part.index("=") + 1 :], reader.values)
        elif value is not None:
            value += 1
        reader.declare(scope, part[0], "enumerator", value=value, owner=owner)
        if value is not None:
            reader.values[part[0]] = value


def read_fields(reader: Reader, words: list[str], owner: str) -> None:
    """Members of a C struct; those of nested anonymous structs and unions count as the struct's own."""
    place = 0
    while place < len(words):
        stop = place
        nested = -1
        while stop < len(words) and words[stop] != ";":
            if words[stop] == "{":
                nested = stop
            stop = closing(words, stop) + 1 if words[stop] in ("(", "{", "[") else stop + 1
        if nested >= 0 and words[place] in ("struct", "union"):
            names = declared_names(words[closing(words, nested) + 1 : stop], single=False)
            if not names:
                read_fields(reader, words[nested + 1 : closing(words, nested)], owner)
        elif nested >= 0:
            stop = closing(words, nested)
            names = []
        else:
            part = without_attributes(words[place:stop])
            names = declared_names(part, single=True) if is_field(part) else []
        for name in names:
            written = " ".join(without_word(words[place:stop], name)) if nested < 0 else "struct"
            reader.found.append(Declaration(name, "field", reader.header, target=written, owner=owner))
        place = stop + 1


def _declarators(texts: list[str], index: int, end: int) -> list[str]:
    after = skip_declaration(texts, index, end)
    return declared_names(texts[index : after - 1], single=False)
