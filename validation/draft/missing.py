"""What a compiler misses of a drafted case: values, features and stand-ins, each with a comment in the case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from porter.validation.devices.device import CUT_OUT
from porter.validation.draft.completing import KEY, with_lines
from porter.validation.draft.init import DraftedCase
from porter.validation.draft.stand_ins import StandIn, stand_ins

_UNDEFINED = re.compile(r'identifier "(\w+(?:::\w+)*)" is undefined')
_NO_MEMBER = re.compile(r'namespace "([\w:]+)" has no member "(\w+)"')
_AT_CARET = re.compile(
    r'error: (?:name followed by "::" must be a class or namespace name|name must be a namespace name'
    r"|this declaration has no storage class or type specifier|explicit type is missing[^\n]*)\n"
    r"(?P<line>[^\n]*)\n(?P<before>\s*)\^"
)
_MACRO = re.compile(r"[A-Z][A-Z0-9_]+")
_MOST = 24
_WORD = re.compile(r"[A-Za-z_]\w*")


def unknown_names(said: str) -> tuple[str, ...]:
    """What a compiler says that nothing defines, in the kernel alone where it was cut out of its file."""
    alone = said.rpartition(CUT_OUT)[2]
    found = [*_UNDEFINED.findall(alone), *("::".join(pair) for pair in _NO_MEMBER.findall(alone))]
    for match in _AT_CARET.finditer(alone):
        word = _WORD.match(match["line"], len(match["before"]))
        found += [word[0]] if word else []
    return tuple(dict.fromkeys(found))[:_MOST]


def completed(part: DraftedCase, said: str) -> DraftedCase | None:
    """The case with stand-ins for what a compiler misses; None where there are none that are new."""
    if part.text_alone is None:
        return None
    names = [name for name in unknown_names(said) if not has_stand_in(part.after, name)]
    given = {name: value for name in names if part.told is not None and (value := part.told(name)) is not None}
    made = [
        StandIn(name, f"#define {name} {one.value}", f"{one.value}, as in {one.file}") for name, one in given.items()
    ]
    others = stand_ins([name for name in names if name not in given], part.text_alone()) if names else ()
    told = frozenset((*_UNDEFINED.findall(said), *("::".join(pair) for pair in _NO_MEMBER.findall(said))))
    made += [one for one in others if one.name in told or one.line.startswith(("#define", "namespace", "enum"))]
    return (
        replace(part, after=with_lines(part.after, made), notes=(*part.notes, *(one.note for one in made)))
        if made
        else None
    )


def constants_among(part: DraftedCase, names: Iterable[str]) -> tuple[str, ...]:
    """Macros that headers of the project may ask for as numbers or types: none that is called."""
    text = part.text_alone() if part.text_alone is not None else ""
    plain = (name for name in names if _MACRO.fullmatch(name) and not has_stand_in(part.after, name))
    return tuple(name for name in plain if re.search(rf"\b{name}\s*\(", text) is None)


def switched_on(part: DraftedCase, names: Iterable[str]) -> tuple[str, ...]:
    """Macros that nothing defines, and without which what defines these names is left out."""
    found = (guard for name in names if part.guards_of is not None for guard in part.guards_of(name))
    return tuple(dict.fromkeys(found))


def has_stand_in(lines: Sequence[str], name: str) -> bool:
    """Whether a case's lines have one for a name."""
    line = next((line for line in lines if line.startswith(KEY)), "")
    return (
        re.search(
            rf"(?:\b(?:typedef\s[^;']*|struct|class|namespace|define|int|float)\s+){name.rpartition('::')[2]}\b", line
        )
        is not None
    )
