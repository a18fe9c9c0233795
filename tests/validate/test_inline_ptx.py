"""Inline PTX on shared memory: the original's on the virtual 32-lane device against its translation on gfx942."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices.registry import why_not
from porter.validation.verdict.outcome import Status

from tests.validate.running import by_name, devices, run, write_case

SOURCE = r"""
__device__ unsigned offset_of(void *p) {
  unsigned offset;
  asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }" : "=r"(offset) : "l"(p));
  return offset;
}
template <int Size> __device__ void copy(void *to, const void *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(offset_of(to)), "l"(from), "n"(Size) : "memory");
}
template <int Size> __device__ void copy(void *to, const void *from, int given) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(Size), "r"(given)
               : "memory");
}
__global__ void staged(const unsigned *in, unsigned *out, int n) {
  __shared__ __align__(16) unsigned tile[64 * 12];
  unsigned *own = tile + 12 * threadIdx.x;
  for (int i = 0; i < 12; ++i) own[i] = 7;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    copy<16>(own, in + 4 * i);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    copy<4>(own + 4, in + 4 * i + 3);
    copy<8>(own + 6, in + 4 * i + 2, i % 9);
    copy<16>(own + 8, in + 4 * i, i % 17);
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  asm volatile("st.shared.u32 [%0+20], %1;" ::"r"(offset_of(own)), "r"(i) : "memory");
  __syncthreads();
  unsigned *next = tile + 12 * ((threadIdx.x + 1) % blockDim.x);
  for (int k = 0; k < 12; ++k) {
    unsigned value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(offset_of(next) + 4 * k));
    out[12 * i + k] = value;
  }
}
"""
CASE = """
sweep = { n = [1, 40, 100], threads = [32, 64] }
symbols = { blocks = "ceil_div(n, threads)" }
grid = "blocks"
block = "threads"
arguments = ["in in: uint32[n * 4]", "out out: uint32[blocks * threads * 12]", "scalar n: int32 = n"]
"""


@pytest.mark.slow
def test_copies_and_accesses_by_offset(tmp_path: Path) -> None:
    if "ptx" not in devices():
        pytest.skip(str(why_not("ptx")))
    result = by_name(run(write_case(tmp_path, "staged", CASE, SOURCE)))["staged"]
    assert result.status is Status.PASSED, [side.reason for side in result.sides] + [p.reason for p in result.pairs]
    assert [pair.agreement for pair in result.pairs] == ["bitwise"]
