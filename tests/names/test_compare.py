"""Comparing prototypes: what a caller notices."""

from __future__ import annotations

import pytest

from porter.names.derive.compare import Comparison
from porter.names.derive.declarations import Prototype
from porter.names.derive.reader import read_declarations

RENAMES = {
    "same_t": "same_t",
    "cudaStream_t": "hipStream_t",
    "cudaError_t": "hipError_t",
    "CUdevice": "hipDevice_t",
    "cudaKind": "hipKind",
}
CUDA = {"same_t": "same_v2", "cudaStream_t": "CUstream_st *", "CUdevice": "int", "cuuint_t": "unsigned int"}
HIP = {"same_t": "same_v1", "hipStream_t": "ihipStream_t *", "hipDevice_t": "int"}


def prototypes(*texts: str) -> list[Prototype]:
    """Prototypes of declarations."""
    return [d.overloads[0] for text in texts for d in read_declarations(text, "a.h") if d.kind == "function"]


def compare(cuda: list[str], hip: list[str], overloaded: bool = False) -> tuple[str, str] | None:
    """Text and effort of the difference."""
    comparison = Comparison(
        lambda word: RENAMES.get(word, ""),
        lambda w: CUDA.get(w, ""),
        lambda w: HIP.get(w, ""),
        {"cudaKind"}.__contains__,
    )
    found = comparison.difference(prototypes(*cuda), prototypes(*hip), overloaded)
    return None if found is None else (found.text, found.effort)


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("cudaError_t f(cudaStream_t s);", "hipError_t f(hipStream_t s);"),
        ("int f(CUdevice d);", "int f(int d);"),
        ("int f(int n);", "int f(size_t n);"),
        ("int f(cuuint_t n);", "int f(uint32_t n);"),
        ("int f(int *p);", "int f(void *p);"),
        ("int f(float v);", "int f(double v);"),
        ("int f(same_t *v);", "int f(same_v1 *v);"),
        ("int f(int a);", "int f(int a, int b = 0);"),
        ("int f(enum cudaKind k);", "int f(int k);"),
        ("int f(int a);", "bool f(int a);"),
    ],
)
def test_same_call(cuda: str, hip: str) -> None:
    """The call that CUDA takes compiles and means the same."""
    assert compare([cuda], [hip]) is None


@pytest.mark.parametrize(
    ("cuda", "hip", "words", "effort"),
    [
        ("int f(int a, int b);", "int f(int a);", "1 fewer argument (b)", "manual"),
        ("int f(int a);", "int f(int a, void *log, size_t n);", "2 more arguments (log, n)", "manual"),
        ("int f(int a = 0);", "int f(int a);", "optional in CUDA are required", "manual"),
        ("int f(int *n);", "int f(size_t *n);", "argument 1 (n) is int* in CUDA, size_t* in HIP", "manual"),
        ("int f(size_t n);", "int f(int n);", "argument 1 (n) is size_t in CUDA, int in HIP", "review"),
        ("int f(void *dst, size_t n);", "int f(size_t n, void *dst);", "other argument order", "manual"),
        ("int f(int a);", "long long f(int a);", "returns int in CUDA, long long in HIP", "review"),
        ("int f(cudaUnknown_t a);", "int f(hipOther_t a);", "cudaUnknown_t in CUDA, hipOther_t in HIP", "review"),
    ],
)
def test_differences(cuda: str, hip: str, words: str, effort: str) -> None:
    """Each kind of difference, and the work it leaves."""
    found = compare([cuda], [hip])
    assert found is not None
    assert words in found[0]
    assert found[1] == effort


def test_overloads() -> None:
    """The first overload has to match; one that HIP lacks is worth a look; a set needs one in common."""
    cuda = ["int f(int *e);", "int f(int *e, unsigned flags);"]
    assert compare(cuda, ["int f(int *e);", "int f(int *e, unsigned flags);"]) is None
    missing = compare(cuda, ["int f(int *e);"])
    assert missing is not None
    assert missing == ("HIP lacks the overload (int*, unsigned)", "review")
    assert compare(cuda, ["int f(int *e);"], overloaded=True) is None
    assert compare(["int f(float *e);"], ["int f(int *e);"], overloaded=True) is not None
