"""Variables that a kernel uses and the host sets: `__constant__` ones, and pointers that are `__device__`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from porter.validation.cases.argument_rows import TODO
from porter.validation.cases.case import NUMPY_TYPES, PRINTED
from porter.validation.draft.behind import Behind
from porter.validation.draft.expression import Unknown, Value, number, split_arguments
from porter.validation.draft.host import Host
from porter.validation.draft.lines import Line
from porter.validation.draft.structures import Structure, record_of, structure
from porter.validation.draft.types import bare, elements_of

_DECLARED = re.compile(
    r"__(?P<space>constant|device)__\s(?P<rest>[^;(){}=]+)(?P<initial>=\s*(?:NULL|nullptr|0|\{[NULptr0,\s]*\})\s*)?;"
)
_KIND = re.compile(r"(?:__device__|__constant__)?(?:(?!__)[\w:<>, ])+")
_DECLARATOR = re.compile(
    r"(?P<stars>(?:\*\s*)*)(?:(?:const|__restrict__|__restrict)\b\s*)*(?P<name>\w+)\s*(?P<sides>(?:\[[^\]]*\]\s*)*)"
)
_VARIABLE = re.compile(
    r"__device__\s+((?:(?:volatile|unsigned|static|long|struct)\s+)*(?!__|inline|constexpr|const\b)[\w:]+)\s+(\w+)\s*"
    r"(?:\[[^\]]*\]\s*)*(?:=[^;()]*)?;"
)
_SET = (
    r"\b{name}\b\s*(?:\[[^;=]*\]\s*)*(?:\.\w+\s*)?(?:[-+*/|&^]?=(?!=)|\+\+|--)"
    r"|\batomic\w+\s*\(\s*&?\s*{name}\b|(?:\+\+|--){name}\b"
)
_TEMPLATE = re.compile(r"\btemplate\s*<([^<>]+)>\s*(?:static\s+)?$")
_FAR = 400
_QUALIFIERS = re.compile(r"\b(?:__device__|__constant__|static|extern|volatile)\b")


def constants_of(
    host: Host, body: str, notes: list[str], template: Mapping[str, str], *, alone: bool = False
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """A line for each, and the arrays that they point to; `template` has the kernel's template arguments.

    Where a kernel stands `alone`, without a launch, so have `__device__` variables that it reads and nothing writes.
    """
    made: list[Line] = []
    behind: list[Line] = []
    for kind, stars, name, sides, position in _declared(host, body, alone=alone):
        instance = _instance(host, kind, name, position, body, template)
        if instance is None:
            continue
        kind, name = instance
        if name not in [line.name for line in made]:
            own, *rest = _lines(host, kind, stars, name, _sides(host, sides, position), notes)
            made.append(own)
            behind += rest
    return tuple(made), tuple(behind)


def _instance(
    host: Host, kind: str, name: str, position: int, body: str, template: Mapping[str, str]
) -> tuple[str, str] | None:
    """Type and name of a variable; those of a template as the kernel uses it, None where that is not told."""
    made = _TEMPLATE.search(host.text[max(0, position - _FAR) : position])
    if made is None:
        return kind, name
    use = re.search(rf"\b{name}\s*<([^<>;{{}}]*)>", body)
    if use is None:
        return None
    given = [template.get(one.strip(), one.strip()) for one in split_arguments(use[1])]
    words = [re.findall(r"\w+", parameter.partition("=")[0])[-1] for parameter in split_arguments(made[1])]
    known = dict(zip(words, given, strict=False))
    return re.sub(r"\w+", lambda match: known.get(match[0], match[0]), kind), f"{name}<{', '.join(given)}>"


def _is_left(host: Host, match: re.Match[str], name: str) -> bool:
    """Whether nothing in sight writes to a `__device__` variable, or takes its address: the host's code does."""
    if match["initial"] or re.search(r"\b(?:volatile|shared|managed)\b", match[0]):
        return False
    return not re.search(_SET.format(name=name) + rf"|&\s*{name}\b", host.text)


def _declared(host: Host, body: str, *, alone: bool) -> Iterator[tuple[str, int, str, str, int]]:
    """Type, stars, name, sides and place of those that the kernel and something else name."""
    for match in _DECLARED.finditer(host.text):
        written, rest = _parted(match["rest"].strip())
        if _KIND.fullmatch(written) is None:
            continue
        for part in split_arguments(rest):
            one = _DECLARATOR.fullmatch(part.strip())
            if one is None or (not one["stars"] and match["space"] == "constant" and match["initial"]):
                continue
            if not one["stars"] and match["space"] == "device" and not (alone and _is_left(host, match, one["name"])):
                continue
            elsewhere = host.text[: match.start()] + host.text[match.end() :]
            if all(re.search(rf"\b{one['name']}\b", text) for text in (elsewhere, body)):
                kind = " ".join(_QUALIFIERS.sub(" ", written).split())
                yield kind, one["stars"].count("*"), one["name"], one["sides"], match.start()


def _parted(declaration: str) -> tuple[str, str]:
    """The type of a declaration, and its variables: `const float`, `*a, b[3]`."""
    depth, end = 0, len(declaration)
    for at, mark in enumerate(declaration):
        depth += (mark == "<") - (mark == ">")
        if depth == 0 and mark in "*[,":
            end = at
            break
    if declaration[end : end + 1] == "*":
        return declaration[:end].strip(), declaration[end:]
    words = declaration[:end].split()
    return " ".join(words[:-1]), " ".join(words[-1:]) + declaration[end:]


def _sides(host: Host, sides: str, position: int) -> tuple[Value | str, ...]:
    found: list[Value | str] = []
    for side in re.findall(r"\[([^\]]*)\]", sides):
        try:
            found.append(host.value(side, position))
        except Unknown:
            found.append(TODO)
    return tuple(found)


def _lines(
    host: Host, kind: str, stars: int, name: str, sides: tuple[Value | str, ...], notes: list[str]
) -> tuple[Line, ...]:
    behind = Behind(host, {}, notes)
    if stars:
        own, *rest = behind.array(name, kind + "*" * stars)
        return (Line(name, own.kind, own.dtype, sides=sides or (number(1),)), *rest)
    plain = host.plain_type(kind)
    element = elements_of(host, plain)
    if element is not None:
        inner = (number(element.lanes),) if element.lanes > 1 else ()
        return (Line(name, "in", element.dtype, sides=(*(sides or (number(1),)), *inner)),)
    made: Structure | None = structure(host, plain, {})
    if made is not None and made.has_pointers and len(sides) < 2:
        own, *rest = behind.structures(name, "in", made, (bare(plain),), (sides or (number(1),))[0])
        return (own, *rest)
    record = record_of(made) if made else None
    return (Line(name, "in", record or f"{TODO}({plain})", sides=sides or (number(1),)),)


def observed(host: Host, body: str) -> tuple[str, ...]:
    """What a kernel that writes to no argument can be judged by: the text it prints, variables that it sets."""
    found = [PRINTED] if re.search(r"\bprintf\s*\(", body) else []
    for kind, name in _VARIABLE.findall(host.text):
        element = elements_of(host, _QUALIFIERS.sub(" ", kind))
        if element is not None and element.dtype in NUMPY_TYPES and re.search(_SET.format(name=name), body):
            found.append(f"{name}: {element.dtype}")
    return tuple(dict.fromkeys(found))
