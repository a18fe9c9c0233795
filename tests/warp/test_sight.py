"""A hazard is the same finding wherever the helper stands that makes it one."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cpp.headers import header_reader
from porter.cpp.lex import lex
from porter.cpp.program import Program
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.model import Settings
from porter.names.table import load_names
from porter.project.port import Request, port_to
from porter.settings import Choices
from porter.source import SourceFile

PROBES = {
    "W102 of a lane": (
        "W102",
        "{template}__device__ int place_of({p}) {{ return threadIdx.x & 31; }}",
        "#define place_of({m}) (threadIdx.x & 31)",
        "__global__ void k(int *x) { int v = x[0]; if (place_of(ARG) < 5) v += __shfl_down_sync(0xffffffff, v, 1);"
        " x[0] = v; }",
    ),
    "W101 after a return": (
        "W101",
        "{template}__device__ int next_of({q}) {{ return __shfl_down_sync(0xffffffff, v, 1); }}",
        "#define next_of(v{n}) __shfl_down_sync(0xffffffff, v, 1)",
        "__global__ void k(int *x, int n) { int i = threadIdx.x; if (i >= n) return; x[i] = next_of(x[i]MORE); }",
    ),
    "W102 of a shuffle": (
        "W102",
        "{template}__device__ int next_of({q}) {{ return __shfl_down_sync(0xffffffff, v, 1); }}",
        "#define next_of(v{n}) __shfl_down_sync(0xffffffff, v, 1)",
        "__global__ void k(int *x) { int v = x[0]; if ((threadIdx.x & 31) < 5) v += next_of(vMORE); x[0] = v; }",
    ),
    "S103 of a lane": (
        "S103",
        "{template}__device__ int place_of({p}) {{ return threadIdx.x & 31; }}",
        "#define place_of({m}) (threadIdx.x & 31)",
        "__global__ void k(int *x) { if (place_of(ARG) == 0) __syncthreads(); x[0] = 1; }",
    ),
    "S103 of a barrier": (
        "S103",
        "{template}__device__ void meet({p}) {{ __syncthreads(); }}",
        "#define meet({m}) __syncthreads()",
        "__global__ void k(int *x) { if ((threadIdx.x & 31) == 0) meet(ARG); x[0] = 1; }",
    ),
    "S102 of a lock": (
        "S102",
        "{template}__device__ bool take(int *m{r}) {{ return atomicCAS(m, 0, 1) == 0; }}",
        "#define take(m{n}) (atomicCAS(m, 0, 1) == 0)",
        "__global__ void k(int *x) { while (!take(xMORE)); x[1] = 1; }",
    ),
    "S102 of a flag": (
        "S102",
        "{template}__device__ int state_of(int *m{r}) {{ return *(volatile int *)m; }}",
        "#define state_of(m{n}) (*(volatile int *)(m))",
        "__global__ void k(int *x) { while (state_of(xMORE) == 0); x[1] = 1; }",
    ),
    "S102 of a taken lock": (
        "S102",
        "{template}__device__ bool take(int *m{r}) {{ return atomicCAS(m, 0, 1) == 0; }}",
        "#define take(m{n}) (atomicCAS(m, 0, 1) == 0)",
        "__global__ void k(int *x) { for (bool done = false; !done;) { if (take(xMORE)) {"
        " x[1] += 1; atomicExch(x, 0); done = true; } } }",
    ),
}
PLACES = ("file", "header", "header of a header", "template", "macro")


def tree(probe: str, place: str) -> tuple[str, dict[str, str]]:
    """The file with the kernel, and the headers."""
    _, function, macro, kernel = PROBES[probe]
    generic = place == "template"
    fields = {
        "template": "template <class T> " if generic else "",
        "p": "T" if generic else "",
        "q": "int v, T" if generic else "int v",
        "r": ", T" if generic else "",
        "m": "",
        "n": "",
    }
    helper = (macro if place == "macro" else function).format(**fields)
    kernel = kernel.replace("ARG", "1" if generic else "").replace("MORE", ", 1" if generic else "")
    if place == "file":
        return f"{helper}\n{kernel}\n", {}
    inner = f"#pragma once\n{helper}\n"
    if place == "header":
        return f'#include "a.cuh"\n{kernel}\n', {"a.cuh": inner}
    return f'#include "a.cuh"\n{kernel}\n', {"a.cuh": '#pragma once\n#include "sub/b.cuh"\n', "sub/b.cuh": inner}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("probe", PROBES)
def test_a_helper_is_seen_wherever_it_stands(tmp_path: Path, probe: str, place: str) -> None:
    """In the file, a header, a header's header, as a template, as a macro."""
    text, headers = tree(probe, place)
    for name, content in headers.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    code = PROBES[probe][0]
    rules = tuple(rule for rule in all_rules() if rule.code == code)
    context = Context(
        Settings(), load_names(None, {}), load_support(None), rules, included_file=header_reader(tmp_path, ())
    )
    found = [f for f in port(SourceFile("k.cu", text.encode()), context, "k.hip").findings if f.code == code]
    assert len(found) == 1
    assert found[0].kernel == "k"
    without = port(
        SourceFile("k.cu", text.encode()), Context(Settings(), load_names(None, {}), load_support(None), rules), "k.hip"
    )
    assert bool(without.findings) == (place == "file")


WAITING = {
    "lock": "__device__ void take(int *m) { while (atomicCAS(m, 0, 1) != 0); }",
    "lock of a template": "template <class T> __device__ void take(T *m) { while (atomicCAS(m, 0, 1) != 0); }",
    "lock by a helper": "__device__ bool won(int *m) { return atomicExch(m, 1) == 0; }\n"
    "__device__ void take(int *m) { while (!won(m)) __nanosleep(9); }",
    "lock in a helper": "__device__ void spin(int *m) { while (atomicCAS(m, 0, 1) != 0); }\n"
    "__device__ void take(int *m) { if (*m >= 0) spin(m); }",
    "macro": "#define LOCK(m) while (atomicCAS(m, 0, 1) != 0)\n__device__ void take(int *m) { LOCK(m); }",
    "flag": "__device__ void take(volatile int *m) { while (*m == 0); }",
}


def _waits(tmp_path: Path, text: str, headers: dict[str, str]) -> list[str | None]:
    for name, content in headers.items():
        (tmp_path / name).write_text(content)
    rules = tuple(rule for rule in all_rules() if rule.code == "S102")
    context = Context(
        Settings(), load_names(None, {}), load_support(None), rules, included_file=header_reader(tmp_path, ())
    )
    return [finding.kernel for finding in port(SourceFile("k.cu", text.encode()), context, "k.hip").findings]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("helper", WAITING)
def test_a_call_of_what_waits_in_a_header_is_found_where_it_stands(tmp_path: Path, helper: str, nested: bool) -> None:
    """The kernel that calls it can hang, and it is no file of its own that says so."""
    text = '#include "a.cuh"\n__global__ void k(int *x) { take(x); x[1] = 1; }\n'
    inner = f"#pragma once\n{WAITING[helper]}\n"
    headers = {"a.cuh": '#pragma once\n#include "b.cuh"\n', "b.cuh": inner} if nested else {"a.cuh": inner}
    assert _waits(tmp_path, text, headers) == ["k"]


@pytest.mark.parametrize("helper", [helper for helper in WAITING if helper != "flag"])
def test_one_thread_of_the_block_may_wait_in_a_header(tmp_path: Path, helper: str) -> None:
    """It holds the lock or another block does."""
    text = '#include "a.cuh"\n__global__ void k(int *x) { if (threadIdx.x == 0) take(x); x[1] = 1; }\n'
    assert not _waits(tmp_path, text, {"a.cuh": f"#pragma once\n{WAITING[helper]}\n"})


MEMBER = """#pragma once
struct Meeting {
  int *place;
  __device__ void enter(int *p) { while (atomicCAS(p, 0, 1) != 0); }
  __device__ void sync() { GUARD enter(place); __syncthreads(); }
};
struct Sum {
  Meeting meeting;
  int of;
  __device__ int all(int v) { meeting.sync(); return v + of; }
};
"""


@pytest.mark.parametrize(
    ("guard", "found"),
    [("if (threadIdx.x == 0)", []), ("if (of == 0)", ["k"]), ("if (threadIdx.x < 2)", ["k"]), ("", ["k"])],
)
def test_one_thread_of_the_block_may_wait_in_a_member_of_a_member(tmp_path: Path, guard: str, found: list[str]) -> None:
    """`threadIdx` is the thread's in a member function as well, whatever the object."""
    text = '#include "a.cuh"\n__global__ void k(int *x) { Sum sum{{x}, 1}; x[1] = sum.all(x[2]); }\n'
    assert _waits(tmp_path, text, {"a.cuh": MEMBER.replace("GUARD", guard)}) == found


LOCKSTEP = {
    "bound": ("constexpr int kHalf = 16;", "if (t < kHalf) { s[t] += s[t + 16]; s[t] += s[t + 8]; }"),
    "macro of a step": ("#define STEP(s, o) s[t] += s[t + (o)]", "if (t < 16) { STEP(s, 16); STEP(s, 8); }"),
    "lane": (
        "__device__ int lane_of() { return threadIdx.x & 31; }",
        "int l = lane_of(); if (l < 16) { s[l] += s[l + 16]; s[l] += s[l + 8]; }",
    ),
}


def _exchanges(tmp_path: Path, helper: str, kernel: str, *, header: bool) -> list[tuple[str | None, bool]]:
    (tmp_path / "a.cuh").write_text(f"#pragma once\n{helper}\n")
    start = '#include "a.cuh"\n' if header else f"{helper}\n"
    text = f"{start}__global__ void k(float *out) {{ __shared__ float s[64]; int t = threadIdx.x; s[t] = out[t];"
    rules = tuple(rule for rule in all_rules() if rule.code == "S101")
    context = Context(
        Settings(), load_names(None, {}), load_support(None), rules, included_file=header_reader(tmp_path, ())
    )
    ported = port(SourceFile("k.cu", f"{text} __syncthreads(); {kernel} }}\n".encode()), context, "k.hip")
    return [(finding.kernel, bool(finding.edits)) for finding in ported.findings]


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("probe", LOCKSTEP)
def test_lockstep_is_seen_through_what_a_header_has(tmp_path: Path, probe: str, header: bool) -> None:
    """Constants, macros and lane numbers."""
    assert _exchanges(tmp_path, *LOCKSTEP[probe], header=header) == [("k", True)]


def test_a_barrier_in_a_branch_of_a_header_is_none_that_a_caller_counts_on(tmp_path: Path) -> None:
    """Barriers too many cost nothing."""
    helper = "template <int N> __device__ void fold(float *s) { if (N > 32) { __syncthreads(); } s[0] = 1; }"
    kernel = "if (t < 32) { s[t] = 1; fold<16>(s); out[t] = s[t + 1]; }"
    assert _exchanges(tmp_path, helper, kernel, header=True) == [("k", True)]
    helper = "__device__ void fold(float *s) { __syncthreads(); s[0] = 1; __syncthreads(); }"
    assert not _exchanges(tmp_path, helper, kernel.replace("<16>", ""), header=True)


STEPPING = "__device__ void fold(float *s, int t) { s[t] += s[t + 16]; s[t] += s[t + 8]; }"


def test_a_helper_of_a_header_that_lacks_barriers_is_named_where_a_warp_calls_it(tmp_path: Path) -> None:
    """By itself it does not say that a warp runs it, so its own port has none."""
    found = _exchanges(tmp_path, STEPPING, "if (t < 32) fold(s, t);", header=True)
    assert found == [("k", False)]


@pytest.mark.parametrize(
    "helper",
    [
        "__device__ void fold(float *s, int t) { s[t] += s[t + 16]; __syncwarp(); s[t] += s[t + 8]; }",
        "__device__ void fold(volatile float *s, int t) { s[t] += s[t + 16]; s[t] += s[t + 8]; }",
        "__device__ void fold(float *s, int t) { for (int o = 16; o > 0; o >>= 1) s[t] += s[t + o]; }",
        "__device__ void fold(float *s, int t) { s[t] += 1; }",
    ],
)
def test_helpers_of_headers_that_are_right_or_get_their_barriers_there(tmp_path: Path, helper: str) -> None:
    assert not _exchanges(tmp_path, helper, "if (t < 32) fold(s, t);", header=True)


def test_a_lock_that_a_header_gives_back_itself_needs_nothing_where_it_is_called(tmp_path: Path) -> None:
    """Its own port has the barrier."""
    held = (
        "__device__ void add(int *m, int *x) { for (bool done = false; !done;) { if (atomicCAS(m, 0, 1) == 0) {"
        " *x += 1; atomicExch(m, 0); done = true; } } }"
    )
    text = '#include "a.cuh"\n__global__ void k(int *x) { add(x, x + 1); }\n'
    assert not _waits(tmp_path, text, {"a.cuh": f"#pragma once\n{held}\n"})


def test_only_constants_that_are_in_sight_are_brought(tmp_path: Path) -> None:
    """Variables of the file and of host functions of headers are other things than constants of the same name."""
    header = (
        "constexpr int kLanes = 32;\nconst int n = 5;\n"
        "inline int host() { const int local = 3; return local; }\nstruct S { static constexpr int kRows = 4; };\n"
    )
    (tmp_path / "a.cuh").write_text(header)
    source = SourceFile("k.cu", b'#include "a.cuh"\n__global__ void k(int n) { n += kLanes + local + S::kRows; }\n')
    program = Program(source, lex(source.text), header_reader(tmp_path, ()))
    assert sorted(program.brought({"n", "kLanes", "local", "kRows"}).splitlines()) == [
        "constexpr int kLanes = 32;",
        "constexpr int kRows = 4;",
    ]


WAVE64 = {
    "V105 of a lane": (
        "V105",
        "__device__ inline int place_of() { return threadIdx.x & 31; }",
        "__global__ void k(int *x) { int v = __shfl(x[threadIdx.x], 0); if (place_of() == 0) x[0] = v; }",
    ),
    "V103 of a lane": (
        "V103",
        "__device__ inline int place_of() { return threadIdx.x & 63; }",
        "__global__ void k(int *x) { x[threadIdx.x] = __popcll(__ballot(x[0]) & ((1 << place_of()) - 1)); }",
    ),
    "V106 of a size": (
        "V106",
        "constexpr int kWave = 64;",
        "__global__ void k(int *x) { int lane = threadIdx.x % kWave; int wave = threadIdx.x / 32; x[wave] = lane; }",
    ),
    "V108 of a macro": (
        "V108",
        "#ifdef __HIP_PLATFORM_AMD__\n#define WAVE_SIZE warpSize\n#endif",
        "__global__ void k(int *x) { __shared__ int s[WAVE_SIZE]; s[threadIdx.x] = x[0]; }",
    ),
}


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("probe", WAVE64)
def test_what_counts_lanes_of_64_is_seen_in_headers(tmp_path: Path, probe: str, inside: bool) -> None:
    """Helpers, constants and macros of HIP code, in the file or in a header."""
    code, helper, kernel = WAVE64[probe]
    (tmp_path / "a.h").write_text(f"#pragma once\n{helper}\n")
    text = f"{helper}\n{kernel}\n" if inside else f'#include "a.h"\n{kernel}\n'
    rules = tuple(rule for rule in all_rules() if rule.code.startswith("V"))
    context = Context(
        Settings(), load_names(None, {}), load_support(None), rules, included_file=header_reader(tmp_path, ())
    )
    found = port(SourceFile("k.hip", text.encode()), context, "k.hip").findings
    assert [finding.code for finding in found] == [code]


def test_a_lane_function_of_the_project_is_what_it_returns(tmp_path: Path) -> None:
    """`lane_id` is HIP's for 64 lanes; a project's own that counts by 32 is not taken for it."""
    (tmp_path / "a.h").write_text("__device__ inline int lane_id() { return threadIdx.x & 31; }\n")
    kernel = '#include "a.h"\n__global__ void k(int *x) { if (lane_id() < 4) x[threadIdx.x] = 1 << lane_id(); }\n'
    rules = tuple(rule for rule in all_rules() if rule.code.startswith("V"))
    context = Context(
        Settings(), load_names(None, {}), load_support(None), rules, included_file=header_reader(tmp_path, ())
    )
    assert not port(SourceFile("k.hip", kernel.encode()), context, "k.hip").findings


SHUFFLE = "namespace u { static __device__ int shfl(int v, unsigned m = ALL) { return __shfl_sync(m, v, 0); } }\n"
LEFT_TO_THE_SOURCE = {
    "include/all.h": "#define ALL 0xffffffff\n",
    "include/u.inl": "#include <all.h>\n" + SHUFFLE,
    "include/set.inl": "__device__ inline int get(int *p) { return threadIdx.x & 1 ? u::shfl(*p) : 0; }\n",
    "src/a.cu": "#include <u.inl>\n#include <set.inl>\n__global__ void k(int *p) { p[threadIdx.x] = get(p); }\n",
}


def _left(root: Path, out: Path) -> tuple[set[tuple[str, str]], int]:
    """The findings of W102 by path and function, and how many files were done already."""
    answer = port_to(Request(root, Choices(), 1), out)
    found = {(one.path, one.entry.kernel or "") for one in answer.report.findings if one.entry.code == "W102"}
    return found, answer.run.reused


def test_a_header_may_leave_its_helpers_to_the_source_that_includes_it(tmp_path: Path) -> None:
    """They are found again when they change, and nothing is done again for a change in the source itself."""
    root, out = tmp_path / "in", tmp_path / "out"
    for name, text in LEFT_TO_THE_SOURCE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert _left(root, out) == ({("include/set.inl", "get")}, 0)
    (root / "src/a.cu").write_text(LEFT_TO_THE_SOURCE["src/a.cu"] + "// more\n")
    assert _left(root, out) == ({("include/set.inl", "get")}, 3)
    (root / "include/all.h").write_text("#define ALL __activemask()\n")
    assert _left(root, out) == (set(), 0)


def test_a_name_that_the_header_has_itself_is_its_own(tmp_path: Path) -> None:
    """What the source includes besides does not stand for what the file declares."""
    named = SourceFile("u.inl", SHUFFLE.encode())
    for own in ("__device__ int shfl(int v);\n", "struct u { __device__ static int shfl(int v) { return v; } };\n"):
        source = SourceFile("set.inl", f"{own}{LEFT_TO_THE_SOURCE['include/set.inl']}".encode())
        assert Program(source, lex(source.text), None, lambda: (named,)).brought({"shfl"}) == ""
    source = SourceFile("set.inl", LEFT_TO_THE_SOURCE["include/set.inl"].encode())
    assert Program(source, lex(source.text), None, lambda: (named,)).brought({"shfl"}) in SHUFFLE
