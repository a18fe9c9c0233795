"""Statements of bodies, as trees."""

from __future__ import annotations

import pytest

from porter.cpp.lex import lex
from porter.cpp.statements import parse_block


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("UNROLL for (int i = 0; i < 4; ++i) f(i); return r;", ["for", "return"]),
        ("CUTLASS_PRAGMA_UNROLL\nfor (int i = 0; i < 4; ++i) { f(i); }\ng();", ["for", "statement"]),
        ("UNROLL while (a) b();", ["while"]),
        ("UNROLL do b(); while (a);", ["do"]),
        ("LIKELY if (a) b(); else c();", ["if"]),
        ("if (a) DO_IT else b();", ["if"]),
        ("LOUD return 3;", ["return"]),
        ("switch (a) { case 1: f(); FALLS case 2: g(); QUIET default: h(); }", ["switch"]),
        ("UNROLL(4) for (;;) f();", ["for"]),
        ("CHECK(4) for (;;) f();", ["statement", "for"]),
        ('_Pragma("unroll") for (;;) f();', ["for"]),
        ('if (a) _Pragma("unroll") for (;;) f();', ["if"]),
        ("if (int a = f(); a > 3) g();", ["block"]),
        ("if (a && b[i]) g();", ["if"]),
        ("if consteval { f(); } else g();", ["if"]),
        ("if (a) here: f(); g();", ["if", "statement"]),
        ("for (int a = 1; auto b : c) g();", ["block"]),
        ("b and (c = 3); d xor_eq e;", ["statement", "statement"]),
        ("int a [[maybe_unused]] = b;", ["declaration"]),
        ("T x; for (;;) f();", ["declaration", "for"]),
        ("T for_each(a); T *format;", ["declaration", "declaration"]),
    ],
)
def test_macros_before_statements(text: str, kinds: list[str]) -> None:
    """No name stands before such a word in C++: it is a macro's, and the statement is what follows."""
    tokens = lex(f"{{ {text} }}")
    assert [node.kind for node in parse_block(tokens, 0, len(tokens)).kids] == kinds


def test_a_macro_belongs_to_its_statement() -> None:
    """What is put before the statement stands before the macro as well."""
    tokens = lex("{ UNROLL for (;;) f(); }")
    (loop,) = parse_block(tokens, 0, len(tokens)).kids
    assert tokens.texts[loop.first] == "UNROLL"


def test_a_macro_that_goes_on_with_nothing_is_a_statement() -> None:
    tokens = lex("{ if (a) DO_IT else b(); }")
    (branch,) = parse_block(tokens, 0, len(tokens)).kids
    assert [kid.kind for kid in branch.kids] == ["name", "statement", "statement"]
