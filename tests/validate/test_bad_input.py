"""What goes wrong around a kernel is a verdict or an error with file and line, and the rest of the run goes on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from porter.validation.devices.registry import why_not
from porter.validation.verdict.outcome import CaseResult, ValidateReport
from porter.validation.verdict.report import report_text

from tests.validate.running import by_name, run

pytestmark = pytest.mark.slow

SOURCE = """
__global__ void twice(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * a[i];
}
__global__ void thrice(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3.0f * a[i];
}
"""
REFERENCE = """
import ctypes, os, time

def twice(a):
    return 2.0 * a.astype("float64")

def thrice(a):
    return 3.0 * a.astype("float64")

def raises(a):
    scale = {}["nowhere"]
    return scale * a

def hangs(a):
    time.sleep(1000)

def dies(a):
    os.abort()

def wrong_shape(a):
    return a[:-1].astype("float64")

def two_results(a):
    return a, a

def text(a):
    return ["a"] * len(a)

def wants_more(a, scale):
    return a * scale

def prints(a):
    print("megabytes " * 10)
    os.write(1, b"and to the file descriptor, too")
    return 2.0 * a.astype("float64")
"""
CASE = """
[[case]]
name = "{name}"
kernel = "{kernel}"
sweep = {{ n = {n} }}
grid = "ceil_div(n, 64)"
block = 64
arguments = ["in a: float32[n]", "out out: float32[n]", "scalar n: {dtype} = n"]
reference = "r.py:{reference}"
"""


def _case(name: str, kernel: str = "twice", reference: str = "twice", n: str = "[1, 33]", dtype: str = "int32") -> str:
    return CASE.format(name=name, kernel=kernel, reference=reference, n=n, dtype=dtype)


def _run(folder: Path, *cases: str, **settings: object) -> tuple[dict[str, CaseResult], ValidateReport]:
    folder = folder / "project"
    folder.mkdir()
    (folder / "k.cu").write_text(SOURCE)
    (folder / "r.py").write_text(REFERENCE)
    (folder / "k.case.toml").write_text('schema = "porter-case/1"\nsource = "k.cu"\n' + "".join(cases))
    outcome = run(folder / "k.case.toml", devices=("gfx942",), jobs=1, **settings)
    assert not outcome.crashes
    return dict(by_name(outcome)), outcome.report


def test_references_that_fail(tmp_path: Path) -> None:
    """Each is told with file and line; the cases around them pass."""
    names = ("raises", "wrong_shape", "two_results", "text", "wants_more")
    cases = [_case("before"), *(_case(name, reference=name) for name in names), _case("after", "thrice", "thrice")]
    results, report = _run(tmp_path, *cases, _case("prints", reference="prints"))
    assert [results[name].status.value for name in ("before", "after", "prints")] == ["passed"] * 3
    for name in names:
        assert results[name].status.value == "not-run"
    messages = {(Path(error.path).name, error.line): error.message for error in report.errors}
    assert messages["r.py", 11] == "KeyError: 'nowhere'"
    assert "'scale' is no argument or symbol" in messages["r.py", 29]
    assert sum("wrong_shape gave shape" in message for message in messages.values()) == 1
    assert sum("returned 2 results for out" in message for message in messages.values()) == 1
    assert len(report.errors) == len(names)


def test_a_reference_that_hangs_or_dies(tmp_path: Path) -> None:
    cases = (_case("hangs", reference="hangs"), _case("dies", reference="dies"), _case("after"))
    results, report = _run(tmp_path, *cases, launch_seconds=1.0, grace_seconds=5.0)
    assert results["after"].status.value == "passed"
    assert "no end after" in results["hangs"].reason and "reference" in results["hangs"].reason
    assert "SIGABRT" in results["dies"].reason
    assert len(report.errors) == 2


def test_numbers_that_overflow(tmp_path: Path) -> None:
    cases = (_case("huge", n="4611686018427387904", dtype="int64"), _case("scalar", n="3000000000"), _case("after"))
    results, report = _run(tmp_path, *cases)
    assert results["after"].status.value == "passed"
    messages = " ".join(error.message for error in report.errors)
    assert "the shape overflows: a:" in messages
    assert len(report.errors) == 2 and {error.line for error in report.errors} == {10, 19}


def test_an_argument_of_another_size(tmp_path: Path) -> None:
    results, report = _run(tmp_path, _case("wide", dtype="int64"), _case("after"))
    assert results["after"].status.value == "passed"
    assert len(report.errors) == 1
    assert "argument of 8 bytes where the kernel takes 4" in report.errors[0].message


def test_nothing_is_launched_for_a_grid_of_no_blocks(tmp_path: Path) -> None:
    results, _ = _run(tmp_path, _case("empty", n="0"))
    assert results["empty"].status.value == "passed"


def _fake_compiler(folder: Path, body: str) -> str:
    path = folder / "clang++"
    path.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--print-targets*) echo "amdgcn"; exit;; *--version*) echo "clang version 19.1"; exit;; esac\n'
        + body
    )
    path.chmod(0o755)
    return str(path)


def test_a_compiler_without_room_says_nothing_of_the_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "echo 'fatal error: when writing output to x.s: No space left on device'; exit 1"
    monkeypatch.setenv("PORTER_CLANG", _fake_compiler(tmp_path, body))
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    results, _ = _run(tmp_path, _case("it"))
    assert results["it"].status.value == "not-run"
    assert "no room" in results["it"].reason and "No space left on device" in results["it"].reason


@pytest.mark.parametrize(
    ("body", "words"),
    [("sleep 1000", "no end after"), ("yes error: out of ideas", "MiB of output"), ("exit 3", "no output")],
)
def test_compilers_that_misbehave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, words: str) -> None:
    """A compiler that hangs, prints without end, or says nothing."""
    monkeypatch.setenv("PORTER_CLANG", _fake_compiler(tmp_path, body))
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    results, _ = _run(tmp_path, _case("it"), build_seconds=2.0)
    assert results["it"].status.value == "build-failed", results["it"].reason
    said = results["it"].reason + " ".join(results["it"].sides[0].notes)
    assert words in said


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a full disk."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "file" / "cache"))
    results, _ = _run(tmp_path, _case("it"))
    assert results["it"].status.value == "not-run"
    assert os.strerror(20) in results["it"].reason


def test_a_hazard_of_the_original_is_shown_though_it_passes(tmp_path: Path) -> None:
    if why_not("ptx") is not None:
        pytest.skip(str(why_not("ptx")))
    body = "s[t] = a[t]; if (t < 16) { s[t] += s[t + 16]; s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; }"
    (tmp_path / "k.cu").write_text(
        "__global__ void k(const float* a, float* o) {\n"
        f"  __shared__ volatile float s[32]; const int t = threadIdx.x;\n  {body}\n  if (t < 2) o[t] = s[t];\n}}\n"
    )
    arguments = '["in a: float32[32]", "out o: float32[2]"]'
    (tmp_path / "k.case.toml").write_text(
        'schema = "porter-case/1"\nsource = "k.cu"\n[[case]]\nkernel = "k"\ngrid = 1\nblock = 32\n'
        f"arguments = {arguments}\n"
        'tolerance = { reduction = "16" }\n'
    )
    report = run(tmp_path, devices=("ptx", "gfx942")).report
    assert [case.status.value for case in report.cases] == ["passed"]
    shown = report_text(report)
    assert shown.count("hazard in shared memory") == 1 and f"{tmp_path / 'k.cu'}:3" in shown
