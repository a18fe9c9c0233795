"""A kept tree with some files changed: what follows for the others is worked out from the changes outwards.

It comes to what looking at all files would come to, or says that it cannot: `NotLocal`.
"""

from __future__ import annotations

import functools
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from porter.check.index import Damaged, Index, counted
from porter.check.side import Known, Machine, Side, side_key
from porter.cpp.include_graph import IncludeGraph, reached_from, resolved
from porter.cpp.prescan import Scan
from porter.engine.context import shadowing
from porter.engine.dialect import Dialect, is_named_for_cuda
from porter.names.table import is_cuda_header
from porter.project.compilation import Flags
from porter.project.dialects import (
    Told,
    given_dialect,
    is_unseen,
    may_be_unseen,
    meaning_of_names,
    meaning_of_rest,
    reached_dialect,
    settled,
    sure_dialect,
)
from porter.project.discovery import Entry, Kind, Project
from porter.project.naming import Names, choose_names
from porter.project.reuse import Shown, marked, unmarked

Value = TypeVar("Value")
Given = Callable[[str], "Dialect | None"]
_CUDA = ".cu"
_HEART = frozenset({"setup.py", "compile_commands.json"})
"""What they say is about other files."""


class NotLocal(Exception):
    """What a change does to the others is not known without looking at all of them."""


class Fact(NamedTuple):
    """A file as it is now."""

    entry: Entry
    known: Known | None
    """None: nothing is looked for in it, or it cannot be read."""


class Asked(Mapping[str, Value]):
    """A mapping whose values are found when they are asked for."""

    def __init__(self, find: Callable[[str], Value | None]) -> None:
        self._find = find

    def __getitem__(self, key: str) -> Value:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._find(key) is not None

    def __iter__(self) -> Iterator[str]:
        raise NotLocal("all files were asked for")

    def __len__(self) -> int:
        raise NotLocal("the number of files was asked for")


@dataclass(frozen=True)
class Around:
    """What else decides, and is the same for both sides."""

    home: Path
    """Where the settings look for files, whatever side it is."""
    machine: Machine
    flags: Mapping[str, Flags]
    told: Told


class Overlay:
    """Rows of a tree of which some files changed."""

    def __init__(self, index: Index, changes: Mapping[str, Fact | None], around: Around) -> None:
        self._index, self._around = index, around
        self._choices = around.machine.choices
        self._facts = dict(changes)
        self._old = {path: index.row(path) for path in changes}
        self._edges: dict[str, tuple[str, ...]] = {}
        self._folders: dict[str, tuple[str, ...]] = {}
        self._users: dict[str, tuple[str, ...]] = {}
        self._shown: dict[str, Mapping[str, int]] = {}
        self._told: dict[str, Dialect | None] = {}
        self._found: dict[str, Dialect | None] = {}
        self._rest = meaning_of_rest(_kinds(index.whole.found))
        self.renamed: dict[str, str | None] = {}
        """Files that the port calls otherwise than in the kept tree; None: as they are called."""
        self._apart: dict[str, bool] = {}
        self._work_out()

    # -- what there is --------------------------------------------------------------------------------

    def entry(self, path: str) -> Entry | None:
        """A file."""
        if path in self._facts:
            fact = self._facts[path]
            return fact.entry if fact is not None else None
        return self._index_entry(path)

    def known(self, path: str) -> Known | None:
        """The quick look at a file."""
        if path in self._facts:
            fact = self._facts[path]
            return fact.known if fact is not None else None
        row = self._index.row(path)
        return Known(row.sha256, row.scan, row.use) if row is not None and row.sha256 else None

    def _scan(self, path: str) -> Scan | None:
        """What a file of code includes and declares."""
        return self._new_scan(path) if path in self._facts else self._old_scan(path)

    def _new_scan(self, path: str) -> Scan | None:
        fact = self._facts[path]
        return fact.known.scan if fact is not None and fact.known is not None and fact.entry.kind is Kind.CODE else None

    def _old_scan(self, path: str) -> Scan | None:
        row = self._index.row(path)
        return row.scan if row is not None and row.is_code else None

    def _old_edges(self, path: str) -> tuple[str, ...] | None:
        row = self._index.row(path)
        return row.edges if row is not None else None

    def _old_users(self, path: str) -> tuple[str, ...]:
        row = self._index.row(path)
        return row.users if row is not None else ()

    def edges(self, path: str) -> tuple[str, ...] | None:
        """The files that one includes."""
        return self._edges[path] if path in self._edges else self._old_edges(path)

    def folders(self, path: str) -> tuple[str, ...] | None:
        """The folders that its #include lines are relative to."""
        if path in self._folders:
            return self._folders[path]
        row = self._index.row(path)
        return row.folders if row is not None else None

    def users(self, path: str) -> tuple[str, ...]:
        """The files that include one."""
        return self._users[path] if path in self._users else self._old_users(path)

    def shown(self, path: str) -> Shown | None:
        """The names that its translation units show with it."""
        if path in self._shown:
            return unmarked(self._shown[path])
        row = self._index.row(path)
        return unmarked(row.shown) if row is not None else None

    def dialect(self, path: str) -> str | None:
        """Whose code it is."""
        if self._scan(path) is None:
            return None
        return (self._found_now(path) or self._rest).value

    def _found_now(self, path: str) -> Dialect | None:
        if path in self._found:
            return self._found[path]
        row = self._index.row(path)
        return row.found if row is not None else None

    # -- what follows ---------------------------------------------------------------------------------

    def _work_out(self) -> None:
        self._refuse()
        born = {path for path in self._facts if self._new_scan(path) and not self._old_scan(path)}
        gone = {path for path in self._facts if self._old_scan(path) and not self._new_scan(path)}
        if shadowing(self._choices, born | gone):
            raise NotLocal("a header that CUDA has as well came or went")
        if self._index.whole.is_for_amd and born | gone:
            raise NotLocal("a build list may say whose code a new file is")
        self._rename()
        self._include(born, gone)
        moved = {path for path in self._edges if self._edges[path] != (self._old_edges(path) or ())} | born | gone
        targets = self._use(moved)
        self._show(moved | self._otherwise(1), targets)
        self._judge(moved | self._otherwise(2), born, gone, targets)

    def _otherwise(self, part: int) -> set[str]:
        """The files on both sides whose quick look has something else in one of its parts."""
        pairs = ((path, self._old_scan(path), self._new_scan(path)) for path in self._facts)
        return {path for path, old, new in pairs if old is not None and new is not None and old[part] != new[part]}

    def _refuse(self) -> None:
        for path, fact in self._facts.items():
            old = self._old[path]
            came = (old is None) != (fact is None)
            kinds = {Kind.LINK.value, Kind.SPECIAL.value, Kind.UNREADABLE.value}
            if kinds & {old.kind if old else "", fact.entry.kind.value if fact else ""}:
                raise NotLocal(f"{path}: a link or nothing that can be read")
            name = posixpath.basename(path)
            if (came and name in _HEART) or name == "compile_commands.json":
                raise NotLocal(f"{path}: it tells of other files")
            if came and name.lower().endswith(_CUDA) and self._index.whole.has_links:
                raise NotLocal(f"{path}: there are links to CUDA sources")

    def _rename(self) -> None:
        """New names in the folders where something came or went; those of other folders do not depend on it."""
        came = [path for path, fact in self._facts.items() if (self._old[path] is None) != (fact is None)]
        for folder in {posixpath.dirname(path).casefold() for path in came}:
            before = self._index.beside(folder)
            more = [path for path in self._facts if posixpath.dirname(path).casefold() == folder]
            after = [path for path in dict.fromkeys((*before, *more)) if self.entry(path) is not None]
            old, new = self._named(before, self._index_entry), self._named(after, self.entry)
            for path in old.renamed.keys() | new.renamed.keys():
                name = new.renamed.get(path)
                if old.renamed.get(path) != name:
                    self.renamed[path] = name
                self._apart[path] = path in new.apart
        for path in self.renamed:
            base = posixpath.basename(path)
            if path in self._index.whole.renamed_includes or self._index.wanting(base):
                raise NotLocal(f"{path}: it is included by its name")
        for path in self._facts:
            was, now = self._old_scan(path), self._new_scan(path)
            names = set(now.includes if now else ()) ^ set(was.includes if was else ())
            if any(name.lower().endswith(_CUDA) for name in names):
                raise NotLocal(f"{path}: it includes a source by its name")

    def _index_entry(self, path: str) -> Entry | None:
        row = self._index.row(path)
        return Entry(path, Kind(row.kind), row.mode, row.size) if row is not None else None

    def _named(self, paths: Iterable[str], find: Callable[[str], Entry | None]) -> Names:
        """What the port would call the files of one folder; a setup.py above it has a say."""
        if self._choices.engine.style == "dual":
            return Names({}, {}, frozenset())
        paths = list(paths)
        folders = {posixpath.dirname(path) for path in paths}
        above = {f"{one}/setup.py".lstrip("/") for folder in folders for one in _upwards(folder)}
        subfolders = (Entry(one, Kind.FOLDER) for one in sorted(self._subfolders(folders)))
        entries = [entry for path in dict.fromkeys((*paths, *sorted(above))) if (entry := find(path)) is not None]
        return choose_names(Project(self._around.home, (*entries, *subfolders)))

    def _subfolders(self, folders: Collection[str]) -> Iterator[str]:
        """Folders called like a port of a source."""
        for folder in folders:
            for path in self._index.beside(folder):
                if path.lower().endswith(_CUDA):
                    for name in (path[:-3] + ".hip", path + ".hip"):
                        if self._index.beside(name):
                            yield name

    def _include(self, born: set[str], gone: set[str]) -> None:
        """Whom the files include whose #include lines changed, or mean something else now."""
        names = {posixpath.basename(path) for path in born | gone}
        again = born | self._otherwise(0)
        again |= {path for name in names for path in self._index.wanting(name) if self._scan(path) is not None}
        now = Asked(self._scan)

        def called(name: str) -> list[str] | None:
            here = {path for path in born if posixpath.basename(path) == name}
            return sorted({*self._index.named(name), *here} - gone)

        for path in again:
            includes = now[path].includes
            self._edges[path], self._folders[path] = resolved(path, includes, now, Asked(called), is_cuda_header)
        for path in gone:
            self._edges[path] = self._folders[path] = ()

    def _use(self, moved: Iterable[str]) -> set[str]:
        """The files that are included by others than before."""
        users: dict[str, set[str]] = {}
        for path in moved:
            old, new = set(self._old_edges(path) or ()), set(self._edges.get(path, ()))
            for target in old ^ new:
                found = users.setdefault(target, set(self._old_users(target)))
                (found.add if target in new else found.discard)(path)
        self._users |= {target: tuple(sorted(found)) for target, found in users.items()}
        return set(users)

    def _above(self, paths: Iterable[str], users: Callable[[str], tuple[str, ...]]) -> set[str]:
        return reached_from(Asked(lambda path: users(path) or None), paths)

    def _show(self, changed: set[str], targets: set[str]) -> None:
        """Which names are seen together: what the units showed that are touched, and what they show."""
        if not changed:
            return
        old = self._above((path for path in changed if self._old_scan(path)), self._old_users)
        new = self._above((path for path in changed if self._scan(path)), self.users)
        loops = set(self._index.whole.loops)
        if loops and loops & (old | new | self._above(targets, self._old_users)):
            raise NotLocal("files that include one another in a circle")
        touched = old | new | targets
        was = [path for path in touched if self._old_scan(path) and not self._old_users(path)]
        now = [path for path in touched if self._scan(path) and not self.users(path)]
        for path in changed | targets:
            if self._scan(path) and not self._has_root(path):
                raise NotLocal(f"{path}: files that include one another in a circle")
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._count(counts, was, self._old_edges, self._old_scan, -1)
        self._count(counts, now, self.edges, self._scan, 1)
        for path, count in counts.items():
            row = self._index.row(path)
            total = Counter(row.shown if row is not None else {})
            total.update(count)
            if any(number < 0 for number in total.values()):
                raise Damaged
            self._shown[path] = {name: number for name, number in total.items() if number}

    def _has_root(self, path: str) -> bool:
        """Whether somebody shows a file who is included by nobody."""
        seen, waiting = {path}, [path]
        while waiting:
            users = self.users(waiting.pop())
            if not users:
                return True
            fresh = [user for user in users if user not in seen]
            seen.update(fresh)
            waiting += fresh
        return False

    def _count(
        self,
        counts: Mapping[str, Counter[str]],
        units: Iterable[str],
        edges: Callable[[str], tuple[str, ...] | None],
        scan: Callable[[str], Scan | None],
        by: int,
    ) -> None:
        for unit in units:
            together = reached_from(Asked(edges), (unit,))
            names = {name for one in together if (found := scan(one)) for name in marked(found)}
            for one in together if names else ():
                for name in names:
                    counts[one][name] += by

    def _judge(self, changed: set[str], born: set[str], gone: set[str], targets: set[str]) -> None:
        """Whose code the touched files are; NotLocal when that changes what a name or silence means."""
        whole = self._index.whole
        if not changed:
            return
        sure = Asked(lambda path: sure_dialect(path, scan, self._around.told) if (scan := self._scan(path)) else None)
        given = given_dialect(self._choices, self._around.home)
        graph, scans = IncludeGraph(Asked(self.edges), {}), Asked(self._scan)
        above = self._above(changed, self._old_users) | self._above(changed, self.users)
        for path in above:
            if self._scan(path):
                self._told[path] = given(path) or sure.get(path) or reached_dialect(path, scans, sure, graph)
        cudas, named = whole.cudas, Counter(whole.named)
        for path in above:
            before, now = self._row_told(path), self._told.get(path)
            cudas += (now is Dialect.CUDA) - (before is Dialect.CUDA)
            if is_named_for_cuda(path):
                named.subtract(counted([before]) if self._old_scan(path) else {})
                named.update(counted([now]) if self._scan(path) else {})
        meaning = meaning_of_names(whole.cudas, _kinds(whole.named))
        if meaning_of_names(cudas, _kinds(named)) is not meaning:
            raise NotLocal("a name like CUDA's means something else now")
        hidden = self._hidden(above | targets)
        self._settle(above | targets | hidden, born, gone, meaning, given)

    def _hidden(self, touched: Iterable[str]) -> set[str]:
        """The files to which other branches lead than before, as far as a port compiles these."""
        waiting = set(touched) | {target for path in self._otherwise(2) for target in self.edges(path) or ()}
        found: set[str] = set()
        while waiting:
            path = waiting.pop()
            was = bool(self._old_scan(path)) and is_unseen(path, Asked(self._old_scan), Asked(self._old_users))
            now = bool(self._scan(path)) and is_unseen(path, Asked(self._scan), Asked(self.users))
            if was is not now:
                found.add(path)
                waiting |= {target for target in self.edges(path) or () if target not in found}
        return found

    def _row_told(self, path: str) -> Dialect | None:
        row = self._index.row(path)
        return row.told if row is not None else None

    def _settle(self, touched: set[str], born: set[str], gone: set[str], meaning: Dialect, given: Given) -> None:
        def told(path: str) -> Dialect | None:
            found = self._told[path] if path in self._told else self._row_told(path)
            return found or (meaning if is_named_for_cuda(path) else None)

        @functools.cache
        def alone(path: str) -> Dialect | None:
            found = told(path)
            asked = may_be_unseen(found, given(path))
            return Dialect.NVIDIA if asked and is_unseen(path, Asked(self._scan), Asked(self.users)) else found

        def was(path: str) -> Dialect | None:
            row = self._index.row(path)
            if row is not None and row.found is Dialect.NVIDIA:
                return Dialect.NVIDIA
            return self._row_told(path) or (meaning if is_named_for_cuda(path) else None)

        first = {path for path in touched if self._scan(path)}
        region = {path for path in first if path in born or alone(path) is not was(path) or alone(path) is None}
        waiting = list(region)
        while waiting:
            for target in self.edges(waiting.pop()) or ():
                if target not in region and alone(target) is None:
                    region.add(target)
                    waiting.append(target)
        outer = {user: self._found_now(user) for path in region for user in self.users(path) if user not in region}
        found = settled({path: alone(path) for path in region}, Asked(self.users), Asked(self.edges), outer)
        counts = Counter(self._index.whole.found)
        for path in (*region, *gone):
            row = self._index.row(path)
            if row is not None and row.is_code:
                counts.subtract(counted([row.found]))
        counts.update(counted(found.values()))
        if meaning_of_rest(_kinds(counts)) is not self._rest:
            raise NotLocal("silence means something else now")
        self._found |= found

    # -- the whole ------------------------------------------------------------------------------------

    def side(self, root: Path) -> Side:
        """As the gate sees it, with its files below a folder."""
        whole, around = self._index.whole, self._around
        mentions = {path: use for path, use in whole.mentions.items() if path not in self._facts}
        mentions |= {path: one.use for path in self._facts if (one := self.known(path)) is not None and one.use}
        return Side(
            root,
            Asked(self.entry),
            self._names(),
            side_key(around.machine, whole.shadowing, whole.renamed_includes, around.flags),
            Asked(self.known),
            IncludeGraph(Asked(self.edges), Asked(self.folders)),
            Asked(self.users),
            Asked(self.shown),
            Asked(self.dialect),
            whole.shadowing,
            around.flags,
            around.told,
            around.machine,
            mentions,
            whole.files + sum(self._counts(path) for path in self._facts),
        )

    def _counts(self, path: str) -> int:
        old = self._old[path]
        return (self.known(path) is not None) - (old is not None and bool(old.sha256))

    def _names(self) -> Names:
        renamed, apart = self._index.names()
        for path, name in self.renamed.items():
            if name is None:
                del renamed[path]
            else:
                renamed[path] = name
        changed = frozenset(path for path, is_apart in self._apart.items() if is_apart)
        return Names(renamed, {}, apart - self._apart.keys() | changed)

    def seen_otherwise(self) -> set[str]:
        """All files of which something may be known otherwise than of the kept tree."""
        return {*self._facts, *self._shown, *self._found}


def _upwards(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _kinds(counts: Mapping[str, int]) -> dict[Dialect | None, int]:
    return {Dialect(name) if name else None: count for name, count in counts.items()}
