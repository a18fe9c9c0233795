"""Divergence planted in other people's code, and whether a port says so: `python -m benchmarks.parted TREE ...`.

In a copy of a tree every call of a shuffle, vote or barrier, and of the helpers named by `--helper`, is put behind a
condition that every third thread meets (`if (threadIdx.x % 3 == 1)`); then the tree is scanned. An operation without a
finding of W101, W102 or S103 at its place was missed. What stands in comments and directives is left alone; what is
counted as missed may be code that no compiler of the port sees, or hand on a mask that is computed: the list is to be
read.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from porter.cpp.lex import Tokens, lex

SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".inl", ".cc", ".cpp", ".inc")
_SHUFFLES = tuple(f"__shfl{form}_sync" for form in ("", "_up", "_down", "_xor"))
_EXCHANGES = (*_SHUFFLES, "__ballot_sync", "__any_sync", "__all_sync")
_BARRIERS = ("__syncthreads",)
_CODES = {"W101", "W102", "S103"}
_STATEMENTS = frozenset(";{}")
_VALUES = frozenset(("=", "+=", "-=", "|=", "&=", "return"))
_SOME = "threadIdx.x % 3 == 1"


class Place(NamedTuple):
    """A call that was made divergent."""

    path: str
    line: int
    text: str


class Edit(NamedTuple):
    """What is put before a call."""

    offset: int
    text: str


def main() -> int:
    """The command."""
    arguments = _arguments()
    print("| tree | operations | found | missed |\n|---|---|---|---|")
    for tree in arguments.trees:
        with tempfile.TemporaryDirectory() as work:
            parted = Path(work) / tree.name
            shutil.copytree(tree, parted, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            places = list(_part(parted, (*_EXCHANGES, *_BARRIERS, *arguments.helper)))
            found = _found(parted)
        missed = [place for place in places if (place.path, place.line) not in found]
        print(f"| {tree.name} | {len(places)} | {len(places) - len(missed)} | {len(missed)} |")
        for place in missed if arguments.show else ():
            print(f"    {place.path}:{place.line}: {place.text}", file=sys.stderr)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", nargs="+", type=lambda text: Path(text).resolve(), metavar="TREE")
    parser.add_argument("--helper", action="append", default=[], help="a function of the tree that exchanges values")
    parser.add_argument("--show", action="store_true", help="what was missed, on stderr")
    return parser.parse_args()


def _part(root: Path, names: Sequence[str]) -> Iterator[Place]:
    """Changes the files of a tree, and says where."""
    for path in sorted(root.rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file() or path.is_symlink():
            continue
        text = path.read_bytes().decode("latin-1")
        edits = sorted(_edits(lex(text), names))
        for edit in edits:
            line = text.count("\n", 0, edit.offset)
            yield Place(str(path.relative_to(root)), line + 1, text.splitlines()[line].strip()[:100])
        for edit in reversed(edits):
            text = text[: edit.offset] + edit.text + text[edit.offset :]
        if edits:
            path.write_bytes(text.encode("latin-1"))


def _edits(tokens: Tokens, names: Sequence[str]) -> Iterator[Edit]:
    """One for each call that is a statement, or a value of its own."""
    for name in names:
        last = name.rpartition("::")[2]
        for index in tokens.names.get(last, ()):
            first = index - 2 * name.count("::")
            opening = _opening(tokens, index)
            if opening is None or tokens.directive_of(index) is not None:
                continue
            if "".join(tokens.texts[first : index + 1]) != name:
                continue
            before = tokens.texts[first - 1]
            if before in _VALUES:
                yield Edit(tokens.starts[first], f"({_SOME}) ? 0 : ")
            elif before in _STATEMENTS and tokens.texts[tokens.partner[opening] + 1] == ";":
                yield Edit(tokens.starts[first], f"if ({_SOME}) ")


def _opening(tokens: Tokens, index: int) -> int | None:
    """The parenthesis of a call, behind its template arguments."""
    place = index + 1
    if tokens.texts[place] == "<":
        while place < len(tokens) and tokens.texts[place] not in (">", ";"):
            place += 1
        place += 1
    return place if tokens.texts[place] == "(" and place in tokens.partner else None


def _found(root: Path) -> set[tuple[str, int]]:
    """The places of the findings."""
    command = [sys.executable, "-m", "porter", "scan", str(root), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command} exited with {done.returncode}:\n{done.stderr[-2000:]}")
    findings = json.loads(done.stdout)["findings"]
    return {(one["path"], one["line"]) for one in findings if one["code"] in _CODES}


if __name__ == "__main__":
    sys.exit(main())
