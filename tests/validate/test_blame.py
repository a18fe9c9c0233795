"""Wrong values that are the compiler's and not the port's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices.core.result import Fault, FaultKind, Ran
from porter.validation.devices.device import Program
from porter.validation.run.blame import SUSPECTS, UNDEFINED, Undefined, compiler_verdict, undefined_verdict
from porter.validation.verdict.outcome import Status

from tests.devices.conftest import Compile, compile_hip, device
from tests.validate.running import by_name, run, write_case

__all__ = ["compile_hip", "device"]

FAR = """
__global__ void far(const unsigned char* a, const unsigned char* b, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char p = a[i], q = b[i];
  y[i] = (p < q ? q - p : p - q) + p;
}
"""
"""The SDWA peephole of clang 19.1 loses the comparison."""
CASE = """
sweep = { n = 300 }
grid = "ceil_div(n, 128)"
block = 128
arguments = ["in a: uint8[n]", "in b: uint8[n]", "out y: int32[n]", "scalar n: int32 = n"]
reference = "r.py:far"
tolerance = "exact"
"""
REFERENCE = "def far(a, b): return abs(a.astype('int32') - b.astype('int32')) + a.astype('int32')\n"
OWN = Program(Path("k.hip"), "k", "hip", options=("-O3",))


@pytest.mark.slow
def test_a_miscompiled_port_is_wrong_and_the_compiler_is_named(tmp_path: Path) -> None:
    path = write_case(tmp_path, "far", CASE, FAR)
    (tmp_path / "r.py").write_text(REFERENCE)
    case = by_name(run(path))["far"]
    assert case.status is Status.PASSED or "the compiler's SDWA peephole" in case.reason


@pytest.mark.slow
def test_a_port_that_is_wrong_by_itself_is_not_the_compilers(tmp_path: Path) -> None:
    path = write_case(tmp_path, "far", CASE, FAR.replace("q - p : p - q", "q - p : p + q"))
    (tmp_path / "r.py").write_text(REFERENCE)
    case = by_name(run(path))["far"]
    assert case.status is Status.WRONG_VALUES and "compiled with" not in case.reason


def passing_with(*flags: str) -> Callable[[Program], bool]:
    """A kernel that is right when all of these were given."""
    return lambda program: set(flags) <= set(program.options)


LOW = """
__global__ void low(const unsigned* x, const int* bits, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] & ((1u << bits[i]) - 1u);
}
"""
LOW_CASE = """
sweep = { n = 300 }
grid = "ceil_div(n, 128)"
block = 128
arguments = [
  "in x: uint32[n]", "in bits: int32[n] = integers(1, END)", "out y: uint32[n]", "scalar n: int32 = n",
]
reference = "r.py:low"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "last", "said"),
    [
        pytest.param(LOW, 32, "at k.hip:", id="a shift by the width"),
        pytest.param(LOW.replace("- 1u)", "- 2u)"), 31, "", id="wrong by itself"),
    ],
)
def test_where_a_wrong_port_leaves_the_language_is_said(tmp_path: Path, kernel: str, last: int, said: str) -> None:
    path = write_case(tmp_path, "low", LOW_CASE.replace("END", str(last + 1)), kernel)
    (tmp_path / "r.py").write_text("def low(x, bits): return x & ((1 << bits.astype('int64')) - 1).astype('uint32')\n")
    case = by_name(run(path))["low"]
    assert case.status is Status.WRONG_VALUES
    assert (UNDEFINED[0].verdict in case.reason) == bool(said) and said in case.reason
    assert sum(one.verdict in case.reason for one in UNDEFINED) == bool(said)


PUN = """
__global__ void pun(float* a, const int* at, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* bits = (int*)a + at[i];
  a[i] = 1.0f;
  *bits = 0x40000000;
  y[i] = a[i];
}
"""
PUN_CASE = """
sweep = { n = 300 }
grid = "ceil_div(n, 128)"
block = 128
arguments = ["inout a: float32[n]", "in at: int32[n] = arange", "out y: float32[n]", "scalar n: int32 = n"]
"""


@pytest.mark.slow
def test_memory_that_is_read_by_another_type(tmp_path: Path) -> None:
    case = by_name(run(write_case(tmp_path, "pun", PUN_CASE, PUN)))["pun"]
    assert case.status is Status.WRONG_VALUES and "compiled with -fno-strict-aliasing" in case.reason


@pytest.mark.slow
def test_each_check_traps_where_it_happens(compile_hip: Compile) -> None:
    """And does nothing where it does not: with `k` of 2 all of it is defined."""
    lines = {
        "shift-exponent": "y[t] = 1 << (29 + k);",
        "integer-divide-by-zero": "y[t] = 7 / (k - 3);",
        "float-cast-overflow": "y[t] = (long long)((k - 2) * 1e30f);",
        "array-bounds": "int s[3] = {t, 1, 2}; s[k] = 5; y[t] = s[t % 3];",
        "bool": "y[t] = ((const bool*)z)[k] ? 3 : 4;",
        "return": "y[t] = partly(k);",
    }
    assert list(lines) == [one.check for one in UNDEFINED]
    kernels = "".join(
        f"__global__ void k{n}(int* y, const unsigned char* z, int k) {{ int t = threadIdx.x; {line} }}\n"
        for n, line in enumerate(lines.values())
    )
    text = f"#include <hip/hip_runtime.h>\n__device__ int partly(int k) {{ if (k < 3) return 1; }}\n{kernels}"
    module = compile_hip(text, *Undefined(",".join(lines), "").flags)
    flags = np.array([0, 1, 0, 2], np.uint8)
    for number in range(len(lines)):
        name = next(kernel for kernel in module.kernels if f"k{number}" in kernel)
        arrays = (np.zeros(64, np.int32), flags)
        assert isinstance(module.launch(name, 1, 64, (*arrays, np.int32(2))), Ran), name
        done = module.launch(name, 1, 64, (*arrays, np.int32(3)))
        assert isinstance(done, Fault) and done.kind is FaultKind.TRAP and done.place.site is not None, name
        assert done.place.site.where.endswith(f":{2 if list(lines)[number] == 'return' else 3 + number}")


def test_checks_are_asked_one_by_one_only_where_all_together_find_something() -> None:
    asked: list[str] = []

    def trap(program: Program) -> str | None:
        asked.append(program.options[2].partition("=")[2])
        return "k.hip:7" if "array-bounds" in asked[-1] else None

    said = undefined_verdict(OWN, Status.WRONG_VALUES, trap)
    assert said == "at k.hip:7 it uses an index beyond the end of an array"
    assert len(asked) == 1 + len(UNDEFINED) and asked[0].split(",") == asked[1:]
    assert not undefined_verdict(OWN, Status.WRONG_VALUES, lambda _: asked.clear())
    assert not asked
    for status in (Status.PASSED, Status.FAULT, Status.NOT_RUN):
        assert not undefined_verdict(OWN, status, trap) and not asked


def test_what_optimisation_made_wrong_is_asked_for_part_by_part() -> None:
    *_, all_of_it = SUSPECTS
    for part in all_of_it.finer:

        def passes(program: Program, flags: tuple[str, ...] = part.flags) -> bool:
            return program.options[-1] in ("-O0", *flags)

        said = compiler_verdict(OWN, Status.WRONG_VALUES, passes)
        assert part.verdict in said and part.flags[0] in said
    assert not compiler_verdict(OWN, Status.WRONG_VALUES, passing_with("-fwrapv"))


def test_the_first_suspect_that_mends_is_named() -> None:
    for suspect in SUSPECTS:
        said = compiler_verdict(OWN, Status.WRONG_VALUES, passing_with("-O3", *suspect.flags))
        assert suspect.verdict in said and " ".join(suspect.flags) in said
    assert not compiler_verdict(OWN, Status.WRONG_VALUES, lambda _: False)


@pytest.mark.parametrize(
    ("mnemonics", "asked"),
    [
        (("v_add_u32_e32", "s_endpgm"), {"-O0"}),
        (("v_sub_u16_sdwa",), {"-O0", "-amdgpu-sdwa-peephole=0"}),
        (("v_rcp_iflag_f32_e32",), {"-O0", "-amdgpu-codegenprepare-disable-idiv-expansion"}),
        (("v_mad_u64_u32", "v_mul_f32_e32", "v_mac"), {"-O0"}),
        *((((name,), {"-O0", "-ffp-contract=on"})) for name in ("v_fmac_f32_e32", "v_pk_fma_f32", "v_mad_mix_f32")),
        ((), {"-O0"}),
        (None, {suspect.flags[-1] for suspect in SUSPECTS}),
    ],
)
def test_who_left_no_trace_in_the_code_is_not_asked(mnemonics: tuple[str, ...] | None, asked: set[str]) -> None:
    compiled: list[str] = []

    def passes(program: Program) -> bool:
        compiled.append(program.options[-1])
        return False

    assert not compiler_verdict(OWN, Status.WRONG_VALUES, passes, mnemonics)
    assert set(compiled) == asked and len(compiled) == len(asked)


@pytest.mark.parametrize("status", [Status.PASSED, Status.FAULT, Status.NOT_RUN, Status.TIMED_OUT, Status.BUILD_FAILED])
def test_only_values_are_asked_about(status: Status) -> None:
    assert not compiler_verdict(OWN, status, lambda _: True)


def test_code_that_no_flag_reaches_is_not_asked_about() -> None:
    for program in (None, Program(Path("k.cu"), "k", "cuda"), Program(Path("k.o"), "k", "hip", is_object=True)):
        assert not compiler_verdict(program, Status.WRONG_VALUES, lambda _: True)
