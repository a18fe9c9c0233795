"""A draft whose source names what nothing defines: stand-ins before the source, each with a comment in the case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from porter.validation.devices.device import Program
from porter.validation.draft.conditions import guards_of
from porter.validation.draft.definers import DEFINES
from porter.validation.draft.host import Host
from porter.validation.draft.image import image_line
from porter.validation.draft.stand_ins import StandIn, stand_ins
from porter.validation.draft.structures import structure
from porter.validation.draft.template import Instance
from porter.validation.draft.torch import view_in
from porter.validation.draft.types import bare, elements_of
from porter.validation.draft.unit import SourceText
from porter.validation.harness.cutout import cut_out

from porter.errors import Unusable

KEY = "assumed = ["
_WORD = re.compile(r"[A-Za-z_]\w*")
_DECLARED = (
    r"\b(?:struct|class|union|enum|enum\s+class)\s+(?:\w+\s+)?{word}\b|\btypedef\b[^;]*\b{word}\s*;"
    r"|\busing\s+{word}\b|\}}\s*{word}\s*;"
)


def guards_of_name(host: Host, name: str) -> tuple[str, ...]:
    """The features that the only definitions of a name in a text are parts of: those of the last, which drafts read."""
    made = re.compile(DEFINES.format(word=re.escape(name.rpartition("::")[2])), re.MULTILINE)
    places = [match.start() for match in made.finditer(host.text)]
    around = [guards_of(host, place) for place in places]
    return around[-1] if around and all(around) else ()


def with_lines(lines: Sequence[str], made: Iterable[StandIn]) -> tuple[str, ...]:
    """A case's lines with these before its source."""
    shown = ", ".join(f"'{one.line}'" for one in made)
    place = next((n for n, line in enumerate(lines) if line.startswith(KEY)), None)
    if place is None:
        return (*lines, f"{KEY}{shown}]")
    return (*lines[:place], f"{lines[place].removesuffix(']')}, {shown}]", *lines[place + 1 :])


def alone(unit: SourceText, name: str, reached: str) -> str:
    """The kernel cut out of its file, as it is compiled where the file cannot be; else its own text."""
    program = Program(unit.main or unit.path, name, "cuda", unit.build.include_dirs, unit.build.defines)
    try:
        return cut_out(program) or reached
    except (OSError, Unusable):
        return reached


def parameter_types(unit: SourceText, instance: Instance) -> tuple[StandIn, ...]:
    """Stand-ins for the types of a kernel's parameters that nothing in sight defines."""
    text = unit.reached(instance.kernel)
    return stand_ins(_unknown_types(unit.host, instance), text)


def _unknown_types(host: Host, instance: Instance) -> Iterable[str]:
    own = {word for parameter in instance.kernel.template_parameters for word in _WORD.findall(parameter)}
    for parameter in instance.kernel.parameters:
        word = bare(parameter.type)
        last = word.rpartition("::")[2]
        if not re.fullmatch(r"\w+(?:::\w+)*", word) or last in own or word.partition("::")[0] in own:
            continue
        if view_in(parameter.type) or image_line(parameter.name, parameter.type, "", host.text, host.functions):
            continue
        if word not in ("void", "auto") and not _is_known(host, word, instance):
            yield word


def _is_known(host: Host, word: str, instance: Instance) -> bool:
    last = word.rpartition("::")[2]
    if last in host.macros or elements_of(host, word) is not None or host.is_enumeration(word):
        return True
    declared = re.search(_DECLARED.format(word=last), host.text) is not None
    return declared or structure(host, word, instance.template) is not None


def knowing(unit: SourceText, made: Iterable[StandIn]) -> SourceText:
    """The source as if it had these lines."""
    text = "".join(f"\n{one.line}" for one in made)
    host = unit.host
    return replace(unit, host=Host(f"{host.text}{text}\n", host.arguments, ask=host.ask)) if text else unit
