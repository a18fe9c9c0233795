"""Emit what lanes do together: shuffles, votes, matches, reductions, barriers."""

from __future__ import annotations

from porter.validation.devices.ptx.effects import reads, registers
from porter.validation.devices.ptx.emit_memory import MemoryEmitter
from porter.validation.devices.ptx.model import Instruction, Operand, Unsupported

_SHUFFLES = {"up": "SYNC_SHFL_UP", "down": "SYNC_SHFL_DOWN", "bfly": "SYNC_SHFL_BFLY", "idx": "SYNC_SHFL_IDX"}
_VOTES = {"all": "SYNC_ALL", "any": "SYNC_ANY", "uni": "SYNC_UNI", "ballot": "SYNC_BALLOT"}
_REDUCTIONS = {
    "add": "SYNC_ADD", "min.u32": "SYNC_MIN_U", "max.u32": "SYNC_MAX_U", "min.s32": "SYNC_MIN_S",
    "max.s32": "SYNC_MAX_S", "and": "SYNC_AND", "or": "SYNC_OR", "xor": "SYNC_XOR",
}  # fmt: skip
_ALL = Operand("int", value=0xFFFFFFFF)


def _is_named(instruction: Instruction) -> bool:
    """Whether it says which lanes meet."""
    return "sync" in instruction.modifiers


class SyncEmitter(MemoryEmitter):
    """Meeting points of a warp and of a block."""

    def emit_sync(self, instruction: Instruction, pc: int) -> None:
        """An instruction with a mask of lanes."""
        words = instruction.modifiers
        name = f"_{instruction.base}"
        if instruction.base == "bar":
            self._meet(instruction, pc, "SYNC_WARP", instruction.operands[0], ())
        elif instruction.base == "shfl":
            self._shuffle(instruction, pc)
        elif instruction.base == "vote":
            mode = next((w for w in words if w in _VOTES), None)
            if mode is None or len(instruction.operands) != 2 + _is_named(instruction):
                raise Unsupported("form of vote", instruction)
            members = instruction.operands[2] if _is_named(instruction) else None
            self._meet(instruction, pc, _VOTES[mode], members, (instruction.operands[1],))
            self._results(instruction, "b32" if mode == "ballot" else "pred")
        elif instruction.base == "match":
            wide = words[-1].endswith("64")
            kind = "SYNC_MATCH_ALL" if "all" in words else "SYNC_MATCH_ANY"
            self._meet(instruction, pc, kind, instruction.operands[2], (instruction.operands[1],), wide)
            self._results(instruction, "b32")
        elif instruction.base == "redux":
            operation = next((w for w in words if w in ("add", "min", "max", "and", "or", "xor")), "")
            key = f"{operation}.{words[-1]}" if operation in ("min", "max") else operation
            if key not in _REDUCTIONS or "NaN" in words or "abs" in words:
                raise Unsupported("form of reduction", instruction)
            self._meet(instruction, pc, _REDUCTIONS[key], instruction.operands[2], (instruction.operands[1],))
            self._results(instruction, "b32")
        elif instruction.base == "elect":
            self._meet(instruction, pc, "SYNC_ELECT", instruction.operands[1], ())
            self._results(instruction, "b32")
        else:
            raise Unsupported(f"unknown instruction {name}", instruction)

    def _shuffle(self, instruction: Instruction, pc: int) -> None:
        mode = next((w for w in instruction.modifiers if w in _SHUFFLES), None)
        if mode is None or len(instruction.operands) != 4 + _is_named(instruction):
            raise Unsupported("form of shuffle", instruction)
        a, b, c = instruction.operands[1:4]
        members = instruction.operands[4] if _is_named(instruction) else None
        self._meet(instruction, pc, _SHUFFLES[mode], members, (a, b, c))
        self._results(instruction, "b32")

    def _meet(
        self,
        instruction: Instruction,
        pc: int,
        kind: str,
        members: Operand | None,
        sources: tuple[Operand, ...],
        wide: bool = False,
    ) -> None:
        """`members`: the lanes that meet; None: those that are there."""
        index = self.site(instruction)
        predicate = instruction.base == "vote"
        out = ["{ show_mask(&w->x); const uint32_t *const m = w->x.mask;", "for (int l = 0; l < LANES; l++) {"]
        named = "w->x.active" if members is None else self.lane_value(members, "b32", instruction)
        out.append(f"w->x.named[l] = m[l] ? {named} : w->x.named[l];")
        for field, operand in zip("abc", sources, strict=False):
            bits = "pred" if predicate else "b64" if wide and field == "a" else "b32"
            value = self.lane_value(operand, bits, instruction)
            out.append(f"w->x.{field}[l] = m[l] ? {value} : w->x.{field}[l];")
        out.append("}")
        names = [name for name in reads(instruction) if name not in self.unit.constants]
        held, chosen = set(names), set[str]()
        if instruction.base == "shfl":
            held, chosen = (
                set(registers(sources[0])),
                {r for o in (*sources[1:], *((members,) if members else ())) for r in registers(o)},
            )
        bad = self.bad_of([name for name in names if name in held]) or "0"
        choice = self.bad_of([name for name in names if name in chosen]) or "0"
        out.append(f"e = ptx_sync(&w->x, {index}, {pc}, {kind}, {bad}, {choice});")
        out.append("if (e != GO) goto moved; }")
        self.emit(*out)

    def _results(self, instruction: Instruction, kind: str) -> None:
        first = instruction.operands[0]
        targets = first.parts if first.kind == "pair" else (first,)
        out: list[str] = []
        for k, target in enumerate(targets):
            row = self.target_row(target)
            if row == "NULL":
                continue
            value = "(uint32_t)w->x.result[l]"
            if k == 1 or kind == "pred":
                value = "-(uint32_t)(w->x.result_true >> l & 1)"
            out.append(f"{row}[l] = m[l] ? {value} : {row}[l];")
        if out:
            self.emit("{ show_mask(&w->x); const uint32_t *const m = w->x.mask;",
                      "for (int l = 0; l < LANES; l++) {", *out, "} }")  # fmt: skip
        for k, target in enumerate(targets):
            slot = self.bad_slot(target.text) if target.kind == "reg" else None
            # whether the source of a shuffle is in range does not hang on what that lane holds
            bad = "choice_bad" if k == 1 and instruction.base == "shfl" else "result_bad"
            if slot:
                self.emit(f"{slot} = ({slot} & ~w->x.active) | (w->x.{bad} & w->x.active);")

    def emit_barrier(self, instruction: Instruction, pc: int, following: int) -> None:
        """bar.sync, barrier.sync, bar.red; all threads of the block."""
        words = [w for w in instruction.modifiers if w not in ("cta", "cluster")]
        index = self.site(instruction, "scalar")
        operands = list(instruction.operands)
        if "cluster" in instruction.modifiers:  # a cluster is one block here
            if "arrive" in words:
                return
            operands = [Operand("int")]
        self._name(operands[1:-1] if words[0] == "red" else operands, instruction, index)
        if words[0] == "arrive":
            self.emit("core_arrive(&w->x.core, w->x.core.barrier_id, (uint32_t)__builtin_popcount(w->x.active));")
            return
        aligned = int(instruction.base == "bar" or "aligned" in words)
        if words[0] == "red":
            self._reduce(instruction, index, pc, following, aligned)
            return
        if words[0] not in ("sync", "aligned", "wait"):
            raise Unsupported(f"modifier .{words[0]}", instruction)
        self.emit(f"e = ptx_barrier(&w->x, {index}, {pc}, {following}, {aligned}); goto moved;")

    def _name(self, operands: list[Operand], instruction: Instruction, index: int) -> None:
        """C that says which barrier it is, and for how many threads; both are the same for all lanes."""
        for field, place in (("barrier_id", 0), ("barrier_count", 1)):
            value = "0u"
            if place < len(operands):
                value = self.lane_value(operands[place], "b32", instruction)
                self.emit(*self.refuse_bad(tuple(registers(operands[place])), "w->x.active", index))
            loop = "const uint32_t l = (uint32_t)__builtin_ctz(w->x.active); (void)l;"
            self.emit(f"{{ {loop} w->x.core.{field} = {value}; }}")

    def _reduce(self, instruction: Instruction, index: int, pc: int, following: int, aligned: int) -> None:
        """bar.red: the predicates of all threads, to be had at the block that follows."""
        _, number, *rest = instruction.operands
        if number.kind != "int" or number.value or len(rest) != 1:
            raise Unsupported("named barrier or barrier with a count", instruction)
        value = self.lane_value(rest[0], "pred", instruction)
        self.emit("{ uint32_t g[LANES] ALIGNED;", f"for (int l = 0; l < LANES; l++) g[l] = {value};")
        self.emit(*self.refuse_bad([rest[0].text], "w->x.active", index))
        self.emit("ptx_barrier_value(&w->x, (uint32_t)pack_mask(g)); }")
        self.emit(f"e = ptx_barrier(&w->x, {index}, {pc}, {following}, {aligned}); goto moved;")

    def emit_barrier_result(self, instruction: Instruction) -> None:
        """At the start of the block after a bar.red."""
        mode = next(w for w in instruction.modifiers if w in _BARRIERS)
        target = instruction.operands[0]
        row = self.target_row(target)
        value = "v" if mode == "popc" else "-(uint32_t)(v != 0)"
        self.emit(f"{{ show_mask(&w->x); const uint32_t v = ptx_barrier_result(&w->x, {_BARRIERS[mode]}); (void)v;")
        if row != "NULL":
            self.emit(f"for (int l = 0; l < LANES; l++) {row}[l] = w->x.mask[l] ? {value} : {row}[l];")
        self.emit(*self.clear_bad((target.text,), "w->x.active"), "}")


_BARRIERS = {"and": "BARRIER_AND", "or": "BARRIER_OR", "popc": "BARRIER_POPC"}
