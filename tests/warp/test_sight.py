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
