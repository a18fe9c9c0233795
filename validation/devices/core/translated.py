"""Translations of kernels, kept by the text that they were made of and by the modules that made them."""

from __future__ import annotations

import contextlib
import functools
import marshal
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from porter.validation.devices.core.hostcc import fingerprint
from porter.validation.devices.core.launch import CORE, SiteKind
from porter.validation.devices.core.result import Site

from porter.system.cache import keep, kept, kept_folder

_SITE = 4
"""Fields of a site, in front of those of its kind."""
_DAMAGED = (zlib.error, ValueError, TypeError, EOFError)


class Translated(Protocol):
    """C for a kernel, and what is known of it; its fields are plain but for the sites."""

    @property
    def source(self) -> str:
        """The C text."""

    @property
    def sites(self) -> tuple[SiteKind, ...]:
        """Its instructions."""


T = TypeVar("T", bound=Translated)


@functools.cache
def _makers(room: Path) -> str:
    """The text of every module that reads or translates for a device."""
    paths = (path for folder in (CORE, room) for path in sorted(folder.glob("*.py")))
    return fingerprint(*(word for path in paths for word in (path.name, path.read_bytes())))


def made_by(room: Path, *words: str | bytes) -> str:
    """The name under which something is kept that these words, and the modules of a room, decide."""
    return fingerprint(_makers(room), *words)


def remembered(name: str, make: Callable[[], Any]) -> Any:
    """What `make` gave the last time, which is made of tuples, lists, tables, texts, numbers and nothing else."""
    place = None
    with contextlib.suppress(OSError):
        place = kept_folder("translated") / name
        data = kept(place)
        if data is not None:
            with contextlib.suppress(*_DAMAGED):
                return marshal.loads(zlib.decompress(data))
    made = make()
    if place is not None:
        with contextlib.suppress(OSError):
            keep(place, zlib.compress(marshal.dumps(made), 1))
    return made


def translation(kind: type[T], room: Path, origin: str, kernel: str, poison: bool, make: Callable[[], T]) -> T:
    """A kernel's translation, from the cache if the same text was translated before; `origin` names the text, and is
    empty where nobody knows it."""
    if not origin:
        return make()
    rows = remembered(made_by(room, "translation", origin, kernel, str(poison)), lambda: _packed(make()))
    return kind(**{**rows, "sites": tuple(SiteKind(Site(*row[:_SITE]), *row[_SITE:]) for row in rows["sites"])})


def _packed(made: Translated) -> dict[str, Any]:
    return {**vars(made), "sites": tuple((*vars(one.site).values(), *_kind(one)) for one in made.sites)}


def _kind(one: SiteKind) -> tuple[Any, ...]:
    return one.kind, one.segment, one.space, one.operations, one.bytes, one.doubt
