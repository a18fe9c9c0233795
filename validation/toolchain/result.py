"""What a compiler gave: text, a refusal, or nothing because it is not there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """Why there is no such tool, or why it cannot be used."""

    reason: str


@dataclass(frozen=True)
class Assembled:
    """Assembly text of the device pass (AMDGPU assembly or PTX)."""

    text: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class CompileFailed:
    """What the compiler said."""

    command: tuple[str, ...]
    output: str
