"""An instruction of inline PTX means the same however it is spaced: PTX is free of layout."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from porter.engine.file import port
from porter.source import SourceFile
from porter.warp.ptx.order import in_order
from porter.warp.ptx.template import instructions
from tests.ptx.cases_convert import convert_cases
from tests.ptx.cases_float import float_cases
from tests.ptx.cases_integer import integer_cases
from tests.ptx.cases_other import other_cases
from tests.ptx.cases_packed import both_devices, port_only
from tests.warp import execution
from tests.warp.ptx_forms import STATEMENTS

CASES = (*integer_cases(), *float_cases(), *convert_cases(), *other_cases(), *both_devices(), *port_only())
WRITTEN = re.findall(r'asm(?: volatile)?\("([^"]*)"', " ".join(text for text, _ in STATEMENTS.values()))
TEXTS = (*(case.text for case in CASES), *WRITTEN)
MMA = (
    '  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32{}"\n    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, '
    '{%8, %9}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])\n    : "r"(a[0]), "r"(a[1]), '
    '"r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));\n'
)
LOAD = '  asm volatile("ld.global.v2.u32{}{{%0,%1}},[%2];" : "=r"(a[0]), "=r"(a[1]) : "l"(p));\n'


def tight(text: str) -> str:
    """Nothing between words that need nothing."""
    return re.sub(r"\s*([,;])\s*", r"\1", re.sub(r"\s+(?=\{|\[|%[\d\[])", "", text))


def wide(text: str) -> str:
    """Tabs and ends of lines."""
    return "\t" + re.sub(r"(?<=[\s,])(?=[%\[{])", "\n\t", text).replace(",", " ,\t").replace(";", " ;\n\n")


def commented(text: str) -> str:
    """A comment behind each first blank."""
    return re.sub(r"(?<=[a-z\d]) (?=[%\[{])", " /* it, is; so */ ", text) + " // }"


@pytest.mark.parametrize("respelt", [tight, wide, commented])
def test_instructions_are_read_the_same(respelt: Callable[[str], str]) -> None:
    assert len(WRITTEN) > 50
    for text in TEXTS:
        assert _plain(respelt(text)) == _plain(text), text


def _plain(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(i.guard, i.opcode, tuple("".join(o.split()) for o in i.operands)) for i in instructions(text)]


@pytest.mark.parametrize("statement", [MMA, LOAD], ids=["mma", "ld"])
@pytest.mark.parametrize("between", ["", " ", "\\n\\t", "/* so */"], ids=["nothing", "blank", "line", "comment"])
def test_what_follows_an_opcode_at_once(statement: str, between: str) -> None:
    """Kernels for AWQ write the opcode and the operands as two strings with no blank between them."""
    head = "__device__ void f(float* d, unsigned* a, unsigned* b, unsigned* p) {\n"
    body = statement.replace("{}", between, 1).replace("{{", "{").replace("}}", "}")
    done = port(SourceFile("a.cu", f"{head}{body}}}\n".encode()), execution.context("preserve"), "a.cu")
    assert [f.code for f in done.findings if f.code.startswith("P")] == ["P101"]
    assert b"asm" not in done.data


@pytest.mark.parametrize(
    ("types", "is_known"), [("s32.s8.s8.s32", True), ("s32.u4.s4.s32", True), ("f32.f16.f16.f32", False)]
)
def test_a_product_that_saturates_says_so_before_or_behind_its_types(types: str, is_known: bool) -> None:
    """`ptxas` takes `.satfinite` at both places, of whole numbers."""
    size, registers = ("m16n8k32", "r") if is_known else ("m16n8k16", "f")
    a, b = ("%4, %5, %6, %7", "%8, %9") if types != "s32.u4.s4.s32" else ("%4, %5", "%6")
    outputs = ", ".join(f'"+{registers}"(d[{place}])' for place in range(4))
    inputs = ", ".join(f'"r"(a[{place}])' for place in range(a.count("%") + b.count("%")))
    texts = set()
    for opcode in (f"row.col.satfinite.{types}", f"row.col.{types}.satfinite"):
        product = f"mma.sync.aligned.{size}.{opcode} {{%0, %1, %2, %3}}, {{{a}}}, {{{b}}}, {{%0, %1, %2, %3}};"
        kind = "int" if is_known else "float"
        text = f'__device__ void f({kind} *d, unsigned *a) {{ asm("{product}" : {outputs} : {inputs}); }}\n'
        done = port(SourceFile("a.cu", text.encode()), execution.context("preserve"), "a.cu")
        assert [f.code for f in done.findings if f.code.startswith("P")] == ["P101" if is_known else "P102"]
        texts.add(done.data)
    assert len(texts) == (1 if is_known else 2)


@pytest.mark.parametrize(
    ("opcode", "other"),
    [
        ("add.ftz.f32", "add.f32.ftz"),
        ("fma.rn.f32", "fma.f32.rn"),
        ("add.rn.ftz.sat.f32", "add.sat.f32.ftz.rn"),
        ("lg2.approx.ftz.f32", "lg2.approx.f32.ftz"),
        ("cvt.rn.ftz.f32.f64", "cvt.rn.f32.f64.ftz"),
        ("shfl.sync.bfly.b32", "shfl.bfly.sync.b32"),
        ("vote.sync.ballot.b32", "vote.sync.b32.ballot"),
        ("fence.acq_rel.gpu", "fence.gpu.acq_rel"),
        ("mad.lo.cc.u32", "mad.cc.u32.lo"),
        ("atom.global.add.u32", "atom.u32.add.global"),
    ],
)
def test_modifiers_in_another_order(opcode: str, other: str) -> None:
    """`ptxas` minds the order of types alone."""
    assert in_order(other) == in_order(opcode) == opcode


@pytest.mark.parametrize(
    "opcode",
    [
        "cvt.rn.f64.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
        "vset.s32.u32.lt.unheard",
        "bar",
    ],
)
def test_an_order_that_means_something(opcode: str) -> None:
    assert in_order(opcode) == opcode


def test_every_instruction_that_has_a_test_is_in_the_manual_s_order() -> None:
    opcodes = {i.opcode for text in TEXTS for i in instructions(text)}
    assert len(opcodes) > 400
    assert [opcode for opcode in opcodes if in_order(opcode) != opcode] == []
