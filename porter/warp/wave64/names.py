"""HIP's names for lanes, masks of lanes and the size of a wavefront."""

from __future__ import annotations

WHOLE, HALF = 64, 32
TRACE = r"__device__|__global__|__builtin_amdgcn_|ballot|activemask|__shfl|threadIdx|lane_?id|warpSize|WAVEFRONT_SIZE"
"""Without one of these a file has no code that could count on lanes."""
_MASK_CALLS = """
__ballot __ballot_sync __ballot64 __activemask __match_any __match_any_sync __match_all __match_all_sync
__builtin_amdgcn_uicmp __builtin_amdgcn_sicmp __builtin_amdgcn_uicmpl __builtin_amdgcn_sicmpl
__builtin_amdgcn_fcmp __builtin_amdgcn_fcmpf
__builtin_amdgcn_ballot_w64 __builtin_amdgcn_read_exec __lanemask_lt __lanemask_le __lanemask_gt __lanemask_ge
"""
MASK_CALLS = frozenset(_MASK_CALLS.split())
"""Functions that give one bit for each of 64 lanes."""
LANE_CALLS = frozenset({"__lane_id", "lane_id", "__builtin_amdgcn_mbcnt_hi"})
SIZES = frozenset({"warpSize", "__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__"})
