"""What git knows about a base: which files changed since, and what they were."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from porter.command import Completed, run
from porter.errors import Unusable
from porter.git import SAFE, in_work_tree

_AUTO = "auto"
_REGULAR = "100"


class Blob(NamedTuple):
    """A file of the base."""

    name: str
    mode: int


@dataclass(frozen=True, slots=True)
class Base:
    """A commit, seen from a folder of the work tree; paths are relative to that folder."""

    asked: str
    """As the user named it."""
    commit: str
    """Where this branch left it: the common ancestor, so that what others did since does not count."""
    changed: frozenset[str]
    """Differ between the commit and the work tree, or are in only one of them."""
    blobs: Mapping[str, Blob]


def work_tree_root(folder: Path) -> Path | None:
    """The top of the git work tree around a folder."""
    if not in_work_tree(folder):
        return None
    found = _git(folder, "rev-parse", "--show-toplevel")
    return Path(os.fsdecode(found.stdout.rstrip(b"\n"))) if found.ok else None


def base_named(folder: Path, asked: str) -> Base:
    """The base that the user named; `auto` is what CI or pre-commit compare with, and otherwise HEAD."""
    if not in_work_tree(folder):
        raise Unusable(f"{folder}: --since compares with a commit, and this is not in a git work tree")
    tip = _commit(folder, automatic(os.environ) if asked == _AUTO else asked)
    shared = _git(folder, "merge-base", tip, "HEAD")
    commit = shared.stdout.decode().split()[0] if shared.ok and shared.stdout.strip() else tip
    return Base(asked, commit, _changed(folder, commit), _blobs(folder, commit))


def automatic(environment: Mapping[str, str]) -> str:
    """The base that the surroundings name."""
    branch = environment.get("GITHUB_BASE_REF", "")
    named = (
        environment.get("PRE_COMMIT_FROM_REF", ""),
        f"origin/{branch}" if branch else "",
        environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", ""),
    )
    return next(filter(None, named), "HEAD")


def contents(folder: Path, blobs: Sequence[Blob]) -> list[bytes]:
    """The bytes of files of the base, in order."""
    if not blobs:
        return []
    given = "".join(f"{blob.name}\n" for blob in blobs).encode()
    answer = _answer(folder, "cat-file", "--batch", given=given)
    found: list[bytes] = []
    place = 0
    for blob in blobs:
        end = answer.index(b"\n", place)
        head = answer[place:end].split()
        if len(head) != 3:
            raise Unusable(f"{folder}: git lacks {blob.name}; is this a partial clone?")
        size = int(head[2])
        found.append(answer[end + 1 : end + 1 + size])
        place = end + 1 + size + 1
    return found


def _commit(folder: Path, name: str) -> str:
    found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not found.ok:
        raise Unusable(
            f"{name}: no such commit here; in CI fetch the base as well (a shallow clone lacks it: fetch-depth 0)"
        )
    return found.stdout.decode().strip()


def _changed(folder: Path, commit: str) -> frozenset[str]:
    options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
    differ = _answer(folder, "diff", "--relative", *options, commit, "--", ".")
    untracked = _answer(folder, "ls-files", "-z", "--others", "--exclude-standard", "--", ".")
    return frozenset(_paths(differ)) | frozenset(_paths(untracked))


def _blobs(folder: Path, commit: str) -> dict[str, Blob]:
    blobs: dict[str, Blob] = {}
    for line in _answer(folder, "ls-tree", "-r", "-z", commit).split(b"\0"):
        head, _, path = line.partition(b"\t")
        mode, kind, name = (*head.decode().split(), "", "", "")[:3]
        if kind == "blob" and mode.startswith(_REGULAR):
            blobs[os.fsdecode(path)] = Blob(name, int(mode[3:], 8))
    return blobs


def _paths(answer: bytes) -> Iterable[str]:
    return (os.fsdecode(path) for path in answer.split(b"\0") if path)


def _git(folder: Path, *arguments: str, given: bytes = b"") -> Completed:
    return run([*SAFE, *arguments], folder, given=given)


def _answer(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    done = _git(folder, *arguments, given=given)
    if not done.ok:
        reason = done.stderr.decode(errors="replace").strip()
        raise Unusable(f"{folder}: git {arguments[0]} failed: {reason}")
    return done.stdout
