"""Source lines of instructions."""

from __future__ import annotations

from pathlib import PurePosixPath

from porter.validation.devices.ptx.model import Instruction, Program

_SYSTEM = ("/cuda", "/usr/include", "/usr/lib", "/include/cub/", "/include/thrust/", "/include/cuda/", "/include/crt/")


def source_of(program: Program, instruction: Instruction) -> tuple[str | None, int]:
    """File and line: code inlined from system headers is charged to the line that called it."""
    if not instruction.chain:
        return None, 0
    for place in instruction.chain:
        file = program.files.get(place.file)
        if file is not None and not any(part in file for part in _SYSTEM):
            return str(PurePosixPath(file)), place.line
    place = instruction.chain[0]
    return program.files.get(place.file), place.line
