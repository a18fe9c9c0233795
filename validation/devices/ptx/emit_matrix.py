"""Emit matrix instructions."""

from __future__ import annotations

from porter.validation.devices.ptx.emit_sync import SyncEmitter
from porter.validation.devices.ptx.model import Instruction, Unsupported


class MatrixEmitter(SyncEmitter):
    """mma, wmma, ldmatrix."""

    def emit_matrix(self, instruction: Instruction, pc: int) -> None:
        """One matrix instruction."""
        raise Unsupported("unknown instruction", instruction)
