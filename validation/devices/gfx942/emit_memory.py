"""Emit vector memory and LDS instructions."""

from __future__ import annotations

import re

from porter.validation.devices.gfx942 import memory
from porter.validation.devices.gfx942.code import Unsupported
from porter.validation.devices.gfx942.emitter import Emitter, allow_only
from porter.validation.devices.gfx942.operands import Operand
from porter.validation.devices.gfx942.text import Instruction


class MemoryEmitter(Emitter):
    """GLOBAL, FLAT, SCRATCH, MUBUF and DS."""

    def _flat(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        space, _, suffix = instruction.mnemonic.partition("_")
        action, _, what = suffix.partition("_")
        allow_only(instruction, "offset", "sc0", "sc1", "nt", "glc", "slc")
        enum = _SPACES[space]
        is_strong = space != "scratch" and action != "atomic" and _names_scope(instruction)
        if is_strong:
            self.writer.emit("w->core.manner = MANNER_STRONG;")
        if action == "load" and what in memory.LOADS:
            at = self._flat_address(space, instruction, operands[1:])
            row = self._row(operands[0], instruction)
            self._call(f"gfx_load(w, {index}, {enum}, {memory.LOADS[what]}, {at}, {row})")
        elif action == "load" and what.removeprefix("lds_") in memory.LDS_LOADS:
            at = self._flat_address(space, instruction, operands)
            self._call(f"gfx_load(w, {index}, {enum}, {memory.LDS_LOADS[what[4:]]}, {at}, {self.spare})")
            self._to_lds(index, instruction)
        elif action == "store" and what in memory.STORES:
            at = self._flat_address(space, instruction, [operands[0], *operands[2:]])
            row = self._row(operands[1], instruction)
            self._call(f"gfx_store(w, {index}, {enum}, {memory.STORES[what]}, {at}, {row})")
        elif action == "atomic" and what in memory.ATOMICS and space != "scratch":
            self._flat_atomic(index, space, what, instruction, operands)
        else:
            raise Unsupported("unknown instruction", instruction)
        if is_strong:
            self.writer.emit("w->core.manner = 0;")

    def _to_lds(self, index: int, instruction: Instruction) -> None:
        """What a load to LDS brought: a dword for each lane, in order of lanes, from M0 and the offset on (9.1.9)."""
        base = f"(w->m0 & 0xffff) + {int(instruction.modifier('offset') or '0', 0)}"
        self._call(f"gfx_store(w, {index}, SPACE_SHARED, W_32, (Address){{ADDRESS_THREADS, 0, {base}}}, {self.spare})")

    def _flat_atomic(
        self, index: int, space: str, what: str, instruction: Instruction, operands: list[Operand]
    ) -> None:
        """Atomics return the old value when sc0 (glc before gfx940) is set."""
        op = memory.ATOMICS[what]
        returns = instruction.modifier("sc0") is not None or instruction.modifier("glc") is not None
        takes = 3 if space == "global" else 2
        returns = returns or len(operands) == takes + 1
        rest = operands[1:] if returns else operands
        at = self._flat_address(space, instruction, [rest[0], *rest[2:]])
        result = self._row(operands[0], instruction) if returns else -1
        data = self._row(rest[1], instruction)
        other = data + (2 if op.wide else 1) if op.name == "AT_CMPSWAP" else 0
        self._call(
            f"gfx_atomic(w, {index}, {_SPACES[space]}, {op.name}, {int(op.wide)}, {at}, {data}, {other}, {result})"
        )

    def _flat_address(self, space: str, instruction: Instruction, where: list[Operand]) -> str:
        """Per lane: VGPR pair, or SGPR pair + VGPR offset; scratch: VGPR and SGPR offsets (12.15)."""
        vector_part, base = where[0], where[1] if len(where) > 1 else None
        uniform = [f"(uint64_t){int(instruction.modifier('offset') or '0', 0)}ll"]
        if base is not None and base.kind == "s":
            uniform.append(f"S({base.index})" if space == "scratch" else f"S64({base.index})")
            if space != "scratch":
                self.writer.emit(*self._poison_fault(f"-(uint64_t)(PS64({base.index}) != 0)", len(self.sites) - 1))
        elif base is not None and base.is_constant and space == "scratch":
            uniform.append(f"{base.value}ull")
        elif base is not None and base.kind != "off":
            raise Unsupported(f"address base {base.text!r}", instruction)
        return self._address(space, vector_part, base, " + ".join(uniform), instruction)

    def _address(
        self, space: str, vector_part: Operand, base: Operand | None, uniform: str, instruction: Instruction
    ) -> str:
        if vector_part.kind == "off":
            return f"(Address){{ADDRESS_UNIFORM, 0, {uniform}}}"
        row = self._row(vector_part, instruction)
        wide = space == "flat" or (space == "global" and (base is None or base.kind == "off"))
        if wide and vector_part.count != 2:
            raise Unsupported("64-bit address in one register", instruction)
        return f"(Address){{{'ADDRESS_PAIR' if wide else 'ADDRESS_ROW'}, {row}, {uniform}}}"

    def _buffer(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        """MUBUF without format conversion: buffer_load_, buffer_store_, buffer_atomic_."""
        action, _, what = instruction.mnemonic.removeprefix("buffer_").partition("_")
        allow_only(instruction, "offset", "offen", "idxen", "sc0", "sc1", "nt", "glc", "slc", "lds")
        if instruction.modifier("lds") is not None:
            if action != "load" or what not in memory.LDS_LOADS or len(operands) != 3:
                raise Unsupported("modifier 'lds' on this instruction", instruction)
            at = self._buffer_address(instruction, operands)
            self._call(f"gfx_buffer(w, {index}, 0, {memory.LOADS[what]}, {at}, {self.spare})")
            self._to_lds(index, instruction)
            return
        if len(operands) != 4:
            raise Unsupported(f"{len(operands)} operands of a buffer instruction", instruction)
        at = self._buffer_address(instruction, operands[1:])
        row = self._row(operands[0], instruction)
        if action == "load" and what in memory.LOADS:
            self._call(f"gfx_buffer(w, {index}, 0, {memory.LOADS[what]}, {at}, {row})")
        elif action == "store" and what in memory.STORES:
            self._call(f"gfx_buffer(w, {index}, 1, {memory.STORES[what]}, {at}, {row})")
        elif action == "atomic" and what in memory.ATOMICS:
            op = memory.ATOMICS[what]
            returns = instruction.modifier("sc0") is not None or instruction.modifier("glc") is not None
            other = row + (2 if op.wide else 1) if op.name == "AT_CMPSWAP" else 0
            result = row if returns else -1
            self._call(f"gfx_buffer_atomic(w, {index}, {op.name}, {int(op.wide)}, {at}, {row}, {other}, {result})")
        else:
            raise Unsupported("unknown instruction", instruction)

    def _buffer_address(self, instruction: Instruction, where: list[Operand]) -> str:
        vector_part, resource, scalar = where
        by_offset, by_index = (instruction.modifier(name) is not None for name in ("offen", "idxen"))
        if resource.kind != "s" or resource.count != 4:
            raise Unsupported(f"buffer resource {resource.text!r}", instruction)
        if (vector_part.kind == "off") == (by_offset or by_index):
            raise Unsupported("form of a buffer address", instruction)
        row = self._row(vector_part, instruction) if by_offset or by_index else -1
        offset_row = (row + 1 if by_index else row) if by_offset else -1
        immediate = int(instruction.modifier("offset") or "0", 0)
        scalar_part = self._scalar_value(scalar, "u32", instruction)
        index_row = row if by_index else -1
        return f"(BufferAddress){{{resource.index}, {scalar_part}, {immediate}, {offset_row}, {index_row}}}"

    def _ds(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        name = instruction.mnemonic[3:]
        allow_only(instruction, "offset", "offset0", "offset1", *(("gds",) if name.startswith("gws_") else ()))
        shared = f"w, {index}, SPACE_SHARED"
        if name in ("permute_b32", "bpermute_b32"):
            self._permute(instruction, operands)
        elif name == "swizzle_b32":
            to, source = (self._row(o, instruction) for o in operands)
            self.writer.emit(f"gfx_swizzle(w, {source}, {_swizzle(instruction):#x}, {to});")
        elif name.startswith(("read2", "write2")):
            self._ds_pair(index, instruction, operands, name)
        elif name.startswith("read_") and name[5:] in memory.DS_LOADS:
            at, row = self._ds_address(operands[1], instruction), self._row(operands[0], instruction)
            self._call(f"gfx_load({shared}, {memory.DS_LOADS[name[5:]]}, {at}, {row})")
        elif name.startswith("write_") and name[6:] in memory.DS_STORES:
            at, row = self._ds_address(operands[0], instruction), self._row(operands[1], instruction)
            self._call(f"gfx_store({shared}, {memory.DS_STORES[name[6:]]}, {at}, {row})")
        elif name in ("append", "consume"):
            offset = int(instruction.modifier("offset") or "0", 0)
            row = self._row(operands[0], instruction)
            self._call(f"gfx_append(w, {index}, {offset}, {int(name == 'consume')}, {row})")
        elif name in ("read_addtid_b32", "write_addtid_b32"):
            base = f"(w->m0 & 0xffff) + {int(instruction.modifier('offset') or '0', 0)}"
            call = "gfx_load" if name.startswith("read") else "gfx_store"
            row = self._row(operands[0], instruction)
            self._call(f"{call}({shared}, W_32, (Address){{ADDRESS_THREADS, 0, {base}}}, {row})")
        elif name.startswith("wrxchg2"):
            self._ds_exchange_pair(index, instruction, operands, name)
        elif name in memory.DS_ATOMICS:
            self._ds_atomic(index, instruction, operands, name)
        elif name in ("gws_barrier", "gws_sema_br"):
            self.writer.emit(f"w->core.pc = {index + 1};", "return WAVE_GRID_BARRIER;")
        elif name != "gws_init":
            raise Unsupported("unknown instruction", instruction)

    def _permute(self, instruction: Instruction, operands: list[Operand]) -> None:
        to, address, data = (self._row(o, instruction) for o in operands)
        backward = int("bpermute" in instruction.mnemonic)
        offset = int(instruction.modifier("offset") or "0", 0)
        self.writer.emit(f"gfx_permute(w, {backward}, {address}, {data}, {offset}, {to});")

    def _ds_address(self, address: Operand, instruction: Instruction, offset: int | None = None) -> str:
        if offset is None:
            offset = int(instruction.modifier("offset") or "0", 0)
        return f"(Address){{ADDRESS_WRAPPED, {self._row(address, instruction)}, {offset}}}"

    def _two_addresses(self, address: Operand, instruction: Instruction) -> list[str]:
        """Of READ2 and its kin: offsets in elements (or 64 elements)."""
        name = instruction.mnemonic
        stride = (8 if name.endswith("b64") else 4) * (64 if "st64" in name else 1)
        offsets = [int(instruction.modifier(f"offset{k}") or "0", 0) * stride for k in (0, 1)]
        return [self._ds_address(address, instruction, offset) for offset in offsets]

    def _ds_exchange_pair(self, index: int, instruction: Instruction, operands: list[Operand], name: str) -> None:
        """WRXCHG2 and its ST64 form: two exchanges."""
        to, address, first, second = operands
        result, other = self._row(to, instruction), self._row(second, instruction)
        if result < other + second.count and other < result + to.count:
            raise Unsupported("a result that is a source as well", instruction)
        places = ", ".join(self._two_addresses(address, instruction))
        data = self._row(first, instruction)
        wide = int(name.endswith("b64"))
        self._call(f"gfx_exchange_pair(w, {index}, {wide}, {places}, {data}, {other}, {result})")

    def _ds_pair(self, index: int, instruction: Instruction, operands: list[Operand], name: str) -> None:
        """READ2, WRITE2 and their ST64 forms: two accesses."""
        width = "W_64" if name.endswith("b64") else "W_32"
        address = operands[1] if name.startswith("read2") else operands[0]
        first, second = self._two_addresses(address, instruction)
        if name.startswith("read2"):
            row = self._row(operands[0], instruction)
            self._call(f"gfx_load_pair(w, {index}, {width}, {first}, {second}, {row})")
            return
        for at, data in zip((first, second), operands[1:], strict=True):
            self._call(f"gfx_store(w, {index}, SPACE_SHARED, {width}, {at}, {self._row(data, instruction)})")

    def _ds_atomic(self, index: int, instruction: Instruction, operands: list[Operand], name: str) -> None:
        op = memory.DS_ATOMICS[name]
        returns = "_rtn" in name
        rest = operands[1:] if returns else operands
        result = self._row(operands[0], instruction) if returns else -1
        data = self._row(rest[1], instruction)
        other = self._row(rest[2], instruction) if len(rest) > 2 else 0
        if op.name in ("AT_CMPSWAP", "AT_FCMPSWAP"):  # DS compares with its first data operand, FLAT with its second
            data, other = other, data
        at = self._ds_address(rest[0], instruction)
        self._call(f"gfx_atomic(w, {index}, SPACE_SHARED, {op.name}, {int(op.wide)}, {at}, {data}, {other}, {result})")


_SPACES = {"global": "SPACE_GLOBAL", "flat": "SPACE_FLAT", "scratch": "SPACE_PRIVATE"}


def _names_scope(instruction: Instruction) -> bool:
    """True for what volatile and atomic loads and stores become: they go beyond the wave's own cache."""
    return any(name in ("sc0", "sc1") for name, _ in instruction.modifiers)


_SWIZZLE = re.compile(r"swizzle\((\w+)\s*,\s*(.*)\)")


def _swizzle(instruction: Instruction) -> int:
    """The offset field of ds_swizzle_b32, from a number or LLVM's swizzle(...) notation."""
    text = instruction.modifier("offset") or "0"
    match = _SWIZZLE.match(text)
    if not match:
        return int(text, 0)
    mode, rest = match[1], match[2]
    parts = [part.strip().strip('"') for part in rest.split(",")]
    if mode == "QUAD_PERM":
        return 0x8000 | sum(int(p) << 2 * i for i, p in enumerate(parts))
    if mode == "BITMASK_PERM":
        and_mask = or_mask = xor_mask = 0
        for char in parts[0]:
            and_mask, or_mask, xor_mask = and_mask << 1, or_mask << 1, xor_mask << 1
            and_mask |= char in "pi"
            or_mask |= char == "1"
            xor_mask |= char == "i"
        return and_mask | or_mask << 5 | xor_mask << 10
    if mode == "SWAP":
        return 0x1F | int(parts[0], 0) << 10
    if mode == "REVERSE":
        return 0x1F | (int(parts[0], 0) - 1) << 10
    if mode == "BROADCAST":
        size, lane = int(parts[0], 0), int(parts[1], 0)
        return (32 - size) & 0x1F | lane << 5
    raise Unsupported(f"swizzle {mode}", instruction)
