"""The stand-ins for NCCL and RCCL between four devices of one process against NumPy and PyTorch, on both sides."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import ProgramRun, Verdict
from porter.validation.programs.show import run_text

pytestmark = pytest.mark.slow
RANKS, COUNT, SMALL = 4, 600, 5
INTEGERS = {0: np.int8, 1: np.uint8, 2: np.int32, 3: np.uint32, 4: np.int64, 5: np.uint64}
FLOATS = {6: np.float16, 7: np.float32, 8: np.float64}
BFLOAT16 = 9
Array = np.ndarray


def ran(program: Path, mode: str, **options: int) -> tuple[ProgramRun, dict[str, str]]:
    """One mode: the run, and what follows the colon of each line."""
    done = run_program([str(program), mode], Options(seconds=120, **{"devices": RANKS, **options}), keep=True)
    lines = [line.split(":", 1) for line in done.output.decode().splitlines() if ":" in line]
    return done, {name: values.strip() for name, values in lines}


def filled(rank: int) -> bytes:
    """What the program's kernel writes."""
    with np.errstate(over="ignore"):
        x = (np.arange(8 * COUNT, dtype=np.uint32) + 1) * np.uint32(2654435761) ^ np.uint32((rank + 1) * 40503)
        x ^= x >> 15
        x *= np.uint32(2246822519)
        x ^= x >> 13
    return x.astype(np.uint8).tobytes()


def reduced(values: list[Array], how: int) -> Array:
    """Sum, product, maximum, minimum, mean; what a type cannot hold wraps."""
    first, *others = values
    for other in others:
        combine = (np.add, np.multiply, np.fmax, np.fmin, np.add)[how]
        first = combine(first, other)
    if how < 4:
        return first
    if first.dtype.kind == "f":
        return first / RANKS
    whole = np.abs(first.astype(object)) // RANKS * np.sign(first.astype(object))
    return np.array(whole.tolist(), first.dtype)


def same(got: Array, wanted: Array) -> None:
    """Bit for bit, but for which NaN it is."""
    numbers = ~np.isnan(wanted)
    assert np.array_equal(numbers, ~np.isnan(got))
    np.testing.assert_array_equal(got[numbers], wanted[numbers])


@np.errstate(all="ignore")
def test_every_type_with_every_operator(collectives: Path) -> None:
    done, got = ran(collectives, "reductions")
    assert done.verdict is Verdict.PASSED, done.reason
    for number, kind in (INTEGERS | FLOATS).items():
        wide = {"i": np.int64, "u": np.uint64, "f": np.float64}[np.dtype(kind).kind]
        values = [np.frombuffer(filled(rank), kind)[:COUNT].astype(wide) for rank in range(RANKS)]
        for how in range(5):
            wanted = reduced(values, how).astype(kind)
            for rank in (0, RANKS - 1):
                same(np.frombuffer(bytes.fromhex(got[f"{number} {how} {rank}"]), kind), wanted)
    torch = pytest.importorskip("torch")

    def as_double(content: bytes, kind: object) -> Array:
        return torch.frombuffer(bytearray(content), dtype=kind).double().numpy()

    values = [as_double(filled(rank), torch.bfloat16)[:COUNT] for rank in range(RANKS)]
    for how in range(5):
        wanted = torch.from_numpy(reduced(values, how)).to(torch.bfloat16).double().numpy()
        same(as_double(bytes.fromhex(got[f"{BFLOAT16} {how} 0"]), torch.bfloat16), wanted)
    codes = np.arange(65536)
    for name in ("e4m3", "e5m2"):
        kind = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}[name]
        if done.account.sides == ("hip",):
            kind = {"e4m3": torch.float8_e4m3fnuz, "e5m2": torch.float8_e5m2fnuz}[name]
        table = as_double(bytes(range(256)), kind)
        total = table[codes & 255] + table[codes >> 8]
        largest = table[np.isfinite(table)].max()
        wanted = np.where(np.abs(total) > largest, np.copysign(largest, total), total)
        wanted = torch.from_numpy(wanted).to(kind).double().numpy()
        same(as_double(bytes.fromhex(got[name]), kind), wanted)


def test_moves(collectives: Path) -> None:
    done, got = ran(collectives, "moves")
    assert done.verdict is Verdict.PASSED, done.reason
    ranks = range(RANKS)
    full = [100 * rank + np.arange(RANKS * SMALL) for rank in ranks]
    mine = [values[:SMALL] for values in full]
    none = np.zeros(SMALL)
    total = np.sum(full, axis=0)
    for rank in ranks:
        block = slice(rank * SMALL, (rank + 1) * SMALL)
        right, left = (rank + 1) % RANKS, (rank - 1) % RANKS
        wanted = {
            "reduce": sum(mine) if rank == 2 else none,
            "reduce scatter": full[3][block],
            "all gather": np.concatenate(mine),
            "broadcast": mine[3],
            "ring": np.concatenate([mine[left], full[right][SMALL : SMALL + 2]]),
            "in place": total,
        }
        for name, values in wanted.items():
            assert [int(word) for word in got[f"{name} {rank}"].split()] == list(values), (name, rank)
    assert float(got["scaled"]) == 0.5 * 0.5 + 2 * 2 + 1 * 1 + -1 * -1
    texts = [row.text.partition(": ")[2] for row in done.account.stand_ins]
    assert {"ncclAllGather", "ncclSend", "ncclRecv", "ncclReduceScatter"} <= set(texts)
    assert "answered by a stand-in" in run_text(done)


def test_a_thread_for_each_rank_keeps_the_order_of_its_stream(collectives: Path) -> None:
    for delay in (0, 7):
        done, _ = ran(collectives, "steps", delay=delay)
        assert done.verdict is Verdict.PASSED and done.output == b"PASS\n", done.reason
        assert done.account.launches == RANKS * 7


def test_a_rank_that_works_is_waited_for(collectives: Path) -> None:
    done, _ = ran(collectives, "busy")
    assert done.verdict is Verdict.PASSED, done.reason


def test_several_ranks_of_one_thread_without_a_group(collectives: Path) -> None:
    done, _ = ran(collectives, "alone")
    assert done.verdict is Verdict.FAULT and done.exit_code == 120
    assert "deadlock: ncclAllReduce of rank 0 of 4 waits for ranks 1, 2, 3, which do not come" in done.reason
    assert "ncclGroupStart" in done.reason


def test_a_rank_that_never_comes(collectives: Path) -> None:
    start = time.monotonic()
    done, _ = ran(collectives, "late")
    assert done.verdict is Verdict.FAULT
    assert "waits for rank 3, which does not come: every other thread" in done.reason
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("unlike", "rank 0: ncclAllReduce of 3 int32, sum; rank 1: ncclAllReduce of 4 int32, sum"),
        ("uneven", "rank 0 sends 3 int32 to rank 1, which receives 4 int32"),
        ("beyond", "12 bytes into device memory 3 (20 bytes)"),
    ],
)
def test_what_does_not_fit_is_an_error_of_all(collectives: Path, mode: str, said: str) -> None:
    done, _ = ran(collectives, mode)
    assert done.output == b"status 4\n", "invalid argument"
    assert done.verdict is Verdict.IGNORED_ERROR and said in done.reason


def test_more_ranks_than_devices(collectives: Path) -> None:
    done, _ = ran(collectives, "few", devices=2)
    assert "device 2 of 2: porter run --devices 4" in done.account.failed_calls[0].text
    assert done.verdict is Verdict.FAILED
