"""Snippets that include a support header, on the virtual gfx942 device."""

from __future__ import annotations

import re

import pytest
from porter.validation.devices.core.result import NotRun
from porter.validation.devices.gfx942 import Module, open_device
from porter.validation.toolchain.clang import Assembled, Missing, assemble_text

from tests.include import hip


def load(snippet: str, *options: str) -> Module:
    """Compiles a snippet and loads it; skips with the reason where a tool is missing."""
    return load_text(hip.snippet(snippet), *options)


def load_text(text: str, *options: str) -> Module:
    """The same for HIP text."""
    device = open_device()
    if isinstance(device, NotRun):
        pytest.skip(device.reason)
    made = assemble_text(_with_headers(text), options=("-Wall", "-Wextra", "-Werror", *options))
    if isinstance(made, Missing):
        pytest.skip(made.reason)
    assert isinstance(made, Assembled), made.output
    module = device.compile(made.text)
    assert isinstance(module, Module), module
    return module


def _with_headers(text: str) -> str:
    """The text with our headers put in: compiled assembly is kept by the text it came from."""

    def content(include: re.Match[str]) -> str:
        return _with_headers((hip.HEADERS / "porter" / include[1]).read_text("utf-8"))

    return re.sub(r'#include "(?:porter/)?(\w+\.hpp)"\n', content, text)
