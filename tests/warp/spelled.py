"""What the sweeps of spellings share: a snippet's findings, its port, and the mark of a known miss."""

from __future__ import annotations

from typing import Any

import pytest

from porter.engine.context import build_context
from porter.engine.file import port
from porter.model import PortedFile
from porter.settings import Choices
from porter.source import SourceFile

_CONTEXTS = {path: build_context(Choices(), [path], {}) for path in ("a.cu", "a.hip")}


def missed(text: str) -> object:
    """A spelling that is not understood yet."""
    return pytest.param(text, marks=pytest.mark.xfail(strict=True))


def ported(text: str, path: str = "a.cu") -> PortedFile:
    """The port of a snippet."""
    return port(SourceFile(path, text.encode()), _CONTEXTS[path], "a.hip")


DIVERGENT, UNIFORM = "p[threadIdx.x] > 3", "n > 3"
"""Conditions on which the threads of a warp part, and on which a whole grid agrees."""
_WRITTEN = {
    "KERNEL {": "__global__ void k(float *p, int n) { float v = p[threadIdx.x];",
    "RETURNED": "return a + __shfl_xor_sync(0xffffffff, a, 1);",
    "EXCHANGE": "__shfl_xor_sync(0xffffffff, v, 1)",
    "$": "v += __shfl_xor_sync(0xffffffff, v, 1);",
}
"""What the tables write shortly, so that the rest of a text is what matters in it."""
_PARTING = frozenset({"W101", "W102", "S103"})


def parting(text: str, condition: str) -> set[str]:
    """What is found about threads that part, with a condition for each `@`."""
    for short, written in _WRITTEN.items():
        text = text.replace(short, written)
    return codes(text.replace("@", condition)) & _PARTING


def bare(texts: list[Any]) -> list[str]:
    """Spellings, those that are not understood yet among them, without their marks."""
    return [text if isinstance(text, str) else text.values[0] for text in texts]


def codes(text: str, path: str = "a.cu") -> set[str]:
    """The codes of all that is found in a snippet."""
    return {finding.code for finding in ported(text, path).findings}
