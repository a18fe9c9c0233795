"""The worker's half of trees that travel by content: what has arrived, and the folders where tasks find their files.

Contents lie in the cache under their digests. A tree is laid out in a slot, below the paths that it has at home, so
that one prefix tells the two apart. A slot is brought up to date in place when nobody uses it, so that what did not
change is not compiled again; when somebody does, another slot is taken.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from porter.validation.cluster.messages import TreeName
from porter.validation.cluster.trees import Manifest, digest_of, manifest_of, unpacked

from porter.system.cache import cache_folder, is_ours, publish

_MOST_SLOTS = 64
_FILES = "files"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Lacking(Exception):
    """The tree is not here, or not all of it."""


def _contents() -> Path:
    return _made(cache_folder() / "contents")


def content_at(digest: str) -> Path:
    """Where a content is kept; ValueError for what is no digest."""
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"{digest!r} is no digest")
    return _contents() / digest[:2] / digest


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not is_ours(folder):
        raise OSError(None, "belongs to somebody else", str(folder))
    return folder


def missing(tree: TreeName, manifest: bytes) -> list[str]:
    """Keeps the manifest, and says which of its contents are not here; ValueError when it is not that of the tree."""
    known = manifest_of(manifest)
    if digest_of(known) != tree.digest:
        raise ValueError("a manifest that is not that of the tree")
    place = content_at(tree.digest)
    _made(place.parent)
    publish(place, manifest)
    return sorted(digest for digest in known.digests if not is_here(digest))


def is_here(digest: str) -> bool:
    """Whether a content has arrived."""
    place = content_at(digest)
    if not place.is_file():
        return False
    with contextlib.suppress(OSError):
        os.utime(place)
    return True


def receive(pack: bytes) -> None:
    """Keeps the contents of a pack."""
    for digest, content in unpacked(pack):
        place = content_at(digest)
        if not place.exists():
            _made(place.parent)
            publish(place, content)


@contextlib.contextmanager
def laid_out(tree: TreeName) -> Iterator[Path]:
    """The folder that stands for the root of the client's disk while a task needs it; raises Lacking."""
    base = _made(cache_folder() / "trees")
    for number in range(_MOST_SLOTS):
        slot = base / f"{tree.name}-{number}"
        slot.mkdir(exist_ok=True, mode=0o700)
        with (slot / "lock").open("a+b") as lock:
            if not _shared(lock.fileno(), slot, tree):
                continue
            os.utime(slot)
            yield slot.resolve() / _FILES
            return
    raise OSError(None, f"all {_MOST_SLOTS} places for a tree are in use", str(base))


def _shared(lock: int, slot: Path, tree: TreeName) -> bool:
    """Whether the slot holds the tree now, and is ours to read; it is brought up to date when nobody else uses it."""
    fcntl.flock(lock, fcntl.LOCK_SH)
    if _holds(slot, tree):
        return True
    fcntl.flock(lock, fcntl.LOCK_UN)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # Either another task uses another version of the tree, or somebody lays out the one that is wanted.
        fcntl.flock(lock, fcntl.LOCK_SH)
        return _holds(slot, tree)
    if not _holds(slot, tree):
        _lay_out(slot, tree)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return _holds(slot, tree)


def _state(slot: Path) -> tuple[str, dict[str, tuple[str, int, int]]]:
    """The digest of what is laid out, and digest, size and time of each file as it was written."""
    try:
        read = json.loads((slot / "state.json").read_text("utf-8", "surrogateescape"))
        return str(read["digest"]), {path: (row[0], row[1], row[2]) for path, row in read["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return "", {}


_seen: dict[Path, tuple[str, int]] = {}
"""Slots that this process has looked at file by file, and when their state was written."""


def _holds(slot: Path, tree: TreeName) -> bool:
    try:
        stamp = (slot / "state.json").stat().st_mtime_ns
    except OSError:
        return False
    if _seen.get(slot) == (tree.digest, stamp):
        return True
    digest, files = _state(slot)
    if digest != tree.digest or any(_stamp(slot / _FILES, path) != row[1:] for path, row in files.items()):
        return False
    _seen[slot] = (tree.digest, stamp)
    return True


def _stamp(root: Path, path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(f"{root}{path}")
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _lay_out(slot: Path, tree: TreeName) -> None:
    try:
        manifest = manifest_of(content_at(tree.digest).read_bytes())
    except OSError:
        raise Lacking from None
    root = slot / _FILES
    _, before = _state(slot)
    (slot / "state.json").unlink(missing_ok=True)
    root.mkdir(exist_ok=True)
    wanted = {path: (mode, digest) for path, mode, digest in manifest.files}
    _remove_others(root, before, manifest)
    state: dict[str, tuple[str, int, int]] = {}
    for path, (mode, digest) in wanted.items():
        known = before.get(path)
        if known is None or known[0] != digest or _stamp(root, path) != known[1:]:
            _write(root, path, mode, digest)
        stamp = _stamp(root, path)
        assert stamp is not None
        state[path] = (digest, *stamp)
    for path, target in manifest.links:
        place = _inside(root, path)
        if not (place.is_symlink() and os.readlink(place) == target):  # noqa: PTH115
            place.parent.mkdir(parents=True, exist_ok=True)
            _remove(place)
            place.symlink_to(target)
    for folder in manifest.folders:
        _inside(root, folder).mkdir(parents=True, exist_ok=True)
    (root / ".git").touch()  # nothing above is asked for settings
    publish(
        slot / "state.json",
        json.dumps({"digest": tree.digest, "files": state}).encode("utf-8", "surrogateescape"),
    )


def _inside(root: Path, path: str) -> Path:
    """The place of a client's absolute path; ValueError for one that leads elsewhere."""
    if not path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/")[1:]):
        raise ValueError(f"{path!r} is no path of a tree")
    return Path(f"{root}{path}")


def _write(root: Path, path: str, mode: int, digest: str) -> None:
    place = _inside(root, path)
    try:
        content = content_at(digest).read_bytes()
    except OSError:
        raise Lacking from None
    if hashlib.sha256(content).hexdigest() != digest:
        content_at(digest).unlink(missing_ok=True)  # damaged
        raise Lacking
    if place.is_symlink() or place.is_dir():
        _remove(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    publish(place, content, mode & 0o755 | 0o400)


def _remove_others(root: Path, before: dict[str, tuple[str, int, int]], manifest: Manifest) -> None:
    """What an earlier version had, and what tasks left behind."""
    wanted = {path for path, _, _ in manifest.files} | {path for path, _ in manifest.links}
    for folder, folders, names in os.walk(root):
        for name in (*names, *(one for one in folders if os.path.islink(os.path.join(folder, one)))):  # noqa: PTH114, PTH118
            path = os.path.join(folder, name)  # noqa: PTH118
            if path.removeprefix(str(root)) not in wanted:
                _remove(Path(path))


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
