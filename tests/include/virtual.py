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


def load_text(text: str, *options: str, change: tuple[str, str, str] | None = None) -> Module:
    """The same for HIP text; `change` puts a mistake into a header: its name, text that it has, other text."""
    device = open_device()
    if isinstance(device, NotRun):
        pytest.skip(device.reason)
    made = assemble_text(_with_headers(text, change), options=("-Wall", "-Wextra", "-Werror", *options))
    if isinstance(made, Missing):
        pytest.skip(made.reason)
    assert isinstance(made, Assembled), made.output
    module = device.compile(made.text)
    assert isinstance(module, Module), module
    return module


def _with_headers(text: str, change: tuple[str, str, str] | None) -> str:
    """The text with our headers put in: compiled assembly is kept by the text it came from."""

    def content(include: re.Match[str]) -> str:
        content = (hip.HEADERS / "porter" / include[1]).read_text("utf-8")
        if change is not None and include[1] == change[0]:
            assert content.count(change[1]) == 1
            content = content.replace(change[1], change[2])
        return _with_headers(content, change)

    return re.sub(r'#include "(?:porter/)?(\w+\.hpp)"\n', content, text)
