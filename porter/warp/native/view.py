"""A file together with the project's headers that it includes, as one text, so that helpers of headers are in sight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from porter.cpp.constants import Constants
from porter.cpp.headers import headers_of
from porter.cpp.launches import find_launches
from porter.cpp.lex import Tokens, lex
from porter.engine.unit import Unit
from porter.model import Launch
from porter.source import SourceFile
from porter.warp.bodies import Bodies, bodies_of
from porter.warp.function import Function

HEADERS = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl")
_MOST = 80
_LARGEST = 2 << 20
_OURS = "porter/"


@dataclass(frozen=True)
class View:
    """The headers' text, then the file's; `base` is where the file begins."""

    unit: Unit
    bodies: Bodies
    base: int

    @property
    def tokens(self) -> Tokens:
        """The tokens of all of it."""
        return self.bodies.tokens

    @cached_property
    def first(self) -> int:
        """The file's first token."""
        return self.tokens.at(self.base)

    def is_own(self, function: Function) -> bool:
        """Whether a function stands in the file itself."""
        return function.head.begin >= self.first

    @property
    def is_header(self) -> bool:
        """Whether other files include this one."""
        return self.unit.source.path.endswith(HEADERS)

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """The launch sites in sight."""
        tokens = self.tokens
        return find_launches(tokens, self.unit.source.path, SourceFile("", tokens.text.encode("latin-1")))


def view_of(unit: Unit) -> View:
    """The view of a file; kept with its bodies."""
    memo = bodies_of(unit).memo
    if "view" not in memo:
        memo["view"] = _view(unit)
    return cast(View, memo["view"])


def _view(unit: Unit) -> View:
    texts = list(_included(unit))
    if not texts:
        return View(unit, bodies_of(unit), 0)
    above = "".join(f"{text}\n" for text in texts)
    tokens = lex(above + unit.source.text)
    return View(unit, Bodies(tokens, Constants(tokens)), len(above))


def _included(unit: Unit) -> Iterator[str]:
    """The texts of the headers that a file includes, directly or not, inner ones first; each once."""
    read = unit.included_file
    if read is None:
        return
    size = 0
    names = [include.name for include in unit.tokens.includes]
    for source in headers_of(unit.source, names, read, _MOST, _OURS):
        size += len(source.data)
        if size > _LARGEST:
            return
        yield source.text
