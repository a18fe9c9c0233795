"""One file never takes the run: not its time, not its memory, not by what it is."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from porter.engine import file as engine
from porter.engine.context import build_context
from porter.project import worker
from porter.settings import Choices
from porter.source import SourceFile
from porter.system import limits
from tests.tree.test_failures import before_each
from tests.tree.trees import KERNEL, PORTED_KERNEL, codes, listing, make_tree, port

FILES: dict[str, bytes | str] = {f"f{number}.cu": KERNEL for number in range(8)}
DEEP = 10_000
NESTS = {
    "parentheses": ("x = " + "(" * DEEP + "x" + ")" * DEEP + ";"),
    "condition": "if (" + "(" * DEEP + "x" + ")" * DEEP + ") x = 1;",
    "blocks": "{" * DEEP + "}" * DEEP,
    "branches": "if (x) " * DEEP + "x = 1;",
    "else": "if (x) x = 1; else " * DEEP + "x = 2;",
    "loops": "while (x) " * DEEP + ";",
    "prefixes": "x = " + "!" * DEEP + "x;",
    "sum": "x = " + "x + " * DEEP + "x;",
    "ternary": "x = " + "x ? x : " * DEEP + "x;",
    "assignments": "x" + " = x" * DEEP + ";",
    "braces": "int q[] = " + "{" * DEEP + "}" * DEEP + ";",
    "calls": "x = " + "f(" * DEEP + ")" * DEEP + ";",
    "indices": "x = " + "a[" * DEEP + "0" + "]" * DEEP + ";",
    "comparisons": "x = " + "x < " * DEEP + "0;",
    "members": "x = a" + ".b()" * DEEP + ";",
    "launches": "k<<<1, 1>>>(" * DEEP + ")" * DEEP + ";",
    "lambdas": "auto g = " + "[&] {" * DEEP + "}" * DEEP + ";",
    "casts": "x = " + "(int)" * DEEP + "x;",
    "open": "(" * DEEP,
    "templates": "x = " + "a<" * DEEP + "1" + ">" * DEEP + "(x);",
}
_BODY = """__global__ void k(int *a, int x) {
  %s
  if (threadIdx.x < x) x = __shfl_down_sync(0xffffffffu, x, 1);
  while (atomicCAS(a, 0, 1)) { }
  for (int i = 0; i < 9; i++) { __syncwarp(); __syncthreads(); }
}
"""


@pytest.mark.parametrize("nest", NESTS)
def test_deep_nesting_is_read_as_far_as_it_makes_sense(nest: str) -> None:
    context = build_context(Choices(), ("a.cu",), {})
    began = time.process_time()
    done = engine.port(SourceFile("a.cu", (_BODY % NESTS[nest]).encode()), context, "a.hip")
    assert not done.crashes
    assert time.process_time() - began < 10
    assert b"shfl_down_sync(0xffffffffu" in done.data
    assert NESTS[nest].replace(" ", "").encode() in done.data.replace(b" ", b""), "all of it is there"


def test_a_long_line_costs_what_its_length_costs() -> None:
    context = build_context(Choices(), ("a.cu",), {})

    def seconds(count: int) -> float:
        line = "x += a[threadIdx.x] * __shfl_xor_sync(0xffffffffu, x, 16); " * count
        began = time.process_time()
        engine.port(SourceFile("a.cu", (_BODY % line).encode()), context, "a.hip")
        return time.process_time() - began

    assert seconds(2000) < 8 * max(seconds(500), 0.05) + 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_takes_for_ever_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    def hang(source: SourceFile, context: engine.Context) -> None:
        while source.path == "f5.cu":
            re.match(r"(a|b)*c", "ab" * 50)

    before_each(monkeypatch, hang)
    monkeypatch.setattr(limits, "PROCESSOR_SECONDS", 0.3)
    source = make_tree(tmp_path / "src", FILES)
    answer = port(source, tmp_path / "out", jobs=jobs)
    assert codes(answer) == [("f5.cu", "E112")]
    assert answer.report.left == "manual"
    assert (tmp_path / "out/f5.hip").read_bytes() == KERNEL
    assert sum(data == PORTED_KERNEL for data in listing(tmp_path / "out").values()) == len(FILES) - 1


def test_a_file_that_the_parser_hangs_on_is_ported_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(source: SourceFile, context: engine.Context) -> None:
        while source.path == "f5.cu" and context.parse is not None:
            pass

    before_each(monkeypatch, hang)
    monkeypatch.setattr(limits, "PROCESSOR_SECONDS", 1.5)
    source = make_tree(tmp_path / "src", FILES)
    answer = port(source, tmp_path / "out", jobs=2)
    assert codes(answer) == [("f5.cu", "E109")]
    assert (tmp_path / "out/f5.hip").read_bytes() == PORTED_KERNEL


def test_a_file_that_takes_all_memory_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def grow(source: SourceFile, context: engine.Context) -> None:
        if source.path == "f5.cu":
            bytearray(1 << 30)

    before_each(monkeypatch, grow)
    monkeypatch.setattr(limits, "MEMORY", 512 << 20)
    source = make_tree(tmp_path / "src", FILES)
    answer = port(source, tmp_path / "out", jobs=2)
    assert codes(answer) == [("f5.cu", "E112")]
    assert (tmp_path / "out/f5.hip").read_bytes() == KERNEL


def test_large_files_are_copied_and_named_where_they_are_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LARGEST_SOURCE", 1000)
    monkeypatch.setattr("porter.project.pool.LARGEST_SOURCE", 1000)
    data = b"static const unsigned char data[] = {" + b"1, " * 2000 + b"0};\n"
    source = make_tree(tmp_path / "src", {**FILES, "data.h": data, "big.cu": KERNEL * 50})
    answer = port(source, tmp_path / "out", jobs=2)
    assert codes(answer) == [("big.cu", "E113")]
    assert (tmp_path / "out/big.hip").read_bytes() == KERNEL * 50
    assert (tmp_path / "out/data.h").read_bytes() == data
    assert port(source, tmp_path / "out").run.reused == len(FILES) + 2


def test_what_is_no_file_is_never_read(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "src", {
        "f.cu": b'#define H "pipe.h"\n#include H\n#include "pipe.h"\n#include "zero.h"\n' + KERNEL,
        "CMakeLists.txt": "enable_language(CUDA)\n", "compile_commands.json": "[]",
    })  # fmt: skip
    (source / "build").mkdir()
    for name in ("pipe.h", "porter.toml", "setup.py", "build/compile_commands.json", ".gitignore"):
        os.mkfifo(source / name)
    (source / "zero.h").symlink_to("/dev/zero")
    (source / "endless.cu").symlink_to("/dev/zero")
    answer = port(source, tmp_path / "out", jobs=1)
    assert ("pipe.h", "E108") in codes(answer)
    assert (tmp_path / "out/f.hip").exists()
