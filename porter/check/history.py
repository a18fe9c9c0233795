"""What git knows about a base: which files changed since, and what they were."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from porter.errors import Unusable
from porter.system.git import Repository, in_work_tree, repository, work_tree_root

_AUTO = "auto"


class Blob(NamedTuple):
    """A file of the base, with git's mode: 0o100644, 0o120000 for a link."""

    name: str
    mode: int
    module: str = ""
    """The submodule that holds it, as seen from the folder that is compared."""

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
    in_modules: Mapping[str, Blob] = field(default_factory=dict)
    """What the commits of its submodules have that are checked out."""


@dataclass(frozen=True, slots=True)
class Module:
    """A submodule that is checked out: what its files were, and which differ; paths as in `Base`."""

    changed: Mapping[str, Blob | None]
    blobs: Mapping[str, Blob]
    notes: tuple[str, ...] = ()


def base_named(folder: Path, asked: str) -> Base:
    """The base that the user named; `auto` is what CI or pre-commit compare with, and otherwise HEAD."""
    with _repository(folder) as git:
        tip = _commit(git, automatic(os.environ) if asked == _AUTO else asked)
        shared = git.run("merge-base", tip, "HEAD")
        found = shared.ok and bool(shared.stdout.strip())
        commit = shared.stdout.decode().split()[0] if found else tip
        notes: tuple[str, ...] = () if found else (_apart(git, asked),)
        old = _changed(git, folder, commit)
        modules = _submodules(git, folder, commit, old)
        tree = None if modules else _tree(git, folder, commit)
    for module in modules:
        old |= module.changed
        notes += module.notes
    blobs = {path: blob for module in modules for path, blob in module.blobs.items()}
    return Base(asked, commit, frozenset(old), old, tree, notes, blobs)


def blobs_of(folder: Path, base: Base) -> dict[str, Blob]:
    """All that a base has below a folder."""
    with _repository(folder) as git:
        return {**_blobs(git, folder, base.commit), **base.in_modules}


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
    found: dict[Blob, bytes] = {}
    for module, those in itertools.groupby(sorted(set(blobs), key=lambda blob: blob.module), lambda blob: blob.module):
        wanted = list(those)
        found |= zip(wanted, _contents(folder / module, wanted), strict=True)
    return [found[blob] for blob in blobs]


def _contents(folder: Path, blobs: Sequence[Blob]) -> Iterator[bytes]:
    given = "".join(f"{blob.name}\n" for blob in blobs).encode()
    with repository(folder) as git:
        answer = git.answer("cat-file", "--batch", given=given)
    place = 0
    for blob in blobs:
        end = answer.index(b"\n", place)
        head = answer[place:end].split()
        if len(head) != 3:
            raise Unusable(f"{folder}: git lacks {blob.name}; is this a partial clone?")
        size = int(head[2])
        yield answer[end + 1 : end + 1 + size]
        place = end + 1 + size + 1


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


def _submodules(git: Repository, folder: Path, commit: str | None, differ: Iterable[str]) -> list[Module]:
    """The submodules below a folder, and those within them; each is asked as a repository of its own.

    Two processes more, so only where the work tree or the change has the file without which git makes no submodule.
    """
    if not (git.work_tree / _MODULES).exists() and _MODULES not in differ:
        return []
    before = {}
    if commit is not None:
        before = {path: blob.name for path, blob in _blobs(git, folder, commit).items() if _is_module(blob)}
    listed = git.answer("ls-files", "-z", "--stage", "--", ".", folder=folder).split(b"\0")
    rows = [line.partition(b"\t") for line in listed if line.startswith(b"160000 ")]
    now = {os.fsdecode(path): head.split()[1].decode() for head, _, path in rows}
    modules: list[Module] = []
    for path in sorted({*before, *now}):
        modules += _submodule(folder / path, path, before.get(path), now.get(path))
    return modules


def _submodule(place: Path, path: str, before: str | None, now: str | None) -> Iterator[Module]:
    """One, and those within it; a folder that is no repository is one that is not checked out, or is gone."""
    real = os.path.realpath(place)
    if real != f"{os.path.realpath(place.parent)}{os.sep}{place.name}" or work_tree_root(place) != Path(real):
        unseen = f"{path}: a submodule that is at another commit than before and not checked out, so not looked at"
        yield Module({}, {}, (unseen,) if now not in (None, before) else ())
        return
    with repository(place) as git:
        notes: tuple[str, ...] = ()
        if before is not None and not git.run("cat-file", "-e", f"{before}^{{commit}}").ok:
            notes = (f"{path}: git lacks the commit that the submodule was at, so all that it holds counts as new",)
            before = None
        changed = _changed(git, place, before) if before is not None else dict.fromkeys(_all_files(git, place))
        blobs = _blobs(git, place, before) if before is not None else {}
        inner = _submodules(git, place, before, changed)
    yield Module(_within(path, changed), {f"{path}/{p}": b._replace(module=path) for p, b in blobs.items()}, notes)
    for module in inner:
        within = {f"{path}/{p}": b._replace(module=f"{path}/{b.module}") for p, b in module.blobs.items()}
        yield Module(_within(path, module.changed), within, tuple(f"{path}/{note}" for note in module.notes))


def _all_files(git: Repository, folder: Path) -> Iterable[str]:
    return _paths(git.answer("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", folder=folder))


def _within(path: str, changed: Mapping[str, Blob | None]) -> dict[str, Blob | None]:
    """Seen from the repository around it."""
    return {
        f"{path}/{name}": blob and blob._replace(module=f"{path}/{blob.module}".rstrip("/"))
        for name, blob in changed.items()
    }


def _is_module(blob: Blob) -> bool:
    return stat.S_IFMT(blob.mode) == _GITLINK


_MODULES = ".gitmodules"
_GITLINK = 0o160000


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
