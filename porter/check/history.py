"""What git knows about a base: which files changed since, and what they were."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from porter.errors import Unusable
from porter.system.git import Repository, in_work_tree, repository

_AUTO = "auto"


class Blob(NamedTuple):
    """A file of the base, with git's mode: 0o100644, 0o120000 for a link."""

    name: str
    mode: int

    @property
    def is_regular(self) -> bool:
        """Whether it is a file, and no link or repository."""
        return stat.S_ISREG(self.mode)


@dataclass(frozen=True, slots=True)
class Base:
    """A commit, seen from a folder of the work tree; paths are relative to that folder."""

    asked: str
    """As the user named it."""
    commit: str
    """Where this branch left it: the common ancestor, so that what others did since does not count."""
    changed: frozenset[str]
    """Differ between the commit and the work tree, or are in only one of them."""
    old: Mapping[str, Blob | None]
    """What the commit has at these places."""
    tree: str | None
    """The name of the folder's content in the commit; None where work tree and git need not have the same files."""
    notes: tuple[str, ...] = ()
    """What the comparison cannot know."""


def base_named(folder: Path, asked: str) -> Base:
    """The base that the user named; `auto` is what CI or pre-commit compare with, and otherwise HEAD."""
    with _repository(folder) as git:
        tip = _commit(git, automatic(os.environ) if asked == _AUTO else asked)
        shared = git.run("merge-base", tip, "HEAD")
        found = shared.ok and bool(shared.stdout.strip())
        commit = shared.stdout.decode().split()[0] if found else tip
        notes = () if found else (_apart(git, asked),)
        old = _changed(git, folder, commit)
        return Base(asked, commit, frozenset(old), old, _tree(git, folder, commit), notes)


def blobs_of(folder: Path, commit: str) -> dict[str, Blob]:
    """All that a commit has below a folder."""
    with _repository(folder) as git:
        return _blobs(git, folder, commit)


def differences(folder: Path, one: str, other: str) -> dict[str, Blob | None] | None:
    """Paths that differ between two trees, and what the second has there; None where one is not at hand."""
    with _repository(folder) as git:
        done = git.run("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", one, other)
    return {path: after for path, _, after in _rows(done.stdout)} if done.ok else None


def _repository(folder: Path) -> AbstractContextManager[Repository]:
    """The repository to compare with; Unusable when there is none."""
    if not in_work_tree(folder):
        raise Unusable(f"{folder}: --since compares with a commit, and this is not in a git work tree")
    return repository(folder)


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


def _changed(git: Repository, folder: Path, commit: str) -> dict[str, Blob | None]:
    """Paths that differ between a commit and the work tree, and what the commit has there."""
    options = (
        "--raw",
        "-z",
        "--no-renames",
        "--no-abbrev",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=all",
    )
    git.run("update-index", "-q", "--ignore-submodules", "--really-refresh", folder=git.work_tree)  # our copy
    differ = git.answer(
        "diff-index", "--relative", *options, "--ignore-submodules=all", commit, "--", ".", folder=folder
    )
    untracked = git.answer("ls-files", "-z", "--others", "--exclude-standard", "--", ".", folder=folder)
    return {path: before for path, before, _ in _rows(differ)} | dict.fromkeys(_paths(untracked))


def _tree(git: Repository, folder: Path, commit: str) -> str | None:
    below = folder.resolve().relative_to(git.work_tree).as_posix()
    place = f"{commit}^{{tree}}" if below == "." else f"{commit}:{below}"
    found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", place)
    return found.stdout.decode().strip() if found.ok and not git.is_sparse else None


def _rows(answer: bytes) -> Iterable[tuple[str, Blob | None, Blob | None]]:
    """Path, before and after of the lines of a raw difference."""
    words = iter(answer.split(b"\0"))
    for head, path in zip(words, words, strict=False):
        before, after, old, new = head.decode().lstrip(":").split()[:4]
        yield os.fsdecode(path), _blob(old, before), _blob(new, after)


def _blob(name: str, mode: str) -> Blob | None:
    return Blob(name, int(mode, 8)) if mode.strip("0") else None


def _blobs(git: Repository, folder: Path, commit: str) -> dict[str, Blob]:
    blobs: dict[str, Blob] = {}
    for line in git.answer("ls-tree", "-r", "-z", commit, folder=folder).split(b"\0"):
        head, _, path = line.partition(b"\t")
        mode, kind, name = (*head.decode().split(), "", "", "")[:3]
        if kind in ("blob", "commit"):
            blobs[os.fsdecode(path)] = Blob(name, int(mode, 8))
    return blobs


def _paths(answer: bytes) -> Iterable[str]:
    return (os.fsdecode(path) for path in answer.split(b"\0") if path)
