"""The patterns of `[[rewrite]]`: what they fit, what they make, and which are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cpp.lex import lex
from porter.cpp.patterns import edits_of, pattern, replacement
from porter.engine.edits import apply
from porter.errors import Unusable
from porter.model import Edit
from porter.settings import load_choices


def rewritten(text: str, find: str, into: str) -> str:
    """The text with every match replaced."""
    wanted = pattern(find)
    tokens = lex(text)
    pieces = replacement(into, wanted.holes)
    edits = [Edit(*edit) for match in wanted.matches(tokens) for edit in edits_of(tokens, match, wanted, pieces)]
    return apply(text, edits)


@pytest.mark.parametrize(
    ("text", "find", "into", "wanted"),
    [
        ("f(a, b)", "f($x, $y)", "g($y, $x)", "g(b, a)"),
        ("f(a, b)", "f($x, $y)", "g($x, 1, $y)", "g(a, 1, b)"),
        ("f(a + /* why */ 1, b)", "f($x, $y)", "g($x, $y)", "g(a + /* why */ 1, b)"),
        ("f(f(1))", "f($x)", "g($x)", "g(g(1))"),
        ("f(h(1, 2), {3, 4})", "f($x, $y)", "g($x, $y)", "g(h(1, 2), {3, 4})"),
        ("f(t<1, 2>(x), a < b)", "f($x, $y)", "g($x, $y)", "g(t<1, 2>(x), a < b)"),
        ("f()", "f($x...)", "g(s, $x...)", "g(s)"),
        ("f(1, 2)", "f($x...)", "g(s, $x...)", "g(s, 1, 2)"),
        ("f(k)", "f($k, $x...)", "g($k, 0, $x...)", "g(k, 0)"),
        ("K<<<g, b>>>(x);", "K<<<$g, $b>>>($x...)", "launch(K, $g, $b, $x...)", "launch(K, g, b, x);"),
        ("T::get(3)->x", "T::get($n)->x", "pick($n)", "pick(3)"),
        ("f(a, a) f(a, b)", "f($x, $x)", "twice($x)", "twice(a) f(a, b)"),
        ("x.f(1); f(2) ;", "f($x)", "g($x)", "x.g(1); g(2) ;"),
        ('"f(1)" f(1)', "f($x)", "g($x)", '"f(1)" g(1)'),
        ("WARP + 1", "WARP", "LANES", "LANES + 1"),
        ("f(a; b)", "f($x)", "g($x)", "f(a; b)"),
        ("f(a", "f($x)", "g($x)", "f(a"),
    ],
)
def test_a_rewrite(text: str, find: str, into: str, wanted: str) -> None:
    """Balanced arguments, lists that may be empty, blanks and comments kept where the order stays."""
    assert rewritten(text, find, into) == wanted


@pytest.mark.parametrize(
    ("find", "why"),
    [
        ("", "begins with a name"),
        ("$x + 1", "begins with a name"),
        ("f($x $y)", "to end the first"),
        ("f = $x", "does not end with a hole"),
        ("f(g($x)", "is missing"),
        ("f(]", "do not match"),
        ("f($1)", "neither a name nor a hole"),
        ("f() // x", "without comments"),
        ("f(\n)", "is one line"),
    ],
)
def test_patterns_that_are_refused(find: str, why: str) -> None:
    """Each with what is wrong."""
    with pytest.raises(ValueError, match=why):
        pattern(find)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('find = "f($x)"\nreplace = "g($y)"', r"\$y is not in what is found"),
        ('find = "f($x)"\nreplace = "h(f($x))"', "would never end"),
        ('find = "f($x)"\nefort = "review"', "did you mean 'effort'"),
        ('replace = "f"', "find is missing"),
        ('find = "f($x)"\nreplace = "g($x)"\ninclude = "a.h"', "<name.h>"),
        ('find = "f($x)"\neffort = "none"', "without replace"),
        ('find = "f"\nreplace = "g"\n[[rewrite]]\nfind = "g"\nreplace = "f"', "comes back"),
        ('find = "f"\nreplace = "g"\neffort = "big"', "must be one of"),
    ],
)
def test_tables_that_are_refused(table: str, why: str, tmp_path: Path) -> None:
    """A rewrite that could not end, or that asks for what is not there, never runs."""
    (tmp_path / "porter.toml").write_text(f"[[rewrite]]\n{table}\n")
    with pytest.raises(Unusable, match=why):
        load_choices(tmp_path)


def test_an_argument_less_is_no_circle(tmp_path: Path) -> None:
    """The same name with other arguments ends."""
    (tmp_path / "porter.toml").write_text('[[rewrite]]\nfind = "f($x, $y)"\nreplace = "f($x)"\n')
    assert load_choices(tmp_path).engine.rewrites[0].replace == "f($x)"
