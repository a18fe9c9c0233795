"""P102: inline PTX that has no equivalent here."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.asm import KEYWORDS
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.ptx.assembly import Unknown, advice, continues, is_foreign, opcodes, statements, translate


class UntranslatedPtx(Rule):
    """Inline PTX without an equivalent

    `wgmma`, `tcgen05` and forms of `mma` that `porter/mma.hpp` lacks, bulk copies, named barriers, bytes that an
    mbarrier counts, clusters, and PTX that is put together from macros or has labels. The finding names the instruction
    and what takes its place on gfx942, if anything.
    `bar.sync` with a number other than 0 hands work between groups of warps; gfx942 has one barrier per block, and two
    logical warps share a wavefront, so roles need whole wavefronts of 64 threads.
    """

    code = "P102"
    only_reports = True
    triggers = frozenset(KEYWORDS)
    hazards = (
        "ptx-mma-ldmatrix",
        "named-barriers",
        "mbarrier",
        "ptx-vector-red-f16x2",
        "setmaxnreg-warp-specialisation",
    )
    examples = (
        reports(r'__device__ void f() { asm volatile("bar.sync 1, 64;" ::: "memory"); }'),
        reports(
            r'__device__ void f(unsigned a) { asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], 64;" '
            r':: "r"(a)); }'
        ),
        reports(r'__device__ void f() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }'),
        reports(
            "#define LOAD(T, type, letter, how) \\\n template <> __device__ void load(T &v, T *p)"
            ' { asm("ld.global."#how"."#type" %0, [%1];" : "="#letter(v) : "l"(p)); }\n'
            "LOAD(int, b128, r, cg)"
        ),
        reports(
            "#define LOAD(T, how) __device__ void load(T &v, T *p) "
            '{ asm("ld.global."#how".u32 %0, [%1];" : "=r"(v) : "l"(p)); }'
        ),
        *(
            reports(
                "#define LOAD(T, how, type, letter) __device__ void load(T &v, T *p) "
                f'{{ asm("ld."#how"."#type" %0, [%1];" : "="#letter(v) : "l"(p)); }}\n{use}'
            )
            for use in (
                "LOAD(unsigned, shared, u32, r)",
                "LOAD(unsigned, relaxed.gpu, u32, r)",
                "LOAD(float, cg, b32, f)",
            )
        ),
        reports(
            '__device__ void f(int &v) {\nasm(\n#ifdef FAST\n"add.s32 %0, %0, 1;"\n#else\n'
            '"add.s32 %0, %0, 2;"\n#endif\n'
            ': "+r"(v));\n}'
        ),
        reports(
            '__device__ void f(int &v) {\nasm("add.s32 %0, %0, 1;"\n#if __CUDA_ARCH__ >= 800\n'
            '"add.s32 %0, %0, 2;"\n#endif\n'
            ': "+r"(v));\n}'
        ),
        reports('#define ADD(n) __device__ void add(int &v) { asm("add.s32 %0, %0, "#n";" : "+r"(v)); }\nADD(1)'),
        reports(
            "#define ADD(type) __device__ void add(int &v, int w) "
            '{ asm("add."#type" %0, %0, %1;" : "+r"(v) : "r"(w)); }\nADD(s32)'
        ),
        clean(
            "#define LOAD(T, how) __device__ void load(T &v, T *p) "
            '{ asm("ld.global."#how".u32 %0, [%1];" : "=r"(v) : "l"(p)); }\nLOAD(unsigned, cg)'
        ),
        reports('#define LOAD(x, p) asm("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x.a), "=r"(x.b) : "l"(p))'),
        clean('#define LOAD(v, p) asm("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p))'),
        clean('#define FENCE(how) asm volatile(#how "fence" ::: "memory")\nvoid host() { FENCE(m); }'),
        clean(r'__device__ int lane() { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); return x; }'),
        clean(r'void host() { asm volatile("pause" ::: "memory"); }'),
        clean(
            'V madd(V a, V b, V c) { asm volatile("vmla.f32 %q[r], %q[a], %q[b]" : [r] "+w"(c) : [a] "w"(a), '
            '[b] "w"(b)); return c; }'
        ),
        reports('__device__ V madd(V a, V b) { asm("vmla.f32 %0, %1, %0;" : "+f"(a) : "f"(b)); return a; }'),
        clean(
            r'float f(int h) { float f; asm("fmv.h.x %[f], %[h]\n\tfcvt.s.h %[f], %[f]" : [f] "=&f"(f) : [h] "r"(h)); }'
        ),
        clean(r'void f(float *p) { asm volatile("vle32.v v8, (%0)\n\tvfadd.vv v8, v8, v9" :: "r"(p)); }'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per statement."""
        for assembly in statements(unit):
            if is_foreign(unit, assembly):
                continue
            try:
                translate(assembly, unit.support.registers, continues(unit, assembly))
            except Unknown as unknown:
                found = opcodes(assembly.template or "")
                message = f"inline PTX: {unknown}; {advice(str(unknown), found)}"
                yield self.finding(unit, assembly.span, message, Effort.MANUAL)
