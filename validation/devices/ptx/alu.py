"""Which function translates which lane-wise instruction."""

from __future__ import annotations

from collections.abc import Callable

from porter.validation.devices.ptx import alu_compare, alu_convert, alu_float, alu_integer, alu_move
from porter.validation.devices.ptx.alu_float import is_float
from porter.validation.devices.ptx.lane import Lane

Rule = Callable[[Lane], None]


def _either(for_integers: Rule, for_floats: Rule) -> Rule:
    def choose(op: Lane) -> None:
        (for_floats if is_float(op.last_type()) else for_integers)(op)

    return choose


RULES: dict[str, Rule] = {
    "add": _either(lambda op: alu_integer.add_sub(op, "+"), alu_float.arithmetic),
    "sub": _either(lambda op: alu_integer.add_sub(op, "-"), alu_float.arithmetic),
    "addc": lambda op: alu_integer.add_sub(op, "+"),
    "subc": lambda op: alu_integer.add_sub(op, "-"),
    "mul": _either(alu_integer.multiply, alu_float.arithmetic),
    "mad": _either(alu_integer.multiply, alu_float.arithmetic),
    "madc": alu_integer.multiply,
    "fma": alu_float.arithmetic,
    "mul24": alu_integer.multiply24,
    "mad24": alu_integer.multiply24,
    "div": _either(alu_integer.divide, alu_float.divide),
    "rem": alu_integer.divide,
    "min": _either(lambda op: alu_integer.min_max(op, "<"), alu_float.min_max),
    "max": _either(lambda op: alu_integer.min_max(op, ">"), alu_float.min_max),
    "neg": _either(alu_integer.absolute, alu_float.negate),
    "abs": _either(alu_integer.absolute, alu_float.negate),
    "sad": alu_integer.sad,
    "and": alu_integer.logic,
    "or": alu_integer.logic,
    "xor": alu_integer.logic,
    "not": alu_integer.logic,
    "cnot": alu_integer.logic,
    "lop3": alu_integer.lop3,
    "shl": alu_integer.shift,
    "shr": alu_integer.shift,
    "shf": alu_integer.funnel,
    "popc": alu_integer.bits,
    "clz": alu_integer.bits,
    "brev": alu_integer.bits,
    "bfind": alu_integer.bits,
    "fns": alu_integer.find_nth_set,
    "bfe": alu_integer.field,
    "bfi": alu_integer.field,
    "bmsk": alu_integer.field,
    "szext": alu_integer.field,
    "prmt": alu_integer.permute,
    "dp4a": alu_integer.dot,
    "dp2a": alu_integer.dot,
    "vabsdiff2": alu_integer.packed_difference,
    "vabsdiff4": alu_integer.packed_difference,
    "sqrt": alu_float.divide,
    "rcp": _either(alu_float.divide, alu_float.divide),
    "rsqrt": alu_float.approximate,
    "sin": alu_float.approximate,
    "cos": alu_float.approximate,
    "lg2": alu_float.approximate,
    "ex2": alu_float.approximate,
    "tanh": alu_float.approximate,
    "copysign": alu_float.copysign,
    "testp": alu_float.testp,
    "setp": alu_compare.setp,
    "set": alu_compare.set_,
    "selp": alu_compare.selp,
    "slct": alu_compare.slct,
    "cvt": alu_convert.convert,
    "mov": alu_move.move,
    "createpolicy": alu_move.cache_policy,
    "cvta": alu_move.convert_address,
    "isspacep": alu_move.is_space,
}
"""By the opcode up to its first dot."""
