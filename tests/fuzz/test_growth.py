"""Time that grows with the length of a file and no faster: four times as much of a thing is four times the work.

Work is counted in lines of Python, which no busy machine changes. Regular expressions and slices count as one:
`python -m tests.fuzz.growth --times 1000` measures those.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.fuzz.growth import BUILDS, SOURCES, Make, port_file, port_source, work

_SHORT = 20
_MOST = 5.2
"""Sorting, and what is known of one thing for each that is within it."""


def _growth(make: Make, port: Callable[[bytes], None], short: int) -> float:
    port(make(3).encode())  # loads what is loaded once
    little, much = (make(count).encode() for count in (short, 4 * short))
    before = work(lambda: port(little))
    return work(lambda: port(much)) / before


@pytest.mark.parametrize("name", SOURCES)
def test_sources_cost_what_their_length_costs(name: str) -> None:
    assert _growth(SOURCES[name], port_source, _SHORT) < _MOST


@pytest.mark.parametrize(("file", "name"), BUILDS)
def test_build_files_cost_what_their_length_costs(file: str, name: str) -> None:
    def port(data: bytes) -> None:
        port_file(file, data)

    assert _growth(BUILDS[file, name], port, 2 * _SHORT) < _MOST


def test_work_that_grows_faster_is_seen() -> None:
    def pairs(data: bytes) -> None:
        for _ in data:
            for _ in data:
                pass

    assert _growth(lambda count: "x" * count, pairs, _SHORT) > 10
