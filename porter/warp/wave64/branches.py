"""What a project's own branches for AMD define, here or in headers: warp sizes of 64, macros for lane operations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from porter.cpp.constants import Constants, looks_like_warp_size, number
from porter.cpp.kept_tokens import tokens_of
from porter.cpp.nodes import Node, unwrapped
from porter.cpp.statements import parse_expression
from porter.engine.dialect import Dialects, dialects_of
from porter.engine.unit import Unit
from porter.warp.bodies import bodies_of
from porter.warp.collectives import Collective, argument, collective
from porter.warp.wave64.names import SIZES, WHOLE

_KNOWS_AMD = re.compile(r"HIP|ROC|AMD|gfx\d|GFX\d")
_OF_OPERATIONS, _OF_SIZES = ("shfl", "shuffle", "ballot", "activemask"), ("warp", "wave", "lanes")
_PARTS = _OF_OPERATIONS + _OF_SIZES
_PART = re.compile("|".join(_PARTS))
_OPERATION, _SIZE = (
    re.compile(rf"\w*(?:{'|'.join(parts)})\w*", re.IGNORECASE) for parts in (_OF_OPERATIONS, _OF_SIZES)
)
_SIZES = SIZES | {"HIPCUB_WARP_THREADS", "HIPCUB_DEVICE_WARP_THREADS", "C10_WARP_SIZE"}
_KINDS = frozenset({"shuffle", "ballot", "active"})


@dataclass(frozen=True)
class Branches:
    """What the lines for AMD give the names of a file."""

    sizes: frozenset[str]
    """Constants and macros that are the size of a wavefront of 64 lanes."""
    operations: Mapping[str, Collective]
    """Function-like macros that are one operation between lanes and nothing else."""


def branches(unit: Unit) -> Branches:
    """Read once for a unit."""
    memo = bodies_of(unit).memo
    if "wave64 branches" not in memo:
        memo["wave64 branches"] = _read(unit)
    return cast(Branches, memo["wave64 branches"])


def _read(unit: Unit) -> Branches:
    words = unit.tokens.names_in_lower_case
    if not any(part in words for part in _PARTS):
        return Branches(frozenset(), {})
    used = [name for name, word in zip(unit.tokens.names, words.split("\n"), strict=True) if _PART.search(word)]
    sizes = {name for name in used if _SIZE.fullmatch(name) and looks_like_warp_size(name) and name not in _SIZES}
    operations = {name for name in used if _OPERATION.fullmatch(name) and not name.startswith("__")}
    found: dict[str, set[bool]] = {}
    macros: dict[str, list[Collective | None]] = {}
    for constants, dialects in _files(unit, sizes | operations):
        for name in sizes:
            for place, whole in _sizes(constants, name):
                if dialects.is_for_64(place):
                    found.setdefault(name, set()).add(whole)
        for name in operations:
            for place, one in _operations(constants, name):
                if dialects.is_for_64(place):
                    macros.setdefault(name, []).append(one)
    return Branches(
        frozenset(name for name, whole in found.items() if whole == {True}),
        {name: one[0] for name, one in macros.items() if len(one) == 1 and one[0] is not None},
    )


def _files(unit: Unit, names: set[str]) -> Iterator[tuple[Constants, Dialects]]:
    """The file, and the headers that may define one of some names for AMD."""
    if not names:
        return
    if unit.dialects.has_hip:
        yield Constants(unit.tokens), unit.dialects
    defined = re.compile(r"\b(?:" + "|".join(sorted(names)) + r")\b")
    for header in unit.program.headers:
        text = header.text
        if header.matches(_KNOWS_AMD) and any(name in text for name in names) and defined.search(text):
            dialects = dialects_of(header)
            if dialects.has_hip:
                yield Constants(tokens_of(header)), dialects


def _sizes(constants: Constants, name: str) -> Iterator[tuple[int, bool]]:
    """Where a name is defined, and whether it is the size of a whole wavefront there."""
    tokens = constants.tokens
    for one in constants.definitions(name):
        words = [text for text in tokens.texts[one.first : one.last] if text not in ("(", ")")]
        whole = len(words) == 1 and (words[0] in _SIZES or number(words[0]) == WHOLE)
        yield tokens.starts[one.place], whole


def _operations(constants: Constants, name: str) -> Iterator[tuple[int, Collective | None]]:
    """Where a macro is defined, and the operation that it is there; its arguments are those of the macro."""
    tokens = constants.tokens
    for macro in constants.macros.get(name, ()):
        if macro.parameters is None or macro.first >= macro.last:
            continue
        call = unwrapped(parse_expression(tokens, macro.first, macro.last))
        one = collective(call)
        made = _through(name, call, one, macro.parameters) if one is not None and one.kind in _KINDS else None
        yield tokens.starts[macro.place], made


def _through(name: str, call: Node, one: Collective, parameters: tuple[str, ...]) -> Collective | None:
    """An operation with the arguments of the macro that stands for it; None where they are more than passed on."""
    places: dict[str, int | None] = {}
    for role in ("value", "lane", "width"):
        given = argument(call, getattr(one, role))
        if given is None:
            places[role] = None
            continue
        inner = unwrapped(given)
        if inner.kind != "name" or inner.text not in parameters:
            return None
        places[role] = parameters.index(inner.text)
    return Collective(name, one.kind, None, places["value"], places["lane"], places["width"], one.uniform)
