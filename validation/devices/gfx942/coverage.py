"""Which instructions have an emitter."""

from __future__ import annotations

import re

from porter.validation.devices.gfx942 import matrix, memory, scalar, vector
from porter.validation.devices.gfx942.translate import Translator

_DS_OTHERS = ("permute_b32", "bpermute_b32", "swizzle_b32", "gws_init", "gws_barrier", "gws_sema_br")


def is_known(mnemonic: str) -> bool:
    """True when there is an emitter for the instruction (all of its usual forms)."""
    base = re.sub(r"(_sdwa_SDWA|_dpp_DPP|_e32|_e64|_sdwa|_dpp)$", "", mnemonic)
    compared = base.replace("v_cmpx_", "v_cmp_")
    if base in memory.SCALAR_BUFFER_LOADS:
        return True
    tables = (vector.ROWS, vector.PACKED, vector.MIXED, scalar.ROWS, scalar.BRANCHES, memory.SCALAR_LOADS, matrix.ROWS)
    if base in scalar.NO_EFFECT or any(compared in rows for rows in tables):
        return True
    if hasattr(Translator, "_do_" + base):
        return True
    if match := re.match(r"s_(\w+?)_(saveexec|wrexec)_b64$", base):
        return match[1] in (scalar.SAVEEXEC if match[2] == "saveexec" else scalar.WREXEC)
    if match := re.match(r"(global|flat|scratch|buffer)_(load|store|atomic)_(\w+)$", base):
        names: dict[str, object] = {
            **(memory.LOADS if match[2] == "load" else memory.STORES if match[2] == "store" else memory.ATOMICS)
        }
        return match[3] in names and not (match[1] == "scratch" and match[2] == "atomic")
    if base.startswith("ds_"):
        name = base[3:]
        pair = re.fullmatch(r"(read|write)2(st64)?_b(32|64)", name)
        plain = name.removeprefix("read_") in memory.DS_LOADS or name.removeprefix("write_") in memory.DS_STORES
        return bool(pair) or plain or name in memory.DS_ATOMICS or name in _DS_OTHERS
    return False
