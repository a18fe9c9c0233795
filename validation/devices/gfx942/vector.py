"""Vector ALU: VOP1, VOP2, VOP3 and VOPC rows.

Sections are those of AMD's "Instinct MI300" Instruction Set Architecture (CDNA3), chapter 12.
Helpers that are more than an operator are in lanes.h.
"""

from __future__ import annotations

import re

from porter.validation.devices.gfx942.rows import Row, family, table

ROWS: dict[str, Row] = {
    **table(
        "12.7 VOP2",
        """
        v_cndmask_b32      b32 = b32 b32 lanes       : c ? b : a
        v_add_f32          f32 = f32 f32             : a + b
        v_sub_f32          f32 = f32 f32             : a - b
        v_subrev_f32       f32 = f32 f32             : b - a
        v_mul_legacy_f32   f32 = f32 f32             : a == 0 || b == 0 ? 0.0f : a * b
        v_mul_f32          f32 = f32 f32             : a * b
        v_mul_i32_i24      i32 = i32 i32             : sext24(a) * sext24(b)
        v_mul_hi_i32_i24   i32 = i32 i32             : (int64_t)sext24(a) * sext24(b) >> 32
        v_mul_u32_u24      u32 = u32 u32             : (a & 0xffffff) * (b & 0xffffff)
        v_mul_hi_u32_u24   u32 = u32 u32             : (uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 32
        v_min_f32          f32 = f32 f32             : min_f32(a, b)
        v_max_f32          f32 = f32 f32             : max_f32(a, b)
        v_min_i32          i32 = i32 i32             : a < b ? a : b
        v_max_i32          i32 = i32 i32             : a > b ? a : b
        v_min_u32          u32 = u32 u32             : a < b ? a : b
        v_max_u32          u32 = u32 u32             : a > b ? a : b
        v_lshrrev_b32      u32 = u32 u32             : b >> (a & 31)
        v_ashrrev_i32      i32 = u32 i32             : b >> (a & 31)
        v_lshlrev_b32      u32 = u32 u32             : b << (a & 31)
        v_and_b32          u32 = u32 u32             : a & b
        v_or_b32           u32 = u32 u32             : a | b
        v_xor_b32          u32 = u32 u32             : a ^ b
        v_xnor_b32         u32 = u32 u32             : ~(a ^ b)
        v_mac_f32          f32 = f32 f32             : a * b + d
        v_madmk_f32        f32 = f32 f32 f32         : a * b + c
        v_madak_f32        f32 = f32 f32 f32         : a * b + c
        v_fmac_f32         f32 = f32 f32             : fmaf(a, b, d)
        v_fmamk_f32        f32 = f32 f32 f32         : fmaf(a, b, c)
        v_fmaak_f32        f32 = f32 f32 f32         : fmaf(a, b, c)
        v_fmac_f64         f64 = f64 f64             : fma(a, b, d)
        v_add_co_u32       u32 lanes = u32 u32       : a + b ; (uint64_t)a + b > 0xffffffff
        v_sub_co_u32       u32 lanes = u32 u32       : a - b ; b > a
        v_subrev_co_u32    u32 lanes = u32 u32       : b - a ; a > b
        v_addc_co_u32      u32 lanes = u32 u32 lanes : a + b + c ; (uint64_t)a + b + c > 0xffffffff
        v_subb_co_u32      u32 lanes = u32 u32 lanes : a - b - c ; (uint64_t)b + c > a
        v_subbrev_co_u32   u32 lanes = u32 u32 lanes : b - a - c ; (uint64_t)a + c > b
        v_add_f16          f16 = f16 f16             : a + b
        v_sub_f16          f16 = f16 f16             : a - b
        v_subrev_f16       f16 = f16 f16             : b - a
        v_mul_f16          f16 = f16 f16             : a * b
        v_mac_f16          f16 = f16 f16             : (float)(_Float16)(a * b) + d
        v_fmac_f16         f16 = f16 f16             : fma_f16(a, b, d)
        v_add_u16          u16 = u16 u16             : a + b
        v_sub_u16          u16 = u16 u16             : a - b
        v_subrev_u16       u16 = u16 u16             : b - a
        v_mul_lo_u16       u16 = u16 u16             : (uint32_t)a * b
        v_lshlrev_b16      u16 = u16 u16             : b << (a & 15)
        v_lshrrev_b16      u16 = u16 u16             : b >> (a & 15)
        v_ashrrev_i16      i16 = u16 i16             : b >> (a & 15)
        v_max_f16          h16 = h16 h16             : max_f16(a, b)
        v_min_f16          h16 = h16 h16             : min_f16(a, b)
        v_max_u16          u16 = u16 u16             : a > b ? a : b
        v_max_i16          i16 = i16 i16             : a > b ? a : b
        v_min_u16          u16 = u16 u16             : a < b ? a : b
        v_min_i16          i16 = i16 i16             : a < b ? a : b
        v_ldexp_f16        f16 = f16 i16             : ldexp_f16(a, b)
        v_add_u32          u32 = u32 u32             : a + b
        v_sub_u32          u32 = u32 u32             : a - b
        v_subrev_u32       u32 = u32 u32             : b - a
        v_dot2c_f32_f16    f32 = u32 u32             : dot2_f32_f16(a, b, d)
        v_dot2c_i32_i16    i32 = u32 u32             : dot2_i32_i16(a, b, d)
        v_dot4c_i32_i8     i32 = u32 u32             : dot4_i32_i8(a, b, d)
        v_dot8c_i32_i4     i32 = u32 u32             : dot8_i32_i4(a, b, d)
        v_pk_fmac_f16      u32 = u32 u32             : pk_fma_f16(a, b, d)
        """,
    ),
    **table(
        "12.8 VOP1",
        """
        v_mov_b32          b32 = b32                 : a
        v_mov_b64          b64 = b64                 : a
        v_accvgpr_mov_b32  b32 = b32                 : a
        v_accvgpr_read_b32 b32 = b32                 : a
        v_accvgpr_write_b32 b32 = b32                : a
        v_cvt_i32_f64      i32 = f64                 : i32_from_f64(a)
        v_cvt_f64_i32      f64 = i32                 : a
        v_cvt_f32_i32      f32 = i32                 : a
        v_cvt_f32_u32      f32 = u32                 : a
        v_cvt_u32_f32      u32 = f32                 : u32_from_f32(a)
        v_cvt_i32_f32      i32 = f32                 : i32_from_f32(a)
        v_cvt_f16_f32      f16 = f32                 : a
        v_cvt_f32_f16      f32 = f16                 : a
        v_cvt_rpi_i32_f32  i32 = f32                 : i32_from_f32(floorf(a + 0.5f))
        v_cvt_flr_i32_f32  i32 = f32                 : i32_from_f32(floorf(a))
        v_cvt_off_f32_i4   f32 = u32                 : (float)((int32_t)(a << 28) >> 28) * 0.0625f
        v_cvt_f32_f64      f32 = f64                 : a
        v_cvt_f64_f32      f64 = f32                 : a
        v_cvt_f32_ubyte0   f32 = u32                 : (float)(a & 255)
        v_cvt_f32_ubyte1   f32 = u32                 : (float)(a >> 8 & 255)
        v_cvt_f32_ubyte2   f32 = u32                 : (float)(a >> 16 & 255)
        v_cvt_f32_ubyte3   f32 = u32                 : (float)(a >> 24)
        v_cvt_u32_f64      u32 = f64                 : u32_from_f64(a)
        v_cvt_f64_u32      f64 = u32                 : a
        v_trunc_f64        f64 = f64                 : trunc(a)
        v_ceil_f64         f64 = f64                 : ceil(a)
        v_rndne_f64        f64 = f64                 : __builtin_roundeven(a)
        v_floor_f64        f64 = f64                 : floor(a)
        v_fract_f32        f32 = f32                 : fract_f32(a)
        v_trunc_f32        f32 = f32                 : truncf(a)
        v_ceil_f32         f32 = f32                 : ceilf(a)
        v_rndne_f32        f32 = f32                 : __builtin_roundevenf(a)
        v_floor_f32        f32 = f32                 : floorf(a)
        v_exp_f32          f32 = f32                 : no_denormal(exp2_f32(no_denormal(a)))
        v_log_f32          f32 = f32                 : log2_f32(no_denormal(a))
        v_rcp_f32          f32 = f32                 : no_denormal(1.0f / no_denormal(a))
        v_rcp_iflag_f32    f32 = f32                 : no_denormal(1.0f / no_denormal(a))
        v_rsq_f32          f32 = f32                 : rsq_f32(no_denormal(a))
        v_rcp_f64          f64 = f64                 : 1.0 / a
        v_rsq_f64          f64 = f64                 : 1.0 / sqrt(a)
        v_sqrt_f32         f32 = f32                 : sqrtf(no_denormal(a))
        v_sqrt_f64         f64 = f64                 : sqrt(a)
        v_sin_f32          f32 = f32                 : sin_f32(a)
        v_cos_f32          f32 = f32                 : cos_f32(a)
        v_not_b32          u32 = u32                 : ~a
        v_bfrev_b32        u32 = u32                 : bitrev32(a)
        v_ffbh_u32         u32 = u32                 : ffbh_u32(a)
        v_ffbl_b32         u32 = u32                 : ffbl_b32(a)
        v_ffbh_i32         u32 = u32                 : ffbh_i32(a)
        v_frexp_exp_i32_f64 i32 = f64                : frexp_exp_f64(a)
        v_frexp_mant_f64   f64 = f64                 : frexp_mant_f64(a)
        v_fract_f64        f64 = f64                 : fract_f64(a)
        v_frexp_exp_i32_f32 i32 = f32                : frexp_exp_f32(a)
        v_frexp_mant_f32   f32 = f32                 : frexp_mant_f32(a)
        v_cvt_f16_u16      f16 = u16                 : (float)a
        v_cvt_f16_i16      f16 = i16                 : (float)a
        v_cvt_u16_f16      u16 = f16                 : u16_from_f32(a)
        v_cvt_i16_f16      i16 = f16                 : i16_from_f32(a)
        v_rcp_f16          f16 = f16                 : 1.0f / a
        v_sqrt_f16         f16 = f16                 : sqrtf(a)
        v_rsq_f16          f16 = f16                 : 1.0f / sqrtf(a)
        v_log_f16          f16 = f16                 : log2_f32(a)
        v_exp_f16          f16 = f16                 : exp2_f32(a)
        v_frexp_mant_f16   f16 = f16                 : frexp_mant_f32(a)
        v_frexp_exp_i16_f16 i16 = f16                : frexp_exp_f32(a)
        v_floor_f16        f16 = f16                 : floorf(a)
        v_ceil_f16         f16 = f16                 : ceilf(a)
        v_trunc_f16        f16 = f16                 : truncf(a)
        v_rndne_f16        f16 = f16                 : __builtin_roundevenf(a)
        v_fract_f16        f16 = f16                 : fract_f16(a)
        v_sin_f16          f16 = f16                 : sin_f32(a)
        v_cos_f16          f16 = f16                 : cos_f32(a)
        v_exp_legacy_f32   f32 = f32                 : no_denormal(exp2_f32(no_denormal(a)))
        v_log_legacy_f32   f32 = f32                 : log2_f32(no_denormal(a))
        v_cvt_norm_i16_f16 i16 = f16                 : norm_i16(a)
        v_cvt_norm_u16_f16 u16 = f16                 : norm_u16(a)
        v_sat_pk_u8_i16    u16 = u32                 : sat_pk_u8_i16(a)
        v_cvt_f32_fp8      f32 = u8                  : f32_from_fp8(a)
        v_cvt_f32_bf8      f32 = u8                  : f32_from_bf8(a)
        v_cvt_pk_f32_fp8   u64 = u16                 : pair_of(f32_from_fp8(a & 255), f32_from_fp8(a >> 8))
        v_cvt_pk_f32_bf8   u64 = u16                 : pair_of(f32_from_bf8(a & 255), f32_from_bf8(a >> 8))
        """,
    ),
    **table(
        "12.10 VOP3",
        """
        v_mad_legacy_f32   f32 = f32 f32 f32         : a == 0 || b == 0 ? c : a * b + c
        v_mad_f32          f32 = f32 f32 f32         : a * b + c
        v_mad_i32_i24      i32 = i32 i32 i32         : (uint32_t)(sext24(a) * sext24(b)) + c
        v_mad_u32_u24      u32 = u32 u32 u32         : (a & 0xffffff) * (b & 0xffffff) + c
        v_bfe_u32          u32 = u32 u32 u32         : a >> (b & 31) & ((1u << (c & 31)) - 1)
        v_bfe_i32          i32 = i32 u32 u32         : bfe_i32(a, b & 31, c & 31)
        v_bfi_b32          u32 = u32 u32 u32         : (a & b) | (~a & c)
        v_fma_f32          f32 = f32 f32 f32         : fmaf(a, b, c)
        v_fma_f64          f64 = f64 f64 f64         : fma(a, b, c)
        v_cubeid_f32       f32 = f32 f32 f32         : cube_face(a, b, c)
        v_cubesc_f32       f32 = f32 f32 f32         : cube_s(a, b, c)
        v_cubetc_f32       f32 = f32 f32 f32         : cube_t(a, b, c)
        v_cubema_f32       f32 = f32 f32 f32         : 2.0f * cube_axis(a, b, c)
        v_lerp_u8          u32 = u32 u32 u32         : lerp_u8(a, b, c)
        v_alignbit_b32     u32 = u32 u32 u32         : (((uint64_t)a << 32) | b) >> (c & 31)
        v_alignbyte_b32    u32 = u32 u32 u32         : (((uint64_t)a << 32) | b) >> (8 * (c & 3))
        v_min3_f32         f32 = f32 f32 f32         : min_f32(min_f32(a, b), c)
        v_min3_i32         i32 = i32 i32 i32         : (a < b ? a : b) < c ? (a < b ? a : b) : c
        v_min3_u32         u32 = u32 u32 u32         : (a < b ? a : b) < c ? (a < b ? a : b) : c
        v_max3_f32         f32 = f32 f32 f32         : max_f32(max_f32(a, b), c)
        v_max3_i32         i32 = i32 i32 i32         : (a > b ? a : b) > c ? (a > b ? a : b) : c
        v_max3_u32         u32 = u32 u32 u32         : (a > b ? a : b) > c ? (a > b ? a : b) : c
        v_med3_f32         f32 = f32 f32 f32         : med3_f32(a, b, c)
        v_med3_i32         i32 = i32 i32 i32         : MED3(a, b, c)
        v_med3_u32         u32 = u32 u32 u32         : MED3(a, b, c)
        v_sad_u8           u32 = u32 u32 u32         : sad_u8(a, b, c)
        v_sad_hi_u8        u32 = u32 u32 u32         : (sad_u8(a, b, 0) << 16) + c
        v_sad_u16          u32 = u32 u32 u32         : sad_u16(a, b, c)
        v_sad_u32          u32 = u32 u32 u32         : (a > b ? a - b : b - a) + c
        v_msad_u8          u32 = u32 u32 u32         : msad_u8(a, b, c)
        v_qsad_pk_u16_u8   u64 = u64 u32 u64         : qsad_pk(a, b, c)
        v_mqsad_pk_u16_u8  u64 = u64 u32 u64         : mqsad_pk(a, b, c)
        v_cvt_pk_u8_f32    u32 = f32 u32 u32         : cvt_pk_u8_f32(a, b, c)
        v_div_fixup_f32    f32 = f32 f32 f32         : div_fixup_f32(a, b, c)
        v_div_fixup_f64    f64 = f64 f64 f64         : div_fixup_f64(a, b, c)
        v_div_scale_f32    f32 lanes = f32 f32 f32   : div_scale_f32(a, b, c) ; div_scale_flag_f32(b, c)
        v_div_scale_f64    f64 lanes = f64 f64 f64   : div_scale_f64(a, b, c) ; div_scale_flag_f64(b, c)
        v_div_fmas_f32     f32 = f32 f32 f32 vcc     : div_fmas_f32(a, b, c, e)
        v_div_fmas_f64     f64 = f64 f64 f64 vcc     : div_fmas_f64(a, b, c, e)
        v_mad_u64_u32      u64 lanes = u32 u32 u64   : (uint64_t)a * b + c ; (uint64_t)a * b + c < c
        v_mad_i64_i32      i64 lanes = i32 i32 i64   : mad_i64(a, b, c) ; mad_overflows_i64(a, b, c)
        v_mad_legacy_f16   f16 = f16 f16 f16         : (float)(_Float16)(a * b) + c
        v_mad_legacy_u16   u16 = u16 u16 u16         : (uint32_t)a * b + c
        v_mad_legacy_i16   i16 = i16 i16 i16         : (int32_t)a * b + c
        v_perm_b32         u32 = u32 u32 u32         : perm_b32(a, b, c)
        v_fma_legacy_f16   f16 = f16 f16 f16         : fma_f16(a, b, c)
        v_div_fixup_legacy_f16 f16 = f16 f16 f16     : div_fixup_f16(a, b, c)
        v_xad_u32          u32 = u32 u32 u32         : (a ^ b) + c
        v_lshl_add_u32     u32 = u32 u32 u32         : (a << (b & 31)) + c
        v_add_lshl_u32     u32 = u32 u32 u32         : (a + b) << (c & 31)
        v_add3_u32         u32 = u32 u32 u32         : a + b + c
        v_lshl_or_b32      u32 = u32 u32 u32         : a << (b & 31) | c
        v_and_or_b32       u32 = u32 u32 u32         : (a & b) | c
        v_or3_b32          u32 = u32 u32 u32         : a | b | c
        v_mad_u32_u16      u32 = u16 u16 u32         : (uint32_t)a * b + c
        v_mad_i32_i16      i32 = i16 i16 u32         : (uint32_t)((int32_t)a * b) + c
        v_min3_f16         h16k = h16 h16 h16        : min_f16(min_f16(a, b), c)
        v_min3_i16         i16k = i16 i16 i16        : (a < b ? a : b) < c ? (a < b ? a : b) : c
        v_min3_u16         u16k = u16 u16 u16        : (a < b ? a : b) < c ? (a < b ? a : b) : c
        v_max3_f16         h16k = h16 h16 h16        : max_f16(max_f16(a, b), c)
        v_max3_i16         i16k = i16 i16 i16        : (a > b ? a : b) > c ? (a > b ? a : b) : c
        v_max3_u16         u16k = u16 u16 u16        : (a > b ? a : b) > c ? (a > b ? a : b) : c
        v_med3_f16         h16k = h16 h16 h16        : med3_f16(a, b, c)
        v_med3_i16         i16k = i16 i16 i16        : MED3(a, b, c)
        v_med3_u16         u16k = u16 u16 u16        : MED3(a, b, c)
        v_mad_f16          f16k = f16 f16 f16        : (float)(_Float16)(a * b) + c
        v_mad_u16          u16k = u16 u16 u16        : (uint32_t)a * b + c
        v_mad_i16          i16k = i16 i16 i16        : (int32_t)a * b + c
        v_fma_f16          f16k = f16 f16 f16        : fma_f16(a, b, c)
        v_div_fixup_f16    f16k = f16 f16 f16        : div_fixup_f16(a, b, c)
        v_lshl_add_u64     u64 = u64 u32 u64         : (a << (b & 7)) + c
        v_add_f64          f64 = f64 f64             : a + b
        v_mul_f64          f64 = f64 f64             : a * b
        v_min_f64          f64 = f64 f64             : min_f64(a, b)
        v_max_f64          f64 = f64 f64             : max_f64(a, b)
        v_ldexp_f64        f64 = f64 i32             : ldexp_f64(a, b)
        v_mul_lo_u32       u32 = u32 u32             : a * b
        v_mul_hi_u32       u32 = u32 u32             : (uint64_t)a * b >> 32
        v_mul_hi_i32       i32 = i32 i32             : (int64_t)a * b >> 32
        v_ldexp_f32        f32 = f32 i32             : ldexp_f32(a, b)
        v_bcnt_u32_b32     u32 = u32 u32             : (uint32_t)__builtin_popcount(a) + b
        v_mbcnt_lo_u32_b32 u32 = u32 u32             : (uint32_t)__builtin_popcount(a & below_lo(l)) + b
        v_mbcnt_hi_u32_b32 u32 = u32 u32             : (uint32_t)__builtin_popcount(a & below_hi(l)) + b
        v_lshlrev_b64      u64 = u32 u64             : b << (a & 63)
        v_lshrrev_b64      u64 = u32 u64             : b >> (a & 63)
        v_ashrrev_i64      i64 = u32 i64             : b >> (a & 63)
        v_trig_preop_f64   f64 = f64 u32             : trig_preop_f64(a, b)
        v_bfm_b32          u32 = u32 u32             : ((1u << (a & 31)) - 1) << (b & 31)
        v_cvt_pknorm_i16_f32 u32 = f32 f32           : norm_i16(a) & 0xffff | (uint32_t)norm_i16(b) << 16
        v_cvt_pknorm_u16_f32 u32 = f32 f32           : norm_u16(a) | (uint32_t)norm_u16(b) << 16
        v_cvt_pkrtz_f16_f32 u32 = f32 f32            : f16_rtz(a) | f16_rtz(b) << 16
        v_cvt_pk_u16_u32   u32 = u32 u32             : (a > 65535 ? 65535 : a) | (b > 65535 ? 65535 : b) << 16
        v_cvt_pk_i16_i32   u32 = i32 i32             : (uint16_t)sat_i16(a) | (uint32_t)sat_i16(b) << 16
        v_cvt_pknorm_i16_f16 u32 = f16 f16           : norm_i16(a) & 0xffff | (uint32_t)norm_i16(b) << 16
        v_cvt_pknorm_u16_f16 u32 = f16 f16           : norm_u16(a) | (uint32_t)norm_u16(b) << 16
        v_add_i32          i32 = u32 u32             : a + b
        v_sub_i32          i32 = u32 u32             : a - b
        v_add_i16          i16k = u16 u16            : a + b
        v_sub_i16          i16k = u16 u16            : a - b
        v_pack_b32_f16     u32 = h16 h16             : a | (uint32_t)b << 16
        v_mul_legacy_f32   f32 = f32 f32             : a == 0 || b == 0 ? 0.0f : a * b
        v_cvt_pk_fp8_f32   u16k = f32 f32            : fp8_from_f32(a) | fp8_from_f32(b) << 8
        v_cvt_pk_bf8_f32   u16k = f32 f32            : bf8_from_f32(a) | bf8_from_f32(b) << 8
        """,
    ),
    **table(
        "12.9 VOPC (class)",
        """
        v_cmp_class_f32    lanes = f32 u32           : class_f32(a) & b
        v_cmp_class_f64    lanes = f64 u32           : class_f64(a) & b
        v_cmp_class_f16    lanes = h16 u32           : class_f16(a) & b
        """,
    ),
    **table(
        "12.11 VOP3P (dot products and mixed precision)",
        """
        v_dot2_f32_f16     f32 = u32 u32 f32         : dot2_f32_f16(a, b, c)
        v_dot2_i32_i16     i32 = u32 u32 i32         : dot2_i32_i16(a, b, c)
        v_dot2_u32_u16     u32 = u32 u32 u32         : dot2_u32_u16(a, b, c)
        v_dot4_i32_i8      i32 = u32 u32 i32         : dot4_i32_i8(a, b, c)
        v_dot4_u32_u8      u32 = u32 u32 u32         : dot4_u32_u8(a, b, c)
        v_dot8_i32_i4      i32 = u32 u32 i32         : dot8_i32_i4(a, b, c)
        v_dot8_u32_u4      u32 = u32 u32 u32         : dot8_u32_u4(a, b, c)
        """,
    ),
}

_FLOAT_COMPARE = {
    "f": "0",
    "lt": "a < b",
    "eq": "a == b",
    "le": "a <= b",
    "gt": "a > b",
    "lg": "a < b || a > b",
    "ge": "a >= b",
    "o": "a == a && b == b",
    "u": "a != a || b != b",
    "nge": "!(a >= b)",
    "nlg": "!(a < b || a > b)",
    "ngt": "!(a > b)",
    "nle": "!(a <= b)",
    "neq": "!(a == b)",
    "nlt": "!(a < b)",
    "tru": "1",
}
_INT_COMPARE = {
    "f": "0",
    "lt": "a < b",
    "eq": "a == b",
    "le": "a <= b",
    "gt": "a > b",
    "ne": "a != b",
    "ge": "a >= b",
    "t": "1",
}
for _type in ("f16", "f32", "f64"):
    ROWS |= family("12.9 VOPC", f"v_cmp_{{name}}_{_type} lanes = {_type} {_type} : {{op}}", _FLOAT_COMPARE)
for _type in ("i16", "u16", "i32", "u32", "i64", "u64"):
    ROWS |= family("12.9 VOPC", f"v_cmp_{{name}}_{_type} lanes = {_type} {_type} : {{op}}", _INT_COMPARE)

PACKED: dict[str, Row] = {
    **table(  # one row per half; the halves are chosen by op_sel and op_sel_hi
        "12.11 VOP3P",
        """
        v_pk_mad_i16       i16 = i16 i16 i16         : (int32_t)a * b + c
        v_pk_mul_lo_u16    u16 = u16 u16             : (uint32_t)a * b
        v_pk_add_i16       i16 = i16 i16             : a + b
        v_pk_sub_i16       i16 = i16 i16             : a - b
        v_pk_lshlrev_b16   u16 = u16 u16             : b << (a & 15)
        v_pk_lshrrev_b16   u16 = u16 u16             : b >> (a & 15)
        v_pk_ashrrev_i16   i16 = u16 i16             : b >> (a & 15)
        v_pk_max_i16       i16 = i16 i16             : a > b ? a : b
        v_pk_min_i16       i16 = i16 i16             : a < b ? a : b
        v_pk_mad_u16       u16 = u16 u16 u16         : (uint32_t)a * b + c
        v_pk_add_u16       u16 = u16 u16             : a + b
        v_pk_sub_u16       u16 = u16 u16             : a - b
        v_pk_max_u16       u16 = u16 u16             : a > b ? a : b
        v_pk_min_u16       u16 = u16 u16             : a < b ? a : b
        v_pk_fma_f16       f16 = f16 f16 f16         : fma_f16(a, b, c)
        v_pk_add_f16       f16 = f16 f16             : a + b
        v_pk_mul_f16       f16 = f16 f16             : a * b
        v_pk_min_f16       h16 = h16 h16             : min_f16(a, b)
        v_pk_max_f16       h16 = h16 h16             : max_f16(a, b)
        v_pk_fma_f32       f32 = f32 f32 f32         : fmaf(a, b, c)
        v_pk_mul_f32       f32 = f32 f32             : a * b
        v_pk_add_f32       f32 = f32 f32             : a + b
        v_pk_mov_b32       u32 = u32 u32             : a
        """,
    ),
}

MIXED: dict[str, Row] = table(  # sources are f32 or a half of a register as f16, chosen by op_sel_hi and op_sel
    "12.11 VOP3P",
    """
    v_fma_mix_f32          f32 = mix mix mix         : fmaf(a, b, c)
    v_fma_mixlo_f16        f16k = mix mix mix        : fmaf(a, b, c)
    v_fma_mixhi_f16        f16h = mix mix mix        : fmaf(a, b, c)
    """,
)

# Integer adds whose clamp bit saturates (VOP3), by mnemonic.
SATURATING = {
    "v_add_u32": "add_sat_u32(a, b)",
    "v_sub_u32": "sub_sat_u32(a, b)",
    "v_subrev_u32": "sub_sat_u32(b, a)",
    "v_add_i32": "add_sat_i32(a, b)",
    "v_sub_i32": "sub_sat_i32(a, b)",
    "v_add_u16": "(uint32_t)a + b > 65535 ? 65535 : a + b",
    "v_sub_u16": "a > b ? a - b : 0",
    "v_subrev_u16": "b > a ? b - a : 0",
    "v_add_i16": "sat_i16((int16_t)a + (int16_t)b)",
    "v_sub_i16": "sat_i16((int16_t)a - (int16_t)b)",
    "v_pk_add_u16": "(uint32_t)a + b > 65535 ? 65535 : a + b",
    "v_pk_sub_u16": "a > b ? a - b : 0",
    "v_pk_add_i16": "sat_i16(a + b)",
    "v_pk_sub_i16": "sat_i16(a - b)",
    "v_pk_mad_u16": "sat_u16((uint64_t)a * b + c)",
    "v_pk_mad_i16": "sat_i16((int64_t)a * b + c)",
    "v_add_co_u32": "add_sat_u32(a, b)",
    "v_sub_co_u32": "sub_sat_u32(a, b)",
    "v_subrev_co_u32": "sub_sat_u32(b, a)",
    "v_addc_co_u32": "sat_u32((int64_t)a + b + c)",
    "v_subb_co_u32": "sat_u32((int64_t)a - b - c)",
    "v_subbrev_co_u32": "sat_u32((int64_t)b - a - c)",
    "v_mad_u16": "sat_u16((uint64_t)a * b + c)",
    "v_mad_i16": "sat_i16((int64_t)a * b + c)",
    "v_mad_u32_u16": "sat_u32((int64_t)((uint64_t)a * b + c))",
    "v_mad_i32_i16": "sat_i32((int64_t)a * b + (int32_t)c)",
    "v_sad_u8": "sat_u32((int64_t)sad_u8(a, b, 0) + c)",
    "v_sad_u16": "sat_u32((int64_t)sad_u16(a, b, 0) + c)",
    "v_sad_hi_u8": "sat_u32(((int64_t)sad_u8(a, b, 0) << 16) + c)",
    "v_sad_u32": "sat_u32((int64_t)(a > b ? a - b : b - a) + c)",
    "v_msad_u8": "sat_u32((int64_t)msad_u8(a, b, 0) + c)",
}

# Integer results that are in range whatever clamp says.
IN_RANGE = re.compile(
    r"v_(pk_)?(min|max|med)\w*_[iu](8|16|32)$|v_cvt_\w*[iu](8|16|32)_f(16|32|64)$|v_cvt_norm_\w+|v_cvt_pk_u8_f32$"
)
