"""Scalar ALU: SOP1, SOP2, SOPC and SOPK rows.

Sections are those of AMD's "Instinct MI300" Instruction Set Architecture (CDNA3), chapter 12.
"""

from __future__ import annotations

from porter.validation.devices.gfx942.rows import Row, family, table

ROWS: dict[str, Row] = {
    **table(
        "12.1 SOP2",
        """
        s_add_u32          u32 scc = u32 u32     : a + b ; (uint64_t)a + b >> 32
        s_sub_u32          u32 scc = u32 u32     : a - b ; b > a
        s_add_i32          i32 scc = u32 u32     : a + b ; ((a ^ r) & (b ^ r)) >> 31
        s_sub_i32          i32 scc = u32 u32     : a - b ; ((a ^ b) & (a ^ r)) >> 31
        s_addc_u32         u32 scc = u32 u32 scc : a + b + c ; (uint64_t)a + b + c >> 32
        s_subb_u32         u32 scc = u32 u32 scc : a - b - c ; (uint64_t)b + c > a
        s_min_i32          i32 scc = i32 i32     : a < b ? a : b ; a < b
        s_min_u32          u32 scc = u32 u32     : a < b ? a : b ; a < b
        s_max_i32          i32 scc = i32 i32     : a >= b ? a : b ; a >= b
        s_max_u32          u32 scc = u32 u32     : a >= b ? a : b ; a >= b
        s_cselect_b32      u32 = u32 u32 scc     : c ? a : b
        s_cselect_b64      u64 = u64 u64 scc     : c ? a : b
        s_and_b32          u32 scc = u32 u32     : a & b ; r != 0
        s_and_b64          u64 scc = u64 u64     : a & b ; r != 0
        s_or_b32           u32 scc = u32 u32     : a | b ; r != 0
        s_or_b64           u64 scc = u64 u64     : a | b ; r != 0
        s_xor_b32          u32 scc = u32 u32     : a ^ b ; r != 0
        s_xor_b64          u64 scc = u64 u64     : a ^ b ; r != 0
        s_andn2_b32        u32 scc = u32 u32     : a & ~b ; r != 0
        s_andn2_b64        u64 scc = u64 u64     : a & ~b ; r != 0
        s_orn2_b32         u32 scc = u32 u32     : a | ~b ; r != 0
        s_orn2_b64         u64 scc = u64 u64     : a | ~b ; r != 0
        s_nand_b32         u32 scc = u32 u32     : ~(a & b) ; r != 0
        s_nand_b64         u64 scc = u64 u64     : ~(a & b) ; r != 0
        s_nor_b32          u32 scc = u32 u32     : ~(a | b) ; r != 0
        s_nor_b64          u64 scc = u64 u64     : ~(a | b) ; r != 0
        s_xnor_b32         u32 scc = u32 u32     : ~(a ^ b) ; r != 0
        s_xnor_b64         u64 scc = u64 u64     : ~(a ^ b) ; r != 0
        s_lshl_b32         u32 scc = u32 u32     : a << (b & 31) ; r != 0
        s_lshl_b64         u64 scc = u64 u32     : a << (b & 63) ; r != 0
        s_lshr_b32         u32 scc = u32 u32     : a >> (b & 31) ; r != 0
        s_lshr_b64         u64 scc = u64 u32     : a >> (b & 63) ; r != 0
        s_ashr_i32         i32 scc = i32 u32     : a >> (b & 31) ; r != 0
        s_ashr_i64         i64 scc = i64 u32     : a >> (b & 63) ; r != 0
        s_bfm_b32          u32 = u32 u32         : ((1u << (a & 31)) - 1) << (b & 31)
        s_bfm_b64          u64 = u32 u32         : ((1ull << (a & 63)) - 1) << (b & 63)
        s_mul_i32          u32 = u32 u32         : a * b
        s_bfe_u32          u32 scc = u32 u32     : bfe_u64(a, b & 31, b >> 16 & 127) ; r != 0
        s_bfe_i32          i32 scc = i32 u32     : bfe_i64(a, b & 31, b >> 16 & 127) ; r != 0
        s_bfe_u64          u64 scc = u64 u32     : bfe_u64(a, b & 63, b >> 16 & 127) ; r != 0
        s_bfe_i64          i64 scc = i64 u32     : bfe_i64(a, b & 63, b >> 16 & 127) ; r != 0
        s_absdiff_i32      u32 scc = i32 i32     : abs_u32((uint32_t)a - (uint32_t)b) ; r != 0
        s_mul_hi_u32       u32 = u32 u32         : (uint64_t)a * b >> 32
        s_mul_hi_i32       i32 = i32 i32         : (int64_t)a * b >> 32
        s_lshl1_add_u32    u32 scc = u32 u32     : (a << 1) + b ; ((uint64_t)a << 1) + b >> 32 != 0
        s_lshl2_add_u32    u32 scc = u32 u32     : (a << 2) + b ; ((uint64_t)a << 2) + b >> 32 != 0
        s_lshl3_add_u32    u32 scc = u32 u32     : (a << 3) + b ; ((uint64_t)a << 3) + b >> 32 != 0
        s_lshl4_add_u32    u32 scc = u32 u32     : (a << 4) + b ; ((uint64_t)a << 4) + b >> 32 != 0
        s_pack_ll_b32_b16  u32 = u32 u32         : (a & 0xffff) | b << 16
        s_pack_lh_b32_b16  u32 = u32 u32         : (a & 0xffff) | (b & 0xffff0000)
        s_pack_hh_b32_b16  u32 = u32 u32         : a >> 16 | (b & 0xffff0000)
        """,
    ),
    **table(
        "12.2 SOPK",
        """
        s_movk_i32         i32 = k               : a
        s_cmovk_i32        i32 = k scc           : b ? a : d
        s_addk_i32         i32 scc = k           : (uint32_t)d + (uint32_t)a ; (~(d ^ a) & (d ^ r)) < 0
        s_mulk_i32         i32 = k               : (uint32_t)d * (uint32_t)a
        """,
    ),
    **table(
        "12.3 SOP1",
        """
        s_mov_b32          u32 = u32             : a
        s_mov_b64          u64 = u64             : a
        s_cmov_b32         u32 = u32 scc         : b ? a : d
        s_cmov_b64         u64 = u64 scc         : b ? a : d
        s_not_b32          u32 scc = u32         : ~a ; r != 0
        s_not_b64          u64 scc = u64         : ~a ; r != 0
        s_wqm_b32          u32 scc = u32         : wqm(a) ; r != 0
        s_wqm_b64          u64 scc = u64         : wqm(a) ; r != 0
        s_brev_b32         u32 = u32             : bitrev32(a)
        s_brev_b64         u64 = u64             : bitrev64(a)
        s_bcnt0_i32_b32    u32 scc = u32         : __builtin_popcount(~a) ; r != 0
        s_bcnt0_i32_b64    u32 scc = u64         : __builtin_popcountll(~a) ; r != 0
        s_bcnt1_i32_b32    u32 scc = u32         : __builtin_popcount(a) ; r != 0
        s_bcnt1_i32_b64    u32 scc = u64         : __builtin_popcountll(a) ; r != 0
        s_ff0_i32_b32      i32 = u32             : ~a ? __builtin_ctz(~a) : -1
        s_ff0_i32_b64      i32 = u64             : ~a ? __builtin_ctzll(~a) : -1
        s_ff1_i32_b32      i32 = u32             : a ? __builtin_ctz(a) : -1
        s_ff1_i32_b64      i32 = u64             : a ? __builtin_ctzll(a) : -1
        s_flbit_i32_b32    i32 = u32             : a ? __builtin_clz(a) : -1
        s_flbit_i32_b64    i32 = u64             : a ? __builtin_clzll(a) : -1
        s_flbit_i32        i32 = i32             : a == 0 || a == -1 ? -1 : __builtin_clrsb(a) + 1
        s_flbit_i32_i64    i32 = i64             : a == 0 || a == -1 ? -1 : __builtin_clrsbll(a) + 1
        s_sext_i32_i8      i32 = u32             : (int8_t)a
        s_sext_i32_i16     i32 = u32             : (int16_t)a
        s_bitset0_b32      u32 = u32             : d & ~(1u << (a & 31))
        s_bitset0_b64      u64 = u32             : d & ~(1ull << (a & 63))
        s_bitset1_b32      u32 = u32             : d | 1u << (a & 31)
        s_bitset1_b64      u64 = u32             : d | 1ull << (a & 63)
        s_bitreplicate_b64_b32 u64 = u32         : bitreplicate(a)
        s_quadmask_b32     u32 scc = u32         : quadmask(a) ; r != 0
        s_quadmask_b64     u64 scc = u64         : quadmask(a) ; r != 0
        s_abs_i32          u32 scc = u32         : abs_u32(a) ; r != 0
        """,
    ),
    **table(
        "12.4 SOPC",
        """
        s_bitcmp0_b32      scc = u32 u32         : !(a >> (b & 31) & 1)
        s_bitcmp1_b32      scc = u32 u32         : a >> (b & 31) & 1
        s_bitcmp0_b64      scc = u64 u32         : !(a >> (b & 63) & 1)
        s_bitcmp1_b64      scc = u64 u32         : a >> (b & 63) & 1
        s_cmp_eq_u64       scc = u64 u64         : a == b
        s_cmp_lg_u64       scc = u64 u64         : a != b
        """,
    ),
}

_COMPARE = {"eq": "==", "lg": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
for _type in ("i32", "u32"):
    ROWS |= family("12.4 SOPC", f"s_cmp_{{name}}_{_type} scc = {_type} {_type} : a {{op}} b", _COMPARE)
    _k = "k" if _type == "i32" else "uk"
    ROWS |= family("12.2 SOPK", f"s_cmpk_{{name}}_{_type} scc = {_type} {_k} : a {{op}} b", _COMPARE)

SAVEEXEC = {  # s_<name>_saveexec_b64 d, a: d = EXEC, EXEC = expression, SCC = EXEC != 0 (12.3 SOP1)
    "and": "a & exec",
    "or": "a | exec",
    "xor": "a ^ exec",
    "andn1": "~a & exec",
    "andn2": "a & ~exec",
    "orn1": "~a | exec",
    "orn2": "a | ~exec",
    "nand": "~(a & exec)",
    "nor": "~(a | exec)",
    "xnor": "~(a ^ exec)",
}
WREXEC = {"andn1": "~a & exec", "andn2": "a & ~exec"}  # s_<name>_wrexec_b64: EXEC = d = expression

BRANCHES = {  # 12.5 SOPP: condition, and whether it can tell a divergent branch
    "s_branch": "1",
    "s_cbranch_scc0": "!w->scc",
    "s_cbranch_scc1": "w->scc",
    "s_cbranch_vccz": "!S64(106)",
    "s_cbranch_vccnz": "S64(106)",
    "s_cbranch_execz": "!w->exec",
    "s_cbranch_execnz": "w->exec",
}
NO_EFFECT = {  # 12.5 SOPP and others: scheduling, caches, hints
    *("s_nop", "s_waitcnt", "s_sleep", "s_setprio", "s_sethalt", "s_inst_prefetch", "s_icache_inv", "s_dcache_inv"),
    *(
        "s_dcache_wb",
        "v_clrexcp",
        "s_wakeup",
        "s_dcache_inv_vol",
        "s_dcache_wb_vol",
        "s_waitcnt_depctr",
        "s_incperflevel",
        "s_decperflevel",
    ),
    *("s_ttracedata", "buffer_inv", "buffer_wbl2", "buffer_wbinvl1", "buffer_wbinvl1_vol", "v_nop", "s_waitcnt_vscnt"),
    *("s_waitcnt_lgkmcnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_version", "s_code_end", "ds_nop", "buffer_invl2"),
}
