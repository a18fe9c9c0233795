"""The rules for 64 lanes across files: helpers, macros and warp sizes that headers define."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.cpp.headers import header_reader
from porter.engine.file import port
from porter.source import SourceFile
from tests.warp.execution import context

SUM_16 = "__device__ float sum(float v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o); return v; }\n"
SUM_32 = SUM_16.replace("16", "32")
BY_64 = """\
#include <hip/hip_runtime.h>
#include "sum.h"
__global__ void k(const float *x, float *y) {
  float v = sum(x[threadIdx.x]);
  if (threadIdx.x % 64 == 0) y[threadIdx.x / 64] = v;
}
"""
BY_32 = BY_64.replace("64", "32")
SIZES = """\
#pragma once
#ifdef USE_ROCM
#define WARP_SIZE 64
#define SHFL_DOWN(v, o) __shfl_down(v, o)
#define BALLOT(p) __ballot(p)
#else
#define WARP_SIZE 32
#define SHFL_DOWN(v, o) __shfl_down_sync(0xffffffff, v, o)
#define BALLOT(p) __ballot_sync(0xffffffff, p)
#endif
"""
COUNT = """\
#include "sum.h"
__global__ void k(const int *x, int *y) {
  int lane = threadIdx.x % WARP_SIZE;
  unsigned m = BALLOT(x[threadIdx.x]);
  if (lane == 0) y[threadIdx.x / WARP_SIZE] = __popc(m);
}
"""
MIXED = """\
#include "sum.h"
__device__ float all(float v) {
  for (int o = WARP_SIZE / 2; o > 0; o >>= 1) v += SHFL_DOWN(v, o);
  return v;
}
__global__ void k(const float *x, float *y) {
  float v = all(x[threadIdx.x]);
  if ((threadIdx.x & 31) == 0) y[threadIdx.x >> 5] = v;
}
"""
PROBES: dict[str, tuple[str, str, str, set[str]]] = {
    "a helper of half, lanes by 64": ("k.hip", SUM_16, BY_64, {"V104"}),
    "a helper of all, lanes by 64": ("k.hip", SUM_32, BY_64, set()),
    "a helper of half, lanes by 32": ("k.hip", SUM_16, BY_32, set()),
    "a helper of all, lanes by 32": ("k.hip", SUM_32, BY_32, {"V105"}),
    "a helper with a width": ("k.hip", SUM_32.replace("(v, o)", "(v, o, 32)"), BY_32, set()),
    "two helpers of one name": ("k.hip", f"#if A\n{SUM_16}#else\n{SUM_32}#endif\n", BY_64, set()),
    "a mask where AMD's size is 64": ("k.cu", SIZES, COUNT, {"V101"}),
    "a mask where AMD's size is 32": ("k.cu", SIZES.replace("WARP_SIZE 64", "WARP_SIZE 32"), COUNT, set()),
    "a mask kept in 64 bits": ("k.cu", SIZES, COUNT.replace("unsigned", "auto").replace("__popc", "__popcll"), set()),
    "a reduction over AMD's size, lanes by 32": ("k.cu", SIZES, MIXED, {"V105"}),
    "a reduction over AMD's size, lanes by it": (
        "k.cu",
        SIZES,
        MIXED.replace("& 31", "% WARP_SIZE").replace(">> 5", "/ WARP_SIZE"),
        set(),
    ),
    "AMD's warp size as a constant": (
        "k.hip",
        "",
        '#include "sum.h"\n__device__ void f() { int s[warpSize]; }\n',
        {"V108"},
    ),
    "the project's own warpSize": (
        "k.hip",
        "#ifdef __GFX9__\n#define warpSize 64\n#else\n#define warpSize 32\n#endif\n",
        '#include "sum.h"\n__device__ void f() { int s[warpSize]; }\n',
        set(),
    ),
    "the project's own constant of that name": (
        "k.hip",
        "static constexpr int warpSize = 64;\n",
        '#include "sum.h"\n__device__ void f() { int s[warpSize]; }\n',
        set(),
    ),
    "no branch for AMD": ("k.cu", SIZES.replace("USE_ROCM", "OLD"), COUNT, set()),
}


@pytest.mark.parametrize("probe", PROBES)
def test_what_headers_say_counts(probe: str, tmp_path: Path) -> None:
    name, header, text, wanted = PROBES[probe]
    (tmp_path / "sum.h").write_text(header)
    done = port(
        SourceFile(name, text.encode()), replace(context("preserve"), included_file=header_reader(tmp_path, ())), name
    )
    found = {finding.code for finding in done.findings if finding.code[0] in "VE" and finding.effort.value != "none"}
    assert found == wanted, done.findings
