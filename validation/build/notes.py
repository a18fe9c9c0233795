"""What about a kernel's resources is worth a look on a GPU with 64 lanes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from porter.validation.build.model import Block, Note, Resources
from porter.validation.build.occupancy import Target, Use

_ASSUMED = 1024


def notes_on(
    resources: Resources, target: Target | None, blocks: tuple[Block, ...], bounds: int | None
) -> tuple[Note, ...]:
    """Notes in a fixed order: memory for spills, LDS, launch bounds, block sizes."""
    return (
        *_spills(resources, bounds),
        *_lds(resources, target, blocks),
        *_launch_bounds(resources, target, blocks, bounds),
        *_wavefronts(target.lanes if target else 64, blocks),
    )


def _spills(resources: Resources, bounds: int | None) -> Iterator[Note]:
    if resources.vgpr_spills or resources.sgpr_spills:
        what = f"{resources.vgpr_spills} vector and {resources.sgpr_spills} scalar registers"
        cause = (
            f"for blocks of up to {resources.largest_block} threads" if bounds is None else "under its launch bounds"
        )
        yield Note("spills", f"{what} spilled {cause}")
    if resources.scratch_bytes and not resources.vgpr_spills:
        message = f"{resources.scratch_bytes} bytes of scratch per lane: an array indexed at run time, or a call"
        yield Note("scratch", message)
    if resources.dynamic_stack:
        yield Note("dynamic-stack", "the stack's size is not known: recursion, or a call through a pointer")


def _lds(resources: Resources, target: Target | None, blocks: tuple[Block, ...]) -> Iterator[Note]:
    limit = target.lds_bytes if target else 64 << 10
    dynamic = max((block.dynamic_lds for block in blocks), default=0)
    total = resources.lds_bytes + dynamic
    if total > limit:
        parts = f"{resources.lds_bytes} static + {dynamic} dynamic" if dynamic else str(total)
        yield Note("lds-over-limit", f"{parts} bytes of LDS; a block has {limit}: the launch fails")


def _launch_bounds(
    resources: Resources, target: Target | None, blocks: tuple[Block, ...], bounds: int | None
) -> Iterator[Note]:
    largest = max((block.threads for block in blocks if block.is_certain), default=0)
    if largest > resources.largest_block:
        message = f"launched with {largest} threads, compiled for at most {resources.largest_block}: the launch fails"
        yield Note("block-over-bounds", message)
    if bounds is not None or target is None or not largest or resources.largest_block < _ASSUMED:
        return
    if resources.vgpr_spills and largest <= _ASSUMED // 2:
        message = (
            f"compiled for {resources.largest_block} threads as it has no __launch_bounds__, launched with {largest}: "
            f"__launch_bounds__({largest}) allows {_allowed(target, largest)} registers"
        )
        yield Note("no-launch-bounds", message)


def _allowed(target: Target, threads: int) -> int:
    """Vector registers per lane when one block of that size has to fit on a compute unit."""
    waves = math.ceil(threads / target.lanes / target.simds)
    return target.registers // waves // target.granule * target.granule


def _wavefronts(lanes: int, blocks: tuple[Block, ...]) -> Iterator[Note]:
    for block in blocks:
        idle = -block.threads % lanes
        if idle and block.origin == "launch":
            where = f"{block.path}:{block.line}"
            message = f"blocks of {block.threads} at {where} leave {idle} of {block.threads + idle} lanes idle"
            yield Note("partial-wavefront", message)


def chosen_block(resources: Resources, blocks: tuple[Block, ...], bounds: int | None) -> Block:
    """The block that occupancy is worked out for: the largest launched, else the bounds, else what was compiled for."""
    if blocks:
        return max(blocks, key=lambda block: (block.threads, block.dynamic_lds))
    if bounds is not None:
        return Block(min(bounds, resources.largest_block or bounds), 0, "bounds")
    return Block(resources.largest_block or _ASSUMED, 0, "assumed")


def use_of(resources: Resources, block: Block) -> Use:
    """What `occupancy` needs to know."""
    lds = resources.lds_bytes + block.dynamic_lds
    return Use(resources.vgprs, resources.agprs, resources.sgprs, lds, block.threads)
