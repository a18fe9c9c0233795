"""What becomes of each instruction of PTX up to sm_90 as inline assembly: python -m benchmarks.ptx_table [--write docs/ptx-instructions.md]"""

# ruff: noqa: E501
from __future__ import annotations

import argparse
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from porter.cpp.asm import Assembly, Operand
from porter.engine.support import load_support
from porter.model import Span
from porter.warp.ptx.foreign import advice
from porter.warp.ptx.table import translate
from porter.warp.ptx.template import Unknown, opcodes
from tests.ptx.cases_convert import convert_cases
from tests.ptx.cases_float import float_cases
from tests.ptx.cases_integer import integer_cases
from tests.ptx.cases_other import other_cases
from tests.ptx.cases_packed import both_devices, port_only
from tests.warp.ptx_forms import ATOMICS, ENDS, STATEMENTS

EXECUTED = frozenset(
    {*STATEMENTS, *ENDS, *re.findall(r"(?:mbarrier|fence)\.[\w.:]+", " ".join(text for text, _ in STATEMENTS.values()))}
)
"""The opcodes in the statements that the tests run."""

FORMS = """
add.f16x2 r,r,r|sub.bf16 h,h,h|mul.f16x2 r,r,r|fma.rn.f16x2 r,r,r,r|fma.rn.relu.f16x2 r,r,r,r|fma.rn.bf16x2 r,r,r,r|min.f16x2 r,r,r|max.NaN.f16x2 r,r,r
min.xorsign.abs.f16x2 r,r,r|neg.f16x2 r,r|abs.bf16x2 r,r|ex2.approx.f16x2 r,r|tanh.approx.f16 h,h|tanh.approx.bf16x2 r,r|set.eq.f16x2.f16x2 r,r,r
ex2.approx.f32 f,f|lg2.approx.f32 f,f|sin.approx.f32 f,f|cos.approx.f32 f,f|tanh.approx.f32 f,f|rcp.approx.ftz.f64 d,d|rsqrt.approx.f32 f,f|rsqrt.approx.ftz.f64 d,d|sqrt.approx.f32 f,f|div.full.f32 f,f,f|div.approx.f32 f,f,f|min.NaN.f32 f,f,f|max.xorsign.abs.f32 f,f,f
mov.u32 r,r|mov.b64 l,l|mov.b64 {r;r},l|mov.b32 r,{h;h}|mov.b64 l,{r;r}|mov.u32 r,%laneid|mov.u32 r,%warpid|mov.u32 r,%lanemask_lt|mov.u32 r,%smid|mov.u64 l,%clock64|mov.u64 l,%globaltimer|mov.u32 r,%nsmid|mov.u32 r,%dynamic_smem_size|mov.u32 r,%cluster_ctaid.x|mov.u32 r,%gridid
ld.global.u32 r,[l]|ld.global.nc.v4.f32 {f;f;f;f},[l]|ld.shared.u32 r,[r]|ld.volatile.global.u32 r,[l]|ld.relaxed.sys.u32 r,[l]|ld.acquire.gpu.global.u64 l,[l]|ld.global.cg.u32 r,[l]|ld.global.cv.u32 r,[l]|ld.mmio.relaxed.sys.global.u32 r,[l]|ld.global.L1::no_allocate.L2::256B.u32 r,[l]|ld.const.u32 r,[l]|ldu.global.u32 r,[l]|ld.shared::cluster.u32 r,[r]|ld.weak.global.b128 q,[l]
st.global.u32 [l],r|st.global.v2.f32 [l],{f;f}|st.shared.u32 [r],r|st.global.wt.u32 [l],r|st.global.cs.u32 [l],r|st.volatile.shared.u32 [r],r|st.release.gpu.global.u32 [l],r|st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [r],r,[r]
atom.global.add.u32 r,[l],r|atom.add.f32 f,[l],f|atom.add.f64 d,[l],d|atom.shared.min.s32 r,[r],r|atom.exch.b64 l,[l],l|atom.cas.b32 r,[l],r,r|atom.acquire.gpu.cas.b32 r,[l],r,r|atom.cas.b16 h,[l],h,h|atom.inc.u32 r,[l],r|atom.dec.u32 r,[l],r|atom.add.noftz.f16x2 r,[l],r|atom.add.noftz.f16 h,[l],h|atom.add.noftz.bf16 h,[l],h|atom.add.noftz.bf16x2 r,[l],r|atom.global.v2.f32.add {f;f},[l],{f;f}|atom.cas.b128 q,[l],q,q
red.global.add.u32 [l],r|red.release.gpu.global.add.u32 [l],r|red.add.noftz.f16x2 [l],r|red.add.noftz.f16 [l],h|red.add.noftz.bf16 [l],h|red.inc.u32 [l],r|red.global.add.v4.f32 [l],{f;f;f;f}|red.async.relaxed.cluster.global.add.u32 [l],r
prefetch.global.L2 [l]|prefetchu.L1 [l]|discard.global.L2 [l],128|applypriority.global.L2::evict_normal [l],128|createpolicy.fractional.L2::evict_last.b64 l,1.0|isspacep.shared p,l|cvta.to.shared.u64 l,l|cvta.global.u64 l,l|cvta.to.global.u64 l,l|cvta.shared.u64 l,l|mapa.shared::cluster.u32 r,r,r|getctarank.shared::cluster.u32 r,r
cp.async.ca.shared.global [r],[l],4|cp.async.cg.shared.global [r],[l],16,r|cp.async.commit_group|cp.async.wait_group 0|cp.async.wait_all|cp.async.mbarrier.arrive.shared.b64 [r]|cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r],[l],r,[r]|cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r],[l],[r]|cp.async.bulk.commit_group|cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [l],[r],r|tensormap.replace.tile.global_address.global.b1024.b64 [l],l
bar.sync 0|bar.sync 1|barrier.sync 0|bar.arrive 1,64|bar.red.popc.u32 r,0,p|bar.red.and.pred p,0,p|bar.red.or.pred p,0,p|bar.warp.sync r|barrier.cluster.arrive|barrier.cluster.wait|membar.gl|membar.cta|membar.sys|fence.acq_rel.gpu|fence.sc.sys|fence.proxy.async|fence.mbarrier_init.release.cluster
mbarrier.init.shared.b64 [r],r|mbarrier.arrive.shared.b64 l,[r]|mbarrier.test_wait.shared.b64 p,[r],l|mbarrier.try_wait.parity.shared.b64 p,[r],r|mbarrier.inval.shared.b64 [r]|mbarrier.expect_tx.relaxed.cta.shared.b64 [r],r|mbarrier.pending_count.b64 r,l
shfl.sync.idx.b32 r,r,r,0x1f,r|shfl.sync.down.b32 r|p,r,r,0x1f,r|shfl.up.b32 r,r,r,0|shfl.sync.bfly.b32 r,r,r,0x1f,r|vote.sync.ballot.b32 r,p,r|vote.sync.all.pred p,p,r|vote.ballot.b32 r,p|match.any.sync.b32 r,r,r|match.all.sync.b32 r|p,r,r|activemask.b32 r|redux.sync.add.s32 r,r,r|elect.sync _|p,r
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f;f;f;f},{r;r;r;r},{r;r},{f;f;f;f}|mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {d;d},{d},{d},{d;d}|mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {r;r;r;r},{r;r;r;r},{r;r},{r;r;r;r}|mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f;f;f;f},{r;r},{r;r},{f;f;f;f},r,0|ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r;r;r;r},[r]|stmatrix.sync.aligned.m8n8.x2.shared.b16 [r],{r;r}|movmatrix.sync.aligned.m8n8.trans.b16 r,r|wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {r;r;r;r;r;r;r;r},[r]|wgmma.fence.sync.aligned|wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f;f;f;f},l,l,1,1,1,0,0
vadd.s32.s32.s32 r,r,r|vset.s32.u32.lt r,r,r|vmad.u32.u32.u32 r,r,r,r|vadd4.s32.s32.s32 r,r,r,r|vabsdiff4.u32.u32.u32.add r,r,r,r|vavrg2.u32.u32.u32 r,r,r,r|vset4.u32.u32.lt r,r,r,r|dp4a.u32.s32 r,r,r,r|dp2a.lo.s32.u32 r,r,r,r|fns.b32 r,r,r,r|bmsk.clamp.b32 r,r,r|szext.wrap.s32 r,r,r|prmt.b32.f4e r,r,r,r
cvt.rn.f16x2.f32 r,f,f|cvt.rn.relu.bf16x2.f32 r,f,f|cvt.rna.tf32.f32 r,f|cvt.rn.satfinite.e4m3x2.f32 h,f,f|cvt.rn.f16x2.e5m2x2 r,h|cvt.pack.sat.u8.s32.b32 r,r,r,r|cvt.sat.u8.s32 r,r|cvt.rni.sat.s8.f32 r,f
stackrestore.u32 r|suq.width.b32 r,[l]|isspacep.global p,l|isspacep.local p,l|isspacep.const p,l|isspacep.param p,l|cvta.to.local.u64 l,l|cvta.local.u64 l,l|cvta.to.const.u64 l,l|cvta.param.u64 l,l|ld.local.u32 r,[l]|ld.param.u32 r,[l]|st.local.u32 [l],r|createpolicy.range.L2::evict_last.b64 l,[l],r,r|prefetch.global.L1 [l]|prefetch.global.L2::evict_last [l]
ld.global.cs.u32 r,[l]|ld.global.lu.u32 r,[l]|ld.relaxed.cta.global.u32 r,[l]|ld.relaxed.cluster.global.u32 r,[l]|ld.relaxed.gpu.global.u32 r,[l]|ld.acquire.cta.global.u32 r,[l]|ld.acquire.cluster.global.u32 r,[l]|ld.acquire.sys.global.u32 r,[l]|st.global.wb.u32 [l],r|st.relaxed.cta.global.u32 [l],r|st.relaxed.cluster.global.u32 [l],r|st.relaxed.gpu.global.u32 [l],r|st.relaxed.sys.global.u32 [l],r|st.release.cta.global.u32 [l],r|st.release.cluster.global.u32 [l],r|st.release.sys.global.u32 [l],r|st.mmio.relaxed.sys.global.u32 [l],r
fence.acq_rel.cta|fence.acq_rel.cluster|fence.acq_rel.sys|fence.sc.cta|bar.cta.sync 0|barrier.cta.sync 0|barrier.cta.red.popc.u32 r,0,p|barrier.red.and.pred p,0,p|bar.cta.red.or.pred p,0,p|barrier.arrive 1,64|griddepcontrol.launch_dependents|setmaxnreg.dec.sync.aligned.u32 40
vote.any.pred p,p|vote.all.pred p,p|vote.uni.pred p,p|vote.sync.any.pred p,p,r|vote.sync.uni.pred p,p,r|shfl.down.b32 r,r,r,0x1f|shfl.bfly.b32 r,r,r,0x1f|shfl.idx.b32 r,r,r,0x1f|shfl.sync.up.b32 r,r,r,0,r|match.any.sync.b64 r,l,r|match.all.sync.b64 r|p,l,r|redux.sync.min.u32 r,r,r|redux.sync.max.u32 r,r,r|redux.sync.min.s32 r,r,r|redux.sync.max.s32 r,r,r|redux.sync.and.b32 r,r,r|redux.sync.or.b32 r,r,r|redux.sync.xor.b32 r,r,r
addc.cc.u32 r,r,r|subc.u64 l,l,l|madc.hi.cc.u32 r,r,r,r|cp.async.bulk.wait_group 0|mbarrier.complete_tx.relaxed.cta.shared.b64 [r],r|fma.rn.oob.f16 h,h,h,h
trap|brkpt|exit|nanosleep.u32 r|pmevent 1|setmaxnreg.inc.sync.aligned.u32 64|griddepcontrol.wait|alloca.u32 r,r|stacksave.u32 r|tex.1d.v4.f32.s32 {f;f;f;f},[l]|tld4.r.2d.v4.f32.f32 {f;f;f;f},[l]|suld.b.1d.b32.trap r,[l]|sust.b.1d.b32.trap [l],r|sured.b.add.1d.u32.trap [l],r|txq.width.b32 r,[l]|istypep.texref p,l|bra L|call f|ret|brx.idx r,T|lop3.or.b32 r|p,r,r,r,0x80,p|multimem.ld_reduce.relaxed.gpu.global.add.u32 r,[l]
"""
_NOT_RUN = (
    (r"(?:mma|ldmatrix|stmatrix|movmatrix)\..*", "run as functions of porter/mma.hpp (tests/include/test_mma.py)"),
)
"""Why forms that are translated are not executed by the tests, by their opcode; else: another form of the instruction is."""
_LETTER = re.compile(r"(?<![\w%.:])([rlhfdqp])(?![\w.:])")


@dataclass(frozen=True)
class Form:
    """One opcode with its modifiers."""

    opcode: str
    becomes: str
    executed: bool
    problem: str


def forms() -> list[Form]:
    """Every form: those whose results the tests compare with the definition of the ISA, and one of each other kind."""
    cases = (*integer_cases(), *float_cases(), *convert_cases(), *other_cases(), *both_devices(), *port_only())
    found = [_case(case.text) for case in cases if ".ftz" not in case.text]
    compared = {form.opcode for form in found}
    atomics = (
        f"{name}.global.{operation}.{kind}{bits} {'' if name == 'red' else 'rl'[bits > 32] + ','}[l],{'rl'[bits > 32]}"
        for name, operation, kind, bits in ATOMICS
    )
    written = (
        text.strip() for line in FORMS.strip().splitlines() for text in re.split(r"\|(?=[a-z])(?!p\b|q\b)", line)
    )
    named = ((text, text.partition(" ")[0]) for text in dict.fromkeys((*written, *atomics)))
    return [*found, *(_form(text, opcode in EXECUTED) for text, opcode in named if opcode not in compared)]


def _case(text: str) -> Form:
    kinds = {"p": "p"}
    number = iter(range(20))
    places: dict[str, int] = {}
    outputs, inputs = [Operand("=r", "", "d")], []
    for name in sorted(set(re.findall(r"%([abcde])\b", text)) - {"d"}):
        places[name] = next(number) + 1
        inputs.append(Operand(_letter(text, name), "", name))
    del kinds
    template = re.sub(r"%([abcde])\b", lambda m: f"%{places.get(m[1], 0)}", text)
    if "%q" in template or text.startswith(("set.", "setp.")):
        template = f".reg .pred q0, q1; {template.replace('%q', 'q0')}"
    return _translated(template, tuple(outputs), tuple(inputs), True)


def _letter(text: str, name: str) -> str:
    return "l" if re.search(r"\.[busf]64", text) and name != "c" else "r"


def _form(text: str, executed: bool) -> Form:
    opcode, _, rest = text.partition(" ")
    operands: list[Operand] = []
    declared: list[str] = []

    def named(match: re.Match[str]) -> str:
        if match[1] == "p":
            declared.append(f"p{len(declared)}")
            return declared[-1]
        operands.append(Operand(match[1], "", f"x{len(operands)}"))
        return f"%{len(operands) - 1}"

    written = _LETTER.sub(named, rest).replace(";", ",")
    written = re.sub(r"\|q\b", "|q0", written)
    outputs = 0 if opcode.startswith(("st", "red.", "prefetch", "discard", "cp.", "bar.sync")) else 1
    first = re.match(r"\{([^}]*)\}", written)
    if first and outputs:
        outputs = first[1].count("%")
    given = tuple(
        Operand(("=" if n < outputs else "") + o.constraint, "", o.expression) for n, o in enumerate(operands)
    )
    registers = "".join(f".reg .pred {name}; " for name in (*declared, *(["q0"] if "|q0" in written else [])))
    return _translated(f"{registers}{opcode} {written};", given[:outputs], given[outputs:], executed)


def _translated(template: str, outputs: tuple[Operand, ...], inputs: tuple[Operand, ...], executed: bool) -> Form:
    opcode = next((o for o in opcodes(template) if o not in (".reg", "selp.u32")), template)
    assembly = Assembly(Span(0, 0), 0, template, outputs, inputs, volatile=True)
    try:
        done = translate(assembly, load_support(None).registers)
    except Unknown as unknown:
        return Form(opcode, "", False, advice(str(unknown), (opcode,)))
    return Form(opcode, done.note or "C++", executed, "")


def document(found: list[Form]) -> str:
    """The table as Markdown, one row per instruction."""
    families: dict[str, list[Form]] = defaultdict(list)
    for form in found:
        families[_family(form.opcode)].append(form)
    done = sum(not form.problem for form in found)
    run = sum(form.executed for form in found)
    lines = [
        "# PTX instructions in inline assembly",
        "",
        "Written by `python -m benchmarks.ptx_table --write docs/ptx-instructions.md`. Of "
        f"{len(found)} forms {done} are translated (P101); {run} of these are executed for gfx942 by the tests, over edge values and random operands,",
        "against the same model of the ISA as the virtual NVIDIA GPU (`tests/warp/test_ptx_cases.py`) or, what has memory or other threads in it, against what each thread should have (`tests/warp/test_ptx_forms.py`); the others are a finding (P102) with the text given.",
        "",
        "| instruction | translated | executed | why not the others | reported |",
        "|---|---|---|---|---|",
    ]
    for family, members in sorted(families.items()):
        good = [form for form in members if not form.problem]
        bad: dict[str, list[str]] = defaultdict(list)
        for form in members:
            if form.problem:
                bad[form.problem].append(f"`{form.opcode}`")
        reported = "; ".join(f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in bad.items()).replace(
            "|", "/"
        )
        lines.append(
            f"| {family} | {len(good)} of {len(members)} | {sum(form.executed for form in members)} | {_unrun(good)} | {reported} |"
        )
    return "\n".join((*lines, ""))


def _unrun(good: list[Form]) -> str:
    """The reasons of those that are not executed."""
    why = (
        next((text for pattern, text in _NOT_RUN if re.fullmatch(pattern, one.opcode)), "another form is")
        for one in good
        if not one.executed
    )
    return "; ".join(dict.fromkeys(why))


def _family(opcode: str) -> str:
    head = opcode.partition(".")[0]
    two = re.match(r"(cp\.async\.bulk|cp\.async|cp\.reduce|bar\.warp|barrier\.cluster|mul24|mma\.sp)", opcode)
    return two[1] if two else head


def main() -> None:
    """Prints the table or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    text = document(forms())
    if arguments.write:
        arguments.write.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
