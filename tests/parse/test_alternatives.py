"""Branches of `#if` that open the same brackets: what closes them belongs to one of them."""

from __future__ import annotations

import pytest

from porter.cpp.lex import Tokens, lex
from porter.cpp.statements import parse_block

_LOOP = """
void f(int n) {
  for (int m = 0; m < n; m++) {
    a();
#ifdef FIRST
    for (int i = 32; i > 0; i >>= 1) {
      if (t < i) {
#else
    for (int i = 16; i > 0; i >>= 1) {
      if (t < i && i < n) {
#endif
        b();
      }
      c();
    }
    d();
  }
  e();
}
"""


def _left_out(tokens: Tokens) -> list[str]:
    return [" ".join(tokens.texts[first:last]) for first, last in tokens.alternatives]


def _tree(source: str) -> str:
    """The calls, with the loops and conditions around them."""
    tokens = lex(source)
    opening = tokens.texts.index("{")
    end = tokens.partner[opening] + 1

    def said(node: object) -> str:
        kind, text, kids = node.kind, node.text, node.kids  # type: ignore[attr-defined]
        inner = "".join(said(kid) for kid in kids)
        if kind in ("for", "if"):
            return f"{kind}({inner})"
        return text if kind == "name" and text in "abcde" else inner

    return said(parse_block(tokens, opening, end))


def test_each_loop_ends_where_it_is_closed() -> None:
    assert _tree(_LOOP) == "for(afor(if(b)c)d)e"


def test_as_where_there_is_one_branch() -> None:
    first, last = _LOOP.index("#ifdef"), _LOOP.index("#else")
    alone = _LOOP[:first] + _LOOP[last:].replace("#else\n", "").replace("#endif\n", "")
    assert _tree(_LOOP) == _tree(alone)


@pytest.mark.parametrize(
    "source",
    [
        "void f() {\n#if A\n  g();\n#else\n  h();\n#endif\n}",
        '#if A\nextern "C" {\n#endif\nvoid f();\n#if A\n}\n#endif',
        "#if A\nvoid f() {\n#elif B\nvoid g() {\n#endif\n}",
        "#if A\nif (a) {\n#else\nif (a) { while (b) {\n#endif\n}",
        "#if A\n}\n#else\n{\n#endif",
        "void f() {\n#if A\nif (threadIdx.x < 3) {\n#else\nif (n == 1) {\n#endif\n} }",
        "#if A\n{\n#else\n{\n",
        "#else\n{\n#endif\n{ }",
    ],
)
def test_others_are_left_as_they_are(source: str) -> None:
    """Balanced ones, those that may be left out altogether, that open other things or ask for others, and what does not
    end."""
    assert _left_out(lex(source)) == []


def test_groups_in_groups() -> None:
    """What an inner group leaves open counts for the branch that it stands in."""
    source = "#if A\n#if B\nif (b) {\n#else\nif (!b) {\n#endif\n#else\nif (b + B) {\n#endif\n}"
    tokens = lex(source)
    assert _left_out(tokens) == ["B if ( b ) { if ( ! b ) {"]  # the first branch of the outer group
    opening = max(index for index, text in enumerate(tokens.texts) if text == "{")
    assert tokens.texts[tokens.partner[opening]] == "}"


def test_brackets_of_a_branch_pair_within_it() -> None:
    tokens = lex("#if A\nwhile (a[0]) {\n#else\nwhile (a[1]) {\n#endif\n}\n#define F(x) (x)\n")
    pairs = {tokens.texts[one] + tokens.texts[other] for one, other in tokens.partner.items() if one < other}
    assert pairs == {"()", "[]", "{}"}
    opening, _ = [index for index, text in enumerate(tokens.texts) if text == "{"]
    assert opening not in tokens.partner
