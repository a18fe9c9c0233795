"""Chains of `#if`, `#elif` and `#else`, and the constants that their branches define differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.conditionals import CONTINUES, OPENS
from porter.cpp.constants import Constant, Constants
from porter.cpp.lex import Directive, Tokens
from porter.warp.amd_widths import (
    branch_around,
    is_amds_alone,
    is_amds_throughout,
    is_shuffle_width,
    is_width,
    widths_of_64,
)

__all__ = [
    "Chain",
    "Choice",
    "branch_around",
    "chains",
    "choices",
    "is_amds_alone",
    "is_amds_throughout",
    "is_shuffle_width",
    "is_width",
    "widths_of_64",
]


@dataclass(frozen=True, slots=True)
class Chain:
    """One conditional: its directives from `#if` to `#endif`."""

    directives: tuple[Directive, ...]

    def branch_of(self, offset: int) -> int | None:
        """Number of the branch that an offset lies in."""
        for number, (begin, end) in enumerate(zip(self.directives, self.directives[1:], strict=False)):
            if begin.end <= offset < end.start:
                return number
        return None


@dataclass(frozen=True, slots=True)
class Choice:
    """A constant that a conditional gives different values."""

    name: str
    chain: Chain
    values: tuple[tuple[Constant, int], ...]


def chains(tokens: Tokens) -> Iterator[Chain]:
    """All conditionals of a file, inner ones first."""
    open_: list[list[Directive]] = []
    for directive in tokens.directives:
        if directive.name in OPENS:
            open_.append([directive])
        elif directive.name in CONTINUES and open_:
            open_[-1].append(directive)
        elif directive.name == "endif" and open_:
            yield Chain((*open_.pop(), directive))


def choices(constants: Constants) -> Iterator[Choice]:
    """The constants whose value depends on a conditional of the file."""
    tokens = constants.tokens
    for chain in chains(tokens):
        if len(chain.directives) < 3:
            continue
        for name in sorted(_defined(tokens, chain)):
            found: list[tuple[Constant, int]] = []
            branches: set[int] = set()
            for constant in constants.definitions(name):
                branch = chain.branch_of(tokens.starts[constant.place])
                value = constants.number_of(constant)
                if branch is not None and value is not None:
                    branches.add(branch)
                    found.append((constant, value))
            if len(branches) > 1 and len({value for _, value in found}) > 1:
                yield Choice(name, chain, tuple(found))


def _defined(tokens: Tokens, chain: Chain) -> set[str]:
    """Names that the branches of a conditional may define, in short branches."""
    names: set[str] = set()
    first, last = tokens.at(chain.directives[0].end), tokens.at(chain.directives[-1].start)
    if last - first > _LONGEST:
        return names
    for index in range(first, last):
        assigned = (
            tokens.kinds[index] == "i" and tokens.texts[index + 1] in ("=", "{") and tokens.directive_of(index) is None
        )
        if assigned or tokens.defines(index):
            names.add(tokens.texts[index])
    return names


_LONGEST = 400
