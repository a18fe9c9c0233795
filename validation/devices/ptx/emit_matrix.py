"""Emit matrix instructions: mma, wmma, ldmatrix, stmatrix (PTX ISA 9.7.15)."""

from __future__ import annotations

import re

from porter.validation.devices.ptx.allocate import flat
from porter.validation.devices.ptx.emit_memory import SPACES, plain
from porter.validation.devices.ptx.emit_sync import SyncEmitter
from porter.validation.devices.ptx.model import WIDTHS, Instruction, Operand, Unsupported

_ELEMENTS = {
    "f64": "MX_F64", "f32": "MX_F32", "tf32": "MX_TF32", "s32": "MX_S32", "f16": "MX_F16", "bf16": "MX_BF16",
    "s8": "MX_S8", "u8": "MX_U8", "e4m3": "MX_E4M3", "e5m2": "MX_E5M2",
}  # fmt: skip
_PLAIN = ("mma", "sync", "aligned", "row", "col", "satfinite", "rn")
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_SMALL = {"b1": (1, 0), "s4": (4, 1), "u4": (4, 0)}
"""Elements smaller than a byte: bits, and whether they have a sign."""
_SMALL_SHAPES = {("b1", 8, 128), ("b1", 16, 128), ("b1", 16, 256), ("4", 8, 32), ("4", 16, 32), ("4", 16, 64)}
_MMA_SHAPES = {(16, 8, 4), (16, 8, 8), (16, 8, 16), (16, 8, 32), (8, 8, 16), (8, 8, 4)}


class MatrixEmitter(SyncEmitter):
    """Instructions of all lanes of a warp."""

    def emit_matrix(self, instruction: Instruction, pc: int) -> None:
        """One matrix instruction."""
        index = self.site(instruction, "vector", None, self._operations(instruction))
        self.emit(f"e = ptx_aligned(&w->x, {index}, {pc}); if (e != GO) goto moved;", "{ show_mask(&w->x);")
        words = instruction.modifiers
        if instruction.base == "mma" and any(word in _SMALL for word in words):
            self._multiply_words(instruction)
        elif instruction.base == "mma":
            self._multiply(instruction, ordered=False)
        elif instruction.base == "wmma" and words[0] == "mma":
            self._multiply(instruction, ordered=True)
        elif instruction.base == "wmma" and words[0] in ("load", "store"):
            self._move(instruction, index)
        elif instruction.base in ("ldmatrix", "stmatrix"):
            self._rows(instruction, index)
        else:
            raise Unsupported("unknown instruction", instruction)
        self.emit("}")

    @staticmethod
    def _operations(instruction: Instruction) -> int:
        found = _SHAPE.search(instruction.opcode)
        if found is None or "mma" not in instruction.opcode.split(".")[:2]:
            return 0
        m, n, k = map(int, found.groups())
        return 2 * m * n * k

    def _size(self, instruction: Instruction) -> tuple[int, int, int]:
        found = _SHAPE.search(instruction.opcode)
        if found is None:
            raise Unsupported("no shape", instruction)
        m, n, k = map(int, found.groups())
        return m, n, k

    def _array(self, name: str, operands: tuple[Operand, ...], kind: str, instruction: Instruction) -> None:
        """C arrays of the operands' rows and of the lanes in which they are poisoned."""
        rows: list[str] = []
        bads: list[str] = []
        bits = "b64" if kind == "f64" else "b32"
        for k, operand in enumerate(operands):
            lines, row, _ = self.source_row(operand, bits, instruction, f"{name}{k}")
            self.emit(*lines)
            rows.append(row)
            bads.append((self.bad_of([operand.text]) if operand.kind == "reg" else None) or "0")
        self.emit(f"const void *const {name}[] = {{{', '.join(rows)}}};")
        self.emit(f"const uint32_t bad_{name}[] = {{{', '.join(bads)}}};")

    def _fragment(self, operands: tuple[Operand, ...]) -> None:
        self.emit(f"void *const d[] = {{{', '.join(self.target_row(o) for o in operands)}}};")
        self.emit(f"uint32_t bad_d[{len(operands)}];")

    def _keep_bad(self, operands: tuple[Operand, ...]) -> None:
        for k, operand in enumerate(operands):
            slot = self.bad_slot(operand.text) if operand.kind == "reg" else None
            if slot:
                self.emit(f"{slot} = bad_d[{k}];")

    def _multiply(self, instruction: Instruction, ordered: bool) -> None:
        m, n, k = self._size(instruction)
        kinds = [word for word in instruction.modifiers if word in _ELEMENTS]
        strange = [
            word for word in instruction.modifiers
            if word not in (*kinds, *_PLAIN) and not _SHAPE.fullmatch(word)
        ]  # fmt: skip
        if strange:
            raise Unsupported(f"modifier .{strange[0]}", instruction)
        if len(kinds) == 2 and ordered:  # wmma of halves names the types of d and c only
            kinds = [kinds[0], "f16", "f16", kinds[1]]
        if len(kinds) != 4 or (not ordered and (m, n, k) not in _MMA_SHAPES):
            raise Unsupported("form of matrix product", instruction)
        if not ordered and (m, n, k) == (8, 8, 4) and kinds[1] != "f64":
            raise Unsupported("layout of m8n8k4 halves", instruction)
        d, a, b, c = (flat(operand) for operand in instruction.operands)
        for name, operands, kind in (("a", a, kinds[1]), ("b", b, kinds[2]), ("c", c, kinds[3])):
            self._array(name, operands, kind, instruction)
        self._fragment(d)
        self.emit(
            self._shape(
                (m, n, k), kinds, (len(a), len(b), len(c), len(d)), ordered, "satfinite" in instruction.modifiers
            )
        )
        self.emit("ptx_matrix(&shape, a, b, c, d, bad_a, bad_b, bad_c, bad_d);")
        self._keep_bad(d)

    def _multiply_words(self, instruction: Instruction) -> None:
        """Elements of 1 and 4 bits: whole words of them at a time."""
        m, n, k = self._size(instruction)
        words = [word for word in instruction.modifiers if word not in _PLAIN and not _SHAPE.fullmatch(word)]
        kinds = [word for word in words if word in _SMALL]
        action = [word for word in words if word not in (*kinds, "s32")]
        family = "b1" if kinds[0] == "b1" else "4"
        products = {"xor.popc": "BITS_XOR", "and.popc": "BITS_AND"} if family == "b1" else {"": "NIBBLES"}
        product = products.get(".".join(action))
        one_family = len(kinds) == 2 and (kinds[0] == "b1") == (kinds[1] == "b1")
        if product is None or not one_family or n != 8 or (family, m, k) not in _SMALL_SHAPES:
            raise Unsupported("form of matrix product", instruction)
        d, a, b, c = (flat(operand) for operand in instruction.operands)
        if len(b) * 128 != k * _SMALL[kinds[0]][0] or len(a) * 8 != len(b) * m or len(c) * 4 != m or len(c) != len(d):
            raise Unsupported("form of matrix product", instruction)
        for name, operands in (("a", a), ("b", b), ("c", c)):
            self._array(name, operands, "b32", instruction)
        self._fragment(d)
        signs = [_SMALL[kind][1] for kind in kinds]
        values = [m, len(b), product, *signs, int("satfinite" in instruction.modifiers)]
        self.emit(f"static const WordShape shape = {{{', '.join(map(str, values))}}};")
        self.emit(f"ptx_matrix_words(&shape, a, b, c, d, bad_a, bad_b, bad_c, bad_d, {len(d)});")
        self._keep_bad(d)

    @staticmethod
    def _shape(
        size: tuple[int, int, int], kinds: list[str], registers: tuple[int, int, int, int], ordered: bool, finite: bool
    ) -> str:
        elements = [_ELEMENTS[kinds[i]] for i in (1, 2, 3, 0)]
        values = [*size, *elements, *registers, int(ordered), int(finite)]
        return f"static const MatrixShape shape = {{{', '.join(map(str, values))}}};"

    def _move(self, instruction: Instruction, index: int) -> None:
        words = list(instruction.modifiers)
        loads, which = words[0] == "load", words[1]
        kind = words[-1]
        space = next((SPACES[plain(word)] for word in words if plain(word) in ("global", "shared")), "SPACE_GENERIC")
        layout = next((word for word in words if word in ("row", "col")), None)
        if kind not in _ELEMENTS or layout is None:
            raise Unsupported("form of matrix access", instruction)
        place = 0 if loads else 1
        fragment = flat(instruction.operands[place])
        address = instruction.operands[1 - place]
        self.emit("const uint32_t act = w->x.active;", *self.open_access(instruction, address, index, "base"))
        stride = instruction.operands[2] if len(instruction.operands) > 2 else None
        size = self._size(instruction)
        dense = {"a": size[2] if layout == "row" else size[0], "b": size[1] if layout == "row" else size[2]}
        default = Operand("int", value=dense.get(which, size[1] if layout == "row" else size[0]))
        lines, row, wide = self.source_row(stride or default, "b32", instruction, "stride")
        if wide:
            raise Unsupported("stride of 64 bits", instruction)
        self.emit(*lines)
        number = {"a": 0, "b": 1}.get(which, 2)
        kinds = [kind] * 4
        self.emit(self._shape(size, kinds, (len(fragment),) * 4, True, False))
        column = int(layout == "col")
        if loads:
            self._fragment(fragment)
            self.emit(
                f"if (ptx_matrix_load(&w->x, {index}, &shape, {number}, {space}, {column}, base, {row}, d, bad_d)) "
                "return WAVE_FAULT;"
            )
            self._keep_bad(fragment)
        else:
            self._array("v", fragment, kind, instruction)
            self.emit(
                f"if (ptx_matrix_store(&w->x, {index}, &shape, {space}, {column}, base, {row}, v, bad_v)) "
                "return WAVE_FAULT;"
            )

    def _rows(self, instruction: Instruction, index: int) -> None:
        words = instruction.modifiers
        count = next((int(word[1]) for word in words if word in ("x1", "x2", "x4")), 0)
        if "m8n8" not in words or words[-1] != "b16" or not count or WIDTHS["b16"] != 16:
            raise Unsupported("form of matrix access", instruction)
        space = next((SPACES[plain(word)] for word in words if plain(word) == "shared"), "SPACE_GENERIC")
        transposed = int("trans" in words)
        loads = instruction.base == "ldmatrix"
        fragment = flat(instruction.operands[0 if loads else 1])
        address = instruction.operands[1 if loads else 0]
        self.emit(f"const uint32_t act = w->x.active & {(1 << 8 * count) - 1:#x}u;")
        self.emit(*self.open_access(instruction, address, index, "base"))
        if loads:
            self._fragment(fragment)
            call = f"ptx_load_rows(&w->x, {index}, {space}, base, {count}, {transposed}, d, bad_d)"
        else:
            self._array("v", fragment, "b32", instruction)
            call = f"ptx_store_rows(&w->x, {index}, {space}, base, {count}, {transposed}, v, bad_v)"
        self.emit(f"if ({call}) return WAVE_FAULT;")
        if loads:
            self._keep_bad(fragment)
