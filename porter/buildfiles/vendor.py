"""For whose compiler a branch of a build file is: its condition, asked for a build for AMD, for NVIDIA, for neither."""

from __future__ import annotations

import re
from typing import NamedTuple

_AMD = frozenset({"hip", "rocm", "amdgpu", "hipcc", "amd"})
_NVIDIA = frozenset({"cuda", "nvidia", "nvcc", "cudatoolkit"})
_NEGATES = frozenset({"no", "not", "non", "disable", "disabled", "without", "skip", "avoid", "or", "and"})
_WORD = re.compile(r"[A-Za-z]+\d*")


class Answer(NamedTuple):
    """What a condition comes to in each kind of build; None: it is not known."""

    amd: bool | None
    nvidia: bool | None
    neither: bool | None

    def inverted(self) -> Answer:
        """`NOT answer`."""
        return Answer(*(None if one is None else not one for one in self))

    def and_(self, other: Answer) -> Answer:
        """`answer AND other`."""
        return Answer(*(_and(one, two) for one, two in zip(self, other, strict=True)))

    def or_(self, other: Answer) -> Answer:
        """`answer OR other`."""
        return self.inverted().and_(other.inverted()).inverted()

    @property
    def is_amds(self) -> bool:
        """Whether only a build for AMD can come here."""
        return self.amd is not False and self.nvidia is False and self.neither is False


UNKNOWN = Answer(None, None, None)
ALWAYS = Answer(True, True, True)
_FOR_AMD, _FOR_NVIDIA = Answer(None, False, False), Answer(None, True, False)


def _and(one: bool | None, two: bool | None) -> bool | None:
    if one is False or two is False:
        return False
    return True if one and two else None


def of_name(name: str) -> Answer:
    """What a switch promises by its name: `USE_ROCM`, `GGML_HIP`, `torch.version.hip`.

    PyTorch's names with `cuda` are true with ROCm as well, so NVIDIA's say nothing of a build for AMD.
    """
    words = {word.lower() for word in _WORD.findall(name)}
    if words & _NEGATES or (words & _AMD and words & _NVIDIA):
        return UNKNOWN
    return _FOR_AMD if words & _AMD else _FOR_NVIDIA if words & _NVIDIA else UNKNOWN


def of_value(text: str) -> Answer:
    """What it means that something is this text: `STREQUAL "HIP"`."""
    word = text.strip("\"'^$").lower()
    return _FOR_AMD if word in _AMD else _FOR_NVIDIA if word in _NVIDIA else UNKNOWN
