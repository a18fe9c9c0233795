"""Loads and stores of inline PTX after porting: what the compiler for gfx942 leaves of them at -O3."""

# ruff: noqa: E501

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices.core.result import Ran

from porter.engine.file import port
from porter.model import Effort
from porter.source import SourceFile
from tests.include import hip
from tests.warp import execution

LOADS = {
    "volatile.global.u32": "sc0 sc1",
    "global.cv.u32": "sc0 sc1",
    "global.cg.u32": "sc1",
    "global.cg.u64": "sc1",
    "cg.u8": "sc1",
    "relaxed.gpu.global.u32": "sc1",
    "acquire.gpu.global.u32": "sc1",
    "acquire.sys.global.s32": "sc0 sc1",
    "relaxed.cta.global.u32": "sc0",
    "relaxed.cluster.global.u32": "sc0",
    "relaxed.sys.global.u32": "sc0 sc1",
    "mmio.relaxed.sys.global.u32": "sc0 sc1",
    "acquire.cta.global.u32": "sc0",
    "acquire.cluster.global.u32": "sc0",
    "volatile.u32": "sc0 sc1",
    "weak.global.cv.u32": "sc0 sc1",
    "global.cs.u32": "nt",
    "global.lu.u32": "nt",
    "global.u32": "",
    "global.ca.s32": "",
    "global.L1::no_allocate.u32": "",
    "volatile.global.v2.u32": "sc0 sc1",
    "acquire.gpu.global.v2.u64": "sc1",
    "global.cg.v4.u32": "sc1",
    "shared.u32": "",
    "volatile.shared.u32": "",
    "shared.v2.u32": "",
}
STORES = {
    "global.wt.u32": "sc0 sc1",
    "global.cg.u32": "sc1",
    "volatile.global.u32": "sc0 sc1",
    "release.gpu.global.u32": "sc1",
    "relaxed.sys.global.u64": "sc0 sc1",
    "relaxed.cta.global.u32": "sc0",
    "relaxed.cluster.global.u32": "sc0",
    "relaxed.gpu.global.u32": "sc1",
    "release.cta.global.u32": "sc0",
    "release.cluster.global.u32": "sc0",
    "release.sys.global.u32": "sc0 sc1",
    "mmio.relaxed.sys.global.u32": "sc0 sc1",
    "volatile.u32": "sc0 sc1",
    "global.cs.u32": "nt",
    "global.wb.u32": "",
    "global.cg.v2.u32": "sc1",
    "global.u32": "",
}
_C = {"8": ("unsigned char", "r"), "32": ("unsigned", "r"), "64": ("unsigned long long", "l")}


def _asm(how: str, opcode: str, clobbers: str) -> str:
    """A load into `v...` or a store of it."""
    found = re.search(r"(?:v([24])\.)?[us](8|32|64)$", opcode)
    assert found is not None
    count, (_, letter) = int(found[1] or 1), _C[found[2]]
    names = ", ".join(f"%{i + (how == 'st')}" for i in range(count))
    registers = f"{{{names}}}" if found[1] else names
    pointer, address = ('"r"(l)', "%") if "shared" in opcode else ('"l"(p)', "%")
    if how == "ld":
        outputs = ", ".join(f'"={letter}"(v{i})' for i in range(count))
        return f'asm volatile("ld.{opcode} {registers}, [{address}{count}];" : {outputs} : {pointer}{clobbers});'
    inputs = ", ".join(f'"{letter}"(v{i})' for i in range(count))
    return f'asm volatile("st.{opcode} [%0], {registers};" :: {pointer}, {inputs}{clobbers});'


def _variables(opcode: str) -> str:
    found = re.search(r"(?:v([24])\.)?[us](8|32|64)$", opcode)
    assert found is not None
    kind = "unsigned" if found[2] == "8" else _C[found[2]][0]
    return f"{kind} {', '.join(f'v{i} = 0' for i in range(int(found[1] or 1)))};"


def _source() -> str:
    """Kernels that wait for a flag, once with a clobber and once without, and kernels that store twice."""
    kernels = ""
    for n, opcode in enumerate(LOADS):
        for clobbers in ("", ' : "memory"'):
            name = f"wait_{n}{'_memory' if clobbers else ''}"
            body = f"{_variables(opcode)} do {{ {_asm('ld', opcode, clobbers)} }} while (v0 == 0); *out = (unsigned)v0 + at;"
            if "shared" in opcode:
                body = f"__shared__ unsigned s[64]; s[threadIdx.x] = *p; unsigned l = (unsigned)__cvta_generic_to_shared(s + at); {body}"
            kernels += f"__global__ void {name}(unsigned *p, unsigned *out, int at) {{ {body} }}\n"
    for n, opcode in enumerate(STORES):
        store = _asm("st", opcode, "")
        body = f"{_variables(opcode)} {store} v0 = 1; {store}"
        kernels += f"__global__ void twice_{n}(unsigned *p) {{ {body} }}\n"
    return f'#include <cuda_runtime.h>\nextern "C" {{\n{kernels}}}\n'


def _loops(text: str) -> dict[str, list[str]]:
    """The instructions of each kernel between the target of a jump back and the jump."""
    found: dict[str, list[str]] = {}
    for name, body in re.findall(r"^(\w+):\s*; @\1\n(.*?)s_endpgm", text, re.DOTALL | re.MULTILINE):
        lines = [line.split(";")[0].strip() for line in body.splitlines()]
        labels = {line[:-1]: place for place, line in enumerate(lines) if line.endswith(":")}
        found[name] = []
        for place, line in enumerate(lines):
            jump = re.fullmatch(r"s_c?branch\w*\s+(\.\w+)", line)
            if jump and labels.get(jump[1], place) < place:
                found[name] += lines[labels[jump[1]] : place]
    return found


def _bits(line: str) -> str:
    return " ".join(word for word in line.split() if word in ("sc0", "sc1", "nt"))


@pytest.mark.slow
def test_a_load_in_a_waiting_loop_stays_a_load_of_its_kind(tmp_path: Path) -> None:
    done = port(SourceFile("a.cu", _source().encode()), execution.context("preserve"), "a.cu")
    assert not [finding for finding in done.findings if finding.code == "P102"]
    kernels = hip.assembly(
        execution.inlined(done.data.decode()), tmp_path, flags=("-Wno-unused", "-Wno-unused-parameter")
    )
    loops = _loops((tmp_path / "snippet.s").read_text("utf-8"))
    for n, (opcode, bits) in enumerate(LOADS.items()):
        for name in (f"wait_{n}", f"wait_{n}_memory"):
            loads = [line for line in loops[name] if re.match(r"(global|flat)_load|ds_read", line)]
            assert loads, f"ld.{opcode} is gone from its loop: {loops[name]}"
            assert {_bits(line) for line in loads} == {bits}, f"ld.{opcode}: {loads}"
    for n, (opcode, bits) in enumerate(STORES.items()):
        stores = [line for line in kernels[f"twice_{n}"] if line.startswith("global_store")]
        assert len(stores) >= 2 and {_bits(line) for line in stores} == {bits}, f"st.{opcode}: {stores}"
        writes_back = {"gpu": "buffer_wbl2 sc1", "sys": "buffer_wbl2 sc0 sc1"}.get(opcode.split(".")[1], "")
        assert not opcode.startswith("release") or not writes_back or writes_back in kernels[f"twice_{n}"], opcode


ALIASED = """#include <cuda_runtime.h>
__global__ void aliased(float *x, unsigned *out) {
  unsigned t = threadIdx.x, a, b;
  x[t] = t + 1.0f;
  asm("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(x + t));
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" :: "l"(x + 64 + 2 * t), "r"(a), "r"(t));
  x[64 + 2 * t] += 1.0f;
  asm("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(x + 64 + 2 * t));
  out[t] = a ^ b;
}
"""


def test_bytes_of_another_type_are_the_same_memory() -> None:
    done = port(SourceFile("a.cu", ALIASED.encode()), execution.context("preserve"), "a.cu")
    module = execution.module(done.data.decode())
    ran = module.launch(module.kernels[0], 1, 64, [np.zeros(192, np.float32), np.zeros(64, np.uint32)])
    assert isinstance(ran, Ran), str(ran)
    lanes = np.arange(64, dtype=np.uint32)
    np.testing.assert_array_equal(ran.output(1), (lanes + 2).astype(np.float32).view(np.uint32) ^ lanes)


KINDS = {
    "b8": "unsigned char", "u8": "unsigned char", "s8": "signed char", "b16": "unsigned short", "u16": "unsigned short",
    "s16": "short", "b32": "unsigned", "u32": "unsigned", "s32": "int", "f32": "float", "b64": "unsigned long long",
    "u64": "unsigned long long", "s64": "long long", "f64": "double",
}  # fmt: skip
CACHES = {
    "weak": "weak kept", "ca": "weak kept", "wb": "weak kept", "nc": "weak weak", "cs": "cs kept_cs", "lu": "cs kept_cs", "cg": "cg cg",
    "cv": "cv cv", "wt": "cv cv", "volatile": "cv cv",
}  # fmt: skip


@pytest.mark.slow
def test_opcodes_are_read_when_they_are_compiled(tmp_path: Path) -> None:
    """Every type with every cache operator; what it does not know has neither."""
    lines = ["template <class A, class B> struct same { static constexpr bool yes = false; };"]
    lines.append("template <class A> struct same<A, A> { static constexpr bool yes = true; };")
    for kind, type_ in KINDS.items():
        for cache, ways in CACHES.items():
            how, kept = ways.split()
            for text in (f"ld.global.{cache}.{kind}", f"st.{cache}.v4.{kind}"):
                checks = zip(("porter_type", "porter_how", "porter_kept"), (type_, how, kept), strict=True)
                lines += [
                    f'static_assert(same<opcode<read("{text}")>::{one}, {other}>::yes, "{text}");'
                    for one, other in checks
                ]
    lines.append('static_assert(same<opcode<read("ldu.global.f32")>::porter_how, weak>::yes, "none");')
    lines.append("template <class T, class = void> struct known { static constexpr bool yes = false; };")
    lines.append(
        "template <class T> struct known<T, decltype(sizeof(T), void())> { static constexpr bool yes = true; };"
    )
    for text in (
        "ld.shared.u32",
        "ld.global.L1::no_allocate.u32",
        "ld.relaxed.gpu.u32",
        "ld.global.f16",
        "ld.global",
        "ld.cgx.u32",
    ):
        unknown = f'(read("{text}") >> 31 != 0 || (read("{text}") & 0xffu) == 0)'
        lines.append(f'static_assert({unknown}, "{text}");')
    body = "namespace porter { namespace ptx {\n" + "\n".join(lines) + "\n} }\n__global__ void k() {}\n"
    hip.assembly("#include <porter/ptx_memory.hpp>\n" + body, tmp_path, flags=("-Wno-unused",))


PUT_TOGETHER = """#include <cuda_runtime.h>
#define LOAD(T, type, letter, how) __device__ T load_##how##_##type(T *p) { T v; \\
  asm volatile("ld.global."#how"."#type" %0, [%1];" : "="#letter(v) : "l"(p)); return v; }
#define STORE(T, type, letter, how) __device__ void store_##how##_##type(T *p, T v) { \\
  asm volatile("st.global."#how"."#type" [%0], %1;" :: "l"(p), #letter(v)); }
#define BYTE(how) __device__ unsigned byte_##how(unsigned char *p) { unsigned short v; \\
  asm volatile("{ .reg .u8 one; ld."#how".u8 one, [%1]; cvt.u16.u8 %0, one; }" : "=h"(v) : "l"(p)); return v; }
#define BOTH(T, type, letter) LOAD(T, type, letter, cg) STORE(T, type, letter, cs)
BOTH(short, s16, h) BOTH(float, f32, f) BOTH(long long, s64, l) LOAD(unsigned, u32, r, cv) BYTE(cg)
extern "C" {
__global__ void all(float *f, short *s, long long *l, unsigned char *b) {
  int t = threadIdx.x;
  store_cs_f32(f + t, load_cg_f32(f + t) + 1.0f);
  store_cs_s16(s + t, load_cg_s16(s + t) - 1);
  store_cs_s64(l + t, load_cg_s64(l + t) * 3 + byte_cg(b + t));
}
__global__ void wait(unsigned *p, unsigned *out) { unsigned v; do { v = load_cv_u32(p); } while (v == 0); *out = v; }
__global__ void wait_byte(unsigned char *p, unsigned *out) { unsigned v; do { v = byte_cg(p); } while (v == 0); *out = v; }
}
"""


@pytest.mark.slow
def test_a_macro_that_puts_opcodes_together_keeps_type_and_cache(tmp_path: Path) -> None:
    done = port(SourceFile("a.cu", PUT_TOGETHER.encode()), execution.context("preserve"), "a.cu")
    assert not [finding for finding in done.findings if finding.effort is Effort.MANUAL]
    text = done.data.decode()
    hip.assembly(execution.inlined(text), tmp_path, flags=("-Wno-unused", "-Wno-unused-parameter"))
    loops = _loops((tmp_path / "snippet.s").read_text("utf-8"))
    assert [_bits(line) for line in loops["wait"] if line.startswith("global_load")] == ["sc0 sc1"]
    assert [_bits(line) for line in loops["wait_byte"] if line.startswith("global_load_ubyte")] == ["sc1"]
    lanes = np.arange(64)
    given = [lanes.astype(np.float32), -lanes.astype(np.int16), -lanes.astype(np.int64), (lanes * 4).astype(np.uint8)]
    module = execution.module(text)
    ran = module.launch("all", 1, 64, given)
    assert isinstance(ran, Ran), str(ran)
    np.testing.assert_array_equal(ran.output(0), given[0] + 1)
    np.testing.assert_array_equal(ran.output(1), given[1] - 1)
    np.testing.assert_array_equal(ran.output(2), given[2] * 3 + given[3])


ATOMICS = """#include <cuda_runtime.h>
#include <cuda_pipeline_primitives.h>
__global__ void k(unsigned *c, unsigned *o, const uint4 *in, uint4 *out) {
  __shared__ uint4 s[64];
  unsigned t = threadIdx.x, r, q, w; int sh;
  asm volatile("atom.global.inc.u32 %0, [%1], %2;" : "=r"(r) : "l"(c), "r"(100u) : "memory");
  asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;" : "=r"(q) : "l"(c + 1 + t), "r"(t), "r"(t + 5u));
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(sh) : "l"(s));
  __pipeline_memcpy_async(&s[t], &in[t], 16, t % 2 ? 4 : 0);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = s[63 - t];
  w = __nv_bswap32(t);
  o[t] = q * 2 + sh + (w >> 24 == t ? 0 : 1000);
  (void)r;
}
"""


def test_atomics_spaces_and_copies_that_are_done_at_once() -> None:
    done = port(SourceFile("a.cu", ATOMICS.encode()), execution.context("preserve"), "a.cu")
    assert not [finding for finding in done.findings if finding.effort is Effort.MANUAL]
    module = execution.module(done.data.decode())
    lanes = np.arange(64, dtype=np.uint32)
    counters = np.concatenate([[np.uint32(0)], lanes])
    words = np.arange(256, dtype=np.uint32)
    ran = module.launch(module.kernels[0], 1, 64, [counters, np.zeros(64, np.uint32), words, np.zeros(256, np.uint32)])
    assert isinstance(ran, Ran), str(ran)
    np.testing.assert_array_equal(ran.output(0), np.concatenate([[64], lanes + 5]))
    np.testing.assert_array_equal(ran.output(1), lanes * 2 + 1)
    copied = words.reshape(64, 4).copy()
    copied[1::2, 3] = 0
    np.testing.assert_array_equal(ran.output(3).reshape(64, 4), copied[::-1])
