"""The shapes that native mode is for, and look-alikes that depend on 32 lanes; headers as in tests/fixtures/warp."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.fixtures.warp import Fixture, evaluate, parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Shape:
    """A fixture, and how the widened kernel is launched."""

    fixture: Fixture
    grid: tuple[int, ...]
    block: tuple[int, ...]


@cache
def load() -> tuple[Shape, ...]:
    """All shapes, by name."""
    return tuple(_shape(path) for path in sorted(FOLDER.glob("*.cu")))


def _shape(path: Path) -> Shape:
    header = re.match(r"/\* fixture\n(.*?)\n\*/\n", path.read_text("utf-8"), re.DOTALL)
    assert header is not None, path
    table = tomllib.loads(header[1])
    symbols = table["launch"]["symbols"]
    grid, block = (tuple(evaluate(side, symbols) for side in table["widened"][key]) for key in ("grid", "block"))
    return Shape(parse(path), grid, block)
