"""HIP's names over all the ROCm versions at hand: the newest declaration, and the oldest version that has it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from porter.names.derive.declarations import Declaration, Harvest, Prototype

_RUNTIME = "hipMalloc"
"""A version without it shows an add-on library only."""


_PROFILING = re.compile(r"pnccl")
"""The profiling entry points: some bindings leave them out."""


def version_order(label: str) -> tuple[int, ...]:
    """Orders labels by number."""
    return tuple(int(part) for part in label.split(".") if part.isdigit())


def squeezed(name: str) -> str:
    """A name without case and underscores: `MAX_THREADS` and `MaxThreads` are the same."""
    return name.replace("_", "").lower()


@dataclass(frozen=True)
class HipName:
    """One HIP name: `declaration` is the newest one that shows a prototype."""

    declaration: Declaration
    by_version: dict[str, Declaration]
    newest: str = ""
    bound: tuple[str, ...] = ()
    """Versions for which there are bindings, which show all functions, types and constants."""

    @property
    def since(self) -> str:
        """The oldest version that has the name."""
        return next(iter(self.by_version))

    @property
    def gone(self) -> str:
        """The first version whose bindings do not show the name any more."""
        if self.last == self.newest or not any(found.binding for found in self.by_version.values()):
            return ""
        if _PROFILING.match(self.declaration.name):
            return ""
        later = [label for label in self.bound if version_order(label) > version_order(self.last)]
        return later[0] if later else ""

    @property
    def last(self) -> str:
        """The newest version that has the name."""
        return next(reversed(self.by_version))


@dataclass
class HipSide:
    """Everything HIP declares, by name."""

    names: dict[str, HipName] = field(default_factory=dict)
    fields: dict[str, dict[str, Declaration]] = field(default_factory=dict)
    headers: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Header -> oldest and newest version that has it."""
    newest: str = ""
    _families: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def family(self, prefix: str) -> dict[str, list[str]]:
        """Names that start with a prefix (in any case), by what follows it, squeezed."""
        if prefix not in self._families:
            found: defaultdict[str, list[str]] = defaultdict(list)
            start = prefix.lower()
            for name in self.names:
                if name.lower().startswith(start):
                    found[squeezed(name[len(prefix) :])].append(name)
            self._families[prefix] = dict(found)
        return self._families[prefix]


def join(harvests: Mapping[str, Harvest]) -> HipSide:
    """Joins the harvests of several versions, given from the oldest to the newest."""
    side = HipSide()
    for label, harvest in harvests.items():
        if _RUNTIME in harvest.names:
            side.newest = label
        for name, found in harvest.names.items():
            known = side.names.get(name)
            kept = _better(known.declaration, found) if known else found
            side.names[name] = HipName(kept, {**(known.by_version if known else {}), label: kept})
        for owner, members in harvest.fields.items():
            side.fields.setdefault(owner, {}).update(members)
        for header in harvest.headers:
            side.headers[header] = (side.headers.get(header, (label,))[0], label)
    bound = tuple(label for label, harvest in harvests.items() if any(found.binding for found in harvest))
    side.names = {name: replace(known, newest=side.newest, bound=bound) for name, known in side.names.items()}
    return side


def _better(old: Declaration, new: Declaration) -> Declaration:
    """The newer declaration, with what only the older one shows: values, and what bindings cannot show."""
    if old.overloads and not new.overloads:
        return old
    if new.binding and not old.binding and old.kind in ("macro", "template"):
        new.kind = old.kind
    if new.value is None:
        new.value = old.value
    new.target = new.target or old.target
    if new.binding:
        new.overloads = [_with_defaults(prototype, old.overloads) for prototype in new.overloads]
        new.overloads += [p for p in old.overloads if p.template and p not in new.overloads]
    elif new.preprocessed and old.preprocessed:
        new.overloads += [p for p in old.overloads if p not in new.overloads]
    return new


def _with_defaults(prototype: Prototype, older: list[Prototype]) -> Prototype:
    for candidate in older:
        if len(candidate.parameters) == len(prototype.parameters) and not candidate.template:
            pairs = zip(prototype.parameters, candidate.parameters, strict=True)
            return prototype._replace(parameters=tuple(new._replace(optional=old.optional) for new, old in pairs))
    return prototype
