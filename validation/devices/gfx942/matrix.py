"""Matrix instructions (MFMA): shapes and types, one row each."""

from __future__ import annotations

from typing import NamedTuple

from porter.validation.devices.gfx942.code import Registers
from porter.validation.devices.gfx942.operands import Operand
from porter.validation.devices.gfx942.text import Instruction


class MatrixRow(NamedTuple):
    """D[m][n] += A[m][k] * B[k][n], in `blocks` independent blocks."""

    m: int
    n: int
    k: int
    blocks: int
    source: str
    result: str

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.n * self.k * self.blocks


ROWS: dict[str, MatrixRow] = {}


def lines(instruction: Instruction, operands: list[Operand], registers: Registers, poison: bool) -> list[str]:
    """C that calls the runtime."""
    raise NotImplementedError
