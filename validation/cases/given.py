"""A case from the command line: one kernel of a library or code object, its arguments and what they have to become."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.validation.cases.file import SCHEMA
from porter.validation.cases.shorthand import split

from porter.errors import Unusable
from porter.system.cache import kept_text

_FILE_VALUE = re.compile(r"(=\s*)([\w./-]+\.(?:npy|py:\w+))\s*$")
_SIZE = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(\d+)\s*")


@dataclass(frozen=True)
class Given:
    """What the options say; paths are relative to the current folder."""

    file: Path
    kernel: str
    arguments: tuple[str, ...]
    grid: str
    block: str
    sizes: tuple[str, ...] = ()
    shared: str = "0"
    reference: str | None = None
    expected: tuple[str, ...] = ()
    """`NAME=FILE.npy`, per output."""


def case_file(given: Given) -> Path:
    """The same in a case file, kept by content; raises Unusable."""
    if not given.file.is_file():
        raise Unusable(f"--object: no file {given.file}")
    if bool(given.reference) == bool(given.expected):
        raise Unusable("--object: one of --reference FILE.py:FUNCTION and --expect NAME=FILE.npy says what is right")
    sizes = ", ".join(f"{name} = [{number}]" for name, number in map(_size, given.sizes))
    lines = [
        f"schema = {json.dumps(SCHEMA)}",
        f"object = {json.dumps(str(given.file.absolute()))}",
        "[[case]]",
        f"kernel = {json.dumps(given.kernel)}",
        f"grid = {_sides(given.grid)}",
        f"block = {_sides(given.block)}",
        f"shared = {json.dumps(given.shared)}",
        *([f"sweep = {{ {sizes} }}"] if sizes else []),
        "arguments = [",
        *(f"  {json.dumps(_at_home(line))}," for line in given.arguments),
        "]",
        f"reference = {json.dumps(_reference(given))}",
        "",
    ]
    return kept_text("cases", "\n".join(lines).encode(), "object.case.toml")


def _size(text: str) -> tuple[str, str]:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise Unusable(f"--size {text}: not NAME=NUMBER")
    return match[1], match[2]


def _sides(text: str) -> str:
    return json.dumps(split(text))


def _at_home(line: str) -> str:
    """Files are those of the current folder."""
    return _FILE_VALUE.sub(lambda m: m[1] + str(Path(m[2]).absolute()), line)


def _reference(given: Given) -> str:
    if given.reference is not None:
        return str(Path(given.reference).absolute())
    return f"{_expecting(given.expected)}:expected"


def _expecting(expected: Sequence[str]) -> Path:
    """A reference that reads arrays."""
    arrays = {}
    for text in expected:
        name, _, file = text.partition("=")
        path = Path(file)
        if not name.isidentifier() or path.suffix != ".npy":
            raise Unusable(f"--expect {text}: not NAME=FILE.npy")
        if not path.is_file():
            raise Unusable(f"--expect {name}: no file {path}")
        arrays[name] = str(path.absolute())
    code = ["import numpy as np", "", "", "def expected():"]
    code.append(f"    return {{name: np.load(path) for name, path in {arrays!r}.items()}}")
    return kept_text("cases", ("\n".join(code) + "\n").encode(), "expected.py")
