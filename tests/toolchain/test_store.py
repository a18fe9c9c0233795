"""What is compiled once, and what has to be compiled again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from porter.validation.toolchain.store import DEPFILE, RECORD, Made, Recipe, make, prerequisites, probing, prune

from tests.outside import needs, require

pytestmark = needs("g++")


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Made]:
    """Compiles tmp_path/a.cpp with g++ to an object file; its cache is new."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "a.cpp"
    source.write_text('#include "a.h"\nint f() { return VALUE; }\n')
    (tmp_path / "a.h").write_text("#define VALUE 1\n")

    def compile_it(*options: str, seconds: float = 60) -> Made:
        def command(folder: Path) -> tuple[str, ...]:
            files = ("-MD", "-MF", str(folder / DEPFILE), "-o", str(folder / "a.o"))
            return (require("g++"), "-c", str(source), *options, *files)

        return make(Recipe("g++", command, (source,), ("*.o",)), seconds)

    return compile_it


def _age(path: Path) -> None:
    """As if it had been written an hour ago."""
    status = path.stat()
    os.utime(path, (status.st_atime - 3600, status.st_mtime - 3600))


def test_the_second_time_is_free(build: Callable[..., Made]) -> None:
    first, second = build(), build()
    assert (first.reused, second.reused) == (False, True)
    assert first.folder == second.folder and second.product("*.o") is not None
    assert second.invocation == first.invocation
    assert [path.name for path in first.folder.iterdir()].count(DEPFILE) == 0


def test_an_included_header_counts(build: Callable[..., Made], tmp_path: Path) -> None:
    first = build()
    (tmp_path / "a.h").write_text("#define VALUE 2\n")  # same size
    second = build()
    (tmp_path / "a.h").write_text("#define VALUE 1\n")
    third = build()
    assert not second.reused and second.folder != first.folder
    assert third.reused and third.folder == first.folder


def test_an_old_file_with_the_same_time_is_trusted_and_a_new_time_is_not_enough(
    build: Callable[..., Made], tmp_path: Path
) -> None:
    for name in ("a.h", "a.cpp"):
        _age(tmp_path / name)
    build()
    (tmp_path / "a.h").touch()
    assert build().reused


def test_a_missing_header_counts(build: Callable[..., Made], tmp_path: Path) -> None:
    build()
    (tmp_path / "a.h").unlink()
    done = build()
    assert not done.reused and not done.invocation.ok and "a.h" in done.invocation.output


def test_options_and_environment_count(build: Callable[..., Made], monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    assert not build("-O2").reused
    monkeypatch.setenv("CPATH", "/nowhere")
    assert not build().reused


def test_an_error_is_remembered(build: Callable[..., Made], tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text('#include "a.h"\nint f() { return nothing; }\n')
    first, second = build(), build()
    assert "nothing" in first.invocation.output
    assert second.invocation.output == first.invocation.output and second.invocation.code == 1
    (tmp_path / "a.cpp").write_text("int f() { return 1; }\n")
    assert build().invocation.ok


def test_a_timeout_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    recipe = Recipe("sleep", lambda folder: ("sleep", "30"), (), ("*",), has_depfile=False)
    assert make(recipe, 0.3).invocation.stopped == "no end after 0.3 s"
    assert not make(recipe, 0.3).reused
    assert not list((tmp_path / "cache" / "builds").rglob("making-*"))


def test_a_full_disk_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    code = "echo 'error: unable to open output file: No space left on device'; exit 1"
    recipe = Recipe("sh", lambda folder: ("sh", "-c", code), (), ("*",), has_depfile=False)
    assert not make(recipe).invocation.ok
    assert not make(recipe).reused


def test_a_cache_that_cannot_be_written(build: Callable[..., Made], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    done = build()
    assert done.invocation.ok and done.product("*.o") is not None
    assert done.note is not None and "cache" in done.note
    assert not build().reused


def test_what_was_used_longest_ago_makes_room(build: Callable[..., Made], tmp_path: Path) -> None:
    first, second = build(), build("-O2")
    port = tmp_path / "cache/ports/1234"
    (port / "sub").mkdir(parents=True)
    (port / "sub/a.hip").write_text("x" * 100_000)
    os.utime(first.folder, (1, 1))
    os.utime(second.folder, (2, 2))
    os.utime(port, (0, 0))
    assert build().reused  # and is the youngest now
    assert prune(60_000, every=0) == 1
    assert not port.exists() and build("-O2").reused and build().reused
    assert prune(0) == 0  # not again on the same day
    assert prune(0, every=0) == 0  # a run may need what was used in the last hour


def test_what_an_ended_run_had_begun_is_removed(build: Callable[..., Made], tmp_path: Path) -> None:
    build()
    begun = tmp_path / "cache/builds/abc/making-1"
    begun.mkdir(parents=True)
    assert prune(every=0) == 0
    os.utime(begun, (1, 1))
    assert prune(every=0) == 1 and not begun.parent.exists()


def test_a_damaged_record_is_built_again(build: Callable[..., Made]) -> None:
    first = build()
    (first.folder / RECORD).write_text("{")
    second = build()
    assert not second.reused
    record = second.folder / RECORD
    record.write_text(record.read_text().replace('"code": 0', '"code": 1'))  # sound, and not what was kept
    assert not build().reused


@given(st.lists(st.text("ab c#$\\é.", min_size=1).filter(lambda s: not s.endswith("\\")), min_size=1, max_size=5))
def test_prerequisites_read_what_make_writes(names: list[str]) -> None:
    wanted = [name for name in names if name.strip() == name and "\\" not in name]
    escaped = [name.replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$") for name in wanted]
    assert prerequisites("out.o: " + " \\\n  ".join(escaped) + "\n") == wanted


def test_prerequisites_as_gcc_writes_them(tmp_path: Path) -> None:
    folder = tmp_path / "a b#c$d"
    folder.mkdir()
    (folder / "x.h").write_text("")
    source = tmp_path / "a.cpp"
    source.write_text('#include "x.h"\n')
    subprocess.run([require("g++"), "-M", f"-I{folder}", "-MF", str(tmp_path / "d"), str(source)], check=True)
    found = prerequisites((tmp_path / "d").read_text())
    assert (found[0], found[-1]) == (str(source), str(folder / "x.h"))


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Made]:
    """Compiles a source whose header includes `<lost.h>`, which is not there; `tmp_path/late` is searched."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "src").mkdir()
    (tmp_path / "late").mkdir()
    source = tmp_path / "src/a.cpp"
    source.write_text('#include "sub/a.h"\n')
    (tmp_path / "src/sub").mkdir()
    (tmp_path / "src/sub/a.h").write_text('#include "lost.h"\nint f() { return VALUE; }\n')

    def compile_it() -> Made:
        def command(folder: Path, *more: str) -> tuple[str, ...]:
            return (require("g++"), "-c", f"-I{tmp_path / 'late'}", str(source), *more)

        def whole(folder: Path) -> tuple[str, ...]:
            return command(folder, "-MD", "-MF", str(folder / DEPFILE), "-o", str(folder / "a.o"))

        return make(Recipe("g++", whole, (source,), ("*.o",), probe=lambda f: command(f, *probing(f))), 60)

    return compile_it


def test_a_header_that_is_missing_is_remembered(refused: Callable[[], Made], tmp_path: Path) -> None:
    first, second = refused(), refused()
    assert not first.reused and second.reused
    assert "lost.h" in second.invocation.output and second.invocation.code == 1
    (tmp_path / "src/sub/a.h").write_text('#include "gone.h"\n')
    assert not refused().reused


@pytest.mark.parametrize("folder", ["late", "src/sub", "src"])
def test_a_missing_header_that_comes_is_noticed(refused: Callable[[], Made], tmp_path: Path, folder: str) -> None:
    """Wherever the compiler looks for it; `src` is looked into as the folder of a file that is read, to be safe."""
    refused()
    (tmp_path / folder / "lost.h").write_text("#define VALUE 1\n")
    done = refused()
    assert not done.reused and done.invocation.ok == (folder != "src")


def test_an_error_whose_inputs_are_not_known_is_not_remembered(build: Callable[..., Made], tmp_path: Path) -> None:
    (tmp_path / "a.h").unlink()  # there is no dependency file, and nobody to ask
    assert not build().reused and not build().reused
