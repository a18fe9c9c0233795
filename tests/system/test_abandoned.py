"""What killed processes left goes; what living ones use, or others own, stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from porter.project.writing import TEMPORARY, content_of, write_atomically, write_document
from porter.system.abandoned import abandoned, hold
from porter.system.scratch import own_temporary_folder
from tests.system.processes import number_of_the_dead

ROOT = Path(__file__).resolve().parents[2]


def test_a_report_takes_the_place_of_what_a_killed_one_left(tmp_path: Path) -> None:
    dead = number_of_the_dead()
    (tmp_path / f"{TEMPORARY}{dead}").write_text("half")
    (tmp_path / f"{TEMPORARY}{dead}-x").symlink_to("/nowhere")
    for name in (f"{TEMPORARY}{os.getppid()}", f"{TEMPORARY}names.json", f"{TEMPORARY}0{dead}", f"x{TEMPORARY}{dead}"):
        (tmp_path / name).write_text("not ours to take")
    (tmp_path / f"{TEMPORARY}{dead}-folder").mkdir()
    write_atomically(tmp_path / "report.html", content_of(b"whole"), 0o644)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [
            "report.html",
            f"{TEMPORARY}{os.getppid()}",
            f"{TEMPORARY}names.json",
            f"{TEMPORARY}0{dead}",
            f"x{TEMPORARY}{dead}",
            f"{TEMPORARY}{dead}-folder",
        ]
    )


def test_a_file_that_somebody_writes_stays_whatever_its_number(tmp_path: Path) -> None:
    """A process in another container, say, whose number nobody has here."""
    left = tmp_path / f"{TEMPORARY}{number_of_the_dead()}"
    handle = os.open(left, os.O_WRONLY | os.O_CREAT)
    hold(handle)
    assert list(abandoned(tmp_path, TEMPORARY)) == []
    os.close(handle)
    assert list(abandoned(tmp_path, TEMPORARY)) == [left]


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root makes files of others")
def test_what_another_user_owns_stays(tmp_path: Path) -> None:
    left = tmp_path / f"{TEMPORARY}{number_of_the_dead()}"
    left.write_text("")
    os.chown(left, 12345, 12345)
    assert list(abandoned(tmp_path, TEMPORARY)) == []


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"{TEMPORARY}{number_of_the_dead()}")
    assert list(abandoned(tmp_path, TEMPORARY)) == []


def test_the_folder_of_a_killed_run_goes_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And that of one that lives stays."""
    code = "from porter.system.scratch import own_temporary_folder as own; import os, time\n"
    code += "with own(): open(os.environ['TMPDIR'] + '/x', 'w').close(); print('there', flush=True); time.sleep(60)"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
        )
        for _ in range(2)
    ]
    for run in runs:
        assert run.stdout is not None and run.stdout.readline() == b"there\n"
    (tmp_path / "porter-run-mine").mkdir()
    runs[0].send_signal(signal.SIGKILL)
    runs[0].wait()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("PORTER_OUTER_TMPDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", None)
    try:
        with own_temporary_folder():
            names = sorted(path.name.rpartition("-")[0] for path in tmp_path.iterdir())
            assert names == sorted(["porter-run", f"porter-run-{runs[1].pid}", f"porter-run-{os.getpid()}"])
        assert len(list(tmp_path.iterdir())) == 2
    finally:
        runs[1].kill()
        runs[1].wait()


def test_a_process_that_nobody_waited_for_counts_as_gone(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    left = tmp_path / f"{TEMPORARY}{child}"
    left.write_text("")
    until = time.monotonic() + 10
    while list(abandoned(tmp_path, TEMPORARY)) != [left] and time.monotonic() < until:
        time.sleep(0.01)
    assert list(abandoned(tmp_path, TEMPORARY)) == [left]
    os.waitpid(child, 0)


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "pipe"
    os.mkfifo(target)
    reader = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
    write_document(target, "said")
    assert os.read(reader, 10) == b"said"
    os.close(reader)
    assert target.is_fifo()
