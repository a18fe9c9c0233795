"""The client's half of trees that travel by content: what belongs to one, its manifest, packs of what is missing."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.validation.cluster.messages import TreeName

from porter.errors import Unusable
from porter.project.discovery import Kind, discover
from porter.settings import load_choices
from porter.system.git import work_tree_root
from porter.system.reading import read_regular

LARGEST_FILE = 16 << 20
"""Larger files stay at home, and are named."""
LARGEST_TREE = 4 << 30
PACK = 4 << 20
"""Bytes of content that travel together."""
_SKIPPED = frozenset({".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules"})
_SYSTEM = tuple(map(Path, ("/usr", "/opt/rocm", "/lib", "/etc", "/bin")))
_SETTINGS = ("porter.toml", "pyproject.toml")


@dataclass(frozen=True)
class Manifest:
    """All files of a tree by absolute path: mode and digest, or what a link says."""

    files: tuple[tuple[str, int, str], ...]
    links: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    """That are there even when nothing is in them."""

    def packed(self) -> bytes:
        """As bytes; their digest is that of the tree."""
        rows = {"files": self.files, "links": self.links, "folders": self.folders}
        return zlib.compress(json.dumps(rows).encode("utf-8", "surrogateescape"), 6)

    @property
    def digests(self) -> frozenset[str]:
        """Of all contents."""
        return frozenset(digest for _, _, digest in self.files)


def manifest_of(data: bytes) -> Manifest:
    """The manifest in these bytes."""
    read = json.loads(zlib.decompress(data).decode("utf-8", "surrogateescape"))
    files = tuple((path, mode, digest) for path, mode, digest in read["files"])
    return Manifest(files, tuple((path, to) for path, to in read["links"]), tuple(read["folders"]))


@dataclass(frozen=True)
class Tree:
    """A tree of this machine's, ready to travel."""

    name: TreeName
    manifest: Manifest
    size: int
    left_out: tuple[str, ...] = ()
    """Files that are too large."""
    built: tuple[tuple[str, str], ...] = ()
    """What other workers compiled for a task, as digests and files: contents that travel with it, and no part of the
    tree."""

    @property
    def built_name(self) -> str:
        """Of what was compiled, all together."""
        return hashlib.sha256("".join(digest for digest, _ in self.built).encode()).hexdigest()

    def built_pack(self) -> bytes:
        """All of it."""
        return packed([(digest, Path(path).read_bytes()) for digest, path in self.built])

    def packs(self, missing: Iterable[str]) -> Iterator[bytes]:
        """The contents of some digests, in packs of a bounded size; one that changed meanwhile is not sent."""
        places = {digest: path for path, _, digest in self.manifest.files}
        batch: list[tuple[str, bytes]] = []
        size = 0
        for digest in sorted(set(missing)):
            if digest not in places:
                continue
            data = _content(places[digest])
            if data is None or hashlib.sha256(data).hexdigest() != digest:
                raise Unusable(f"{places[digest]} changed while it was sent: start the command again")
            batch.append((digest, data))
            size += len(data)
            if size >= PACK:
                yield packed(batch)
                batch, size = [], 0
        if batch:
            yield packed(batch)


def packed(contents: Sequence[tuple[str, bytes]]) -> bytes:
    """Contents behind their digests, compressed."""
    made = io.BytesIO()
    for digest, data in contents:
        made.write(bytes.fromhex(digest) + len(data).to_bytes(8, "little") + data)
    return zlib.compress(made.getvalue(), 3)


def unpacked(pack: bytes) -> Iterator[tuple[str, bytes]]:
    """The contents of a pack, each with the digest that it was sent under and that it has; others are refused."""
    data = zlib.decompress(pack)
    at = 0
    while at < len(data):
        digest, length = data[at : at + 32].hex(), int.from_bytes(data[at + 32 : at + 40], "little")
        content = data[at + 40 : at + 40 + length]
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError(f"a content that is not the one of {digest}")
        yield digest, content
        at += 40 + length


class Trees:
    """The trees of a run, each listed and read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, ...], Tree] = {}

    def tree(self, folders: Iterable[Path], files: Iterable[Path] = ()) -> Tree:
        """The tree of some folders and files; Unusable when it is too large to send."""
        tops = _topmost([*(folder.absolute() for folder in folders), *(file.absolute() for file in files)])
        if tops not in self._known:
            if len(self._known) >= 64:  # what is known of a tree costs memory, to list it again time
                self._known.pop(next(iter(self._known)))
            self._known[tops] = _tree(tops)
        return self._known[tops]


def _topmost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The paths that lie in no other; what a compiler has by itself is not among them."""
    found: list[Path] = []
    for path in sorted({Path(os.path.normpath(path)) for path in paths}):
        if not any(path == top or path.is_relative_to(top) for top in found) and not any(
            path.is_relative_to(system) for system in _SYSTEM
        ):
            found.append(path)
    return tuple(found)


def _tree(tops: tuple[Path, ...]) -> Tree:
    files: list[tuple[str, int, str]] = []
    links: list[tuple[str, str]] = []
    left_out: list[str] = []
    total = 0
    for path in dict.fromkeys(one for top in tops for one in (*_settings(top), *_listed(top))):
        try:
            status = path.lstat()
        except OSError:
            continue
        if stat.S_ISLNK(status.st_mode):
            target = str(path.readlink())
            if _stays(path, target, tops):  # what others lead to is nobody's business
                links.append((str(path), target))
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        if status.st_size > LARGEST_FILE:
            left_out.append(str(path))
            continue
        total += status.st_size
        if total > LARGEST_TREE:
            raise Unusable(f"{tops[0]}: more than {LARGEST_TREE >> 30} GiB would have to be sent to the workers")
        digest = _digest(str(path), status.st_mtime_ns, status.st_size)
        if digest is not None:
            files.append((str(path), stat.S_IMODE(status.st_mode), digest))
    folders = tuple(str(top) for top in tops if top.is_dir())
    manifest = Manifest(tuple(sorted(files)), tuple(sorted(links)), folders)
    name = hashlib.sha256(json.dumps([owner(), *map(str, tops)]).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    content = json.dumps([manifest.files, manifest.links, manifest.folders]).encode("utf-8", "surrogateescape")
    return Tree(TreeName(name, hashlib.sha256(content).hexdigest()), manifest, total, tuple(left_out))


def digest_of(manifest: Manifest) -> str:
    """What `TreeName` says of this manifest."""
    content = json.dumps([manifest.files, manifest.links, manifest.folders]).encode("utf-8", "surrogateescape")
    return hashlib.sha256(content).hexdigest()


def _listed(top: Path) -> Iterator[Path]:
    """What takes part of a folder: all but what git ignores and the settings leave out."""
    if not top.is_dir():
        yield top
        return
    for entry in discover(top, load_choices(top)).entries:
        if entry.kind in (Kind.CODE, Kind.BUILD, Kind.OTHER, Kind.LINK) and not _SKIPPED & set(entry.path.split("/")):
            yield top / entry.path


def _settings(top: Path) -> Iterator[Path]:
    """Settings of porter's above a folder, no higher than its repository."""
    root = work_tree_root(top if top.is_dir() else top.parent)
    for folder in (top, *top.parents):
        for name in _SETTINGS:
            if (folder / name).is_file():
                yield folder / name
        if root is None or folder == root or not folder.is_relative_to(root):
            return


def _stays(path: Path, target: str, tops: Sequence[Path]) -> bool:
    """Whether a link leads to a place that travels too."""
    if Path(target).is_absolute():
        return False
    place = Path(os.path.normpath(path.parent / target))
    return any(place.is_relative_to(top) for top in tops)


@functools.lru_cache(maxsize=1 << 17)
def _digest(path: str, time_ns: int, size: int) -> str | None:
    del time_ns, size  # they tell versions of a file apart within this process
    data = _content(path)
    return None if data is None else hashlib.sha256(data).hexdigest()


def _content(path: str) -> bytes | None:
    with contextlib.suppress(OSError):
        return read_regular(Path(path), LARGEST_FILE)
    return None


@functools.cache
def owner() -> str:
    """This machine and user, as a digest: paths of others that are spelt alike are other trees."""
    name = os.uname().nodename
    with contextlib.suppress(OSError):
        name = Path("/etc/machine-id").read_text("ascii", "replace").strip()
    return hashlib.sha256(f"{name}:{os.getuid()}".encode()).hexdigest()[:24]
