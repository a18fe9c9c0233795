"""Comparison and selection (PTX ISA 9.7.6, 9.7.7)."""

from __future__ import annotations

from porter.validation.devices.ptx.alu_float import is_float
from porter.validation.devices.ptx.lane import Lane
from porter.validation.devices.ptx.model import WIDTHS, Operand

_ORDERED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_COMPARISONS = (*_ORDERED, *_UNSIGNED, *(f"{name}u" for name in _ORDERED), "num", "nan")


def _compared(op: Lane, comparison: str, kind: str, a: str, b: str) -> str:
    if not is_float(kind):
        operator = _ORDERED.get(comparison) or _UNSIGNED.get(comparison)
        if operator is None:
            raise op.fail(f"modifier .{comparison}")
        return f"({a} {operator} {b})"
    if comparison in ("num", "nan"):
        return f"({a} == {a} && {b} == {b})" if comparison == "num" else f"({a} != {a} || {b} != {b})"
    if comparison == "ne":  # ordered: false for NaN
        return f"({a} < {b} || {a} > {b})"
    if comparison in _ORDERED:
        return f"({a} {_ORDERED[comparison]} {b})"
    name = comparison[:-1]
    if name == "ne":
        return f"({a} != {b})"
    inverse = {"eq": f"{a} < {b} || {a} > {b}", "lt": f"{a} >= {b}", "le": f"{a} > {b}", "gt": f"{a} <= {b}",
               "ge": f"{a} < {b}"}  # fmt: skip
    return f"(!({inverse[name]}))"


_C = {"f32": "float", "f64": "double"}


def _operands(op: Lane, kind: str, flush: bool, first: int) -> list[tuple[str, str]]:
    """Pairs of values to compare: two of them for packed types."""
    if kind in ("f16", "bf16", "f16x2", "bf16x2"):
        name, packed = kind.removesuffix("x2"), kind.endswith("x2")
        width = "b32" if packed else "b16"
        a, b = op.name("uint32_t", op.s(first, width)), op.name("uint32_t", op.s(first + 1, width))
        pairs = []
        for shift in (0, 16) if packed else (0,):
            x, y = (f"({v} >> {shift} & 0xffffu)" for v in (a, b))
            if flush and name == "f16":
                x, y = f"ftz_f16({x})", f"ftz_f16({y})"
            pairs.append((op.name("float", f"{name}({x})"), op.name("float", f"{name}({y})")))
        return pairs
    c_type = _C.get(kind, f"{'int' if kind.startswith('s') else 'uint'}{max(WIDTHS[kind], 32)}_t")
    values = [op.s(first, kind), op.s(first + 1, kind)]
    if flush:
        values = [f"ftz({v})" for v in values]
    return [(op.name(c_type, values[0]), op.name(c_type, values[1]))]


def setp(op: Lane) -> None:
    """setp, with a second result and a boolean operation."""
    kind = op.kind()
    comparison, flush, combine = op.one_of(*_COMPARISONS), op.flag("ftz"), op.one_of("and", "or", "xor")
    op.finish()
    target = op.operands[0]
    targets = target.parts if target.kind == "pair" else (target,)
    truths = [_compared(op, comparison, kind, a, b) for a, b in _operands(op, kind, flush, 1)]
    kept = [op.name("uint32_t", f"-(uint32_t)({truth})") for truth in truths]
    if len(kept) == 1:
        kept.append(op.name("uint32_t", f"~{kept[0]}"))
    for place, (operand, truth) in enumerate(zip(targets, kept, strict=False)):
        del place
        value = truth if not combine else f"({truth} {_OPERATOR[combine]} {op.s(3, 'pred')})"
        op.put(operand, value, "pred")


_OPERATOR = {"and": "&", "or": "|", "xor": "^"}


def set_(op: Lane) -> None:
    """set: a comparison's result as a number."""
    source, kind = op.kind(), op.kind()
    comparison, flush, combine = op.one_of(*_COMPARISONS), op.flag("ftz"), op.one_of("and", "or", "xor")
    op.finish()
    truths = []
    for a, b in _operands(op, source, flush, 1):
        truth = _compared(op, comparison, source, a, b)
        if combine:
            truth = f"((-(uint32_t)({truth})) {_OPERATOR[combine]} {op.s(3, 'pred')})"
        truths.append(truth)
    if len(truths) == 2:
        one = {"f16x2": "0x3c00u", "bf16x2": "0x3f80u"}.get(kind, "0xffffu")
        op.d(f"({truths[0]} ? {one} : 0u) | ({truths[1]} ? {one} : 0u) << 16", "b32")
        return
    if kind == "f32":
        op.d(f"{truths[0]} ? 1.0f : 0.0f", "f32")
    elif kind in ("f16", "bf16"):
        op.d(f"{truths[0]} ? {'0x3c00u' if kind == 'f16' else '0x3f80u'} : 0u", "b16")
    else:
        op.d(f"{truths[0]} ? ~0u : 0u", "b16" if WIDTHS[kind] == 16 else "b32")


def _raw(kind: str) -> str:
    return kind if kind == "pred" else f"b{WIDTHS[kind]}"


def selp(op: Lane) -> None:
    """selp: by a predicate."""
    kind = op.kind()
    op.finish()
    bits = _raw(kind)
    a, b = (op.of(o if o.kind != "int" or not is_float(kind) else Operand("int", value=o.value), bits)
            for o in op.operands[1:3])  # fmt: skip
    op.d(f"{op.s(3, 'pred')} ? {a} : {b}", bits)


def slct(op: Lane) -> None:
    """slct: by a sign."""
    by, kind = op.kind(), op.kind()
    flush = op.flag("ftz")
    op.finish()
    bits = _raw(kind)
    selector = op.s(3, by)
    op.d(f"{f'ftz({selector})' if flush else selector} >= 0 ? {op.s(1, bits)} : {op.s(2, bits)}", bits)
