"""W113: shuffles and votes over 64 lanes in a project's own branch for AMD, in many spellings."""

from __future__ import annotations

import pytest

from tests.warp.spelled import codes, missed

SYNC = "__shfl_sync(~0u, v, l)"
IF = "#ifdef USE_ROCM\n@\n#else\n$\n#endif\n"
HELPER = "__device__ float s(float v, int l) { $ }"


def _branches(own: str, other: str, written: str = IF) -> str:
    return written.replace("@", own).replace("$", other)


CONDITIONS = [
    IF,
    *(IF.replace("#ifdef USE_ROCM", line) for line in ("#if defined(USE_ROCM)", "#if USE_ROCM", "#ifdef __HIPCC__")),
    *(IF.replace("USE_ROCM", name) for name in ("__HIP_PLATFORM_AMD__", "__HIP_DEVICE_COMPILE__")),
    "#ifndef USE_ROCM\n$\n#else\n@\n#endif\n",
    "#if defined(USE_CUDA)\n$\n#elif defined(USE_ROCM)\n@\n#endif\n",
    pytest.param("#ifdef USE_ROCM\n@\n#endif\n#ifndef USE_ROCM\n$\n#endif\n", marks=pytest.mark.xfail(strict=True)),
]


@pytest.mark.parametrize("written", CONDITIONS)
def test_conditions(written: str) -> None:
    assert "W113" in codes(_branches("#define S(v, l) __shfl(v, l)", f"#define S(v, l) {SYNC}", written))


FORMS = [
    ("#define S __shfl", f"#define S(v, l) {SYNC}"),
    ("#define S(v, l) __shfl((v), (l))", f"#define S(v, l) {SYNC}"),
    ("#define S(v, l) __shfl(v, l)", "#define S(v, l) __shfl_sync(FULL, v, l, 32)"),
    ("#define S(...) __shfl(__VA_ARGS__)", "#define S(...) __shfl_sync(~0u, __VA_ARGS__)"),
    *(
        (HELPER.replace("$", own), HELPER.replace("$", f"return {SYNC};"))
        for own in (
            "return __shfl(v, l);",
            "return ::__shfl(v, l);",
            "return (float)__shfl(v, l);",
            "float r = __shfl(v, l); return r;",
            "v = __shfl(v, l); return v;",
            "return __shfl(v, l) + 1;",
        )
    ),
    ("template<class T> __device__ T s(T v, int l) { return __shfl(v, l); }", f"#define s(v, l) {SYNC}"),
    ("namespace w { __device__ float s(float v, int l) { return __shfl(v, l); } }", f"#define s(v, l) {SYNC}"),
    ("struct W { __device__ float s(float v, int l) { return __shfl(v, l); } };", f"#define s(v, l) {SYNC}"),
    ("auto s = [] __device__ (float v, int l) { return __shfl(v, l); };", f"#define s(v, l) {SYNC}"),
    ("#define ANY(p) __any(p)", "#define ANY(p) __any_sync(~0u, p)"),
    ("#define ALL(p) __all(p)", "#define ALL(p) __all_sync(~0u, p)"),
    ("#define ANY __any", "#define ANY(p) __any_sync(~0u, p)"),
    ("__device__ bool any(bool p) { return __any(p); }", "__device__ bool any(bool p) { return __any_sync(~0u, p); }"),
    missed("#define BALLOT(p) __ballot(p)\0#define BALLOT(p) __ballot_sync(~0u, p)"),
]


@pytest.mark.parametrize("forms", FORMS)
def test_forms(forms: tuple[str, str] | str) -> None:
    own, other = forms.split("\0") if isinstance(forms, str) else forms
    assert "W113" in codes(_branches(own, other))


@pytest.mark.parametrize("statement", ["v = __shfl(v, 0);", "v += __shfl(v, l);", "int w = __shfl(v, l); v = w;"])
def test_in_a_kernel(statement: str) -> None:
    branches = _branches(statement, f"v = {SYNC};")
    assert "W113" in codes(f"__global__ void k(float *x, int l) {{ float v = x[l];\n{branches} x[l] = v; }}")


NEAR = [
    ("#define S(v, l, w) __shfl(v, l, w)", "#define S(v, l, w) __shfl_sync(~0u, v, l, w)"),
    ("#define S(v, l) __shfl(v, l, 32)", f"#define S(v, l) {SYNC}"),
    ("#define WARP_SIZE 64\n#define S(v, l) __shfl(v, l)", f"#define S(v, l) {SYNC}"),
    ("__device__ float last(float v) { return __shfl(v, warpSize - 1); }", f"#define s(v, l) {SYNC}"),
    ("#define S(v, l) __shfl(v, l)", "#define S(v, l) v"),
    ("#define S(v, l) shfl(v, l)", f"#define S(v, l) {SYNC}"),
    ("#define ANY(p) any(p)", "#define ANY(p) __any_sync(~0u, p)"),
    ("#define LANES 64\n#define ANY(p) __any(p)", "#define LANES 32\n#define ANY(p) __any_sync(~0u, p)"),
]


@pytest.mark.parametrize(("own", "other"), NEAR)
def test_near_misses(own: str, other: str) -> None:
    assert "W113" not in codes(_branches(own, other))


def test_another_choice_is_none_between_vendors() -> None:
    old = "#if CUDART_VERSION >= 9000\n$\n#else\n@\n#endif\n"
    assert "W113" not in codes(_branches("#define S(v, l) __shfl(v, l)", f"#define S(v, l) {SYNC}", old))
