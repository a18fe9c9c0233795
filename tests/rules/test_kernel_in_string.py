"""R014 among all rules: which strings are ported, which are reported and why, and that nothing else is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.model import Effort, PortedFile, Settings
from porter.names.table import load_names
from porter.source import SourceFile
from tests.cli.command import porter

KERNEL = """
__global__ void k(float *x) { x[0] = __shfl_down_sync(~0u, x[threadIdx.x], 1); }
"""
RAW = f'R"({KERNEL})"'
PLAIN = '"__global__ void k(float *x) {\\n"\n  "  x[0] = __shfl_down_sync(~0u, x[threadIdx.x], 1);\\n}\\n"'
CALL = 'nvrtcCreateProgram(&p, {}, "k.cu", 0, nullptr, nullptr);'
BODY = "nvrtcProgram f() {{ nvrtcProgram p; {} return p; }}\n"


def ported(text: str, path: str = "a.cpp", disabled: frozenset[str] = frozenset()) -> PortedFile:
    """The port of one file, by its tokens."""
    rules = tuple(rule for rule in all_rules() if rule.code not in disabled)
    context = Context(Settings(disabled=disabled), load_names(None, {}), load_support(None), rules)
    done = port(SourceFile(path, text.encode("latin-1")), context, path)
    assert done.crashes == ()
    return done


def verdict(done: PortedFile) -> tuple[str, ...]:
    """The reasons why strings were not ported."""
    return tuple(f.message.partition("not ported: ")[2] for f in done.findings if f.code == "R014" and f.effort.rank)


def use(argument: str) -> str:
    """A function that makes a program."""
    return BODY.format(CALL.format(argument))


DONE = {
    "constant": f"static const char* const s = {RAW};\n" + use("s"),
    "array": f"const char s[] = {RAW};\n" + use("s"),
    "sized array": f"char s[1000] = {{{RAW}}};\n" + use("s"),
    "string": f"const std::string s = {RAW};\n" + use("s.c_str()"),
    "string by constructor": f"std::string s({RAW});\n" + use("s.data()"),
    "string by braces": f"std::string s{{{RAW}}};\n" + use("s.c_str()"),
    "automatic": f"constexpr auto s = {RAW};\n" + use("s"),
    "in a namespace": f"namespace n {{ const char* s = {RAW}; }}\n" + use("n::s"),
    "in a class": f"const char* C::s = {RAW};\n" + use("C::s"),
    "macro": f"#define SOURCE {RAW}\n" + use("SOURCE"),
    "argument": use(RAW),
    "local": BODY.format(f"const char* s = {RAW}; " + CALL.format("s")),
    "adjacent pieces": f"const char* s = {PLAIN};\n" + use("s"),
    "mixed pieces": f'const char* s = "#define N 3\\n" {RAW};\n' + use("s"),
    "two programs of one string": f"const char* s = {RAW};\n" + use("s") + use("s").replace(" f()", " g()"),
    "two strings": f"const char *s = {RAW}, *t = {RAW};\n" + use("s") + use("t").replace(" f()", " g()"),
    "copied": BODY.format(f"const char* s = {RAW}; const char* t = s; " + CALL.format("t")),
    "measured": BODY.format(f"std::string s = {RAW}; g(sizeof(p), s.size()); " + CALL.format("s.c_str()")),
    "printed too": f'const char* s = {RAW};\nvoid h() {{ puts(s); printf("%s", s); std::cerr << s << n; }}\n'
    + use("s"),
    "through a parameter": use("source").replace("f()", "f(const char* source)")
    + f"const char* s = {RAW};\nvoid g() {{ f(s); f({RAW}); }}\n",
    "two in an array": f"const char* s[] = {{{RAW}, {RAW}}};\n" + use("s[i]"),
    "headers": BODY.format(f"const char *h[] = {{{RAW}}}; nvrtcCreateProgram(&p, t, 0, 1, h, n);"),
    "result of a function": f"std::string g();\nstd::string g() {{ if (x) {{ return {RAW}; }} return {RAW}; }}\n"
    + use("g().c_str()"),
    "result of a lambda's function": f"const char* g(int a) noexcept {{ return {RAW}; }}\n" + use("g(f(1, 2))"),
    "through a string": use("source.c_str()").replace("f()", "f(int n, const std::string& source)")
    + f"const char* s = {RAW};\nvoid g() {{ f(1, s); }}\n",
}


@pytest.mark.parametrize("text", DONE.values(), ids=DONE.keys())
def test_ported(text: str) -> None:
    done = ported(text)
    assert verdict(done) == ()
    new = done.data.decode()
    assert new.count("porter::shfl_down_sync(~0u") == text.count("__shfl_down_sync") and "__shfl" not in new
    assert new.count("porter/warp32.hpp") == text.count("__shfl_down_sync")
    assert '#include "porter/rtc.hpp"\n' in new and "porter::hiprtcCreateProgram(&p" in new
    assert set(done.support) == {"porter/rtc.hpp", "porter/warp32.hpp"}
    assert {kernel.name for kernel in done.kernels} == {"k"}
    again = ported(new)
    assert again.data == done.data and not [f for f in again.findings if f.code == "R014"]


JOINED = {
    "sum": BODY.format(f'std::string s = std::string("#define N 3\\n") + {RAW}; ' + CALL.format("s.c_str()")),
    "sum as an argument": BODY.format(CALL.format(f'(t + {RAW} + "\\n").c_str()')),
    "sum of variables": f"const std::string a = {RAW};\n" + BODY.format("auto s = t + a; " + CALL.format("s.c_str()")),
    "appended": f"const char* a = {RAW};\n"
    + BODY.format("std::string s; s.append(t); s.append(a); " + CALL.format("s.c_str()")),
    "added": BODY.format(f"std::string s = t; s += {RAW}; " + CALL.format("s.c_str()")),
    "added to": BODY.format(f"std::string s = {RAW}; s += t; " + CALL.format("s.c_str()")),
    "assigned": BODY.format(f"std::string s; s = {RAW}; " + CALL.format("s.c_str()")),
    "streamed": BODY.format(f"std::ostringstream o; o << t << {RAW} << 1; " + CALL.format("o.str().c_str()")),
    "streamed, then copied": BODY.format(
        f"std::ostringstream o; o << {RAW}; std::string s = o.str(); " + CALL.format("s.c_str()")
    ),
    "added to itself": BODY.format(f"std::string s = {RAW}; s = s + t; " + CALL.format("s.c_str()")),
}


@pytest.mark.parametrize("text", JOINED.values(), ids=JOINED.keys())
def test_pieces_that_are_put_together(text: str) -> None:
    """What they include is added to the whole when the program runs: anything may stand before a piece."""
    done = ported(text)
    assert verdict(done) == ()
    new = done.data.decode()
    assert "porter::shfl_down_sync(~0u" in new and "__shfl" not in new and "warp32" not in new
    assert set(done.support) == {"porter/rtc.hpp", "porter/warp32.hpp"}
    assert ported(new).data == done.data


LEFT = {
    "not used in its block": (f"void g() {{ const char* s = {RAW}; }}\n", "s is not handed to nvrtcCreateProgram"),
    "expected of a generator": (f"TEST(A, B) {{ EXPECT_EQ(generate(x), {RAW}); }}", "nvrtcCreateProgram is not called"),
    "a program that was compiled": (f"void g() {{ check_compiled({RAW}); }}", "nvrtcCreateProgram is not called"),
    "a function that compiles and prints": (
        f"void compile(const char* s) {{ out << s; }}\nvoid g() {{ compile({RAW}); }}",
        "nvrtcCreateProgram is not called",
    ),
    "read as a format": (
        f"const char* s = {RAW};\nvoid h() {{ printf(s, 1); }}\n" + use("s"),
        "s has another use, in line 4",
    ),
    "written to a file": (f"const char* s = {RAW};\nvoid h() {{ out << s; }}\n" + use("s"), "s has another use"),
    "formatted": (BODY.format(f"char b[9999]; snprintf(b, 9999, {RAW}, 1); " + CALL.format("b")), "an expression"),
    "format kept in a variable": (
        BODY.format(f"char b[9]; const char* s = {RAW}; snprintf(b, 9, s, 1); " + CALL.format("b")),
        "s has another use",
    ),
    "appended and printed": (
        BODY.format(f"std::string s = {RAW}; s += t; out << s; " + CALL.format("s.c_str()")),
        "s has another use",
    ),
    "joined and chosen": (BODY.format(f"auto s = big ? t + {RAW} : t; " + CALL.format("s.c_str()")), "an expression"),
    "joined for another": (BODY.format(f"g(t + {RAW}); " + CALL.format("t.c_str()")), "an expression"),
    "appended to another": (BODY.format(f"q.append({RAW}); " + CALL.format("t.c_str()")), "an expression"),
    "replaced in": (
        BODY.format(f"std::string s = {RAW}; replace(s, a, b); " + CALL.format("s.c_str()")),
        "s has another use",
    ),
    "name of a program": (
        BODY.format(f"const char* s = {RAW}; nvrtcCreateProgram(&p, t, s, 0, nullptr, nullptr);"),
        "s has another use",
    ),
    "chosen": (BODY.format(f"const char* s = {RAW}; " + CALL.format("big ? s : t")), "s has another use"),
    "an array with another use": (
        f"const char* s[] = {{{RAW}, {RAW}}};\nvoid h() {{ out << s[1]; }}\n" + use("s[0]"),
        "an expression",
    ),
    "names of headers": (
        BODY.format(f"const char* n[] = {{{RAW}}}; nvrtcCreateProgram(&p, t, 0, 1, h, n);"),
        "an expression",
    ),
    "a result that is printed": (
        f"std::string g() {{ return {RAW}; }}\nvoid h() {{ out << g(); }}\n" + use("g().c_str()"),
        "an expression",
    ),
    "a result that is handed on": (
        f"std::string g() {{ return {RAW}; }}\nauto h = &g;\n" + use("g().c_str()"),
        "a part of an expression",
    ),
    "conditional pieces": (
        f'const char* s =\n#ifdef FAST\n"#define FAST\\n"\n#endif\n{RAW};\n' + use("s"),
        "conditional compilation chooses its pieces",
    ),
    "conditional tail": (
        f'const char* s = {RAW}\n#ifdef FAST\n"#define FAST\\n"\n#endif\n;\n' + use("s"),
        "conditional compilation chooses its pieces",
    ),
    "half a kernel": ('const char* s = "__global__ void k() {";\n' + use("s"), "it is a part of a program"),
    "a head": ('const char* s = "__global__ void ";\n' + use("s"), "it is a part of a program"),
    "wide": (f"const wchar_t* s = L{PLAIN};\n" + use("s"), "wide string"),
    "parameter with another use": (
        use("source").replace("f() {", "f(const char* source) { change(source);") + f"void g() {{ f({RAW}); }}\n",
        "a part of an expression",
    ),
    "function of another file": (use("other") + f"void g() {{ h({RAW}); }}\n", "a part of an expression"),
    "two functions of a name": (
        use("source").replace("f()", "f(const char* source)")
        + use("0").replace("f()", "f(int source)")
        + f"void g() {{ f({RAW}); }}\n",
        "a part of an expression",
    ),
}


@pytest.mark.parametrize(
    "call",
    ["compile_kernel(s)", "nvrtc::build(1, s.c_str())", "cache.jit(s)", "cudaRtcProgram(s)", "c->Compile(s, {1, 2})"],
)
def test_a_function_of_another_file_that_compiles(call: str) -> None:
    """Its name is all that is known: the finding says so."""
    done = ported(f"static const std::string s = {RAW};\nvoid g() {{ {call}; }}\n")
    (found,) = (f for f in done.findings if f.code == "R014")
    assert found.effort is Effort.REVIEW and "by its name" in found.message
    new = done.data.decode()
    assert "porter::shfl_down_sync(~0u" in new and "warp32" not in new and done.support == ("porter/warp32.hpp",)
    again = ported(new)
    assert again.data == done.data and not [f for f in again.findings if f.code == "R014"]


@pytest.mark.parametrize(
    "text",
    [
        f"const char* const s = {RAW};\n",
        f"#pragma once\nnamespace n {{ constexpr std::string_view s = {RAW}; }}\n",
        f"std::string source() {{ return {RAW}; }}\n",
        f"#define SOURCE {RAW}\n",
    ],
)
def test_a_text_that_nothing_in_its_file_uses(text: str) -> None:
    """Another file must: what else would a whole kernel be for."""
    done = ported(text, "kernels.hpp")
    (found,) = (f for f in done.findings if f.code == "R014")
    assert found.effort is Effort.REVIEW and "another file must compile" in found.message
    new = done.data.decode()
    assert "porter::shfl_down_sync(~0u" in new and "warp32" not in new and ported(new).data == done.data


@pytest.mark.parametrize(("text", "reason"), LEFT.values(), ids=LEFT.keys())
def test_reported(text: str, reason: str) -> None:
    done = ported(text)
    reasons = verdict(done)
    assert len(reasons) == (text.count("void k(") or 1) and all(reason in one for one in reasons), reasons
    assert "__shfl_down_sync" in done.data.decode() or "half" in text or "void k() {" in text or "void k(" not in text
    assert "porter/warp32.hpp" not in done.data.decode()


def test_strings_without_kernels_are_nobody_s_business() -> None:
    text = 'const char* s = "__shfl_down_sync cudaMalloc"; void f() { puts("__CUDA_ARCH__"); }\n'
    assert ported(text).data.decode() == text


def test_places_are_those_of_the_file() -> None:
    text = 'const char* s = "__global__ void k(int *p) {\\n"\n   "  *p = __popc(*p); }";\n' + use("s")
    (found,) = (f for f in ported(text).findings if f.code == "A004" and "__popc" in f.message)
    assert (found.line, found.column, found.kernel, found.path) == (2, 12, "k", "a.cpp")
    assert text[found.span.start : found.span.end] == "__popc"


def test_a_text_that_needs_nothing_stays() -> None:
    text = 'const char* s = R"(__global__ void k(float *x) { *x = threadIdx.x; })";\n' + use("s")
    done = ported(text)
    assert "(__global__ void k(float *x) { *x = threadIdx.x; })" in done.data.decode()
    assert done.support == ("porter/rtc.hpp",)


def test_the_end_of_the_literal_is_never_written_into_it() -> None:
    text = 'const char* s = R"(__global__ void k(int *p) { f(__popc, (p)/**/"); })";\n' + use("s")
    assert ported(text).crashes == ()


def test_line_ends_are_kept() -> None:
    text = (DONE["constant"]).replace("\n", "\r\n")
    new = ported(text).data.decode()
    assert '#include "porter/warp32.hpp"\r\n' in new and new.count("\n") == new.count("\r\n")


def test_what_is_allowed_in_the_text_stays() -> None:
    kernel = KERNEL.replace(" }", " }  // porter: allow[A004] measured by hand")
    done = ported(f'const char* s = R"({kernel})";\n' + use("s"))
    assert "__shfl_down_sync" in done.data.decode() and "porter/warp32.hpp" not in done.data.decode()


def test_a_string_that_is_allowed_stays() -> None:
    text = DONE["constant"]
    done = ported("// porter: allow[R014] another program reads it\n" + text)
    assert RAW in done.data.decode() and verdict(done) == ()
    assert RAW in ported(text, disabled=frozenset({"R014"})).data.decode()


def test_a_wide_kernel_is_widened(tmp_path: Path) -> None:
    kernel = """
extern "C" __global__ void sum(const float* x, float* out, int n) {
  __shared__ float part[32];
  float v = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += x[i];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int w = 0; w < (blockDim.x + 31) / 32; ++w) total += part[w];
    *out = total;
  }
}
"""
    (tmp_path / "a.cu").write_text(f'#include <nvrtc.h>\nconst char* s = R"({kernel})";\n' + use("s"))
    porter("port", "--warp", "native", tmp_path / "a.cu", "-o", tmp_path / "out")
    new = (tmp_path / "out/a.hip").read_text()
    assert "porter/warp64.hpp" in new and "int o = 32" in new, new


def test_c_keeps_to_hiprtc_itself() -> None:
    done = ported(f"const char* s = {PLAIN};\n" + use("s"), "a.c")
    new = done.data.decode()
    assert " hiprtcCreateProgram(&p" in new and "porter" not in new and "__shfl_down_sync(~0u" in new
    (left,) = (f for f in done.findings if f.effort is Effort.MANUAL)
    assert left.code == "A004" and "from C++ only" in left.message and left.line == 2
    bare = ported('const char* s = "__global__ void k(half *x) { *x = __float2half(1); }";\n' + use("s"), "a.c")
    assert not [f for f in bare.findings if f.effort is Effort.MANUAL]


def test_both_vendors_keep_their_texts(tmp_path: Path) -> None:
    text = "#include <nvrtc.h>\n" + DONE["constant"]
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.cu").write_text(text)
    porter("port", "--style", "dual", tmp_path / "src", "-o", tmp_path / "out")
    new = (tmp_path / "out/a.cu").read_text()
    amd, both, nvidia = new.partition("#else\n")
    assert "porter::shfl_down_sync" in amd and "porter/warp32.hpp" in amd and both
    assert RAW in nvidia and "porter" not in nvidia
    assert "porter::hiprtcCreateProgram" in (tmp_path / "out/porter/hip/cuda_to_hip.h").read_text()
    assert 'R"porter(' in (tmp_path / "out/porter/rtc_headers.hpp").read_text()


def test_the_tree_holds_the_texts_of_its_headers(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("#include <nvrtc.h>\n" + DONE["constant"])
    porter("port", tmp_path / "a.cu", "-o", tmp_path / "out")
    texts = (tmp_path / "out/porter/rtc_headers.hpp").read_text()
    assert (tmp_path / "out/porter/warp32.hpp").read_text() in texts
    assert "porter/rtc.hpp" not in texts and "hiprtcCreateProgram" not in texts
    manifest = json.loads((tmp_path / "out/porter-manifest.json").read_text())
    assert {"porter/rtc.hpp", "porter/rtc_headers.hpp", "porter/warp32.hpp"} <= set(manifest["support"])


@pytest.mark.parametrize(
    "text",
    [
        f"const char *s0 = {RAW};\n" + "".join(f"auto s{n} = s{n - 1};\n" for n in range(1, 500)) + use("s499"),
        "".join(f"const char *f{n}() {{ return f{n - 1}(); }}\n" for n in range(1, 500))
        + f"const char *f0() {{ return {RAW}; }}\n",
    ],
)
def test_chains_that_are_too_long(text: str) -> None:
    assert len(verdict(ported(text))) == 1


_CODE = (
    "__device__",
    "nvrtcCreateProgram(",
    "s",
    "const",
    "char*",
    "#if 1\n",
    "#endif\n",
    "#define ",
    ".c_str()",
    "\n",
)
_MARKS = ('R"(', ')"', '"', "\\", "(", ")", "{", "}", "=", ",", ";", "::", "[", "]")
_PIECES = st.sampled_from((*_CODE, *_MARKS))


@settings(max_examples=40)
@given(st.lists(_PIECES, max_size=30))
def test_any_text_is_survived(pieces: list[str]) -> None:
    done = ported('nvrtcCreateProgram(a, s, b); const char* s = "__device__";' + "".join(pieces))
    assert all(f.effort in Effort for f in done.findings)
