"""Time of one matrix instruction on the virtual gfx942: `python -m benchmarks.devices.mfma`, CPU time, checks on."""

from __future__ import annotations

import numpy as np
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module, matrix, open_device

ROUNDS, EACH = 400, 8
NAMES = (
    "v_mfma_f32_16x16x16_f16", "v_mfma_f32_32x32x8_f16", "v_mfma_f32_16x16x16_bf16", "v_mfma_f32_16x16x32_fp8_fp8",
    "v_mfma_f32_32x32x16_fp8_fp8", "v_mfma_i32_16x16x32_i8", "v_mfma_f32_16x16x4_f32", "v_mfma_f32_16x16x8_xf32",
    "v_mfma_f32_4x4x4_16b_f16", "v_mfma_f64_16x16x4_f64",
)  # fmt: skip
KERNEL = """
  .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
  .text
  .type k,@function
k:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v200, 2, v0
  s_waitcnt lgkmcnt(0)
{start}
  s_mov_b32 s8, {rounds}
again:
{body}
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 again
  global_store_dword v200, v64, s[4:5]
  s_endpgm
  .amdhsa_kernel k
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset: 0
        .size: 8
        .value_kind: global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_size: 8
    .name: k
    .private_segment_fixed_size: 0
    .vgpr_count: 256
    .agpr_count: 0
  .end_amdgpu_metadata
"""


def text(name: str) -> str:
    """A loop around a few of the instruction."""
    row = matrix.ROWS[name]
    a, b, d = row.source_words(row.a), row.source_words(row.b), row.result_words
    start = [f"  v_mov_b32_e32 v{k}, 0" for k in (*range(10, 10 + a), *range(30, 30 + b), *range(64, 64 + d))]
    registers = [
        f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}" for first, count in ((64, d), (10, a), (30, b))
    ]
    line = f"  {name} {registers[0]}, {registers[1]}, {registers[2]}, {registers[0]}"
    return KERNEL.format(start="\n".join(start), rounds=ROUNDS, body="\n".join([line] * EACH))


def seconds(device: object, name: str) -> float:
    """CPU time of one instruction, best of five."""
    module = device.compile(text(name))  # type: ignore[attr-defined]
    assert isinstance(module, Module), module
    found = []
    for _ in range(5):
        done = module.launch("k", 1, 64, [np.zeros(64, np.uint32)], options=Options(threads=1))
        assert isinstance(done, Ran), done
        found.append(done.cpu_seconds)
    return min(found) / ROUNDS / EACH


def main() -> None:
    """Prints microseconds."""
    device = open_device()
    for name in NAMES:
        print(f"{name}: {1e6 * seconds(device, name):.2f} us")


if __name__ == "__main__":
    main()
