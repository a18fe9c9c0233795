"""The support headers that go into ported trees, and the names they supply."""

from __future__ import annotations

import functools
import importlib.resources
import sys
from dataclasses import dataclass

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

FOLDER = "porter"
"""Folder of the support headers in a ported tree."""


@dataclass(frozen=True, slots=True)
class SupportRow:
    """A CUDA name that one of our headers supplies."""

    cuda: str
    name: str
    header: str
    always: bool
    until: str | None = None
    """First ROCm version that has the name itself; None: none known."""
    call: bool = False
    """Whether the name is replaced only where it is called."""


SupportTable = dict[str, SupportRow]


def version_key(version: str) -> tuple[int, ...]:
    """`6.10` after `6.9`."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


@functools.cache
def load_support(rocm: str | None) -> SupportTable:
    """Rows of `include/support.toml` that apply to a ROCm version (None: the newest)."""
    text = (importlib.resources.files("porter") / "include" / "support.toml").read_text("utf-8")
    rows: SupportTable = {}
    for cuda, row in tomllib.loads(text).items():
        until = row.get("until")
        if not row.get("always", True) and until and rocm and version_key(rocm) >= version_key(until):
            continue
        rows[cuda] = SupportRow(
            cuda,
            row["name"],
            f"{FOLDER}/{row['header']}",
            row.get("always", True),
            until,
            row.get("call", False),
        )
    return rows


def header_bytes(include: str) -> bytes:
    """Content of a support header, named as it is included (`porter/warp32.hpp`)."""
    name = include.removeprefix(FOLDER + "/")
    return (importlib.resources.files("porter") / "include" / "porter" / name).read_bytes()
