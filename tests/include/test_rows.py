"""The tables of what the support headers supply, and that the rewriter follows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from porter.cli import app
from porter.engine.support import closure, header_names, load_support
from tests.include import hip

MIXED = """
__global__ void k(%s *p, %s v, int *q) { atomicAdd(p, v); atomicAdd(q, 1); }
"""


def _ported(text: str, folder: Path, *options: str) -> str:
    source, target = folder / "source.cu", folder / "target.cu"
    source.write_text(text, "utf-8")
    done = CliRunner().invoke(app, ["port", str(source), "-o", str(target), "--force", *options])
    assert done.exit_code in (0, 1), done.output
    return target.read_text("utf-8")


def test_every_row_names_a_header_that_is_there() -> None:
    table = load_support("5.2")
    assert table.names and table.registers
    for row in (*table.names.values(), *table.registers.values()):
        assert row.header in header_names(), row


def test_every_register_has_its_function() -> None:
    for row in load_support(None).registers.values():
        text = (hip.HEADERS / row.header).read_text("utf-8")
        called = re.match(r"porter::(\w+)\(\)", row.name)
        assert called is None or f" {called[1]}()" in text, row


@pytest.mark.parametrize("name", ["half", "__half2", "__nv_bfloat16"])
def test_overloads_are_written_where_their_types_are_named(name: str, tmp_path: Path) -> None:
    text = _ported("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + MIXED % (name, name), tmp_path)
    assert text.count("porter::atomicAdd") == 2
    assert '#include "porter/atomics.hpp"' in text


def test_overloads_are_not_written_elsewhere(tmp_path: Path) -> None:
    assert "porter" not in _ported(MIXED % ("float", "float"), tmp_path)


@pytest.mark.parametrize(
    ("header", "written"),
    [
        ("using bf = __nv_bfloat16;", True),
        ("typedef nv_bfloat16 bf;", True),
        ("using bf = float;\nusing other = __nv_bfloat16;", False),
    ],
)
def test_overloads_of_what_a_header_calls_a_type(header: str, written: bool, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/t.h").write_text(f"#pragma once\n#include <cuda_bf16.h>\n{header}\n")
    (tmp_path / "in/a.cu").write_text('#include "t.h"\n__global__ void k(bf *o, const bf *p) { o[0] = __ldg(p); }\n')
    done = CliRunner().invoke(app, ["port", str(tmp_path / "in"), "-o", str(tmp_path / "out")])
    assert done.exit_code in (0, 1), done.output
    assert ("porter::ldg" in (tmp_path / "out/a.hip").read_text("utf-8")) is written


def test_functions_that_newer_versions_have(tmp_path: Path) -> None:
    text = "__global__ void k(unsigned *p) { p[0] = __fns(p[1], 0, 3); }"
    assert "porter::fns" in _ported(text, tmp_path, "--rocm", "5.2")
    assert "porter::fns" not in _ported(text, tmp_path, "--rocm", "6.3")


COPY = """
#include <cuda_runtime.h>
void copy(%s) {
  cudaMemcpy3DParms p = {};
  %s
  cudaMemcpy3D(&p);
}
"""


def test_copies_go_to_our_header_where_the_file_names_arrays(tmp_path: Path) -> None:
    text = _ported(COPY % ("cudaArray_t array", "p.dstArray = array;"), tmp_path)
    assert "porter::hipMemcpy3D(&p)" in text and '#include "porter/texture_host.hpp"' in text
    text = _ported(COPY % ("cudaPitchedPtr from", "p.srcPtr = from;"), tmp_path)
    assert "  hipMemcpy3D(&p)" in text and "porter" not in text


def test_every_texture_row_names_a_function_of_its_header() -> None:
    for name, row in load_support(None).names.items():
        if not row.header.startswith("porter/texture") or not row.name.startswith("porter::"):
            continue
        text = "".join(
            (hip.HEADERS / "porter" / f"{part}.hpp").read_text("utf-8") for part in ("texture_types", "texture")
        )
        text += (hip.HEADERS / row.header).read_text("utf-8")
        short = row.name.removeprefix("porter::")
        base = re.sub(r"(read|write)$", "", short) if short.startswith("surf") else short
        assert re.search(rf"\b{base}\b", text), (name, row)


@pytest.mark.parametrize("first", ["atomics", "half", "wmma"])
def test_bfloat16_converts_whichever_header_comes_first(first: str, tmp_path: Path) -> None:
    source = f'#include "porter/{first}.hpp"\n#include "porter/bf16.hpp"\n'
    run = hip.compiled(source + "float f(__hip_bfloat16 x) { return (float)x; }\n", tmp_path, host=True)
    assert run.returncode == 0, run.stderr


def test_bfloat16_is_brought_by_no_other_header() -> None:
    assert "porter/bf16.hpp" not in closure({"porter/atomics.hpp", "porter/half.hpp", "porter/wmma.hpp"})
