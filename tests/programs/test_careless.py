"""Programs that a GPU may let pass: host code in device memory, what nothing wrote, blocks without an order."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import ProgramRun, Verdict

pytestmark = pytest.mark.slow


def _has_keys() -> bool:
    """Whether a process gets one of the processor's protection keys, which a container may refuse."""
    library = ctypes.CDLL(None)
    key = library.pkey_alloc(0, 0) if hasattr(library, "pkey_alloc") else -1
    return key >= 0 and library.pkey_free(key) == 0


keys = pytest.mark.skipif(not _has_keys(), reason="no protection keys here")


def run(program: Path, mode: str, options: Options | None = None) -> ProgramRun:
    return run_program([str(program), mode], options, keep=True)


@keys
@pytest.mark.parametrize("mode", ["read", "write", "callback"])
def test_host_code_in_device_memory(careless: Path, mode: str) -> None:
    done = run(careless, mode)
    assert (done.verdict, done.exit_code) == (Verdict.FAULT, 120)
    (fault,) = done.account.faults
    assert fault.details["kind"] == "host-access"
    at = 12 if mode == "read" else 0
    assert f"{at} bytes into device memory 1 (1024 bytes)" in fault.text


@keys
def test_host_code_goes_on(careless: Path) -> None:
    done = run(careless, "read", Options(go_on=True))
    assert (done.verdict, done.code, done.output) == (Verdict.FAULT, 0, b"PASS\n")


@pytest.mark.parametrize("delay", [0, 3])
def test_memory_that_both_may_use(careless: Path, delay: int) -> None:
    """Managed, pinned and registered memory, a managed variable, and a host function on a stream."""
    done = run(careless, "shared", Options(delay=delay, every_launch=True))
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n")


@pytest.mark.parametrize("mode", ["accumulate", "moved"])
def test_sums_in_memory_that_nothing_wrote(careless: Path, mode: str) -> None:
    done = run(careless, mode, Options(uninitialised=True))
    assert done.verdict is Verdict.FAULT and done.account.faults[0].details["kind"] == "uninitialised"
    assert f"0 bytes into device memory {2 if mode == 'moved' else 1} (1024 bytes)" in done.reason
    assert run(careless, mode).verdict is Verdict.PASSED  # not asked for


def test_half_of_a_result(careless: Path) -> None:
    done = run(careless, "half", Options(uninitialised=True))
    assert done.verdict is Verdict.PASSED
    (note,) = done.account.notes
    assert "512 of 1024 bytes were never written; the first: 512 bytes into device memory 1" in note.text


@pytest.mark.parametrize(
    ("mode", "where"),
    [
        ("heap_sum", "into device heap"),
        ("managed_sum", "0 bytes into managed memory"),
        ("managed_far", "2097152 bytes into managed memory"),
        ("managed_moved", "0 bytes into device memory 2 (1024 bytes)"),
    ],
)
def test_heap_and_managed_memory_that_nothing_wrote(careless: Path, mode: str, where: str) -> None:
    done = run(careless, mode, Options(uninitialised=True))
    assert done.verdict is Verdict.FAULT and done.account.faults[0].details["kind"] == "uninitialised"
    assert where in done.reason, done.reason
    assert run(careless, mode).verdict is Verdict.PASSED  # not asked for


@pytest.mark.parametrize("mode", ["written", "shared", "heap_all", "heap_part", "managed_written"])
def test_what_was_written_in_any_way(careless: Path, mode: str) -> None:
    done = run(careless, mode, Options(uninitialised=True))
    assert (done.verdict, done.output, done.account.notes) == (Verdict.PASSED, b"PASS\n", ())


@pytest.mark.parametrize("options", [Options(), Options(uninitialised=True), Options(races=True)])
def test_what_one_kernel_leaves_in_the_heap(careless: Path, options: Options) -> None:
    """Kernels that allocate nothing use it, too; before, they were told to leave every allocation."""
    done = run(careless, "heap", options)
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n"), done.reason


@pytest.mark.parametrize("mode", ["sum", "store"])
def test_blocks_that_store_different_values(careless: Path, mode: str) -> None:
    done = run(careless, mode, Options(races=True))
    assert (done.verdict, done.code, done.output) == (Verdict.FAULT, 0, b"PASS\n")
    (fault,) = done.account.faults
    assert fault.details["kind"] == "block-race" and fault.details["block"] == [1, 0, 0]
    assert "with block (0, 0, 0), wave 0" in fault.text


@pytest.mark.parametrize("mode", ["flag", "bytes", "own", "atomic", "last", "lock"])
def test_blocks_that_may(careless: Path, mode: str) -> None:
    """The same value by all, bytes of one word, a word each, atomics, the last block's sum, a lock."""
    for schedule in (0, 5):
        done = run(careless, mode, Options(races=True, schedule=schedule))
        assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n")
        assert not done.account.faults and not done.account.notes


@pytest.mark.parametrize("mode", ["turns", "rounds"])
@pytest.mark.parametrize("schedule", [0, 3])
def test_blocks_that_wait_for_others(careless: Path, mode: str, schedule: int) -> None:
    """Block 0 waits for a block that begins after it: both have to be alive, also where it waits with barriers."""
    done = run(careless, mode, Options(seconds=150, threads=1, schedule=schedule))
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n"), done.reason


def test_a_barrier_of_the_whole_grid(careless: Path) -> None:
    """Two hundred blocks that wait for each other in a loop: what the wait takes does not grow with the square."""
    done = run(careless, "together", Options(seconds=150, threads=1, budget=200_000_000))
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n"), done.reason
