"""What git knows about a base: which files changed since, and what they were."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from porter.errors import Unusable
from porter.system.git import Repository, in_work_tree, repository

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
    notes: tuple[str, ...] = ()
    """What the comparison cannot know."""


def base_named(folder: Path, asked: str) -> Base:
    """The base that the user named; `auto` is what CI or pre-commit compare with, and otherwise HEAD."""
    if not in_work_tree(folder):
        raise Unusable(f"{folder}: --since compares with a commit, and this is not in a git work tree")
    with repository(folder) as git:
        tip = _commit(git, automatic(os.environ) if asked == _AUTO else asked)
        shared = git.run("merge-base", tip, "HEAD")
        found = shared.ok and bool(shared.stdout.strip())
        commit = shared.stdout.decode().split()[0] if found else tip
        notes = () if found else (_apart(git, asked),)
        return Base(asked, commit, _changed(git, folder, commit), _blobs(git, folder, commit), notes)


def _apart(git: Repository, asked: str) -> str:
    """Why the base is the commit itself, and not where the branch left it."""
    shallow = git.run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
    why = "the clone is shallow" if shallow else "they share no history"
    return (
        f"{asked} and HEAD have no common commit here ({why}): compared with {asked} itself, so what others changed"
        " there since counts as well"
    )


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
    with repository(folder) as git:
        answer = git.answer("cat-file", "--batch", given=given)
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


def _commit(git: Repository, name: str) -> str:
    found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if found.code is None:
        raise Unusable(f"--since needs git: {found.stderr.decode(errors='replace')}")
    if not found.ok:
        raise Unusable(
            f"{name}: no such commit here; in CI fetch the base as well (a shallow clone lacks it: fetch-depth 0)"
        )
    return found.stdout.decode().strip()


def _changed(git: Repository, folder: Path, commit: str) -> frozenset[str]:
    options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
    git.run("update-index", "-q", "--ignore-submodules", "--refresh", folder=git.work_tree)  # our copy of the index
    differ = git.answer("diff-index", "--relative", *options, commit, "--", ".", folder=folder)
    untracked = git.answer("ls-files", "-z", "--others", "--exclude-standard", "--", ".", folder=folder)
    return frozenset(_paths(differ)) | frozenset(_paths(untracked))


def _blobs(git: Repository, folder: Path, commit: str) -> dict[str, Blob]:
    blobs: dict[str, Blob] = {}
    for line in git.answer("ls-tree", "-r", "-z", commit, folder=folder).split(b"\0"):
        head, _, path = line.partition(b"\t")
        mode, kind, name = (*head.decode().split(), "", "", "")[:3]
        if kind == "blob" and mode.startswith(_REGULAR):
            blobs[os.fsdecode(path)] = Blob(name, int(mode[3:], 8))
    return blobs


def _paths(answer: bytes) -> Iterable[str]:
    return (os.fsdecode(path) for path in answer.split(b"\0") if path)
