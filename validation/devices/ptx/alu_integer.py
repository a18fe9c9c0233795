"""Integer, logic and bit-field instructions (PTX ISA 9.7.1, 9.7.2, 9.7.8)."""

from __future__ import annotations

from porter.validation.devices.ptx.effects import CARRY
from porter.validation.devices.ptx.lane import Lane
from porter.validation.devices.ptx.model import WIDTHS, Operand

_CARRY = Operand("reg", CARRY)


def _wide(kind: str) -> str:
    return kind[0] + str(2 * WIDTHS[kind])


def _c(kind: str) -> str:
    width = max(WIDTHS[kind], 32)
    return f"int{width}_t" if kind.startswith("s") else f"uint{width}_t"


def _unsigned(kind: str) -> str:
    return f"u{WIDTHS[kind]}"


def add_sub(op: Lane, sign: str) -> None:
    """add, sub, addc, subc; .cc and .sat."""
    with_carry = op.instruction.base in ("addc", "subc")
    saturate, keep = op.flag("sat"), op.flag("cc")
    kind = op.kind()
    op.finish()
    if kind.endswith("x2"):
        a, b = op.s(1, "b32"), op.s(2, "b32")
        op.d(f"((({a}) {sign} ({b})) & 0xffffu) | (((({a}) >> 16) {sign} (({b}) >> 16)) << 16)", "b32")
        return
    if saturate:
        if kind != "s32":
            raise op.fail("modifier .sat")
        op.d(f"sat_s32((int64_t){op.s(1, kind)} {sign} (int64_t){op.s(2, kind)})", kind)
        return
    plain = _unsigned(kind)
    a, b = op.name(_c(plain), op.s(1, plain)), op.name(_c(plain), op.s(2, plain))
    carry = op.name("uint32_t", f"{op.of(_CARRY, 'pred')} & 1u") if with_carry else ""
    if keep:  # CC holds the carry out; of a subtraction, the borrow
        if sign == "+":
            total = op.name(_c(plain), f"{a} + {b}")
            over = f"({total} < {a})"
            if carry:
                over = f"({over} | (({_c(plain)})({total} + {carry}) < {total}))"
        else:
            over = f"({a} < {b})" if not carry else f"(({a} < {b}) | (({a} == {b}) & {carry}))"
        kept = op.name("uint32_t", f"(uint32_t){over}")
        op.put(_CARRY, kept, "pred")
    op.d(f"{a} {sign} {b}" + (f" {sign} {carry}" if carry else ""), plain)


def multiply(op: Lane) -> None:
    """mul, mad, madc with .lo, .hi, .wide."""
    adds = op.instruction.base != "mul"
    with_carry = op.instruction.base == "madc"
    part = op.one_of("lo", "hi", "wide")
    saturate, keep = op.flag("sat"), op.flag("cc")
    kind = op.kind()
    op.finish()
    width = WIDTHS[kind]
    if part == "wide":
        wide = _wide(kind)
        product = f"(({_c(wide)})({op.s(1, kind)}) * ({_c(wide)})({op.s(2, kind)}))"
        if width == 16:
            product = f"(({_c(kind)})({op.s(1, kind)}) * ({_c(kind)})({op.s(2, kind)}))"
        op.d(f"(uint{2 * width}_t){product}" + (f" + {op.s(3, _unsigned(wide))}" if adds else ""), wide)
        return
    if part == "lo":
        plain = _unsigned(kind)
        product = f"({_c(plain)})({op.s(1, plain)} * {op.s(2, plain)})"
    else:
        product = _high(op, kind)
    if not adds:
        op.d(product, kind)
        return
    if saturate:
        op.d(f"sat_s32((int64_t)(int32_t)({product}) + {op.s(3, 's32')})", "s32")
        return
    plain = _unsigned(kind)
    a, b = op.name(_c(plain), f"({_c(plain)})({product})"), op.name(_c(plain), op.s(3, plain))
    carry = op.name("uint32_t", f"{op.of(_CARRY, 'pred')} & 1u") if with_carry else ""
    if keep:
        total = op.name(_c(plain), f"{a} + {b}")
        over = f"({total} < {a})" + (f" | (({_c(plain)})({total} + {carry}) < {total})" if carry else "")
        op.put(_CARRY, op.name("uint32_t", f"(uint32_t)({over})"), "pred")
    op.d(f"{a} + {b}" + (f" + {carry}" if carry else ""), plain)


def _high(op: Lane, kind: str) -> str:
    a, b, width = op.s(1, kind), op.s(2, kind), WIDTHS[kind]
    if width == 64:
        return f"{'smulhi64' if kind == 's64' else 'umulhi64'}({a}, {b})"
    if width == 16:
        return f"(({_c(kind)})({a}) * ({_c(kind)})({b})) >> 16"
    wide = "int64_t" if kind == "s32" else "uint64_t"
    return f"(({wide}){a} * ({wide}){b}) >> 32"


def multiply24(op: Lane) -> None:
    """mul24, mad24."""
    part = op.one_of("lo", "hi")
    saturate = op.flag("sat")
    kind = op.kind()
    op.finish()
    shift = "(int32_t)({} << 8) >> 8" if kind == "s32" else "{} & 0xffffffu"
    c_type = "int64_t" if kind == "s32" else "uint64_t"
    a, b = (f"({c_type})({shift.format(op.s(k, 'u32'))})" for k in (1, 2))
    product = f"(({a} * {b}) >> {16 if part == 'hi' else 0})"
    if op.instruction.base == "mad24":
        if saturate:
            op.d(f"sat_s32((int64_t)(int32_t){product} + {op.s(3, 's32')})", "s32")
            return
        product = f"(uint32_t){product} + {op.s(3, 'u32')}"
    op.d(product, "u32")


def divide(op: Lane) -> None:
    """div and rem of integers."""
    kind = op.kind()
    op.finish()
    wide = kind if WIDTHS[kind] >= 32 else f"{kind[0]}32"
    op.d(f"{op.instruction.base}_{wide}({op.s(1, kind)}, {op.s(2, kind)})", kind)


def min_max(op: Lane, relation: str) -> None:
    """min and max of integers."""
    relu = op.flag("relu")
    kind = op.kind()
    op.finish()
    if kind.endswith("x2"):
        half = kind[0] + "16"
        c = "(int16_t)" if half == "s16" else "(uint16_t)"
        a, b = op.name("uint32_t", op.s(1, "b32")), op.name("uint32_t", op.s(2, "b32"))
        parts = []
        for shift in (0, 16):
            x, y = op.name("int32_t", f"{c}({a} >> {shift})"), op.name("int32_t", f"{c}({b} >> {shift})")
            r = op.name("int32_t", f"{x} {relation} {y} ? {x} : {y}")
            parts.append(f"({r} < 0 ? 0 : {r})" if relu else r)
        op.d(f"((uint32_t){parts[0]} & 0xffffu) | (uint32_t){parts[1]} << 16", "b32")
        return
    a, b = op.name(_c(kind), op.s(1, kind)), op.name(_c(kind), op.s(2, kind))
    r = op.name(_c(kind), f"{a} {relation} {b} ? {a} : {b}")
    op.d(f"({r} < 0 ? 0 : {r})" if relu else r, kind)


def logic(op: Lane) -> None:
    """and, or, xor, not, cnot."""
    kind = op.kind()
    op.finish()
    base = op.instruction.base
    a = op.s(1, kind)
    if base == "not":
        op.d(f"~{a}", kind)
    elif base == "cnot":
        op.d(f"{a} == 0", kind)
    else:
        op.d(f"{a} {'&' if base == 'and' else '|' if base == 'or' else '^'} {op.s(2, kind)}", kind)


def lop3(op: Lane) -> None:
    """lop3.b32, a truth table of three inputs."""
    if op.one_of("or", "and"):
        raise op.fail("predicate result")
    kind = op.kind()
    op.finish()
    table = op.operands[4].value & 255
    a, b, c = (op.name("uint32_t", op.s(k, kind)) for k in (1, 2, 3))
    terms = [
        f"({'' if i & 4 else '~'}{a} & {'' if i & 2 else '~'}{b} & {'' if i & 1 else '~'}{c})"
        for i in range(8)
        if table >> i & 1
    ]
    op.d(" | ".join(terms) or "0u", kind)


def shift(op: Lane) -> None:
    """shl and shr: amounts beyond the width clear, or leave the sign."""
    kind = op.kind()
    op.finish()
    width, amount = (
        WIDTHS[kind],
        op.s(2, "u32") if op.operands[2].kind != "int" else f"{op.operands[2].value & 0xFFFFFFFF}u",
    )
    signed = op.instruction.base == "shr" and kind.startswith("s")
    name = "sar" if signed else op.instruction.base
    if op.operands[2].kind == "int":
        distance = min(op.operands[2].value & 0xFFFFFFFF, width)
        operator = "<<" if name == "shl" else ">>"
        if distance < width:
            op.d(
                f"{op.s(1, kind if signed else _unsigned(kind))} {operator} {distance}",
                kind if signed else _unsigned(kind),
            )
        else:
            op.d(f"{op.s(1, kind)} >> {width - 1}" if signed else "0u", kind)
        return
    plain = kind if signed else _unsigned(kind)
    op.d(f"{name}{64 if width == 64 else 32}({op.s(1, plain)}, {amount})", plain)


def funnel(op: Lane) -> None:
    """shf.l and shf.r."""
    left = op.one_of("l", "r") == "l"
    clamp = op.one_of("wrap", "clamp") == "clamp"
    kind = op.kind()
    op.finish()
    n = op.name("uint32_t", op.s(3, "u32"))
    amount = f"({n} > 32 ? 32 : {n})" if clamp else f"({n} & 31)"
    op.d(f"{'fshl' if left else 'fshr'}({op.s(1, kind)}, {op.s(2, kind)}, {amount})", kind)


def bits(op: Lane) -> None:
    """popc, clz, brev, bfind."""
    base = op.instruction.base
    amount = op.flag("shiftamt")
    kind = op.kind()
    op.finish()
    width = WIDTHS[kind]
    if base == "brev":
        op.d(f"bitrev{width}({op.s(1, kind)})", kind)
    elif base == "popc":
        op.d(f"(uint32_t)__builtin_popcount{'ll' if width == 64 else ''}({op.s(1, kind)})", "u32")
    elif base == "clz":
        op.d(f"clz{width}({op.s(1, kind)})", "u32")
    else:
        a = op.name(_c(kind), op.s(1, kind))
        positive = f"({a} < 0 ? ~{a} : {a})" if kind.startswith("s") else a
        found = op.name("uint32_t", f"bfind{width}((uint{width}_t){positive})")
        op.d(f"{found} == 0xffffffffu ? {found} : {width - 1} - {found}" if amount else found, "u32")


def find_nth_set(op: Lane) -> None:
    """fns."""
    op.kind()
    op.finish()
    op.d(f"nth_set({op.s(1, 'u32')}, {op.s(2, 'u32')}, (int32_t){op.s(3, 'u32')})", "u32")


def field(op: Lane) -> None:
    """bfe, bfi, bmsk, szext."""
    base = op.instruction.base
    mode = op.one_of("clamp", "wrap")
    kind = op.kind()
    op.finish()
    width = WIDTHS[kind]
    if base == "bfe" and kind.startswith("s"):
        op.d(f"bfe_s((uint64_t)(int64_t){op.s(1, kind)}, {op.s(2, 'u32')}, {op.s(3, 'u32')}, {width})", _unsigned(kind))
    elif base == "bfe":
        op.d(f"bfe_u({op.s(1, kind)}, {op.s(2, 'u32')}, {op.s(3, 'u32')})", kind)
    elif base == "bfi":
        op.d(f"bfi({op.s(1, kind)}, {op.s(2, kind)}, {op.s(3, 'u32')}, {op.s(4, 'u32')}, {width})", kind)
    elif base == "bmsk":
        op.d(f"bmsk({op.s(1, 'u32')}, {op.s(2, 'u32')}, {int(mode == 'clamp')})", kind)
    else:
        n = op.name("uint32_t", op.s(2, "u32") + (" & 31" if mode == "wrap" else ""))
        a = op.name("uint32_t", op.s(1, "u32"))
        low = f"(uint32_t)(((uint64_t){a} << (64 - {n})) >> (64 - {n}))"
        if kind == "s32":
            low = f"(uint32_t)(int32_t)((int64_t)((uint64_t){a} << (64 - {n})) >> (64 - {n}))"
        op.d(f"{n} == 0 ? 0 : {n} > 31 ? {a} : {low}", "u32")


def absolute(op: Lane) -> None:
    """abs and neg of integers."""
    kind = op.kind()
    op.finish()
    plain = _unsigned(kind)
    a = op.name(_c(plain), op.s(1, plain))
    if op.instruction.base == "neg":
        op.d(f"0 - {a}", plain)
        return
    value = op.name(_c(kind), op.s(1, kind))
    op.d(f"{value} < 0 ? 0 - {a} : {a}", plain)


def sad(op: Lane) -> None:
    """sum of absolute differences."""
    kind = op.kind()
    op.finish()
    plain = _unsigned(kind)
    a, b = op.name(_c(kind), op.s(1, kind)), op.name(_c(kind), op.s(2, kind))
    ua, ub = f"({_c(plain)}){a}", f"({_c(plain)}){b}"
    op.d(f"({a} < {b} ? {ub} - {ua} : {ua} - {ub}) + {op.s(3, plain)}", plain)


_PERMUTE = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")


def permute(op: Lane) -> None:
    """prmt."""
    mode = op.one_of(*_PERMUTE)
    kind = op.kind()
    if not mode:
        mode = op.one_of(*_PERMUTE)  # the mode comes after the type
    op.finish()
    a, b, c = op.s(1, kind), op.s(2, kind), op.s(3, kind)
    if mode:
        op.d(f"prmt_mode({a}, {b}, {c}, {_PERMUTE.index(mode)})", kind)
    elif op.operands[3].kind == "int":
        op.d(_permuted(op.name("uint32_t", a), op.name("uint32_t", b), op.operands[3].value), kind)
    else:
        op.d(f"prmt({a}, {b}, {c})", kind)


def _permuted(a: str, b: str, selector: int) -> str:
    parts = []
    for i in range(4):
        s = selector >> 4 * i & 15
        byte = f"({a if s & 7 < 4 else b} >> {8 * (s & 3)} & 255u)"
        if s & 8:
            byte = f"({byte} & 128u ? 255u : 0u)"
        parts.append(f"{byte} << {8 * i}")
    return " | ".join(parts)


def dot(op: Lane) -> None:
    """dp4a and dp2a."""
    half = op.one_of("lo", "hi")
    b_kind, a_kind = op.kind(), op.kind()
    op.finish()
    signs = f"{int(a_kind[0] == 's')}, {int(b_kind[0] == 's')}"
    a, b, c = op.s(1, "b32"), op.s(2, "b32"), op.s(3, "u32")
    if op.instruction.base == "dp4a":
        op.d(f"dp4a({a}, {b}, {c}, {signs})", "u32")
    else:
        op.d(f"dp2a({a}, {b}, {c}, {signs}, {int(half == 'hi')})", "u32")


def packed_difference(op: Lane) -> None:
    """vabsdiff2 and vabsdiff4: absolute differences of the parts of a word, apart or added to a third operand.

    Without a mask of parts nothing of the third operand is left where they stay apart.
    """
    adds = op.flag("add")
    b_kind, a_kind, kind = op.kind(), op.kind(), op.kind()
    op.finish()
    width = 8 if op.instruction.base.endswith("4") else 16
    a, b = op.name("uint32_t", op.s(1, "b32")), op.name("uint32_t", op.s(2, "b32"))
    parts = []
    for shift in range(0, 32, width):
        x, y = (
            op.name("int32_t", f"({'int' if k[0] == 's' else 'uint'}{width}_t)({v} >> {shift})")
            for v, k in ((a, a_kind), (b, b_kind))
        )
        parts.append(op.name("uint32_t", f"(uint32_t)({x} < {y} ? {y} - {x} : {x} - {y})"))
    if adds:
        op.d(" + ".join([*parts, op.s(3, "u32")]), "u32")
        return
    if kind != "u32":
        raise op.fail("form of packed difference")
    op.d(" | ".join(f"{part} << {width * i}" for i, part in enumerate(parts)), "u32")
