"""Edits: order independence, all-or-nothing, conflicts as values."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from porter.engine import edits
from porter.model import Edit, Effort, Finding, Span


def finding(*changes: Edit, code: str = "X001") -> Finding:
    """A finding with edits and nothing else of interest."""
    return Finding(code, "x", Effort.NONE, "a.cu", 1, 1, "m", Span(changes[0].start, changes[0].end), edits=changes)


changes = st.builds(
    lambda start, length, text: Edit(start, start + length, text),
    st.integers(0, 60),
    st.integers(0, 6),
    st.text("abc", max_size=4),
)
findings = st.lists(st.lists(changes, min_size=1, max_size=3), max_size=12)


def consistent(group: list[Edit]) -> bool:
    """Whether the edits of one finding do not contradict each other."""
    distinct = sorted(set(group))
    return not any(edits.overlaps(a, b) for i, a in enumerate(distinct) for b in distinct[i + 1 :])


@given(findings, st.randoms())
def test_the_order_of_findings_does_not_matter(groups: list[list[Edit]], rng: random.Random) -> None:
    """The same findings in any order give the same text."""
    made = [finding(*sorted(set(g)), code=f"X{n:03}") for n, g in enumerate(groups) if consistent(g)]
    shuffled = made[:]
    rng.shuffle(shuffled)
    assert edits.accept(made).edits == edits.accept(shuffled).edits


@given(findings)
def test_accepted_edits_do_not_overlap_and_apply(groups: list[list[Edit]]) -> None:
    """What is accepted is free of overlaps, whole per finding, and keeps every byte outside it."""
    made = [finding(*sorted(set(g)), code=f"X{n:03}") for n, g in enumerate(groups) if consistent(g)]
    accepted = edits.accept(made)
    assert consistent(list(accepted.edits))
    assert len(accepted.findings) + len(accepted.conflicts) == len(made)
    for won in accepted.findings:
        assert set(won.edits) <= set(accepted.edits)
    text = "".join(chr(0x30 + i % 64) for i in range(80))
    result = edits.apply(text, accepted.edits)
    assert len(result) == len(text) + sum(len(e.text) - (e.end - e.start) for e in accepted.edits)
    rest, position = [], 0
    for edit in accepted.edits:
        rest.append(text[position : edit.start])
        position = edit.end
    rest.append(text[position:])
    cursor = 0
    for piece in rest:
        cursor = result.index(piece, cursor) + len(piece)


def test_two_insertions_at_one_place_conflict() -> None:
    """Their result would depend on their order."""
    first, second = finding(Edit(3, 3, "a")), finding(Edit(3, 3, "b"), code="X002")
    accepted = edits.accept([second, first])
    assert [c.loser.code for c in accepted.conflicts] == ["X002"]


def test_identical_edits_agree() -> None:
    """Two findings that want the same edit are both done."""
    accepted = edits.accept([finding(Edit(1, 2, "z")), finding(Edit(1, 2, "z"), code="X002")])
    assert len(accepted.findings) == 2
    assert edits.apply("abc", accepted.edits) == "azc"


def test_an_insertion_may_touch_a_replacement() -> None:
    """`x` before [3, 5) and `y` after it have one possible result."""
    made = [finding(Edit(3, 5, "R")), finding(Edit(3, 3, "x")), finding(Edit(5, 5, "y"))]
    assert edits.apply("abcdefg", edits.accept(made).edits) == "abcxRyfg"
