"""What device compilers made on another machine: texts, under names that mean the same on both.

Only what a compiler wrote for the device travels. It is read, checked and translated again where it is used; nothing
that the machine itself would execute comes from somewhere else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from porter.validation.toolchain.result import Assembled, CompileFailed, Missing

Value = TypeVar("Value")
MOST = 16 << 20
"""Bytes of a text that may travel."""


@dataclass(frozen=True)
class Elsewhere:
    """How this machine calls what others call otherwise, and what was made there."""

    names: tuple[tuple[str, str], ...] = ()
    """A folder here, and the word that stands for it between machines; those that lie in others first."""
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By what it is the answer to: a file, and the digest of its content."""

    def neutral(self, text: str) -> str:
        """A text without folders of this machine."""
        for folder, word in self.names:
            text = text.replace(folder, word)
        return text

    def own(self, text: str) -> str:
        """A neutral text with those of this machine."""
        for folder, word in self.names:
            text = text.replace(word, folder)
        return text

    def answer(self, key: str) -> str | None:
        """What was made elsewhere; None where there is none, or not the one that was named."""
        path, digest = self.files.get(key, ("", ""))
        try:
            data = Path(path).read_bytes() if path else b""
        except OSError:
            return None
        return data.decode("utf-8", "surrogatepass") if data and hashlib.sha256(data).hexdigest() == digest else None


_here = [Elsewhere()]
_noted: list[dict[str, bytes]] = []


def stand(elsewhere: Elsewhere) -> None:
    """From now on, in this process."""
    _here[0] = elsewhere


def standing() -> Elsewhere:
    """What holds in this process."""
    return _here[0]


def is_given() -> bool:
    """Whether something was made elsewhere, so that no compiler is needed here."""
    return bool(_here[0].files)


@contextlib.contextmanager
def noting() -> Iterator[dict[str, bytes]]:
    """Collects what is made meanwhile."""
    found: dict[str, bytes] = {}
    _noted.append(found)
    try:
        yield found
    finally:
        _noted.remove(found)


def assembled(
    about: Sequence[object], unit: Path, make: Callable[[], Assembled | CompileFailed | Missing]
) -> Assembled | CompileFailed | Missing:
    """What a compiler says of a unit: as it was said elsewhere, or by the one that is here."""
    if not _noted and not is_given():
        return make()
    here = _of_unit(unit)
    key = _key(here, about, unit)
    told = here.answer(key)
    if told is not None:
        kind, text, command = json.loads(told)
        made = Assembled if kind == "text" else CompileFailed
        words = tuple(map(here.own, command))
        return Assembled(here.own(text), words) if made is Assembled else CompileFailed(words, here.own(text))
    found = make()
    if isinstance(found, Assembled):
        _note(key, ["text", here.neutral(found.text), [*map(here.neutral, found.command)]])
    elif isinstance(found, CompileFailed):
        _note(key, ["refused", here.neutral(found.output), [*map(here.neutral, found.command)]])
    return found


def names(about: Sequence[object], unit: Path, make: Callable[[], frozenset[str]]) -> frozenset[str]:
    """Names that a compiler tells, in the same way."""
    if not _noted and not is_given():
        return make()
    here = _of_unit(unit)
    key = _key(here, about, unit)
    told = here.answer(key)
    if told is not None:
        return frozenset(json.loads(told))
    found = make()
    _note(key, sorted(found))
    return found


def _of_unit(unit: Path) -> Elsewhere:
    return Elsewhere(((str(unit), "\0unit"), *_here[0].names), _here[0].files)


def _key(here: Elsewhere, about: Sequence[object], unit: Path) -> str:
    text = unit.read_bytes().decode("utf-8", "surrogateescape")
    what = json.dumps([here.neutral(text), *(here.neutral(str(one)) for one in about)])
    return hashlib.sha256(what.encode("utf-8", "surrogatepass")).hexdigest()


def _note(key: str, value: object) -> None:
    data = json.dumps(value).encode("utf-8", "surrogatepass")
    for found in _noted if len(data) <= MOST else ():
        found[key] = data
