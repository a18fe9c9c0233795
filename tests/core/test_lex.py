"""The lexer: tokens, directives, includes, brackets, and bytes that are not code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from porter.cpp.lex import BEHIND, CHARACTER, IDENTIFIER, NUMBER, PUNCTUATION, STRING, joined, lex


def words(text: str) -> list[str]:
    """The token texts of a source."""
    return [word for word in lex(text).texts if word]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<<<b, c>>>(d);", ["a", "<<<", "b", ",", "c", ">>>", "(", "d", ")", ";"]),
        ("1'000'000u + 0x1p-3f", ["1'000'000u", "+", "0x1p-3f"]),
        ('u8"x" L\'y\' R"(a " b)"', ['u8"x"', "L'y'", 'R"(a " b)"']),
        ('R"cuda(__shfl("x"))cuda" z', ['R"cuda(__shfl("x"))cuda"', "z"]),
        ("a /* __shfl */ b // __shfl\nc", ["a", "b", "c"]),
        ("a // one \\\n two\nb", ["a", "b"]),
        ("p->x ... a.*b ::c", ["p", "->", "x", "...", "a", ".", "*", "b", "::", "c"]),
        ("Rx R", ["Rx", "R"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    """Comments vanish, literals stay whole."""
    assert words(text) == expected


def test_directives_and_includes() -> None:
    """A directive ends with its logical line; include names are no tokens."""
    text = '#include <cuda.h>\n#  include "a b.h" // x\n#define F(x) \\\n  #x y\nint z;\n#if A /* \n */ B\n#endif\n'
    tokens = lex(text)
    assert [i.name for i in tokens.includes] == ["cuda.h", "a b.h"]
    assert [i.angled for i in tokens.includes] == [True, False]
    assert [d.name for d in tokens.directives] == ["include", "include", "define", "if", "endif"]
    define = tokens.directives[2]
    assert tokens.texts[define.first : define.last] == ["F", "(", "x", ")", "#", "x", "y"]
    condition = tokens.directives[3]
    assert tokens.texts[condition.first : condition.last] == ["A", "B"]
    assert tokens.directive_of(define.first) == define
    assert tokens.directive_of(tokens.names["z"][0]) is None
    assert text[tokens.includes[0].start : tokens.includes[0].end] == "cuda.h"


def test_apostrophe_in_error_directive() -> None:
    """`#error don't` must not swallow the rest of the file."""
    assert "after" in words("#error don't\nint after;")


def test_unclosed_bracket_does_not_unpair_the_file() -> None:
    """A macro with an open brace leaves the code around it paired."""
    tokens = lex("#define BEGIN {\nvoid f() { g(1); }\n")
    opened = tokens.texts.index("(", tokens.names["g"][0])
    assert tokens.texts[tokens.partner[opened]] == ")"


@given(st.binary(max_size=300))
def test_any_bytes_lex(data: bytes) -> None:
    """Whatever the bytes: tokens are in order, inside the text, and spelled as in the text."""
    text = data.decode("latin-1")
    tokens = lex(text)
    position = 0
    for index in range(len(tokens)):
        start = tokens.starts[index]
        assert start >= position
        position = tokens.end(index)
        assert text[start:position] == tokens.texts[index]
    for opened, closed in tokens.partner.items():
        assert tokens.partner[closed] == opened


@given(st.text("ab #\"'\\\n/*(){}<>R1.", max_size=60))
def test_code_like_text_lexes(text: str) -> None:
    """Delimiters in every order."""
    tokens = lex(text)
    assert tokens.starts == sorted(tokens.starts)
    assert all(d.first <= d.last <= len(tokens) for d in tokens.directives)


CODE = [
    "a",
    "max",
    "(",
    ")",
    "{",
    "}",
    " ",
    "\n",
    "1.5f",
    "::",
    "/",
    "#",
    "#define X(a) a\n",
    "#include <x.h>\n",
    '"s"',
]
OPEN = ["/* c */", "/*", "*/", "/*/", "// d", '"', "'", "\\", 'R"(', ')"', "\r\n", "\\\n"]
PIECES = st.lists(st.sampled_from([*CODE, *OPEN]), max_size=14).map("".join)


@given(PIECES, PIECES)
@example('#R"(', "a")
@example("#'/*", "")
@example('#R"(#define X(a) a\na', "a")
def test_joined_tokens_are_those_of_the_joined_text(first: str, second: str) -> None:
    """Or there are none: where the first text may leave something open."""
    found, wanted = joined(lex(first), lex(second)), lex(f"{first}\n{second}")
    if found is not None:
        assert found == wanted
        assert (found.names, found.first_characters) == (wanted.names, wanted.first_characters)
        assert found.partner == wanted.partner


@pytest.mark.parametrize("first", ["int a;", "int a; // b", "int a; /* b */", 'f("x")', "#define A 1"])
def test_what_is_closed_can_be_joined(first: str) -> None:
    assert joined(lex(first), lex("__device__ int f() { return 1; }\n#define B 2")) is not None


@pytest.mark.parametrize("first", ["int a; /* b", "int a; /*/", "#define A \\", "int f() {", 'R"(a', "// b \\"])
def test_what_is_open_cannot(first: str) -> None:
    assert joined(lex(first), lex("int b;")) is None


@pytest.mark.parametrize("text", ["", "a", "#define X", "f(a)", "/* open"])
def test_looking_behind_the_last_token_finds_nothing(text: str) -> None:
    """As far as anything looks; and before the first one."""
    tokens = lex(text)
    for ahead in range(BEHIND):
        place = len(tokens) + ahead
        assert (tokens.texts[place], tokens.starts[place], tokens.end(place)) == ("", len(text), len(text))
        assert tokens.kinds[place] not in {IDENTIFIER, NUMBER, STRING, CHARACTER, PUNCTUATION}
        assert tokens.texts[-1 - ahead] == ""
    assert tokens.at(len(text)) == len(tokens)
    both = joined(lex(text), lex("b c"))
    if both is not None:
        assert [both.texts[i] for i in range(len(both) + 1)] == [*tokens.texts[: len(tokens)], "b", "c", ""]


def test_nothing_looks_further_than_the_empty_tokens() -> None:
    """A fixed distance beyond them would be an index behind the end of some file."""
    root = Path(__file__).resolve().parents[2]
    ahead = re.compile(r"\b(?:texts|kinds|starts)\[\w+ [+-] (\d+)\]")
    for folder in ("porter", "rules", "validation"):
        for path in (root / folder).rglob("*.py"):
            assert all(int(found[1]) < BEHIND for found in ahead.finditer(path.read_text("utf-8"))), path
