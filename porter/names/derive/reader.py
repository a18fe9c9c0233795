"""Reads the declarations of a C or C++ header from its tokens: no preprocessor, no includes, every branch."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from porter.names.derive.declarations import Declaration, Parameter, Prototype
from porter.names.derive.tokens import Macro, closing, closing_angle, integer, read_header, split

_ATTRIBUTES = frozenset(
    """__attribute__ __declspec alignas __align__ __launch_bounds__ noexcept decltype explicit throw requires asm __asm__
    _Alignas __builtin_align__ enable_if __nv_pure__ static_assert deprecated""".split()
)
_NOT_NAMES = frozenset(
    """if for while switch return sizeof case else do const volatile static inline extern struct class union enum void int
    char short long float double bool unsigned signed auto typename template constexpr operator friend public private
    protected using namespace typedef virtual mutable register goto throw new delete default final override""".split()
)
_TRAILING = frozenset(
    {"const", "volatile", "noexcept", "override", "final", "&", "&&", "->", "=", ":", "{", ";", "requires"}
)
_ACCESS = frozenset({"public", "private", "protected"})
_SHOUTED = re.compile(
    r"_{0,2}[A-Z][A-Z0-9_]{2,}_{0,2}|_CCCL\w*|_LIBCUDACXX\w*|__\w+__|_VSTD|__forceinline|__cdecl|__stdcall"
)

Namespaces = Callable[[str], "list[str] | None"]
"""What a macro word opens: namespace components; [] when it closes as many as it opened; None: not such a macro."""


def no_namespaces(word: str) -> list[str] | None:
    """For C headers."""
    return None


@dataclass
class _Scope:
    names: tuple[str, ...] = ()
    members: bool = False
    """Inside a class."""
    public: bool = True


@dataclass
class _Reader:
    """State of reading one header."""

    header: str
    texts: list[str]
    namespaces: Namespaces
    values: dict[str, int]
    found: list[Declaration] = field(default_factory=list)

    def declare(self, scope: _Scope, name: str, kind: str, **rest: object) -> Declaration:
        """Records a declaration in a scope."""
        qualified = "::".join((*scope.names, name))
        declaration = Declaration(qualified, kind, self.header, member=scope.members, **rest)  # type: ignore[arg-type]
        if scope.public:
            self.found.append(declaration)
        return declaration


def read_declarations(
    text: str, header: str, namespaces: Namespaces = no_namespaces, values: dict[str, int] | None = None
) -> list[Declaration]:
    """Everything that a header declares at namespace scope, static members of classes, and fields of structs."""
    read = read_header(text)
    known = values if values is not None else {}
    reader = _Reader(header, read.texts, namespaces, known)
    for macro in read.macros:
        _macro(reader, macro)
    _block(reader, 0, len(read.texts), _Scope())
    return reader.found


def _macro(reader: _Reader, macro: Macro) -> None:
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


def _block(reader: _Reader, index: int, end: int, scope: _Scope) -> None:
    """Reads the statements between two token indices."""
    opened: list[tuple[tuple[str, ...], int]] = []
    while index < end:
        text = reader.texts[index]
        words = reader.namespaces(text)
        if words is not None:
            index = _namespace_macro(reader, index, words, scope, opened)
        elif text in (";", "}", ":"):
            index += 1
        elif scope.members and text in _ACCESS and index + 1 < end and reader.texts[index + 1] == ":":
            scope.public = text == "public"
            index += 2
        else:
            index = _statement(reader, index, end, scope)


def _namespace_macro(
    reader: _Reader, index: int, words: list[str], scope: _Scope, opened: list[tuple[tuple[str, ...], int]]
) -> int:
    if words:
        opened.append((scope.names, index))
        scope.names = scope.names + tuple(words)
    elif opened:
        scope.names = opened.pop()[0]
    following = reader.texts[index + 1 : index + 2]
    return closing(reader.texts, index + 1) + 1 if following == ["("] else index + 1


def _statement(reader: _Reader, index: int, end: int, scope: _Scope) -> int:
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
        elif text in _ATTRIBUTES and following == "(":
            index = closing(texts, index + 1) + 1
        elif _SHOUTED.fullmatch(text) and following == "(" and not _is_declarator(texts, index, end):
            index = closing(texts, index + 1) + 1
        elif _SHOUTED.fullmatch(text) and following and (following.isidentifier() or following in ("[", "#")):
            if reader.namespaces(following) is not None:
                return index + 1
            index += 1
        elif text in ("inline", "static", "constexpr", "__inline__", "extern", "friend") and following not in (
            '"C"',
            '"C++"',
        ):
            if text == "friend":
                return _skip(texts, index, end)
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
        return _typedef(reader, index, end, scope)
    if text == "enum":
        return _enum(reader, index, end, scope)
    if text in ("struct", "class", "union") and _is_record(texts, index, end):
        return _record(reader, index, end, scope, template)
    after = _function_or_variable(reader, index, end, scope, template)
    return after if after > start else start + 1


def _is_declarator(texts: list[str], index: int, end: int) -> bool:
    """Whether `NAME(...)` is what a statement declares rather than a macro in front of it."""
    closed = closing(texts, index + 1)
    return closed + 1 < end and texts[closed + 1] in _TRAILING


def _skip(texts: list[str], index: int, end: int) -> int:
    """Index after the statement that starts at `index`: past its `;` or its body."""
    while index < end:
        text = texts[index]
        if text == ";":
            return index + 1
        if text == "{":
            return closing(texts, index) + 1
        index = closing(texts, index) + 1 if text in ("(", "[") else index + 1
    return end


def _namespace(reader: _Reader, index: int, end: int, scope: _Scope) -> int:
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
            target="".join(texts[place + 1 : _skip(texts, place, end) - 1]),
        )
        return _skip(texts, place, end)
    closed = closing(texts, place)
    inline = index > 0 and texts[index - 1] == "inline"
    names = [name for name in names if not _SHOUTED.fullmatch(name)]
    inner = _Scope(scope.names if inline else (*scope.names, *names), public=scope.public)
    _block(reader, place + 1, min(closed, end), inner)
    return closed + 1


def _using(reader: _Reader, index: int, end: int, scope: _Scope) -> int:
    texts = reader.texts
    after = _skip(texts, index, end)
    words = texts[index + 1 : after - 1]
    if "=" in words[:8] and words[0].isidentifier():
        target = " ".join(words[words.index("=") + 1 :])
        reader.declare(scope, words[0], "type", target=target)
    elif words and words[0] != "namespace" and words[-1].isidentifier() and not scope.members:
        reader.declare(scope, words[-1], "using", target="".join(words).removeprefix("::"))
    return after


def _typedef(reader: _Reader, index: int, end: int, scope: _Scope) -> int:
    texts = reader.texts
    place = index + 1
    while place < end and (
        texts[place] in ("const", "volatile") or _SHOUTED.fullmatch(texts[place]) or texts[place] in _ATTRIBUTES
    ):
        place = closing(texts, place + 1) + 1 if texts[place + 1] == "(" else place + 1
    tag, target = "", ""
    if texts[place] in ("struct", "union", "class", "enum"):
        kind = texts[place]
        name_at = _tag_name(texts, place + 1)
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
                _fields(reader, texts[body + 1 : closed], owner)
            place = closed + 1
            target = tag
        else:
            target = tag
            place = body if texts[body] == "*" else name_at + bool(tag)
    after = _skip_typedef(texts, place, end)
    if tag and not target.startswith("struct "):
        reader.declare(scope, tag, "type")
    declared = texts[place : after - 1]
    pointers = "*" if "*" in declared[:3] else ""
    for name in _names_in(declared, single=not target):
        written = f"{target}{pointers}" if target else " ".join(_without(declared, name))
        prototype = _function_type(declared)
        if name != tag:
            reader.declare(scope, name, "type", target=written, overloads=[prototype] if prototype else [])
    return after


def _tag_name(texts: list[str], place: int) -> int:
    while texts[place] in _ATTRIBUTES or (
        _SHOUTED.fullmatch(texts[place]) and (texts[place + 1] == "(" or texts[place + 1].isidentifier())
    ):
        place = closing(texts, place + 1) + 1 if texts[place + 1] == "(" else place + 1
    return place


def _skip_typedef(texts: list[str], index: int, end: int) -> int:
    while index < end and texts[index] != ";":
        index = closing(texts, index) + 1 if texts[index] in ("(", "[", "{") else index + 1
    return index + 1


def _declarators(texts: list[str], index: int, end: int) -> list[str]:
    after = _skip_typedef(texts, index, end)
    return _names_in(texts[index : after - 1], single=False)


def _names_in(words: list[str], single: bool) -> list[str]:
    """Names that `int *a, b[3], (*f)(int)` declares; with `single`, words before the last are its type."""
    names = []
    for part in split(words):
        part = [word for word in _without_attributes(part) if "DEPRECATED" not in word]
        name = ""
        if "(" in part:
            opened = part.index("(")
            inside = part[opened + 1 : closing(part, opened)]
            if opened and part[opened - 1].isidentifier() and "*" not in inside[:3]:
                name = part[opened - 1]
            else:
                name = next((w for w in reversed(inside) if w.isidentifier()), "")
        else:
            cut = part.index("[") if "[" in part else len(part)
            name = next((w for w in reversed(part[:cut]) if w.isidentifier() and w not in _NOT_NAMES), "")
        if name:
            names.append(name)
    return names


def _without_attributes(words: list[str]) -> list[str]:
    kept: list[str] = []
    place = 0
    while place < len(words):
        if words[place] in _ATTRIBUTES and place + 1 < len(words) and words[place + 1] == "(":
            place = closing(words, place + 1) + 1
        else:
            kept.append(words[place])
            place += 1
    return kept


def _without(words: list[str], name: str) -> list[str]:
    return [word for word in words if word != name]


def _function_type(words: list[str]) -> Prototype | None:
    """Prototype of `R (*name)(parameters)`."""
    opened = [i for i, word in enumerate(words) if word == "("]
    if not opened:
        return None
    closed = closing(words, opened[0])
    if closed + 1 < len(words) and words[closed + 1] == "(":
        inside = words[closed + 2 : closing(words, closed + 1)]
        return Prototype(" ".join(words[: opened[0]]), _parameters(inside))
    return None


def _enum(reader: _Reader, index: int, end: int, scope: _Scope) -> int:
    texts = reader.texts
    place = index + 1
    scoped = texts[place] in ("class", "struct")
    if scoped:
        place += 1
    place = _tag_name(texts, place)
    name = texts[place] if texts[place].isidentifier() else ""
    while place < end and texts[place] not in ("{", ";", "("):
        place += 1
    if place >= end or texts[place] != "{":
        if place < end and texts[place] == "(":
            return _function_or_variable(reader, index, end, scope, False)
        if name and texts[place - 1] == name:
            reader.declare(scope, name, "type")
        return place + 1
    closed = closing(texts, place)
    if name:
        reader.declare(scope, name, "type")
    inner = _Scope((*scope.names, name), public=scope.public) if scoped else scope
    _enumerators(reader, texts[place + 1 : closed], inner, name)
    after = _skip(texts, closed + 1, end)
    for variable in _names_in(texts[closed + 1 : after - 1], single=False):
        reader.declare(scope, variable, "variable")
    return after


def _enumerators(reader: _Reader, words: list[str], scope: _Scope, owner: str) -> None:
    value: int | None = -1
    for part in split(words):
        part = _without_attributes(part)
        if not part or not part[0].isidentifier():
            continue
        if "=" in part:
            value = integer(part[part.index("=") + 1 :], reader.values)
        elif value is not None:
            value += 1
        reader.declare(scope, part[0], "enumerator", value=value, owner=owner)
        if value is not None:
            reader.values[part[0]] = value


def _is_record(texts: list[str], index: int, end: int) -> bool:
    """Whether `struct X` here defines or announces a type, rather than being the type of a function or variable."""
    place = _tag_name(texts, index + 1)
    if texts[place] == "{":
        return True
    while place < end and texts[place] not in ("{", ";", "(", "=", ")"):
        if texts[place] == ":":
            return True
        if texts[place] == "<":
            place = closing_angle(texts, place)
        elif texts[place] in ("*", "&"):
            return False
        place += 1
    if place >= end or texts[place] in ("(", "=", ")"):
        return False
    words = [word for word in texts[index + 1 : place] if word.isidentifier() and word != "final"]
    return texts[place] == "{" or len(words) == 1


def _record(reader: _Reader, index: int, end: int, scope: _Scope, template: bool) -> int:
    texts = reader.texts
    place = _tag_name(texts, index + 1)
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
            _fields(reader, texts[place + 1 : closed], name)
        inner = _Scope((*scope.names, name), members=True, public=scope.public and texts[index] != "class")
        if scope.names:
            _block(reader, place + 1, min(closed, end), inner)
    after = _skip_typedef(texts, closed + 1, end)
    for variable in _names_in(texts[closed + 1 : after - 1], single=False):
        reader.declare(scope, variable, "variable")
    return after


def _fields(reader: _Reader, words: list[str], owner: str) -> None:
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
            names = _names_in(words[closing(words, nested) + 1 : stop], single=False)
            if not names:
                _fields(reader, words[nested + 1 : closing(words, nested)], owner)
        elif nested >= 0:
            stop = closing(words, nested)
            names = []
        else:
            part = _without_attributes(words[place:stop])
            names = _names_in(part, single=True) if _is_field(part) else []
        for name in names:
            written = " ".join(_without(words[place:stop], name)) if nested < 0 else "struct"
            reader.found.append(Declaration(name, "field", reader.header, target=written, owner=owner))
        place = stop + 1


def _is_field(words: list[str]) -> bool:
    """Whether a member declares data (a pointer to a function included) and not a function or a type."""
    if not words or words[0] in ("using", "friend", "typedef", "static", "~", "template") or "operator" in words:
        return False
    return "(" not in words or words[words.index("(") + 1] == "*"


def _function_or_variable(reader: _Reader, index: int, end: int, scope: _Scope, template: bool) -> int:
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
            return _skip_typedef(texts, place, end)
        if text == "operator":
            return _skip(texts, place, end)
        if text == "<" and place > index and texts[place - 1].isidentifier():
            place = closing_angle(texts, place) + 1
        elif text == "(":
            if _names_function(texts, place, end):
                return _function(reader, index, place, end, scope, template)
            place = closing(texts, place) + 1
        elif text == "[":
            place = closing(texts, place) + 1
        elif reader.namespaces(text) is not None:
            return place
        else:
            place += 1
    return end


def _names_function(texts: list[str], opened: int, end: int) -> bool:
    """Whether the identifier before a parenthesis is the declared function."""
    name = texts[opened - 1] if opened else ""
    if not name.isidentifier() or name in _NOT_NAMES or name in _ATTRIBUTES:
        return False
    closed = closing(texts, opened)
    following = texts[closed + 1] if closed + 1 < end else ";"
    if following in _TRAILING or following == "__attribute__":
        return True
    return following.isidentifier() and (bool(_SHOUTED.fullmatch(following)) or not _SHOUTED.fullmatch(name))


def _function(reader: _Reader, index: int, opened: int, end: int, scope: _Scope, template: bool) -> int:
    texts = reader.texts
    name = texts[opened - 1]
    closed = closing(texts, opened)
    after = _after_function(texts, closed + 1, end)
    before = texts[index : opened - 1]
    if before[-1:] == ["::"] or before[-1:] == ["~"] or (scope.members and (not before or name == scope.names[-1])):
        return after
    static = not scope.members or "static" in texts[max(0, index - 6) : index] or "static" in before
    if static and before:
        result = " ".join(word for word in before if not _SHOUTED.fullmatch(word))
        prototype = Prototype(result, _parameters(texts[opened + 1 : closed]), template)
        reader.declare(scope, name, "function", overloads=[prototype])
    return after


def _after_function(texts: list[str], index: int, end: int) -> int:
    """Past `;` or the body; a constructor's initialisers are passed over."""
    while index < end:
        text = texts[index]
        if text == ";":
            return index + 1
        if text == "{":
            closed = closing(texts, index)
            if closed + 1 < end and texts[closed + 1] in (",", "{"):
                index = closed + 1
                continue
            return closed + 1
        index = closing(texts, index) + 1 if text in ("(", "[") else index + 1
    return end


def _variable(reader: _Reader, index: int, stop: int, scope: _Scope, template: bool) -> None:
    words = _without_attributes(reader.texts[index:stop])
    if scope.members and "static" not in reader.texts[max(0, index - 4) : index]:
        return
    if len(words) < 2 or "operator" in words or words[0] in _NOT_NAMES - _TYPE_WORDS:
        return
    for name in _names_in(words, single=True)[:1]:
        if "(" not in words or words[words.index("(") + 1 : words.index("(") + 2] == ["*"]:
            reader.declare(scope, name, "variable")


_DEFAULT_MACROS = frozenset({"__dv", "__dparm"})
_TYPE_WORDS = frozenset(
    "const volatile struct class union enum int char short long float double bool unsigned signed auto void".split()
)


def _parameters(words: list[str]) -> tuple[Parameter, ...]:
    parts = split(words)
    if [p for p in parts if p] == [["void"]]:
        return ()
    return tuple(_parameter(part) for part in parts if part)


def _parameter(words: list[str]) -> Parameter:
    words = _without_attributes(words)
    optional = "=" in words
    if optional:
        words = words[: words.index("=")]
    default = next((i for i, word in enumerate(words) if word in _DEFAULT_MACROS), 0)
    if default:
        return _parameter(words[:default])._replace(optional=True)
    if "(" in words:
        opened = words.index("(")
        inside = words[opened + 1 : closing(words, opened)]
        name = next((w for w in reversed(inside) if w.isidentifier() and not _SHOUTED.fullmatch(w)), "")
        return Parameter(" ".join(w for w in words if w != name), name, optional)
    array = ""
    if "[" in words:
        array = "*"
        words = words[: words.index("[")]
    name = ""
    if len(words) > 1 and words[-1].isidentifier() and words[-1] not in _NOT_NAMES and _is_name(words):
        name = words[-1]
        words = words[:-1]
    return Parameter(" ".join([*words, *([array] if array else [])]), name, optional)


def _is_name(words: list[str]) -> bool:
    """Whether the last word is the parameter's name and not the end of its type."""
    if words[-2] == "::":
        return False
    before = [w for w in words[:-1] if w not in ("const", "volatile", "struct", "enum", "union", "typename")]
    return bool(before)
