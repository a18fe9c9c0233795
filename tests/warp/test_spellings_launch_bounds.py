"""W110: bounds of kernels in the ways that they are written: what becomes of the second number, and what is noted."""

from __future__ import annotations

import pytest

from tests.warp.spelled import codes, missed, ported

KERNEL = "__global__ void @ k(float *x) {}\n"
BLOCKS = [
    *(
        KERNEL.replace("@", f"__launch_bounds__({inside})")
        for inside in (
            *("128, 8", " 128 , 8 ", "128,\n 8", "128, /* blocks */ 8", "128, 0x8", "128, 1", "128, MIN", "(N > M), 8"),
            *(
                "128, sizeof(float) > 4 ? 2 : 4",
                "N > 4 ? 128 : 256, 8",
                "min(128, N), max(1, M)",
                "a::T, 8",
                "128, 8, 2",
            ),
            *("P::threads, P::blocks", "Z<P, Q>::threads, Z<P, Q>::blocks", "128, f<1, 2>()", "128, (8)"),
        )
    ),
    "__global__ void __launch_bounds__ (128, 8) k(float *x) {}",
    "__launch_bounds__(128, 8) __global__ void k(float *x) {}",
    "__global__ void k(float *x) __launch_bounds__(128, 8);",
    'extern "C" __global__ __launch_bounds__(128, 8) void k(float *x) {}',
    "__global__ void __launch_bounds__(128, 8) __maxnreg__(64) k(float *x) {}",
    "template<int T, int B> __global__ void __launch_bounds__(T, B) k(float *x) {}",
    "struct S { static __global__ void __launch_bounds__(128, 8) k(float *x) {} };",
    "namespace n { __global__ void __launch_bounds__(128, 8) k(float *x) {} }",
    "#define BOUNDS __launch_bounds__(128, 8)\n__global__ void BOUNDS k(float *x) {}",
    "#define LB(t, b) __launch_bounds__(t, b)\n__global__ void LB(128, 8) k(float *x) {}",
    "#define K(n) __global__ __launch_bounds__(128, n) void k##n(float *x) {}\nK(4)",
    "auto a = [] __device__ __launch_bounds__(128, 8) () {};",
    "#ifdef A\n#define B __launch_bounds__(128, 8)\n#else\n#define B\n#endif\n__global__ void B k(float *x) {}",
    missed("#define LB(...) __launch_bounds__(__VA_ARGS__)\n__global__ void LB(128, 8) k(float *x) {}"),
    missed("#define LB __launch_bounds__\n__global__ void LB(128, 8) k(float *x) {}"),
    missed("#define ARGS 128, 8\n__global__ void __launch_bounds__(ARGS) k(float *x) {}"),
    missed("__global__ void __attribute__((launch_bounds(128, 8))) k(float *x) {}"),
]


@pytest.mark.parametrize("text", BLOCKS)
def test_blocks_become_waves(text: str) -> None:
    done = ported(text).data.decode()
    assert "porter::waves_per_simd(" in done
    assert ported(done, "a.hip").data.decode() == done


NONE = ["128", "128, 0", "128, MIN", "", "128, porter::waves_per_simd(128, 8)"]


@pytest.mark.parametrize("inside", NONE)
def test_no_number_of_blocks(inside: str) -> None:
    text = f"#define MIN 0\n{KERNEL.replace('@', f'__launch_bounds__({inside})')}"
    assert f"__launch_bounds__({inside}) k" in ported(text).data.decode()


def test_the_projects_own_branch_for_amd_stays() -> None:
    own = KERNEL.replace("@", "__launch_bounds__(128, 8)")
    done = ported(f"#ifdef __HIP_PLATFORM_AMD__\n{own}#else\n{own.replace('8', '4')}#endif\n").data.decode()
    assert own in done
    assert done.count("waves_per_simd(") == 1


COUNTED = [
    *(
        "32 * 8",
        "8 * 32",
        "W << 5",
        "(N + 1) * 32",
        "warp_size * N",
        "kWarps * kWarpSize",
        "T",
        "E",
        "M",
        "32 * W",
        "2 * T",
    ),
    missed("C::S"),
    missed("N * 32 / 4"),
]
_BEFORE = """constexpr int T = 32 * 4;
enum { E = WARP_SIZE * 4 };
#define M (32 * 4)
struct C { static constexpr int S = 4 * 32; };
"""


@pytest.mark.parametrize("inside", COUNTED)
def test_bounds_in_warps_are_noted(inside: str) -> None:
    assert "W110" in codes(f"{_BEFORE}template<int W> {KERNEL.replace('@', f'__launch_bounds__({inside})')}")


@pytest.mark.parametrize("inside", ["128", "N", "16 * 16", "4 * 4 * 2 * 4", "1 << 8", "32", "N * 64", "T::n"])
def test_other_bounds_are_not(inside: str) -> None:
    assert "W110" not in codes(f"{KERNEL.replace('@', f'__launch_bounds__({inside})')}")
