"""Kernels that seed random numbers: a port's are others, and a difference behind them says nothing of the port."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_SEEDS = "curand_init"
_PLAIN = re.compile(r"(?:.*\s)?(?:\w+::)*(\w+)\s*(?:<.*>)?\(", re.DOTALL)
"""The name in `void space::kernel<int>(float*)`."""


def seeding(port: Path, launched: Iterable[str]) -> str | None:
    """The first kernel of those launched that calls curand_init itself, in a sentence; None where none does."""
    from porter.project.manifest import read_manifest  # what a run of a single program does without

    manifest = read_manifest(port)
    names = {found[1] for found in map(_PLAIN.match, launched) if found}
    for record in manifest.files.values() if manifest is not None else ():
        for kernel in record.kernels:
            if _SEEDS in kernel["callees"] and kernel["name"] in names:
                place = f"{kernel['name']} ({record.path}:{kernel['line']})"
                return f"{place} seeds random numbers, and rocRAND's are not cuRAND's for the same seed (A003)"
    return None
