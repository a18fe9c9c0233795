"""P101: inline PTX that C++ can say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.asm import KEYWORDS, Assembly
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes
from porter.warp.ptx.assembly import Unknown, continues, is_foreign, opcodes, slug, statements, translate

_HELPER = re.compile(r"\b(porter::(?:\w+::)*(\w+))\(")

_READ = 'porter::ptx::opcode<porter::ptx::read("ld.global."#how"."#type)>'

_PAIR = 'porter::ptx::opcode<porter::ptx::read("st."#how".v2.u32")>'
_BYTE = 'porter::ptx::opcode<porter::ptx::read("ld."#how".u8")>'


class TranslatedPtx(Rule):
    """Inline PTX with an equivalent

    PTX does not assemble for gfx942, and an `"r"` constraint lets the mistake through until the assembler runs. The
    statement becomes C++ with the same meaning: special registers of the warp count 32 lanes, instructions without an
    operator become small functions of `porter/ptx.hpp`. Loads and stores keep their cache operator (`.cg`, `.cv`,
    `.wt`), `volatile`, order and scope in `porter/ptx_memory.hpp`; those of an `asm volatile` are neither moved nor
    dropped, so that a loop that waits for a flag reads it each time. Hints on speed alone are dropped. `cp.async`
    becomes a copy through registers, which is done where it stands: right, but it does not
    overlap with computing any more. `mma.sync` and `ldmatrix` become functions of `porter/mma.hpp`, for warps of 32
    lanes. Statements of several instructions get a scope of their own. Of `#if __CUDA_ARCH__ >= 700` and the like
    between the strings the branch is taken that `porter/arch.hpp` takes elsewhere. Macros that stand for a piece of the
    template or for a constraint are looked up, in headers too; with several definitions those that can be translated
    must agree.
    Loads and stores in a macro whose arguments say type and cache operator (`"ld.global."#how"."#type`) read these from
    the same text when they are compiled, once each use in the file is known to have a translation.
    Additions and products with a rounding mode (`mul.rn.f32`) are never fused, as in PTX. Carries (`add.cc`, `addc`)
    stay within their function (P103). Outputs without an early clobber that are written before the last input is read
    are said: the original may give both one register.
    """

    code = "P101"
    triggers = frozenset(KEYWORDS)
    hazards = (
        "ptx-constraint-letters",
        "ptx-r-constraint-late-error",
        "ptx-special-registers",
        "ptx-cache-loads",
        "ptx-bfe-prmt-lop3",
        "ptx-cvt-packed",
        "ptx-red-atom-scopes",
        "ptx-shfl-predicate",
        "cp-async",
        "ptx-mma-ldmatrix",
    )
    examples = (
        fixes(
            r'__device__ int lane() { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); return x; }',
            r"__device__ int lane() { int x; x = porter::lane_id(); return x; }",
        ),
        fixes(
            r"__device__ unsigned f(unsigned a, unsigned b, unsigned c) { unsigned d; "
            r'asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }',
            r"__device__ unsigned f(unsigned a, unsigned b, unsigned c) { unsigned d; "
            r"d = porter::ptx::lop3<0x96>(static_cast<unsigned>(a), static_cast<unsigned>(b), "
            r"static_cast<unsigned>(c)); return d; }",
        ),
        fixes(
            r'__device__ int f(const int *p) { int v; asm volatile("ld.global.nc.L1::no_allocate.s32 %0, [%1];" '
            r': "=r"(v) : "l"(p)); return v; }',
            r"__device__ int f(const int *p) { int v; v = porter::ptx::ld<porter::ptx::weak>((int const *)(p)); "
            r"return v; }",
        ),
        fixes(
            r'__device__ long long t() { long long c; asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)); return c; }',
            r"__device__ long long t() { long long c; c = static_cast<unsigned long long>(clock64()); return c; }",
            effort=Effort.REVIEW,
        ),
        fixes(
            r'__device__ void f() { asm volatile("bar.sync 0;"); asm volatile("membar.gl;" ::: "memory"); }',
            r"__device__ void f() { __syncthreads(); __threadfence(); }",
        ),
        fixes(
            r'__device__ void f(unsigned a, const int4 *b) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" '
            r':: "r"(a), "l"(b) : "memory"); asm volatile("cp.async.wait_all;" ::: "memory"); }',
            r"__device__ void f(unsigned a, const int4 *b) { porter::ptx::cp_async<16>((unsigned char *)"
            r"porter::cvta_shared_to_generic(a), (unsigned char const *)(b)); /* nothing to do on gfx942 */; }",
            effort=Effort.REVIEW,
        ),
        fixes(
            r'__device__ float f(unsigned a) { float x; asm volatile("ld.shared.f32 %0, [%1+8];" '
            r': "=f"(x) : "r"(a)); return x; }',
            r"__device__ float f(unsigned a) { float x; x = porter::ptx::ld<porter::ptx::kept>("
            r"(float const *)((char *)porter::cvta_shared_to_generic(a) + 8)); return x; }",
        ),
        fixes(
            r'__device__ void f(unsigned *d, unsigned a) { asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16\n" '
            r'"{%0, %1}, [%2];\n" : "=r"(d[0]), "=r"(d[1]) : "r"(a)); }',
            r"__device__ void f(unsigned *d, unsigned a) { { auto const porter_d = porter::ptx::ldmatrix<2>("
            r"static_cast<unsigned>(a)); d[0] = porter_d.x[0]; d[1] = porter_d.x[1]; } }",
            effort=Effort.REVIEW,
        ),
        fixes(
            r'__device__ void f(float4 *p, float a, float b, int c) { if (c) asm volatile("st.global.v2.f32 [%0], '
            r'{%1, %2};" :: "l"(p), "f"(a), "f"(b)); }',
            r"__device__ void f(float4 *p, float a, float b, int c) { if (c) "
            r"porter::ptx::st<porter::ptx::kept>((float *)(p), a, b); }",
        ),
        fixes(
            r'#define set_eq(d, a, b) asm volatile("set.eq.u32.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))',
            r"#define set_eq(d, a, b) d = static_cast<unsigned>(a) == static_cast<unsigned>(b) ? 0xffffffffu : 0u",
        ),
        fixes(
            r'#define prmt(d, a, b, c) asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))',
            r"#define prmt(d, a, b, c) d = (porter::ptx::prmt)("
            r"static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(c))",
        ),
        fixes(
            r'__device__ int seen(int *p) { int v; asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p)); '
            r"return v; }",
            r"__device__ int seen(int *p) { int v; v = porter::ptx::ld<porter::ptx::cg>((unsigned const *)(p)); "
            r"return v; }",
        ),
        fixes(
            r'__device__ int2 pair(int2 *p) { int2 v; asm volatile("ld.acquire.gpu.v2.s32 {%0, %1}, [%2];" '
            r': "=r"(v.x), "=r"(v.y) : "l"(p) : "memory"); return v; }',
            r"__device__ int2 pair(int2 *p) { int2 v; { auto const porter_v = porter::ptx::ld<"
            r"porter::ptx::acquire_gpu, 2>((int const *)(p)); v.x = porter_v.x[0]; v.y = porter_v.x[1]; } return v; }",
        ),
        fixes(
            r'__device__ float f(float a, float b) { float x; asm("mul.rn.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));'
            r" return x; }",
            r"__device__ float f(float a, float b) { float x; x = porter::fmul_rn(a, b); return x; }",
        ),
        fixes(
            "__device__ int f(unsigned a) { int v; asm volatile(\n#if __CUDA_ARCH__ < 700\n"
            '"ld.volatile.shared.s32 %0, [%1];"\n#else\n"ld.relaxed.cta.shared.s32 %0, [%1];"\n#endif\n'
            ': "=r"(v) : "r"(a) : "memory"); return v; }',
            "__device__ int f(unsigned a) { int v; v = porter::ptx::ld<porter::ptx::relaxed_cta>((int const *)"
            "porter::cvta_shared_to_generic(a)); return v; }",
        ),
        fixes(
            r'__device__ int *f(int *p) { int *q; asm("cvta.to.global.u64 %0, %1;" : "=l"(q) : "l"(p)); return q; }',
            r"__device__ int *f(int *p) { int *q; q = (decltype(q))((unsigned long long)(p)); return q; }",
        ),
        fixes(
            r'__device__ float f(long a, long b) { long p = a * b; asm("add.u64 %0, %1, 1;" : "=l"(p) : "l"(a)); }',
            r"__device__ float f(long a, long b) { long p = a * b; p = (unsigned long long)(a) + 1u; }",
        ),
        fixes(
            r'__device__ void f(int n) { for (int i = 0; i < n; i++) asm volatile(".pragma \"nounroll\";"); }',
            r"__device__ void f(int n) { for (int i = 0; i < n; i++) /* nothing to do on gfx942 */; }",
        ),
        fixes(
            r'__device__ unsigned f(unsigned x) { asm("{ .reg .u16 h<2>; mov.b32 {h0, h1}, %0; '
            r'mov.b32 %0, {h1, h0}; }" : "+r"(x)); return x; }',
            r"__device__ unsigned f(unsigned x) { { unsigned ptx0 = static_cast<unsigned>(x); "
            r"unsigned short h0_ = 0, h1_ = 0; h0_ = static_cast<unsigned short>(ptx0); "
            r"h1_ = static_cast<unsigned short>(ptx0 >> 16); ptx0 = static_cast<unsigned>(h0_) << 16 | h1_; x = ptx0; }"
            r" return x; }",
        ),
        fixes(
            '#ifdef __LP64__\n#define P "l"\n#else\n#define P "r"\n#endif\n#define LD "ld.global.cs"\n'
            '__device__ int f(const int *p) { int v; asm(LD ".u32 %0, [%1];" : "=r"(v) : P(p)); return v; }',
            '#ifdef __LP64__\n#define P "l"\n#else\n#define P "r"\n#endif\n#define LD "ld.global.cs"\n'
            "__device__ int f(const int *p) { int v; v = porter::ptx::ld<porter::ptx::cs>((unsigned const *)(p)); "
            "return v; }",
        ),
        fixes(
            '#if NEW\n#define HINT(n) ".L2::" #n "B"\n#else\n#define HINT(n)\n#endif\n'
            "__device__ int f(const int *p, const int *q) { int v; "
            'asm("ld.global" HINT(128) ".s32 %0, [%1];" : "=r"(v) : "l"(p) "l"(q)); return v; }',
            '#if NEW\n#define HINT(n) ".L2::" #n "B"\n#else\n#define HINT(n)\n#endif\n'
            "__device__ int f(const int *p, const int *q) { int v; "
            "v = porter::ptx::ld<porter::ptx::weak>((int const *)(p)); return v; }",
        ),
        fixes(
            '__device__ int f(int a, int b) { int d; asm("add.s32 %0, %1, 1; mul.lo.s32 %0, %0, %2;" '
            ': "=r"(d) : "r"(a), "r"(b)); return d; }',
            "__device__ int f(int a, int b) { int d; { unsigned ptx0 = 0; "
            "unsigned const ptx1 = static_cast<unsigned>(a); "
            "unsigned const ptx2 = static_cast<unsigned>(b); ptx0 = static_cast<int>(ptx1) + 1; "
            "ptx0 = static_cast<int>(ptx0) * static_cast<int>(ptx2); d = ptx0; } return d; }",
            effort=Effort.REVIEW,
        ),
        fixes(
            "#define LOAD(T, type, letter, how) template <> __device__ void load<how_##how>(T &v, T *p)"
            ' { asm volatile ("ld.global."#how"."#type" %0, [%1];" : "="#letter(v) : "l"(p)); }\n'
            "#define BOTH(T, type, letter) LOAD(T, type, letter, cg) LOAD(T, type, letter, ca)\n"
            "#define SHORT h\nBOTH(short, s16, SHORT)\nBOTH(float, f32, f)",
            "#define LOAD(T, type, letter, how) template <> __device__ void load<how_##how>(T &v, T *p)"
            f" {{ v = porter::ptx::ld<{_READ}::porter_kept>(({_READ}::porter_type const *)(p)); }}\n"
            "#define BOTH(T, type, letter) LOAD(T, type, letter, cg) LOAD(T, type, letter, ca)\n"
            "#define SHORT h\nBOTH(short, s16, SHORT)\nBOTH(float, f32, f)",
        ),
        fixes(
            "#define STORE(how) __device__ void store_##how(uint2 *p, uint2 v)"
            ' { asm("st."#how".v2.u32 [%0], {%1, %2};" :: "l"(p), "r"(v.x), "r"(v.y)); }\nSTORE(wt)',
            "#define STORE(how) __device__ void store_##how(uint2 *p, uint2 v)"
            f" {{ porter::ptx::st<{_PAIR}::porter_kept>(({_PAIR}::porter_type *)(p), (v.x), (v.y)); }}\nSTORE(wt)",
        ),
        fixes(
            "#define LOAD(how) __device__ unsigned char load_##how(unsigned char const *p) { unsigned short v;"
            ' asm volatile ("{"\n "   .reg .u8 one;" "   ld."#how".u8 one, [%1];" "   cvt.u16.u8 %0, one;" "}"'
            ' : "=h"(v) : "l"(p)); return (unsigned char)v; }\nLOAD(cs) LOAD(volatile.global)'.replace("\n", "\\\n", 1),
            "#define LOAD(how) __device__ unsigned char load_##how(unsigned char const *p) { unsigned short v;"
            " { unsigned short ptx0 = 0; unsigned long long const ptx1 = (unsigned long long)(p);"
            " unsigned char one_ = 0; "
            f"one_ = porter::ptx::ld<{_BYTE}::porter_kept>(({_BYTE}::porter_type const *)ptx1); "
            "ptx0 = static_cast<unsigned short>(one_); v = ptx0; } return (unsigned char)v; }\n"
            "LOAD(cs) LOAD(volatile.global)",
        ),
        clean(
            '#define IN(x) "r"(x)\n__device__ int f(int a, int b) { int d; '
            'asm("sub.s32 %0, %1, %2;" : "=r"(d) : IN(a), "r"(b)); return d; }'
        ),
        clean(r'__device__ void f(int &a, int b) { asm("add.cc.u32 %0, %1, 1;" : "=r"(a) : "r"(b)); }'),
        clean(r'__device__ float f(unsigned a) { float x; asm("ld.f32 %0, [%1];" : "=f"(x) : "r"(a)); return x; }'),
        clean(r'__device__ void f() { asm volatile("" ::: "memory"); }'),
        clean(r'__device__ void f() { asm volatile("s_waitcnt vmcnt(0)"); }'),
        clean(r'void host() { unsigned lo, hi; asm volatile("rdtsc" : "=a"(lo), "=d"(hi)); }'),
        clean(r'__device__ void f(int x) { asm volatile("wgmma.fence.sync.aligned;"); }'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per statement."""
        for assembly in statements(unit):
            if is_foreign(unit, assembly):
                continue
            try:
                found = translate(assembly, unit.support.registers, continues(unit, assembly))
            except Unknown:
                continue
            hazard = slug(opcodes(assembly.template or ""))
            message = f"inline PTX becomes C++{': ' + found.note if found.note else ''} [{hazard}]"
            edit = Edit(assembly.span.start, assembly.span.end, _fitting(unit, assembly, found.text))
            yield self.finding(unit, assembly.span, message, found.effort, (edit,), found.headers)


def _fitting(unit: Unit, assembly: Assembly, text: str) -> str:
    """The text where the statement stood: a macro without its `;` stays one, and the file's macros are not called."""
    if unit.source.text[assembly.span.end - 1] != ";" and "{" not in text:
        text = text.removesuffix(";")
    return _HELPER.sub(lambda found: f"({found[1]})(" if _defines(unit, found[2]) else found[0], text)


def _defines(unit: Unit, name: str) -> bool:
    return any(map(unit.tokens.defines, unit.tokens.names.get(name, ())))
