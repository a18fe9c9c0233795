"""How many wavefronts fit on a SIMD, and what limits them: pure arithmetic over the target's figures."""

from __future__ import annotations

import math
from dataclasses import dataclass

SOURCE = "LLVM AMDGPU subtarget rules; HIP hardware features and AMD GPU specifications (rocm.docs.amd.com)"


@dataclass(frozen=True)
class Target:
    """What a compute unit has."""

    name: str
    lanes: int
    simds: int
    waves_per_simd: int
    registers: int
    """Vector registers per lane of a SIMD."""
    granule: int
    unified: bool
    """Accumulation registers come out of the same file."""
    lds_bytes: int
    blocks_per_unit: int = 32
    sgpr_steps: tuple[tuple[int, int], ...] = ((100, 8),)
    """(largest number of SGPRs, wavefronts) in order; `fewest` beyond."""
    fewest: int = 7


_KIB64 = 64 << 10
_GFX9_STEPS = ((80, 10), (88, 9), (100, 8))
TARGETS = {
    target.name: target
    for target in (
        *(Target(name, 64, 4, 10, 256, 4, False, _KIB64, 40, _GFX9_STEPS) for name in ("gfx900", "gfx906", "gfx908")),
        *(Target(name, 64, 4, 8, 512, 8, True, _KIB64) for name in ("gfx90a", "gfx940", "gfx941", "gfx942")),
        Target("gfx950", 64, 4, 8, 512, 8, True, 160 << 10),
    )
}


def find_target(name: str) -> Target | None:
    """The figures of `gfx942` or `gfx942:sramecc+`; None where they are not known here."""
    return TARGETS.get(name.partition(":")[0])


@dataclass(frozen=True)
class Use:
    """What one kernel takes."""

    vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    block: int
    """Threads of a block."""


@dataclass(frozen=True)
class Occupancy:
    """Wavefronts resident on one SIMD when the GPU is full of this kernel."""

    waves_per_simd: float
    blocks_per_unit: int
    limited_by: tuple[str, ...]
    """`vgprs`, `sgprs`, `lds`, `block` (whole blocks do not fill the slots), `blocks`, `hardware` (no more exist)."""


def _rounded(value: int, granule: int) -> int:
    return max(-(-value // granule), 1) * granule


def _by_vgprs(target: Target, use: Use) -> int:
    if not target.unified:
        taken = max(_rounded(use.vgprs, target.granule), _rounded(use.agprs, target.granule))
    else:
        taken = _rounded((_rounded(use.vgprs, 4) if use.agprs else use.vgprs) + use.agprs, target.granule)
    return min(target.registers // taken, target.waves_per_simd)


def _by_sgprs(target: Target, use: Use) -> int:
    waves = next((waves for most, waves in target.sgpr_steps if use.sgprs <= most), target.fewest)
    return min(waves, target.waves_per_simd)


def occupancy(target: Target, use: Use) -> Occupancy:
    """Registers limit wavefronts; LDS, slots and the block size limit whole blocks. No block fits: 0 wavefronts."""
    waves_per_block = math.ceil(max(use.block, 1) / target.lanes)
    by_vgprs, by_sgprs = _by_vgprs(target, use), _by_sgprs(target, use)
    registers = {"vgprs": by_vgprs, "sgprs": by_sgprs}
    fits = {
        **{name: waves * target.simds // waves_per_block for name, waves in registers.items()},
        "lds": target.lds_bytes // use.lds_bytes if use.lds_bytes else target.blocks_per_unit,
        "blocks": target.blocks_per_unit,
    }
    blocks = min(fits.values())
    reached = blocks * waves_per_block / target.simds
    return Occupancy(reached, blocks, _limits(target, fits, registers, blocks, waves_per_block))


def _limits(
    target: Target, fits: dict[str, int], registers: dict[str, int], blocks: int, waves_per_block: int
) -> tuple[str, ...]:
    slots = target.waves_per_simd * target.simds
    if blocks * waves_per_block >= slots:
        return ("hardware",)
    by_slots = slots // waves_per_block
    limits = [name for name in ("vgprs", "sgprs", "lds") if fits[name] == blocks < by_slots]
    if blocks == fits["blocks"] < by_slots:
        limits.append("blocks")
    fewest = min(registers.values())
    if blocks * waves_per_block < fewest * target.simds and not {"lds", "blocks"} & set(limits):
        limits.append("block")
    if not limits:  # both: whole blocks fill as many slots as the registers allow, and not all
        limits = [*(name for name, waves in registers.items() if waves == fewest), "block"]
    return tuple(limits)
