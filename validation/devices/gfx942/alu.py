"""Emit one vector ALU instruction into the open group: rows of vector.py in all their encodings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from porter.validation.devices.gfx942 import vector
from porter.validation.devices.gfx942.code import (
    LaneReader,
    Unsupported,
    Writer,
    insert,
    is_wide,
    modified,
    scalar_indices,
    select,
    vcc_operand,
)
from porter.validation.devices.gfx942.operands import EXEC, Operand, constant_bits
from porter.validation.devices.gfx942.rows import SOURCE_NAMES, Row
from porter.validation.devices.gfx942.text import Instruction

KNOWN = {
    *("clamp", "mul", "div", "op_sel", "op_sel_hi", "neg_lo", "neg_hi"),
    *("dst_sel", "dst_unused", "src0_sel", "src1_sel"),
    *("quad_perm", "row_shl", "row_shr", "row_ror", "row_mirror", "row_half_mirror", "row_bcast", "row_newbcast"),
    *("wave_shl", "wave_rol", "wave_shr", "wave_ror", "row_mask", "bank_mask", "bound_ctrl", "row_share"),
}
_NOTHING: Mapping[str, str] = MappingProxyType({})
_HALF_KINDS = ("f16", "u16", "i16", "h16")
_FLOATS = ("f32", "f64", "f16", "h16")
_C_TYPES = {
    "b32": "uint32_t",
    "u32": "uint32_t",
    "i32": "int32_t",
    "f32": "float",
    "f16": "float",
    "u8": "uint32_t",
    "b64": "uint64_t",
    "u64": "uint64_t",
    "i64": "int64_t",
    "f64": "double",
    "u16": "uint16_t",
    "i16": "int16_t",
    "f16k": "float",
    "f16h": "float",
    "h16": "uint16_t",
    "h16k": "uint16_t",
    "u16k": "uint16_t",
    "i16k": "int16_t",
}


def bit_list(instruction: Instruction, name: str, count: int, default: int) -> list[int]:
    """A modifier like op_sel:[0,1] as bits, padded with the default."""
    text = instruction.modifier(name)
    given = [int(part) for part in text.strip("[]").split(",")] if text else []
    return (given + [default] * count)[: max(count, len(given))]


def row_for(instruction: Instruction) -> Row | None:
    """The table row of a vector instruction."""
    name = instruction.mnemonic
    for rows in (vector.ROWS, vector.PACKED, vector.MIXED):
        if name in rows:
            return rows[name]
    return None


def emit(writer: Writer, instruction: Instruction, operands: list[Operand]) -> None:
    """Append the instruction to the writer's open group."""
    unknown = [name for name, _ in instruction.modifiers if name not in KNOWN]
    if unknown:
        raise Unsupported(f"modifier {unknown[0]!r}", instruction)
    name = instruction.mnemonic
    claim_rounding(writer, row_for(instruction))
    if instruction.form == "dpp":
        _emit_dpp(writer, instruction, operands)
        return
    if name in vector.PACKED:
        _Packed(writer, instruction, operands, vector.PACKED[name]).emit()
    elif name in vector.MIXED:
        _Mixed(writer, instruction, operands, vector.MIXED[name]).emit()
    else:
        _Lanewise(writer, instruction, operands, vector.ROWS[name]).emit()
    writer.group.count += 1


def claim_rounding(writer: Writer, row: Row | None) -> None:
    """In kernels that change MODE: one loop rounds in one way."""
    if not writer.dynamic_mode or row is None:
        return
    kinds = {kind.rstrip("kh") for kind in (*row.results, *row.sources)}
    result = row.results[0].rstrip("kh")
    field = "w->mode" if result == "f32" else "w->mode >> 2" if kinds & {"f64", "f16"} else "w->mode"
    if not kinds & {"f32", "f64", "f16"}:
        return
    if writer.group.rounding not in (None, field):
        writer.flush()
    writer.group.rounding = field


_DPP_CONTROLS = {  # 12.16, DPP_CTRL: first code of each family
    "row_shl": 0x100,
    "row_shr": 0x110,
    "row_ror": 0x120,
    "row_newbcast": 0x150,
    "wave_shl": 0x12F,
    "wave_rol": 0x133,
    "wave_shr": 0x137,
    "wave_ror": 0x13B,
}


def dpp_control(instruction: Instruction) -> int:
    """The DPP_CTRL code of a DPP modifier."""
    for name, value in instruction.modifiers:
        if name == "quad_perm":
            lanes = [int(part) for part in value.strip("[]").split(",")]
            return sum(lane << 2 * i for i, lane in enumerate(lanes))
        if name in _DPP_CONTROLS:
            return _DPP_CONTROLS[name] + int(value)
        if name == "row_bcast":
            return {"15": 0x142, "31": 0x143}[value]
        if name in ("row_mirror", "row_half_mirror"):
            return 0x140 if name == "row_mirror" else 0x141
    raise Unsupported("no DPP control", instruction)


def _emit_dpp(writer: Writer, instruction: Instruction, operands: list[Operand]) -> None:
    """DPP: source 0 comes from another lane; a loop of its own, under the lanes DPP leaves on."""
    row = vector.ROWS.get(instruction.mnemonic)
    if row is None:
        raise Unsupported("DPP on this instruction", instruction)
    source = operands[len(row.results)]
    if not source.is_vector:
        raise Unsupported("DPP source that is no vector register", instruction)
    zero_fill = instruction.modifier("bound_ctrl") is not None
    masks = [int(instruction.modifier(name) or "0xf", 0) for name in ("row_mask", "bank_mask")]
    control = f"{dpp_control(instruction):#x}, {int(zero_fill)}, {masks[0]}, {masks[1]}"
    register = writer.registers.row(source)
    writer.flush()
    claim_rounding(writer, row)
    group = writer.group
    group.hoisted += [
        "uint32_t dp[64] ALIGNED, dp_mask[64] ALIGNED;",
        f"const uint64_t dp_on = gfx_dpp(w, {control}, V({register}), dp);",
        "expand_mask(dp_on, dp_mask);",
    ]
    poison = f"P({register})"
    if is_wide(row.sources[0]):
        group.hoisted.append(f"uint32_t dp_high[64] ALIGNED; gfx_dpp(w, {control}, V({register + 1}), dp_high);")
        poison += f" | P({register + 1})"
    if writer.poison:
        group.hoisted += [
            f"uint32_t dp_p[64] ALIGNED; expand_mask({poison}, dp_p);",
            f"gfx_dpp(w, {control}, dp_p, dp_p); const uint64_t dp_bad = pack_mask(dp_p);",
        ]
    group.mask, group.active = "dp_mask", "dp_on"
    _Lanewise(writer, instruction, operands, row).emit()
    group.count += 1
    writer.flush()


class _Lanewise:
    """One row, one instruction."""

    def __init__(self, writer: Writer, instruction: Instruction, operands: list[Operand], row: Row) -> None:
        self.writer = writer
        self.instruction = instruction
        self.row = row
        results = len(row.results)
        if len(operands) < results:
            raise Unsupported("too few operands", instruction)
        self.results = operands[:results]
        self.sources = list(operands[results:])
        explicit = [kind for kind in row.sources if kind != "vcc"]
        if len(self.sources) == len(explicit) - 1 and explicit[-1] == "lanes":
            self.sources.append(vcc_operand())
        if len(self.sources) != len(explicit):
            raise Unsupported(f"{len(self.sources)} sources where {len(explicit)} are known", instruction)
        if "vcc" in row.sources:
            self.sources.append(vcc_operand())
        self.reader = LaneReader(writer, instruction)
        self.op_sel = bit_list(instruction, "op_sel", len(explicit) + 1, 0)

    def emit(self) -> None:
        self._check_modifiers()
        values = {i for o, k in zip(self.sources, self.row.sources, strict=True) if k not in ("lanes", "vcc")
                  for i in scalar_indices(o, 2 if is_wide(k) else 1)}  # fmt: skip
        self.reader.require_no_conflict(values)
        self._require_mask_pairs()
        body = ["{"]
        for position, (operand, kind) in enumerate(zip(self.sources, self.row.sources, strict=True)):
            body.append(self._source(position, operand, kind))
        if self.row.reads_result:
            body.append(self._old_result())
        body += self._compute()
        masked = self._masked_out()
        if masked:
            body.append("".join(f"{zeros}[l] = {name} == 0 ? ~0u : 0;" for name, zeros in masked))
        body.append("}")
        self._poison(dict(masked))
        self.writer.group.lines += body

    def _require_mask_pairs(self) -> None:
        """Masks in one loop are whole pairs; overlapping pairs need a loop each."""
        group = self.writer.group
        pairs = set(group.masks_in) | set(group.masks_out)
        sources = zip(self.sources, self.row.sources, strict=True)
        results = zip(self.results, self.row.results, strict=True)
        mine = [o.index for o, k in (*sources, *results) if k in ("lanes", "vcc")]
        if any(abs(i - p) == 1 for i in mine for p in pairs):
            self.writer.flush()

    def _check_modifiers(self) -> None:
        form, names = self.instruction.form, {name for name, _ in self.instruction.modifiers}
        if names & {"dst_sel", "dst_unused", "src0_sel", "src1_sel"} and form != "sdwa":
            raise Unsupported("SDWA modifiers outside SDWA", self.instruction)
        if names & {"op_sel_hi", "neg_lo", "neg_hi"} and type(self) is _Lanewise:
            raise Unsupported("packed modifiers on an unpacked instruction", self.instruction)
        halves = any(k in _HALF_KINDS for k in self.row.sources) or self.row.results[0].rstrip("kh") in _HALF_KINDS
        if any(self.op_sel) and not halves:
            raise Unsupported("op_sel on a 32-bit instruction", self.instruction)
        wide = [k for k in (*self.row.sources, *self.row.results) if is_wide(k)]
        if form == "sdwa" and wide and not self.instruction.mnemonic.startswith("v_cvt_pk_f32_"):
            raise Unsupported("SDWA on a 64-bit instruction", self.instruction)
        if names & {"mul", "div"} and self.row.results[0].rstrip("kh") not in _FLOATS:
            raise Unsupported("output modifier on an integer", self.instruction)

    def _source(self, position: int, operand: Operand, kind: str) -> str:
        name = SOURCE_NAMES[position]
        if kind in ("lanes", "vcc"):
            return f"const uint32_t {name} = {self.reader.mask(operand)} & 1;"
        if (operand.negate or operand.absolute) and kind not in (*_FLOATS, "b32", "b64"):
            raise Unsupported(f"neg or abs on a source of type {kind}", self.instruction)
        return f"const {_C_TYPES[kind]} {name} = IN_{kind}({self._source_bits(position, operand, kind)});"

    def _source_bits(self, place: int, operand: Operand, kind: str) -> str:
        if place == 0 and self.instruction.form == "dpp":
            return modified("(dp[l] | (uint64_t)dp_high[l] << 32)" if is_wide(kind) else "dp[l]", kind, operand)
        word = self.reader.bits(operand, kind)
        if self.instruction.form == "sdwa" and place < 2:
            selection = self.instruction.modifier(f"src{place}_sel") or "DWORD"
            word = select(word, selection, operand.sign_extend)
            if selection != "DWORD" and kind == "b32" and (operand.negate or operand.absolute):
                raise Unsupported("neg or abs on a part of an untyped source", self.instruction)
        elif operand.sign_extend:
            raise Unsupported("sext outside SDWA", self.instruction)
        if kind in _HALF_KINDS and place < len(self.op_sel) - 1 and self.op_sel[place]:
            word = f"({word} >> 16)"
        return modified(word, kind, operand)

    def _old_result(self) -> str:
        kind = self.row.results[0].rstrip("kh")
        return f"const {_C_TYPES[kind]} d = IN_{kind}({self.reader.bits(self.results[0], kind)});"

    def _compute(self) -> list[str]:
        lines: list[str] = []
        for position, kind in enumerate(self.row.results):
            expression = self._expression(position, kind)
            if kind == "lanes":
                lines.append(f"const int t{position} = ({expression}) != 0;")
            else:
                lines.append(f"const {_C_TYPES[kind]} t{position} = {expression};")
        for position, (operand, kind) in enumerate(zip(self.results, self.row.results, strict=True)):
            lines += self._store(operand, kind, f"t{position}")
        return lines

    def _expression(self, position: int, kind: str) -> str:
        expression = self.row.expressions[position]
        plain = kind.rstrip("kh")
        if position:
            return expression
        if plain in _FLOATS:
            return self._output_modified(expression, plain)
        if self.instruction.modifier("clamp") is None or vector.IN_RANGE.match(self.instruction.mnemonic):
            return expression
        saturating = vector.SATURATING.get(self.instruction.mnemonic)
        if saturating is None:
            raise Unsupported("clamp on an integer instruction", self.instruction)
        return saturating

    def _output_modified(self, expression: str, kind: str) -> str:
        """OMOD, which the hardware ignores in IEEE mode and where denormals are results; then clamp."""
        if kind == "h16":
            if self.instruction.modifier("clamp") is None and not self.writer.scales_results(kind):
                return expression
            return f"f16_pattern({self._output_modified(f'f16_value({expression})', 'f16')})"
        for name in ("mul", "div") if self.writer.scales_results(kind) else ():
            factor = self.instruction.modifier(name)
            if factor is not None:
                expression = f"({expression}) {'*' if name == 'mul' else '/'} {factor}.0f"
        if self.instruction.modifier("clamp") is None:
            return expression
        return f"{'clamp_f64' if kind == 'f64' else 'clamp_f32'}({expression})"

    def _store(self, operand: Operand, kind: str, value: str) -> list[str]:
        group = self.writer.group
        if kind == "lanes":
            if operand.kind != "s":
                raise Unsupported(f"lane mask result {operand.text!r}", self.instruction)
            group.masks_out.setdefault(operand.index)
            return [f"q{operand.index} = {value} ? 0xffffffffu : 0;"]
        if not operand.is_vector:
            raise Unsupported(f"result {operand.text!r} of a vector instruction", self.instruction)
        row = self.writer.registers.row(operand)
        plain = kind.rstrip("kh")
        bits = f"OUT_{plain}({value})"
        if is_wide(plain):
            if operand.count != 2:
                raise Unsupported("64-bit result in one register", self.instruction)
            group.written.setdefault(row)
            group.written.setdefault(row + 1)
            return [f"const uint64_t u = {bits};", f"v{row} = (uint32_t)u; v{row + 1} = (uint32_t)(u >> 32);"]
        return [f"v{row} = {self._placed(row, kind, bits)};", *self._written(row)]

    def _written(self, row: int) -> list[str]:
        self.writer.group.written.setdefault(row)
        return []

    def _old(self, row: int) -> str:
        group = self.writer.group
        if row not in group.written:
            group.loaded.setdefault(row)
        return f"v{row}"

    def _placed(self, row: int, kind: str, bits: str) -> str:
        """Where in the register the result goes."""
        if self.instruction.form == "sdwa":
            selection = self.instruction.modifier("dst_sel") or "DWORD"
            unused = self.instruction.modifier("dst_unused") or "UNUSED_PAD"
            old = self._old(row) if unused == "UNUSED_PRESERVE" and selection != "DWORD" else "0u"
            return insert(old, f"({bits})", selection, unused)
        high = kind.endswith("h") or (kind.rstrip("kh") in _HALF_KINDS and bool(self.op_sel[-1]))
        if high:
            return f"({self._old(row)} & 0xffffu) | ({bits}) << 16"
        if kind.endswith("k"):
            return f"({self._old(row)} & 0xffff0000u) | (({bits}) & 0xffffu)"
        return bits

    def _masked_out(self) -> list[tuple[str, str]]:
        """Of a conjunction: sources and rows for the lanes where they are 0. Compilers select 0 or a value so."""
        vectors = all(operand.is_vector for operand in self.sources)
        if not (self.writer.poison and self.row.mnemonic == "v_and_b32" and vectors) or self.instruction.form == "sdwa":
            return []
        hoisted = self.writer.group.hoisted
        found = [(name, f"zero{len(hoisted)}{name}") for name in SOURCE_NAMES[:2]]
        hoisted.append("".join(f"uint32_t {zeros}[64] ALIGNED;" for _, zeros in found))
        return found

    def _poison(self, masked: Mapping[str, str] = _NOTHING) -> None:
        """Which lanes of the results are poisoned by the sources."""
        if not self.writer.poison:
            return
        group, active = self.writer.group, self.writer.group.active
        lines = [f"{{ const uint64_t bad = ({self._source_poison(2, masked)}) & {active};"]
        low = "bad"
        if self.row.mnemonic in _WORDWISE and self.sources[-1].is_vector:
            words = self._wordwise_poison(self.sources[-1])
            lines = [f"{{ const uint64_t low = ({words[0]}) & {active}, bad = ({words[1]}) & {active};"]
            low = "low"
        elif self.row.mnemonic in _LOW_FROM_LOW:
            lines.append(f"const uint64_t low = ({self._source_poison(1)}) & {active};")
            low = "low"
        for operand, kind in zip(self.results, self.row.results, strict=True):
            if kind == "lanes":
                lines.append(f"PS64({operand.index}) = bad;")
                continue
            for part in range(2 if is_wide(kind) else 1):
                row = self.writer.registers.row(operand, part)
                lines.append(f"P({row}) = (P({row}) & ~{active}) | {bad_name(part, low)};")
        group.poison += [*lines, "}"]

    def _source_poison(self, words: int, masked: Mapping[str, str] = _NOTHING) -> str:
        """C for the poison of all sources; of wide ones their low words only, when `words` is 1."""
        if self.row.mnemonic == "v_cndmask_b32" and self.instruction.form not in ("sdwa", "dpp"):
            return self._chosen_poison()
        terms: list[str] = []
        for position, (operand, kind) in enumerate(zip(self.sources, self.row.sources, strict=True)):
            moved = position == 0 and self.instruction.form == "dpp"
            found = ["dp_bad"] if moved else poison_terms(self.writer, operand, kind)
            terms += found[:1] if words == 1 and is_wide(kind) else found
        if masked:  # a good 0 on one side hides what is on the other
            (a, b), (x, y) = terms, (f"pack_mask({zeros})" for zeros in masked.values())
            return f"(({a}) & ~({y} & ~{b})) | (({b}) & ~({x} & ~{a}))"
        if self.row.reads_result:
            terms += poison_terms(self.writer, self.results[0], self.row.results[0].rstrip("kh"))
        return " | ".join(terms) or "0ull"

    def _wordwise_poison(self, moved: Operand) -> tuple[str, str]:
        """Of 64-bit moves and shifts: a word is as poisoned as the words it can come from."""
        low, high = poison_terms(self.writer, moved, "b64")
        if self.row.mnemonic == "v_mov_b64":
            return low, high
        amount = self.sources[0]
        terms = poison_terms(self.writer, amount, "u32")
        shift = terms[0] if terms else "0ull"
        far = "0"  # all bits cross into the other word: known where the amount is the same for all lanes
        if amount.is_constant:
            far = f"({constant_bits(amount, 'u32')}u & 63) >= 32"
        elif amount.kind == "s":
            far = f"(S({amount.index}) & 63) >= 32"
        if self.row.mnemonic == "v_lshlrev_b64":
            return f"{shift} | ({far} ? 0 : {low})", f"{shift} | {low} | ({far} ? 0 : {high})"
        return f"{shift} | {high} | ({far} ? 0 : {low})", f"{shift} | {high}"

    def _chosen_poison(self) -> str:
        """A select is only as poisoned as what it chooses."""
        a, b, c = (" | ".join(poison_terms(self.writer, o, k)) or "0ull"
                   for o, k in zip(self.sources, self.row.sources, strict=True))  # fmt: skip
        mask = self.sources[2]
        value = "w->exec" if mask.index == EXEC else f"S64({mask.index})"
        return f"(({c}) | ({value} & ({b})) | (~{value} & ({a})))"


# The low word of these depends on the low words of their sources only; compilers leave high words undefined.
_LOW_FROM_LOW = {"v_mad_u64_u32", "v_mad_i64_i32", "v_lshl_add_u64"}
_WORDWISE = {"v_mov_b64", "v_lshlrev_b64", "v_lshrrev_b64", "v_ashrrev_i64"}


def bad_name(part: int, low: str) -> str:
    """Which of the two poison masks a result word gets."""
    return low if part == 0 else "bad"


def poison_terms(writer: Writer, operand: Operand, kind: str) -> list[str]:
    """C for the poison of one source, a bit per lane."""
    words = 2 if is_wide(kind) else 1
    if operand.is_vector:
        return [f"P({writer.registers.row(operand, part)})" for part in range(min(words, operand.count))]
    if kind in ("lanes", "vcc") and operand.kind == "s":
        return [f"PS64({operand.index})"]
    if operand.kind == "s":
        return [f"-(uint64_t)(PS({operand.index + part}) != 0)" for part in range(min(words, operand.count))]
    return []


class _Packed(_Lanewise):
    """Two halves: 16-bit halves of registers, or (f32) two registers."""

    def emit(self) -> None:
        if {n for n, _ in self.instruction.modifiers} & {"mul", "div"}:
            raise Unsupported("output modifier on a packed instruction", self.instruction)
        count = len(self.row.sources)
        self.low = bit_list(self.instruction, "op_sel", count, 0)
        self.high = bit_list(self.instruction, "op_sel_hi", count, 1)
        self.neg_low = bit_list(self.instruction, "neg_lo", count, 0)
        self.neg_high = bit_list(self.instruction, "neg_hi", count, 0)
        kind = self.row.results[0]
        scalars = {i for o in self.sources for i in scalar_indices(o, o.count)}
        self.reader.require_no_conflict(scalars)
        body = ["{"]
        for half in (0, 1):
            body += self._half(half, kind)
        row = self.writer.registers.row(self.results[0])
        group = self.writer.group
        if kind in _HALF_KINDS:
            body.append(f"v{row} = h0 | h1 << 16;")
            group.written.setdefault(row)
        else:
            body.append(f"v{row} = h0; v{row + 1} = h1;")
            group.written.setdefault(row)
            group.written.setdefault(row + 1)
        body.append("}")
        self._packed_poison(kind)
        group.lines += body

    def _half(self, half: int, kind: str) -> list[str]:
        lines = [f"uint32_t h{half}; {{"]
        expression = self.row.expressions[0]
        if self.instruction.mnemonic == "v_pk_mov_b32":  # a word of source 0, a word of source 1: OPSEL says which
            return [*lines, f"h{half} = {self._register(self.sources[half], self.low[half], 'u32')}; }}"]
        for position, (name, operand) in enumerate(zip(SOURCE_NAMES, self.sources, strict=False)):
            chosen = (self.high if half else self.low)[position]
            negate = (self.neg_high if half else self.neg_low)[position]
            word = self._register(operand, chosen, kind)
            if negate:
                if kind not in _FLOATS:
                    raise Unsupported("neg on a packed integer", self.instruction)
                word = f"({word} ^ {'0x80000000u' if kind == 'f32' else '0x8000u'})"
            lines.append(f"const {_C_TYPES[kind]} {name} = IN_{kind}({word});")
        if self.instruction.modifier("clamp") is not None:
            if kind in _FLOATS:
                expression = self._output_modified(expression, kind)
            elif vector.IN_RANGE.match(self.instruction.mnemonic):
                pass
            elif self.instruction.mnemonic in vector.SATURATING:
                expression = vector.SATURATING[self.instruction.mnemonic]
            else:
                raise Unsupported("clamp on a packed integer", self.instruction)
        return [*lines, f"const {_C_TYPES[kind]} t = {expression};", f"h{half} = OUT_{kind}(t); }}"]

    def _register(self, operand: Operand, chosen: int, kind: str) -> str:
        if kind not in _HALF_KINDS:
            if operand.is_constant:
                bits = constant_bits(operand, kind)
                if chosen and bits:  # of 0 both halves are 0, however the hardware widens a constant
                    raise Unsupported("high half of a constant in packed f32", self.instruction)
                return f"{bits:#x}u"
            return self.reader.word(operand, kind, chosen)
        if operand.is_constant:
            return f"{constant_bits(operand, kind) >> 16 * chosen & 0xFFFF:#x}u"
        word = self.reader.word(operand, kind)
        return f"({word} >> 16)" if chosen else word

    def _packed_poison(self, kind: str) -> None:
        if not self.writer.poison:
            return
        if kind in _HALF_KINDS:
            terms = [t for o in self.sources for t in poison_terms(self.writer, o, "b32")]
            self._poison_row(0, " | ".join(terms))
            return
        lines = []
        for half, chosen in enumerate((self.low, self.high)):
            pairs = list(zip(self.sources, chosen, strict=False))
            if self.instruction.mnemonic == "v_pk_mov_b32":
                pairs = [(self.sources[half], self.low[half])]
            terms = [t for o, word in pairs for t in poison_terms(self.writer, o, "b64")[word : word + 1]]
            lines.append(f"const uint64_t bad{half} = {' | '.join(terms) or '0'};")
        self.writer.group.poison += ["{", *lines]
        self._poison_row(0, "bad0")
        self._poison_row(1, "bad1")
        self.writer.group.poison.append("}")

    def _poison_row(self, part: int, bad: str) -> None:
        row = self.writer.registers.row(self.results[0], part)
        self.writer.group.poison.append(f"P({row}) = (P({row}) & ~w->exec) | (({bad or 0}) & w->exec);")


class _Mixed(_Lanewise):
    """v_fma_mix: each source is a whole f32, or an f16 half of a register."""

    def emit(self) -> None:
        self.low = bit_list(self.instruction, "op_sel", 3, 0)
        self.is_half = bit_list(self.instruction, "op_sel_hi", 3, 0)
        self.op_sel = [0, 0, 0, 0]
        scalars = {i for o in self.sources for i in scalar_indices(o, 1)}
        self.reader.require_no_conflict(scalars)
        body = ["{"]
        for position, (name, operand) in enumerate(zip(SOURCE_NAMES, self.sources, strict=False)):
            body.append(f"const float {name} = {self._mixed(operand, position)};")
        body += self._compute()
        body.append("}")
        self.row = replace(self.row, sources=("b32", "b32", "b32"))
        self._poison()
        self.writer.group.lines += body

    def _mixed(self, operand: Operand, position: int) -> str:
        kind = "f16" if self.is_half[position] else "f32"
        word = self.reader.word(operand, kind)
        if kind == "f16" and self.low[position]:
            word = f"({word} >> 16)"
        value = f"IN_{kind}({word})"
        if operand.absolute or bit_list(self.instruction, "neg_hi", 3, 0)[position]:
            value = f"fabsf({value})"
        negate = operand.negate or bit_list(self.instruction, "neg_lo", 3, 0)[position]
        return f"-{value}" if negate else value
