"""Operands as written in assembly: registers, constants, symbols."""

from __future__ import annotations

import functools
import re
import struct
from dataclasses import dataclass, replace

VCC, EXEC, FLAT_SCRATCH, XNACK = 106, 126, 102, 104

_NAMED = {  # name -> (kind, index, count)
    "vcc": ("s", VCC, 2),
    "vcc_lo": ("s", VCC, 1),
    "vcc_hi": ("s", VCC + 1, 1),
    "exec": ("exec", EXEC, 2),
    "exec_lo": ("exec", EXEC, 1),
    "exec_hi": ("exec", EXEC + 1, 1),
    "m0": ("m0", 0, 1),
    "scc": ("scc", 0, 1),
    "src_scc": ("scc", 0, 1),
    "flat_scratch": ("s", FLAT_SCRATCH, 2),
    "flat_scratch_lo": ("s", FLAT_SCRATCH, 1),
    "flat_scratch_hi": ("s", FLAT_SCRATCH + 1, 1),
    "xnack_mask": ("s", XNACK, 2),
    "xnack_mask_lo": ("s", XNACK, 1),
    "xnack_mask_hi": ("s", XNACK + 1, 1),
    "src_vccz": ("vccz", 0, 1),
    "src_execz": ("execz", 0, 1),
    "off": ("off", 0, 0),
    "src_shared_base": ("aperture", 0, 2),
    "src_private_base": ("aperture", 1, 2),
    "src_shared_limit": ("aperture", 2, 2),
    "src_private_limit": ("aperture", 3, 2),
}
_REGISTER = re.compile(r"^(acc|[vsa])(\d+)$|^(acc|[vsa])\[(\d+)(?::(\d+))?\]$")
_INTEGER = re.compile(r"^-?(0x[0-9a-fA-F]+|\d+)$")
_FLOAT = re.compile(r"^-?(\d+\.\d*|\d*\.\d+)([eE][+-]?\d+)?$|^-?\d+[eE][+-]?\d+$")
_SYMBOL = re.compile(
    r"^([A-Za-z_.$][\w.$]*)(?:@(rel32|gotpcrel32|abs32)(?:@(lo|hi))?)?(?:\s*([+-])\s*(\d+|0x[0-9a-fA-F]+))?$"
)
_INVERSE_TWO_PI = {"f32": 0x3E22F983, "f64": 0x3FC45F306DC9C882, "f16": 0x3118, "h16": 0x3118}


class BadOperand(Exception):
    """An operand form that is not known; never guessed."""


@dataclass(frozen=True)
class Operand:
    """One operand. `kind`: v, a, s, exec, m0, scc, int, float, symbol, off, aperture, vccz, execz."""

    kind: str
    text: str
    index: int = 0
    count: int = 1
    value: int = 0
    negate: bool = False
    absolute: bool = False
    sign_extend: bool = False
    symbol: str = ""
    relocation: str = ""

    @property
    def is_vector(self) -> bool:
        """True for a VGPR or AGPR."""
        return self.kind in ("v", "a")

    @property
    def is_constant(self) -> bool:
        """True for an immediate."""
        return self.kind in ("int", "float")


@functools.lru_cache(maxsize=65536)
def parse(text: str) -> Operand:
    """Read one operand."""
    negate = absolute = sign = False
    body = text.strip()
    while True:
        if body.startswith("neg(") and body.endswith(")"):
            body, negate = body[4:-1], not negate
        elif body.startswith("abs(") and body.endswith(")"):
            body, absolute = body[4:-1], True
        elif body.startswith("sext(") and body.endswith(")"):
            body, sign = body[5:-1], True
        elif len(body) > 1 and body[0] == "|" and body[-1] == "|":
            body, absolute = body[1:-1], True
        elif body.startswith("-") and not _INTEGER.match(body) and not _FLOAT.match(body):
            body, negate = body[1:], not negate
        else:
            break
    plain = _parse_plain(body, text)
    return replace(
        plain, text=plain.text if plain.kind == "float" else text, negate=negate, absolute=absolute, sign_extend=sign
    )


def _parse_plain(body: str, text: str) -> Operand:
    if match := _REGISTER.match(body):
        kind = (match[1] or match[3])[0]
        first = int(match[2] or match[4])
        last = int(match[5]) if match[5] else first
        return Operand(kind, text, first, last - first + 1)
    if body in _NAMED:
        kind, index, count = _NAMED[body]
        return Operand(kind, text, index, count)
    if _INTEGER.match(body):
        return Operand("int", text, value=int(body, 0))
    if _FLOAT.match(body):
        return Operand("float", body)
    if match := re.match(r"^\[(?:s\d+,?\s*)+\]$", body):
        first = int(re.findall(r"\d+", body)[0])
        return Operand("s", text, first, body.count("s"))
    if match := _SYMBOL.match(body):
        addend = int(match[5], 0) * (-1 if match[4] == "-" else 1) if match[5] else 0
        return Operand("symbol", text, symbol=match[1], value=addend, relocation=f"{match[2] or ''}@{match[3] or ''}")
    raise BadOperand(f"operand {text!r} is of no known form")


def constant_bits(operand: Operand, kind: str) -> int:
    """The bits of an immediate as a source of type `kind` (b32, f32, u64, f16, ...)."""
    width = 64 if kind.endswith("64") else 32
    mask = (1 << width) - 1
    if operand.kind == "float":
        return _float_bits(operand.text, kind)
    value = operand.value
    if -16 <= value <= 64:
        return value & mask
    value &= 0xFFFFFFFF
    if kind == "f64":
        return value << 32
    if kind == "i64" and value >> 31:
        return value | 0xFFFFFFFF00000000
    return value


def _float_bits(text: str, kind: str) -> int:
    body = text
    if body.lstrip("-").startswith("0.1591549"):
        bits = _INVERSE_TWO_PI.get(kind, _INVERSE_TWO_PI["f32"])
        sign = {"f64": 63, "f16": 15, "h16": 15}.get(kind, 31)
        return bits | (1 << sign if body.startswith("-") else 0)
    value = float(body)
    if kind in ("f64", "b64", "u64", "i64"):
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if kind in ("f16", "h16"):  # 16-bit integers take the pattern of f32, as far as they are wide
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    return int(struct.unpack("<I", struct.pack("<f", value))[0])
