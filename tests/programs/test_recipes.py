"""`[[program]]` tables, written and drafted."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.programs.draft import as_toml, draft, from_makefile, refusal_of_make
from porter.validation.programs.recipes import programs_of

from porter.errors import Unusable
from porter.settings import load_choices
from tests.cli.command import porter
from tests.outside import require

MAKEFILE = """
program = main
$(program): main.cu
	nvcc main.cu -o $@
run: $(program)
	$(LAUNCHER) ./$(program) 1000 "a b"
"""


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "needs `run`"),
        ({"run": "./a", "tolerance": 1}, "unknown key 'tolerance'"),
        ({"run": "./a", "relative": "x"}, "must be a number"),
        ({"run": 3}, "must be a command"),
        ({"run": "./a 'b"}, "No closing quotation"),
        ({"run": "./a", "build": 3}, "must be a list of commands"),
    ],
)
def test_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(Unusable, match=said):
        programs_of((table,))


def test_names_are_different() -> None:
    with pytest.raises(Unusable, match="two programs"):
        programs_of(({"run": "./a"}, {"run": "./a"}))


def test_drafted_tables_are_read(tmp_path: Path) -> None:
    require("make")
    (tmp_path / "one").mkdir()
    (tmp_path / "one/Makefile").write_text(MAKEFILE)
    (tmp_path / "one/main.cu").touch()
    (tmp_path / "two").mkdir()
    tests = "add_test(NAME fast COMMAND tests/fast --quick)\nadd_test(NAME open COMMAND tests/fast 'x)\n"
    (tmp_path / "two/CMakeLists.txt").write_text(tests)
    (tmp_path / "three").mkdir()
    (tmp_path / "three/Makefile").write_text("all:\n\ttrue\n")
    (tmp_path / "porter.toml").write_text(as_toml(draft(tmp_path, ask_make=True)))
    programs = programs_of(tuple(dict(table) for table in load_choices(tmp_path).program))
    assert [(p.name, p.folder, p.run) for p in programs] == [
        ("one", "one", ("./main", "1000", "a b")),
        ("fast", "two", ("build/tests/fast", "--quick")),
    ]
    assert programs[0].build == (("make",),)
    assert programs[1].build == (("cmake", "-B", "build"), ("cmake", "--build", "build"))


@pytest.mark.parametrize(
    ("recipe", "folder"),
    [
        ("cd src && ./main -n 128", "one/src"),
        ("(cd src; ./main -n 128)", "one/src"),
        ("$(MAKE) -C src run", "one/src"),
        ("cd src && ls\n\t./main -n 128", "one"),
    ],
)
def test_programs_that_start_in_another_folder(tmp_path: Path, recipe: str, folder: str) -> None:
    require("make")
    (tmp_path / "one/src").mkdir(parents=True)
    (tmp_path / "one/GNUmakefile").write_text(f"all:\n\tcd src && make\nrun:\n\t{recipe}\n")
    (tmp_path / "one/src/Makefile").write_text("all:\n\ttrue\nrun:\n\t./main -n 128\n")
    drafted = from_makefile(tmp_path / "one/GNUmakefile", tmp_path)
    assert drafted is not None
    assert (drafted.name, drafted.folder, drafted.run) == ("one", folder, ("./main", "-n", "128"))
    build = "make -C .. -f GNUmakefile" if folder == "one/src" else "make -f GNUmakefile"
    assert drafted.build == (build,)
    (tmp_path / "porter.toml").write_text(as_toml((drafted,)))
    (program,) = programs_of(tuple(dict(table) for table in load_choices(tmp_path).program))
    assert program.build == (tuple(build.split()),)


def test_no_makefile_runs_anything_unless_asked(tmp_path: Path) -> None:
    """`make -n` runs `$(shell ...)`; and what is written once is not written again."""
    (tmp_path / "Makefile").write_text(f"x := $(shell touch {tmp_path}/ran)\nrun:\n\t./a\n")
    (tmp_path / "CMakeLists.txt").write_text("")
    (tmp_path / "two").mkdir()
    (tmp_path / "two/CMakeLists.txt").write_text("add_test(NAME fast COMMAND tests/fast --quick)\n")
    (tmp_path / "porter.toml").write_text('rocm = "6.3"\n')
    first = porter("programs", "init", str(tmp_path), "--write", folder=tmp_path)
    assert first.code == 0
    assert "1 Makefiles were not asked" in first.stderr
    assert not (tmp_path / "ran").exists()
    written = (tmp_path / "porter.toml").read_text()
    assert written.startswith('rocm = "6.3"\n') and "fast" in written
    assert porter("programs", "init", str(tmp_path), "--write", folder=tmp_path).code == 0
    assert (tmp_path / "porter.toml").read_text() == written
    require("make")
    porter("programs", "init", str(tmp_path), "--make", folder=tmp_path)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ('./main -c "read a; rewrite b | c && d > e"', ("./main", "-c", "read a; rewrite b | c && d > e")),
        ("./main 1 2>&1", ("./main", "1")),
        ("A=1 nice ./main '(1)' 2", ("./main", "(1)", "2")),
        ("(./main 7; echo done)", ("./main", "7")),
        ("build/bin/main in.txt", ("build/bin/main", "in.txt")),
        ("cd src && ../main in.txt && cd ..", ("../main", "in.txt")),
        ("/usr/bin/main 7", None),
        ("main 7", None),
        ("./main 7 > log.txt", None),
        ("./main 7 | tail", None),
        ('./main "7', None),
    ],
)
def test_commands_of_a_recipe(tmp_path: Path, recipe: str, words: tuple[str, ...] | None) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Makefile").write_text(f"main:\n\ttrue\nrun: main\n\t{recipe}\n")
    drafted = from_makefile(tmp_path / "Makefile", tmp_path)
    assert (drafted.run if drafted else None) == words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("all:\n\ttrue\n", ""),
        ("run:\n\t./main\n", ""),
        ("run: main\n\t./main\nmain: a.o\n%.o: %.cu gone.h\n", "No rule to make target 'a.o', needed by 'main'"),
        ("run: gone\n\t./main\n", "No rule to make target 'gone', needed by 'run'"),
        ("ifeq\n", "invalid syntax in conditional"),
    ],
)
def test_why_make_starts_nothing(tmp_path: Path, text: str, said: str) -> None:
    require("make")
    (tmp_path / "Makefile").write_text(text)
    (tmp_path / "a.cu").write_text("")
    found = refusal_of_make(tmp_path / "Makefile")
    assert said in found if said else found == ""
    told = porter("programs", "init", str(tmp_path), "--make", folder=tmp_path).stderr
    assert (f"Makefile: make: {found}" in told) if said else ("make: " not in told)
