"""The reader of CMake files against CMake itself, which writes down the commands and arguments that it sees."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from porter.buildfiles.cmake import parse_cmake
from tests.outside import needs, require

ARGUMENTS = (
    "a b;c ${d} $<e:f>",
    'a "b c" "d\\"e" "" "f;${g}"',
    "a\n  b # c d\n  e",
    "#[[ a ) ]] b #[==[ ]] ) ]==] c",
    "[[a b]] [=[ c ]] d ]=] [==[${e}]==] []",
    '-DX="a b" a"b"c x="y"',
    "(a AND (b OR c)) d",
    "a\\ b \\( \\; \\# $(MAKE) \\${x}",
    "a[b] [ c]",
    '"a\nb # c"',
    "ä ü",
    "a\tb\r\n c",
)


def _said(arguments: str) -> str:
    return f"macro(probe)\nendmacro()\nPROBE({arguments})\nprobe (x)# y\n  probe\t()\n"


@needs("cmake")
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_it_reads_what_cmake_reads(arguments: str, tmp_path: Path) -> None:
    script, trace = tmp_path / "script.cmake", tmp_path / "trace"
    data = _said(arguments).encode()
    script.write_bytes(data)
    command = [require("cmake"), "--trace-format=json-v1", f"--trace-redirect={trace}", "-P", str(script)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    rows = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    wanted = [(row["cmd"].lower(), row["args"]) for row in rows if row.get("cmd", "").lower() == "probe"]
    commands, broken = parse_cmake(data)
    found = [(c.name, [a.text.encode("latin-1").decode() for a in c.arguments]) for c in commands if c.name == "probe"]
    assert broken is None
    assert found == [(name, [word for word in words if word not in ("(", ")")]) for name, words in wanted]


@pytest.mark.parametrize(
    ("text", "place", "names"),
    [
        ("a(b)\nset(X ${Y}\n", 5, ["a"]),
        ('a("b)\nc(d)\n', 2, ["c"]),
        ("a(b)\n}\nc(d)\n", 5, ["a", "c"]),
        ("a([[b)\nc(d)\n", 2, ["c"]),
        ("a(b) c(\nd(e)", 5, ["a", "d"]),
        ("#[[ a\nb(c)", 0, ["b"]),
    ],
)
def test_it_begins_again_after_what_is_no_cmake(text: str, place: int, names: list[str]) -> None:
    commands, broken = parse_cmake(text.encode())
    assert (broken, [command.name for command in commands]) == (place, names)


def test_byte_order_marks_and_places() -> None:
    data = b'\xef\xbb\xbfset(A [=[x]=] "y" z)'
    (command,), broken = parse_cmake(data)
    assert broken is None
    assert (command.start, command.name_end, command.end) == (3, 6, len(data))
    for argument in command.arguments[1:]:
        assert data[argument.inner : argument.inner + 1].decode() == argument.text


def test_files_full_of_mistakes_are_read_in_linear_time() -> None:
    commands, broken = parse_cmake(b"a((\n" * 100_000)
    assert (commands, broken) == ((), 0)
