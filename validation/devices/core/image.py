"""Texture and surface objects as arguments: texels in memory, and a description that each device encodes itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from porter.validation.cases.sampling import Sampling
from porter.validation.devices.core import abi
from porter.validation.devices.core.launch import Bound, bind
from porter.validation.devices.core.memory import Argument, Memory
from porter.validation.devices.core.result import Array

FORMATS = ("f4", "f2", "u1", "i1", "u2", "i2", "u4", "i4")
"""Element types of texels, as numpy writes them."""


@dataclass(frozen=True)
class ImageArgument:
    """A kernel's argument: the texels, and how they are read."""

    texels: Array
    sampling: Sampling = field(default_factory=Sampling)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Width, height and depth, 1 where there is no such dimension."""
        x, y, z = [*reversed(self._sides[self.sampling.layered :]), 1, 1, 1][:3]
        return x, y, z

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return self._sides[0] if self.sampling.layered else 1

    @property
    def _sides(self) -> tuple[int, ...]:
        return self.texels.shape[:-1] if self.sampling.channels > 1 else self.texels.shape

    def wrong(self) -> str | None:
        """What is wrong with it."""
        last = self.texels.shape[-1] if self.texels.ndim else 0
        if self.texels.dtype.str[1:] not in FORMATS:
            return f"a texture of {self.texels.dtype}"
        if self.sampling.channels not in (1, 2, 4) or (self.sampling.channels > 1 and last != self.sampling.channels):
            return f"{self.sampling.channels} channels, and texels of shape {self.texels.shape}"
        if not 1 <= len(self._sides) - self.sampling.layered <= 3 - self.sampling.layered or 0 in self._sides:
            return f"texels of shape {self.texels.shape}"
        return None


Describe = Callable[[ImageArgument, int], bytes]
"""An argument and the address of its texels -> the bytes that its handle points to."""


def bind_with_images(memory: Memory, arguments: Sequence[Argument], describe: Describe) -> Bound:
    """As `bind`; an image becomes the address of its description, and comes back where it is a surface."""
    values: list[Argument] = list(arguments)
    back: dict[int, tuple[int, Array]] = {}
    for index, value in enumerate(arguments):
        if not isinstance(value, ImageArgument):
            continue
        wrong = value.wrong()
        if wrong is not None:
            raise ValueError(wrong)
        values[index], texels = place_image(memory, value, describe)
        if value.sampling.surface:
            back[index] = (texels, value.texels)
    bound = bind(memory, values)
    return Bound(bound.values, tuple(back.get(index, entry) for index, entry in enumerate(bound.arrays)))


def place_image(memory: Memory, image: ImageArgument, describe: Describe) -> tuple[int, int]:
    """Copies texels and description to the device; the address of each: description, texels."""
    state = abi.LIVE if image.sampling.surface else abi.READ_ONLY
    texels = memory.allocate(image.texels.nbytes, "surface" if image.sampling.surface else "texture", state)
    memory.write(texels.base, image.texels)
    text = describe(image, texels.base)
    block = memory.allocate(len(text) + 64, "texture object", abi.READ_ONLY)  # loads may be widened
    memory.write(block.base, text)
    return block.base, texels.base
