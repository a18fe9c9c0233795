"""Order between waves and blocks of the original by locks, flags and fences; what is missing is found."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, FaultKind, Outcome, Ran
from porter.validation.devices.ptx import Module

from tests.devices.order_kernels import GLOBAL, GLOBAL_RACES, GLOBAL_SILENT, LOCAL, LOCAL_RACES, LOCAL_SILENT
from tests.ptx.conftest import CompileCuda

SCHEDULES = (None, 2)


@pytest.fixture(scope="module")
def local(compile_cuda: CompileCuda) -> Module:
    return compile_cuda(LOCAL)


@pytest.fixture(scope="module")
def across(compile_cuda: CompileCuda) -> Module:
    return compile_cuda(GLOBAL)


def run_local(module: Module, kernel: str, schedule: int | None) -> Outcome:
    return module.launch(kernel, 2, 256, [np.zeros(2, np.int32)], options=Options(schedule=schedule, races=True))


def run_across(module: Module, kernel: str, schedule: int | None) -> Ran:
    arrays = [np.zeros(2048, np.int32), np.zeros(2048, np.int32)]
    done = module.launch(kernel, 8, 256, arrays, options=Options(schedule=schedule, global_races=True))
    assert isinstance(done, Ran), done
    return done


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", LOCAL_SILENT)
def test_waves_in_order(local: Module, kernel: str, schedule: int | None) -> None:
    done = run_local(local, kernel, schedule)
    assert isinstance(done, Ran), done
    assert not done.notes
    assert list(done.output(0)) == [4, 4]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", [*LOCAL_RACES, "same_then_other", "counted_unfenced", "volatile_without"])
def test_waves_out_of_order(local: Module, kernel: str, schedule: int | None) -> None:
    done = run_local(local, kernel, schedule)
    assert isinstance(done, Fault) and done.kind is FaultKind.RACE, done


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_lock_without_fences_is_a_hazard(local: Module, schedule: int | None) -> None:
    done = run_local(local, "unfenced", schedule)
    assert isinstance(done, Ran), done
    assert "no __threadfence_block seen" in done.notes[0]


@pytest.mark.parametrize("kernel", [*GLOBAL_SILENT, "chain"])
def test_blocks_in_order(across: Module, kernel: str) -> None:
    for schedule in SCHEDULES if kernel != "chain" else (None,):
        assert not run_across(across, kernel, schedule).notes


@pytest.mark.parametrize("kernel", GLOBAL_RACES)
def test_blocks_out_of_order(across: Module, kernel: str) -> None:
    for schedule in SCHEDULES:
        notes = run_across(across, kernel, schedule).notes
        assert [note for note in notes if note.startswith("hazard in global memory")], kernel


def test_both_places_are_named(across: Module) -> None:
    (note,) = run_across(across, "neighbour", None).notes
    assert "block (1, 0, 0)" in note and "with block (0, 0, 0), wave" in note
    assert "into argument 1" in note and note.count(".cu:") == 2


def test_waves_of_one_block_are_told_apart(across: Module) -> None:
    (note,) = run_across(across, "no_barrier", None).notes
    assert "block (0, 0, 0), wave 2" in note and note.rpartition("; ")[2].startswith("with wave 0")
