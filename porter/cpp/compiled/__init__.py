"""The readers of C++ that are compiled, where porter was installed with a C compiler; elsewhere Python does it."""

from __future__ import annotations

import hashlib
import importlib
import os
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

PYTHON = "PORTER_READERS"
"""Set to `python`, this variable makes porter do without what is compiled."""
Node: TypeAlias = Any
Rows: TypeAlias = "tuple[Any, ...]"
"""Comments, directives or includes: their modules ask for this one, and so it knows none of theirs."""
BLOCK, EXPRESSION, STATEMENTS = range(3)


class Readers(Protocol):
    """What is written in C, with the results of the modules in Python: lexer.c of lex.py, parser.c of statements.py,
    words.c of prescan.py."""

    def configure_lexer(self, comment: type, directive: type, include: type, behind: int, /) -> None:
        """Gives the types of what is found, and how many empty tokens stand behind the last one."""

    def lex(self, text: str, /) -> tuple[str, list[int], list[str], Rows, Rows, Rows] | None:
        """Kinds, starts and texts of the tokens, comments, directives, includes; None for a text that is no Latin-1."""

    def names(self, texts: list[str], kinds: str, /) -> dict[str, list[int]]:
        """Identifier -> indices of its tokens."""

    def first_characters(self, texts: list[str], /) -> str | None:
        """The first character of each token but for the empty ones at the end; None for texts that are no Latin-1."""

    def pair(self, texts: list[str], count: int, directives: Rows, /) -> dict[int, int]:
        """Matching bracket for each that has one."""

    def configure_parser(
        self,
        node: type,
        empty: Node,
        sets: tuple[frozenset[str], ...],
        strengths: dict[str, int],
        symbols: dict[str, str],
        of_loops: tuple[str, str],
        deepest: int,
        longest_chain: int,
        longest_arguments: int,
        too_deep: str,
        /,
    ) -> None:
        """Gives the type of nodes, the words that mean something, how strongly operators bind, and limits."""

    def parse(
        self,
        what: int,
        texts: list[str],
        kinds: str,
        starts: list[int],
        partner: dict[int, int],
        memo: dict[object, object],
        stretches: list[tuple[int, int]],
        first: int,
        last: int,
        /,
    ) -> Node:
        """A block, an expression or statements in stretches of the tokens."""

    def walk(self, node: Node, /) -> list[Node]:
        """A node and all below it, in the order of the text."""

    def words(self, data: bytes, /) -> frozenset[bytes]:
        """Every word of a file's bytes."""

    def lines(self, data: bytes, known: frozenset[bytes], begins: tuple[bytes, ...], /) -> list[int]:
        """The newlines before lines that may declare a name that is known or begins so, include or define something."""


def digest() -> str:
    """Of the sources beside this module, as setup.py gives it to what it compiles."""
    folder = Path(__file__).parent
    files = (*sorted(folder.glob("*.h")), *sorted(folder.glob("*.c")))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _compiled() -> Readers | None:
    """None, too, where they were compiled from other sources: a checkout that changed since it was installed."""
    if os.environ.get(PYTHON) == "python":
        return None
    try:
        made = importlib.import_module("porter.cpp.compiled._c")
    except ImportError:
        return None
    return cast(Readers, made) if made.sources == digest() else None


readers = _compiled()
