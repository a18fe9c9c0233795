"""Kernel resources from the metadata section of AMDGPU assembly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from porter.validation.build.model import Resources

_BEGIN, _END = "\t.amdgpu_metadata", ".end_amdgpu_metadata"
_KEY = re.compile(r"(?P<start>  - |    )\.(?P<key>\w+):\s*(?P<value>.*)")


def resources_of(assembly: str) -> tuple[Resources, ...]:
    """One entry per kernel, in the compiler's order; empty for assembly without kernels."""
    begin = assembly.rfind(_BEGIN)
    end = assembly.find(_END, begin)
    return tuple(map(_resources, _kernels(assembly[begin:end]))) if 0 <= begin < end else ()


def _kernels(metadata: str) -> Iterator[Mapping[str, str]]:
    """The maps in the list `amdhsa.kernels`, without what is nested in them."""
    found: dict[str, str] | None = None
    inside = False
    for line in metadata.splitlines():
        if line[:1] not in (" ", "\t"):
            inside = line.startswith("amdhsa.kernels:")
            continue
        match = _KEY.fullmatch(line) if inside else None
        if match is None:
            continue
        if match["start"] == "  - ":
            if found is not None:
                yield found
            found = {}
        if found is not None:
            found[match["key"]] = match["value"].strip().strip("'\"")
    if found is not None:
        yield found


def _resources(entry: Mapping[str, str]) -> Resources:
    def number(key: str) -> int:
        value = entry.get(key, "0")
        return int(value) if value.isdecimal() else 0

    agprs = number("agpr_count")
    return Resources(
        symbol=entry.get("name", ""),
        # Where both kinds are used, the count is that of both together.
        vgprs=number("vgpr_count") - agprs,
        agprs=agprs,
        sgprs=number("sgpr_count"),
        vgpr_spills=number("vgpr_spill_count"),
        sgpr_spills=number("sgpr_spill_count"),
        lds_bytes=number("group_segment_fixed_size"),
        scratch_bytes=number("private_segment_fixed_size"),
        largest_block=number("max_flat_workgroup_size"),
        dynamic_stack=entry.get("uses_dynamic_stack") == "true",
    )
