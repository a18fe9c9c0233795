"""Kernel resources from the metadata section of AMDGPU assembly."""

from __future__ import annotations

from porter.validation.build.model import Resources
from porter.validation.devices.gfx942.text import parse_metadata

_BEGIN, _END = ".amdgpu_metadata", ".end_amdgpu_metadata"


def resources_of(assembly: str) -> tuple[Resources, ...]:
    """One entry per kernel, in the compiler's order; empty for assembly without kernels."""
    begin = assembly.rfind(f"\t{_BEGIN}")
    end = assembly.find(_END, begin)
    if begin < 0 or end < 0:
        return ()
    tree = parse_metadata(assembly[begin:end].splitlines()[1:])
    kernels = tree.get("amdhsa.kernels", ())
    entries = kernels if isinstance(kernels, list) else []
    return tuple(_resources(entry) for entry in entries if isinstance(entry, dict))


def _resources(entry: dict[str, object]) -> Resources:
    def number(key: str) -> int:
        value = str(entry.get(key, "0"))
        return int(value, 0) if value.lstrip("-").isalnum() else 0

    agprs = number(".agpr_count")
    return Resources(
        symbol=str(entry.get(".name", "")),
        # Where both kinds are used, the count is that of both together.
        vgprs=number(".vgpr_count") - agprs,
        agprs=agprs,
        sgprs=number(".sgpr_count"),
        vgpr_spills=number(".vgpr_spill_count"),
        sgpr_spills=number(".sgpr_spill_count"),
        lds_bytes=number(".group_segment_fixed_size"),
        scratch_bytes=number(".private_segment_fixed_size"),
        largest_block=number(".max_flat_workgroup_size"),
        dynamic_stack=str(entry.get(".uses_dynamic_stack", "false")) == "true",
    )
