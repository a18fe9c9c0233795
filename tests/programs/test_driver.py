"""The driver API and NVRTC on one side, modules and hiprtc on the other: a program that compiles its own kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.programs.dropin import names_of
from porter.validation.programs.fatbin import BadFatBinary, ptx_texts
from porter.validation.programs.launch import run_program
from porter.validation.programs.outcome import Verdict
from porter.validation.programs.runtime_compiler import Asked, asked
from porter.validation.programs.sides import CUDA, HIP


@pytest.mark.slow
def test_a_program_that_compiles_its_kernels(driver: Path) -> None:
    run = run_program(["./driver"], folder=driver.parent, keep=True)
    assert (run.verdict, run.reason) == (Verdict.PASSED, "")
    said = run.output.decode().splitlines()
    assert said == ["not compiled; the log names it: 1", "PASS _Z5scaleIfEvPT_i"]
    assert run.account.launches == 2 and not run.account.unsupported
    assert {use.name for use in run.account.kernels} == {"void scale<float>(float*, int)", "fill"}


def test_a_request_is_read_as_it_was_written() -> None:
    texts = ["/here", "a.cu", "int x;", "2", "-I.", "-DA=1", "1", "b.h", "1", "int y;", "1", "k<float>", ""]
    wanted = Asked("/here", "a.cu", "int x;", ("-I.", "-DA=1"), (("b.h", "int y;"),), ("k<float>",))
    assert asked("\0".join(texts).encode()) == wanted


def test_plain_ptx_is_a_module_too() -> None:
    first, second = b".version 8.0\n.target sm_80\n", b".version 7.0\n.target sm_70\n"
    assert ptx_texts(first + b"\0" + second + b"\0") == [first.decode(), second.decode()]
    with pytest.raises(BadFatBinary):
        ptx_texts(b"\x7fELF and so on, which is machine code\0")


def test_one_file_has_the_names_of_all_its_libraries() -> None:
    assert CUDA.files("13") == ("libcudart.so.13", "libcuda.so.1", "libnvrtc.so.13")
    assert CUDA.files("11.0") == ("libcudart.so.11.0", "libcuda.so.1", "libnvrtc.so.11")
    assert HIP.files("6") == ("libamdhip64.so.6", "libhiprtc.so.6")
    assert {"cuLaunchKernel", "cuMemAlloc_v2", "cuTexObjectCreate"} <= set(names_of("cuda-driver"))
