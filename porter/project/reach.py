"""Which functions with work left the kernels of a project call, directly or through others.

A call is followed by name, into the file of the kernel and what that includes. Where scopes tell what is called, the
work of half of its overloads or more counts, and that of fewer is a reason to look; where they do not - members of
objects, classes behind an alias or a template parameter - it counts when whatever it can be has work left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from porter.cpp.brackets import words
from porter.cpp.calls import MEMBER
from porter.cpp.include_graph import include_graph, reached_from
from porter.cpp.scopes import ANONYMOUS
from porter.model import Calls, Effort
from porter.project.records import FileRecord

_RANKS = {effort.value: effort.rank for effort in Effort}
_LEFT = {effort.rank: effort.value for effort in Effort}
OFTEN = words(
    "all any arrive at ballot barrier_arrive barrier_wait begin clear count data empty end fill find get insert length "
    "load match_all match_any num_threads pop push push_back rank reset resize shfl shfl_down shfl_up shfl_xor size "
    "store swap sync test thread_rank wait"
)
"""Members that classes of CUDA's and of other libraries have as well: nothing tells whose is called."""


class Through(NamedTuple):
    """What functions and macros leave to a kernel that calls them."""

    names: tuple[str, ...] = ()
    """Those with work left in themselves, qualified."""
    left: str = Effort.NONE.value


NOTHING = Through()


class _Function(NamedTuple):
    """One function, kernel or macro of the project."""

    path: str
    scopes: tuple[str, ...]
    row: Calls


class _Call(NamedTuple):
    """The functions that a call can mean, and whether scopes tell that it is one of them."""

    meant: tuple[int, ...]
    is_told: bool


class Reach:
    """The calls of a project's device code."""

    def __init__(self, records: Iterable[FileRecord]) -> None:
        self._records = {record.path: record for record in records}

    def through(self, path: str, kernel: str) -> Through:
        """What is left in the functions that a kernel of a file calls, itself not among them."""
        starts = [number for number in self._kernels.get((path, kernel), ()) if self._may_lead(number)]
        if not starts:
            return NOTHING
        calls = self._calls_from(starts, self._visible(path))
        ranks = self._ranks(calls)
        found, seen, waiting = set[str](), set(starts), list(starts)
        most = 0
        while waiting:
            for call in calls[waiting.pop()]:
                rank = _rank(call, ranks)
                if not rank:
                    continue
                most = max(most, rank)
                fresh = [number for number in call.meant if ranks[number] and number not in seen]
                seen.update(fresh)
                waiting += fresh
                found |= {self._functions[n].row.name for n in call.meant if _RANKS[self._functions[n].row.left]}
        return Through(tuple(sorted(found)), _LEFT[most])

    @cached_property
    def _functions(self) -> tuple[_Function, ...]:
        if not any(row.left != Effort.NONE.value for record in self._records.values() for row in record.calls):
            return ()
        rows = ((record.path, row) for record in self._records.values() for row in _rows(record))
        return tuple(_Function(path, _scopes(row.name), row) for path, row in rows)

    @cached_property
    def _kernels(self) -> Mapping[tuple[str, str], list[int]]:
        """The rows of each kernel, by file and qualified name: a template may have several."""
        kernels = {(record.path, model["qualified"]) for record in self._records.values() for model in record.kernels}
        found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for number, function in enumerate(self._functions):
            if (key := (function.path, function.row.name)) in kernels:
                found[key].append(number)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, list[int]]:
        """What may be called, by the last part of its name; kernels are launched, not called."""
        kernels = {number for numbers in self._kernels.values() for number in numbers}
        found: defaultdict[str, list[int]] = defaultdict(list)
        for number, function in enumerate(self._functions):
            if number not in kernels:
                found[_last(function.row.name)].append(number)
        return found

    @cached_property
    def _leading(self) -> frozenset[str]:
        """Names that can lead to work left, whatever the scopes say: mostly there are few, and the rest is quick."""
        callers: defaultdict[str, set[str]] = defaultdict(set)
        waiting = []
        for name, numbers in self._by_name.items():
            for number in numbers:
                row = self._functions[number].row
                if _RANKS[row.left]:
                    waiting.append(name)
                for callee in row.callees:
                    callers[_last(callee)].add(name)
        return frozenset(reached_from(callers, waiting))

    def _may_lead(self, number: int) -> bool:
        return any(_last(callee) in self._leading for callee in self._functions[number].row.callees)

    @cached_property
    def _edges(self) -> Mapping[str, tuple[str, ...]]:
        return include_graph({path: record.scan for path, record in self._records.items()}).edges

    @cached_property
    def _seen_from(self) -> dict[str, frozenset[str]]:
        return {}

    def _visible(self, path: str) -> frozenset[str]:
        known = self._seen_from.get(path)
        if known is None:
            known = self._seen_from[path] = frozenset(reached_from(self._edges, (path,)))
        return known

    def _calls_from(self, starts: Iterable[int], visible: frozenset[str]) -> Mapping[int, tuple[_Call, ...]]:
        """The calls of some functions, and of all that these can call, as far as they can lead to work left."""
        found: dict[int, tuple[_Call, ...]] = {}
        waiting = list(starts)
        while waiting:
            number = waiting.pop()
            if number in found:
                continue
            caller = self._functions[number]
            calls = (self._meant(callee, caller, visible) for callee in caller.row.callees)
            found[number] = tuple(call for call in calls if call.meant)
            waiting += [other for call in found[number] for other in call.meant]
        return found

    def _meant(self, callee: str, caller: _Function, visible: frozenset[str]) -> _Call:
        name = _last(callee)
        if name not in self._leading:
            return _Call((), is_told=True)
        seen = tuple(number for number in self._by_name[name] if self._functions[number].path in visible)
        members = tuple(number for number in seen if self._functions[number].scopes)
        if callee.startswith(MEMBER):
            return self._any_of(() if name in OFTEN else members)
        written = _scopes(callee)
        if written:
            told = tuple(n for n in seen if self._functions[n].scopes[-len(written) :] == written)
            is_alias = len(written) == 1 and name not in OFTEN  # a namespace of another library is none
            return _Call(told, is_told=True) if told else self._any_of(members if is_alias else ())
        around = [n for n in seen if caller.scopes[: len(self._functions[n].scopes)] == self._functions[n].scopes]
        if not around:
            return self._any_of(seen)
        nearest = max(len(self._functions[n].scopes) for n in around)
        return _Call(tuple(n for n in around if len(self._functions[n].scopes) == nearest), is_told=True)

    def _any_of(self, numbers: tuple[int, ...]) -> _Call:
        """A call of something with a name, wherever it is: all of one scope are its overloads."""
        return _Call(numbers, is_told=len({self._functions[number].scopes for number in numbers}) <= 1)

    def _ranks(self, calls: Mapping[int, tuple[_Call, ...]]) -> Mapping[int, int]:
        """How much work each function leaves, with what it calls."""
        ranks = {number: _RANKS[self._functions[number].row.left] for number in calls}
        is_new = True
        while is_new:
            is_new = False
            for number, own in calls.items():
                rank = max((_rank(call, ranks) for call in own), default=0)
                if rank > ranks[number]:
                    ranks[number], is_new = rank, True
        return ranks


def _rows(record: FileRecord) -> Iterator[Calls]:
    """The functions of a file; of kernels that macros of other files make, what clang says that they call."""
    yield from record.calls
    named = {row.name for row in record.calls} if record.kernels else set()
    for model in record.kernels:
        if model["qualified"] not in named:
            yield Calls(model["qualified"], Effort.NONE.value, tuple(model["callees"]))


def _rank(call: _Call, ranks: Mapping[int, int]) -> int:
    """The work that a call leads to."""
    found = sorted(ranks[number] for number in call.meant)
    if not found or not call.is_told:
        return found[0] if found else 0
    return max(found[len(found) // 2], min(found[-1], Effort.REVIEW.rank))


def _last(name: str) -> str:
    return name.removeprefix(MEMBER).rpartition("::")[2]


def _scopes(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.split("::")[:-1] if part != ANONYMOUS)
