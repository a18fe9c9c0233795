"""The names files get in the ported tree: `.cu` becomes `.hip`, everything else keeps its name."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.project.discovery import Entry, Kind, Project

_OLD, _NEW = ".cu", ".hip"
_LINK_HOPS = 40


@dataclass(frozen=True, slots=True)
class Names:
    """Where each entry goes: paths and link targets that change."""

    renamed: Mapping[str, str]
    """Source path -> output path, only where they differ."""
    targets: Mapping[str, str]
    """Link path -> what the link says in the output, only where it differs."""
    apart: frozenset[str]
    """Renamed files that could not get the usual name."""

    def output(self, path: str) -> str:
        """The place of an entry in the ported tree."""
        return self.renamed.get(path, path)


def choose_names(project: Project) -> Names:
    """Names for a whole tree; no two entries get the same one, not even on a file system that ignores case."""
    by_path = {entry.path: entry for entry in project.entries}
    wanted = [entry.path for entry in project.entries if _is_renamed(entry, by_path)]
    taken = {entry.path.casefold() for entry in project.entries} - {path.casefold() for path in wanted}
    objects = _extension_objects(by_path)
    renamed: dict[str, str] = {}
    apart: set[str] = set()
    for path in sorted(wanted, key=os.fsencode):
        usual = usual_name(path)
        free = (name for name in _candidates(path) if name.casefold() not in taken)
        chosen = next(name for name in free if _object(name) not in objects)
        taken.add(chosen.casefold())
        renamed[path] = chosen
        if chosen != usual:
            apart.add(path)
    return Names(renamed, _targets(project, by_path, renamed), frozenset(apart))


def _extension_objects(paths: Iterable[str]) -> frozenset[str]:
    """What PyTorch's builder names the objects of C++ files on ROCm, in folders that a setup.py may build."""
    paths = tuple(paths)
    homes = {posixpath.dirname(path) for path in paths if posixpath.basename(path) == "setup.py"}
    return frozenset(
        _object(path)
        for path in paths
        if path.lower().endswith((".cpp", ".cc", ".cxx", ".c")) and not homes.isdisjoint(("", *_parents(path)))
    )


def _parents(path: str) -> list[str]:
    folders = posixpath.dirname(path).split("/")
    return ["/".join(folders[: end + 1]) for end in range(len(folders))]


def _object(path: str) -> str:
    """PyTorch's hipify writes `x_cuda.hip` to `x_hip.hip` and `x.cpp` to `x_hip.cpp`: one object for both."""
    folder, name = posixpath.split(posixpath.splitext(path)[0])
    made = name.replace("cuda", "hip").replace("CUDA", "HIP")
    return posixpath.join(folder, made if made != name else f"{name}_hip" if not path.endswith(_NEW) else name)


def usual_name(path: str) -> str:
    """The output name of a file on its own."""
    stem, suffix = posixpath.splitext(path)
    return stem + _NEW if suffix.lower() == _OLD else path


def _candidates(path: str) -> Iterable[str]:
    """`a.hip`, then `a.cu.hip`, then `a.cu-2.hip`, ..."""
    yield usual_name(path)
    yield path + _NEW
    number = 2
    while True:
        yield f"{path}-{number}{_NEW}"
        number += 1


def _is_renamed(entry: Entry, by_path: Mapping[str, Entry]) -> bool:
    """Whether an entry is a CUDA source that is ported, or a link with such a name to one."""
    if not entry.path.lower().endswith(_OLD):
        return False
    for _ in range(_LINK_HOPS):
        if entry.kind is not Kind.LINK:
            return entry.kind is Kind.CODE
        found = by_path.get(_pointed_at(entry))
        if found is None:
            return False
        entry = found
    return False


def _pointed_at(link: Entry) -> str:
    """The path below the root that a relative link means, by its text alone."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(link.path), link.target or ""))


def _targets(project: Project, by_path: Mapping[str, Entry], renamed: Mapping[str, str]) -> dict[str, str]:
    changed: dict[str, str] = {}
    for entry in project.entries:
        if entry.kind is not Kind.LINK or not entry.target or posixpath.isabs(entry.target):
            continue
        new = renamed.get(_pointed_at(entry)) or renamed.get(_real(project.root, entry))
        if new is not None and _pointed_at(entry) not in by_path.keys() - renamed.keys():
            changed[entry.path] = posixpath.join(posixpath.dirname(entry.target), posixpath.basename(new))
    return changed


def _real(root: Path, link: Entry) -> str:
    """Where a link through other folder links really leads, as a path below the root; empty: elsewhere."""
    if not (link.target or "").lower().endswith(_OLD):
        return ""
    real = os.path.relpath(os.path.realpath(root / link.path), os.path.realpath(root))
    same_name = posixpath.basename(link.target or "") == posixpath.basename(real)
    return real if same_name else ""


def support_path(output: str) -> str:
    """What stands before `porter/x.hpp` in the #include lines of a file: the way back to the root."""
    return "../" * output.count("/")
