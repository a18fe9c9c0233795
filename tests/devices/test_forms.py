"""Instructions and modifiers that compilers seldom write: by hand, against what AMD's documents say."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from numpy.typing import NDArray
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import Device, Module
from porter.validation.devices.gfx942.exactness import doubt_of
from test_matrix import kernel_around

Words = NDArray[np.uint32]
START = ["s_load_dwordx4 s[4:7], s[0:1], 0x0", "v_lshlrev_b32_e32 v200, 2, v0", "s_waitcnt lgkmcnt(0)",
         "global_load_dword v1, v200, s[4:5]", "s_waitcnt vmcnt(0)", "s_mov_b32 m0, 0"]  # fmt: skip


def words(first: int = 0, step: int = 1) -> Words:
    """A word for each lane."""
    return np.arange(first, first + 64 * step, step, dtype=np.uint32) if step else np.full(64, first, np.uint32)


def launch(device: Device, body: list[str], data: Words, result: str = "v2", directives: str = "") -> Words:
    """Runs the lines with a word of the data in v1; gives back the result register of each lane."""
    module = device.compile(with_directives([*START, *body, f"global_store_dword v200, {result}, s[6:7]"], directives))
    assert isinstance(module, Module), module
    done = module.launch("k", 1, 64, [data, np.zeros(64, np.uint32)], 1024)
    assert isinstance(done, Ran), done
    return done.output(1)


def with_directives(body: list[str], directives: str) -> str:
    """The kernel, with lines of its own in its descriptor."""
    return kernel_around(body, 2).replace(".amdhsa_kernel k", f".amdhsa_kernel k\n{directives}")


def f32(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


@pytest.mark.parametrize(
    ("name", "source", "wanted"),
    [
        ("v_rcp_f32", 0x007FFFFF, 0x7F800000),
        ("v_rcp_f32", 0x807FFFFF, 0xFF800000),
        ("v_rcp_iflag_f32", 0x007FFFFF, 0x7F800000),
        ("v_rcp_f32", 0x7F000000, 0),  # a result that would be a denormal
        ("v_rcp_f32", 0x40000000, 0x3F000000),
        ("v_rsq_f32", 1, 0x7F800000),
        ("v_log_f32", 1, 0xFF800000),
        ("v_exp_f32", 0xC2FD0000, 0),
        ("v_exp_f32", 0xC2FC0000, 0x00800000),
        ("v_sqrt_f32", 1, 0),
        ("v_sqrt_f32", 0x80000001, 0x80000000),
        ("v_sin_f32", 0x80000000, 0x80000000),
        ("v_sin_f32", 0x7F800000, 0xFFC00000),
        ("v_cos_f32", 0x7F800000, 0xFFC00000),
        ("v_cos_f32", 0xFF800000, 0xFFC00000),
    ],
)
def test_transcendentals_at_the_edge(device: Device, name: str, source: int, wanted: int) -> None:
    assert hex(launch(device, [f"{name}_e32 v2, v1"], words(source, 0))[0]) == hex(wanted)


@pytest.mark.parametrize(
    ("line", "source", "wanted"),
    [
        ("v_pk_add_u16 v2, 0.5, v1", 0x00050007, 0x3F050007),  # the pattern of f32, as wide as it is
        ("v_add_u16_e32 v2, 1.0, v1", 7, 7),
        ("v_max_f16_e32 v2, 1.0, v1", 0x3800, 0x3C00),
        ("v_pack_b32_f16 v2, v1, 2.0", 7, 0x40000007),
        ("v_add_f16_e32 v2, 0.5, v1", 0x3800, 0x3C00),
        ("v_add_f32_e64 v2, -|v1|, 1.0", f32(-3), f32(-2)),
        ("v_mul_f32_e64 v2, |v1|, -|1.0|", f32(-3), f32(-3)),
        ("v_mul_f32_e64 v2, v1, 2.0 mul:2", f32(3), f32(6)),  # ignored: IEEE mode, denormals
        ("v_mul_f32_e64 v2, v1, 2.0 clamp", f32(3), f32(1)),
        ("v_max_f16_e64 v2, v1, v1 clamp", 0x4000, 0x3C00),
        ("v_mad_u16 v2, v1, v1, 1 clamp", 0x1000, 0xFFFF),
        ("v_mad_i32_i16 v2, v1, v1, v1 clamp", 0x7FFF, 0x3FFF0001 + 0x7FFF),
        ("v_add_co_u32_e64 v2, vcc, v1, v1 clamp", 0x80000001, 0xFFFFFFFF),
        ("v_min_u16_sdwa v2, v1, v1 clamp dst_sel:DWORD src0_sel:WORD_0 src1_sel:WORD_1", 0x00050007, 5),
        ("v_cvt_pk_f32_fp8_e32 v[2:3], v1", 0x4840, f32(1.0)),
        ("v_cvt_pk_f32_fp8_e64 v[2:3], v1 op_sel:[1,0]", 0x48C04840, f32(-1.0)),
        ("v_cvt_pk_f32_bf8_sdwa v[2:3], v1 src0_sel:WORD_1", 0x00440000, f32(2.0)),
        ("v_mqsad_pk_u16_u8 v[2:3], v[4:5], v1, v[6:7]", 0x01020003, 0x0006010A),
        ("v_cubeid_f32 v2, v1, 1.0, 2.0", f32(-3), f32(1)),
        ("v_cubesc_f32 v2, v1, 1.0, 2.0", f32(-3), f32(2)),
        ("v_cubetc_f32 v2, v1, 1.0, 2.0", f32(-3), f32(-1)),
        ("v_cubema_f32 v2, v1, 1.0, 2.0", f32(-3), f32(-6)),
    ],
)
def test_constants_and_modifiers(device: Device, line: str, source: int, wanted: int) -> None:
    pairs = ["v_mov_b32_e32 v4, 0x04050607", "v_mov_b32_e32 v5, 0", "v_mov_b32_e32 v6, 0x100", "v_mov_b32_e32 v7, 0"]
    assert hex(launch(device, [*pairs, line], words(source, 0))[5]) == hex(wanted)


def test_output_modifiers_where_they_count(device: Device) -> None:
    mode = ".amdhsa_ieee_mode 0\n.amdhsa_float_denorm_mode_32 0"
    line = "v_mul_f32_e64 v2, v1, 2.0 mul:4"
    assert launch(device, [line], words(f32(3), 0), directives=mode)[0] == f32(24)


def test_dpp_on_additions_with_carry(device: Device) -> None:
    body = ["v_mov_b32_e32 v2, 9", "v_add_co_u32_dpp v2, vcc, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf",
            "v_cndmask_b32_e64 v3, 0, 1, vcc", "v_lshl_or_b32 v2, v3, 8, v2"]  # fmt: skip
    got = launch(device, body, np.where(np.arange(64) % 2, 0xFFFFFFFF, 2).astype(np.uint32))
    want = [
        0x101 if lane % 16 else 9 for lane in range(64)
    ]  # the sum of neighbours is 1 and a carry; lane 0 is skipped
    assert list(got) == want


def test_dpp_on_doubles(device: Device) -> None:
    body = ["v_cvt_f64_u32_e32 v[4:5], v1", "v_mov_b64_e32 v[2:3], 0",
            "v_ceil_f64_dpp v[2:3], v[4:5] row_newbcast:3 row_mask:0xf bank_mask:0xf",
            "v_cvt_u32_f64_e32 v2, v[2:3]"]  # fmt: skip
    assert list(launch(device, body, words())) == [lane // 16 * 16 + 3 for lane in range(64)]


LDS = ["v_lshlrev_b32_e32 v10, 2, v0", "v_mov_b32_e32 v11, 100"]


@pytest.mark.parametrize(
    ("lines", "result", "wanted"),
    [
        # the address of a lane, v10, holds what v1 has: its number
        (["ds_cmpst_rtn_f32 v2, v10, v1, v11"], "v2", lambda lane: lane),
        (["ds_cmpst_f32 v10, v1, v11", "ds_read_b32 v2, v10"], "v2", lambda lane: 100),
        (["v_mov_b32_e32 v12, 40", "ds_wrap_rtn_b32 v3, v10, v12, v11", "ds_read_b32 v2, v10"], "v2",
         lambda lane: lane - 40 if lane >= 40 else lane + 100),
        (["v_and_b32_e32 v10, 0x7c, v10", "s_mov_b64 exec, 0xffffffff",
          "ds_wrxchg2_rtn_b32 v[2:3], v10, v11, v1 offset1:32", "v_add_u32_e32 v2, v2, v3", "s_mov_b64 exec, -1"], "v2",
         lambda lane: 2 * lane + 32 if lane < 32 else 0),
        (["s_mov_b32 m0, 8", "ds_read_addtid_b32 v2"], "v2", lambda lane: lane + 2 if lane < 62 else 0),
        (["s_mov_b32 m0, 4", "s_mov_b64 exec, 0xf0", "ds_append v3 offset:8", "s_mov_b64 exec, -1",
          "ds_read_b32 v2, v10"], "v2", lambda lane: 3 + 4 if lane == 3 else lane),
        (["s_mov_b64 exec, 0xf0", "ds_consume v3 offset:20", "s_mov_b64 exec, -1", "v_mov_b32_e32 v2, v3"], "v2",
         lambda lane: 5 if 4 <= lane < 8 else 0),
        (["v_lshlrev_b32_e32 v10, 3, v0", "v_and_b32_e32 v10, 0xf8, v10", "v_mov_b32_e32 v4, 0x80000007",
          "v_mov_b32_e32 v5, 9", "s_mov_b64 exec, 1", "ds_condxchg32_rtn_b64 v[6:7], v10, v[4:5]", "s_mov_b64 exec, -1",
          "v_lshlrev_b32_e32 v10, 2, v0", "ds_read_b32 v2, v10"], "v2",
         lambda lane: 7 if lane == 0 else lane),
    ],
)  # fmt: skip
def test_shared_memory(device: Device, lines: list[str], result: str, wanted: object) -> None:
    clear = [f"v_mov_b32_e32 v{k}, 0" for k in (2, 3, 6, 7)]
    tail = ["v_mov_b32_e32 v12, 0", "ds_write_b32 v10, v12 offset:256"]  # beyond the words of the lanes
    body = [*LDS, *clear, "ds_write_b32 v10, v1", *tail, "s_waitcnt lgkmcnt(0)", *lines]
    assert callable(wanted)
    assert list(launch(device, body, words(), result)) == [wanted(lane) for lane in range(64)]


@pytest.mark.parametrize(
    ("line", "words_of"),
    [
        ("global_load_lds_dword v200, s[4:5]", lambda data: data),
        ("global_load_lds_ubyte v200, s[4:5]", lambda data: data & 0xFF),
        ("buffer_load_dword v200, s[8:11], 0 offen lds", lambda data: data),
    ],
)
def test_loads_to_shared_memory(device: Device, line: str, words_of: object) -> None:
    body = ["s_mov_b64 s[8:9], s[4:5]", "s_mov_b32 s10, 256", "s_mov_b32 s11, 0x00020000", "s_mov_b32 m0, 128", line,
            "s_waitcnt vmcnt(0)", "v_lshlrev_b32_e32 v10, 2, v0", "ds_read_b32 v2, v10 offset:128"]  # fmt: skip
    data = words(1000, 7)
    assert callable(words_of)
    assert list(launch(device, body, data)) == list(words_of(data))


def test_scalar_stores_and_atomics(device: Device) -> None:
    body = ["s_mov_b32 s8, 5", "s_mov_b32 s9, 7", "s_store_dwordx2 s[8:9], s[6:7], 0x8",
            "s_atomic_add s8, s[6:7], 0x8 glc", "s_atomic_umax s9, s[6:7], 0xc", "s_dcache_wb",
            "v_mov_b32_e32 v2, s8", "s_mov_b64 exec, 1"]  # fmt: skip
    got = launch(device, body, words())
    assert list(got[:5]) == [5, 0, 10, 7, 0]


def test_registers_by_number(device: Device) -> None:
    body = ["s_mov_b32 s20, 11", "s_mov_b32 s21, 22", "s_mov_b32 s22, 33", "s_mov_b32 m0, 2", "s_movrels_b32 s12, s20",
            "s_mov_b32 m0, 1", "s_movreld_b32 s12, s20", "v_mov_b32_e32 v2, s13", "v_mov_b32_e32 v3, s12",
            "v_mov_b32_e32 v12, 70", "s_mov_b32 s14, 2", "s_set_gpr_idx_on s14, gpr_idx(SRC0,DST)",
            "v_add_u32_e32 v2, v10, v3", "s_set_gpr_idx_off", "v_add_u32_e32 v2, v2, v4"]  # fmt: skip
    assert set(launch(device, body, words())) == {11 + 70 + 33}


@pytest.mark.parametrize("half", [0, 1])
def test_zero_in_both_halves_of_packed_floats(device: Device, half: int) -> None:
    lines = [
        "v_mov_b32_e32 v4, v1",
        "v_add_f32_e32 v5, 1.0, v1",
        "v_pk_add_f32 v[2:3], v[4:5], 0 neg_lo:[1,1] neg_hi:[1,1]",
    ]
    data = np.full(64, f32(2.5), np.uint32)
    assert set(launch(device, lines, data, f"v{2 + half}")) == {f32(-2.5 - half)}


def test_calls(device: Device) -> None:
    body = ["s_call_b64 s[10:11], there", "s_branch after", "there:", "v_add_u32_e32 v2, 5, v1", "s_setpc_b64 s[10:11]",
            "after:"]  # fmt: skip
    assert list(launch(device, body, words())) == list(words(5))


@pytest.mark.parametrize(
    "line",
    [
        "v_mfma_f32_16x16x32_fp8_fp8 v[4:7], v[8:9], v[10:11], v[4:7] blgp:1",
        "v_mfma_f32_16x16x8_xf32 v[4:7], v[8:9], v[10:11], v[4:7] cbsz:1",
        "v_mfma_f64_4x4x4_4b_f64 v[4:5], v[8:9], v[10:11], v[4:5] cbsz:1",
        "v_mfma_f32_16x16x1_4b_f32 v[16:31], v8, v10, v[16:31] cbsz:3",
        "v_pk_mad_u16 v4, v1, v1, v1 neg_lo:[1,0,0]",
        "v_pk_add_f32 v[2:3], v[0:1], 1.0",
        "v_lshrrev_b32_e64 v4, v1, v1 clamp",
    ],
)
def test_what_no_document_defines_is_not_run(device: Device, line: str) -> None:
    module = device.compile(kernel_around([*START, line, "global_store_dword v200, v4, s[6:7]"], 2))
    assert isinstance(module, Module), module
    done = module.launch("k", 1, 64, [words(), words()])
    assert isinstance(done, NotRun) and "assembly line" in done.reason, done


def test_uncertain_results_are_named(device: Device) -> None:
    lines = ["v_exp_f32_e32 v2, v1", "v_add_f32_e32 v2, v2, v1", "v_cvt_rpi_i32_f32_e32 v3, v1"]
    lines.append("v_dot2_f32_f16 v3, v1, v1, v1")
    body = [*START, *lines, "global_store_dword v200, v2, s[6:7]"]
    module = device.compile(kernel_around(body, 2))
    assert isinstance(module, Module), module
    done = module.launch("k", 2, 64, [words(), np.zeros(64, np.uint32)])
    assert isinstance(done, Ran), done
    assert done.counters.uncertain == {
        "approximate: v_exp_f32_e32": 2,
        "undecided: v_cvt_rpi_i32_f32_e32": 2,
        "order unknown: v_dot2_f32_f16": 2,
    }
    assert done.counters.as_json()["uncertain"] == done.counters.uncertain


@pytest.mark.parametrize(
    ("mnemonic", "doubt"),
    [
        ("v_mfma_f32_16x16x4_f32", "order unknown"),
        ("v_mfma_i32_16x16x32_i8", ""),
        ("v_rcp_f32", "approximate"),
        ("v_rcp_f64", ""),
    ],
)
def test_how_sure_an_instruction_is(mnemonic: str, doubt: str) -> None:
    assert doubt_of(mnemonic, "vop3p" if "mfma" in mnemonic else "e32") == doubt
