"""ctypes mirrors of the structures in runtime.h."""

from __future__ import annotations

import ctypes as c


class Allocation(c.Structure):
    """One row of the allocation table."""

    _fields_ = (("base", c.c_uint64), ("end", c.c_uint64), ("state", c.c_uint32), ("id", c.c_uint32))


class FaultRecord(c.Structure):
    """What the first fault was."""

    _fields_ = (
        ("kind", c.c_uint32),
        ("site", c.c_uint32),
        ("other_site", c.c_uint32),
        ("wave", c.c_uint32),
        ("other_wave", c.c_uint32),
        ("lane", c.c_uint32),
        ("block", c.c_uint32 * 3),
        ("allocation", c.c_uint32),
        ("address", c.c_uint64),
        ("bytes", c.c_uint64),
        ("other_lane", c.c_uint64),
        ("other_block", c.c_uint32 * 3),
        ("weight", c.c_uint32),
    )


class SiteCount(c.Structure):
    """Traffic of one memory instruction."""

    _fields_ = tuple(
        (name, c.c_uint64)
        for name in (
            *("requests", "lanes", "lines", "bytes", "conflicts"),
            *("accesses", "l2_requests", "l2_misses", "last_misses", "other_xcd"),
        )
    )


class CacheShape(c.Structure):
    """Numbers, sets and ways of the caches."""

    _fields_ = tuple(
        (name, c.c_uint32)
        for name in (
            *("xcds", "cus_per_xcd", "l1_sets", "l1_ways", "l2_sets", "l2_ways", "last_sets", "last_ways"),
            *("line_bits", "write_bits"),
        )
    )


class CacheTotals(c.Structure):
    """Writes that no instruction asked for when they came, and atomics: all, and those on one line at most."""

    _fields_ = tuple((name, c.c_uint64) for name in ("written_back", "memory_writes", "atomics", "hottest"))


class SegmentCount(c.Structure):
    """Runs of a stretch of code under one EXEC, and the lanes switched on in them."""

    _fields_ = (("runs", c.c_uint64), ("lanes", c.c_uint64))


class Heap(c.Structure):
    """What device-side malloc gives out."""

    _fields_ = (
        *((name, c.c_uint64) for name in ("end", "next", "limit", "live", "refused")),
        ("rows", c.POINTER(Allocation)),
        ("count", c.c_uint32),
        ("capacity", c.c_uint32),
    )


class MessageHead(c.Structure):
    """What stands before the bytes of a message."""

    _fields_ = (
        *((name, c.c_uint32) for name in ("bytes", "kind", "site", "lane", "wave")),
        ("block", c.c_uint32 * 3),
    )


class Launch(c.Structure):
    """Everything a launch needs and gives back."""

    _fields_ = (
        ("grid", c.c_uint32 * 3),
        ("block", c.c_uint32 * 3),
        ("shared_bytes", c.c_uint32),
        ("private_bytes", c.c_uint32),
        ("threads", c.c_uint32),
        ("flags", c.c_uint32),
        ("alignment", c.c_uint32),
        ("resident", c.c_uint32),
        ("seed", c.c_uint64),
        ("budget", c.c_uint64),
        ("quantum", c.c_uint64),
        ("allocation_count", c.c_uint32),
        ("site_count", c.c_uint32),
        ("segment_count", c.c_uint32),
        ("wave_bytes", c.c_uint32),
        ("allocations", c.POINTER(Allocation)),
        ("symbols", c.POINTER(c.c_uint64)),
        ("arguments", c.c_uint64),
        ("site_lines", c.POINTER(c.c_uint32)),
        ("init", c.c_void_p),
        ("step", c.c_void_p),
        ("sites", c.POINTER(SiteCount)),
        ("segments", c.POINTER(SegmentCount)),
        ("divergence", c.POINTER(c.c_uint64)),
        ("fault", FaultRecord),
        ("note", FaultRecord),
        ("heap", c.POINTER(Heap)),
        ("messages", c.c_void_p),
        ("message_bytes", c.c_uint64),
        ("message_room", c.c_uint64),
        ("messages_lost", c.c_uint64),
        ("watch_base", c.c_uint64),
        ("watch_end", c.c_uint64),
        ("writer", FaultRecord),
        ("hazard", FaultRecord),
        ("global_hazard", FaultRecord),
        ("no_fence", FaultRecord),
        ("cache_shape", c.POINTER(CacheShape)),
        ("cache_totals", CacheTotals),
        ("block_limit", c.c_uint64),
        ("block_stride", c.c_uint64),
        ("unwritten", c.c_void_p),
        ("unwritten_base", c.c_uint64),
        ("unwritten_end", c.c_uint64),
        ("unwritten_read", FaultRecord),
    )


CHECK_RACES, COUNT_MEMORY, COOPERATIVE, CHECK_POISON, INTERLEAVE, ALLOW_EXITED = 1, 2, 4, 8, 16, 32
WATCH, CHECK_GLOBAL, COUNT_CACHES = 64, 128, 4096
ROUND_UP, ROUND_DOWN = 256, 512
LIVE, FREED, READ_ONLY, HEAP = 0, 1, 2, 3
ALIGNMENTS = {"none": 0, "dword": 1, "natural": 2}
NOBODY = 0xFFFFFFFF
