"""Kernels begin with code that is made quickly, and get better code when they run for long."""

from __future__ import annotations

import subprocess
from pathlib import Path

import conftest
import pytest
from conftest import Compile
from porter.validation.devices.core import begun
from porter.validation.devices.core.begun import Begun, Better, Source, begin
from porter.validation.devices.core.hostcc import HostBuildFailed, find_host_compiler
from porter.validation.toolchain.clang import assemble_text
from porter.validation.toolchain.result import Missing

from tests.begun import CODE, better_of, check_a_long_launch, check_turns, run


@pytest.fixture(autouse=True)
def _cache(compile_hip: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has its own, but for the kernel's machine code, which is not what is tested."""
    made = assemble_text(CODE)
    monkeypatch.setattr(conftest, "assemble_text", lambda code, options: made if code == CODE else pytest.fail(code))
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path))


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The level of each library that is asked for."""
    levels: list[str] = []
    build = begun.build

    def noted(compiler: object, text: str, flags: tuple[str, ...], include: object) -> object:
        levels.append(flags[0])
        return build(compiler, text, flags, include)  # type: ignore[arg-type]

    monkeypatch.setattr(begun, "build", noted)
    return levels


@pytest.mark.parametrize("schedule", [None, 5])
def test_code_changes_between_turns(
    compile_hip: Compile, monkeypatch: pytest.MonkeyPatch, schedule: int | None
) -> None:
    check_turns(compile_hip(CODE), monkeypatch, schedule)


def test_a_long_launch(compile_hip: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    check_a_long_launch(compile_hip(CODE), monkeypatch)


def test_a_kernel_that_runs_briefly_is_compiled_once(compile_hip: Compile, built: list[str]) -> None:
    module = compile_hip(CODE)
    for _ in range(3):
        run(module, 2)
    assert better_of(module).step is None
    assert built == ["-O0"]


def test_short_launches_add_up_and_what_was_made_is_found_again(compile_hip: Compile, built: list[str]) -> None:
    better = better_of(compile_hip(CODE))
    better.ran(better._left / 2)
    assert better.step is None
    better.ran(better._left + 0.001)
    assert better.step is not None
    better.ran(60.0)
    assert built == ["-O0", "-O2"]
    image = compile_hip(CODE).translate("mix")
    assert not hasattr(image, "reason") and image.better is None
    assert built == ["-O0", "-O2"]


def test_a_level_that_was_asked_for(compile_hip: Compile, built: list[str]) -> None:
    image = compile_hip(CODE, quickly=True).translate("mix")
    assert image.better is None and built == ["-O0"]


@pytest.mark.parametrize("error", [None, OSError(28, "No space left on device"), subprocess.TimeoutExpired("cc", 600)])
def test_a_compiler_that_cannot_optimise(
    error: Exception | None, compile_hip: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel runs on, and it is asked once."""
    compiler = find_host_compiler()
    assert not isinstance(compiler, Missing)
    asked = 0

    def refusing(*words: object) -> HostBuildFailed:
        nonlocal asked
        asked += 1
        if error is not None:
            raise error
        return HostBuildFailed((), "out of registers")

    module = compile_hip(CODE)
    better = better_of(module)
    monkeypatch.setattr(begun, "build", refusing)
    better.ran(60.0)
    better.ran(60.0)
    assert better.step is None and asked == 1
    run(module, 2)
    if error is None:
        assert isinstance(begin(Source(compiler, "int x", (), (), 2)), HostBuildFailed)


def test_levels() -> None:
    compiler = find_host_compiler()
    if isinstance(compiler, Missing):
        pytest.skip(compiler.reason)
    text = "int wave_step(void *w) { return w != 0; }"
    for level, wanted in ((0, False), (1, False), (2, True), (3, True)):
        made = begin(Source(compiler, text, (), (), level))
        assert isinstance(made, Begun) and isinstance(made.better, Better) is wanted
    patient = begin(Source(compiler, f"{text}\n", (), (), 2), patient=True)
    assert isinstance(patient, Begun) and patient.better is None
