"""The capture kits: what they write is read, compared, refused when damaged; both run on the virtual devices."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices import registry

from benchmarks.capture import KITS, PART, Capture, Damaged, Record, Words, compare, distance, make, read, summed

HEAD = b"porter-capture 1\ngfx942\nsome device\n"
CAPTURED = sorted(path for script, _ in KITS.values() for path in script.parent.glob("*.capture.gz"))
"""From GPUs, where somebody sent one."""


def written(record: Record, words: Words | None = None) -> bytes:
    """As the program writes it, or with other words under the same checksum."""
    place = f"{record.name} {record.kind} {record.type} {record.first} {record.step} {len(record.words)} "
    data = record.words if words is None else words
    return f"{place}{summed(record.words):08x}\n".encode() + data.astype("<u4").tobytes()


def block(first: int, words: Sequence[int] | Words, step: int = 1) -> Record:
    return Record("v_rcp_f32", "values", "f32", first, step, np.resize(np.array(words, np.uint32), 4096))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.capture.gz"
    records = (block(3, range(4096)), Record("dots", "rows", "u32", 0, 6, np.arange(12, dtype=np.uint32)))
    path.write_bytes(gzip.compress(HEAD + b"".join(map(written, records)) + b"end\n"))
    found = read(path)
    assert (found.kind, found.device, found.is_whole) == ("gfx942", "some device", True)
    assert [(r.name, r.first, len(r.words)) for r in found.records] == [("v_rcp_f32", 3, 4096), ("dots", 0, 12)]


def test_a_file_that_was_cut_off_keeps_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.capture"
    path.write_bytes((HEAD + written(block(0, [1])) + written(block(1, [2])))[:-5])
    found = read(path)
    assert not found.is_whole and [record.first for record in found.records] == [0]


def test_other_words_than_were_written_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.capture"
    path.write_bytes(HEAD + written(block(0, [1, 2]), np.resize(np.array([2, 1], np.uint32), 4096)) + b"end\n")
    with pytest.raises(Damaged, match="v_rcp_f32 values"):
        read(path)
    path.write_bytes(b"something else")
    with pytest.raises(Damaged, match="no capture"):
        read(path)


def test_only_blocks_of_both_are_compared() -> None:
    one, bits = np.float32(1).view(np.uint32), np.float32(-0.0).view(np.uint32)
    mine = Capture("gfx942", "a", (block(0, [one]), block(8, [one, bits], step=1)), True)
    theirs = Capture("gfx942", "b", (block(4, [7]), block(8, [one + 3, 0])), True)
    (row,) = compare(mine, theirs)
    assert (row.common, row.different, row.worst) == (4096, 4096, 3)
    assert row.example == f"input 0x00008000: {one:#010x}, {one + 3:#010x}"


def test_units_in_the_last_place_cross_zero_and_leave_out_nan() -> None:
    words = [np.array([x], np.float32).view(np.uint32) for x in (-1e-45, 1e-45, np.nan)]
    assert distance("f32", words[0], words[1]) == 2
    assert distance("f32", words[0], words[2]) is None and distance("u32", words[0], words[1]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kit", "device", "name"), [("gfx942", "gfx942", "v_rcp_f16"), ("nvidia", "ptx", "ex2.approx.f16")]
)
def test_the_program_runs_and_its_sums_are_those_of_its_values(
    kit: str, device: str, name: str, tmp_path: Path
) -> None:
    reason = registry.why_not(device)
    if reason is not None:
        pytest.skip(reason)
    wrong = make(kit, tmp_path / "a.capture", ("--only", name, "--rows", "16"))
    assert not wrong, wrong
    found = read(tmp_path / "a.capture.gz")
    sums, values = (
        {n: w for r in found.records if r.kind == kind for n, w in r.units()} for kind in ("sums", "values")
    )
    assert found.is_whole and len(sums) == 16 and sums.keys() == values.keys()
    assert all(summed(values[number]) == int(sums[number][0]) for number in sums)
    bits = np.concatenate([values[number] for number in sorted(values)]).astype(np.uint16).view(np.float16)
    place = int(np.array([0.5], np.float16).view(np.uint16)[0])
    assert bits[place] == np.float16(2.0 if kit == "gfx942" else np.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: path.name)
def test_what_gpus_gave(path: Path, tmp_path: Path) -> None:
    """A device's reference: each instruction that is not listed as undecided gives what the GPU gave."""
    mine = read(path)
    only = "mma" if all(record.name.startswith("mma") for record in mine.records) else ""
    wrong = make(mine.kind, tmp_path / "virtual.capture", (*PART, *(["--only", only] if only else [])))
    assert not wrong, wrong
    found = compare(mine, read(tmp_path / "virtual.capture.gz"))
    assert len(found) == len(mine.records) and not [row.name for row in found if row.different]
