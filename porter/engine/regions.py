"""Which compilers may see each stretch of a file: one walk over its directives, for all of them at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from porter.cpp.conditionals import CONTINUES, OPENS, Group, find_groups, knows_hip
from porter.cpp.constants import number as integer
from porter.cpp.lex import IDENTIFIER, Directive, Tokens
from porter.cpp.preprocessor import ABSENT, HAS_INCLUDE, PRESENT, UNKNOWN, Macro, asked_header, condition_holds, holds
from porter.engine.worlds import (
    ALL,
    AMD,
    NONE,
    NVIDIA,
    PLAIN,
    PORT,
    WORLDS,
    defined_here,
    known_by_compilers,
    undefined_here,
)


class Region(NamedTuple):
    """A stretch of a file, up to the next one."""

    start: int
    """Its first offset."""
    worlds: int
    """A bit for each of `WORLDS` that may see it."""
    condition: str
    """The `#if` that says so, as written; empty: none."""


EVERYWHERE = (Region(0, ALL, ""),)


def regions_of(tokens: Tokens, defines: Iterable[str] = ()) -> tuple[Region, ...]:
    """The stretches of a file, in order; `defines` are macros of the project's build, which the port has, too."""
    return tuple(_Regions(tokens, defines).found()) if _asks(tokens) else EVERYWHERE


_ASKS = re.compile(
    r"HIP|ROC|AMD|gfx|GFX|RDNA|CDNA|__CUDA_ARCH__|__HCC__|MI\d|PORTER_CUDA_|__CUDACC_|__NVCC__|__CUDA__|__has_include|WAVE"
    r"|CUDA(?:RT)?_VERSION|if\s+0\b"
)


def _asks(tokens: Tokens) -> bool:
    """Whether any condition of the file can say something about the vendor."""
    return any(
        directive.name in _CONDITIONS and _ASKS.search(tokens.text, directive.start, directive.end)
        for directive in tokens.directives
    )


_CONDITIONS = OPENS | CONTINUES


@dataclass
class _Frame:
    """An open conditional: the worlds that may come in, and those that may still come to the next branch."""

    outer: int
    outer_text: str
    left: int
    opening: Directive


class _Regions:
    """One walk over the directives of a file, in all worlds at once."""

    def __init__(self, tokens: Tokens, defines: Iterable[str]) -> None:
        self._tokens = tokens
        self._macros: dict[str, list[Macro | None]] = {}
        self._groups: Mapping[int, Group] = {
            directive.start: group for group in find_groups(tokens) for directive in group.directives
        }
        for define in defines:
            self._given(define)

    def _given(self, define: str) -> None:
        name, _, value = define.partition("=")
        meant = integer(value) if value else 1
        row = self._row(name)
        for place in range(len(WORLDS)):
            if PORT >> place & 1:
                row[place] = Macro(True, meant)

    def _row(self, name: str) -> list[Macro | None]:
        return self._macros.setdefault(name, [None] * len(WORLDS))

    def found(self) -> Iterator[Region]:
        """Stretches with the worlds that may see them."""
        worlds, text = ALL, ""
        frames: list[_Frame] = []
        yield Region(0, worlds, text)
        directives = self._tokens.directives
        for number, directive in enumerate(directives):
            if directive.name in OPENS:
                follower = directives[number + 1] if number + 1 < len(directives) else None
                guard = self._is_guard(directive, follower)
                yes, maybe = (worlds, worlds) if guard else self._reached(directive, worlds)
                frames.append(_Frame(worlds, text, worlds & ~yes if not guard else worlds, directive))
                worlds, text = self._entered(frames[-1], maybe, directive)
            elif directive.name in CONTINUES and frames:
                frame = frames[-1]
                yield Region(directive.start, frame.outer, frame.outer_text)
                yes, maybe = self._reached(directive, frame.left)
                worlds, text = self._entered(frame, maybe & frame.left, directive)
                frame.left &= ~yes
            elif directive.name == "endif" and frames:
                frame = frames.pop()
                worlds, text = frame.outer, frame.outer_text
            else:
                if directive.name in ("define", "undef") and directive.first < directive.last:
                    self._define(directive, worlds)
                continue
            yield Region(directive.end if directive.name != "endif" else directive.start, worlds, text)

    def _entered(self, frame: _Frame, worlds: int, directive: Directive) -> tuple[int, str]:
        """The worlds of a branch; a condition that says nothing about vendors is not what decides."""
        if worlds == frame.outer:
            return worlds, frame.outer_text
        text = " ".join(self._tokens.text[directive.start : directive.end].split())
        if directive.name == "else":
            opened = " ".join(self._tokens.text[frame.opening.start : frame.opening.end].split())
            text = f"#else of {opened}"
        return worlds, text

    def _is_guard(self, directive: Directive, follower: Directive | None) -> bool:
        """Whether `#ifndef NAME` guards a header or gives a default: `#define NAME` follows."""
        tokens = self._tokens
        if directive.name == "if" or follower is None or follower.name != "define":
            return False
        if directive.name == "ifdef" or directive.first >= directive.last or follower.first >= follower.last:
            return False
        return tokens.texts[directive.first] == tokens.texts[follower.first]

    def _reached(self, directive: Directive, worlds: int) -> tuple[int, int]:
        """The worlds in which a condition is true, and those in which it can be."""
        yes = maybe = 0
        for alike, number in self._alike(directive, worlds):
            value = self._holds(directive, number)
            yes |= alike if value is True else 0
            maybe |= alike if value is not False else 0
        return yes, maybe

    def _alike(self, directive: Directive, worlds: int) -> Iterable[tuple[int, int]]:
        """Of some worlds those in which all macros of a line mean the same, and one of each kind: it speaks for all."""
        tokens = self._tokens
        line = range(directive.first, directive.last)
        names = dict.fromkeys(tokens.texts[index] for index in line if tokens.kinds[index] == IDENTIFIER)
        if not HAS_INCLUDE.isdisjoint(names):
            names |= dict.fromkeys(_asked_headers(tokens, line))
        rows = [self._meanings(name, directive) for name in names]
        found: dict[tuple[Macro, ...], tuple[int, int]] = {}
        for number, key in enumerate(zip(*rows, strict=True) if rows else [()] * len(WORLDS)):
            if worlds >> number & 1:
                alike, first = found.get(key, (0, number))
                found[key] = alike | 1 << number, first
        return found.values()

    def _holds(self, directive: Directive, world: int) -> bool | None:
        return condition_holds(self._tokens, directive, lambda name: self._lookup(name, world, directive))

    def _define(self, directive: Directive, worlds: int) -> None:
        """What `#define` and `#undef` make of a macro in the worlds that see them."""
        tokens = self._tokens
        name = tokens.texts[directive.first]
        if known_by_compilers(name):
            return
        row = self._row(name)
        means = [PRESENT if directive.name == "define" else ABSENT] * len(WORLDS)
        if directive.name == "define" and self._has_value(directive):
            for alike, one in self._alike(directive, worlds):
                meant = self._defined(directive, one)
                means = [meant if alike >> number & 1 else other for number, other in enumerate(means)]
        for number in range(len(WORLDS)):
            if worlds >> number & 1:
                row[number] = means[number]
            elif row[number] is None and worlds & AMD and not worlds & (NVIDIA | NONE):
                row[number] = ABSENT if not (PORT >> number & 1) else None

    def _has_value(self, directive: Directive) -> bool:
        """Whether a `#define` gives a macro without parameters a text."""
        tokens, first = self._tokens, directive.first + 1
        if first >= directive.last:
            return False
        return not (tokens.texts[first] == "(" and tokens.starts[first] == tokens.end(directive.first))

    def _defined(self, directive: Directive, world: int) -> Macro:
        tokens = self._tokens
        first = directive.first + 1
        value = holds(tokens, first, directive.last, lambda name: self._lookup(name, world, directive))
        if directive.last - first == 1 and (alone := integer(tokens.texts[first])) is not None:
            return Macro(True, alone)
        return Macro(True, None if value is None else int(value))

    def _lookup(self, name: str, number: int, directive: Directive) -> Macro:
        return self._meanings(name, directive)[number]

    def _meanings(self, name: str, directive: Directive) -> Sequence[Macro]:
        """What a macro is in each world, where a line asks for it."""
        row = self._macros.get(name)
        means: Sequence[Macro] = undefined_here(name) if row is None else defined_here(name)
        if name == _CLANGS and _CLANG in self._tokens.texts[directive.first : directive.last]:
            means = [UNKNOWN if world.vendor == "nvidia" else ABSENT for world in WORLDS]
        if name in _OF_NVCC:
            own = knows_hip(self._groups.get(directive.start), self._tokens)
            means = [
                (ABSENT if own or world.gfx == PLAIN else Macro(True, 1)) if world.vendor == "port" else meant
                for world, meant in zip(WORLDS, means, strict=True)
            ]
        if row is None:
            return means
        return [meant if known is None else known for known, meant in zip(row, means, strict=True)]


_OF_NVCC = frozenset({"__CUDACC__", "__NVCC__"})
_CLANG, _CLANGS = "__clang__", "__CUDA__"
"""What clang says of itself where it compiles CUDA, not HIP; without the first, `__CUDA__` may be a project's."""


def _asked_headers(tokens: Tokens, line: Iterable[int]) -> Iterator[str]:
    """The headers that a condition asks for with `__has_include`."""
    for index in line:
        if tokens.texts[index] in HAS_INCLUDE and tokens.texts[index + 1] == "(":
            closed = tokens.partner.get(index + 1)
            if closed is not None:
                yield asked_header(tokens, index + 1, closed)
