"""Names that somebody else wrote, as places in the tree they belong to, or refused."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path, PurePosixPath

from porter.errors import Unusable
from porter.system.git import work_tree_root

_LONGEST, _LONGEST_PART = 3000, 255


def is_inside(name: object) -> bool:
    """Whether a name is by its text alone that of something below a tree: no way up, nothing absolute."""
    if not isinstance(name, str) or not name or "\0" in name or (os.sep != "/" and os.sep in name):
        return False
    return not name.startswith("/") and _is_possible(name) and all(p not in ("", ".", "..") for p in name.split("/"))


def _is_possible(name: str) -> bool:
    """Whether a file system can have the name."""
    try:
        return len(name) <= _LONGEST and all(len(os.fsencode(part)) <= _LONGEST_PART for part in name.split("/"))
    except UnicodeEncodeError:
        return False


def place_inside(root: Path, name: str) -> Path:
    """The place of a name below a root; Unusable when the name leads elsewhere, also by a link on its way."""
    if not is_inside(name):
        raise Unusable(f"{name!r} does not lead into {root}")
    place = root
    for part in PurePosixPath(name).parts[:-1]:
        place = place / part
        if _is_link(place):
            raise Unusable(f"{place}: a link on the way to {name}; nothing is written through it")
    return root / name


def make_folders_to(root: Path, name: str) -> Path:
    """The place of a name below a root, its folders made; Unusable when something else stands on the way."""
    place_inside(root, name)
    folder = root
    try:
        root.mkdir(parents=True, exist_ok=True)
        for part in PurePosixPath(name).parts[:-1]:
            folder = folder / part
            if not os.path.lexists(folder):
                folder.mkdir(exist_ok=True)
            elif not stat.S_ISDIR(folder.lstat().st_mode):
                raise Unusable(f"{folder}: stands where a folder has to go")
    except OSError as error:
        raise Unusable(f"{folder}: {error.strerror}") from None
    return root / name


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except OSError:
        return False


def real_inside(root: str, path: str) -> str | None:
    """A path of this machine as one below a real root, links followed and `/` between its parts; None outside."""
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return None
    if real == root:
        return "."
    prefix = root if root.endswith(os.sep) else root + os.sep
    return real[len(prefix) :].replace(os.sep, "/") if real.startswith(prefix) else None


def named_by(file: Path, name: str) -> Path:
    """What a file of a tree names, relative to itself; Unusable when that is not in the tree of the file.

    The tree is the git work tree. Where there is none, it is all but the folders that the file's own home lies in.
    """
    place = file.parent / name
    try:
        real = Path(os.path.realpath(place))
        tree = work_tree_root(file.parent)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            place.lstat()
    except (OSError, ValueError):
        raise Unusable(f"{name!r} is no path") from None
    home = Path(os.path.realpath(Path.home()))
    if tree is not None and not real.is_relative_to(tree):
        raise Unusable(f"{name!r} leads out of {tree}")
    if tree is None and (home.is_relative_to(real) or len(real.parts) < _FEWEST_PARTS):
        raise Unusable(f"{name!r} is {real}, which holds more than a project")
    return place


_FEWEST_PARTS = 2
"""`/tmp` may be somebody's project, `/` never is."""


def without_detours(path: Path) -> Path:
    """`a/../b` as `b`, where that is the same place: what is compiled from it is found again from another folder."""
    plain = Path(os.path.normpath(path))
    try:
        return plain if plain.samefile(path) else path
    except OSError:
        return path
