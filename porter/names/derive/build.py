"""Builds the rows of one library's table from what CUDA and HIP declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from porter.names.derive.compare import Comparison, Difference
from porter.names.derive.cudaside import CudaName
from porter.names.derive.hipside import HipName, version_order
from porter.names.derive.library import Library
from porter.names.derive.overrides import Overrides
from porter.names.derive.vocabulary import Vocabulary

Row = dict[str, Any]


@dataclass
class Context:
    """What all tables of one derivation share."""

    vocabulary: Vocabulary
    overrides: Overrides
    cuda_labels: tuple[str, ...]


def rows(library: Library, names: Mapping[str, CudaName], context: Context) -> dict[str, Row]:
    """One row per name, as written to TOML; names that only the overrides know come in as well."""
    comparison = context.vocabulary.comparison()
    found = {name: _row(library, name, entry, context, comparison) for name, entry in names.items()}
    for name, extra in context.overrides.extra[library.name].items():
        if name not in found:
            found[name] = _extra(library, name, extra, context)
    return dict(sorted(found.items()))


def _row(library: Library, name: str, entry: CudaName, context: Context, comparison: Comparison) -> Row:
    hip = context.vocabulary.mapped.get(name)
    kind = "type" if entry.declaration.kind == "using" else entry.declaration.kind
    era = _era(entry.versions, context.cuda_labels)
    gap = context.overrides.gap(library.name, name, hip is not None)
    if gap is not None:
        return {"kind": kind, **_gap(gap.text, gap.effort), **era}
    if hip is None:
        return {
            "kind": kind,
            **_gap(f"{library.title} in CUDA only: ROCm {context.vocabulary.side.newest} has no counterpart", "manual"),
            **era,
        }
    row = {
        "kind": kind,
        "hip": hip,
        **_known(entry, context.vocabulary.side.names.get(hip), comparison, library.overloaded),
    }
    return {**row, **_by_hand(library, name, context), **era}


def _gap(text: str, effort: str) -> Row:
    return {"gap": text} | ({} if effort == "manual" else {"effort": effort})


def _extra(library: Library, name: str, extra: Mapping[str, Any], context: Context) -> Row:
    row = {key: value for key, value in extra.items() if key != "effort" or value != "manual"}
    known = context.vocabulary.side.names.get(row.get("hip", ""))
    since = {"since": known.since} if known else {}
    return {**row, **since, **_by_hand(library, name, context)}


def _by_hand(library: Library, name: str, context: Context) -> Row:
    """A difference and a reason that the overrides give."""
    row: Row = {}
    group = context.overrides.difference(library.name, name)
    if group is not None:
        row |= {"signature": group.text, "effort": group.effort}
    override = context.overrides.names.get(name, {})
    row |= {key: override[key] for key in ("why", "before", "since", "gone") if key in override}
    if "before" in row and "since" not in row:
        known = [context.vocabulary.side.names.get(older) for older in row["before"].values()]
        row["since"] = min((found.since for found in known if found), key=version_order, default="")
    return row


def _known(entry: CudaName, known: HipName | None, comparison: Comparison, overloaded: bool) -> Row:
    if known is None:
        return {}
    declaration = entry.declaration
    found: Row = {"since": known.since}
    if known.gone:
        found |= {"gone": known.gone, "why": f"gone from ROCm {known.gone}"}
    if declaration.kind == "function" and known.declaration.kind == "function":
        found |= _signature(entry, known, comparison, overloaded)
    ours, theirs = declaration.value, known.declaration.value
    if declaration.kind == "enumerator" and None not in (ours, theirs) and ours != theirs:
        found["value"] = f"{ours} -> {theirs}"
    return found


def _signature(entry: CudaName, known: HipName, comparison: Comparison, overloaded: bool) -> Row:
    """How the prototypes differ; a difference that only some CUDA versions have says which."""
    differences = {
        label: comparison.difference(declaration.overloads, known.declaration.overloads, overloaded)
        for label, declaration in entry.by_version.items()
        if declaration.overloads
    }
    distinct = set(differences.values())
    if distinct <= {None}:
        return {}
    if len(distinct) == 1:
        return _differing(distinct.pop(), "")
    newest = list(differences.values())[-1]
    if newest is not None:
        first = next(label for label, difference in differences.items() if difference == newest)
        return _differing(newest._replace(effort="review"), f"CUDA {first}: ")
    last = [label for label, difference in differences.items() if difference is not None][-1]
    return _differing(differences[last], f"CUDA {last} and older: ")


def _differing(difference: Difference | None, prefix: str) -> Row:
    assert difference is not None
    return {"signature": prefix + difference.text, "effort": difference.effort}


def _era(versions: Sequence[str], labels: Sequence[str]) -> Row:
    """In which CUDA versions the name exists, when not in all of them."""
    era: Row = {}
    if versions[0] != labels[0]:
        era["added"] = versions[0]
    if versions[-1] != labels[-1]:
        era["removed"] = labels[labels.index(versions[-1]) + 1]
    return era
