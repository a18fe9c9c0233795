"""What an earlier run has done already: by content, which is known without reading where nobody can have changed it."""

from __future__ import annotations

import functools
import json
import operator
import os
import stat
from collections.abc import Iterable, Mapping
from itertools import compress
from typing import NamedTuple

from porter.cpp.clang.reached_headers import DEEPEST_CHAIN
from porter.cpp.include_graph import Circles, IncludeGraph, circles, may_be_parsed_through
from porter.cpp.prescan import Scan
from porter.project.digests import digests_at
from porter.project.discovery import Entry, Kind
from porter.project.naming import Names
from porter.project.plan import Plan
from porter.project.records import FileRecord, Status
from porter.project.seen import Seen, digest_by
from porter.project.writing import sha256

_BITS = bytes.maketrans(b"01", b"\0\1")
_KEPT = frozenset({Status.PORTED, Status.UNCHANGED, Status.COPIED})


def intact_files(plan: Plan, names: Names, files: Mapping[str, Entry], seen: Seen) -> frozenset[str]:
    """Files whose source is what the last run read, and whose output is there."""
    out = plan.sink.root
    if out is None or not plan.previous.files:
        return frozenset()
    root, target = os.fspath(plan.project.root), os.fspath(out)
    done = {
        path: record.sha256
        for path, entry in files.items()
        if (record := plan.previous.files.get(path)) is not None
        and is_done(record, entry, names.output(path))
        and _is_file(f"{target}/{record.output}")
    }
    known = {path: digest_by(seen, files[path]) for path in done}
    unseen = [path for path, digest in known.items() if digest is None]
    known |= zip(unseen, digests_at([(f"{root}/{path}", files[path].size) for path in unseen]), strict=True)
    return frozenset(path for path, digest in done.items() if digest == known[path])


def is_done(record: FileRecord, entry: Entry, output: str) -> bool:
    """Whether a file need not be done again while its source and its output stay as they are."""
    return (
        record.status in _KEPT
        and not record.edited
        and bool(record.key) == (entry.kind is Kind.CODE)
        and record.mode == entry.mode
        and record.output == output
    )


def _is_file(path: str) -> bool:
    """Strings and no Path: this is done for each file of a project that may not have changed at all."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return False


def _digits(mask: int) -> bytes:
    """The bits of a number from the lowest on, a byte each: 0 or 1."""
    return f"{mask:b}"[::-1].encode().translate(_BITS)


def file_keys(
    run_key: str,
    digests: Mapping[str, str | None],
    graph: IncludeGraph,
    names: Mapping[str, Shown],
    dialects: Mapping[str, str],
) -> dict[str, str]:
    """For each readable file a digest of what its port depends on.

    That is the file, whose code it is, the project's names, what it includes, what the first source that includes it
    includes besides, and, as clang may parse it through a file that includes it, those near it with what they include.
    """
    reached = _reached(graph, digests)
    seen = _parsed_with(graph, reached)
    beside = {unit: [reached.get(path) for path in graph.edges[unit]] for unit in sorted(set(graph.units.values()))}
    besides = {unit: sha256(json.dumps(found).encode()) for unit, found in beside.items()}
    keys: dict[str, str] = {}
    for path, digest in digests.items():
        if digest is not None:
            others = [dialects.get(path), seen[path], besides.get(graph.units.get(path, ""))]
            what = json.dumps([run_key, path, digest, *names.get(path, Shown()), *others])
            keys[path] = sha256(what.encode())
    return keys


def _circles(graph: IncludeGraph, paths: Mapping[str, object]) -> Circles:
    """Those of some files; mostly these are all that the graph has, and asked more than once."""
    if graph.edges.keys() == paths.keys():
        return graph.circles
    return circles({path: graph.edges.get(path, ()) for path in paths})


def _reached(graph: IncludeGraph, digests: Mapping[str, str | None]) -> dict[str, str]:
    """For each file a digest of itself and of all that it includes, directly or not."""
    found = _circles(graph, digests)
    of_circle: list[str] = []
    for members, below in zip(found.members, found.below, strict=True):
        own = _digest_of(sorted(members), digests)
        of_circle.append(sha256(json.dumps([own, *sorted(of_circle[other] for other in below)]).encode()))
    return {path: of_circle[number] for number, members in enumerate(found.members) for path in members}


def _parsed_with(graph: IncludeGraph, reached: Mapping[str, str]) -> dict[str, str]:
    """For each file a digest of all that clang may see with it: its includes, who includes it nearby, who these."""
    near = {
        path: [user for user in users if user in reached and may_be_parsed_through(user, path)]
        for path, users in graph.users.items()
        if path in reached
    }
    seen = dict(reached)
    for _ in range(DEEPEST_CHAIN):
        seen |= {
            path: sha256(json.dumps([reached[path], *sorted(seen[user] for user in users)]).encode())
            for path, users in near.items()
            if users
        }
    return seen


def _digest_of(paths: Iterable[str], digests: Mapping[str, str | None]) -> str:
    return sha256(json.dumps([(path, digests.get(path)) for path in paths]).encode())


class Shown(NamedTuple):
    """CUDA-like names that are declared by a file that some translation unit shows together with one."""

    declared: tuple[str, ...] = ()
    for_amd: tuple[str, ...] = ()
    """Of these those that are declared for AMD's compiler alone, by whoever declares them."""


_FOR_AMD = "for AMD: "


def marked(scan: Scan) -> tuple[str, ...]:
    """What a file adds to the names that are seen together, with a mark at those that it declares for AMD alone."""
    amds = frozenset(scan.amds)
    return tuple(_FOR_AMD + name if name in amds else name for name in scan.declared)


def unmarked(names: Iterable[str]) -> Shown:
    """What names, marked by all files that are seen together, come to."""
    plain, amds = set[str](), set[str]()
    for name in names:
        (amds if name.startswith(_FOR_AMD) else plain).add(name.removeprefix(_FOR_AMD))
    return Shown(tuple(sorted(plain | amds)), tuple(sorted(amds - plain)))


def shown_names(graph: IncludeGraph, scans: Mapping[str, Scan]) -> dict[str, Shown]:
    """For each file what is declared by a file that some translation unit shows together with it."""
    come_to = functools.cache(unmarked)
    return {path: come_to(names) for path, names in _together(graph, {p: marked(s) for p, s in scans.items()}).items()}


def _together(graph: IncludeGraph, names_of: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """For each file the names of all files that are reached from where it is reached from, as one number per circle:
    sets of names cost the square of the project where everything includes the same headers."""
    found = _circles(graph, names_of)
    ordered = sorted({name for names in names_of.values() for name in names})
    bits = {name: 1 << place for place, name in enumerate(ordered)}
    masks: dict[int, int] = {}
    total: list[int] = []
    for members, below in zip(found.members, found.below, strict=True):
        mask = functools.reduce(operator.or_, (bits[name] for path in members for name in names_of[path]), 0)
        mask = functools.reduce(operator.or_, (total[other] for other in below), mask)
        total.append(masks.setdefault(mask, mask))
    shown = [0] * len(total)
    is_included = {other for below in found.below for other in below}
    for number in reversed(range(len(total))):
        if number not in is_included:
            shown[number] = total[number]
        for other in found.below[number]:
            mask = shown[other] | shown[number]
            shown[other] = masks.setdefault(mask, mask)
    meant = {mask: frozenset(compress(ordered, _digits(mask))) for mask in set(shown)}
    return {path: meant[shown[number]] for number, members in enumerate(found.members) for path in members}
