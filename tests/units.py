"""Which tests one process is given together: what a module makes for its tests is made once."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
_SHARES = re.compile(r'scope="(?:module|class)"')
_TOGETHER = {"torch": re.compile(r'later\("torch|importorskip\("torch"')}
"""What takes seconds to import, by the files that do so in the process of the tests: one process has them all."""
_MOST = 24
"""Tests in a unit of a file whose tests share nothing."""


@functools.cache
def _unit(path: str) -> str | None:
    """The one that all tests of a file belong to; None where they may be parted."""
    text = (ROOT / path).read_text("utf-8")
    found = next((name for name, pattern in _TOGETHER.items() if pattern.search(text)), None)
    return found or (path if _SHARES.search(text) else None)


class Units(LoadScopeScheduling):  # type: ignore[misc]
    """xdist's scheduler of scopes, where a scope is a module or a part of one."""

    @functools.cached_property
    def _units(self) -> dict[str, str]:
        units: dict[str, str] = {}
        numbers: dict[str, int] = {}
        for test in self.collection or ():
            path = test.partition("::")[0]
            numbers[path] = number = numbers.get(path, -1) + 1
            units[test] = _unit(path) or f"{path}::{number // _MOST}"
        return units

    def _split_scope(self, nodeid: str) -> str:
        return self._units[nodeid]


def scheduler(config: pytest.Config, log: object) -> Units:
    """In the order of the tests, not of how many there are in a unit."""
    config.option.loadscopereorder = False
    return Units(config, log)
