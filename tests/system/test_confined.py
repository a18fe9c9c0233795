"""What a process that runs other people's kernels may not do: outlive us, take the memory, write elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has these")


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process that does this."""
    command = [sys.executable, "-c", code]
    given = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=120, check=False)


@linux
def test_a_worker_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Also by kill -9, in the middle of a kernel that never ends."""
    worker = "import os; from porter.system.limits import die_with; die_with(os.getppid())"
    worker += f"; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\nwhile True: pass"
    parent = subprocess.Popen([sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {worker!r}])"], cwd=ROOT)  # fmt: skip # noqa: E501
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.02)
    child = int((tmp_path / "pid").read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + 30
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _runs(child)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_worker_cannot_take_more_memory_than_it_is_given() -> None:
    """`printf("%*d", 2000000000, 1)` asked for three gigabytes."""
    code = "from porter.system.limits import limit_worker; limit_worker()\n"
    code += "try:\n  bytearray(1 << 30)\nexcept MemoryError:\n  print('refused')"
    assert python(code, PORTER_WORKER_MEMORY="256").stdout == "refused\n"


def confined(code: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """What a program said whose last line is what `confine` could not do; skips where that is something."""
    done = python(code)
    said = done.stdout.splitlines()
    if said and said[-1]:
        pytest.skip(said[-1])
    return done, said


@linux
def test_a_worker_writes_where_it_may_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    code = f"""
from pathlib import Path
from porter.system.sandbox import confine
at = Path({str(tmp_path)!r})
said = confine((at / "mine",))
(at / "mine" / "x").write_text("x")
def write():
    (at / "y").write_text("x")
def move():
    (at / "mine" / "x").rename(at / "x")
def remove():
    (at / "mine").rmdir()
for attempt in (write, move, remove):
    try:
        attempt()
    except OSError:
        print("refused")
print(said)
"""
    done, said = confined(code)
    assert said[:3] == ["refused"] * 3, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine"]


@linux
def test_of_the_devices_a_worker_writes_to_harmless_ones_and_gpus(tmp_path: Path) -> None:
    """A disk is a file below /dev, too."""
    code = """
from pathlib import Path
from porter.system.sandbox import confine, device_files
said = confine(device_files())
for name in ("null", "shm/porter-test"):
    Path("/dev", name).write_text("x")
Path("/dev/shm/porter-test").unlink()
try:
    Path("/dev/porter-test").write_text("x")
except OSError:
    print("refused")
print(said)
"""
    done, said = confined(code)
    assert said == ["refused", ""], done.stderr
