"""Types of parameters that need no compiler: built-in ones, CUDA's vectors, template parameters, pointers to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import replace

from porter.cpp.brackets import words
from porter.model import Kernel, Parameter

_TOKEN = re.compile(r"\w+|[*&]|\S")
_CONST, _VOLATILE = frozenset({"const"}), frozenset({"volatile"})
_RESTRICT = frozenset({"__restrict__", "__restrict", "restrict"})
_WORDS = words("void bool char short int long float double signed unsigned")
_ALIASES = {
    "size_t": "unsigned long",
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "half": "__half",
    "half2": "__half2",
}
_PARTS = ("char", "short", "int", "long", "longlong")
VECTORS = frozenset(
    f"{part}{count}" for part in (*_PARTS, *map("u{}".format, _PARTS), "float", "double") for count in "1234"
)
"""CUDA's vector types."""
_VECTOR = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)[1234]|__half2?|__nv_bfloat16(?:2)?")
_INTEGERS = {
    ("char",): "char",
    ("char", "signed"): "signed char",
    ("char", "unsigned"): "unsigned char",
    ("short",): "short",
    ("short", "signed"): "short",
    ("short", "unsigned"): "unsigned short",
    ("signed",): "int",
    (): "int",
    ("unsigned",): "unsigned int",
    ("long",): "long",
    ("long", "signed"): "long",
    ("long", "unsigned"): "unsigned long",
    ("long", "long"): "long long",
    ("long", "long", "signed"): "long long",
    ("long", "long", "unsigned"): "unsigned long long",
}


def typed_kernels(kernels: Iterable[Kernel], project: Container[str]) -> tuple[Kernel, ...] | None:
    """The kernels with the types that clang would give them; None when one needs clang.

    `project` are names that the project declares itself: those are not taken for CUDA's.
    """
    found: list[Kernel] = []
    for kernel in kernels:
        templates = frozenset(text.split()[-1].lstrip(".") for text in kernel.template_parameters if text.split())
        types = [plain_type(p.type, templates, project) for p in kernel.parameters]
        if "##" in kernel.name or None in types:
            return None
        pairs = zip(kernel.parameters, types, strict=True)
        found.append(replace(kernel, parameters=tuple(Parameter(p.name, t or "") for p, t in pairs), typed=True))
    return tuple(found)


def plain_type(text: str, templates: Container[str] = (), project: Container[str] = ()) -> str | None:
    """A type without typedefs and outer qualifiers, spelled as clang does; None when that takes more than its words.

    What depends on a template parameter is spelled as written.
    """
    tokens = _TOKEN.findall(text)
    star = next((place for place, token in enumerate(tokens) if not token.isidentifier()), len(tokens))
    if any(token != "*" and token not in _CONST | _VOLATILE | _RESTRICT for token in tokens[star:]):
        return None
    base = [token for token in tokens[:star] if token not in _CONST | _VOLATILE]
    dependent = len(base) == 1 and base[0] in templates
    name = base[0] if dependent else _base(base, project)
    if name is None or (name == "void" and "*" not in tokens):
        return None
    front = "".join(f"{word} " for word in ("const", "volatile") if word in tokens[:star])
    levels = _levels(tokens[star:])
    if not levels:
        return f"{front}{name}" if dependent else name
    if not dependent:
        levels[-1] = ""
    stars = "".join(
        "*" + (level if place == len(levels) - 1 or not level else level + " ") for place, level in enumerate(levels)
    )
    return f"{front}{name} {stars}"


def _base(base: list[str], project: Container[str]) -> str | None:
    if len(base) == 1 and (base[0] in _ALIASES or _VECTOR.fullmatch(base[0])):
        return None if base[0] in project else _ALIASES.get(base[0], base[0])
    if not base or not _WORDS.issuperset(base):
        return None
    if len(base) == 1 and base[0] in ("void", "bool", "float", "double"):
        return base[0]
    count = Counter(base)
    if count["int"] > 1:
        return None
    return _INTEGERS.get(tuple(sorted(word for word in base if word != "int" or "char" in count)))


def _levels(tokens: list[str]) -> list[str]:
    """What qualifies each pointer, in clang's order."""
    levels: list[set[str]] = []
    for token in tokens:
        if token == "*":
            levels.append(set())
        else:
            levels[-1].add("__restrict" if token in _RESTRICT else token)
    return [" ".join(word for word in ("const", "volatile", "__restrict") if word in level) for level in levels]
