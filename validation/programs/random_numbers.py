"""Kernels that seed random numbers: a port's are others, and a difference behind them says nothing of the port."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_DEVICE_FUNCTION = re.compile(r"__device__[^;{}()]*?\b(\w+)\s*\(")
_PLAIN = re.compile(r"(?:.*\s)?(?:\w+::)*(\w+)\s*(?:<.*>)?\(", re.DOTALL)
"""The name in `void space::kernel<int>(float*)`."""


def seeding(port: Path, launched: Iterable[str]) -> str | None:
    """The first kernel of those launched that seeds random numbers, itself or by a function that it calls, in a
    sentence; None where none does."""
    from porter.project.manifest import read_manifest  # what a run of a single program does without

    manifest = read_manifest(port)
    if manifest is None:
        return None
    seeds = {"curand_init"}.union(*(_seeding(port / record.output) for record in manifest.files.values()))
    names = {found[1] for found in map(_PLAIN.match, launched) if found}
    for record in manifest.files.values():
        for kernel in record.kernels:
            if kernel["name"] in names and not seeds.isdisjoint(kernel["callees"]):
                place = f"{kernel['name']} ({record.path}:{kernel['line']})"
                return f"{place} seeds random numbers, and rocRAND's are not cuRAND's for the same seed (A003)"
    return None


def _seeding(file: Path) -> set[str]:
    """The device functions of a ported file that seeds: one of them does."""
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        return set()
    return set(_DEVICE_FUNCTION.findall(text)) if "hiprand_init" in text else set()
