"""CUDA's public names, joined over the versions at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from porter.names.derive.declarations import Declaration, Harvest
from porter.names.derive.library import Library


@dataclass(frozen=True)
class CudaName:
    """One CUDA name over the versions at hand, from the oldest to the newest."""

    by_version: dict[str, Declaration]

    @property
    def declaration(self) -> Declaration:
        """The newest declaration that shows a prototype, or else the newest."""
        found = list(self.by_version.values())
        return next((d for d in reversed(found) if d.overloads), found[-1])

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that have the name."""
        return tuple(self.by_version)


def joined(harvests: Mapping[str, Harvest], library: Library) -> dict[str, CudaName]:
    """The public names of a library over several CUDA versions, given from the oldest to the newest."""
    guards = {guard for harvest in harvests.values() for guard in _guards(harvest)}
    found: dict[str, CudaName] = {}
    for label, harvest in harvests.items():
        for declaration in list(harvest):
            name = library.public_name(declaration)
            if name is not None and name not in guards:
                resolved = _unaliased(replace(declaration, name=name), harvest)
                known = found.setdefault(name, CudaName({})).by_version
                if label not in known or resolved.overloads:
                    known[label] = resolved
            for other in _bodies(declaration, harvest, library):
                found.setdefault(other.name, CudaName({})).by_version.setdefault(label, other)
    return found


def _unaliased(declaration: Declaration, harvest: Harvest) -> Declaration:
    """`#define cublasCreate cublasCreate_v2` makes the first a function too, with the prototype of the second."""
    target = harvest.names.get(declaration.target)
    if declaration.kind not in ("macro", "function") or target is None or target.kind != "function":
        return declaration
    return replace(declaration, kind="function", overloads=target.overloads)


def _bodies(declaration: Declaration, harvest: Harvest, library: Library) -> Iterator[Declaration]:
    """`#define cuMemAlloc cuMemAlloc_v2` makes the second a name too: the declaration below it expands to it."""
    target = declaration.target
    if (
        declaration.kind == "function"
        and target.startswith(declaration.name + "_v")
        and target not in harvest.names
        and library.is_public(target)
    ):
        yield replace(declaration, name=target, target="")


def _guards(harvest: Harvest) -> Iterator[str]:
    """Include guards: empty macros named after a header."""
    stems = {re.sub(r"\W", "_", header.rpartition("/")[2]).upper().removesuffix("_H") for header in harvest.headers}
    for name, declaration in harvest.names.items():
        if declaration.kind == "macro" and not declaration.target and declaration.value is None:
            bare = name.strip("_").upper()
            if bare.removesuffix("_H") in stems or name.endswith(
                ("_H_INCLUDED", "_INCLUDED", "_H__", "_HPP", "_H_", "_H")
            ):
                yield name
