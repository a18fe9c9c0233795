"""Loads, stores, atomics and copies of PTX, and its addresses."""

from __future__ import annotations

import re

from porter.warp.ptx import Unknown
from porter.warp.ptx_writer import Writer, need, on

_SCOPES = {"cta": "WORKGROUP", "cluster": "WORKGROUP", "gpu": "AGENT", "gl": "AGENT", "sys": "SYSTEM"}
_ORDERS = {"acquire": "ACQUIRE", "release": "RELEASE", "relaxed": "RELAXED", "acq_rel": "ACQ_REL"}
_SPACES = frozenset({"global", "shared", "shared::cta", "const", "local", "param", "weak"})
_HINTS = re.compile(r"nc|ca|cg|cs|lu|cv|wb|wt|L1::\w+|L2::\w+|level::\w+|evict_\w+|no_allocate")
_WIDTHS = re.compile(r"[busf](?:8|16|32|64)")
_OPERATIONS = frozenset({"add", "min", "max", "and", "or", "xor", "exch", "cas"})


class _Access:
    """The parts of a memory opcode, in whatever order they are written."""

    def __init__(self, opcode: str) -> None:
        self.opcode = opcode
        self.order = self.scope = self.vector = self.kind = self.operation = ""
        self.volatile = False
        self.shared = opcode.split(".")[1:2] == ["shared"] or ".shared." in opcode or ".shared::cta." in opcode
        for part in opcode.split(".")[1:]:
            self._take(part)
        if not self.kind:
            raise Unknown(opcode)

    def _take(self, part: str) -> None:
        if part in _ORDERS:
            self.order = part
        elif part in _SCOPES:
            self.scope = part
        elif part in ("v2", "v4"):
            self.vector = part
        elif part == "volatile":
            self.volatile = True
        elif _WIDTHS.fullmatch(part):
            self.kind = part
        elif part in _OPERATIONS:
            self.operation = part
        elif part not in _SPACES and not _HINTS.fullmatch(part) and part != "noftz":
            raise Unknown(self.opcode)

    @property
    def semantics(self) -> str:
        """`__ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT`"""
        return f"__ATOMIC_{_ORDERS[self.order or 'relaxed']}, __HIP_MEMORY_SCOPE_{_SCOPES[self.scope or 'gpu']}"

    def pointer(self, writer: Writer, address: str, *, constant: bool) -> str:
        """The address as a pointer to the element."""
        constant = constant and not self.volatile and not self.order
        text = writer.address(address, self.kind, constant=constant, shared=self.shared)
        return text.replace("(", "(volatile ", 1) if self.volatile else text


@on(r"ldu?\..*")
def _load(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    access = _Access(match[0])
    if len(operands) not in (2, 3):
        raise Unknown(match[0])
    pointer = access.pointer(writer, operands[1], constant=True)
    targets = [t.strip() for t in operands[0].strip("\x01\x02").split(",")]
    if access.order:
        return writer.assign(targets[0], f"__hip_atomic_load({pointer}, {access.semantics})", access.kind)
    if not access.vector:
        return writer.assign(targets[0], f"*{pointer}", access.kind)
    return " ".join(writer.assign(t, f"({pointer})[{i}]", access.kind) for i, t in enumerate(targets))


@on(r"st\..*")
def _store(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    access = _Access(match[0])
    if len(operands) not in (2, 3):
        raise Unknown(match[0])
    pointer = access.pointer(writer, operands[0], constant=False)
    values = [writer.value(v.strip(), access.kind) for v in operands[1].strip("\x01\x02").split(",")]
    if access.order:
        return f"__hip_atomic_store({pointer}, {values[0]}, {access.semantics});"
    if not access.vector:
        return f"*{pointer} = {values[0]};"
    return " ".join(f"({pointer})[{i}] = {value};" for i, value in enumerate(values))


@on(r"(red|atom)\..*")
def _atomic(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    access = _Access(match[0])
    if access.vector or not access.operation:
        raise Unknown(match[0])
    values = operands if match[1] == "atom" else ("_", *operands)
    need(values, 4 if access.operation == "cas" else 3, match[0])
    pointer, value = access.pointer(writer, values[1], constant=False), writer.value(values[2], access.kind)
    if access.operation == "cas":
        if access.order not in ("", "relaxed") or access.scope not in ("", "gpu"):
            raise Unknown(match[0])
        call = f"atomicCAS({pointer}, {value}, {writer.value(values[3], access.kind)})"
    else:
        name = "exchange" if access.operation == "exch" else f"fetch_{access.operation}"
        call = f"__hip_atomic_{name}({pointer}, {value}, {access.semantics})"
    return f"{call};" if match[1] == "red" else writer.assign(values[0], call, access.kind)


@on(r"cp\.async\.(?:ca|cg)\.shared(?:::cta)?\.global(?:\.L[12]::\w+)*")
def _copy(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """Through registers, and done when the statement is: what a wait for it finds is there already."""
    if match[0].endswith("cache_hint"):
        operands = operands[:-1]
    if len(operands) not in (3, 4):
        raise Unknown(match[0])
    target = writer.address(operands[0], "u8", shared=True)
    source = writer.address(operands[1], "u8", constant=True)
    size = writer.operand(operands[2])
    if size is not None and size.letter != "n":
        raise Unknown(f"{match[0]} of a size from a register")
    width = operands[2] if size is None else size.expression
    rest = [writer.value(operands[3], "u32")] if len(operands) == 4 else []
    writer.notes.append("the copy goes through registers and is no longer asynchronous [cp-async]")
    return writer.helper(f"cp_async<{width}>", target, source, *rest) + ";"


@on(r"createpolicy\.[\w.:]+")
def _policy(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """What to keep in the cache: dropped where it is used."""
    return writer.assign(operands[0], "0", "b64")


@on(r"cp\.async\.(?:commit_group|wait_group|wait_all)")
def _copied(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    return ""


@on(r"cvta\.to\.shared\.u64")
def _cvta_shared(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "cvta")
    writer.headers.add("porter/memory.hpp")
    value = f"porter::cvta_generic_to_shared((void const *){writer.value(operands[1], 'u64')})"
    return writer.assign(operands[0], value)


@on(r"cvta(?:\.to)?\.global\.u64")
def _cvta(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "cvta")
    return writer.assign(operands[0], writer.value(operands[1], "u64"))
