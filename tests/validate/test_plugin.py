"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.validate.running import devices, write_case

SOURCE = """
__global__ void twice(const float* a, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = 2 * a[threadIdx.x];
}
"""
CASE = """
grid = 1
block = 64
arguments = ["in a: float32[33]", "out out: float32[33]", "scalar n: int32 = {n}"]
reference = "r.py:twice"
[[case]]
name = "left_out"
kernel = "twice"
grid = 1
block = 64
arguments = ["in a: float32[33]", "out out: float32[33]", "scalar n: int32 = 33"]
not_run = "for a reason"
"""


def _pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", *options, str(folder))
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)


def _write(folder: Path, n: int) -> None:
    (folder / "r.py").write_text("def twice(a):\n    return 2.0 * a.astype('float64')\n")
    write_case(folder, "twice", CASE.format(n=n), SOURCE)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "word"), [(33, "1 passed"), (32, "1 failed")])
def test_cases_are_tests(tmp_path: Path, n: int, word: str) -> None:
    _write(tmp_path, n)
    assert "gfx942" in devices()
    done = _pytest(tmp_path, "--porter-cases", "--porter-devices", "gfx942")
    assert word in done.stdout and "1 skipped" in done.stdout, done.stdout + done.stderr
    assert "for a reason" in done.stdout
    assert ("1 elements of out are not written" in done.stdout) is (n == 32)
    assert "Traceback" not in done.stdout


def test_nothing_is_collected_unless_asked_for(tmp_path: Path) -> None:
    _write(tmp_path, 33)
    assert "no tests ran" in _pytest(tmp_path).stdout


def test_a_file_with_a_mistake_is_an_error(tmp_path: Path) -> None:
    _write(tmp_path, 33)
    path = tmp_path / "k.case.toml"
    path.write_text(path.read_text().replace("block = 64", "blokc = 64", 1))
    done = _pytest(tmp_path, "--porter-cases")
    assert done.returncode and "k.case.toml:8: unknown key 'blokc'" in done.stdout


def test_a_package_whose_extension_is_not_built_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from package import _extension\n")
    _write(tmp_path / "package", 33)
    done = _pytest(tmp_path, "--porter-cases", "--collect-only")
    assert "left_out" in done.stdout, done.stdout + done.stderr
    assert "_extension" not in done.stdout
