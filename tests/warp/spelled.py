"""What the sweeps of spellings share: a snippet's findings, its port, and the mark of a known miss."""

from __future__ import annotations

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


def codes(text: str, path: str = "a.cu") -> set[str]:
    """The codes of all that is found in a snippet."""
    return {finding.code for finding in ported(text, path).findings}
