"""The kernel that a C++ name stands for, as nvcc and clang name it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from porter.validation.devices.device import Program
from porter.validation.toolchain.clang import Assembled, CompileFailed, Missing, assemble, find_clang
from porter.validation.toolchain.entry import demangle, entry_symbol, entry_unit, find_symbol, refused_kernels, unit_of
from porter.validation.toolchain.nvcc import ptx

from tests.outside import require

SOURCE = """#include <cstdint>
namespace a {
enum Mode { kSum, kMax };
template <typename T> struct Box { T value; };
template <typename T, int N = 4, bool B = true> __global__ void k(T* out) { out[threadIdx.x] = T(N + B); }
template <Mode M, unsigned long W> __global__ void m(const unsigned char* in, int* out) { *out = M + W + *in; }
template <typename T> __global__ void boxed(Box<T> box, T* out) { *out = box.value; }
namespace { __global__ void hidden(float* out) { *out = 1; } }
}
__global__ static void plain(int* out) { *out = 1; }
extern "C" __global__ void unmangled(int* out) { *out = 2; }
template __global__ void a::k<double, 8>(double*);
template __global__ void a::k<float, 8>(float*);
"""
WANTED = {
    "a::k<float>": "_ZN1a1kIfLi4ELb1EEEvPT_",
    "a::k<unsigned, 4u, false>": "_ZN1a1kIjLi4ELb0EEEvPT_",
    "a::k<uint8_t const *, 2>": "_ZN1a1kIPKhLi2ELb1EEEvPT_",
    "::a::k<const unsigned char*, 2>": "_ZN1a1kIPKhLi2ELb1EEEvPT_",
    "a::m<a::kMax, 64>": "_ZN1a1mILNS_4ModeE1ELm64EEEvPKhPi",
    "a::boxed<double>": "_ZN1a5boxedIdEEvNS_3BoxIT_EEPS2_",
    "a::hidden": "_ZN1a12_GLOBAL__N_16hiddenEPf",
    "plain": "_ZL5plainPi",
    "unmangled": "unmangled",
}
LENGTH = re.compile(r"(?<=\D)\d+(?=[A-Za-z_])")


def _unit(tmp_path: Path, kernel: str, suffix: str) -> Path:
    source = tmp_path / f"source{suffix}"
    source.write_text(SOURCE)
    unit = tmp_path / f"unit{suffix}"
    unit.write_text(entry_unit(Program(source, kernel, "cuda")))
    return unit


@pytest.mark.slow
@pytest.mark.parametrize("kernel", WANTED)
def test_nvcc_points_to_it(tmp_path: Path, kernel: str) -> None:
    require("nvcc")
    made = ptx(_unit(tmp_path, kernel, ".cu"))
    assert isinstance(made, Assembled), made
    _check(entry_symbol(made.text), kernel)
    assert f".entry {entry_symbol(made.text)}" in made.text


@pytest.mark.slow
@pytest.mark.parametrize("kernel", WANTED)
def test_clang_points_to_it(tmp_path: Path, kernel: str) -> None:
    found = find_clang()
    if isinstance(found, Missing):
        pytest.skip(found.reason)
    made = assemble(_unit(tmp_path, kernel, ".hip"))
    assert isinstance(made, Assembled), made
    _check(entry_symbol(made.text), kernel)
    assert f".amdhsa_kernel {entry_symbol(made.text)}" in made.text


def _check(symbol: str | None, kernel: str) -> None:
    """Internal kernels get a unit's own suffix or prefix; all others are named by the ABI."""
    assert symbol is not None
    if kernel in ("a::hidden", "plain"):
        assert kernel.rpartition("::")[2] in symbol
    else:
        assert symbol == WANTED[kernel]


@pytest.mark.parametrize("kernel", [name for name in WANTED if "kMax" not in name])
def test_search_among_symbols(kernel: str) -> None:
    others = ["_ZN1a1kIdLi8ELb1EEEvPT_", "_ZN1b1kIfLi4ELb1EEEvPT_"]
    assert find_symbol([*WANTED.values(), *others], kernel) == WANTED[kernel]


def test_an_ambiguous_name_is_nothing() -> None:
    assert find_symbol(["_ZN1a1kIfLi4ELb1EEEvPT_", "_ZN1a1kIdLi8ELb1EEEvPT_"], "a::k") is None
    assert find_symbol(["_ZN1a1kIfLi4ELb1EEEvPT_"], "a::kk") is None
    assert find_symbol([], "a::k") is None


def test_demangle_agrees_with_binutils() -> None:
    tool = require("c++filt")
    for symbol in WANTED.values():
        shown = subprocess.run([tool, symbol], capture_output=True, text=True, check=True).stdout.strip()
        assert demangle(symbol) == shown


THREE = ("gone", "plain", "unmangled")


def _refused(unit: Path, said: str) -> frozenset[str]:
    return refused_kernels(said, unit, unit_of(Path("k.cu"), THREE), THREE)


def test_an_error_elsewhere_is_nobodys() -> None:
    """It may be one of a template that a kernel needs; and a line of the unit that is nobody's tells nothing."""
    unit = Path("/u/k.hip")
    mine = "/u/k.hip:4:103: error: use of undeclared identifier 'gone'\n"
    assert _refused(unit, mine) == {"gone"}
    assert not _refused(unit, f"{mine}/src/k.hip:9:1: error: no member named 'x'\n")
    assert not _refused(unit, f"{mine}/src/k.hip:9:10: fatal error: 'x.h' file not found\n")
    assert not _refused(unit, f"{mine}/u/k.hip:1:1: error: something\n")
    assert not _refused(unit, "/u/k.hip:4:103: warning: error: is a word here\nclang: died\n")


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["nvcc", "clang++"])
def test_the_kernel_that_is_not_there_is_named(tmp_path: Path, compiler: str) -> None:
    """By what the compilers say today, wherever it stands among the others."""
    require(compiler)
    suffix = ".cu" if compiler == "nvcc" else ".hip"
    source = tmp_path / f"source{suffix}"
    source.write_text(SOURCE)
    for names in (THREE, ("plain", "gone", "unmangled"), ("plain", "unmangled", "gone")):
        unit = tmp_path / f"unit{suffix}"
        unit.write_text(unit_of(source, names))
        made = ptx(unit) if compiler == "nvcc" else assemble(unit)
        assert isinstance(made, CompileFailed), made
        assert refused_kernels(made.output, unit, unit.read_text(), names) == {"gone"}
