"""Branches of CMake that CUDA's version decides, and nothing but NVIDIA's targets and refusals stands in."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.buildfiles.cmake import Command

VERSIONS = frozenset(
    [
        "CUDA_VERSION",
        "CUDA_VERSION_MAJOR",
        "CUDA_VERSION_MINOR",
        "CUDA_VERSION_STRING",
        "CUDAToolkit_VERSION",
        "CUDAToolkit_VERSION_MAJOR",
        "CUDAToolkit_VERSION_MINOR",
        "CMAKE_CUDA_COMPILER_VERSION",
        "CMAKE_CUDA_COMPILER_TOOLKIT_VERSION",
    ]
)
NEVER = "FALSE"
"""The first word of a condition that a port has decided."""
_TARGETS = re.compile(r".*(?:ARCH|CAPABILIT|GENCODE|SM_?LIST).*", re.IGNORECASE)


def decided_by_version(commands: Sequence[Command], index: int) -> bool:
    """Whether the branch that begins here only refuses, tells, or names NVIDIA's targets, by CUDA's version."""
    command = commands[index]
    if command.name not in ("if", "elseif") or not any(a.text.strip("${}") in VERSIONS for a in command.arguments):
        return False
    body = _branch(commands, index)
    return bool(body) and all(map(_is_idle, body))


def _branch(commands: Sequence[Command], index: int) -> Sequence[Command]:
    depth = 0
    for end in range(index + 1, len(commands)):
        name = commands[end].name
        if depth == 0 and name in ("elseif", "else", "endif"):
            return commands[index + 1 : end]
        depth += (name == "if") - (name == "endif")
    return ()


def _is_idle(command: Command) -> bool:
    if command.name == "message":
        return True
    name = command.word(1) if command.name == "list" and command.word(0) == "APPEND" else command.word(0)
    return command.name in ("list", "set") and _TARGETS.fullmatch(name) is not None
