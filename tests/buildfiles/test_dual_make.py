"""Makefiles for both vendors: conditions stay whole, and a compiler that is only looked for gets no flags."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.buildfiles.dual import both_paths
from porter.buildfiles.engine import convert
from porter.buildfiles.make_blocks import blocks_of_make, whole_blocks
from porter.buildfiles.sources import Sources
from porter.buildfiles.unit import BuildUnit, Kind
from porter.source import SourceFile
from tests.outside import needs

FLAGS = "-Iporter/hip -include cuda_runtime.h"
CALL = "a:\n\tnvcc $(F) $(G) a.cu\n"
FILES = {
    "an else between two changes": "ifdef A\nF = --use_fast_math\nelse\nF = -lineinfo\nendif\n" + CALL,
    "a condition on the compiler": 'ifneq ($(shell where nvcc),"")\nC := nvcc\nelse\nC :=\nendif\n'
    "a:\n\t$(C) -lineinfo a.cu\n",
    "a chain": "ifeq ($(A),1)\nF = -arch=sm_70\nelse ifeq ($(A),2)\nF = -arch=sm_80\nelse\nF = -arch=sm_90\nendif\n"
    + CALL,
    "one in a recipe": "a:\nifdef A\n\tnvcc -lineinfo a.cu\nelse\n\tnvcc -G a.cu\nendif\n\techo done\n",
    "an indented one": "ifdef A\n  ifdef B\n    F = -lineinfo\n  endif\n  G = -lineinfo\nendif\n" + CALL,
    "a definition": "define build\n\t@echo $(1)\n\tnvcc -lineinfo $(1)\nendef\na:\n\t$(call build,a.cu)\n",
    "a line that goes on": "F = -O3 \\\n  -lineinfo \\\n  -g\na:\n\tnvcc $(F) \\\n\t  a.cu\n",
    "two conditions side by side": "ifdef A\nF = -lineinfo\nendif\nifdef B\nF += -lineinfo\nendif\n" + CALL,
}
"""By what is in the way."""


def dual(text: str) -> str:
    unit = BuildUnit(SourceFile("Makefile", text.encode()), Kind.MAKE, Sources())
    return both_paths(unit, convert(unit).edits).decode()


def told(folder: Path, text: str, *words: str) -> str:
    """What make would do, or why it stops."""
    (folder / "Makefile").write_text(text)
    done = subprocess.run(["make", "-n", "-B", *words], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@needs("make")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("words", [(), ("A=1",), ("A=2", "B=1")])
def test_make_does_what_it_did_and_what_the_port_does(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    text = FILES[name]
    written = dual(text)
    assert told(tmp_path, written, *words) == told(tmp_path, text, *words)
    unit = BuildUnit(SourceFile("Makefile", text.encode()), Kind.MAKE, Sources())
    port = told(tmp_path, convert(unit).data.decode(), *words).replace("hipcc", f"hipcc {FLAGS}")
    assert "hipcc" in port
    assert told(tmp_path, written, *words, "USE_HIP=1") == port


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("N = nvcc", f"N = hipcc {FLAGS}"),
        ("N = nvcc -ccbin g++", f"N = hipcc {FLAGS}"),
        ("N = $(CUDA_HOME)/bin/nvcc", f"N = $(ROCM_PATH)/bin/hipcc {FLAGS}"),
        ("N = $(shell which nvcc)", f"N = $(patsubst %,% {FLAGS},$(shell which hipcc))"),
        ("V = $(shell nvcc --version | grep release)", "V = $(shell hipcc --version | grep release)"),
        ("$(info nvcc is used)", "$(info hipcc is used)"),
    ],
)
def test_what_is_only_asked_gets_no_flags(line: str, wanted: str) -> None:
    found = dual(f"{line}\nA = 1\nB = 1\nC = 1\na:\n\tnvcc -lineinfo a.cu\n")
    assert f"ifdef USE_HIP\n{wanted}\nelse\n{line}\nendif\n" in found


def test_blocks() -> None:
    text = "ifdef A\nB = 1\nelse\nC = 1\nendif\nr:\n\tifdef x\n\tendif\n"
    (block,) = blocks_of_make(text)
    assert text[block.start : block.end].endswith("endif\n")
    inside = text.index("B"), text.index("else")
    assert whole_blocks((block,), *inside) == inside
    assert whole_blocks((block,), inside[0], text.index("endif")) == (block.start, block.end)
