"""Which stretches lie around a place, against the obvious way to tell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from porter.cpp.lex import lex
from porter.cpp.nesting import Nesting


@st.composite
def _stretches(draw: st.DrawFn) -> list[tuple[int, int]]:
    """As brackets make them: one within another or one after another, in any order."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for place, opens in enumerate(draw(st.lists(st.booleans(), max_size=40))):
        if opens:
            opened.append(place)
        elif opened:
            found.append((opened.pop(), place))
    return draw(st.permutations(found))


@given(_stretches())
def test_around_is_what_begins_before_and_ends_behind(stretches: list[tuple[int, int]]) -> None:
    nesting = Nesting(stretches)
    for place in range(42):
        obvious = [number for number, (first, last) in enumerate(stretches) if first < place < last]
        inner_first = sorted(obvious, key=lambda number: -stretches[number][0])
        assert list(nesting.around(place)) == inner_first


def test_braces_around_a_token() -> None:
    tokens = lex("a { b { c } d\n#define X { e\n} f { g")
    around = {name: [tokens.starts[i] for i in tokens.braces_around(tokens.names[name][0])] for name in "abcdefg"}
    assert around == {"a": [], "b": [2], "c": [6, 2], "d": [2], "e": [2], "f": [], "g": []}


def test_names_and_directives_between_two_places() -> None:
    text = "x y\n#if x\nx\n#endif\nx"
    tokens = lex(text)
    assert tokens.named("x", 1, 4) == [2, 3]
    assert tokens.named("none", 0, 9) == []
    assert [directive.name for directive in tokens.directives_in(0, len(text))] == ["if", "endif"]
    assert [directive.name for directive in tokens.directives_in(5, len(text))] == ["endif"]
