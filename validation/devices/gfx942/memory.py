"""Memory instructions: what each loads, stores or combines.

Sections are those of AMD's "Instinct MI300" Instruction Set Architecture (CDNA3): 12.13 LDS and GWS, 12.15 FLAT,
GLOBAL and SCRATCH, 12.6 SMEM, 9.1 and 12.14 MUBUF.
"""

from __future__ import annotations

from typing import NamedTuple

BYTES = {  # enum Width in wave.h: bytes moved per lane
    "W_U8": 1,
    "W_I8": 1,
    "W_U16": 2,
    "W_I16": 2,
    "W_32": 4,
    "W_64": 8,
    "W_96": 12,
    "W_128": 16,
    "W_U8_LO": 1,
    "W_U8_HI": 1,
    "W_I8_LO": 1,
    "W_I8_HI": 1,
    "W_16_LO": 2,
    "W_16_HI": 2,
}

LOADS = {  # suffix -> enum Width, after global_load_, flat_load_, scratch_load_
    "ubyte": "W_U8",
    "sbyte": "W_I8",
    "ushort": "W_U16",
    "sshort": "W_I16",
    "dword": "W_32",
    "dwordx2": "W_64",
    "dwordx3": "W_96",
    "dwordx4": "W_128",
    "ubyte_d16": "W_U8_LO",
    "ubyte_d16_hi": "W_U8_HI",
    "sbyte_d16": "W_I8_LO",
    "sbyte_d16_hi": "W_I8_HI",
    "short_d16": "W_16_LO",
    "short_d16_hi": "W_16_HI",
}
STORES = {
    "byte": "W_U8",
    "short": "W_U16",
    "dword": "W_32",
    "dwordx2": "W_64",
    "dwordx3": "W_96",
    "dwordx4": "W_128",
    "byte_d16_hi": "W_U8_HI",
    "short_d16_hi": "W_16_HI",
}
DS_LOADS = {
    "u8": "W_U8",
    "i8": "W_I8",
    "u16": "W_U16",
    "i16": "W_I16",
    "b32": "W_32",
    "b64": "W_64",
    "b96": "W_96",
    "b128": "W_128",
    "u8_d16": "W_U8_LO",
    "u8_d16_hi": "W_U8_HI",
    "i8_d16": "W_I8_LO",
    "i8_d16_hi": "W_I8_HI",
    "u16_d16": "W_16_LO",
    "u16_d16_hi": "W_16_HI",
}
DS_STORES = {
    "b8": "W_U8",
    "b16": "W_U16",
    "b32": "W_32",
    "b64": "W_64",
    "b96": "W_96",
    "b128": "W_128",
    "b8_d16_hi": "W_U8_HI",
    "b16_d16_hi": "W_16_HI",
}


class AtomicOp(NamedTuple):
    """enum Atomic in wave.h, operand of 64 bits or 32, dwords of data."""

    name: str
    wide: bool
    words: int


def _atomics() -> dict[str, AtomicOp]:
    plain = {
        "swap": "AT_SWAP",
        "cmpswap": "AT_CMPSWAP",
        "add": "AT_ADD",
        "sub": "AT_SUB",
        "smin": "AT_SMIN",
        "umin": "AT_UMIN",
        "smax": "AT_SMAX",
        "umax": "AT_UMAX",
        "and": "AT_AND",
        "or": "AT_OR",
        "xor": "AT_XOR",
        "inc": "AT_INC",
        "dec": "AT_DEC",
    }
    rows: dict[str, AtomicOp] = {}
    for suffix, name in plain.items():
        data = 2 if suffix == "cmpswap" else 1
        rows[suffix] = AtomicOp(name, False, data)
        rows[f"{suffix}_x2"] = AtomicOp(name, True, 2 * data)
    rows["add_f32"] = AtomicOp("AT_FADD", False, 1)
    rows["add_f64"] = AtomicOp("AT_FADD", True, 2)
    rows["min_f64"] = AtomicOp("AT_FMIN", True, 2)
    rows["max_f64"] = AtomicOp("AT_FMAX", True, 2)
    rows["pk_add_f16"] = AtomicOp("AT_PK_F16", False, 1)
    rows["pk_add_bf16"] = AtomicOp("AT_PK_BF16", False, 1)
    return rows


ATOMICS = _atomics()  # suffix after global_atomic_ and flat_atomic_


def _ds_atomics() -> dict[str, AtomicOp]:
    rows: dict[str, AtomicOp] = {}
    integer = {
        "add": "AT_ADD",
        "sub": "AT_SUB",
        "rsub": "AT_RSUB",
        "inc": "AT_INC",
        "dec": "AT_DEC",
        "min": "AT_UMIN",
        "max": "AT_UMAX",
    }
    bits = {"and": "AT_AND", "or": "AT_OR", "xor": "AT_XOR"}
    for width in ("32", "64"):
        wide, words = width == "64", int(width) // 32
        for prefix in ("", "_rtn"):
            for name, op in integer.items():
                rows[f"{name}{prefix}_u{width}"] = AtomicOp(op, wide, words)
            rows[f"min{prefix}_i{width}"] = AtomicOp("AT_SMIN", wide, words)
            rows[f"max{prefix}_i{width}"] = AtomicOp("AT_SMAX", wide, words)
            for name, op in bits.items():
                rows[f"{name}{prefix}_b{width}"] = AtomicOp(op, wide, words)
            rows[f"cmpst{prefix}_b{width}"] = AtomicOp("AT_CMPSWAP", wide, 2 * words)
            rows[f"cmpst{prefix}_f{width}"] = AtomicOp("AT_FCMPSWAP", wide, 2 * words)
            rows[f"mskor{prefix}_b{width}"] = AtomicOp("AT_MSKOR", wide, 2 * words)
            rows[f"add{prefix}_f{width}"] = AtomicOp("AT_FADD", wide, words)
            rows[f"min{prefix}_f{width}"] = AtomicOp("AT_FMIN", wide, words)
            rows[f"max{prefix}_f{width}"] = AtomicOp("AT_FMAX", wide, words)
        rows[f"wrxchg_rtn_b{width}"] = AtomicOp("AT_SWAP", wide, words)
    rows["wrap_rtn_b32"] = AtomicOp("AT_WRAP", False, 2)
    rows["condxchg32_rtn_b64"] = AtomicOp("AT_CONDXCHG", True, 2)
    for prefix in ("", "_rtn"):
        rows[f"pk_add{prefix}_f16"] = AtomicOp("AT_PK_F16", False, 1)
        rows[f"pk_add{prefix}_bf16"] = AtomicOp("AT_PK_BF16", False, 1)
    return rows


DS_ATOMICS = _ds_atomics()  # after ds_
SCALAR_LOADS = {"s_load_dword": 1, "s_load_dwordx2": 2, "s_load_dwordx4": 4, "s_load_dwordx8": 8, "s_load_dwordx16": 16}

SCALAR_STORES = {"s_store_dword": 1, "s_store_dwordx2": 2, "s_store_dwordx4": 4}
SCALAR_ATOMICS = {f"s_atomic_{name}": op for name, op in ATOMICS.items() if "f" not in name.partition("_")[2]}
LDS_LOADS = {  # after global_load_lds_ and scratch_load_lds_: a dword for every lane
    name: LOADS[name] for name in ("ubyte", "sbyte", "ushort", "sshort", "dword")
}

SCALAR_BUFFER_LOADS = {name.replace("s_load", "s_buffer_load"): words for name, words in SCALAR_LOADS.items()}


def bytes_moved(mnemonic: str) -> int:
    """Bytes a memory instruction moves per lane (scalar loads: per wave)."""
    if mnemonic.startswith("s_"):
        if mnemonic in SCALAR_ATOMICS:
            return 8 if SCALAR_ATOMICS[mnemonic].wide else 4
        return 4 * ((SCALAR_LOADS | SCALAR_STORES).get(mnemonic) or SCALAR_BUFFER_LOADS.get(mnemonic, 0))
    if mnemonic.startswith("ds_"):
        return _ds_bytes(mnemonic[3:])
    space, _, rest = mnemonic.partition("_")
    action, _, what = rest.partition("_")
    if space not in ("global", "flat", "scratch", "buffer"):
        return 0
    if action == "atomic" and what in ATOMICS:
        return 8 if ATOMICS[what].wide else 4
    what = what.removeprefix("lds_")
    widths = LOADS if action == "load" else STORES if action == "store" else {}
    return BYTES[widths[what]] if what in widths else 0


def _ds_bytes(name: str) -> int:
    if name in DS_ATOMICS:
        return 8 if DS_ATOMICS[name].wide else 4
    if name in ("append", "consume") or name.endswith("_addtid_b32"):
        return 4
    if name.startswith("wrxchg2"):
        return 2 * int(name[-2:]) // 8
    if name.startswith(("read2", "write2")):
        return 2 * int(name[-2:]) // 8
    action, _, what = name.partition("_")
    widths = DS_LOADS if action == "read" else DS_STORES if action == "write" else {}
    return BYTES[widths[what]] if what in widths else 0
