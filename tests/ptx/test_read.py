"""The reader: forms that compilers write, refusals with a line, and properties over generated text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from porter.validation.devices.ptx.lex import number, tokens
from porter.validation.devices.ptx.model import Instruction, Label, Operand, Place, Program, Unreadable, show
from porter.validation.devices.ptx.read import read

HEAD = ".version 8.5\n.target sm_80\n.address_size 64\n"


def instructions(text: str) -> list[Instruction]:
    program = read(f"{HEAD}.visible .entry k() {{\n{text}\n}}")
    return [item for item in program.functions["k"].items if isinstance(item, Instruction)]


def test_variables_and_initialisers() -> None:
    program = read(
        HEAD + ".global .align 4 .b8 text[6] = {104, 105, 10};\n.const .f32 f[2] = {0f3F800000, 2};\n"
        ".global .u64 p[2] = {generic(text)+4, f};\n.extern .shared .align 16 .b8 dynamic[];\n"
        ".visible .global .align 8 .u32 grid[2][3] = {{1, 2, 3}, {4, 5, 6}};\n.global .s16 n = -2;\n.global .u32 x, y;"
    )
    v = program.variables
    assert v["text"].content == b"hi\n\0\0\0"
    assert v["f"].content == bytes.fromhex("0000803f00000040")
    assert [(r.offset, r.symbol, r.addend, r.generic) for r in v["p"].relocations] == [
        (0, "text", 4, True),
        (8, "f", 0, False),
    ]
    assert (v["dynamic"].size, v["dynamic"].align, v["dynamic"].external) == (0, 16, True)
    assert v["grid"].content[16:20] == b"\5\0\0\0"
    assert v["n"].content == b"\xfe\xff"
    assert {"x", "y"} <= set(v)


def test_functions_parameters_and_directives() -> None:
    program = read(
        HEAD + ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
        ".func (.param .align 8 .b8 r[16]) f(.param .align 8 .b8 s[24], .param .b32 n) .noreturn { ret; }\n"
        ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .f32 x)\n.maxntid 128, 1, 1\n.minnctapersm 2\n"
        "{ ret; }\n.section .debug_str { info: .b8 1, 2 }\n.alias g, f;"
    )
    assert not program.functions["vprintf"].has_body
    assert [(p.name, p.align, p.size) for p in program.functions["f"].parameters] == [("s", 8, 24), ("n", 4, 4)]
    assert program.kernels["k"].directives["maxntid"] == (128, 1, 1)
    assert [p.size for p in program.kernels["k"].parameters] == [8, 4]
    assert program.aliases == {"g": "f"}


def test_operands() -> None:
    code = instructions(
        ".reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred p, q; .reg .f32 f;\n"
        "@!p ld.global.nc.L2::128B.v2.u32 {%r1, _}, [%rd1+-8];\nsetp.lt.and.s32 p|q, %r1, -5, !q;\n"
        "mov.b64 {%r1, %r2}, %rd1;\nmov.f32 f, 0fBF800000;\ntex.2d.v4.f32.s32 {f, f, f, f}, [%rd1, {%r1, %r2}];\n"
        "mov.u32 %r1, %tid.x;\nmov.u64 %rd1, name+12;\nshl.b32 %r1, %r2, 0x1F;"
    )
    load, compare, unpack, constant, texture, special, symbol, shift = code
    assert load.guard is not None
    assert load.guard.negate
    assert load.modifiers == ("global", "nc", "L2::128B", "v2", "u32")
    assert load.operands[0].parts[1].kind == "sink"
    assert (load.operands[1].parts[0].text, load.operands[1].value) == ("%rd1", -8)
    assert [part.text for part in compare.operands[0].parts] == ["p", "q"]
    assert (compare.operands[2].value, compare.operands[3].negate) == (-5, True)
    assert unpack.operands[0].kind == "vector"
    assert (constant.operands[1].kind, constant.operands[1].value) == ("f32", 0xBF800000)
    assert len(texture.operands[1].parts[1].parts) == 2
    assert special.operands[1] == Operand("sreg", "%tid.x")
    assert (symbol.operands[1].text, symbol.operands[1].value) == ("name", 12)
    assert shift.operands[2].value == 31


def test_scopes_keep_equal_names_apart() -> None:
    code = instructions(
        ".reg .b32 x; mov.b32 x, 1;\n{.reg.b16 x; mov.b16 x, 2; L: bra L; }\n{ .reg .b64 x; mov.b64 x, 3; L: bra L; }\n"
        "mov.b32 x, 4;"
    )
    names = [i.operands[0].text for i in code if i.base == "mov"]
    assert names[0] == names[3]
    assert len(set(names)) == 3
    assert len({i.operands[0].text for i in code if i.base == "bra"}) == 2


def test_calls() -> None:
    program = read(
        HEAD
        + ".func f() { ret; }\n.visible .entry k() { .reg .b64 %rd<2>; {\n.param .b32 param0; .param .b32 retval0;\n"
        "proto : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
        "call (retval0), %rd1, (param0), proto; }\ncall.uni f;\nts: .branchtargets A, B;\nA: B: ret; }"
    )
    function = program.functions["k"]
    call, plain, _ = (i for i in function.items if isinstance(i, Instruction))
    assert [o.kind for o in call.operands] == ["list", "reg", "list", "symbol"]
    returns, parameters = function.prototypes[call.operands[3].text]
    assert (len(returns), [p.size for p in parameters]) == (1, [4, 16])
    assert plain.operands[0].text == "f"
    assert function.targets["ts"] == ("A", "B")
    assert [i.name for i in function.items if isinstance(i, Label)] == ["A", "B"]


def test_source_lines_with_what_was_inlined() -> None:
    program = read(
        HEAD + ".visible .entry k() {\n.loc 1 10 3\nmembar.gl;\n"
        ".loc 2 20 5, function_name $L__info_string0, inlined_at 1 10 3\n"
        "membar.gl;\n.loc 3 30 1, function_name $L__info_string1+7, inlined_at 2 20 5\nmembar.gl; ret;\n}\n"
        '.file 1 "/a/user.cu"\n.file 2 "/a/helper.cuh", 12, 34\n.file 3 "/usr/include/x.h"'
    )
    chains = [i.chain for i in program.functions["k"].items if isinstance(i, Instruction)]
    assert chains[2] == (Place(3, 30), Place(2, 20), Place(1, 10))
    assert program.files[2] == "/a/helper.cuh"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        (HEAD + ".visible .entry k() {\n mov.u32 %r1, 1\n}", 6),
        (HEAD + ".visible .entry k() { ret;", 4),
        (HEAD + ".global .q32 x;", 4),
        (HEAD + "\n\n`", 6),
        (HEAD + ".visible .entry k() {\n.reg .b32 p;\n@p ret; }", 6),
        (HEAD + ".global .u64 x = mask(0xff, 3);", 4),
    ],
)
def test_what_is_no_ptx_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Unreadable) as refusal:
        read(text)
    assert refusal.value.line == line


@given(st.integers(0, 2**64 - 1))
def test_numbers(value: int) -> None:
    assert number(str(value)) == ("int", value) or str(value).startswith("0")
    assert number(hex(value)) == ("int", value)
    assert number(f"0d{value:016x}") == ("f64", value)
    assert number(f"0F{value & 0xFFFFFFFF:08X}") == ("f32", value & 0xFFFFFFFF)


_NAMES = st.sampled_from(["%r1", "%r2", "%r3"])
_SOURCES = _NAMES | st.integers(-(2**31), 2**32 - 1).map(str)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """One instruction as a compiler would write it."""
    guard = draw(st.sampled_from(["", "@p ", "@!p "]))
    form = draw(st.integers(0, 4))
    if form == 0:
        return f"{guard}add.s32 {draw(_NAMES)}, {draw(_NAMES)}, {draw(_SOURCES)}"
    if form == 1:
        return (
            f"{guard}ld.shared.v2.u32 {{{draw(_NAMES)}, {draw(_NAMES)}}}, [{draw(_NAMES)}+{draw(st.integers(-9, 9))}]"
        )
    if form == 2:
        return f"{guard}setp.ne.s32 p|q, {draw(_NAMES)}, {draw(_SOURCES)}"
    if form == 3:
        return f"{guard}st.global.u32 [{draw(_NAMES)}], {draw(_SOURCES)}"
    return f"{guard}shfl.sync.idx.b32 {draw(_NAMES)}|q, {draw(_NAMES)}, {draw(_SOURCES)}, 31, -1"


@settings(deadline=None)
@given(st.lists(lines(), max_size=12), st.sampled_from([" ", "\t", "\n", " // note; } {\n", "/* * ; */"]))
def test_written_out_again_it_reads_the_same(written: list[str], blank: str) -> None:
    registers = ".reg .b32 %r<4>; .reg .pred p, q;"
    code = instructions(registers + "".join(line.replace(" ", blank) + blank + ";" for line in written))
    again = instructions(registers + "".join(f"{i.text};\n" for i in code))
    assert [(i.opcode, i.operands, i.guard) for i in code] == [(i.opcode, i.operands, i.guard) for i in again]
    assert len(code) == len(written)


@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from(list("{}[]();:,@!%.abr019 \n\"'|+-=/*")), max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert isinstance(read(HEAD + ".visible .entry k() {" + text), Program)
    except Unreadable as refusal:
        assert refusal.line >= 1


def test_lines_are_counted_through_comments_and_strings() -> None:
    found = tokens('a /* \n\n */ b // c\n"d" e')
    assert [(t.text, t.line) for t in found[:-1]] == [("a", 1), ("b", 3), ('"d"', 4), ("e", 4)]


def test_show_hides_the_scope() -> None:
    assert show(Operand("reg", "x#3")) == "x"


BODIES = (
    HEAD + ".global .u32 grid[2][2] = {{1, 2}, {3, 4}};\n.global .u64 p[2] = { grid, grid };\n"
    ".extern .func (.param .b32 r) other(.param .b64 a);\n"
    ".func (.param .b32 r) f(.param .b32 n)\n{\n.reg .b32 %r<3>;\n// a brace } in a comment {\n"
    "/* and } in\n one of several lines */\n{ .reg .b32 %r<2>; mov.b32 %r1, 7; }\nst.param.b32 [r], %r1;\nret;\n}\n"
    '.visible .entry k(.param .u64 q)\n.maxntid 32, 1, 1\n{\n.reg .b64 %d<2>;\n.pragma "no{unroll";\n'
    ".loc 1 7 3\nld.param.u64 %d1, [q];\nmov.b64 {_, _}, %d1;\nL: bra L;\n}\n"
    '.section .debug_str { info: .b8 1, 2 }\n.global .u32 after = 5;\n.file 1 "a.cu"\n.alias g, f;',
    HEAD + ".visible .entry empty() {}\n.visible .entry k() { ret; }",
)


@pytest.mark.parametrize("text", BODIES)
def test_bodies_that_are_read_later_are_the_same(text: str) -> None:
    at_once, later = read(text), read(text, bodies_later=True)
    assert later.kernels.keys() == at_once.kernels.keys() and not later.kernels["k"].items
    assert later.variables == at_once.variables and later.files == at_once.files
    for function in later.functions.values():
        function.complete()
        function.complete()
    assert later == at_once


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("\nmov.b32 %r1\n\n}", "line 8"),
        ("\n\n\u20ac\n}", "line 7"),
        ("\nret;", "line 6"),
        (".reg .b32 %r<2>; ", "line 5"),
    ],
)
def test_a_body_that_is_no_ptx_is_told_with_its_line_when_it_is_read(body: str, reason: str) -> None:
    text = f"{HEAD}.visible .entry fine() {{ ret; }}\n.visible .entry k() {{{body}"
    with pytest.raises(Unreadable) as at_once:
        read(text)
    program = read(text, bodies_later=True)
    program.functions["fine"].complete()
    for _ in range(2):
        with pytest.raises(Unreadable) as later:
            program.functions["k"].complete()
        assert str(later.value) == str(at_once.value) and str(later.value).startswith(reason)
