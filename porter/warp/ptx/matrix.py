"""What the matrix instructions of PTX are in C++: mma.sync, ldmatrix, stmatrix, movmatrix."""

from __future__ import annotations

import re

from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import Writer, need, on

_HEADER = "porter/mma.hpp"
_NOTE = (
    "logical warps of 32 lanes multiply by MFMA in blocks of 4 x 4, after a dozen moves between lanes: a fraction "
    "of the speed of rocWMMA or hipBLASLt"
)
_SHAPES = {
    "f16": {(16, 8, 8), (16, 8, 16)},
    "bf16": {(16, 8, 8), (16, 8, 16)},
    "tf32": {(16, 8, 4), (16, 8, 8)},
    "s8": {(8, 8, 16), (16, 8, 16), (16, 8, 32)},
    "s4": {(8, 8, 32), (16, 8, 32), (16, 8, 64)},
    "fp8": {(16, 8, 16), (16, 8, 32)},
    "f64": {(8, 8, 4)},
}
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8, "f64": 64}
_RESULTS = {"f16": ("f32", "f16"), "fp8": ("f32", "f16"), "s8": ("s32",), "s4": ("s32",), "f64": ("f64",)}
_MIXED = {"s8": ("s8", "u8"), "s4": ("s4", "u4"), "fp8": ("e4m3", "e5m2")}
_REGISTERS = {"f32": "f32", "f16": "b32", "s32": "s32", "f64": "f64"}


@on(
    r"mma\.sync\.aligned\.m(\d{1,4})n(\d{1,4})k(\d{1,4})\.row\.col(\.satfinite)?"
    r"\.(\w+)\.(\w+)\.(\w+)\.(\w+)(\.satfinite)?"  # ptxas takes it at the end, too, where CUTLASS writes it
)
def _mma(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, match[0])
    m, n, k = (int(match[place]) for place in (1, 2, 3))
    result, a, b, accumulator = (match[place] for place in (5, 6, 7, 8))
    family = next((name for name, members in _MIXED.items() if a in members), a)
    known = (m, n, k) in _SHAPES.get(family, ()) and result == accumulator
    if not known or result not in _RESULTS.get(family, ("f32",)) or b not in _MIXED.get(family, (a,)):
        raise Unknown(match[0])
    saturates = bool(match[4] or match[9])
    if saturates and result != "s32":
        raise Unknown(match[0])
    kind = a if a == b else a + b
    register = "f64" if family == "f64" else "b32"
    words_a, words_b = (side * k * _BITS[a] // 32 // (64 if family == "f64" else 32) for side in (m, n))
    results = m * n // (64 if result == "f16" else 32)
    targets = _vector(operands[0], results, match[0])
    arguments = [
        *(writer.value(item, register) for item in _vector(operands[1], words_a, match[0])),
        *(writer.value(item, register) for item in _vector(operands[2], words_b, match[0])),
        *(writer.value(item, _REGISTERS[result]) for item in _vector(operands[3], results, match[0])),
    ]
    name = f"mma_{result}{'_satfinite' if saturates else ''}"
    argument = "" if family == "f64" else f"<porter::ptx::{kind}>"
    writer.notes.append(_NOTE)
    return _assigned(writer, f"{name}{argument}({', '.join(arguments)})", targets, _REGISTERS[result])


@on(r"ldmatrix\.sync\.aligned\.\S+")
def _ldmatrix(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    count, transposed = _matrices(match[0])
    targets = _vector(operands[0], count, match[0])
    call = f"ldmatrix{transposed}<{count}>({_address(writer, operands[1])})"
    writer.notes.append("the rows are read through moves between lanes")
    return _assigned(writer, call, targets, "b32")


@on(r"stmatrix\.sync\.aligned\.\S+")
def _stmatrix(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    count, transposed = _matrices(match[0])
    values = [writer.value(item, "b32") for item in _vector(operands[1], count, match[0])]
    writer.headers.add(_HEADER)
    writer.notes.append("the rows are written through moves between lanes")
    return f"porter::ptx::stmatrix{transposed}({', '.join([_address(writer, operands[0]), *values])});"


def _matrices(opcode: str) -> tuple[int, str]:
    """How many matrices, and the ending for transposed ones; the parts of the opcode stand in any order."""
    parts = opcode.split(".")[3:]
    counts = [part for part in parts if part in ("x1", "x2", "x4")]
    rest = [part for part in parts if part not in ("x1", "x2", "x4", "trans", "shared", "shared::cta")]
    if len(counts) != 1 or sorted(rest) != ["b16", "m8n8"]:
        raise Unknown(opcode)
    return int(counts[0][1]), "_trans" if "trans" in parts else ""


@on(r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16")
def _movmatrix(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    writer.headers.add(_HEADER)
    return writer.assign(operands[0], f"porter::ptx::movmatrix_trans({writer.value(operands[1], 'b32')})")


def _vector(operand: str, count: int, opcode: str) -> list[str]:
    """The registers of `{%0, %1}`, or of one alone."""
    items = [item.strip(" \x01\x02{}") for item in operand.split(",")]
    if len(items) != count:
        raise Unknown(f"{opcode} with {len(items)} registers where it has {count}")
    return items


def _address(writer: Writer, text: str) -> str:
    """`[%4 + 16]` as an offset in LDS: the low word of a generic address is that, too."""
    match = re.fullmatch(r"\[\s*([^\]+]+?)\s*(?:\+\s*(\d+))?\s*\]", text)
    if match is None:
        raise Unknown(f"the address {text}")
    base = writer.value(match[1], "u32")
    return f"{base} + {match[2]}" if match[2] and match[2] != "0" else base


def _assigned(writer: Writer, call: str, targets: list[str], kind: str) -> str:
    """All results of a call; they may be among its arguments."""
    writer.headers.add(_HEADER)
    places = [writer.assign(target, f"porter_d.x[{i}]", kind) for i, target in enumerate(targets)]
    return f"{{ auto const porter_d = porter::ptx::{call}; {' '.join(places)} }}"
