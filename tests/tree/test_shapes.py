"""Shapes of JSON: the quick answer and the one with words are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.project.shapes import _fitting, _refuse, shaped

SHAPES: tuple[Any, ...] = (
    int,
    str | None,
    [str],
    [int | None],
    (int, str | None),
    [(int, bool)],
    (int, [str]),
    {"a": int, "b": [str]},
    [{"a": int | None, "c": [(str, str)]}],
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@given(value=VALUES)
def test_both_ways_agree(shape: Any, value: Any) -> None:
    try:
        _refuse(value, shape)
    except (TypeError, ValueError):
        assert not _fitting(shape)(value)
    else:
        assert _fitting(shape)(value)


@pytest.mark.parametrize(
    ("shape", "right", "wrong"),
    [
        (int, 1, True),
        (str | None, None, 1),
        ([str], ["a", "b"], ["a", 1]),
        ([str], [], {}),
        ((int, str), [1, "a"], [1, "a", "b"]),
        ([(int, int)], [[1, 2]], [[1]]),
        ({"a": int}, {"a": 1}, {"a": 1, "b": 2}),
        ({"a": [int]}, {"a": [1]}, {"a": [1.0]}),
    ],
    ids=str,
)
def test_what_fits_is_given_back_and_all_else_refused(shape: Any, right: Any, wrong: Any) -> None:
    assert shaped(shape)(right) is right
    with pytest.raises((TypeError, ValueError)):
        shaped(shape)(wrong)
