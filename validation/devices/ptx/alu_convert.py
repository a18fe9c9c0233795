"""cvt: between all types (PTX ISA 9.7.9.21)."""

from __future__ import annotations

from porter.validation.devices.ptx.alu_float import ROUNDINGS
from porter.validation.devices.ptx.code import typed
from porter.validation.devices.ptx.lane import Lane
from porter.validation.devices.ptx.model import WIDTHS

_TO_INTEGRAL = {"rni": "__builtin_roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_SMALL = ("f16", "bf16")
_PAIRS = {"f16x2": "f16", "bf16x2": "bf16"}
_TINY = ("e4m3x2", "e5m2x2")


def convert(op: Lane) -> None:
    """cvt and cvt.pack."""
    if op.flag("pack"):
        _pack(op)
        return
    source, target = op.kind(), op.kind()
    rounding = op.one_of(*ROUNDINGS, *_TO_INTEGRAL, "rna", "rs")
    flush, saturate, relu, finite = op.flag("ftz"), op.flag("sat"), op.flag("relu"), op.flag("satfinite")
    op.finish()
    if rounding == "rs":
        raise op.fail("modifier .rs")
    if target in _TINY or source in _TINY:
        _tiny(op, source, target, relu)
    elif target in _PAIRS:
        _pair(op, source, target, rounding, relu, finite)
    elif target == "tf32":
        _tf32(op, rounding, relu)
    elif target in ("f32", "f64", *_SMALL):
        _to_float(op, source, target, rounding, flush, saturate, relu, finite)
    elif source in ("f32", "f64", *_SMALL):
        _to_integer(op, source, target, rounding, flush)
    else:
        _integers(op, source, target, saturate)


def _integers(op: Lane, source: str, target: str, saturate: bool) -> None:
    value = op.s(1, source)
    if saturate:
        low, high = _limits(target)
        wide = "int64_t" if source.startswith("s") else "uint64_t"
        v = op.name(wide, f"({wide}){value}")
        checks = f"{v} > ({wide}){high} ? ({wide}){high} : {v}"
        if WIDTHS[target] == 64:
            checks = v
            if source == "u64" and target == "s64":
                checks = f"{v} > INT64_MAX ? INT64_MAX : {v}"
        if source.startswith("s"):
            least = "0" if target.startswith("u") else f"(int64_t){low}"
            checks = f"{v} < {least} ? {least} : ({checks})"
        op.d(checks, target)
        return
    if WIDTHS[target] == 64 and WIDTHS[source] < 64:
        value = f"(uint64_t)({'int64_t' if source.startswith('s') else 'uint64_t'}){value}"
    op.d(value, target)


def _limits(kind: str) -> tuple[str, str]:
    width = WIDTHS[kind]
    if kind.startswith("u"):
        return "0", f"{(1 << width) - 1:#x}ull"
    return f"(-{(1 << (width - 1)) - 1}ll - 1)", f"{(1 << (width - 1)) - 1}ll"


def _as_double(op: Lane, kind: str, flush: bool) -> tuple[str, str]:
    """C for a floating-point source, in the type in which it is rounded to integral."""
    if kind in _SMALL:
        return f"{kind}({op.s(1, 'b16')})", "f"
    value = op.s(1, kind)
    return (f"ftz({value})" if flush and kind == "f32" else value), "f" if kind == "f32" else ""


def _to_integer(op: Lane, source: str, target: str, rounding: str, flush: bool) -> None:
    value, suffix = _as_double(op, source, flush)
    whole = op.name("double", f"{_TO_INTEGRAL.get(rounding, 'trunc')}{suffix}({value})")
    width = WIDTHS[target]
    signed = target.startswith("s")
    if width >= 32:
        name = f"f64_{target}({whole})"
        if width == 64 or source == "f64":
            nan = {"u64": "1ull << 63", "s64": "INT64_MIN", "u32": "0x80000000u", "s32": "INT32_MIN"}[target]
            name = f"{whole} != {whole} ? {nan} : {name}"
        op.d(name, target)
        return
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    of_nan = (low or high - high // 2) if source == "f64" else 0
    inside = f"{whole} > {high}.0 ? {high} : {whole} < {low}.0 ? {low} : (int32_t){whole}"
    op.d(f"{whole} != {whole} ? {of_nan} : {inside}", target)


def _to_float(
    op: Lane, source: str, target: str, rounding: str, flush: bool, saturate: bool, relu: bool, finite: bool
) -> None:
    if source in ("f32", "f64", *_SMALL):
        value = _between_floats(op, source, target, rounding, flush)
    else:
        value = _from_integer(op, source, target, rounding)
    if target in _SMALL:
        if saturate:
            value = f"sat_{target}({value})"
        if relu:
            value = f"relu_{target}({value})"
        if finite:
            value = _finite(op, value, target)
        op.d(value, "b16")
        return
    if flush and target == "f32":
        value = f"ftz({value})"
    if saturate:
        value = f"sat{'64' if target == 'f64' else ''}({value})"
    if target == "f32" and source != "f32":
        value = f"canon({value})" if source in ("f64", *_SMALL) else value
    op.d(value, target)


def _finite(op: Lane, value: str, kind: str) -> str:
    v = op.name("uint32_t", value)
    infinite, largest = ("0x7c00u", "0x7bffu") if kind == "f16" else ("0x7f80u", "0x7f7fu")
    return f"(({v} & 0x7fffu) == {infinite} ? ({v} & 0x8000u) | {largest} : {v})"


def _between_floats(op: Lane, source: str, target: str, rounding: str, flush: bool) -> str:
    value, suffix = _as_double(op, source, flush)
    if rounding in _TO_INTEGRAL:
        value = f"{_TO_INTEGRAL[rounding]}{suffix}({value})"
        rounding = "rn"
    if target in _SMALL:
        return _narrow(op, value, target, rounding, exact=source != "f64")
    if source == "f64" and target == "f32":
        return f"(float)({value})" if rounding in ("rn", "") else f"round_{rounding}({value})"
    return value


def _narrow(op: Lane, value: str, kind: str, rounding: str, exact: bool) -> str:
    """float or double to f16 or bf16, as bits."""
    if rounding in ("rn", ""):
        return f"to_{kind}({value})" if exact else f"to_{kind}(to_odd({value}))"
    return f"{kind}_{rounding}({value})"


def _from_integer(op: Lane, source: str, target: str, rounding: str) -> str:
    value = op.s(1, source)
    wide = WIDTHS[source] == 64
    if target == "f64":
        if wide and rounding not in ("rn", ""):
            return f"ptx_rounded(R_{source[0].upper()}64, ROUND_{rounding.upper()}, f64((uint64_t){value}), 0, 0)"
        return f"(double){value}"
    if target == "f32":
        if rounding in ("rn", ""):
            return f"(float){value}"
        if wide:
            return f"ptx_rounded32(R_{source[0].upper()}64, ROUND_{rounding.upper()}, f64((uint64_t){value}), 0)"
        return f"round_{rounding}((double){value})"
    return _narrow(op, f"(double){value}", target, rounding, exact=False)


def _pair(op: Lane, source: str, target: str, rounding: str, relu: bool, finite: bool) -> None:
    """Two floats into one register: the first operand is the upper half."""
    if source != "f32":
        raise op.fail(f"from .{source}")
    kind = _PAIRS[target]
    halves = []
    for k in (2, 1):
        value = _narrow(op, op.s(k, "f32"), kind, rounding, exact=True)
        if relu:
            value = f"relu_{kind}({value})"
        if finite:
            value = _finite(op, value, kind)
        halves.append(op.name("uint32_t", value))
    op.d(f"{halves[0]} | {halves[1]} << 16", "b32")


def _tf32(op: Lane, rounding: str, relu: bool) -> None:
    """Eleven bits of precision, kept in a float: nearest, ties away from zero (.rna) or to even, or towards zero."""
    x = op.name("uint32_t", op.s(1, "b32"))
    nan = f"({x} & 0x7fffffffu) > 0x7f800000u"
    add = {"rna": "0x1000u", "rn": f"(0xfffu + ({x} >> 13 & 1))", "rz": "0u"}.get(rounding)
    if add is None:
        raise op.fail(f"modifier .{rounding}")
    value = op.name(
        "uint32_t", f"{nan} ? 0x7fffffffu : ({x} & 0x7f800000u) == 0x7f800000u ? {x} : ({x} + {add}) & ~0x1fffu"
    )
    op.d(f"(int32_t){value} < 0 ? 0u : {value}" if relu else value, "b32")


def _tiny(op: Lane, source: str, target: str, relu: bool) -> None:
    """Two 8-bit floats in 16 bits, always saturating."""
    if target in _TINY:
        name = target.removesuffix("x2")
        if source == "f32":
            high, low = op.s(1, "f32"), op.s(2, "f32")
        else:
            both = op.name("uint32_t", op.s(1, "b32"))
            kind = _PAIRS[source]
            high, low = f"{kind}({both} >> 16)", f"{kind}({both} & 0xffffu)"
        parts = [f"to_{name}({f'relu({v})' if relu else v})" for v in (low, high)]
        op.d(f"{parts[0]} | {parts[1]} << 8", "b16")
        return
    name = source.removesuffix("x2")
    if target not in _PAIRS:
        raise op.fail(f"to .{target}")
    kind = _PAIRS[target]
    both = op.name("uint32_t", op.s(1, "b16"))
    parts = [f"to_{kind}({name}({both} >> {s} & 255u))" for s in (0, 8)]
    if relu:
        parts = [f"relu_{kind}({p})" for p in parts]
    op.d(f"{parts[0]} | {parts[1]} << 16", "b32")


def _pack(op: Lane) -> None:
    """cvt.pack: two saturated integers, and what a third operand holds above them."""
    op.flag("sat")
    third = op.kind() if len(op.left) == 3 else ""
    source, target = op.kind(), op.kind()
    op.finish()
    width = WIDTHS[target]
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if target[0] == "s" else (0, (1 << width) - 1)
    parts = []
    for k in (1, 2):
        v = op.name("int64_t", typed(op.s(k, source), "s64", 64) if source == "s64" else f"(int64_t){op.s(k, source)}")
        parts.append(f"((uint32_t)({v} < {low} ? {low} : {v} > {high} ? {high} : {v}) & {(1 << width) - 1:#x}u)")
    value = f"{parts[0]} << {width} | {parts[1]}"
    if third:
        value = f"({value}) | {op.s(3, 'b32')} << {2 * width}"
    op.d(value, "b32")
