"""Source lines of instructions."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from porter.validation.devices.ptx.model import Instruction, Program

_SYSTEM = re.compile(
    r"/cuda(?:-[\d.]+)?/(?:include|targets|bin)/|/targets/[^/]+/include/|^/usr/(?:include|lib)/|/nvidia/[^/]+/include/"
    r"|/include/(?:cub|thrust|cuda|crt|cooperative_groups)/|/(?:sm_\d+|cuda|device)_[\w]+\.hp*$"
)


def source_of(program: Program, instruction: Instruction) -> tuple[str | None, int]:
    """File and line: code inlined from system headers is charged to the line that called it."""
    if not instruction.chain:
        return None, 0
    for place in instruction.chain:
        file = program.files.get(place.file)
        if file is not None and not _SYSTEM.search(file):
            return str(PurePosixPath(file)), place.line
    place = instruction.chain[-1]
    return program.files.get(place.file), place.line
