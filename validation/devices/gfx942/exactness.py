"""Which instructions this device does not do to the last bit, or does as nobody has decided (docs/devices.md)."""

from __future__ import annotations

import re

_KINDS = {
    "approximate": r"v_(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos|exp_legacy|log_legacy)_f(16|32)",
    "order unknown": r"v_mfma_(f32|f64)_\w+|v_dot2c?_f32_f16",
    "undecided": r"ds_(min|max)(_rtn)?_f(32|64)|v_cvt_rpi_i32_f32|v_mad_i64_i32|v_div_scale_f(32|64)"
    r"|v_(addc|subb|subbrev|add|sub|subrev)_co_u32_dpp",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}


def doubt_of(mnemonic: str, encoding: str) -> str:
    """`approximate`, `order unknown`, `undecided`, or nothing for an instruction that is exact."""
    full = f"{mnemonic}_dpp" if encoding == "dpp" else mnemonic
    return next((kind for kind, p in _PATTERNS.items() if p.fullmatch(mnemonic) or p.fullmatch(full)), "")
