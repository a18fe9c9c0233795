"""Include folders that a tree implies: where the headers lie that its files include."""

from __future__ import annotations

import functools
import itertools
import posixpath
import re
from collections import defaultdict
from pathlib import Path

from porter.system.reading import read_regular

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_SYSTEM = (Path("/usr/include"), Path("/usr/local/include"), Path("/usr/include/x86_64-linux-gnu"))
_VENDORED = frozenset(
    {"third_party", "third-party", "thirdparty", "3rdparty", "external", "extern", "vendor", "deps", "submodules"}
)
_MOST = 5000


class Headers:
    """The code files of a tree, found by the end of their path."""

    def __init__(self, root: Path, paths: tuple[str, ...]) -> None:
        self._root = root
        self._known = frozenset(paths)
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._by_name[posixpath.basename(path)].append(path)

    def folders_for(self, unit: str) -> tuple[Path, ...]:
        """Folders to search, so that whatever the unit includes, directly or not, is found in the tree."""
        folders: dict[str, None] = {}
        seen = {unit}
        waiting = [unit]
        while waiting and len(seen) < _MOST:
            current = waiting.pop()
            for quoted, name in included(self._root / current):
                found = self._resolve(current, name, quoted, folders, unit)
                if found is not None and found not in seen:
                    seen.add(found)
                    waiting.append(found)
        return tuple(self._root / folder for folder in folders)

    def _resolve(self, current: str, name: str, quoted: bool, folders: dict[str, None], unit: str) -> str | None:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(current), name))
        if quoted and beside in self._known:
            return beside
        for folder in folders:
            path = posixpath.normpath(posixpath.join(folder, name))
            if path in self._known:
                return path
        plain = posixpath.normpath(name)
        ends = [path for path in self._by_name.get(posixpath.basename(plain), ()) if ("/" + path).endswith("/" + plain)]
        if not quoted and _is_system(name):
            ends = [path for path in ends if "/" in plain and _is_vendored(path)]
        if not ends or plain.startswith(".."):
            return None
        best = min(ends, key=lambda path: (-shared_folders(path, unit), path.count("/"), path))
        folder = best[: len(best) - len(plain)].rstrip("/")
        folders[folder] = None
        return best


def _is_vendored(path: str) -> bool:
    """Whether a project brings the header with it: its own copy, not the machine's, is what it is built with."""
    return not _VENDORED.isdisjoint(path.lower().split("/"))


def shared_folders(path: str, other: str) -> int:
    """Length of the common beginning of two paths, in folders."""
    pairs = zip(path.split("/")[:-1], other.split("/")[:-1], strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


@functools.lru_cache(maxsize=1024)
def _is_system(name: str) -> bool:
    """Whether the machine has such a header: no folder of the tree may hide `<string.h>`."""
    if any((folder / name).exists() for folder in _SYSTEM):
        return True
    return any(Path("/usr/include/c++").glob(f"*/{name}")) if "/" not in name and "*" not in name else False


@functools.lru_cache(maxsize=4096)
def _read(path: str, stamp: tuple[int, int]) -> tuple[tuple[bool, str], ...]:
    del stamp
    data = read_regular(path)
    found = [(bool(m[1]), (m[1] or m[2]).decode("utf-8", "replace")) for m in _INCLUDE.finditer(data)]
    return tuple(dict.fromkeys(found))


def included(path: Path) -> tuple[tuple[bool, str], ...]:
    """What a file includes: whether in quotes, and the name."""
    try:
        status = path.stat()
        return _read(str(path), (status.st_mtime_ns, status.st_size))
    except OSError:
        return ()
