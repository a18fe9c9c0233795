"""Finds the HIP name that a CUDA name stands for: an override, the same rest after a family's prefix, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porter.names.derive.hipside import HipSide, squeezed, version_order

_CALLABLE = frozenset({"function", "macro", "template", "using"})
_TYPE = frozenset({"type", "template", "using", "macro"})
_CONSTANT = frozenset({"enumerator", "macro", "variable", "using"})
_FITS = {
    "function": _CALLABLE,
    "type": _TYPE,
    "template": _TYPE,
    "enumerator": _CONSTANT,
    "variable": _CONSTANT,
    "macro": _CALLABLE | _TYPE | _CONSTANT,
    "using": _CALLABLE | _TYPE | _CONSTANT,
    "namespace": frozenset({"namespace"}),
}


def candidates(name: str, families: Iterable[tuple[str, str]], side: HipSide) -> Iterator[str]:
    """HIP names that may be meant, the likeliest first."""
    for cuda, hip in families:
        if not name.lower().startswith(cuda.lower()) or (not cuda and not hip and name not in side.names):
            continue
        rest = name[len(cuda) :]
        if hip + rest in side.names:
            yield hip + rest
        if not cuda or "::" in name:
            continue
        family = side.family(hip)
        for key in _keys(rest):
            yield from family.get(key, ())


def _keys(rest: str) -> Iterator[str]:
    key = squeezed(rest)
    yield key
    if "_v2" in rest:
        yield squeezed(rest.replace("_v2", ""))
    if rest.endswith(("_v3", "_v1")):
        yield squeezed(rest[:-3])
    if rest.endswith(("_ptsz", "_ptds")):
        yield squeezed(rest[:-5]) + "spt"
    if not rest.endswith("_st"):
        yield key + "t"


def fitting(name: str, kind: str, families: Iterable[tuple[str, str]], side: HipSide) -> list[str]:
    """HIP names of the right kind for a CUDA name, the likeliest first."""
    kinds = _FITS[kind]
    found = (hip for hip in candidates(name, families, side) if side.names[hip].declaration.kind in kinds)
    ranked = sorted(dict.fromkeys(found), key=lambda hip: bool(side.names[hip].gone))
    return _oldest_first(ranked, side) if kind == "enumerator" else ranked


def _oldest_first(hips: list[str], side: HipSide) -> list[str]:
    """Of constants that differ in spelling only, the one that more versions of ROCm have."""
    same = [hip for hip in hips if squeezed(hip) == squeezed(hips[0])]
    return sorted(same, key=lambda hip: version_order(side.names[hip].since)) + hips[len(same) :]
