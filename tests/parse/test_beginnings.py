"""What several files include first is read once, and nothing that is said of them changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from porter.cpp.clang import beginnings
from porter.cpp.clang import libclang as clang
from porter.cpp.clang.view import Parsed, ParseRequest, parse

LONG = "// x\n" * 6000
HEADER = f"#include <nothere.h>\ntypedef int own;\nstruct A {{ int x; }};\n{LONG}"
KERNEL = "__global__ void k(A a, own o) { }\nint e = nope;\n"


@pytest.fixture
def flags(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The precompiled headers that parses start with; those of other tests' files are forgotten."""
    used: list[str] = []
    original = clang.parse

    def watched(
        main: str, flags: tuple[str, ...], files: dict[str, bytes], depth: clang.Depth, path: str = ""
    ) -> clang.TranslationUnit | None:
        used.append(flags[flags.index("-include-pch") + 1])
        return original(main, flags, files, depth, path)

    monkeypatch.setattr(clang, "parse", watched)
    beginnings._shared.cache_clear()
    yield used
    beginnings._shared.cache_clear()


def asked(folder: Path, name: str, text: str, bodies: bool = False) -> Parsed:
    path = folder / name
    path.write_text(text)
    found = parse(ParseRequest(str(path), text.encode(), (), (), str(folder), bodies))
    assert isinstance(found, Parsed)
    return found


def answers(found: Parsed) -> tuple[object, ...]:
    text = found._source.data
    types = tuple((p.name, p.type) for kernel in found.kernels for p in kernel.parameters)
    return types, found.own_errors, found.declaration_at(text.index(b"own o")), found.type_at(text.index(b"e = nope"))


def is_shared(path: str) -> bool:
    return not path.endswith(("-host.pch", "-device.pch"))


@pytest.mark.parametrize("bodies", [False, True])
@pytest.mark.parametrize("before", ["", "/* of the\n file */ // it\n", "#pragma once\n", "#include <nothere.h>\n"])
def test_the_second_file_shares_and_the_answers_are_the_same(
    tmp_path: Path, flags: list[str], before: str, bodies: bool
) -> None:
    (tmp_path / "a.h").write_text(HEADER)
    text = f'{before}#include "a.h" // types\n{KERNEL}'
    all_answers = [answers(asked(tmp_path, f"{name}.cu", text, bodies)) for name in "abc"]
    assert all_answers[0] == all_answers[1] == all_answers[2]
    assert all_answers[0][:2] == ((("a", "A"), ("o", "int")), 1)
    kinds = [is_shared(path) for path in flags]
    assert not kinds[0]
    assert kinds[-1]


def test_a_header_without_a_guard_is_read_once(tmp_path: Path, flags: list[str]) -> None:
    (tmp_path / "a.h").write_text(HEADER)
    (tmp_path / "b.h").write_text("struct B { int y; };\n")
    text = '#include "a.h"\n#include "b.h"\n__global__ void k(B b, own o) { }\nint e = 1;\n'
    assert [asked(tmp_path, f"{name}.cu", text).own_errors for name in "abc"] == [0, 0, 0]
    assert is_shared(flags[-1])


def test_what_a_longer_beginning_has_more_is_read(tmp_path: Path, flags: list[str]) -> None:
    (tmp_path / "a.h").write_text(HEADER)
    (tmp_path / "b.h").write_text("struct B { int y; };\n")
    short, long = f'#include "a.h"\n{KERNEL}', '#include "a.h"\n#include "b.h"\n__global__ void k(B b) { }\n'
    for name in "ab":
        asked(tmp_path, f"{name}.cu", short)
    for name in "cde":
        assert [p.type for p in asked(tmp_path, f"{name}.cu", long).kernels[0].parameters] == ["B"]
    assert is_shared(flags[-1])


@pytest.mark.parametrize("line", ["#define own long\n", "int i;\n", "#if 1\n", "// x \\\n", "#ifndef G\n#define G\n"])
def test_what_stands_behind_anything_else_is_not_shared(tmp_path: Path, flags: list[str], line: str) -> None:
    (tmp_path / "a.h").write_text(HEADER)
    text = f'{line}#include "a.h"\n{KERNEL}' + "#endif\n" * line.startswith("#if")
    for name in "abc":
        asked(tmp_path, f"{name}.cu", text)
    assert not any(map(is_shared, flags))


@pytest.mark.parametrize("header", [f"namespace n {{\n{LONG}", f"{LONG}typedef int", f"{HEADER}#include_next <b.h>\n"])
def test_a_header_that_is_not_whole_is_not_shared(tmp_path: Path, flags: list[str], header: str) -> None:
    (tmp_path / "a.h").write_text(header)
    for name in "abc":
        asked(tmp_path, f"{name}.cu", '#include "a.h"\nown;\n}\n')
    assert not any(map(is_shared, flags))


def test_a_header_that_changes_is_read_again(tmp_path: Path, flags: list[str]) -> None:
    (tmp_path / "a.h").write_text(HEADER)
    text = f'#include "a.h"\n{KERNEL}'
    found = [asked(tmp_path, f"{name}.cu", text).kernels[0].parameters[1].type for name in "abc"]
    (tmp_path / "a.h").write_text(HEADER.replace("int own", "float own") + LONG)
    found += [asked(tmp_path, f"{name}.cu", text).kernels[0].parameters[1].type for name in "defg"]
    assert found == ["int"] * 3 + ["float"] * 4
    assert is_shared(flags[-1])


def test_who_uses_the_cache_meanwhile_changes_nothing(tmp_path: Path, flags: list[str]) -> None:
    (tmp_path / "a.h").write_text(HEADER)
    text = f'#include "a.h"\n{KERNEL}'
    for name in "ab":
        asked(tmp_path, f"{name}.cu", text)
    later = Path(flags[0]).stat().st_mtime + 2
    os.utime(flags[0], (later, later))
    asked(tmp_path, "c.cu", text)
    assert [is_shared(path) for path in flags] == [False, True, True]


def test_a_file_that_others_are_in_is_not_shared(tmp_path: Path, flags: list[str]) -> None:
    (tmp_path / "a.h").write_text(f'{HEADER}#include "part.cuh"\n')
    for name in "abc":
        (tmp_path / f"{name}.cu").write_text('#include "a.h"\n')
    for number in range(3):
        asked(tmp_path, "part.cuh", f"{KERNEL}// {number}\n")
    assert not any(map(is_shared, flags))
