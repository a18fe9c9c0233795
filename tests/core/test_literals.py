"""String literals: read as a compiler reads them, and edited so that a compiler reads the edited text."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.cpp.lex import lex
from porter.cpp.literals import Literal, literal_groups, read_literal
from porter.engine.edits import apply
from porter.model import Edit
from tests.outside import require

SPELLED = [
    r'"a\n\t\\\"\x41\101\0b" "second" R"(raw\n "quoted")" "\?"',
    'R"x(one\n)y" )x"',
    '"spliced \\\n line"',
    'u8"eight" R"delim()delim"',
    '"" "x" ""',
]


def literal(text: str) -> Literal:
    """The one group of string literals in a text."""
    tokens = lex(text)
    ((first, last),) = literal_groups(tokens)
    read = read_literal(tokens, first, last)
    assert read is not None
    return read


@pytest.mark.parametrize("spelled", SPELLED)
def test_a_compiler_reads_the_same(spelled: str, tmp_path: Path) -> None:
    compiler = require("C++ compiler")
    source = tmp_path / "a.cpp"
    source.write_text(f"#include <cstdio>\nint main() {{ fwrite({spelled}, 1, sizeof({spelled}) - 1, stdout); }}\n")
    subprocess.run([compiler, "-std=c++17", source, "-o", tmp_path / "a"], check=True)
    assert subprocess.run([tmp_path / "a"], capture_output=True, check=True).stdout.decode() == literal(spelled).text


@pytest.mark.parametrize(
    "spelled", ['L"wide"', 'u"wide"', 'U"wide"', r'"\u00e9"', r'"\N{DOLLAR SIGN}"', '"open', r'"\q"']
)
def test_others_are_not_read(spelled: str) -> None:
    tokens = lex(spelled)
    ((first, last),) = literal_groups(tokens)
    assert read_literal(tokens, first, last) is None


_TEXT = st.text(st.sampled_from('ab)("\\\n x;/*R'), max_size=12)


def _plain(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _raw(text: str) -> str:
    return f'R"q({text})q"'


@st.composite
def _spelled(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(st.tuples(_TEXT, st.booleans()), min_size=1, max_size=4))
    return " ".join(_raw(text) if raw and ')q"' not in text else _plain(text) for text, raw in pieces)


@given(_spelled(), _TEXT, st.data())
def test_an_edit_of_the_text_is_an_edit_of_the_literal(spelled: str, new: str, data: st.DataObject) -> None:
    read = literal(spelled)
    start = data.draw(st.integers(0, len(read.text)))
    end = data.draw(st.integers(start, len(read.text)))
    edits = read.edits(Edit(start, end, new))
    if edits is None:
        assert ')q"' in apply(read.text, [Edit(start, end, new)])
        return
    assert literal(apply(spelled, edits)).text == read.text[:start] + new + read.text[end:]
    outside = [offset for piece in read.pieces for offset in (piece.starts[0], piece.starts[-1])]
    assert all(min(outside) <= edit.start <= edit.end <= max(outside) for edit in edits)


@given(_spelled())
def test_every_character_has_its_place(spelled: str) -> None:
    read = literal(spelled)
    for offset, character in enumerate(read.text):
        assert spelled[read.position(offset)] in (character, "\\")


def test_the_mark_that_ends_a_raw_literal_is_never_made() -> None:
    read = literal('R"q(a)q b)q"')
    assert read.edits(Edit(3, 3, '"')) is None
    assert read.edits(Edit(0, 1, ')q"')) is None
    assert read.edits(Edit(0, 1, ")q")) is not None


def test_control_characters_have_no_plain_spelling() -> None:
    assert literal('"a"').edits(Edit(0, 0, "\x01")) is None
    assert literal('R"(a)"').edits(Edit(0, 0, "\x01")) is not None
