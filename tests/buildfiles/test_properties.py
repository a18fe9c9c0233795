"""Whatever a build file holds: converting it never fails, twice is once, and comments stay."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porter.buildfiles.cmake import expressions, parse_cmake
from porter.buildfiles.engine import convert
from porter.buildfiles.flags import load_flags, translate
from porter.buildfiles.registry import build_rules
from porter.engine.edits import apply, compose
from porter.model import Edit
from tests.buildfiles.test_examples import unit_of

PATHS = ("CMakeLists.txt", "Makefile", "build.sh", "setup.py", "compile_commands.json")
SNIPPETS = {path: [e.before for rule in build_rules() for e in rule.examples if e.path == path] for path in PATHS} | {
    "CMakeLists.txt": [e.before for rule in build_rules() for e in rule.examples if e.path == "CMakeLists.txt"]
}
NOISE = st.text(alphabet="abz_-=$(){}<>:;,\"'\\# \t\nCUDAnvcc.", max_size=40)
COMMENT = "# CUDA nvcc -arch=sm_80 a.cu\n"


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_converting_twice_is_converting_once(path: str, data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.one_of(st.sampled_from(SNIPPETS[path] or [""]), NOISE), max_size=4))
    text = "\n".join(parts) + "\n"
    once = convert(unit_of(text, path))
    assert not once.crashes
    assert apply(text.encode().decode("latin-1"), once.edits).encode("latin-1") == once.data
    assert convert(unit_of(once.data.decode(), path)).data == once.data


@pytest.mark.parametrize("path", ["CMakeLists.txt", "Makefile", "build.sh"])
@given(data=st.data())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_comments_stay(path: str, data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.sampled_from(SNIPPETS[path]), max_size=4))
    text = COMMENT + "".join(part + "\n" + COMMENT for part in parts)
    done = convert(unit_of(text, path)).data.decode()
    assert done.count(COMMENT) == len(parts) + 1


@given(st.lists(st.sampled_from(SNIPPETS["setup.py"]), max_size=4))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_python_stays_python(parts: list[str]) -> None:
    ast.parse(convert(unit_of("\n".join(parts), "setup.py")).data)


@given(st.lists(st.sampled_from([word for row in load_flags() for word in row.example[0].split()] + ["a.c", "-o"])))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_flags_cover_each_word_at_most_once(words: list[str]) -> None:
    place = 0
    for change in translate(words):
        assert place <= change.first < change.last <= len(words)
        place = change.last


@given(st.text(alphabet="$<>:abc;", max_size=60))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_generator_expressions_are_balanced(text: str) -> None:
    for found in expressions(text):
        assert text.startswith("$<", found.start) and text[found.end - 1] == ">"
        assert found.start < found.content <= found.end


@given(st.binary(max_size=80))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_the_parser_takes_any_bytes(data: bytes) -> None:
    commands, _ = parse_cmake(data)
    assert all(0 <= command.start < command.end <= len(data) for command in commands)


CHANGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4), st.text(alphabet="XY", max_size=3)), max_size=3)


@given(st.lists(CHANGES, max_size=3))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_composed_edits_do_what_the_passes_did(passes: list[list[tuple[int, int, str]]]) -> None:
    first = text = "abcdefghijkl"
    trail: list[list[Edit]] = []
    for changes in passes:
        position, edits = 0, []
        for start, size, new in sorted(changes):
            begin = max(start, position)
            end = min(begin + size, len(text))
            if begin > len(text) or (edits and begin == edits[-1].end):
                continue
            edits.append(Edit(begin, end, new))
            position = end
        text = apply(text, edits)
        trail.append(edits)
    assert apply(first, compose(trail, len(first))) == text


TOUCHING = [Edit(1, 2, "X"), Edit(2, 2, "Y"), Edit(2, 4, ""), Edit(6, 6, ""), Edit(7, 7, "Z"), Edit(9, 12, "")]


@given(st.sets(st.sampled_from(TOUCHING)))
@settings(max_examples=64, deadline=None, derandomize=True)
def test_edits_of_one_pass_are_composed_as_those_of_two(edits: set[Edit]) -> None:
    assert compose([list(edits)], 12) == compose([list(edits), []], 12)
