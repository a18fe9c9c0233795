"""Where the members of a class lie, as clang lays it out: for types that the text alone does not tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clang import cindex

from porter.cpp.clang import libclang as clang
from porter.cpp.clang import stubs
from porter.cpp.clang.reached_headers import close_over, find_translation_unit
from porter.cpp.clang.view import ParseRequest
from porter.cpp.language import language_of
from porter.system.reading import read_regular

_PROBE = "porter_probe"
_PLAIN = frozenset(
    {"bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long"}
    | {"unsigned long", "long long", "unsigned long long", "float", "double"}
)
_LIKE_PLAIN = frozenset({"__half", "__nv_bfloat16"})
_ADDRESSES = frozenset({"CUdeviceptr"})
"""Integers that are addresses of memory on the device."""
_OPAQUE = frozenset({"cudaTextureObject_t", "cudaSurfaceObject_t", "CUtexObject", "CUsurfObject"})
_BYTES = "unsigned char"
_MOST, _MOST_CLASSES, _DEEPEST = 192, 64, 12


class _NotPlain(Exception):
    """A type whose members cannot be listed: a texture, virtual functions."""


@dataclass(frozen=True)
class Field:
    """One member, or so many of a plain type one after the other."""

    name: str
    """With those of the members around it; empty where the type itself is plain."""
    at: int
    kind: str
    """The plain type, typedefs resolved; empty for a pointer."""
    count: int = 1
    pointed: str = ""
    is_enumeration: bool = False
    words: tuple[str, ...] = ()
    """What code calls it by: the member's own name, those of the other members of a union too."""


@dataclass(frozen=True)
class ClassLayout:
    """A type in memory, unions by their first member."""

    fields: tuple[Field, ...]
    size: int
    align: int


def layouts_of(
    request: ParseRequest, kind: str, scopes: Sequence[str] = (), first: Sequence[str] = ()
) -> dict[str, ClassLayout]:
    """The layout of a type as one of the scopes names it, and of the classes that pointers in it lead to.

    Empty where clang does not know the type or it is not plain.

    `first` are headers that come before the file. A header that does not know the type alone is parsed through what
    includes it.
    """
    path = str(Path(request.path).absolute())
    includer = find_translation_unit(path, request.root)
    for main in filter(None, (path, includer)):
        found = _asked(request, path, main, kind, scopes, first)
        if found:
            return found
    return {}


def _asked(
    request: ParseRequest, path: str, main: str, kind: str, scopes: Sequence[str], first: Sequence[str]
) -> dict[str, ClassLayout]:
    files = {path: request.text_bytes}
    try:
        files |= {main: read_regular(main)} if main != path else {}
    except OSError:
        return {}
    closure = close_over(main, files[main], request.include_dirs, request.root)
    language = language_of(path, request.text_bytes, files[main])
    files = {**files, **closure.rewritten}
    files[main] += _probes(kind, scopes).encode()
    options = [*(f"-I{folder}" for folder in request.include_dirs), *(f"-D{name}" for name in request.defines)]
    options += [word for name in first for word in ("-include", name)]
    late = () if stubs.LATE.isdisjoint(closure.names) else stubs.late_flags(language)
    options.append("-fno-access-control")
    unit = clang.parse(main, (*stubs.flags(language, "host"), *late, *options), files, clang.Depth.DECLARATIONS)
    return _found(unit, kind) if unit is not None else {}


def _probes(kind: str, scopes: Sequence[str]) -> str:
    """A class with a member of the type, in each scope: a class of a template is instantiated so."""
    lines = []
    for number, scope in enumerate(dict.fromkeys((*scopes, ""))):
        probe = f"struct {_PROBE}_{number} {{ {kind} member; }};"
        lines.append(f"namespace {scope} {{ {probe} }}" if scope else probe)
    return "\n".join(("", *lines, ""))


def _found(unit: clang.TranslationUnit, kind: str) -> dict[str, ClassLayout]:
    probes: list[clang.Cursor] = []

    def visitor(cursor: clang.Cursor) -> bool:
        if cursor.kind == cindex.CursorKind.STRUCT_DECL and cursor.spelling.startswith(_PROBE):
            probes.append(cursor)
        return bool(cursor.kind == cindex.CursorKind.NAMESPACE)

    unit.visit(visitor)
    for probe in probes:
        members = list(probe.type.get_fields())
        if len(members) != 1 or clang.is_invalid(members[0]) or clang.is_invalid(probe):
            continue
        found: dict[str, ClassLayout] = {}
        _follow(members[0].type, kind, found)
        if kind in found:
            return found
    return {}


def _follow(kind: Any, name: str, found: dict[str, ClassLayout]) -> None:
    """Adds the layout of a type, and of what pointers in it lead to."""
    pointees: dict[str, Any] = {}
    size, align = kind.get_size(), kind.get_align()
    try:
        fields = tuple(_fields(kind, "", 0, 0, pointees)) if size > 0 and align > 0 else ()
    except _NotPlain:
        return
    if not fields or len(fields) > _MOST:
        return
    found[name] = ClassLayout(fields, size, align)
    for other, pointee in pointees.items():
        if other not in found and len(found) < _MOST_CLASSES:
            _follow(pointee, other, found)


def _fields(kind: Any, name: str, at: int, depth: int, pointees: dict[str, Any]) -> Iterator[Field]:
    """The members of a type that stands at a place; raises _NotPlain for what has no plain layout.

    Classes that pointers lead to are added to the last argument.
    """
    if depth > _DEEPEST:
        raise _NotPlain(name)
    written = set(_typedefs(kind))
    if written & _ADDRESSES:
        yield Field(name, at, "", pointed=_BYTES)
        return
    if written & _OPAQUE:
        raise _NotPlain(f"{name} is a texture or surface")
    plain = kind.get_canonical()
    text = plain.spelling.replace("const ", "").replace("volatile ", "").strip()
    if text == "dim3":
        yield Field(name, at, "unsigned int", 3)
    elif text in _PLAIN or text in _LIKE_PLAIN:
        yield Field(name, at, text)
    elif plain.kind == cindex.TypeKind.ENUM:
        yield Field(name, at, plain.get_declaration().enum_type.get_canonical().spelling, is_enumeration=True)
    elif plain.kind in (cindex.TypeKind.POINTER, cindex.TypeKind.LVALUEREFERENCE):
        yield Field(name, at, "", pointed=_pointed(plain, pointees))
    elif plain.kind == cindex.TypeKind.CONSTANTARRAY:
        yield from _of_array(plain, name, at, depth, pointees)
    elif plain.kind == cindex.TypeKind.RECORD:
        yield from _of_class(plain, name, at, depth, pointees)
    else:
        raise _NotPlain(f"{name} is a {text}")


def _typedefs(kind: Any) -> Iterator[str]:
    """The names that a type has, one behind the other."""
    for _ in range(_DEEPEST):
        declaration = kind.get_declaration()
        if declaration.kind not in (cindex.CursorKind.TYPEDEF_DECL, cindex.CursorKind.TYPE_ALIAS_DECL):
            return
        yield declaration.spelling
        kind = declaration.underlying_typedef_type


def _pointed(kind: Any, pointees: dict[str, Any]) -> str:
    pointee = kind.get_pointee()
    canonical = pointee.get_canonical()
    if canonical.kind == cindex.TypeKind.FUNCTIONPROTO:
        raise _NotPlain("a pointer to a function")
    text: str = canonical.spelling
    constant = "const " * canonical.is_const_qualified()
    is_named = "(" not in text and canonical.kind != cindex.TypeKind.VOID
    if is_named and canonical.kind == cindex.TypeKind.RECORD:
        pointees[text.replace("const ", "").replace("volatile ", "").strip()] = canonical
    return text if is_named else f"{constant}{_BYTES}"


def _of_array(kind: Any, name: str, at: int, depth: int, pointees: dict[str, Any]) -> Iterator[Field]:
    inner, count = kind.get_array_element_type(), kind.element_count
    one = list(_fields(inner, name, 0, depth + 1, pointees))
    if len(one) == 1 and one[0].kind:
        field = one[0]
        yield Field(field.name, at, field.kind, field.count * count, is_enumeration=field.is_enumeration)
        return
    size = inner.get_size()
    if count * len(one) > _MOST:
        raise _NotPlain(f"{name} has {count} elements")
    for place in range(count):
        yield from _fields(inner, f"{name}_{place}", at + place * size, depth + 1, pointees)


def _of_class(kind: Any, name: str, at: int, depth: int, pointees: dict[str, Any]) -> Iterator[Field]:
    declaration = kind.get_declaration()
    inside = clang.children(declaration)
    bases = [child.type for child in inside if child.kind == cindex.CursorKind.CXX_BASE_SPECIFIER]
    functions = (cindex.CursorKind.CXX_METHOD, cindex.CursorKind.DESTRUCTOR)
    if any(child.kind in functions and child.is_virtual_method() for child in inside):
        raise _NotPlain(f"{name} has virtual functions")
    end = 0
    members = list(kind.get_fields())
    for base in bases:
        own = list(_fields(base, name, 0, depth + 1, pointees)) if _has_members(base, depth) else []
        if not own:
            continue
        start = -(-end // base.get_align()) * base.get_align()
        yield from (replace(one, at=at + start + one.at) for one in own)
        end = start + base.get_size()
    is_union = declaration.kind == cindex.CursorKind.UNION_DECL
    shared: set[int] = set()
    """Bytes that bit-fields took."""
    for member in members[:1] if is_union else members:
        bits = member.get_field_offsetof()
        if bits < 0 or clang.is_invalid(member):
            raise _NotPlain(f"{name} has a member whose place is not known")
        own_name = "" if "(" in member.spelling else member.spelling
        whole = "_".join(filter(None, (name, own_name)))
        if member.is_bitfield():
            last = (bits + member.get_bitfield_width() - 1) // 8
            fresh = [place for place in range(bits // 8, last + 1) if place not in shared]
            yield from (Field(whole, at + place, _BYTES, words=(own_name,)) for place in fresh)
            shared.update(fresh)
            continue
        called = tuple(_names(declaration)) if is_union else (own_name,) if own_name else ()
        for one in _fields(member.type, whole, at + bits // 8, depth + 1, pointees):
            words = (*one.words, *called) if is_union or not one.words else one.words
            yield replace(one, words=tuple(dict.fromkeys(words)))


def _names(declaration: clang.Cursor) -> Iterator[str]:
    """Of the members of a union, and of those of nameless classes in it."""
    for member in declaration.type.get_fields():
        if "(" not in member.spelling:
            yield member.spelling
        else:
            yield from _names(member.type.get_declaration())


def _has_members(kind: Any, depth: int) -> bool:
    """Whether a base has any: an empty one takes no room."""
    if depth > _DEEPEST:
        raise _NotPlain("bases that are too deep")
    inside = clang.children(kind.get_canonical().get_declaration())
    bases = [child.type for child in inside if child.kind == cindex.CursorKind.CXX_BASE_SPECIFIER]
    return bool(list(kind.get_canonical().get_fields())) or any(_has_members(base, depth + 1) for base in bases)
