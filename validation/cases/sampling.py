"""How a kernel reads a texture object, in the words of a case file."""

from __future__ import annotations

from dataclasses import dataclass

ADDRESS = ("wrap", "clamp", "mirror", "border")
MEMORY = ("array", "linear", "pitched")


@dataclass(frozen=True)
class Sampling:
    """How a texture object is read; the same words as in a case file."""

    channels: int = 1
    """1, 2 or 4; where there are several, the last axis of the texels holds them."""
    layered: bool = False
    """The first axis are layers."""
    linear: bool = False
    """The filter: linear, or the nearest texel."""
    normalized: bool = False
    """Coordinates from 0 to 1."""
    fractions: bool = False
    """Integers are read as fractions of their range: cudaReadModeNormalizedFloat."""
    address: tuple[str, str, str] = ("clamp", "clamp", "clamp")
    memory: str = "array"
    """What the real devices make the object of: an array, linear memory (for tex1Dfetch), or rows with a pitch."""
    surface: bool = False
    """A surface object, which the kernel may write to."""

    @property
    def modes(self) -> tuple[int, int, int]:
        """Address modes as numbers. CUDA wraps and mirrors normalized coordinates only, and clamps others."""
        x, y, z = (ADDRESS.index(m if self.normalized or m == "border" else "clamp") for m in self.address)
        return x, y, z
