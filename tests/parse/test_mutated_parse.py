"""Mutated sources: clang is asked everything, answers something, and never takes the process down."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porter.cpp.clang.view import Parsed, ParseRequest, parse
from tests.parse.test_mutations import mutated


@given(mutated(), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_question_has_an_answer(data: bytes, start: int) -> None:
    result = parse(ParseRequest("/nowhere/m.cu", data))
    assert isinstance(result, Parsed)
    for item in (*result.kernels, *result.device_functions):
        assert 0 <= item.span.start <= item.span.end <= len(data)
    assert all(0 <= s.start <= s.end <= len(data) for s in result.inactive)
    assert isinstance(result.declared, frozenset)
    assert all(d.message for d in result.body_diagnostics)
    for offset in range(start % 17, len(data), 17):
        result.declaration_at(offset)
        result.type_at(offset)
        result.call_argument_types(offset)
