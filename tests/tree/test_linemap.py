"""Lines of a port and the lines of the source they came from, against difflib and against made-up edits."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.project.linemap import _WINDOW, _alike, _meeting, line_shifts, source_line
from porter.project.manifest import read_manifest
from porter.project.port import Request, port_to
from porter.settings import load_choices

SAMPLES = Path(__file__).parents[2] / "samples"


def _mapped(source: str, port: str) -> list[int]:
    shifts = line_shifts(source.encode(), port.encode())
    return [source_line(shifts, line) for line in range(1, port.count("\n") + 1)]


def test_an_inserted_line_belongs_to_the_line_before() -> None:
    assert _mapped("a\nb\nc\n", "a\nnew\nb\nc\n") == [1, 1, 2, 3]
    assert _mapped("a\nb\n", "new\na\nb\n") == [1, 1, 2]


def test_a_removed_line() -> None:
    assert _mapped("a\nb\nc\nd\n", "a\nc\nd\n") == [1, 3, 4]


def test_a_changed_line_is_no_shift() -> None:
    assert line_shifts(b"a\nb\nc\nd", b"a\nB\nc\nd") == ()
    assert line_shifts(b"a\nb\nc\nd", b"x\ny\nz\nw") == ()


def test_a_swap_keeps_the_count_but_not_the_lines() -> None:
    assert _mapped("h\na\nb\nc\nd\n", "a\nb\nnew\nc\nd\n") == [2, 3, 3, 4, 5]


@given(st.lists(st.integers(0, 10**6), unique=True, min_size=4, max_size=60), st.data())
def test_unique_lines_are_found_again(lines: list[int], data: st.DataObject) -> None:
    port: list[str] = []
    origin: list[int | None] = []
    for number, line in enumerate(lines, 1):
        for extra in range(data.draw(st.sampled_from([0, 0, 0, 0, 1, 2]))):
            port.append(f"new {number} {extra}")
            origin.append(None)
        port.append(f"a telling line {line}")
        origin.append(number)
    got = _mapped("".join(f"a telling line {line}\n" for line in lines), "".join(f"{line}\n" for line in port))
    assert all(wanted in (None, found) for wanted, found in zip(origin, got, strict=True))


def _plain_meeting(old: list[bytes], new: list[bytes]) -> tuple[int, int]:
    for distance in range(1, _WINDOW):
        for skipped in range(distance // 2 + 1):
            for down, right in ((distance - skipped, skipped), (skipped, distance - skipped)):
                if _alike(old, new, down, right):
                    return down, right
    return 1, 1


LINES = st.lists(st.sampled_from([b"", b"}", b"a telling line", b"another telling line", b"x", b"y"]), max_size=90)
OTHERS = st.lists(st.sampled_from([b"p", b"q"]), max_size=40)


@given(OTHERS, LINES, OTHERS, LINES)
def test_the_nearest_meeting_is_that_of_trying_all_places(
    first: list[bytes], rest: list[bytes], other: list[bytes], more: list[bytes]
) -> None:
    old, new = [*first, *rest], [*(line + b"'" for line in other), *rest[1:], *more]
    assert _meeting(old, new, 0, 0) == _plain_meeting(old, new)


def test_samples_against_difflib(tmp_path: Path) -> None:
    port_to(Request(SAMPLES, load_choices(SAMPLES, None), 1), tmp_path / "out", None)
    manifest = read_manifest(tmp_path / "out")
    assert manifest is not None
    compared = 0
    for record in manifest.files.values():
        if record.status.value != "ported":
            continue
        old = (SAMPLES / record.path).read_text().splitlines()
        new = (tmp_path / "out" / record.output).read_text().splitlines()
        for tag, first, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            for line in range(start, end) if tag == "equal" else ():
                assert source_line(record.shifts, line + 1) == first + line - start + 1, (record.path, line + 1)
                compared += 1
    if not compared:
        pytest.fail("nothing was compared")
