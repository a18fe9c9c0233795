"""What clang said of a file before it was edited, asked by places of the edited one."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from porter.engine.edits import apply, unmoved
from porter.engine.second_look import SecondLook
from porter.model import Edit, Kernel


@dataclass(frozen=True)
class Said:
    """Semantics that answer with their text and the place."""

    who: str
    kernels: tuple[Kernel, ...] = ()
    declared: frozenset[str] = frozenset()
    own_errors: int = 0

    def is_inactive(self, offset: int) -> bool:
        return self.who == "original" and offset == 1

    def declaration_at(self, offset: int) -> None:
        return None

    def type_at(self, offset: int) -> str:
        return f"{self.who} {offset}"

    def call_argument_types(self, offset: int) -> tuple[str]:
        return (f"{self.who} {offset}",)


def test_the_original_answers_for_what_no_edit_wrote() -> None:
    text, first, second = "abc def ghi", [Edit(0, 3, "longer")], [Edit(7, 7, "x"), Edit(11, 14, "")]
    assert apply(apply(text, first), second) == "longer xdef "
    look = SecondLook(Said("original"), (first, second), lambda: Said("edited"))
    assert [look.type_at(offset) for offset in (0, 6, 7, 8)] == ["edited 0", "original 3", "edited 7", "original 4"]
    assert look.call_argument_types(8) == ("original 4",)
    assert not look.is_inactive(0)


@given(st.text("ab", min_size=1, max_size=20), st.data())
def test_places_before_edits(text: str, data: st.DataObject) -> None:
    """A character that has a place before all edits is the same character."""
    letters = "".join(chr(0x4E00 + place) for place in range(len(text)))  # each its own
    trail, now = [], letters
    for _ in range(data.draw(st.integers(0, 3))):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(now)), min_size=2, max_size=6)))
        edits = [Edit(a, b, data.draw(st.text("xy", max_size=3))) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
        edits = [edit for place, edit in enumerate(edits) if not place or edit.start > edits[place - 1].end]
        trail.append(edits)
        now = apply(now, edits)
    for offset, letter in enumerate(now):
        before = unmoved(offset, trail)
        assert (before is None) == (letter in "xy")
        assert before is None or letters[before] == letter
