"""Conditions of the preprocessor around a kernel: features of a project that its build switches on."""

from __future__ import annotations

import re

from porter.validation.draft.host import Host

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)", re.MULTILINE)
_DEFINED = re.compile(r"\bdefined\s*\(?\s*(\w+)\s*\)?")
_EQUAL = re.compile(r"\s*\(?\s*([A-Za-z]\w*)\s*==\s*(\d+)\s*\)?\s*")
_PLAIN = re.compile(r"\s*([A-Za-z]\w*)\s*")


def guards_of(host: Host, position: int) -> tuple[str, ...]:
    """The macros that have to be defined for a place to be compiled, and that nothing in the text defines."""
    around: list[tuple[str, ...]] = []
    for match in _DIRECTIVE.finditer(host.text, 0, position):
        word, rest = match[1], match[2]
        if word == "endif" and around:
            around.pop()
        elif word in ("elif", "else") and around:
            around[-1] = _asked(rest) if word == "elif" else ()
        elif word in ("if", "ifdef", "ifndef"):
            around.append(tuple(re.findall(r"\w+", rest)[:1]) if word == "ifdef" else _asked(rest, word))
    names = dict.fromkeys(name for one in around for name in one)
    return tuple(name for name in names if not name.startswith("__") and not _is_defined(host, name.partition("=")[0]))


def _is_defined(host: Host, name: str) -> bool:
    made = rf"^[ \t]*#[ \t]*define[ \t]+{name}\b"
    return name in host.macros or re.search(made, host.text, re.MULTILINE) is not None


def _asked(condition: str, word: str = "if") -> tuple[str, ...]:
    """`defined(A) && defined(B)`, `A`, `A == 2`: what makes it true; nothing where it is more than that."""
    if word == "ifndef" or "!" in condition or "||" in condition:
        return ()
    if (equal := _EQUAL.fullmatch(condition)) is not None:
        return (f"{equal[1]}={equal[2]}",)
    plain = _PLAIN.fullmatch(condition)
    return (plain[1],) if plain else tuple(_DEFINED.findall(condition))
