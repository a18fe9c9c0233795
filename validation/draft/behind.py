"""Arrays that pointers in memory lead to: those of arrays of structures, of variables, and of structs by value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from porter.validation.cases.argument_rows import TODO
from porter.validation.draft.declarations import matching
from porter.validation.draft.expression import Value, number
from porter.validation.draft.host import Host
from porter.validation.draft.lines import Line
from porter.validation.draft.structures import Structure, elements_behind, is_mentioned, record_with, structure
from porter.validation.draft.types import Element, bare, elements_of, structure_of

_DEEPEST = 3
_FEW, _MOST = 4, 24
"""Null members that are named one by one; arrays behind pointers."""
MANY = 4
"""Pointers of a class: of more, those that a kernel does not mention are null; of few, functions may hide the names."""
ROW = "row"
"""The name of what a pointer in an array of pointers leads to."""


def as_pointer(host: Host, kind: str) -> str:
    """`node_t` as `struct node*`, where a typedef makes it a pointer; else the type as written."""
    word = bare(kind)
    if not re.fullmatch(r"[A-Za-z_]\w*", word) or not re.search(rf"\b{word}\b\s*(?:;|=|,)", host.text):
        return kind
    patterns = (
        rf"\btypedef\s+(?P<of>(?:(?:struct|class|const|unsigned)\s+)*[\w:]+(?:\s+const)?)\s*"
        rf"(?P<stars>\*[\s*]*)(?:__restrict__\s*|__restrict\s*)?{word}\s*;",
        rf"\busing\s+{word}\s*=\s*(?P<of>[\w:<>, ]+?)\s*(?P<stars>\*[\s*]*)(?:__restrict__\s*)?;",
        rf"\}}\s*(?P<of>\w+)\s*,\s*(?P<stars>\*[\s*]*){word}\s*;",
    )
    tagged = _tag_of(host.text, word)
    if tagged is not None:
        return re.sub(rf"\b{word}\b", f"{tagged}*", kind.replace("const", "").strip())
    found = next((match for pattern in patterns if (match := re.search(pattern, host.text)) is not None), None)
    if found is None:
        return kind
    return re.sub(rf"\b{word}\b", f"{found['of']}{'*' * found['stars'].count('*')}", kind.replace("const", "").strip())


def _tag_of(text: str, word: str) -> str | None:
    """The structure that `typedef struct tag { ... } *word;` names besides."""
    if not re.search(rf"\}}\s*\*\s*{word}\s*;", text):
        return None
    for match in re.finditer(r"\btypedef\s+struct\s+(\w+)\s*(?=\{)", text):
        end = matching(text, match.end())
        if end is not None and re.match(rf"\s*\*\s*{word}\s*;", text[end:]):
            return match[1]
    return None


@dataclass(frozen=True)
class Behind:
    """Where pointers are followed from."""

    host: Host
    template: Mapping[str, str]
    notes: list[str]
    body: str = ""
    """Of the kernel and what it calls: members that it does not mention are null."""
    made: list[str] = field(default_factory=list)
    """The arrays so far."""

    def array(
        self, name: str, pointed: str, seen: tuple[str, ...] = (), side: Value | str = TODO, kind: str = ""
    ) -> tuple[Line, ...]:
        """The array that a pointer to this leads to, then those that its elements point to."""
        self.made.append(name)
        kind = kind or ("in" if re.match(r"\s*const\b|[^*]*\bconst\s*\*?$", pointed) else "inout")
        if "*" in pointed:
            inside = pointed.rpartition("*")[0].strip()
            return (
                Line(name, "in", f"(address {ROW})", sides=(side,)),
                *self.array(f"{name}_{ROW}", inside, seen),
            )
        made = structure(self.host, pointed, self.template)
        if made is not None and made.has_pointers:
            return self.structures(name, kind, made, (*seen, bare(pointed)), side)
        found: Element | str | None = elements_of(self.host, pointed)
        found = found or structure_of(self.host, pointed) or elements_behind(self.host, pointed, self.template)
        if found is None:
            self.notes.append(f"{name}: taken to point to bytes")
            found = Element("uint8")
        if isinstance(found, str):
            return (Line(name, kind, found, sides=(side,), values=" = integers(0, 100)"),)
        sides = (side, number(found.lanes)) if found.lanes > 1 else (side,)
        return (Line(name, kind, found.dtype, sides=sides),)

    def structures(
        self, name: str, kind: str, made: Structure, seen: tuple[str, ...], side: Value | str
    ) -> tuple[Line, ...]:
        """An array of classes with pointers, and an array for each of these; those that lead back are null."""
        pointers = [part for part in made.parts if part.element is None]
        null = [
            part.name
            for part in pointers
            if bare(self.host.plain_type(bare(part.pointed))) in seen
            or len(seen) > _DEEPEST
            or len(self.made) > _MOST
            or (self.body and len(pointers) > MANY and not is_mentioned(part, self.body))
        ]
        unsaid = f"{name}: {len(null)} pointers taken to be null, {null[0]} the first" if null else ""
        self.notes.extend([unsaid] if len(null) > _FEW else [f"{name}.{part}: taken to be null" for part in null])
        behind = [
            line
            for part in pointers
            if part.name not in null
            for line in self.array(f"{name}_{part.name}", part.pointed, seen)
        ]
        own = Line(name, kind, record_with(made, null), sides=(side,), values=" = integers(0, 100)")
        return (own, *behind)
