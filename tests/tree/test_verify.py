"""`porter port --verify`: what the compiler says about a port and no rule knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from porter.validation.build.syntax import syntax_tool

from tests.cli.command import porter

UNKNOWN = """#include <cuda_runtime.h>
template <class T> struct Kind;
template <> struct Kind<signed char> { static const int value = 1; };
__global__ void k(char4 *a, int *o) { o[0] = Kind<decltype(a[0].x)>::value; }
"""
MACRO = """#include <cuda_runtime.h>
#define STOP() asm volatile("brkpt;" ::: "memory"); asm volatile("bar.red.popc.u32 %0, %1, %2;" : "=l"(x) : "l"(x))
__global__ void k(int *o) {
  long x = 1;
  STOP();
  o[0] = int(x) + SIZE_OF_THE_BUILD;
}
"""
EXPLAINED = """#include <cuda_runtime.h>
void f(cudaStream_t s) { cudaGraphConditionalHandle h; (void)h; (void)s; }
"""
FINE = "#include <cuda_runtime.h>\n__global__ void k(int *o) { o[threadIdx.x] = 1; }\n"
NOBODY = """#include <cuda_runtime.h>
class Matrix {
  int rows;
};
template <class T> void print(const T *t, const Matrix &m) {
  for (int i = 0; i < m.rows; i++) use(t[i]);
}
__global__ void k(int *p) { p[threadIdx.x] = 1; }
"""
ABSENT = '#include "of_another_library.h"\n#include <cuda_runtime.h>\n__global__ void k(int *o) { missing(o); }\n'


def _tree(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.cu").write_text(text)
    return folder


@pytest.mark.slow
def test_an_error_without_a_finding_becomes_one(tmp_path: Path) -> None:
    if (reason := syntax_tool()) is not None:
        pytest.skip(reason)
    source = _tree(tmp_path / "src", unknown=UNKNOWN, explained=EXPLAINED, fine=FINE, absent=ABSENT)
    done = porter("port", source, "-o", tmp_path / "out", "--verify", "--format", "json")
    found = [f for f in json.loads(done.stdout)["findings"] if f["code"] == "E010"]
    assert [(f["path"], f["line"], f["effort"]) for f in found] == [("unknown.cu", 4, "manual")]
    assert "undefined template 'Kind<char>'" in found[0]["message"]
    assert "1 need headers that are not here; 1 errors at places without a finding" in done.stderr
    assert done.code == 1


@pytest.mark.slow
def test_templates_that_nobody_instantiates_are_looked_at(tmp_path: Path) -> None:
    """nvcc does not look whether a member is private there, clang does."""
    if (reason := syntax_tool()) is not None:
        pytest.skip(reason)
    source = _tree(tmp_path / "src", nobody=NOBODY)
    done = porter("port", source, "-o", tmp_path / "out", "--verify", "--format", "json")
    found = [f for f in json.loads(done.stdout)["findings"] if f["code"] == "E010"]
    assert [(f["path"], f["line"], f["effort"]) for f in found] == [("nobody.cu", 6, "manual")]
    assert "'rows' is a private member of 'Matrix'" in found[0]["message"]


@pytest.mark.slow
def test_macros_explain_where_they_are_used(tmp_path: Path) -> None:
    """Those whose bodies are left by hand, and those of the build."""
    if (reason := syntax_tool()) is not None:
        pytest.skip(reason)
    source = _tree(tmp_path / "src", macro=MACRO)
    (source / "CMakeLists.txt").write_text("project(a)\nadd_definitions(-DSIZE_OF_THE_BUILD=3)\n")
    done = porter("port", source, "-o", tmp_path / "out", "--verify", "--format", "json")
    found = [f["message"] for f in json.loads(done.stdout)["findings"] if f["code"] == "E010"]
    assert len(found) == 1
    assert "undeclared identifier 'SIZE_OF_THE_BUILD'; CMakeLists.txt:2 has the name" in found[0]


@pytest.mark.slow
def test_included_sources_are_parts(tmp_path: Path) -> None:
    if (reason := syntax_tool()) is not None:
        pytest.skip(reason)
    whole = '#include <cuda_runtime.h>\ntypedef int own;\n#include "part.cu"\n'
    source = _tree(tmp_path / "src", whole=whole, part="__global__ void k(own *o) { o[0] = 1; }\n")
    done = porter("port", source, "-o", tmp_path / "out", "--verify")
    assert (done.code, "verify: 1 of 1 translation units compile" in done.stderr) == (0, True)


@pytest.mark.slow
def test_a_port_that_compiles_is_done(tmp_path: Path) -> None:
    if (reason := syntax_tool()) is not None:
        pytest.skip(reason)
    done = porter("port", _tree(tmp_path / "src", fine=FINE), "-o", tmp_path / "out", "--verify")
    assert (done.code, "verify: 1 of 1 translation units compile" in done.stderr) == (0, True)


def test_it_needs_a_tree_to_compile(tmp_path: Path) -> None:
    done = porter("port", _tree(tmp_path / "src", fine=FINE), "--diff", "--verify")
    assert (done.code, "--verify goes with -o OUT" in done.stderr) == (2, True)
