"""What a compilation database in the tree tells clang."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from porter.cpp.include_graph import include_graph
from porter.cpp.prescan import Scan
from porter.project.compilation import Flags, flags_of, read_database
from tests.tree.trees import make_tree, port

SOURCE = """#include <cuda_runtime.h>
#include "scalar.h"
#ifdef WITH_GPU
__global__ void scale(scalar *x) { x[0] *= 2; }
#endif
"""


def database(*commands: object) -> str:
    """The text of a database."""
    return json.dumps(commands)


def entry(root: Path, **more: object) -> dict[str, object]:
    """One command, run in the build folder."""
    return {"directory": str(root / "build"), "file": "../a.cu", **more}


@pytest.mark.parametrize(
    "words",
    [
        ["nvcc", "-I../inc", "-DA", "-DB=1 2", "-c", "../a.cu"],
        ["nvcc", "-I", "../inc", "-D", "A", "-D", "B=1 2"],
        ["nvcc", "-isystem", "../inc", "--define-macro=A", "--define-macro", "B=1 2"],
        ["clang++", "-iquote../inc", "-DA", "-DA", "-DB=1 2", "--include-path=../inc"],
    ],
)
def test_spellings_of_the_options(tmp_path: Path, words: list[str]) -> None:
    """Joined, apart, and nvcc's long ones; each value once."""
    make_tree(tmp_path, {"compile_commands.json": database(entry(tmp_path, arguments=words)), "inc/x.h": ""})
    assert read_database(tmp_path, ()).flags == {"a.cu": Flags(("inc",), ("A", "B=1 2"))}


def test_a_command_is_split_as_a_shell_would(tmp_path: Path) -> None:
    """Quotes and backslashes; the first entry of a file counts."""
    command = entry(tmp_path, command=r'nvcc -DNAME=\"x\" "-DTWO=a b" -I../inc')
    other = entry(tmp_path, command="nvcc -DOTHER")
    make_tree(tmp_path, {"build/compile_commands.json": database(command, other)})
    assert read_database(tmp_path, ()).flags == {"a.cu": Flags(("inc",), ('NAME="x"', "TWO=a b"))}


def test_what_is_outside_of_the_project_is_left_out(tmp_path: Path) -> None:
    """Files and folders elsewhere, and a database that is a link to somewhere else."""
    root = tmp_path / "project"
    outside = [{"directory": "/", "file": "/b.cu", "command": "nvcc -DX"}]
    inside = [entry(root, command="nvcc -I/usr/include -I../../elsewhere -I..")]
    make_tree(root, {"compile_commands.json": database(*outside, *inside)})
    assert read_database(root, ()).flags == {"a.cu": Flags((".",), ())}
    linked = make_tree(tmp_path / "linked", {"compile_commands.json": f"->{root}/compile_commands.json"})
    assert read_database(linked, ()).flags == {}


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1, null]", "[[", "\0", '[{"directory": 1, "file": "a.cu"}]', '[{"directory": ".", "file": []}]'],
)
def test_a_database_that_is_none(tmp_path: Path, text: str) -> None:
    """No flags, no failure."""
    make_tree(tmp_path, {"compile_commands.json": text})
    assert read_database(tmp_path, ()).flags == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not read: Expecting value: line 1 column 1 (char 0)"),
        ('[{"directory": "/", ', "is not read: Expecting property name enclosed in double quotes"),
        ("{}", "is not read: it is no list of commands"),
        ('["nvcc -c a.cu"]', ": 1 of 1 entries have no file, no directory or no command that can be read"),
        ('[{"directory": ".", "command": "nvcc"}, {"directory": ".", "file": "a.cu", "command": "nvcc"}]', ": 1 of 2 "),
        ('[{"directory": ".", "file": "a.cu"}]', ": 1 of 1 entries"),
        ('[{"directory": ".", "file": "a.cu", "command": "nvcc \'-DX"}]', ": 1 of 1 entries"),
        ('[{"directory": "/gone", "file": "a.cu", "command": "nvcc"}]', ": none of its files lies in the tree"),
    ],
)
def test_a_database_of_a_wrong_shape_is_said(tmp_path: Path, text: str, said: str) -> None:
    """Otherwise nobody knew why clang misses headers."""
    make_tree(tmp_path / "src", {"build/compile_commands.json": text, "a.cu": SOURCE})
    (note,) = port(tmp_path / "src", tmp_path / "out").report.header.notes
    assert note.startswith(f"build/compile_commands.json{' ' * (said[0] != ':')}{said}")


def test_nothing_is_said_of_databases_that_do(tmp_path: Path) -> None:
    """One that is empty, one with files elsewhere too, and `build` that is no folder."""
    own = entry(tmp_path / "compi", command="nvcc -DWITH_GPU")
    some = [{"directory": "/", "file": "/b.cu", "command": "nvcc -DX"}, own]
    for name, text in (("compile_commands.json", database(*some)), ("out/compile_commands.json", "[]"), ("build", "x")):
        make_tree(tmp_path / name[:5], {name: text, "a.cu": SOURCE})
        flags, notes = read_database(tmp_path / name[:5], ())
        assert not notes, flags


def test_the_next_database_is_asked_where_one_is_none(tmp_path: Path) -> None:
    make_tree(tmp_path, {"compile_commands.json": "{", "build": "x"})
    make_tree(tmp_path, {"out/compile_commands.json": database(entry(tmp_path, command="nvcc -DB"))})
    flags, (note,) = read_database(tmp_path, ())
    assert flags["a.cu"].defines == ("B",)
    assert note.startswith("compile_commands.json is not read: ")


def test_an_unbalanced_command_has_no_flags(tmp_path: Path) -> None:
    """The file is listed, nothing is known of it."""
    make_tree(tmp_path, {"compile_commands.json": database(entry(tmp_path, command="nvcc '-DX"))})
    assert read_database(tmp_path, ()).flags == {"a.cu": Flags()}


def test_one_among_the_files_comes_before_the_usual_folders(tmp_path: Path) -> None:
    """Wherever the project has it."""
    make_tree(
        tmp_path,
        {
            "tools/db/compile_commands.json": database(entry(tmp_path, command="nvcc -DLISTED")),
            "build/compile_commands.json": database(entry(tmp_path, command="nvcc -DBUILT")),
        },
    )
    assert read_database(tmp_path, ["tools/db/compile_commands.json"]).flags["a.cu"].defines == ("LISTED",)


def test_a_header_gets_the_flags_of_a_source_that_includes_it() -> None:
    """The first one in order; what nobody includes gets none."""
    graph = include_graph({"a.cu": Scan(("x.h",)), "b.cu": Scan(("x.h", "y.h")), "x.h": Scan(), "y.h": Scan()})
    one, two = Flags((), ("ONE",)), Flags((), ("TWO",))
    assert flags_of({"b.cu": two, "a.cu": one}, graph) == {"a.cu": one, "b.cu": two, "x.h": one, "y.h": two}


def test_kernels_are_typed_with_the_flags_of_the_build(tmp_path: Path) -> None:
    """A macro and a folder that only the database knows; another database is another run."""
    files = {"a.cu": SOURCE, "inc/one/scalar.h": "typedef float scalar;\n", "inc/two/scalar.h": "typedef int scalar;\n"}
    source = make_tree(tmp_path / "src", files)

    def kernel() -> tuple[bool, str]:
        records = {record.path: record for record in port(source, tmp_path / "out").run.records}
        (found,) = records["a.cu"].kernels
        return found["typed"], found["parameters"][0][1]

    assert kernel()[0] is False
    for folder in ("one", "two"):
        text = database(entry(source, command=f"nvcc -DWITH_GPU -I../inc/{folder}"))
        make_tree(source, {"build/compile_commands.json": text})
        assert kernel() == (True, {"one": "float *", "two": "int *"}[folder])
