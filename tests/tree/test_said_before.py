"""Runs that find all as it was say what was said, and only those."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.commands.porting import Asked, ported
from porter.project import port as project_port
from porter.project import said_before
from porter.system import stamps
from tests.tree.trees import KERNEL, make_tree

FILES: dict[str, bytes | str] = {
    "a.cu": KERNEL,
    "b.h": "int x = cudaSuccess;\n",
    "sub/c.cu": "#include <cuda.h>\nvoid f() { cuEventCreateFromEGLSync(0, 0, 0); }\n",
    "d.txt": "text\n",
    "build/x.txt": "",
}


@pytest.fixture(autouse=True)
def _settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, in a world where no change is recent."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(stamps, "_SETTLED", -(10**12))


class Runs:
    """`porter port src -o out` again and again, and whether the project was looked at."""

    def __init__(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.source, self.out = make_tree(tmp_path / "src", FILES), tmp_path / "out"
        self.looked = 0
        self._capsys = capsys
        real = project_port.port_to

        def noted(*arguments: object) -> object:
            self.looked += 1
            return real(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(project_port, "port_to", noted)

    def run(self, **options: object) -> tuple[int, str]:
        """The exit code and the report."""
        asked = Asked(self.source, self.out, jobs=1)._replace(**options)  # type: ignore[arg-type]
        code = ported(asked)
        return code, self._capsys.readouterr().out


@pytest.fixture
def runs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, capsys, monkeypatch)


@pytest.mark.parametrize("options", [{}, {"verbose": True}, {"strict": True}, {"omit": ("d.txt",)}])
def test_the_same_is_said_without_a_look(runs: Runs, tmp_path: Path, options: dict[str, object]) -> None:
    runs.run(**options)
    said = runs.run(**options)
    assert runs.looked == 1
    shutil.rmtree(tmp_path / "cache" / "said")
    assert runs.run(**options) == said, "as a run says that looks and finds nothing to do"
    assert runs.looked == 2
    assert "were up to date" in said[1]
    assert said[0] == 1


def _write(name: str, text: str = "int y;\n") -> Callable[[Runs], object]:
    return lambda runs: (runs.source / name).write_text(text)


CHANGES: dict[str, Callable[[Runs], object]] = {
    "a source": _write("a.cu", "int z;\n"),
    "a source with its old times": lambda runs: _with_old_times(runs.source / "a.cu"),
    "a new source": _write("new.cu"),
    "a source less": lambda runs: (runs.source / "sub" / "c.cu").unlink(),
    "a file that is copied": _write("d.txt"),
    "a mode": lambda runs: (runs.source / "d.txt").chmod(0o755),
    "a link": lambda runs: (runs.source / "link").symlink_to("d.txt"),
    "settings": _write("porter.toml", '[names]\ncudaFoo = "hipFoo"\n'),
    "what git ignores": _write(".gitignore", "d.txt\n"),
    "a compilation database": _write("build/compile_commands.json", "[]"),
    "an output less": lambda runs: (runs.out / "a.hip").unlink(),
    "an output": lambda runs: (runs.out / "a.hip").write_text("int mine;\n"),
    "a folder's mode in the output": lambda runs: (runs.out / "sub").chmod(0o700),
    "another file in the output": lambda runs: (runs.out / "more").write_text(""),
    "the manifest": lambda runs: os.utime(runs.out / "porter-manifest.json"),
}


def _with_old_times(path: Path) -> None:
    before = path.stat()
    path.write_bytes(KERNEL.replace(b"2.0f", b"3.0f"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_is_looked_at(runs: Runs, change: str) -> None:
    for _ in range(2):
        runs.run()
    CHANGES[change](runs)
    runs.run()
    assert runs.looked == 2


def test_a_database_that_git_ignores_is_looked_at(runs: Runs) -> None:
    (runs.source / ".gitignore").write_text("build\n")
    subprocess.run(["git", "-C", runs.source, "init", "-q"], check=True)
    for _ in range(2):
        runs.run()
    _write("build/compile_commands.json", "[]")(runs)
    runs.run()
    assert runs.looked == 2


@pytest.mark.parametrize(
    "options", [{"verbose": True}, {"strict": True}, {"warp": "native"}, {"comments": True}, {"exclude": ("d.txt",)}]
)
def test_another_question_is_another_run(runs: Runs, options: dict[str, object]) -> None:
    for _ in range(2):
        runs.run()
    runs.run(**options)
    assert runs.looked == 2


def test_another_porter_looks(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        runs.run()
    monkeypatch.setattr(said_before, "knowledge_digest", lambda: "another")
    runs.run()
    assert runs.looked == 2


def test_what_was_just_changed_is_looked_at(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "_SETTLED", 10**12)
    for _ in range(3):
        runs.run()
    assert runs.looked == 3


def test_a_pipe_and_an_edited_output(runs: Runs) -> None:
    os.mkfifo(runs.source / "pipe")
    for _ in range(2):
        runs.run()
    assert runs.looked == 1, "a pipe is said to be left out each time"
    (runs.out / "a.hip").write_text("int mine;\n")
    _write("a.cu", "int z;\n")(runs)
    for _ in range(2):
        runs.run()
    assert runs.looked == 3, "an output that was edited by hand is looked at each time"


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b'{"text": "x"}'])
def test_what_is_damaged_is_nothing(runs: Runs, tmp_path: Path, damage: bytes) -> None:
    said = [runs.run() for _ in range(2)][-1]
    for path in (tmp_path / "cache" / "said").iterdir():
        path.write_bytes(damage)
    assert runs.run() == said
    assert runs.looked == 2
