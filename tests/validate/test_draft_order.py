"""`porter cases init --try` prefers launches whose results no order of the original's threads changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.guessing import search
from porter.validation.draft.init import DraftedCase, draft
from porter.validation.draft.order import calmed, loose, one_block, unordered
from porter.validation.draft.trying import try_sizes
from porter.validation.verdict.outcome import CaseResult, SideResult, Status

SOURCE = """
__global__ void rows(float* out, const float* in, int n) {
  for (int k = 0; k < n; k++) out[blockIdx.x + k] = in[blockIdx.x] + threadIdx.x * 0;
}
__global__ void last(int* out, const int* in) { if (threadIdx.x == 0) out[0] = blockIdx.x + 0 * in[0]; }
__global__ void flag(int* seen, const int* in) { if (in[threadIdx.x] >= 0) seen[0] = 1; }
__global__ void tickets(int* out, int* count) { out[threadIdx.x] = atomicAdd(count, 1); }
__global__ void sums(float* total, const float* in) { atomicAdd(total, in[blockIdx.x * blockDim.x + threadIdx.x]); }
__global__ void plain(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
"""


def drafted(tmp_path: Path) -> dict[str, DraftedCase]:
    (tmp_path / "k.cu").write_text(SOURCE)
    return {part.kernel: part for part in draft(tmp_path / "k.cu", assuming=True).parts}


def result(status: Status, reason: str = "", written: int = 9) -> CaseResult:
    sides = (SideResult("original", "ptx", 32, status, counters={"written_elements": written}),)
    return CaseResult("k", "k.case.toml", 1, "k.cu", "k", status, reason, sides)


AGREES = result(Status.PASSED)
CHANGES = result(Status.NONDETERMINISTIC, "out[0] is 1 with one schedule and 0 with another; 1 elements differ")
RACES = result(Status.FAULT, "data race: last: two blocks write to out")


def test_a_launch_that_agrees_is_taken_as_it_is(tmp_path: Path) -> None:
    going = search(drafted(tmp_path)["plain"])
    first = next(going)
    with pytest.raises(StopIteration) as ended:
        going.send(AGREES)
    assert ended.value.value == first and "order" not in first.text()


def test_one_block_then_larger_strides_then_fewer_threads(tmp_path: Path) -> None:
    going = search(drafted(tmp_path)["rows"])
    first = next(going)
    assert "grid = 2" in first.after and "n = [100]" in first.text()
    by_roundings = going.send(CHANGES)
    assert "grid = 2" in by_roundings.after and "deterministic = false" in by_roundings.after
    block = going.send(CHANGES)
    assert "grid = 1" in block.after and "block = 128" in block.after and "deterministic = false" not in block.after
    assert "deterministic = false" in going.send(CHANGES).after
    larger = going.send(CHANGES)
    assert "grid = 2" in larger.after and "n = [512]" in larger.text()
    going.send(CHANGES)
    assert "{any_order}" in going.send(CHANGES).text()
    few = going.send(CHANGES)
    assert "grid = 1" in few.after and "block = 32" in few.after and "n = [100]" in few.text()
    with pytest.raises(StopIteration) as ended:
        going.send(AGREES)
    taken = ended.value.value
    assert taken.after == few.after and taken.notes[:-1] == few.notes
    assert taken.notes[-1].startswith("with more threads what the original computes depends on the order")


def test_where_none_agrees_the_case_says_what_changes(tmp_path: Path) -> None:
    going = search(drafted(tmp_path)["last"])
    found, made = next(going), None
    for _ in range(9):
        try:
            going.send(CHANGES)
        except StopIteration as ended:
            made = ended.value
            break
    assert made.after == found.after
    assert made.notes[-1] == (
        "order: what the original computes depends on the order of its threads: nondeterministic: "
        "out[0] is 1 with one schedule and 0 with another; 1 elements differ"
    )


def test_a_launch_that_races_is_taken_unchecked_only_where_no_calmer_one_is_clean(tmp_path: Path) -> None:
    for second, wanted in ((AGREES, "grid = 1"), (RACES, "grid = 2")):
        going = search(drafted(tmp_path)["flag"])
        next(going)
        assert "races = false" in going.send(RACES).text()
        alone = going.send(AGREES)
        assert "grid = 1" in alone.after and "races = false" not in alone.text()
        taken = None
        for one in (second, AGREES, RACES, AGREES, RACES, AGREES):
            try:
                going.send(one)
            except StopIteration as ended:
                taken = ended.value
                break
        assert taken is not None and (second is RACES or taken.notes[-1].endswith("its threads: two of them race"))
        assert wanted in taken.after and ("races = false" in taken.text()) == (second is RACES)


def test_no_time_is_spent_beyond_the_limit(tmp_path: Path) -> None:
    going = search(drafted(tmp_path)["last"], seconds=-1.0)
    next(going)
    assert "{any_order}" in going.send(CHANGES).text()
    with pytest.raises(StopIteration) as ended:
        going.send(CHANGES)
    assert ended.value.value.notes[-1].startswith("order: ")


def test_a_known_launch_is_held_to_less(tmp_path: Path) -> None:
    part = drafted(tmp_path)["sums"]
    known = replace(part, after=("grid = [4, 2]", "block = 64", *part.after[2:]))
    going = calmed(replace(known, after=tuple(x for x in known.after if x != "deterministic = false")), "x")
    assert "deterministic = false" in next(going).after
    assert "grid = [1, 1]" in going.send(CHANGES).after
    again = going.send(CHANGES)
    assert "grid = [1, 1]" in again.after and "deterministic = false" in again.after
    with pytest.raises(StopIteration) as ended:
        going.send(AGREES)
    assert ended.value.value == again


def test_near_misses(tmp_path: Path) -> None:
    parts = drafted(tmp_path)
    assert loose(parts["last"]) is None  # integers are never held to less
    assert loose(replace(parts["rows"], after=(*parts["rows"].after, "deterministic = false"))) is None
    assert one_block(replace(parts["rows"], after=("grid = [1, 1]", *parts["rows"].after[1:]))) is None
    said = "out[3] is 1 with one schedule and 0 with another; 2 elements differ"
    assert unordered(parts["tickets"], said.replace("out", "other")) is None
    made = unordered(parts["tickets"], said)
    assert made is not None and '"out out: int32[TODO] {any_order}"' in made.text()
    assert unordered(made, said) is None
    other = unordered(parts["tickets"], "in another one 16 of 64 elements of out are wrong: out[3]")
    assert other is not None and other.after == made.after


@pytest.mark.slow
def test_what_the_device_says(tmp_path: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    (tmp_path / "k.cu").write_text(SOURCE)
    tried = {one.case.kernel: one for one in try_sizes(draft(tmp_path / "k.cu", assuming=True))}
    assert all(one.chosen and not one.order for one in tried.values())
    assert "grid = 1" in tried["last"].text and "with several blocks what the original computes" in tried["last"].text
    assert "grid = 2" in tried["plain"].text and "order" not in tried["plain"].text
    assert "deterministic = false" in tried["sums"].text
    assert "{any_order}" in tried["tickets"].text


def _with_note(note: str) -> CaseResult:
    return replace(AGREES, sides=tuple(replace(side, notes=(note,)) for side in AGREES.sides))


def test_a_launch_whose_plain_accesses_race_gives_way_to_one_whose_do_not(tmp_path: Path) -> None:
    """No order of the original shows it, and a wavefront of 64 lanes would."""
    unseen = _with_note("hazard in global memory: two waves, one of them writing, nothing orders them: last")
    for second, wanted in ((AGREES, "grid = 1"), (unseen, "grid = 2")):
        going, taken = search(drafted(tmp_path)["last"]), None
        next(going)
        assert "grid = 1" in going.send(unseen).after
        for one in (second, unseen):
            try:
                going.send(one)
            except StopIteration as ended:
                taken = ended.value
                break
        assert taken is not None and wanted in taken.after and "block = 128" in taken.after
        assert taken.notes[-1].startswith("order: plain accesses") == (second is unseen)
    going = search(drafted(tmp_path)["last"])
    next(going)
    with pytest.raises(StopIteration) as ended:
        going.send(_with_note("hazard in shared memory: two lanes of a warp, one of them writing"))
    assert "grid = 2" in ended.value.value.after and not ended.value.value.notes[-1].startswith("order: ")
