"""Operations of PTX on the warp and the block: exchanges, votes, barriers, hints."""

from __future__ import annotations

import re

from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import Writer, need, on


@on(r"shfl(\.sync)?\.(idx|up|down|bfly)\.b32")
def _shfl(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 5 if match[1] else 4, "shfl")
    target, _, predicate = operands[0].partition("|")
    a, b, c = (writer.value(operand, "u32") for operand in operands[1:4])
    text = writer.assign(target, writer.helper(f"shfl_{match[2]}", a, b, c))
    if not predicate:
        return text
    if match[2] == "idx":
        return f"{text} {writer.assign(predicate, 'true')}"
    return f"{text} {writer.assign(predicate, writer.helper(f'in_range_{match[2]}', b, c))}"


@on(r"vote\.sync\.(all|any|uni)\.pred|vote\.sync\.(ballot)\.b32")
def _vote(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, "vote")
    writer.headers.add("porter/warp32.hpp")
    call = (
        f"porter::{match[1] or match[2]}_sync({writer.value(operands[2], 'u32')}, {writer.value(operands[1], 'pred')})"
    )
    return writer.assign(operands[0], call if match[2] else f"{call} != 0")


@on(r"vote\.(all|any|uni)\.pred|vote\.(ballot)\.b32")
def _vote_of_all(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """Before Volta, without a mask: of the lanes that are here."""
    need(operands, 2, "vote")
    writer.headers.add("porter/warp32.hpp")
    name = match[1] or match[2]
    call = f"porter::{name}_sync(porter::activemask(), {writer.value(operands[1], 'pred')})"
    return writer.assign(operands[0], call if match[2] else f"{call} != 0")


@on(r"activemask\.b32")
def _activemask(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 1, "activemask")
    writer.headers.add("porter/warp32.hpp")
    return writer.assign(operands[0], "porter::activemask()")


@on(r"match\.any\.sync\.(b32|b64)")
def _match(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, "match")
    writer.headers.add("porter/warp32.hpp")
    value, mask = writer.value(operands[1], match[1]), writer.value(operands[2], "u32")
    return writer.assign(operands[0], f"porter::match_any_sync({mask}, {value})")


@on(r"match\.all\.sync\.(b32|b64)")
def _match_all(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, "match")
    writer.headers.add("porter/warp32.hpp")
    value, mask = writer.value(operands[1], match[1]), writer.value(operands[2], "u32")
    target, _, predicate = operands[0].partition("|")
    text = writer.assign(target, f"porter::match_all_sync({mask}, {value}, &porter_all)")
    told = f" {writer.assign(predicate, 'porter_all != 0')}" if predicate else ""
    return f"{{ int porter_all; {text}{told} }}"


@on(r"redux\.sync\.(add|min|max|and|or|xor)\.(u32|s32|b32)")
def _redux(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, "redux")
    writer.headers.add("porter/warp32.hpp")
    value, mask = writer.value(operands[1], match[2]), writer.value(operands[2], "u32")
    return writer.assign(operands[0], f"porter::reduce_{match[1]}_sync({mask}, {value})")


@on(r"elect\.sync")
def _elect(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "elect")
    target, _, predicate = operands[0].partition("|")
    if target.strip() != "_":
        raise Unknown("elect.sync with a leader")
    return writer.assign(predicate, writer.helper("elected", writer.value(operands[1], "u32")))


@on(r"(?:bar|barrier)(?:\.cta)?\.sync(?:\.aligned)?")
def _bar(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    if operands not in (("0",), ()):
        raise Unknown("named barrier " + ", ".join(operands))
    return "__syncthreads();"


@on(r"(?:bar|barrier)(?:\.cta)?\.red\.(popc|and|or)(?:\.aligned)?\.(u32|pred)")
def _bar_red(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    if len(operands) != 3 or operands[1] != "0" or (match[1] == "popc") != (match[2] == "u32"):
        raise Unknown("named barrier " + ", ".join(operands[1:]))
    name = {"popc": "count", "and": "and", "or": "or"}[match[1]]
    call = f"__syncthreads_{name}({writer.value(operands[2], 'pred')})"
    return writer.assign(operands[0], call if match[1] == "popc" else f"{call} != 0")


@on(r"bar\.warp\.sync")
def _bar_warp(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    writer.headers.add("porter/warp32.hpp")
    return f"porter::syncwarp({writer.value(operands[0], 'u32') if operands else ''});"


@on(r"membar\.(cta|gl|sys)|fence(?:\.(?:sc|acq_rel))?\.(cta|cluster|gpu|sys)")
def _fence(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """A cluster that no launch asks for is one block."""
    scope = match[1] or match[2].replace("cluster", "cta")
    return {"cta": "__threadfence_block();", "sys": "__threadfence_system();"}.get(scope, "__threadfence();")


@on(r"trap|brkpt")
def _trap(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    return "__builtin_trap();"


@on(r"nanosleep\.u32")
def _nanosleep(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    return "__builtin_amdgcn_s_sleep(1);"


@on(r"prefetchu?\.[\w:.]+|discard\.[\w:.]+|applypriority\.[\w:.]+|griddepcontrol\.\w+|pragma|setmaxnreg\.[\w.]+")
def _hint(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    if match[0].startswith("setmaxnreg"):
        writer.notes.append("registers are fixed per kernel on gfx942 [setmaxnreg-warp-specialisation]")
    return ""
