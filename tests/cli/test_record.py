"""`porter record` that is killed or done again: what was compiled is written down once, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import porter
from tests.tree.trees import make_tree

MAKEFILE = "all: a.o b.o\n%.o: %.c\n\tcc $(FLAGS) -c $< -o $@\n"
SOURCES = {"a.c": "int a;\n", "b.c": "int b;\n", "Makefile": MAKEFILE}


def recorded(folder: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((folder / "compile_commands.json").read_text())
    return found


def test_a_record_that_was_killed_after_the_build(tmp_path: Path) -> None:
    """The same command again, whose build has nothing left to do, ends as if nobody had killed the first."""
    make_tree(tmp_path / "one", SOURCES)
    make_tree(tmp_path / "two", SOURCES)
    cache = {"PORTER_CACHE_DIR": str(tmp_path / "cache")}
    killing = ("sh", "-c", "make; test -e killed || { touch killed; kill -9 $PPID; }")
    assert porter("record", "--", *killing, folder=tmp_path / "one", environment=cache).code == -9
    assert not (tmp_path / "one" / "compile_commands.json").exists()
    again = porter("record", "--", *killing, folder=tmp_path / "one", environment=cache)
    quiet = porter("record", "--", "make", folder=tmp_path / "two", environment=cache)
    assert (again.code, quiet.code) == (0, 0) and "2 compilations" in again.stderr
    assert [{**entry, "directory": str(tmp_path / "two")} for entry in recorded(tmp_path / "one")] == recorded(
        tmp_path / "two"
    )
    assert list((tmp_path / "cache" / "record").iterdir()) == []


def test_a_build_in_pieces_is_one_record(tmp_path: Path) -> None:
    """What is compiled again counts as it is now, what is not compiled stays, what is gone goes."""
    make_tree(tmp_path, SOURCES)
    assert porter("record", "--", "make", folder=tmp_path).code == 0
    (tmp_path / "b.o").unlink()
    done = porter("record", "--", "make", "FLAGS=-DX", folder=tmp_path)
    assert "2 compilations, 1 from before" in done.stderr
    assert [entry["arguments"] for entry in recorded(tmp_path)] == [
        ["cc", "-c", "a.c", "-o", "a.o"],
        ["cc", "-DX", "-c", "b.c", "-o", "b.o"],
    ]
    (tmp_path / "a.c").unlink()
    (tmp_path / "b.o").unlink()
    assert porter("record", "--", "make", "b.o", folder=tmp_path).code == 0
    assert [entry["file"] for entry in recorded(tmp_path)] == ["b.c"]


def test_a_source_that_is_compiled_in_another_folder_by_now(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.c": "int a;\n", "x/y": "", "z/y": ""})
    for folder in ("x", "z"):
        words = ("sh", "-c", f"cd {folder} && cc -c {tmp_path}/a.c")
        assert porter("record", "--", *words, folder=tmp_path).code == 0
    assert [Path(str(entry["directory"])).name for entry in recorded(tmp_path)] == ["z"]


def test_a_file_that_is_no_database_is_replaced(tmp_path: Path) -> None:
    make_tree(tmp_path, SOURCES)
    (tmp_path / "compile_commands.json").write_text('[1, {"file": 2}, {"directory": "\\u0000", "file": "\\ud800"}')
    assert porter("record", "--", "make", folder=tmp_path).code == 0
    assert len(recorded(tmp_path)) == 2
    (tmp_path / "compile_commands.json").write_text(
        json.dumps([1, {"file": 2}, {"directory": "\0", "file": "x" * 9000}, {"directory": "\ud800", "file": "a.c"}])
    )
    (tmp_path / "a.o").unlink()
    assert porter("record", "--", "make", folder=tmp_path).code == 0
    assert [entry["file"] for entry in recorded(tmp_path)] == ["a.c"]
