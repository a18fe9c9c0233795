"""Emit loads, stores, atomics and asynchronous copies."""

from __future__ import annotations

from porter.validation.devices.ptx.allocate import flat
from porter.validation.devices.ptx.effects import registers
from porter.validation.devices.ptx.emitter import Emitter
from porter.validation.devices.ptx.model import WIDTHS, Instruction, Operand, Unsupported

SPACES = {"global": "SPACE_GLOBAL", "const": "SPACE_GLOBAL", "param": "SPACE_GLOBAL", "shared": "SPACE_SHARED",
          "local": "SPACE_LOCAL", "": "SPACE_GENERIC"}  # fmt: skip
_SPACE_NAMES = {"SPACE_GLOBAL": "global", "SPACE_SHARED": "shared", "SPACE_LOCAL": "private", "SPACE_GENERIC": "flat"}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_HARMLESS = {  # orders, scopes and cache hints: every access is done at once, in order
    "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "weak", "cta", "cluster", "gpu", "sys",
    "nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "L1", "L2", "unified", "level", "cache_hint", "nbi",
}  # fmt: skip
ACTIONS = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"}
_ATOMIC_TYPES = {
    "b16": "T_U16", "u16": "T_U16", "b32": "T_U32", "u32": "T_U32", "s32": "T_S32", "b64": "T_U64", "u64": "T_U64",
    "s64": "T_S64", "f16": "T_F16", "bf16": "T_BF16", "f16x2": "T_F16X2", "bf16x2": "T_BF16X2", "f32": "T_F32",
    "f64": "T_F64",
}  # fmt: skip


def plain(modifier: str) -> str:
    """A modifier without its qualifiers: `L1::no_allocate` is L1, `shared::cta` is shared."""
    return modifier.partition("::")[0]


def is_strong(instruction: Instruction) -> bool:
    """True for a load or store that other threads may wait for."""
    return bool({"volatile", "relaxed", "acquire", "release", "mmio"} & set(instruction.modifiers))


def fenced(modifiers: tuple[str, ...]) -> str:
    """C for a fence of some scope."""
    return f"core_fence(&w->x.core, {int(not {'cta', 'cluster'} & set(modifiers))});"


def released(instruction: Instruction) -> list[str]:
    """C for the fence that is part of a releasing instruction."""
    return [fenced(instruction.modifiers)] if {"release", "acq_rel"} & set(instruction.modifiers) else []


class MemoryEmitter(Emitter):
    """State spaces and the accesses to them."""

    def split(self, instruction: Instruction, allowed: set[str]) -> tuple[str, int, str]:
        """State space, number of elements and type of an access; other modifiers must be harmless or allowed."""
        space, count, kind = "", 1, ""
        for modifier in instruction.modifiers:
            name = plain(modifier)
            if name in SPACES and name:
                space = name
                if modifier == "shared::cluster":
                    space = "shared"
            elif modifier in _VECTORS:
                count = _VECTORS[modifier]
            elif modifier in WIDTHS:
                kind = modifier
            elif name not in _HARMLESS and name not in allowed:
                raise Unsupported(f"modifier .{modifier}", instruction)
        if not kind:
            raise Unsupported("no type", instruction)
        return SPACES[space], count, kind

    def open_access(self, instruction: Instruction, address: Operand, index: int, name: str = "a") -> list[str]:
        """C that makes the lanes' addresses; `act` holds the lanes that take part."""
        base = address.parts[0]
        if base.kind not in ("reg", "symbol", "int"):
            raise Unsupported("form of address", instruction)
        width = self.width(base) if base.kind == "reg" else 64
        value = self.lane_value(base, "u32" if width < 64 else "u64", instruction)
        wrap = "(uint32_t)" if width < 64 else ""
        out = [f"uint64_t {name}[LANES] ALIGNED;"]
        out.append(f"for (int l = 0; l < LANES; l++) {name}[l] = {wrap}({value} + ({address.value}));")
        out += self.refuse_bad(tuple(registers(base)), "act", index)
        return out

    def active(self, instruction: Instruction) -> list[str]:
        """C for the lanes that take part, under the guard."""
        if instruction.guard is None:
            return ["const uint32_t act = w->x.active;"]
        value = self.lane_value(instruction.guard, "pred", instruction)
        return [
            "uint32_t guard[LANES] ALIGNED;",
            f"for (int l = 0; l < LANES; l++) guard[l] = {value};",
            "const uint32_t act = w->x.active & (uint32_t)pack_mask(guard);",
        ]

    def source_row(
        self, operand: Operand, kind: str, instruction: Instruction, name: str
    ) -> tuple[list[str], str, bool]:
        """C that makes a row of an operand available, the row, and whether it has 64 bits."""
        if operand.kind == "reg" and operand.text not in self.unit.constants and not operand.value:
            row = self.row(operand.text)
            if row is not None:
                return [], row, self.width(operand) == 64
        wide = WIDTHS[kind] == 64
        bits = "b64" if wide else "b32" if WIDTHS[kind] == 32 else kind
        c_type = "uint64_t" if wide else "uint32_t"
        raw = f"b{WIDTHS[kind]}" if WIDTHS[kind] > 1 else kind
        value = self.lane_value(operand, raw if operand.kind not in ("f32", "f64") else bits, instruction)
        return [f"{c_type} {name}[LANES] ALIGNED;", f"for (int l = 0; l < LANES; l++) {name}[l] = {value};"], name, wide

    def target_row(self, operand: Operand) -> str:
        """C for the row a result goes to; NULL for one that is never wanted."""
        return (self.row(operand.text) if operand.kind == "reg" else None) or "NULL"

    def emit_load(self, instruction: Instruction) -> None:
        """ld, ldu."""
        space, count, kind = self.split(instruction, set())
        target, address = instruction.operands[0], instruction.operands[1]
        targets = flat(target)
        if len(targets) != count or WIDTHS[kind] > 64:
            raise Unsupported("form of load", instruction)
        index = self.site(instruction, "vector", _SPACE_NAMES[space])
        widths = {self.width(t) for t in targets if t.kind == "reg"}
        if len(widths) > 1:
            raise Unsupported("results of several sizes", instruction)
        width = widths.pop() if widths else 32
        signed = 0 if not kind.startswith("s") else 2 if width == 16 else 1
        names = tuple(t.text for t in targets if t.kind == "reg")
        slots = [slot for slot in map(self.bad_slot, names) if slot]
        out = ["{ show_mask(&w->x);", *self.active(instruction), "if (act) {"]
        out += self.open_access(instruction, address, index)
        rows = ", ".join(self.target_row(t) for t in targets)
        out.append(f"void *const into[] = {{{rows}}};")
        bad = "NULL"
        strong = is_strong(instruction)
        out += ["w->x.core.manner = MANNER_STRONG;"] if strong else []
        if slots:
            out.append("uint32_t found = 0;")
            bad = "&found"
        out.append(
            f"if (ptx_load(&w->x, {index}, act, {space}, a, {WIDTHS[kind] // 8}, {signed}, {count}, into, "
            f"{int(width == 64)}, {bad})) return WAVE_FAULT;"
        )
        out += ["w->x.core.manner = 0;"] if strong else []
        out += [f"{slot} = ({slot} & ~act) | found;" for slot in slots]
        self.emit(*out, "} }")

    def emit_store(self, instruction: Instruction) -> None:
        """st."""
        space, count, kind = self.split(instruction, set())
        address, source = instruction.operands[0], instruction.operands[1]
        sources = flat(source)
        if len(sources) != count or WIDTHS[kind] > 64:
            raise Unsupported("form of store", instruction)
        index = self.site(instruction, "vector", _SPACE_NAMES[space])
        out = ["{ show_mask(&w->x);", *self.active(instruction), "if (act) {"]
        out += self.open_access(instruction, address, index)
        rows: list[str] = []
        wides: set[bool] = set()
        for k, operand in enumerate(sources):
            lines, row, wide = self.source_row(operand, kind, instruction, f"v{k}")
            out += lines
            rows.append(row)
            wides.add(wide)
        if len(wides) > 1:
            raise Unsupported("sources of several sizes", instruction)
        out.append(f"void *const from[] = {{{', '.join(rows)}}};")
        bad = self.bad_of([o.text for o in sources if o.kind == "reg"]) or "0"
        strong = is_strong(instruction)
        out += [*released(instruction), "w->x.core.manner = MANNER_STRONG;"] if strong else []
        out.append(
            f"if (ptx_store(&w->x, {index}, act, {space}, a, {WIDTHS[kind] // 8}, {count}, from, "
            f"{int(wides.pop())}, {bad})) return WAVE_FAULT;"
        )
        self.emit(*out, "w->x.core.manner = 0; } }" if strong else "} }")

    def emit_atomic(self, instruction: Instruction) -> None:
        """atom, red."""
        base = instruction.base
        action = next((m for m in instruction.modifiers if m in ACTIONS), "")
        space, count, kind = self.split(instruction, {*ACTIONS, "noftz"})
        if not action or count != 1 or kind not in _ATOMIC_TYPES:
            raise Unsupported("form of atomic", instruction)
        operands = instruction.operands if base == "atom" else (Operand("sink"), *instruction.operands)
        target, address = operands[0], operands[1]
        index = self.site(instruction, "vector", _SPACE_NAMES[space])
        out = ["{ show_mask(&w->x);", *self.active(instruction), "if (act) {"]
        out += self.open_access(instruction, address, index)
        rows: list[str] = []
        for k, operand in enumerate(operands[2:4]):
            lines, row, _ = self.source_row(operand, kind, instruction, f"v{k}")
            out += lines
            rows.append(row)
            out += self.refuse_bad(tuple(registers(operand)), "act", index)
        second = rows[1] if len(rows) > 1 else "NULL"
        out += released(instruction)
        into = self.target_row(target)
        out.append(
            f"if (ptx_atomic(&w->x, {index}, act, {space}, AT_{action.upper()}, {_ATOMIC_TYPES[kind]}, a, {rows[0]}, "
            f"{second}, {into}, NULL)) return WAVE_FAULT;"
        )
        if target.kind == "reg":
            out += self.clear_bad((target.text,), "act")
        self.emit(*out, "} }")

    def emit_copy(self, instruction: Instruction) -> None:
        """cp.async: 4, 8 or 16 bytes from global to shared memory, done at once; and the waits for it."""
        modifiers = {plain(m) for m in instruction.modifiers}
        if modifiers & {"commit_group", "wait_group", "wait_all"} or "mbarrier" in modifiers:
            if "mbarrier" in modifiers:
                raise Unsupported("modifier .mbarrier", instruction)
            self.site(instruction, "scalar")
            return
        if "bulk" in modifiers or "reduce" in modifiers or instruction.modifiers[:1] != ("async",):
            raise Unsupported("unknown instruction", instruction)
        to, source, size = instruction.operands[:3]
        index = self.site(instruction, "vector", "shared")
        out = ["{ show_mask(&w->x);", *self.active(instruction), "if (act) {"]
        out += self.open_access(instruction, to, index)
        out += self.open_access(instruction, source, index, "b")
        part = "NULL"
        rest = [o for o in instruction.operands[3:] if self.is_source_size(o)]
        if rest:
            lines, part, wide = self.source_row(rest[0], "b32", instruction, "size")
            out += lines
            if wide:
                raise Unsupported("source size of 64 bits", instruction)
        out.append(f"if (ptx_copy(&w->x, {index}, act, a, b, {size.value}, {part})) return WAVE_FAULT;")
        self.emit(*out, "} }")

    def is_source_size(self, operand: Operand) -> bool:
        """True for the operand that says how many bytes to read (a cache policy has 64 bits)."""
        return operand.kind == "int" or (operand.kind == "reg" and self.width(operand) == 32)
