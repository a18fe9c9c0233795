"""memory.hpp, atomics.hpp and device.hpp: compiled everywhere, executed on the virtual gfx942."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

from tests.include import hip, virtual

COPIED = {"char": 1, "short2": 4, "float": 4, "double": 8, "three": 12, "int4": 16, "double2": 16}


def _launch(module: Module, kernel: str, *arguments: Any, size: int = 64) -> Ran:
    done = module.launch(kernel, 1, size, arguments)
    assert isinstance(done, Ran), f"{kernel}: {done}"
    return done


@pytest.mark.slow
@pytest.mark.parametrize("snippet", ["memory_device", "atomics_device", "control_device"])
def test_compiles_everywhere(snippet: str, tmp_path: Path) -> None:
    needs = "hip/hip_fp16.h" if snippet == "atomics_device" else "hip/hip_runtime.h"
    hip.check_everywhere(hip.snippet(snippet), tmp_path, needs)


@pytest.fixture(scope="module")
def memory() -> Module:
    return virtual.load("memory_device")


@pytest.mark.parametrize("name", COPIED)
def test_hinted_accesses_copy(memory: Module, name: str) -> None:
    values = np.random.default_rng(1).integers(0, 256, (64, COPIED[name]), np.uint8)
    done = _launch(memory, f"copy_{name}", values, np.zeros((6, 64, COPIED[name]), np.uint8), 64)
    np.testing.assert_array_equal(done.output(1), np.broadcast_to(values, (6, 64, COPIED[name])))


def test_stored_constants_are_converted(memory: Module) -> None:
    done = _launch(memory, "constants", np.zeros(1, np.float32), np.zeros(1, np.int16))
    assert (done.output(0)[0], done.output(1)[0]) == (1.0, 2)


def test_address_spaces(memory: Module) -> None:
    done = _launch(memory, "spaces", np.arange(4, dtype=np.int32), np.zeros(8, np.uint32), size=1)
    assert done.output(1).tolist() == [100, 10, 1, 8, 7, 8, 9, 1]


def test_streaming_hint_and_coherence_are_in_the_code(tmp_path: Path) -> None:
    kernels = hip.assembly(hip.snippet("memory_device"), tmp_path)
    streamed = [line for line in kernels["streamed"] if line.startswith("global_load")]
    assert len(streamed) == 1 and "dwordx4" in streamed[0] and streamed[0].endswith(" nt")
    loads = [line for line in kernels["copy_int4"] if line.startswith("global_load")]
    assert any(line.endswith("sc1") and "sc0" not in line for line in loads), "a device-wide load"
    assert any("sc0 sc1" in line for line in loads), "a system-wide load"


@pytest.fixture(scope="module")
def atomics() -> Module:
    return virtual.load("atomics_device")


def test_block_and_64_bit_atomics(atomics: Module) -> None:
    u = np.zeros(9, np.uint32)
    u[1] = 0xFFFFFFFF
    s = np.array([-1, 0, 0, 0, 0, 0], np.int64)
    zeros = [np.zeros(5, np.int32), u, np.zeros(1, np.uint64), np.zeros(1, np.float32), np.zeros(1), s]
    i, u, wide, f, d, s = (_launch(atomics, "counted", *zeros).output(k) for k in range(6))
    assert i.tolist() == [2016, -2016, -63, 63, 5]
    # Inc: 64 steps of a counter from 0 to 9. Dec: 0 wraps to 9, then down.
    assert u.tolist() == [64, 0, 0xFFFFFFFF, 0, 64 % 10, (-64) % 10, 64 % 7, (-64) % 7, 192]
    assert wide.tolist() == [64 << 40]
    assert (f[0], d[0]) == (32.0, 16.0)
    assert s.tolist() == [0, -1, 0, -63 << 33, 63 << 33, 63 << 34]


def test_16_bit_compare_and_swap_leaves_the_neighbour_alone(atomics: Module) -> None:
    start = np.array([65530, 1, 2, 3, 77], np.uint16)
    done = _launch(atomics, "halfwords", start)
    lanes = np.arange(64)
    expected = [(int(start[k]) + int(lanes[lanes % 4 == k].sum())) % 65536 for k in range(4)]
    assert done.output(0).tolist() == [*expected, 77]


def test_vectors_and_forwarded_types(atomics: Module) -> None:
    integers = np.array([0, 0, 0, 1], np.int32)
    done = _launch(
        atomics, "vectors", np.zeros(2, np.float32), np.zeros(4, np.float32), np.zeros(1, np.float32), integers
    )
    assert done.output(0).tolist() == [2016, 64]
    assert done.output(1).tolist() == [2016, 64, 128, 192]
    assert done.output(2).tolist() == [128]
    assert done.output(3).tolist() == [128, 4, -4, 5]


def test_old_values_come_back(atomics: Module) -> None:
    out = _launch(atomics, "old_values", np.zeros(2, np.int32), np.zeros(128, np.int32)).output(1)
    assert sorted(out[:64].tolist()) == list(range(64))
    assert len(set(out[64:].tolist())) >= 63


def test_sleep_ends() -> None:
    done = _launch(virtual.load("control_device"), "sleeping", np.array([5000, 0], np.uint32))
    assert done.output(0)[1] == 1


def test_trap_stops_the_kernel() -> None:
    module = virtual.load("control_device")
    assert isinstance(module.launch("trapping", 1, 64, [np.zeros(2, np.int32)]), Ran)
    assert not isinstance(module.launch("trapping", 1, 64, [np.array([1, 0], np.int32)]), Ran)


def test_rows_name_functions_of_the_headers() -> None:
    for header in ("memory.hpp", "atomics.hpp", "device.hpp"):
        text = (hip.HEADERS / "porter" / header).read_text("utf-8")
        for ours in hip.supplied(header).values():
            assert f" {ours.removeprefix('porter::')}(" in text, ours
