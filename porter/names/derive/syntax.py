"""The grammar of declarations as far as headers need it: names, parameters, and where a statement ends."""

from __future__ import annotations

import re

from porter.names.derive.declarations import Parameter, Prototype
from porter.names.derive.tokens import closing, closing_angle, split

ATTRIBUTES = frozenset(
    [
        "__attribute__",
        "__declspec",
        "alignas",
        "__align__",
        "__launch_bounds__",
        "noexcept",
        "decltype",
        "explicit",
        "throw",
        "requires",
        "asm",
        "__asm__",
        "_Alignas",
        "__builtin_align__",
        "enable_if",
        "__nv_pure__",
        "static_assert",
        "deprecated",
    ]
)


NOT_NAMES = frozenset(
    [
        "if",
        "for",
        "while",
        "switch",
        "return",
        "sizeof",
        "case",
        "else",
        "do",
        "const",
        "volatile",
        "static",
        "inline",
        "extern",
        "struct",
        "class",
        "union",
        "enum",
        "void",
        "int",
        "char",
        "short",
        "long",
        "float",
        "double",
        "bool",
        "unsigned",
        "signed",
        "auto",
        "typename",
        "template",
        "constexpr",
        "operator",
        "friend",
        "public",
        "private",
        "protected",
        "using",
        "namespace",
        "typedef",
        "virtual",
        "mutable",
        "register",
        "goto",
        "throw",
        "new",
        "delete",
        "default",
        "final",
        "override",
    ]
)


TRAILING = frozenset(
    {"const", "volatile", "noexcept", "override", "final", "&", "&&", "->", "=", ":", "{", ";", "requires"}
)


SHOUTED = re.compile(
    r"_{0,2}[A-Z][A-Z0-9_]{2,}_{0,2}|_CCCL\w*|_LIBCUDACXX\w*|__\w+__|_VSTD|__forceinline|__cdecl|__stdcall"
)

_DEFAULT_MACROS = frozenset({"__dv", "__dparm"})


TYPE_WORDS = frozenset(
    {"const", "volatile", "struct", "class", "union", "enum", "int", "char", "short", "long", "float", "double"}
    | {"bool", "unsigned", "signed", "auto", "void"}
)


def is_declarator(texts: list[str], index: int, end: int) -> bool:
    """Whether `NAME(...)` is what a statement declares rather than a macro in front of it."""
    closed = closing(texts, index + 1)
    return closed + 1 < end and texts[closed + 1] in TRAILING


def skip_statement(texts: list[str], index: int, end: int) -> int:
    """Index after the statement that starts at `index`: past its `;` or its body."""
    while index < end:
        text = texts[index]
        if text == ";":
            return index + 1
        if text == "{":
            return closing(texts, index) + 1
        index = closing(texts, index) + 1 if text in ("(", "[") else index + 1
    return end


def tag_place(texts: list[str], place: int) -> int:
    """Index of a type's tag: attributes before it are passed over."""
    while texts[place] in ATTRIBUTES or (
        SHOUTED.fullmatch(texts[place]) and (texts[place + 1] == "(" or texts[place + 1].isidentifier())
    ):
        place = closing(texts, place + 1) + 1 if texts[place + 1] == "(" else place + 1
    return place


def skip_declaration(texts: list[str], index: int, end: int) -> int:
    """Index after the `;` that ends a declaration with or without a body."""
    while index < end and texts[index] != ";":
        index = closing(texts, index) + 1 if texts[index] in ("(", "[", "{") else index + 1
    return index + 1


def declared_names(words: list[str], single: bool) -> list[str]:
    """Names that `int *a, b[3], (*f)(int)` declares; with `single`, words before the last are its type."""
    names = []
    for part in split(words):
        part = [word for word in without_attributes(part) if "DEPRECATED" not in word]
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
            name = next((w for w in reversed(part[:cut]) if w.isidentifier() and w not in NOT_NAMES), "")
        if name:
            names.append(name)
    return names


def without_attributes(words: list[str]) -> list[str]:
    """Words without `__attribute__((...))` and the like."""
    kept: list[str] = []
    place = 0
    while place < len(words):
        if words[place] in ATTRIBUTES and place + 1 < len(words) and words[place + 1] == "(":
            place = closing(words, place + 1) + 1
        else:
            kept.append(words[place])
            place += 1
    return kept


def without_word(words: list[str], name: str) -> list[str]:
    """Words without one name."""
    return [word for word in words if word != name]


def function_type(words: list[str]) -> Prototype | None:
    """Prototype of `R (*name)(parameters)`."""
    opened = [i for i, word in enumerate(words) if word == "("]
    if not opened:
        return None
    closed = closing(words, opened[0])
    if closed + 1 < len(words) and words[closed + 1] == "(":
        inside = words[closed + 2 : closing(words, closed + 1)]
        return Prototype(" ".join(words[: opened[0]]), parameters(inside))
    return None


def is_record(texts: list[str], index: int, end: int) -> bool:
    """Whether `struct X` here defines or announces a type, rather than being the type of a function or variable."""
    place = tag_place(texts, index + 1)
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


def is_field(words: list[str]) -> bool:
    """Whether a member declares data (a pointer to a function included) and not a function or a type."""
    if not words or words[0] in ("using", "friend", "typedef", "static", "~", "template") or "operator" in words:
        return False
    return "(" not in words or words[words.index("(") + 1] == "*"


def names_function(texts: list[str], opened: int, end: int) -> bool:
    """Whether the identifier before a parenthesis is the declared function."""
    name = texts[opened - 1] if opened else ""
    if "DEPRECATED" in name:
        return False
    if not name.isidentifier() or name in NOT_NAMES or name in ATTRIBUTES:
        return False
    closed = closing(texts, opened)
    following = texts[closed + 1] if closed + 1 < end else ";"
    if following in TRAILING or following == "__attribute__":
        return True
    return following.isidentifier() and (bool(SHOUTED.fullmatch(following)) or not SHOUTED.fullmatch(name))


def after_function(texts: list[str], index: int, end: int) -> int:
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


def parameters(words: list[str]) -> tuple[Parameter, ...]:
    """The parameters between two parentheses."""
    parts = split(words)
    if [p for p in parts if p] == [["void"]]:
        return ()
    return tuple(_parameter(part) for part in parts if part)


def _parameter(words: list[str]) -> Parameter:
    words = without_attributes(words)
    optional = "=" in words
    if optional:
        words = words[: words.index("=")]
    default = next((i for i, word in enumerate(words) if word in _DEFAULT_MACROS), 0)
    if default:
        return _parameter(words[:default])._replace(optional=True)
    if "(" in words:
        opened = words.index("(")
        inside = words[opened + 1 : closing(words, opened)]
        name = next((w for w in reversed(inside) if w.isidentifier() and not SHOUTED.fullmatch(w)), "")
        return Parameter(" ".join(w for w in words if w != name), name, optional)
    array = ""
    if "[" in words:
        array = "*"
        words = words[: words.index("[")]
    name = ""
    if len(words) > 1 and words[-1].isidentifier() and words[-1] not in NOT_NAMES and _is_name(words):
        name = words[-1]
        words = words[:-1]
    return Parameter(" ".join([*words, *([array] if array else [])]), name, optional)


def _is_name(words: list[str]) -> bool:
    """Whether the last word is the parameter's name and not the end of its type."""
    if words[-2] == "::":
        return False
    before = [w for w in words[:-1] if w not in ("const", "volatile", "struct", "enum", "union", "typename")]
    return bool(before)
