"""The gate says the same with a cold, a warm and somebody else's cache, and in a shallow clone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from porter.check.fail_on import FailOn
from porter.check.result import CheckResult
from porter.check.store import Store
from tests.check.repositories import REDUCE, SPIN, checked, commit, git, repository, told
from tests.cli.command import porter
from tests.tree.trees import make_tree

SETUP = """\
import torch
from torch.utils.cpp_extension import CUDAExtension
version = torch.version.cuda.split('.')
ext = CUDAExtension('a', ['src/a.cu', 'src/b.cu'])
"""
"""K202, by hand."""
HEADER = "#pragma once\n__device__ inline int twice(int v) { return 2 * v; }\n"
FILES = {
    "setup.py": SETUP,
    "src/h.cuh": HEADER,
    "src/a.cu": '#include "h.cuh"\n' + REDUCE,
    "src/b.cu": '#include "h.cuh"\n' + SPIN,
    "src/c.cu": SPIN.replace("locked", "other"),
}
HIP = """\
#include <hip/hip_runtime.h>
__global__ void count(const int *x, int *n) {
  unsigned long long m = __ballot(x[threadIdx.x] > 0);
  if (threadIdx.x % 64 == 0) n[threadIdx.x / 64] = __popcll(m);
}
"""
WRONG = """
__global__ void sum(const float *x, float *y) {
  float v = x[threadIdx.x];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);
  unsigned mask = __ballot(v > 0);
  if (threadIdx.x % 64 == 0) y[threadIdx.x / 64] = v + __ffs(mask);
}
"""

CHANGES: dict[str, Callable[[Path], object]] = {
    "a kernel": lambda root: commit(root, {"src/a.cu": '#include "h.cuh"\n' + REDUCE.replace("0.0f", "1.0f")}),
    "a header": lambda root: commit(root, {"src/h.cuh": HEADER.replace("2 * v", "3 * v")}),
    "a comment of a header": lambda root: commit(root, {"src/h.cuh": HEADER + "// twice\n"}),
    "a new source": lambda root: commit(root, {"src/d.cu": REDUCE}),
    "a new header": lambda root: commit(root, {"src/n.h": "int n();\n"}),
    "a source gone": lambda root: commit(root, None, "src/c.cu"),
    "a name that is CUDA's": lambda root: commit(
        root, {"src/h.cuh": HEADER + "inline int cudaHelper() { return 1; }\n"}
    ),
    "nothing": lambda root: commit(root),
    "what the build lists for AMD": lambda root: commit(
        root, {"CMakeLists.txt": "if(USE_ROCM)\n add_library(k src/c.cu)\nendif()\n"}
    ),
    "the build": lambda root: commit(root, {"setup.py": SETUP + "print(1)\n"}),
}


def _said(result: CheckResult) -> object:
    found = sorted((f.code, f.path, f.line, f.state.value, f.fails) for f in result.findings)
    return found, result.changed, result.dependents, result.passed


@pytest.mark.parametrize("change", CHANGES)
def test_caches_do_not_matter(change: str, tmp_path: Path) -> None:
    """Nothing is new for what the branch did not bring, whatever was known before."""
    root = repository(tmp_path / "p", FILES)
    shared = tmp_path / "shared.sqlite"
    checked(root, store=Store(shared))
    CHANGES[change](root)
    cold = checked(root, "HEAD~1", FailOn.REVIEW)
    assert told(cold) == [], told(cold)
    warm = [checked(root, "HEAD~1", store=Store(shared)) for _ in range(2)]
    assert [_said(one) for one in warm] == [_said(cold)] * 2


def test_only_what_could_come_out_otherwise_is_counted(tmp_path: Path) -> None:
    root = repository(tmp_path / "p", FILES)
    commit(root, {"src/h.cuh": HEADER + "// a comment\n"})
    assert checked(root, "HEAD~1").dependents == ()
    commit(
        root,
        {
            "src/g.cuh": '#include "h.cuh"\n__device__ inline int four(int v) { return twice(twice(v)); }\n',
            "src/b.cu": '#include "g.cuh"\n' + SPIN + "__device__ int eight(int v) { return four(v) * 2; }\n",
        },
    )
    commit(root, {"src/h.cuh": HEADER.replace("2 * v", "4 * v")})
    assert checked(root, "HEAD~1").dependents == ("src/b.cu", "src/g.cuh"), "a.cu comes to nothing of it"
    commit(root, {"src/h.cuh": HEADER + "#include <cstdio>\n"})
    assert checked(root, "HEAD~1").dependents == ("src/a.cu", "src/b.cu", "src/g.cuh"), "an #include may bring anything"


def test_a_shallow_clone(tmp_path: Path) -> None:
    """Where the base is there, the answer is the same; where only its files are, that is said."""
    root = repository(tmp_path / "p", FILES)
    git(root, "checkout", "-q", "-b", "work")
    commit(root, {"src/c.cu": FILES["src/c.cu"] + SPIN})
    git(root, "checkout", "-q", "main")
    commit(root, {"src/a.cu": FILES["src/a.cu"] + "// later\n"})
    git(root, "checkout", "-q", "work")
    whole = checked(root, "main")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", "-b", "work", f"file://{root}", str(clone))
    store = Store(tmp_path / "known.sqlite")
    shallow = checked(clone, "origin/main")
    for again in (shallow, checked(clone, "origin/main", store=store), checked(clone, "origin/main", store=store)):
        assert told(again) == told(whole) == [("S102", "src/c.cu")]
    assert whole.notes == ()
    assert "shallow" in shallow.notes[-1]


def test_a_hip_tree_is_known_by_itself(tmp_path: Path) -> None:
    """New mistakes for 64 lanes close the gate; right code for 64 lanes does not, and is not CUDA's."""
    root = repository(tmp_path / "p", {"src/count.hip": HIP, "src/count.h": "#include <hip/hip_runtime.h>\n"})
    assert not checked(root).findings
    commit(root, {"src/count.hip": HIP + WRONG})
    for store in (Store(None), Store(tmp_path / "known.sqlite"), Store(tmp_path / "known.sqlite")):
        result = checked(root, "HEAD~1", FailOn.HAZARD, store)
        assert {code for code, _ in told(result)} == {"V101", "V102", "V104"}
    assert checked(root, "HEAD~1", FailOn.HAZARD, dialect=(("**", "cuda"),)).findings != result.findings


def test_a_mixed_tree(tmp_path: Path) -> None:
    """Each file has its own meaning, and settings decide where nothing tells."""
    files = {
        "cuda/a.cu": REDUCE,
        "hip/b.hip": HIP + WRONG,
        "common/c.h": "__device__ unsigned f() { return __ballot(1); }\n",
    }
    root = repository(tmp_path / "p", files)
    codes = {(f.code, f.path) for f in checked(root).findings}
    assert {path for _, path in codes} == {"hip/b.hip"}
    told_so = checked(root, dialect=(("common/**", "hip"),))
    assert ("V101", "common/c.h") in {(f.code, f.path) for f in told_so.findings}


@pytest.mark.parametrize("in_git", [True, False])
def test_a_cache_within_the_project_is_no_part_of_it(tmp_path: Path, in_git: bool) -> None:
    """As in a job that may keep files of the project's folder alone; porter's own texts about CUDA lie there."""
    root = repository(tmp_path / "project", FILES) if in_git else make_tree(tmp_path / "project", FILES)
    environment = {"PORTER_CACHE_DIR": str(root / ".porter-cache")}
    first, again = (porter("scan", ".", "--format", "json", folder=root, environment=environment) for _ in range(2))
    assert first.stderr == again.stderr
    assert list((root / ".porter-cache").rglob("*.h")), "clang was asked, and what it is shown is kept"
    assert first.stdout == again.stdout
    if in_git:
        one, two = (porter("check", "--since", "HEAD", folder=root, environment=environment) for _ in range(2))
        assert one.code == two.code == 0, one.stdout + two.stdout
        assert git(root, "status", "--short") == ""
