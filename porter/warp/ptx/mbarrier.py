"""mbarrier of PTX: arrivals counted in a word of shared memory, waited for by asking."""

from __future__ import annotations

import re

from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import Writer, need, on

_NOTE = "lanes of one wavefront that part, some to wait at the mbarrier and some to arrive later, hang here [mbarrier]"
_ORDER = r"(?:\.(?:release|acquire|relaxed))?(?:\.(?:cta|cluster))?"
_WHERE = r"(?:\.shared(?:::cta)?)?\.b64"


def _call(writer: Writer, name: str, address: str, *arguments: str, shared: bool) -> str:
    writer.headers.add("porter/ptx_memory.hpp")
    pointer = writer.address(address, "u64", space="shared" if shared else "")
    return f"porter::ptx::{name}({', '.join((pointer, *arguments))})"


@on(rf"mbarrier\.init{_WHERE}")
def _init(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    count = writer.value(operands[1], "u32")
    return _call(writer, "mbarrier_init", operands[0], count, shared=".shared" in match[0]) + ";"


@on(rf"mbarrier\.inval{_WHERE}")
def _inval(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    return ""


@on(rf"mbarrier\.arrive(_drop)?(?:\.noComplete)?{_ORDER}{_WHERE}")
def _arrive(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """The state before it, with which to ask for the end of the phase."""
    if len(operands) not in (2, 3):
        raise Unknown(f"{match[0]} with {len(operands)} operands")
    count = writer.value(operands[2], "u32") if len(operands) == 3 else "1u"
    name = f"mbarrier_arrive<{'true' if match[1] else 'false'}>"
    return writer.assign(operands[0], _call(writer, name, operands[1], count, shared=".shared" in match[0]), "b64")


@on(rf"mbarrier\.(?:test|try)_wait(\.parity)?{_ORDER}{_WHERE}")
def _wait(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """Asks once: the loop around it is the program's. A limit of time has no meaning here."""
    if len(operands) not in (3, 4):
        raise Unknown(f"{match[0]} with {len(operands)} operands")
    writer.notes.append(_NOTE)
    value = writer.value(operands[2], "u32" if match[1] else "u64")
    name = "mbarrier_passed_parity" if match[1] else "mbarrier_passed"
    return writer.assign(operands[0], _call(writer, name, operands[1], value, shared=".shared" in match[0]), "pred")


@on(r"mbarrier\.pending_count\.b64")
def _pending(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    writer.headers.add("porter/ptx_memory.hpp")
    return writer.assign(operands[0], f"porter::ptx::mbarrier_pending({writer.value(operands[1], 'u64')})")


@on(rf"cp\.async\.mbarrier\.arrive(\.noinc)?{_WHERE}")
def _copied(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """Copies are done already: an arrival, or with an arrival that is expected besides nothing."""
    need(operands, 1, match[0])
    if not match[1]:
        return ""
    return _call(writer, "mbarrier_arrive<false>", operands[0], "1u", shared=".shared" in match[0]) + ";"


@on(r"fence\.(?:mbarrier_init\.release\.cluster|proxy\.async(?:\.[\w:]+)?)")
def _fence(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """There is one way to memory, and no cluster: an ordinary fence is enough."""
    return "__threadfence_block();"
