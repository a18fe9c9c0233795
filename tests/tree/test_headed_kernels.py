"""Kernels whose head a macro of a header writes: what is found in them is theirs."""

from __future__ import annotations

from pathlib import Path

from tests.tree.trees import make_tree, port

HEADS = """#pragma once
#define KERNEL(name) extern "C" __global__ void name
#define GLOBAL_FN(n) __global__ void __launch_bounds__(n)
#define DEVICE_FN __device__ __forceinline__
#define CALL(name) name
"""
SOURCE = """#include "heads.h"
__global__ void plain(int *p) { *p = __shfl_sync(~0u, *p, 3); }
KERNEL(first)(int *p) { *p = __shfl_sync(~0u, *p, 3); }
namespace mine {
GLOBAL_FN(128) second(int *p) { *p = __shfl_sync(~0u, *p, 3); }
DEVICE_FN int helper(int v) { return __shfl_sync(~0u, v, 3); }
}
void host(int *p) { CALL(cudaFree)(p); }
int CALL(other)(int *p) { return cudaFree(p); }
"""


def test_a_finding_names_the_kernel_that_a_headers_macro_begins(tmp_path: Path) -> None:
    make_tree(tmp_path / "src", {"a.cu": SOURCE, "heads.h": HEADS})
    report = port(tmp_path / "src", tmp_path / "out").report
    live = [one for path, one in report.findings if path == "a.cu"]
    found = {(one.line, one.kernel) for one in live if one.code == "A004"}
    assert found == {(2, "plain"), (3, "first"), (5, "mine::second"), (6, "mine::helper")}
    assert {one.kernel for one in live if one.line in (8, 9)} == {None}
    kernels = {line.model["qualified"]: line.counts.rewritten for line in report.kernels}
    assert kernels == {"plain": 1, "first": 1, "mine::second": 1}


def test_the_same_with_the_macro_in_the_file(tmp_path: Path) -> None:
    own = HEADS.replace("#pragma once\n", "") + SOURCE.partition("\n")[2]
    make_tree(tmp_path / "src", {"a.cu": own})
    report = port(tmp_path / "src", tmp_path / "out").report
    found = [one.kernel for _, one in report.findings if one.code == "A004"]
    assert found == ["plain", "first", "mine::second", "mine::helper"]


BOTH_SIDES = """#pragma once
#ifdef __CUDACC__
#define HD __host__ __device__
#define HD_INLINE HD inline
#define DEVICE_INLINE __device__ inline
#else
#define HD
#define HD_INLINE inline
#endif
"""
FOR_BOTH = """#include "sides.h"
HD double first(double k, double s) { return max(k - s, 0.0); }
HD_INLINE float second(float x) { return rsqrtf(x); }
DEVICE_INLINE double third(double k) { return max(k, 0.0) + rsqrtf(3.f); }
struct Payoff { double k; HD double operator()(double s) const { return min(k, s); } };
"""


def test_what_a_macro_makes_for_both_sides_is_for_the_host_too(tmp_path: Path) -> None:
    """HIP's `max` of the host is of `int`s, and it has no `rsqrtf` there: by the file's own macros or a header's."""
    want = FOR_BOTH.replace("max(k - s", "porter::max(k - s").replace("min(k, s", "porter::min(k, s")
    want = want.replace("return rsqrtf", "return porter::rsqrtf").partition("\n")[2]
    own = BOTH_SIDES.replace("#pragma once\n", "") + FOR_BOTH.partition("\n")[2]
    make_tree(tmp_path / "src", {"a.cu": FOR_BOTH, "sides.h": BOTH_SIDES, "b.cu": own})
    port(tmp_path / "src", tmp_path / "out")
    for name in ("a.hip", "b.hip"):
        assert (tmp_path / "out" / name).read_text().endswith(want)
