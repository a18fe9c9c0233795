"""Order between waves and blocks of the port by locks, flags and fences; what is missing is found."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, FaultKind, Outcome, Ran
from porter.validation.devices.gfx942 import Module

from tests.devices.conftest import Compile
from tests.devices.order_kernels import GLOBAL, GLOBAL_RACES, GLOBAL_SILENT, LOCAL, LOCAL_RACES, LOCAL_SILENT

SCHEDULES = (None, 2)


@pytest.fixture(scope="module")
def local(compile_hip: Compile) -> Module:
    return compile_hip("#include <hip/hip_runtime.h>\n" + LOCAL)


@pytest.fixture(scope="module")
def across(compile_hip: Compile) -> Module:
    return compile_hip("#include <hip/hip_runtime.h>\n" + GLOBAL)


def run_local(module: Module, kernel: str, schedule: int | None) -> Outcome:
    return module.launch(kernel, 2, 256, [np.zeros(2, np.int32)], options=Options(schedule=schedule, races=True))


def run_across(module: Module, kernel: str, schedule: int | None, look: bool = True) -> Outcome:
    arrays = [np.zeros(2048, np.int32), np.zeros(2048, np.int32)]
    return module.launch(kernel, 8, 256, arrays, options=Options(schedule=schedule, global_races=look))


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", [*LOCAL_SILENT, "unfenced", "counted_unfenced"])
def test_waves_in_order(local: Module, kernel: str, schedule: int | None) -> None:
    done = run_local(local, kernel, schedule)
    assert isinstance(done, Ran), done
    assert not done.notes or kernel == "flag"  # a fence of the block is no instruction
    assert list(done.output(0)) == [4, 4]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", LOCAL_RACES)
def test_waves_out_of_order(local: Module, kernel: str, schedule: int | None) -> None:
    done = run_local(local, kernel, schedule)
    assert isinstance(done, Fault) and done.kind is FaultKind.RACE, done


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_volatile_alone_is_a_hazard(local: Module, schedule: int | None) -> None:
    done = run_local(local, "volatile_without", schedule)
    assert isinstance(done, Ran), done
    assert "no __threadfence_block seen" in done.notes[0]


@pytest.mark.parametrize("kernel", [*GLOBAL_SILENT, "chain"])
def test_blocks_in_order(across: Module, kernel: str) -> None:
    for schedule in SCHEDULES if kernel != "chain" else (None,):
        done = run_across(across, kernel, schedule)
        assert isinstance(done, Ran), done
        assert not done.notes


@pytest.mark.parametrize("kernel", GLOBAL_RACES)
def test_blocks_out_of_order(across: Module, kernel: str) -> None:
    for schedule in SCHEDULES:
        done = run_across(across, kernel, schedule)
        assert isinstance(done, Ran), done
        assert [note for note in done.notes if note.startswith("hazard in global memory")], kernel


def test_it_is_an_option(across: Module) -> None:
    done = run_across(across, "in_place", None, look=False)
    assert isinstance(done, Ran) and not done.notes
