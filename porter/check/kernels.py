"""Which kernels a change touches: their own text, or something that their file includes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from porter.check.result import Changed
from porter.check.side import Looked, Side
from porter.cpp.lex import lex
from porter.system.reading import read_regular


def changed_kernels(
    head: Side,
    before: Side | None,
    looked: Mapping[str, Looked],
    earlier: Mapping[str, Looked],
    changed: Collection[str],
    prefix: str,
) -> tuple[Changed, ...]:
    """The kernels that building and validating are about; all of them where nothing is compared with."""
    found: list[Changed] = []
    for path, one in sorted(looked.items()):
        models = one.record.kernels
        if before is None:
            found += [Changed(prefix + path, m["qualified"], m["line"], "all kernels are looked at") for m in models]
            continue
        new = _digests(head.root / path, models)
        old = _digests(before.root / path, earlier[path].record.kernels) if path in earlier else {}
        for model in models:
            name = model["qualified"]
            why = _why(path, name, new, old, earlier, changed)
            if why:
                found.append(Changed(prefix + path, name, model["line"], why))
    return tuple(found)


def _why(
    path: str,
    name: str,
    new: Mapping[str, str],
    old: Mapping[str, str],
    earlier: Mapping[str, Looked],
    changed: Collection[str],
) -> str:
    if path not in changed:
        return "something that its file includes changed"
    if path not in earlier or name not in {model["qualified"] for model in earlier[path].record.kernels}:
        return "new"
    if new.get(name) != old.get(name):
        return "its text changed"
    return "" if new.get(_AROUND) == old.get(_AROUND) else "code around it in its file changed"


_AROUND = ""
"""Stands for all that is outside of kernels: helpers, macros, launches."""


def _digests(path: Path, models: Collection[Mapping[str, Any]]) -> dict[str, str]:
    """Per kernel a digest of its tokens, and one of all that is around them; nothing where the file is not at hand."""
    try:
        text = read_regular(path).decode("latin-1") if models else ""
    except OSError:
        return {}
    found: dict[str, str] = {}
    around: list[str] = []
    place = 0
    for model in sorted(models, key=lambda model: model["span"][0]):
        start, end = model["span"]
        found[model["qualified"]] = _digest(text[start:end])
        around.append(text[place:start])
        place = max(place, end)
    found[_AROUND] = _digest("\n".join([*around, text[place:]]))
    return found


def _digest(text: str) -> str:
    tokens = lex(text)
    includes = (include.name for include in tokens.includes)
    return hashlib.sha256("\0".join([*includes, *tokens.texts]).encode("latin-1")).hexdigest()
