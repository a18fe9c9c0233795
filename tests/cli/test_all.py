"""`porter all`: every step leaves its document, a second run goes on, and what is missing is said."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import porter
from tests.tree.trees import make_tree

SCALE = """\
#include <cuda_runtime.h>
__global__ void scale(float *x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
void run(float *x, int n) { scale<<<(n + 255) / 256, 256>>>(x, 2.0f, n); }
"""
needs_compilers = pytest.mark.skipif(
    shutil.which("clang++-19") is None and shutil.which("nvcc") is None, reason="needs a compiler for PTX and gfx942"
)


@pytest.mark.slow
@needs_compilers
def test_from_a_source_to_a_report(tmp_path: Path) -> None:
    make_tree(tmp_path / "src", {"scale.cu": SCALE})
    words = ("all", "src", "-o", "out", "--no-try", "--jobs", "1")
    first = porter(*words, folder=tmp_path)
    assert first.code in (0, 1), first.stderr
    assert first.stdout.strip() == "out/report.html"
    for step in ("port src", "build", "draft [1/1] scale.cu", "validate [1/1]", "report", "next: "):
        assert step in first.stderr
    out = tmp_path / "out"
    assert (out / "port" / "scale.hip").is_file()
    assert json.loads((out / "build.json").read_text())["totals"]["by_status"] == {"built": 1}
    (row,) = csv.DictReader((out / "kernels.csv").read_text().splitlines())
    assert row["kernel"] == "scale"
    assert "Nothing was run on an AMD GPU" in (out / "report.html").read_text()

    drafted = out / "cases" / "scale.cu.case.toml"
    drafted.write_text(drafted.read_text() + "# mine\n")
    again = porter(*words, folder=tmp_path)
    assert drafted.read_text().endswith("# mine\n")
    assert "draft" not in again.stderr
    third = porter(*words, folder=tmp_path)
    assert "as before" in third.stderr
    assert str(tmp_path) not in drafted.read_text(), "places are as seen from the case file"
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("src", "out"):
        (tmp_path / name).rename(moved / name)
    assert "as before" in porter(*words, folder=moved).stderr, "source and result moved together"
    tmp_path, out = moved, moved / "out"
    drafted = out / "cases" / "scale.cu.case.toml"
    with (out / "port" / "scale.hip").open("a") as port:
        port.write("// by hand\n")
    assert "as before" not in porter(*words, folder=tmp_path).stderr, "what was mended by hand is another port"
    assert (out / "port" / "scale.hip").read_text().endswith("// by hand\n")
    assert len((out / "history.jsonl").read_text().splitlines()) == 1
    drafted.write_text("no = case\n")
    assert "1 that cannot be read (" in porter(*words, folder=tmp_path).stderr


def test_the_folder_of_something_else(tmp_path: Path) -> None:
    make_tree(tmp_path, {"src/a.cu": SCALE, "other/mine.txt": "x", "third/porter-all.json": '{"source": "../else"}'})
    assert porter("all", "src", "-o", "third", folder=tmp_path).code == 2
    assert porter("all", "src", "-o", "other", folder=tmp_path).code == 2
    assert porter("all", "src", "-o", ".", folder=tmp_path).code == 2
    assert (tmp_path / "other" / "mine.txt").read_text() == "x"


_ENDLESS_COMPILER = """#!/bin/sh
case " $* " in *" -S "*|*" -c "*) : > "$MARK"; exec sleep 600;; esac
exec {real} "$@"
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("clang++-19") is None and shutil.which("hipcc") is None, reason="needs a compiler")
def test_an_interrupt_leaves_a_report(tmp_path: Path) -> None:
    """In the middle of a compilation, which does not end by itself: no machine is too slow or too fast for that."""
    make_tree(tmp_path / "src", {"scale.cu": SCALE})
    (tmp_path / "bin").mkdir()
    for name in ("clang++-19", "clang++", "hipcc"):
        if (real := shutil.which(name)) is not None:
            (tmp_path / "bin" / name).write_text(_ENDLESS_COMPILER.format(real=real))
            (tmp_path / "bin" / name).chmod(0o755)
    mark = tmp_path / "compiling"
    environment = {**os.environ, "PORTER_CACHE_DIR": str(tmp_path / "cache"), "MARK": str(mark)}
    environment["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "porter", "all", "src", "-o", "out", "--jobs", "1"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        while not mark.exists() and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        rest = running.stderr.read()
        running.wait(300)
    assert running.returncode == 130, rest
    assert "goes on from here" in rest
    assert "scale" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
@needs_compilers
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """By SIGKILL, of which nobody is told: what was drafted and validated by then is not done again."""
    make_tree(tmp_path / "src", {"a.cu": SCALE, "b.cu": SCALE.replace("*=", "+=")})
    words = ("all", "src", "-o", "out", "--no-try", "--jobs", "1")
    command = [sys.executable, "-m", "porter", *words]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("validate [2/2]"):
                break
        running.kill()
    assert running.returncode in (-signal.SIGKILL, 0, 1)
    again = porter(*words, folder=tmp_path)
    assert again.code in (0, 1), again.stderr
    assert "draft" not in again.stderr
    (first,) = [line for line in again.stderr.splitlines() if line.startswith("validate [1/2]") and "..." not in line]
    assert "as before" in first
    rows = list(csv.DictReader((tmp_path / "out" / "kernels.csv").read_text().splitlines()))
    assert [row["path"] for row in rows] == ["a.cu", "b.cu"]
    assert not list((tmp_path / "out").rglob(".porter-tmp-*"))


def test_a_tree_of_triton_kernels(tmp_path: Path) -> None:
    """There is nothing to port and to compile; the report comes all the same, and what to do instead."""
    ops = "import triton\n\n\n@triton.jit\ndef scale(x, BLOCK: tl.constexpr):\n    pass\n"
    make_tree(tmp_path / "src", {"ops.py": ops})
    done = porter("all", "src", "-o", "out", folder=tmp_path)
    assert done.code == 0, done.stderr
    assert "build: nothing to compile" in done.stderr
    assert "next: pytest --porter-triton gfx942" in done.stderr
    assert (tmp_path / "out" / "report.html").is_file()
    for _ in range(2):  # the second run prints what the first one kept
        ported = porter("port", "src", "-o", "port", folder=tmp_path).stderr
        assert "next: pytest --porter-triton" in ported and "porter build" not in ported


def test_a_tree_without_any_kernels(tmp_path: Path) -> None:
    make_tree(tmp_path / "src", {"a.py": "print()\n"})
    assert "next:" not in porter("port", "src", "-o", "port", folder=tmp_path).stderr
    assert porter("all", "src", "-o", "out", folder=tmp_path).code == 0


def test_triton_of_an_environment_is_not_the_projects(tmp_path: Path) -> None:
    """What git ignores is no part of the project."""
    make_tree(tmp_path / "src", {"a.py": "print()\n", ".gitignore": "venv/\n", "venv/ops.py": "@triton.jit\n"})
    subprocess.run(["git", "init", "-q", str(tmp_path / "src")], check=True)
    assert "next:" not in porter("port", "src", "-o", "port", folder=tmp_path).stderr
