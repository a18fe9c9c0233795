"""Takes `volatile` off pointer parameters whose every exchange has a barrier."""

from __future__ import annotations

from porter.cpp.lex import IDENTIFIER
from porter.engine.unit import Unit
from porter.model import Edit
from porter.warp.bodies import bodies_in_sight
from porter.warp.flow.lockstep import Gap, Lockstep
from porter.warp.function import Function

_PREFIX = "porter_"
_SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".hip")


def plain_pointers(
    unit: Unit, function: Function, walk: Lockstep, gaps: tuple[Gap, ...]
) -> tuple[tuple[Edit, ...], str]:
    """Edits for the parameters that gaps are about, and what goes to the start of the body.

    Nothing where an exchange without a barrier would be left.

    Callers elsewhere may hand over volatile pointers: where not all of them are in sight, the parameter keeps its type
    and the body gets a pointer without it.
    """
    bodies = bodies_in_sight(unit)
    strict = Lockstep(bodies, function, walk.given, strict=True).find()
    if {gap.statement.last for gap in strict} != {gap.statement.last for gap in gaps}:
        return (), ""
    names = {gap.base for gap in gaps}
    found: list[Edit] = []
    declared = ""
    plain = _callers_are_plain(unit, function)
    for index in unit.tokens.names.get("volatile", ()):
        if function.head.opening < index < function.head.closing:
            place = _declared(unit, index, function.head.closing)
            if unit.tokens.texts[place] not in names:
                continue
            if plain:
                found.append(Edit(unit.tokens.starts[index], unit.tokens.starts[index + 1], ""))
            elif (written := _pointer(unit, index, place)) is not None:
                name, start = unit.tokens.texts[place], unit.tokens.starts[place]
                found.append(Edit(start, start, _PREFIX))
                declared += f" {written}{name} = const_cast<{written}>({_PREFIX}{name});"
    return tuple(found), declared


def _pointer(unit: Unit, index: int, place: int) -> str | None:
    """`float *` of `volatile float *s`; other spellings (`T volatile *s`) stay volatile, which is right and slow."""
    tokens = unit.tokens
    if tokens.texts[place - 1] != "*" or (tokens.kinds[place - 2] != IDENTIFIER and tokens.texts[place - 2] != ">"):
        return None
    return tokens.text[tokens.starts[index + 1] : tokens.end(place - 1)]


def _callers_are_plain(unit: Unit, function: Function) -> bool:
    """Whether all calls are in sight, in functions that have nothing volatile."""
    if not unit.source.path.lower().endswith(_SOURCES):
        return False
    bodies = bodies_in_sight(unit)
    callers = [one for one in bodies.callers(function.name) if bodies.is_own(one) and one != function]
    texts = (unit.tokens.texts[caller.head.opening : caller.head.end] for caller in callers)
    return bool(callers) and not any("volatile" in text for text in texts)


def _declared(unit: Unit, index: int, closing: int) -> int:
    """The token that is the name of the parameter a `volatile` belongs to."""
    texts, depth = unit.tokens.texts, 0
    while index < closing and not (depth <= 0 and texts[index] in (",", "=", "[")):
        depth += (texts[index] in ("<", "(")) - (texts[index] in (">", ")"))
        index += 1
    return index - 1
