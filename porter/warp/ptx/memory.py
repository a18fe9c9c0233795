"""Loads, stores, atomics and copies of PTX, and its addresses."""

from __future__ import annotations

import re

from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import PREFIX, Writer, need, on

_SCOPES = {"cta": "WORKGROUP", "cluster": "WORKGROUP", "gpu": "AGENT", "gl": "AGENT", "sys": "SYSTEM"}
_ORDERS = {"acquire": "ACQUIRE", "release": "RELEASE", "relaxed": "RELAXED", "acq_rel": "ACQ_REL"}
_SPACES = frozenset({"global", "shared", "shared::cta", "const", "local", "weak"})
_HINTS = re.compile(r"L1::\w+|L2::\w+|level::\w+|evict_\w+|no_allocate|mmio")
_CACHED = {
    "ca": "weak", "nc": "weak", "wb": "weak", "cs": "cs", "lu": "cs", "cg": "cg", "cv": "cv", "wt": "cv",
    "volatile": "cv",
}  # fmt: skip
"""Cache operators and `volatile` -> types of ptx_memory.hpp."""
_WIDTHS = re.compile(r"[busf](?:8|16|32|64)")
_NAMED = frozenset({"ld", "ldu", "st", "global", "const", "weak", "v2", "v4", *_CACHED})
"""What `read` of ptx_memory.hpp knows beside the elements' types."""
_OPERATIONS = frozenset({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"})


class _Access:
    """The parts of a memory opcode, in whatever order they are written."""

    def __init__(self, opcode: str) -> None:
        self.opcode = opcode
        self.order = self.scope = self.cache = self.kind = self.operation = ""
        self.count = 1
        parts = opcode.split(".")[1:]
        self.space = "local" if "local" in parts else "" if {"shared", "shared::cta"}.isdisjoint(parts) else "shared"
        for part in parts:
            self._take(part)
        if not self.kind:
            raise Unknown(opcode)

    def _take(self, part: str) -> None:
        if part in _ORDERS:
            self.order = part
        elif part in _SCOPES:
            self.scope = part
        elif part in ("v2", "v4"):
            self.count = int(part[1])
        elif part in _CACHED:
            self.cache = part
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

    def how(self, writer: Writer) -> str:
        """The type of ptx_memory.hpp that says how the access is done."""
        if self.order:
            if self.order == "acq_rel" or not self.scope:
                raise Unknown(self.opcode)
            scope = {"gl": "gpu", "cluster": "cta"}.get(self.scope, self.scope)
            return f"{PREFIX}{self.order}_{scope}"
        if self.is_put_together(writer):
            return f"{self.named(writer)}::porter_{'kept' if writer.assembly.volatile else 'how'}"
        found = _CACHED.get(self.cache, "weak")
        kept = {"weak": "kept", "cs": "kept_cs"} if writer.assembly.volatile and self.cache != "nc" else {}
        return PREFIX + kept.get(found, found)

    def named(self, writer: Writer) -> str:
        """The type of ptx_memory.hpp that reads an opcode whose parts are a macro's arguments."""
        parts = frozenset(self.opcode.split(".")) - {self.kind}
        if not parts <= _NAMED or self.kind == "f16":
            raise Unknown(self.opcode)
        writer.named = True
        return f"{PREFIX}opcode<{PREFIX}read({writer.assembly.written.strings})>"

    def is_put_together(self, writer: Writer) -> bool:
        """Whether a macro's arguments are in the opcode."""
        return writer.assembly.written.word == self.opcode

    def element(self, writer: Writer) -> str:
        """The element's kind, or the type that the macro's opcode says."""
        return f"{self.named(writer)}::porter_type" if self.is_put_together(writer) else self.kind

    def register(self, writer: Writer, register: str) -> str:
        """A register, where neither bits of numbers nor the like depend on the type that a macro says."""
        kind = writer.register_kind(register)
        if kind is not None and (self.kind[0] == "f") != (kind in ("float", "double")):
            raise Unknown(f"{self.opcode} of {register}")
        return f"({writer.target(register)})"

    def pointer(self, writer: Writer, address: str, *, constant: bool = False) -> str:
        """The address as a pointer to the element."""
        return writer.address(address, self.element(writer), constant=constant, space=self.space)


def _plain_access(writer: Writer, opcode: str, operands: tuple[str, ...]) -> _Access:
    """A load or store; a cache policy may follow its operands."""
    access = _Access(opcode)
    if len(operands) not in (2, 3) or access.operation:
        raise Unknown(opcode)
    writer.headers.add("porter/ptx_memory.hpp")
    return access


def _registers(access: _Access, text: str) -> list[str]:
    """The registers of `{%0, %1}`, or the one."""
    found = [register.strip() for register in text.strip("\x01\x02").split(",")]
    if len(found) != access.count:
        raise Unknown(f"{access.opcode} of {len(found)} registers")
    return found


@on(r"ldu?\..*")
def _load(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """All registers of a vector are read before the first is written: the address may be one of them."""
    access = _plain_access(writer, match[0], operands)
    targets = _registers(access, operands[0])
    if access.is_put_together(writer):
        for target in targets:
            access.register(writer, target)
    vector = f", {access.count}" if access.count > 1 else ""
    call = f"{PREFIX}ld<{access.how(writer)}{vector}>({access.pointer(writer, operands[1], constant=True)})"
    if not vector:
        return writer.assign(targets[0], call, access.kind)
    parts = [writer.assign(t, f"porter_v.x[{i}]", access.kind) for i, t in enumerate(targets) if t != "_"]
    return f"{{ auto const porter_v = {call}; {' '.join(parts)} }}"


@on(r"st\..*")
def _store(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    access = _plain_access(writer, match[0], operands)
    read = access.register if access.is_put_together(writer) else lambda w, register: w.value(register, access.kind)
    values = [read(writer, register) for register in _registers(access, operands[1])]
    pointer = access.pointer(writer, operands[0])
    return f"{PREFIX}st<{access.how(writer)}>({', '.join((pointer, *values))});"


@on(r"(red|atom)\..*")
def _atomic(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    access = _Access(match[0])
    if not access.operation or access.kind == "f16":
        raise Unknown(match[0])
    values = operands if match[1] == "atom" else ("_", *operands)
    if access.count > 1:
        return _vector_atomic(writer, access, values)
    need(values, 4 if access.operation == "cas" else 3, match[0])
    pointer, value = access.pointer(writer, values[1]), writer.value(values[2], access.kind)
    if access.operation == "cas":
        if access.kind.endswith("8"):
            raise Unknown(match[0])
        writer.headers.add("porter/ptx_memory.hpp")
        call = f"{PREFIX}cas<{access.semantics}>({pointer}, {value}, {writer.value(values[3], access.kind)})"
    elif access.operation in ("inc", "dec"):
        if access.order not in ("", "relaxed") or access.scope not in ("", "gpu") or access.kind != "u32":
            raise Unknown(match[0])
        call = f"atomic{access.operation.title()}({pointer}, {value})"
    else:
        name = "exchange" if access.operation == "exch" else f"fetch_{access.operation}"
        call = f"__hip_atomic_{name}({pointer}, {value}, {access.semantics})"
    return f"{call};" if match[1] == "red" else writer.assign(values[0], call, access.kind)


def _vector_atomic(writer: Writer, access: _Access, operands: tuple[str, ...]) -> str:
    """One atomic for each element, which is all that PTX promises."""
    need(operands, 3, access.opcode)
    if access.operation != "add" or access.kind not in ("f32", "u32", "u64", "f64"):
        raise Unknown(access.opcode)
    values = [writer.value(register, access.kind) for register in _registers(access, operands[2])]
    targets = _registers(access, operands[0]) if operands[0] != "_" else ["_"] * access.count
    pointer = access.pointer(writer, operands[1])
    lines = []
    for number, (target, value) in enumerate(zip(targets, values, strict=True)):
        call = f"__hip_atomic_fetch_add({pointer} + {number}, {value}, {access.semantics})"
        lines.append(f"{call};" if target == "_" else writer.assign(target, call, access.kind))
    return f"{{ {' '.join(lines)} }}"


@on(r"(red|atom)((?:\.[\w:]+)*)\.add((?:\.[\w:]+)*)\.(b?f16)(x2)?", narrow=True)
def _half_atomic(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """By compare and exchange of the word, or of the half."""
    name, kind = ("add_pair", "b32") if match[5] else ("add_one", "b16")
    access = _Access(f"{match[1]}{match[2]}.add{match[3]}.{kind}")
    values = operands if match[1] == "atom" else ("_", *operands)
    need(values, 3, match[0])
    if access.count > 1:
        raise Unknown(match[0])
    writer.headers.update(("porter/ptx_memory.hpp", "porter/ptx.hpp"))
    pointer, value = access.pointer(writer, values[1]), writer.value(values[2], kind)
    call = f"{PREFIX}{name}<{access.semantics}, {PREFIX}add_{match[4]}{match[5] or ''}>({pointer}, {value})"
    return f"{call};" if match[1] == "red" else writer.assign(values[0], call, kind)


@on(r"cp\.async\.(?:ca|cg)\.shared(?:::cta)?\.global(?:\.L[12]::\w+)*")
def _copy(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """Through registers, and done when the statement is: what a wait for it finds is there already."""
    if match[0].endswith("cache_hint"):
        operands = operands[:-1]
    if len(operands) not in (3, 4):
        raise Unknown(match[0])
    target = writer.address(operands[0], "u8", space="shared")
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


@on(r"cvta\.to\.(shared|local)\.u64")
def _cvta_to_offset(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "cvta")
    writer.headers.add("porter/memory.hpp")
    value = f"porter::cvta_generic_to_{match[1]}((void const *){writer.value(operands[1], 'u64')})"
    return writer.assign(operands[0], value)


@on(r"cvta\.(shared|local)\.u64")
def _cvta_from_offset(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "cvta")
    writer.headers.add("porter/memory.hpp")
    value = f"porter::cvta_{match[1]}_to_generic({writer.value(operands[1], 'u64')})"
    return writer.assign(operands[0], f"(unsigned long long)({value})")


@on(r"isspacep\.(shared|shared::cta|global|local)")
def _isspacep(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    writer.headers.add("porter/memory.hpp")
    name = f"is{match[1].partition(':')[0].title()}"
    return writer.assign(operands[0], f"porter::{name}((void const *){writer.value(operands[1], 'u64')}) != 0")


@on(r"cvta(?:\.to)?\.(?:global|const)\.u64")
def _cvta(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """Constant memory is global memory here, and both have generic addresses."""
    need(operands, 2, "cvta")
    return writer.assign(operands[0], writer.value(operands[1], "u64"))
