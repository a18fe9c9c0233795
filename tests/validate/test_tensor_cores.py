"""Tensor cores: CUDA's on the virtual 32-lane device against the port's on gfx942."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices.registry import why_not
from porter.validation.verdict.outcome import Status

from tests.validate.running import by_name, devices, run, write_case

FRAGMENTS = r"""
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <int m, int n, int k, class T, class S, class C, class LA, class LB>
__device__ void product(const S *a, const S *b, const C *c, C *d, bool turned) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, LA> left;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LB> right;
  wmma::fragment<wmma::accumulator, m, n, k, C> sum;
  auto order = turned ? wmma::mem_col_major : wmma::mem_row_major;
  wmma::load_matrix_sync(left, a, (std::is_same<LA, wmma::row_major>::value ? k : m));
  wmma::load_matrix_sync(right, b, (std::is_same<LB, wmma::row_major>::value ? n : k));
  wmma::load_matrix_sync(sum, c, turned ? m : n, order);
  for (int t = 0; t < sum.num_elements; ++t) sum.x[t] = sum.x[t] + sum.x[t];
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, turned ? m : n, order);
}
__global__ void mixed(const half *h, const signed char *s, const float *f, const double *x, const float *c,
                      const int *ic, float *d, int *id, double *xd, int warps) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (warp >= warps) return;
  h += 512 * warp, s += 512 * warp, f += 512 * warp, x += 64 * warp, c += 256 * warp, ic += 256 * warp;
  d += 768 * warp, id += 768 * warp, xd += 64 * warp;
  product<32, 8, 16, half, half, float, wmma::col_major, wmma::row_major>(h, h, c, d, true);
  if (warp % 3 != 1) product<8, 32, 16, half, half, float, wmma::row_major, wmma::row_major>(h, h, c, d + 256, false);
  using wmma::precision::tf32;
  product<16, 16, 8, tf32, float, float, wmma::row_major, wmma::col_major>(f, f + 128, c, d + 512, true);
  product<32, 8, 16, signed char, signed char, int, wmma::row_major, wmma::col_major>(s, s, ic, id, false);
  for (int i = 0; i <= warp % 3; ++i)
    product<8, 32, 16, unsigned char, unsigned char, int, wmma::col_major, wmma::row_major>(
        (const unsigned char *)s, (const unsigned char *)s, ic, id + 256, true);
  product<16, 16, 16, unsigned char, unsigned char, int, wmma::row_major, wmma::row_major>(
      (const unsigned char *)s, (const unsigned char *)s + 256, ic, id + 512, false);
  product<8, 8, 4, double, double, double, wmma::col_major, wmma::row_major>(x, x + 32, x, xd, false);
}
"""
FRAGMENT_CASE = """
sweep = { warps = [1, 5], threads = [32, 128] }
symbols = { blocks = "ceil_div(warps * 32, threads)" }
grid = "blocks"
block = "threads"
arguments = [
  "in h: float16[warps * 512]", "in s: int8[warps * 512] = integers(-128, 127)",
  "in f: float32[warps * 512] = integers(-8, 8)",
  "in x: float64[warps * 64]", "in c: float32[warps * 256]", "in ic: int32[warps * 256] = integers(-1000, 1000)",
  "inout d: float32[warps * 768]", "out id: int32[warps * 768]", "out xd: float64[warps * 64]",
  "scalar warps: int32 = warps",
]
tolerance = { reduction = "32" }
"""
ASSEMBLY = r"""
#include <cuda_fp16.h>
#define LDMATRIX_X4(r, at) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n" \
  : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at))
#define LDMATRIX_X2_TRANS(r, at) \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2+256];\n" \
  : "=r"(r[0]), "=r"(r[1]) : "r"(at - 256u))
__device__ __forceinline__ void multiply(float (&d)[4], unsigned const (&a)[4], unsigned const (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// A: 16 x 16 by rows, B: 16 x 8 by rows, one product per warp; C in registers as PTX has it.
__global__ void product(const half *A, const half *B, const unsigned *raw, float *C, int *I, unsigned *H, double *D,
                        int warps) {
  __shared__ __align__(16) half a[4][16][24], b[4][16][8];
  int lane = threadIdx.x % 32, slot = threadIdx.x / 32, warp = blockIdx.x * (blockDim.x / 32) + slot;
  if (warp >= warps) return;
  for (int i = lane; i < 256; i += 32) a[slot][i / 16][i % 16] = A[256 * warp + i];
  for (int i = lane; i < 128; i += 32) b[slot][i / 8][i % 8] = B[128 * warp + i];
  __syncwarp();
  unsigned fa[4], fb[2], r[8];
  LDMATRIX_X4(fa, (unsigned)__cvta_generic_to_shared(&a[slot][lane % 16][lane / 16 * 8]));
  LDMATRIX_X2_TRANS(fb, (unsigned)__cvta_generic_to_shared(&b[slot][lane % 16][0]));
  float d[4] = {0.5f, 1.5f, -1.0f, 2.0f};
  for (int i = 0; i <= warp % 3; ++i) multiply(d, fa, fb);
  for (int i = 0; i < 4; ++i) C[(warp * 32 + lane) * 4 + i] = d[i];

  for (int i = 0; i < 8; ++i) r[i] = raw[(warp * 32 + lane) * 8 + i];
  int s[4] = {1, 2, 3, (int)r[7]};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
    : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
  if (warp % 2)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1,%2,%3},"
    "{%4,%5}, {%6}, {%0,%1,%2,%3};"
    : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]) : "r"(r[0]), "r"(r[1]), "r"(r[6]));
  for (int i = 0; i < 4; ++i) I[(warp * 32 + lane) * 4 + i] = s[i];

  unsigned h[2];
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%5,%5};"
    : "=r"(h[0]), "=r"(h[1]) : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]), "r"(fb[1]));
  H[(warp * 32 + lane) * 2] = h[0], H[(warp * 32 + lane) * 2 + 1] = h[1];

  double x = d[0], y = d[1], z[2];
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%2,%3};"
    : "=d"(z[0]), "=d"(z[1]) : "d"(x), "d"(y));
  D[(warp * 32 + lane) * 2] = z[0], D[(warp * 32 + lane) * 2 + 1] = z[1];
}
"""
ASSEMBLY_CASE = """
sweep = { warps = [1, 5], slots = [1, 4] }
symbols = { blocks = "ceil_div(warps, slots)" }
grid = "blocks"
block = "slots * 32"
arguments = [
  "in A: float16[warps * 256] = integers(-8, 8)", "in B: float16[warps * 128] = integers(-8, 8)",
  "in raw: uint32[warps * 256]", "out C: float32[warps * 128]", "out I: int32[warps * 128]",
  "out H: uint32[warps * 64]", "out D: float64[warps * 64]", "scalar warps: int32 = warps",
]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "case", "source", "agreement"),
    [("mixed", FRAGMENT_CASE, FRAGMENTS, ""), ("product", ASSEMBLY_CASE, ASSEMBLY, "bitwise")],
    ids=["wmma", "assembly"],
)
def test_ported_products(tmp_path: Path, kernel: str, case: str, source: str, agreement: str) -> None:
    if "ptx" not in devices():
        pytest.skip(str(why_not("ptx")))
    result = by_name(run(write_case(tmp_path, kernel, case, source)))[kernel]
    assert result.status is Status.PASSED, [side.reason for side in result.sides] + [p.reason for p in result.pairs]
    assert all(not agreement or pair.agreement == agreement for pair in result.pairs)
    assert {side.device for side in result.sides} == {"ptx", "gfx942"}
