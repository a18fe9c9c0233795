"""Which programs and units of a corpus are taken."""

from __future__ import annotations

from pathlib import Path

from benchmarks.corpus import load_program, program_names, referenced_folders
from benchmarks.selection import folders_for


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_every_nth_pair_in_byte_order(tmp_path: Path) -> None:
    for name in ("b", "B", "a", "c+d", "d", "only"):
        (tmp_path / f"{name}-cuda").mkdir()
        if name != "only":
            (tmp_path / f"{name}-hip").mkdir()
    assert program_names(tmp_path, every=1) == ["B", "a", "b", "c+d", "d"]
    assert program_names(tmp_path, every=2) == ["B", "b", "d"]
    assert program_names(tmp_path, every=2, offset=1) == ["a", "c+d"]


def test_units_are_listed_sources_and_those_nobody_includes(tmp_path: Path) -> None:
    _write(
        tmp_path / "p-cuda",
        {
            "Makefile": "source = main.cu twice.cu\n%.o: %.cu kernels.cu\n",
            "main.cu": '#include "kernels.cu"\n#include "twice.cu"\n',
            "kernels.cu": "__global__ void k() {}\n",
            "twice.cu": "int both;\n",
            "host.cpp": "int main() {}\n",
            "calls.cpp": '#include "calls.h"\n',
            "calls.h": "inline void f() { cudaDeviceSynchronize(); }\n",
        },
    )
    program = load_program(tmp_path / "p-cuda", "p")
    assert sorted(unit.path.name for unit in program.units) == ["calls.cpp", "main.cu", "twice.cu"]


def test_a_ported_source_stands_for_the_listed_one(tmp_path: Path) -> None:
    _write(tmp_path / "p-cuda", {"Makefile": "source = main.cu\n", "main.cu": "int x;", "main.hip": "int x;"})
    program = load_program(tmp_path / "p-cuda", "p")
    assert [unit.path.name for unit in program.units] == ["main.hip"]


def test_referenced_siblings_are_followed(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "a-cuda/Makefile": "CFLAGS = -I../b-cuda\n",
            "b-cuda/deep/x.h": '#include "../../include/y.h"\n',
            "include/y.h": "",
            "c-cuda/main.cu": '#include "../x.h"\n',
        },
    )
    assert referenced_folders(tmp_path / "a-cuda") == {"b-cuda"}
    assert referenced_folders(tmp_path / "c-cuda") == set()
    assert folders_for(tmp_path, ["a"]) == ["a-cuda", "b-cuda", "include"]
