"""Which tests one process is given together: what a module makes for its tests is made once."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
_SHARES = re.compile(r'scope="(?:module|class)"')
_MOST = 24
"""Tests in a unit of a file whose tests share nothing."""


@functools.cache
def _is_one(path: str) -> bool:
    return _SHARES.search((ROOT / path).read_text("utf-8")) is not None


class Units(LoadScopeScheduling):  # type: ignore[misc]
    """xdist's scheduler of scopes, where a scope is a module or a part of one."""

    @functools.cached_property
    def _units(self) -> dict[str, str]:
        units: dict[str, str] = {}
        numbers: dict[str, int] = {}
        for test in self.collection or ():
            path = test.partition("::")[0]
            numbers[path] = number = numbers.get(path, -1) + 1
            units[test] = path if _is_one(path) else f"{path}::{number // _MOST}"
        return units

    def _split_scope(self, nodeid: str) -> str:
        return self._units[nodeid]


def scheduler(config: pytest.Config, log: object) -> Units:
    """In the order of the tests, not of how many there are in a unit."""
    config.option.loadscopereorder = False
    return Units(config, log)
