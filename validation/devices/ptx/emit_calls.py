"""Emit calls and what they pass: parameters, returns, saved registers, and the functions that the device provides."""

from __future__ import annotations

from porter.validation.devices.ptx.allocate import bits_of
from porter.validation.devices.ptx.cfg import Block
from porter.validation.devices.ptx.code import mask_of, typed
from porter.validation.devices.ptx.emit_sync import SyncEmitter
from porter.validation.devices.ptx.model import WIDTHS, Function, Instruction, Operand, Unsupported, Variable, layout

_VECTORS = ("v2", "v4", "v8")


class CallEmitter(SyncEmitter):
    """Functions."""

    uses_heap = False
    argument_rows = 1
    return_rows = 1

    def collect_calls(self, function: Function) -> None:
        """Where each call's parameters lie: arguments one after the other, and so the returns."""
        places: dict[str, tuple[str, int]] = {}
        for item in function.items:
            if not isinstance(item, Instruction) or item.base != "call":
                continue
            returns, target, arguments = self.call_parts(item)
            del target
            for area, names in (("returns", returns), ("arguments", arguments)):
                variables = [self._variable(function, name, item) for name in names]
                size = layout(variables)
                for name, variable in zip(names, variables, strict=True):
                    places[name] = (area, variable.offset)
                if area == "arguments":
                    self.argument_rows = max(self.argument_rows, (size + 3) // 4)
                else:
                    self.return_rows = max(self.return_rows, (size + 3) // 4)
        self.calls[function.name] = places

    @staticmethod
    def _variable(function: Function, name: str, instruction: Instruction) -> Variable:
        if name not in function.variables:
            raise Unsupported(f"{name} passed to a call", instruction)
        return function.variables[name]

    @staticmethod
    def call_parts(instruction: Instruction) -> tuple[list[str], Operand, list[str]]:
        """Returns, target and arguments of a call."""
        operands = list(instruction.operands)
        returns = [o.text for o in operands.pop(0).parts] if operands[0].kind == "list" else []
        target = operands.pop(0)
        arguments = [o.text for o in operands.pop(0).parts] if operands and operands[0].kind == "list" else []
        return returns, target, arguments

    # ---- parameters --------------------------------------------------------------------------------------

    def parameter_access(self, instruction: Instruction) -> None:
        """ld.param and st.param: lane-wise, in rows of 32 bits."""
        modifiers = [m for m in instruction.modifiers[1:] if m not in _VECTORS]
        if len(modifiers) != 1 or modifiers[0] not in WIDTHS or WIDTHS[modifiers[0]] > 64:
            raise Unsupported("form of parameter access", instruction)
        kind = modifiers[0]
        self.site(instruction)
        self.sites.pop()  # counted by the group already
        if instruction.base == "ld":
            self._load_parameter(instruction, kind)
        else:
            self._store_parameter(instruction, kind)

    def _area(self, name: str, instruction: Instruction) -> tuple[str, int]:
        places = self.calls.get(self.unit.function.name, {})
        if name in places:
            return places[name]
        function = self.unit.function
        for group, area in ((function.parameters, "parameters"), (function.returns, "returns")):
            layout(group)
            for variable in group:
                if variable.name == name:
                    return area, variable.offset
        raise Unsupported(f"parameter {name}", instruction)

    def _load_parameter(self, instruction: Instruction, kind: str) -> None:
        target, address = instruction.operands
        targets = target.parts if target.kind == "vector" else (target,)
        base = address.parts[0]
        if base.kind != "symbol":
            raise Unsupported("parameter at a computed address", instruction)
        size = WIDTHS[kind] // 8
        for k, operand in enumerate(targets):
            if operand.kind == "sink":
                continue
            extra = k * size
            if self.unit.function.is_kernel and any(p.name == base.text for p in self.kernel.parameters):
                bits = self.group.uniform.setdefault(
                    self.parameter(instruction, address, kind, extra), f"k{len(self.group.uniform)}"
                )
            else:
                area, offset = self._area(base.text, instruction)
                bits = self._read(area, offset + address.value + extra, kind, self.width(operand), instruction)
            if WIDTHS[kind] < 64 and self.width(operand) == 64:
                bits = f"(uint64_t){typed(bits, 's64' if kind[0] == 's' else 'u64', 32)}"
            self.assign(operand, bits, instruction)

    def _row_of(self, area: str, offset: int) -> str:
        if area == "parameters":
            return f"w->r[{self.unit.parameter_base + offset // 4}]"
        return f"w->{area}[{offset // 4}]"

    def _read(self, area: str, offset: int, kind: str, to: int, instruction: Instruction) -> str:
        width = WIDTHS[kind]
        if offset % max(width // 8, 1) and offset % 4:
            raise Unsupported("misaligned parameter", instruction)
        low = f"{self._row_of(area, offset)}[l]"
        if width == 64:
            return f"({low} | (uint64_t){self._row_of(area, offset + 4)}[l] << 32)"
        if width == 32:
            return low
        value = f"({low} >> {8 * (offset % 4)} & {mask_of(width)})"
        if kind.startswith("s"):
            extended = f"(uint32_t)(int32_t)(int{width}_t){value}"
            return f"({extended} & 0xffffu)" if to == 16 else extended
        return value

    def _store_parameter(self, instruction: Instruction, kind: str) -> None:
        address, source = instruction.operands
        sources = source.parts if source.kind == "vector" else (source,)
        base = address.parts[0]
        if base.kind != "symbol" or instruction.guard is not None:
            raise Unsupported("form of parameter store", instruction)
        area, offset = self._area(base.text, instruction)
        width = WIDTHS[kind]
        for k, operand in enumerate(sources):
            at = offset + address.value + k * width // 8
            raw = f"b{width}"
            value = self.fresh()
            self.line(f"const uint{max(width, 32)}_t {value} = {self.value(operand, raw, instruction)};")
            row = self._row_of(area, at)
            if width < 32:
                shift = 8 * (at % 4)
                kept = f"({row}[l] & ~({mask_of(width)} << {shift})) | {value} << {shift}"
            else:
                kept = f"(uint32_t){value}"
            self.line(f"{row}[l] = m[l] ? {kept} : {row}[l];")
            if width == 64:
                high = self._row_of(area, at + 4)
                self.line(f"{high}[l] = m[l] ? (uint32_t)({value} >> 32) : {high}[l];")

    # ---- calls -------------------------------------------------------------------------------------------

    def emit_call(self, instruction: Instruction, block: Block, pc: int, after: int) -> None:
        """A call of a function of the module, by name or by address."""
        index = self.site(instruction, "scalar")
        unit = self.unit
        returns, target, arguments = self.call_parts(instruction)
        del returns, arguments
        rows = self._saved_rows(block)
        if block.number in unit.saved:
            self.emit(*self._move_rows(rows, unit.saved[block.number], save=True))
        frame = unit.frame_bytes
        if target.kind == "reg":
            self._call_address(instruction, index, target, pc, after, frame)
            return
        name = self.program.aliases.get(target.text, target.text)
        if name not in self.units:
            raise Unsupported(f"call of {name}, which has no body", instruction)
        entry = self.units[name].pcs[0]
        self.emit(f"e = ptx_call(&w->x, {index}, {after}, {entry}, {frame}); goto moved;")

    def _call_address(
        self, instruction: Instruction, index: int, target: Operand, pc: int, after: int, frame: int
    ) -> None:
        value = self.lane_value(target, "u64", instruction)
        self.emit("{ uint64_t to[LANES] ALIGNED;", f"for (int l = 0; l < LANES; l++) to[l] = {value};")
        self.emit(*self.refuse_bad([target.text], "w->x.active", index))
        self.emit(
            "const uint64_t first = to[__builtin_ctz(w->x.active)];",
            "uint32_t same = 0;",
            "for (int l = 0; l < LANES; l++) same |= (uint32_t)(to[l] == first) << l;",
            "same &= w->x.active;",
            f"if (same != w->x.active) ptx_park(&w->x, {pc}, w->x.active & ~same, PATH_READY, {index}, 0);",
            "w->x.active = same;",
            "switch (first) {",
        )
        for place, name in enumerate(self.program.functions):
            if name in self.units and name != self.kernel.name:
                entry = self.units[name].pcs[0]
                call = f"ptx_call(&w->x, {index}, {after}, {entry}, {frame})"
                self.emit(f"case CODE_BASE + {16 * place}: e = {call}; goto moved;")
        self.emit(f"}} return ptx_trap(&w->x, {index}, FAULT_BAD_JUMP, first); }}")

    def _saved_rows(self, block: Block) -> list[tuple[str, int]]:
        """Rows (pool and number) that must survive a call that comes back to this function."""
        unit = self.unit
        if block.number not in unit.saved:
            return []
        alive = unit.live.live_out[block.number]
        found: list[tuple[str, int]] = []
        for bit in bits_of(alive):
            name = unit.live.names[bit]
            if name in unit.rows.row:
                found.append(("q" if WIDTHS[unit.kind(name)] == 64 else "r", unit.rows.row[name]))
        found += [("r", unit.parameter_base + k) for k in range(unit.parameter_rows)]
        return list(dict.fromkeys(found))

    def _move_rows(self, rows: list[tuple[str, int]], base: int, save: bool) -> list[str]:
        """Copy rows to local memory, or back."""
        out = ["{ show_mask(&w->x); const uint32_t *const m = w->x.mask;"]
        out.append(
            f"uint32_t *const stack = (uint32_t *)(w->x.core.private_base + ((size_t)w->x.base + {base}) * LANES);"
        )
        word = 0
        limit = base + sum(8 if pool == "q" else 4 for pool, _ in rows)
        out.append(f"if (w->x.base + {limit} > w->x.core.launch->private_bytes) "
                   "return ptx_trap(&w->x, 0, FAULT_PRIVATE_OUT_OF_BOUNDS, w->x.base);")  # fmt: skip
        out.append("for (int l = 0; l < LANES; l++) {")
        for pool, row in rows:
            low, high = f"stack[{word} * LANES + l]", f"stack[{word + 1} * LANES + l]"
            mine = f"w->{pool}[{row}][l]"
            if pool == "r" and save:
                out.append(f"{low} = m[l] ? {mine} : {low};")
            elif pool == "r":
                out.append(f"{mine} = m[l] ? {low} : {mine};")
            elif save:
                out.append(
                    f"{low} = m[l] ? (uint32_t){mine} : {low}; {high} = m[l] ? (uint32_t)({mine} >> 32) : {high};"
                )
            else:
                out.append(f"{mine} = m[l] ? {low} | (uint64_t){high} << 32 : {mine};")
            word += 2 if pool == "q" else 1
        return [*out, "} }"]

    def emit_return_site(self, block: Block) -> None:
        """After a recursive call: the registers as they were."""
        self.emit(*self._move_rows(self._saved_rows(block), self.unit.saved[block.number], save=False))

    def emit_entry(self) -> None:
        """At the start of a device function: its parameters become its own."""
        unit = self.unit
        if not unit.parameter_rows:
            return
        self.emit("{ show_mask(&w->x); const uint32_t *const m = w->x.mask; for (int l = 0; l < LANES; l++) {")
        for k in range(unit.parameter_rows):
            row = f"w->r[{unit.parameter_base + k}][l]"
            self.emit(f"{row} = m[l] ? w->arguments[{k}][l] : {row};")
        self.emit("} }")

    def emit_builtin(self, instruction: Instruction) -> None:
        """vprintf, malloc, free and __assertfail."""
        returns, target, arguments = self.call_parts(instruction)
        index = self.site(instruction, "scalar")
        places = self.calls[self.unit.function.name]
        out = ["{ show_mask(&w->x); const uint32_t *const m = w->x.mask; (void)m;"]
        for k, name in enumerate(arguments):
            variable = self.unit.function.variables[name]
            kind = "b64" if variable.size == 8 else "b32"
            value = self._read("arguments", places[name][1], kind, 64, instruction)
            out.append(f"uint{8 * variable.size}_t a{k}[LANES] ALIGNED;")
            out.append(f"for (int l = 0; l < LANES; l++) a{k}[l] = {value};")
        names = ", ".join(f"a{k}" for k in range(len(arguments)))
        if target.text == "vprintf":
            out.append(f"if (ptx_print(&w->x, {index}, w->x.active, {names})) return WAVE_FAULT;")
            out += self._return_words(returns, ["1u"])
        elif target.text == "__assertfail":
            names = ", ".join(f"a{k}" for k in range(4))
            out.append(f"if (ptx_assert(&w->x, {index}, w->x.active, {names})) return WAVE_FAULT;")
        elif target.text == "malloc":
            self.uses_heap = True
            out.append("uint64_t got[LANES] ALIGNED;")
            out.append("ptx_allocate(&w->x, w->x.active, a0, got);")
            out += self._return_words(returns, ["(uint32_t)got[l]", "(uint32_t)(got[l] >> 32)"])
        else:
            self.uses_heap = True
            out.append(f"if (ptx_release(&w->x, {index}, w->x.active, a0)) return WAVE_FAULT;")
        self.emit(*out, "}")

    @staticmethod
    def _return_words(returns: list[str], words: list[str]) -> list[str]:
        if not returns:
            return []
        return [
            f"for (int l = 0; l < LANES; l++) w->returns[{k}][l] = m[l] ? {word} : w->returns[{k}][l];"
            for k, word in enumerate(words)
        ]
