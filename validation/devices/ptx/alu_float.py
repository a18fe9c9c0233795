"""Floating-point instructions of 16, 32 and 64 bits (PTX ISA 9.7.3 to 9.7.5)."""

from __future__ import annotations

from porter.validation.devices.ptx.lane import Lane

ROUNDINGS = ("rn", "rz", "rm", "rp")
_SMALL = {"f16": "f16", "bf16": "bf16", "f16x2": "f16", "bf16x2": "bf16"}
_R = {"add": "R_ADD", "sub": "R_SUB", "mul": "R_MUL", "div": "R_DIV", "fma": "R_FMA", "sqrt": "R_SQRT", "rcp": "R_RCP"}


def is_float(kind: str) -> bool:
    """True for the types of this file."""
    return kind in ("f32", "f64", "f32x2") or kind in _SMALL


def _flush(op: Lane, text: str, flush: bool) -> str:
    return f"ftz({text})" if flush else text


def _result32(op: Lane, value: str, flush: bool, saturate: bool) -> None:
    value = _flush(op, value, flush)
    op.d(f"sat({value})" if saturate else value, "f32")


def arithmetic(op: Lane) -> None:
    """add, sub, mul, fma, mad."""
    base = "fma" if op.instruction.base == "mad" else op.instruction.base
    kind = op.kind()
    rounding = op.one_of(*ROUNDINGS, default="rn")
    flush, saturate, relu = op.flag("ftz"), op.flag("sat"), op.flag("relu")
    op.finish()
    count = 3 if base == "fma" else 2
    if kind in _SMALL:
        _small(op, base, kind, count, flush, saturate, relu, rounding)
    elif kind == "f32":
        a = [_flush(op, op.s(k, kind), flush) for k in range(1, count + 1)]
        _result32(op, _plain32(base, rounding, a), flush, saturate)
    elif kind == "f64":
        a = [op.s(k, kind) for k in range(1, count + 1)]
        value = _plain64(base, a)
        if rounding != "rn":
            value = f"ptx_rounded({_R[base]}, ROUND_{rounding.upper()}, {', '.join([*a, '0'][:3])})"
        op.d(f"sat64({value})" if saturate else value, kind)
    else:
        raise op.fail(f"type .{kind}")


def _plain32(base: str, rounding: str, a: list[str]) -> str:
    if rounding == "rn":
        return f"__builtin_fmaf({', '.join(a)})" if base == "fma" else f"{a[0]} {_SIGN[base]} {a[1]}"
    if base == "sub":
        return f"add_{rounding}({a[0]}, -{a[1]})"
    return f"{base}_{rounding}({', '.join(a)})"


_SIGN = {"add": "+", "sub": "-", "mul": "*"}


def _plain64(base: str, a: list[str]) -> str:
    return f"__builtin_fma({', '.join(a)})" if base == "fma" else f"{a[0]} {_SIGN[base]} {a[1]}"


def _small(op: Lane, base: str, kind: str, count: int, flush: bool, saturate: bool, relu: bool, rounding: str) -> None:
    if rounding != "rn":
        raise op.fail(f"modifier .{rounding}")
    name, packed = _SMALL[kind], kind.endswith("x2")
    width = "b32" if packed else "b16"
    a = [op.name("uint32_t", op.s(k, width)) for k in range(1, count + 1)]
    halves = []
    for shift in (0, 16) if packed else (0,):
        part = [f"({x} >> {shift} & 0xffffu)" if packed else x for x in a]
        if flush and name == "f16":
            part = [f"ftz_f16({x})" for x in part]
        value = f"{base}_{name}({', '.join(part)})"
        if flush and name == "f16":
            value = f"ftz_f16({value})"
        if saturate:
            value = f"sat_{name}({value})"
        if relu:
            value = f"relu_{name}({value})"
        halves.append(value)
    op.d(halves[0] if not packed else f"{halves[0]} | {halves[1]} << 16", width)


def negate(op: Lane) -> None:
    """neg and abs: the sign bit."""
    kind = op.kind()
    flush = op.flag("ftz")
    op.finish()
    base = op.instruction.base
    if kind == "f32":
        a = _flush(op, op.s(1, "f32"), flush)
        op.d(f"u32({a}) ^ 0x80000000u" if base == "neg" else f"u32({a}) & 0x7fffffffu", "b32")
    elif kind == "f64":
        op.d(f"{op.s(1, 'b64')} ^ (1ull << 63)" if base == "neg" else f"{op.s(1, 'b64')} & ~(1ull << 63)", "b64")
    else:
        packed = kind.endswith("x2")
        sign = "0x80008000u" if packed else "0x8000u"
        a = op.s(1, "b32" if packed else "b16")
        op.d(f"{a} ^ {sign}" if base == "neg" else f"{a} & ~{sign}", "b32" if packed else "b16")


def min_max(op: Lane) -> None:
    """min and max: a NaN loses, unless .NaN."""
    base = op.instruction.base
    kind = op.kind()
    flush, nan, magnitude = op.flag("ftz"), op.flag("NaN"), op.flag("xorsign")
    if magnitude:
        op.flag("abs")
    op.finish()
    if magnitude or op.has(4):
        raise op.fail("modifier .xorsign.abs" if magnitude else "four operands")
    if kind in _SMALL:
        name, packed = _SMALL[kind], kind.endswith("x2")
        function = f"{base}_nan_{name}" if nan else f"{base}_{name}"
        width = "b32" if packed else "b16"
        a, b = op.name("uint32_t", op.s(1, width)), op.name("uint32_t", op.s(2, width))
        if packed:
            op.d(f"PACKED({function}, {a}, {b})", width)
        else:
            op.d(f"{function}({a}, {b})", width)
    elif kind == "f32":
        function = f"{base}_nan_f32" if nan else f"{base}_f32"
        value = f"{function}({_flush(op, op.s(1, kind), flush)}, {_flush(op, op.s(2, kind), flush)})"
        if op.has(3):
            value = f"{function}({value}, {_flush(op, op.s(3, kind), flush)})"
        op.d(value, kind)
    elif nan:
        raise op.fail("modifier .NaN")
    else:
        op.d(f"{base}_f64({op.s(1, kind)}, {op.s(2, kind)})", kind)


def divide(op: Lane) -> None:
    """div, sqrt, rcp: exact in every rounding mode; .approx and .full like .rn, but for quotients of huge divisors."""
    base = op.instruction.base
    kind = op.kind()
    mode = op.one_of(*ROUNDINGS, "approx", "full")
    flush = op.flag("ftz")
    op.finish()
    if kind == "f64":
        if mode == "approx":
            op.d(f"rcp_approx64({op.s(1, kind)})", kind)
            return
        a = [op.s(1, kind), op.s(2, kind) if base == "div" else "0", "0"]
        value = {"div": f"{a[0]} / {a[1]}", "sqrt": f"sqrt({a[0]})", "rcp": f"1.0 / {a[0]}"}[base]
        if mode not in ("rn", ""):
            value = f"ptx_rounded({_R[base]}, ROUND_{mode.upper()}, {', '.join(a)})"
        op.d(value, kind)
        return
    if kind != "f32":
        raise op.fail(f"type .{kind}")
    a32 = [_flush(op, op.s(k, kind), flush) for k in ((1, 2) if base == "div" else (1,))]
    value = {"div": f"{a32[0]} / {a32[-1]}", "sqrt": f"sqrtf({a32[0]})", "rcp": f"1.0f / {a32[0]}"}[base]
    if base == "div" and mode == "approx":
        value = f"div_approx({a32[0]}, {a32[1]})"
    if mode in ("rz", "rm", "rp"):
        value = f"ptx_rounded32({_R[base]}, ROUND_{mode.upper()}, {a32[0]}, {a32[-1]})"
    op.d(_flush(op, value, flush), kind)


def approximate(op: Lane) -> None:
    """rsqrt, sin, cos, lg2, ex2, tanh."""
    base = op.instruction.base
    kind = op.kind()
    op.flag("approx")
    flush = op.flag("ftz")
    op.finish()
    if kind == "f64" and base == "rsqrt":
        op.d(f"rsqrt_approx64({op.s(1, kind)})" if flush else f"1.0 / sqrt({op.s(1, kind)})", kind)
    elif kind == "f32":
        op.d(_flush(op, f"{base}_approx({_flush(op, op.s(1, kind), flush)})", flush), kind)
    elif kind in _SMALL:
        name, packed = _SMALL[kind], kind.endswith("x2")
        width = "b32" if packed else "b16"
        a = op.name("uint32_t", op.s(1, width))
        parts = [f"to_{name}({base}_approx({name}({a} >> {s} & 0xffffu)))" for s in ((0, 16) if packed else (0,))]
        op.d(parts[0] if not packed else f"{parts[0]} | {parts[1]} << 16", width)
    else:
        raise op.fail(f"type .{kind}")


def copysign(op: Lane) -> None:
    """copysign: the magnitude of b with the sign of a."""
    kind = op.kind()
    op.finish()
    one, width = ("(1ull << 63)", "b64") if kind == "f64" else ("0x80000000u", "b32")
    op.d(f"({op.s(1, width)} & {one}) | ({op.s(2, width)} & ~{one})", width)


def testp(op: Lane) -> None:
    """testp: a property of a number."""
    kind = op.kind()
    test = op.left.pop()
    op.finish()
    c = "float" if kind == "f32" else "double"
    a = op.name(c, op.s(1, kind))
    absolute = f"{'fabsf' if kind == 'f32' else 'fabs'}({a})"
    least = "0x1p-126f" if kind == "f32" else "0x1p-1022"
    tests = {
        "finite": f"{absolute} < INFINITY",
        "infinite": f"{absolute} == INFINITY",
        "number": f"{a} == {a}",
        "notanumber": f"{a} != {a}",
        "normal": f"{absolute} >= {least} && {absolute} < INFINITY",
        "subnormal": f"{absolute} < {least} && {a} != 0",
    }
    if test not in tests:
        raise op.fail(f"modifier .{test}")
    op.d(tests[test], "pred")
