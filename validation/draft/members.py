"""A class that nothing defines, made of the members that a text asks for; none whose functions it calls."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HD = "__host__ __device__"
_AXES = ("x", "y", "z", "w")
_WHOLE = re.compile(r"int|idx|index|size|cell|grid|dim", re.IGNORECASE)
_COUNTS = re.compile(
    r"^(?:n|num|count|size|len|length|width|height|depth|rows?|cols?|stride|pitch|dim|idx|index|id|offset|begin|end|start|n[a-z]{1,2}|n[A-Z_]\w*|num\w*|\w*(?:[cC]ount|[sS]ize|[sS]tride|_n|[iI]dx|[iI]ndex|[oO]ffset))$"
)
_MOST = 24


@dataclass(frozen=True)
class Made:
    """A definition, empty where a plain number does, and what it is."""

    line: str = ""
    meaning: str = ""


def with_members(name: str, variables: frozenset[str], text: str) -> Made | None:
    """By the members of these variables; None where functions of theirs are called, or members of members."""
    asked: dict[str, set[str]] = {}
    for variable in variables:
        pattern = rf"(?<![\w.>]){variable}\s*(?:\[[^\];]*\]\s*)*(?:\.|->)\s*(\w+)\s*(\(|\.|->|\[|<)?"
        for member, after in re.findall(pattern, text):
            asked.setdefault(member, set()).add(after)
    if any(mark in after for after in asked.values() for mark in ("(", ".", "->", "<")) or len(asked) > _MOST:
        return None
    if re.search(rf"(?<![\w.>]){name}\s*::", text):
        return None
    if not asked:
        return Made()
    if set(asked) <= set(_AXES):
        return _vector(name, asked, variables, text)
    if re.search(rf"(?<![\w.>:]){name}\s*\(", text) or _is_computed_with(variables, text):
        return None
    line = f"struct {name} {{ {' '.join(_member(member, after, text) for member, after in sorted(asked.items()))} }};"
    return Made(line, f"a class with the members that are asked for: {line}")


def _member(member: str, after: set[str], text: str) -> str:
    kind = "int" if _COUNTS.match(member) or _is_place(member, text) else "float"
    return f"{kind} *{member};" if "[" in after else f"{kind} {member};"


def _is_place(member: str, text: str) -> bool:
    """Whether a member is used as a place in an array, or bounds a loop."""
    return (
        re.search(rf"\[[^\];]*(?:\.|->)\s*{member}\b[^\];]*\]|<=?\s*\w+\s*(?:\.|->)\s*{member}\b\s*[;)&|]", text)
        is not None
    )


def _is_computed_with(variables: frozenset[str], text: str) -> bool:
    word = "|".join(map(re.escape, sorted(variables)))
    return (
        re.search(
            rf"[-+*/]=?\s*(?:{word})\b(?!\s*(?:\.|->|\[|\())|(?<![\w.>])(?:{word})\s*(?:[-+*/](?!\*)=?)\s*[\w(]", text
        )
        is not None
    )


def _vector(name: str, asked: dict[str, set[str]], variables: frozenset[str], text: str) -> Made | None:
    """Members x to w: CUDA's own vector, or a class that is added up and scaled where the text does so."""
    count = max(_AXES.index(axis) for axis in asked) + 1
    count = max(2, int(re.sub(r"\D", "", name)[-1:] or count) if re.search(r"[234]", name) else count)
    kind = (
        "double"
        if name.endswith("d") and "3d" not in name.lower()
        else "int"
        if _WHOLE.search(name) or name.endswith("i")
        else "float"
    )
    if count > len(_AXES) or any("[" in after for after in asked.values()):
        return None
    made_by_call = re.search(rf"(?<![\w.>:]){name}\s*\(", text) is not None
    if not made_by_call and not _is_computed_with(variables, text):
        return Made(f"typedef {kind}{count} {name};", f"{kind}{count}")
    line = _class_of(name, kind, _AXES[:count])
    return Made(line, f"a vector of {count} {kind}, with sums, differences and multiples")


def _class_of(name: str, kind: str, axes: tuple[str, ...]) -> str:
    def each(pattern: str) -> str:
        return ", ".join(pattern.format(a=axis) for axis in axes)

    parts = [
        f"struct {name} {{ {kind} {', '.join(axes)}; {name}() = default;",
        f"{_HD} {name}({each(f'{kind} {{a}}_')}) : {each('{a}({a}_)')} {{}}",
        f"{_HD} explicit {name}({kind} s) : {each('{a}(s)')} {{}}",
        *(
            f"{_HD} {name} operator{sign}(const {name} &o) const {{ return {name}({each(f'{{a}} {sign} o.{{a}}')}); }}"
            for sign in "+-*"
        ),
        f"{_HD} {name} operator-() const {{ return {name}({each('-{a}')}); }}",
        *(
            f"{_HD} {name} operator{sign}({kind} s) const {{ return {name}({each(f'{{a}} {sign} s')}); }}"
            for sign in "*/"
        ),
        *(
            f"{_HD} {name} &operator{sign}=(const {name} &o) "
            f"{{ {' '.join(f'{a} {sign}= o.{a};' for a in axes)} return *this; }}"
            for sign in "+-"
        ),
        *(
            f"{_HD} {name} &operator{sign}=({kind} s) {{ {' '.join(f'{a} {sign}= s;' for a in axes)} return *this; }}"
            for sign in "*/"
        ),
        f"friend {_HD} {name} operator*({kind} s, const {name} &o) {{ return o * s; }} }};",
    ]
    return " ".join(parts)
