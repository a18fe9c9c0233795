"""Ways in which programs use a device, and ways in which they end, on both sides."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import ProgramRun, Verdict

pytestmark = pytest.mark.slow


def run(program: Path, *words: str, options: Options | None = None) -> ProgramRun:
    """One mode."""
    return run_program([str(program), *words], options or Options(seconds=120), keep=True)


@pytest.mark.parametrize(
    ("mode", "devices", "launches"), [("heap", 1, 2), ("peers", 2, 2), ("mapped", 1, 2), ("threads", 1, 240)]
)
def test_uses(ways: Path, mode: str, devices: int, launches: int) -> None:
    """The device's heap, the memory of another device, the host's memory, threads that launch at once."""
    done = run(ways, mode, options=Options(seconds=120, devices=devices))
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n"), done.reason
    assert done.account.launches == launches


def test_threads_in_any_order(ways: Path) -> None:
    done = run(ways, "threads", options=Options(seconds=120, delay=11, threads=1))
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n"), done.reason


def test_peers_want_another_device(ways: Path) -> None:
    done = run(ways, "peers")
    assert (done.verdict, done.output) == (Verdict.FAILED, b"one device\n")


def test_cooperative_launches(ways: Path) -> None:
    """Blocks wait for each other; a grid that does not fit at once is refused."""
    done = run(ways, "cooperative")
    assert done.output == b"PASS\n" and done.account.launches == 1
    assert done.verdict is Verdict.IGNORED_ERROR and "CooperativeLaunchTooLarge" in done.reason


def test_kernels_of_a_library_that_is_loaded(ways: Path) -> None:
    done = run(ways, "loaded", str(ways.with_name("libways.so")))
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n"), done.reason
    assert done.account.launches == 2


def test_an_end_while_work_is_queued(ways: Path) -> None:
    assert run(ways, "queued").verdict is Verdict.PASSED
    done = run(ways, "queued", options=Options(seconds=120, delay=3))
    assert (done.verdict, done.exit_code) == (Verdict.NO_LAUNCH, 122)
    assert "ended while streams held 3 operations, which were dropped: nothing waited for them" in done.reason


def test_races_are_told(ways: Path) -> None:
    done = run(ways, "race", options=Options(seconds=120, races=True))
    (told,) = (row.text for row in done.account.faults)
    assert (done.verdict, done.code) == (Verdict.FAULT, 0)
    assert "data race in global memory: two blocks store different values" in told
    assert "race(int*)" in told and "ways." in told
    assert run(ways, "race").verdict is Verdict.PASSED


def test_values_that_nothing_wrote(ways: Path) -> None:
    done = run(ways, "unset", options=Options(seconds=120, uninitialised=True))
    assert (done.verdict, done.exit_code) == (Verdict.FAULT, 120)
    assert "an uninitialised value reaches a result: unset(int*)" in done.reason
    assert run(ways, "unset").verdict is Verdict.PASSED


def test_memory_that_the_program_corrupts(ways: Path) -> None:
    done = run(ways, "corrupt")
    assert (done.verdict, done.exit_code) == (Verdict.CRASHED, 134)
    assert done.account.launches == 1, "what happened before is still told"


def test_nothing_is_left_running(ways: Path) -> None:
    done = run(ways, "left")
    assert done.account.launches == 1
    child = int(done.output)
    for _ in range(50):
        if not is_running(child):
            return
        time.sleep(0.1)
    os.kill(child, 9)
    pytest.fail("a child of the program outlived it")


def is_running(process: int) -> bool:
    """Whether it is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
