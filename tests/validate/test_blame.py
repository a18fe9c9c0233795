"""Wrong values that are the compiler's and not the port's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from porter.validation.devices.device import Program
from porter.validation.run.blame import SUSPECTS, compiler_verdict
from porter.validation.verdict.outcome import Status

from tests.validate.running import by_name, run, write_case

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
