"""Matrix instructions (MFMA): a row each for shape and types.

Sections are those of AMD's "Instinct MI300" Instruction Set Architecture (CDNA3): chapter 7, "Matrix Arithmetic
Instructions", and 12.11 VOP3P. EXEC is ignored: every lane takes part.
"""

from __future__ import annotations

from typing import NamedTuple

from porter.validation.devices.gfx942.code import Registers, Unsupported
from porter.validation.devices.gfx942.operands import Operand, constant_bits
from porter.validation.devices.gfx942.text import Instruction


class MatrixRow(NamedTuple):
    """D[m][n] = C[m][n] + sum over k of A[m][k] * B[k][n], in `blocks` independent blocks."""

    m: int
    n: int
    k: int
    blocks: int
    a: str
    b: str
    result: str

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.n * self.k * self.blocks

    def source_words(self, kind: str) -> int:
        """Registers a source takes: elements per lane times their size."""
        return self.m * self.k * self.blocks * _BITS[kind] // 64 // 32

    @property
    def result_words(self) -> int:
        """Registers the result takes."""
        return self.m * self.n * self.blocks * _BITS[self.result] // 64 // 32


_BITS = {"f64": 64, "f32": 32, "xf32": 32, "i32": 32, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8}
_TYPES = {name: f"MX_{name.upper()}" for name in _BITS}  # enum Element in matrix.c

_TABLE = """
    v_mfma_f32_32x32x1_2b_f32     32 32  1  2  f32  f32  f32
    v_mfma_f32_16x16x1_4b_f32     16 16  1  4  f32  f32  f32
    v_mfma_f32_4x4x1_16b_f32       4  4  1 16  f32  f32  f32
    v_mfma_f32_32x32x2_f32        32 32  2  1  f32  f32  f32
    v_mfma_f32_16x16x4_f32        16 16  4  1  f32  f32  f32
    v_mfma_f32_16x16x8_xf32       16 16  8  1  xf32 xf32 f32
    v_mfma_f32_32x32x4_xf32       32 32  4  1  xf32 xf32 f32
    v_mfma_f32_32x32x4_2b_f16     32 32  4  2  f16  f16  f32
    v_mfma_f32_16x16x4_4b_f16     16 16  4  4  f16  f16  f32
    v_mfma_f32_4x4x4_16b_f16       4  4  4 16  f16  f16  f32
    v_mfma_f32_32x32x8_f16        32 32  8  1  f16  f16  f32
    v_mfma_f32_16x16x16_f16       16 16 16  1  f16  f16  f32
    v_mfma_f32_32x32x4_2b_bf16    32 32  4  2  bf16 bf16 f32
    v_mfma_f32_16x16x4_4b_bf16    16 16  4  4  bf16 bf16 f32
    v_mfma_f32_4x4x4_16b_bf16      4  4  4 16  bf16 bf16 f32
    v_mfma_f32_32x32x8_bf16       32 32  8  1  bf16 bf16 f32
    v_mfma_f32_16x16x16_bf16      16 16 16  1  bf16 bf16 f32
    v_mfma_i32_32x32x4_2b_i8      32 32  4  2  i8   i8   i32
    v_mfma_i32_16x16x4_4b_i8      16 16  4  4  i8   i8   i32
    v_mfma_i32_4x4x4_16b_i8        4  4  4 16  i8   i8   i32
    v_mfma_i32_32x32x16_i8        32 32 16  1  i8   i8   i32
    v_mfma_i32_16x16x32_i8        16 16 32  1  i8   i8   i32
    v_mfma_f64_16x16x4_f64        16 16  4  1  f64  f64  f64
    v_mfma_f64_4x4x4_4b_f64        4  4  4  4  f64  f64  f64
    v_mfma_f32_16x16x32_fp8_fp8   16 16 32  1  fp8  fp8  f32
    v_mfma_f32_16x16x32_fp8_bf8   16 16 32  1  fp8  bf8  f32
    v_mfma_f32_16x16x32_bf8_fp8   16 16 32  1  bf8  fp8  f32
    v_mfma_f32_16x16x32_bf8_bf8   16 16 32  1  bf8  bf8  f32
    v_mfma_f32_32x32x16_fp8_fp8   32 32 16  1  fp8  fp8  f32
    v_mfma_f32_32x32x16_fp8_bf8   32 32 16  1  fp8  bf8  f32
    v_mfma_f32_32x32x16_bf8_fp8   32 32 16  1  bf8  fp8  f32
    v_mfma_f32_32x32x16_bf8_bf8   32 32 16  1  bf8  bf8  f32
"""


def _rows() -> dict[str, MatrixRow]:
    rows: dict[str, MatrixRow] = {}
    for line in _TABLE.strip().splitlines():
        name, m, n, k, blocks, a, b, result = line.split()
        rows[name] = MatrixRow(int(m), int(n), int(k), int(blocks), a, b, result)
    return rows


ROWS = _rows()
# gfx90a spells the same operations without block counts and with _1k for its second bf16 form.
ROWS |= {
    **{f"v_mfma_f32_{m}x{m}x{k}f32": ROWS[f"v_mfma_f32_{m}x{m}x{k}{b}_f32"]
       for m, k, b in ((32, 1, "_2b"), (16, 1, "_4b"), (4, 1, "_16b"), (32, 2, ""), (16, 4, ""))},
    **{f"v_mfma_f32_{m}x{m}x{k}f16": ROWS[f"v_mfma_f32_{m}x{m}x{k}{b}_f16"]
       for m, k, b in ((32, 4, "_2b"), (16, 4, "_4b"), (4, 4, "_16b"), (32, 8, ""), (16, 16, ""))},
    **{f"v_mfma_f32_{m}x{m}x{k}bf16_1k": ROWS[f"v_mfma_f32_{m}x{m}x{k}{b}_bf16"]
       for m, k, b in ((32, 4, "_2b"), (16, 4, "_4b"), (4, 4, "_16b"), (32, 8, ""), (16, 16, ""))},
    "v_mfma_f64_16x16x4f64": ROWS["v_mfma_f64_16x16x4_f64"], "v_mfma_f64_4x4x4f64": ROWS["v_mfma_f64_4x4x4_4b_f64"],
}  # fmt: skip


def lines(instruction: Instruction, operands: list[Operand], registers: Registers) -> list[str]:
    """C that calls the runtime."""
    row = ROWS[instruction.mnemonic]
    allowed = {"cbsz", "abid", "blgp", "neg"}
    unknown = [name for name, _ in instruction.modifiers if name not in allowed]
    if unknown:
        raise Unsupported(f"modifier {unknown[0]!r}", instruction)
    to, a, b, c = operands
    for operand, words in ((to, row.result_words), (a, row.source_words(row.a)), (b, row.source_words(row.b))):
        if not operand.is_vector or operand.count != words:
            raise Unsupported(f"operand {operand.text!r} where {words} vector registers are needed", instruction)
    if not (c.is_constant or (c.is_vector and c.count == row.result_words)):
        raise Unsupported(f"accumulator {c.text!r}", instruction)
    _refuse_broadcasts(row, instruction)
    constant = constant_bits(c, row.result) if c.is_constant else 0
    shape = f"{row.m}, {row.n}, {row.k}, {row.blocks}, {_TYPES[row.a]}, {_TYPES[row.b]}, {_TYPES[row.result]}"
    source_c = -1 if c.is_constant else registers.row(c)
    rows = f"{registers.row(to)}, {registers.row(a)}, {registers.row(b)}, {source_c}, {constant:#x}ull"
    return [
        f"{{ const MatrixShape shape = {{ {shape}, {_modifiers(instruction)} }};",
        f"gfx_matrix(w, &shape, {rows}); }}",
    ]


def _refuse_broadcasts(row: MatrixRow, instruction: Instruction) -> None:
    """CBSZ and BLGP choose blocks and lanes of 32-bit, f16, bf16 and i8 sources only (7.2); BLGP negates for f64."""
    numbers = [int(instruction.modifier(name) or "0", 0) for name in ("cbsz", "abid", "blgp")]
    if row.result == "f64":
        numbers[2] = 0
    fixed = row.result == "f64" or row.a in ("xf32", "fp8", "bf8")
    if (fixed and any(numbers)) or 1 << numbers[0] > row.blocks or numbers[1] >= 1 << numbers[0]:
        raise Unsupported("cbsz, abid or blgp on this instruction", instruction)


def _modifiers(instruction: Instruction) -> str:
    numbers = [int(instruction.modifier(name) or "0", 0) for name in ("cbsz", "abid", "blgp")]
    negate = instruction.modifier("neg")
    if negate:
        numbers[2] = sum(int(bit) << i for i, bit in enumerate(negate.strip("[]").split(",")))
    return ", ".join(map(str, numbers))
