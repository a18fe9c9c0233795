"""Fields of the structs that users fill or read: which of them HIP's struct has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from porter.names.derive.declarations import Harvest
from porter.names.derive.hipside import squeezed
from porter.names.derive.overrides import Overrides
from porter.names.derive.vocabulary import Vocabulary

_TAG = re.compile(r"_(?:st|v\d|v\d_st|t)$")


def field_rows(
    harvests: Mapping[str, Harvest], vocabulary: Vocabulary, library: str, overrides: Overrides
) -> dict[str, dict[str, Any]]:
    """`cudaDeviceProp.clockRate` -> its name in HIP's struct, or a gap; only for structs that have a counterpart."""
    found: dict[str, dict[str, Any]] = {}
    labels = list(harvests)
    for owner in sorted({owner for harvest in harvests.values() for owner in harvest.fields}):
        hip = vocabulary.mapped.get(owner)
        theirs = _hip_fields(hip, vocabulary) if hip else {}
        if not theirs:
            continue
        for name in _names(harvests, owner):
            versions = [label for label in labels if name in harvests[label].fields.get(owner, {})]
            row = _row(name, f"{hip}", theirs)
            if versions[0] != labels[0] and owner in harvests[labels[0]].fields:
                row["added"] = versions[0]
            if versions[-1] != labels[-1]:
                row["removed"] = labels[labels.index(versions[-1]) + 1]
            group = overrides.difference(library, f"{owner}.{name}")
            found[f"{owner}.{name}"] = row | ({"signature": group.text, "effort": group.effort} if group else {})
    return found


def _names(harvests: Mapping[str, Harvest], owner: str) -> list[str]:
    names = {name: None for harvest in harvests.values() for name in harvest.fields.get(owner, {})}
    return [name for name in names if not name.startswith("reserved") and not name.startswith("_")]


def _hip_fields(hip: str, vocabulary: Vocabulary) -> dict[str, str]:
    """Fields of a HIP struct by their squeezed name; typedefs and tags are looked through."""
    fields = vocabulary.side.fields
    candidates = [
        hip,
        vocabulary.hip_typedef(hip).removeprefix("struct ").strip(),
        _TAG.sub("", hip),
        f"{hip}_st",
        f"{hip}R0600",
    ]
    members = next((fields[name] for name in candidates if name in fields), {})
    return {squeezed(name): name for name in members}


def _row(name: str, owner: str, theirs: Mapping[str, str]) -> dict[str, Any]:
    hip = theirs.get(squeezed(name)) or theirs.get(squeezed(name.replace("cuda", "hip").replace("Cuda", "Hip")))
    return {"hip": hip} if hip else {"gap": f"{owner} has no such field"}
