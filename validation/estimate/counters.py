"""Counters of a launch under the names of AMD's profilers (rocprof-compute, gfx942). Exact for what ran; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from porter.validation.estimate.work import Launched, Step, lds_cycles, steps

HALF = 64


def counters(launched: Launched) -> dict[str, int]:
    """By name; of a sample, scaled to the whole launch."""
    program = steps(launched.counters)
    found: Counter[str] = Counter()
    waves = launched.sampled * launched.waves_per_block
    found["SQ_WAVES"] = waves
    found["SQ_ITEMS"] = launched.sampled * launched.block_threads
    for step in program:
        _instruction(found, step)
    _caches(found, program, launched.counters.written_back)
    return {name: round(count * launched.scale) for name, count in found.items()}


def _instruction(found: Counter[str], step: Step) -> None:
    runs, unit = step.executed.runs, step.issue.unit
    if unit in ("valu", "mfma"):
        found["SQ_INSTS_VALU"] += runs
        found["SQ_THREAD_CYCLES_VALU"] += step.executed.lanes
        found[f"SQ_INSTS_{step.issue.counter}"] += runs
    elif unit == "vmem":
        found["SQ_INSTS_VMEM_WR" if step.writes else "SQ_INSTS_VMEM_RD"] += runs
        found["SQ_INSTS_FLAT"] += runs
        found["TA_FLAT_WRITE_WAVEFRONTS_sum" if step.writes else "TA_FLAT_READ_WAVEFRONTS_sum"] += runs
    elif unit == "lds":
        found["SQ_INSTS_LDS"] += runs
        found["SQ_LDS_BANK_CONFLICT"] += step.executed.conflicts
        found["SQ_LDS_IDX_ACTIVE"] += round(lds_cycles(step)[1])
    elif step.issue.counter:
        found[f"SQ_INSTS_{step.issue.counter}"] += runs


def _caches(found: Counter[str], program: Sequence[Step], written_back: int) -> None:
    for step in program:
        if step.issue.unit != "vmem":
            continue
        one = step.executed
        found["TCP_TOTAL_CACHE_ACCESSES_sum"] += one.accesses
        found["TCP_TCC_WRITE_REQ_sum" if step.writes else "TCP_TCC_READ_REQ_sum"] += one.l2_requests
        found["TCC_MISS_sum"] += one.l2_misses
    found["TCC_REQ_sum"] = found["TCP_TCC_READ_REQ_sum"] + found["TCP_TCC_WRITE_REQ_sum"]
    found["TCC_HIT_sum"] = found["TCC_REQ_sum"] - found["TCC_MISS_sum"]
    found["TCC_EA0_RDREQ_sum"] = found["TCC_MISS_sum"]
    found["TCC_EA0_WRREQ_sum"] = written_back
