"""Modules that take seconds to import, for those processes whose tests use them."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest


class _Later:
    """Is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks all that stands in a module whether it is a fixture
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)


def later(name: str) -> Any:
    """A module; who asks for one of a package that is not installed is skipped, whole."""
    needs_installed(name.partition(".")[0])
    return _Later(name)


def needs_installed(*packages: str) -> None:
    """Skips a module of tests where one of these is missing."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed", allow_module_level=True)
