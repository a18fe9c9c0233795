"""Compilers that hang, print for ever, leave children behind, or are not there."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from porter.validation.toolchain import invoke as module
from porter.validation.toolchain.invoke import invoke


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_what_it_said_and_how_it_ended() -> None:
    done = invoke(_python("import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"))
    assert (done.code, done.output, done.stopped, done.ok) == (3, "out\nerr\n", None, False)


def test_a_signal_is_a_negative_status() -> None:
    assert invoke(_python("import os; os.kill(os.getpid(), 11)")).code == -11


def test_there_is_no_input_to_wait_for() -> None:
    assert invoke(_python("import sys; print(repr(sys.stdin.read()))")).output == "''\n"


def test_no_shell() -> None:
    assert invoke((*_python("import sys; print(sys.argv[1])"), "$(echo no); `id`")).output == "$(echo no); `id`\n"


def test_a_program_that_is_not_there() -> None:
    done = invoke(("/no/such/compiler", "x"))
    assert done.code is None and done.stopped == "/no/such/compiler: No such file or directory"


def test_a_hang_ends_with_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    code = f"""
import os, time
if os.fork() == 0:
    open({str(child)!r}, "w").write(str(os.getpid()))
    time.sleep(600)
print("started", flush=True)
time.sleep(600)
"""
    done = invoke(_python(code), seconds=2.0)
    assert done.code is None and done.stopped == "no end after 2 s" and done.output == "started\n"
    pid = int(child.read_text())
    for _ in range(100):
        if not _is_running(pid):
            break
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def test_a_child_that_keeps_the_pipe_is_not_waited_for() -> None:
    code = "import os, time\nif os.fork() == 0:\n    time.sleep(20)\nelse:\n    print('done', flush=True)"
    began = time.monotonic()
    done = invoke(_python(code), seconds=15)
    assert done.ok and done.output == "done\n" and time.monotonic() - began < 10


def test_megabytes_keep_their_beginning_and_end() -> None:
    done = invoke(_python("print('first'); print('x' * 3_000_000); print('last')"))
    assert done.ok and done.output.startswith("first\n") and done.output.endswith("last\n")
    assert len(done.output) < 2 * module.KEPT + 100
    assert f"... {6 + 3_000_001 + 5 - 2 * module.KEPT} bytes left out ..." in done.output


def test_endless_output_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENDLESS", 8 << 20)
    done = invoke(_python("import os\nwhile True: os.write(1, b'x' * 65536)"), seconds=60)
    assert done.code is None and done.stopped == "more than 8 MiB of output"


def test_bytes_that_are_no_text() -> None:
    assert invoke(_python("import os; os.write(2, b'\\xff\\xfe ok')")).output.endswith(" ok")


def test_a_closed_pipe_does_not_hide_a_hang() -> None:
    done = invoke(_python("import os, time; os.close(1); os.close(2); time.sleep(600)"), seconds=1.5)
    assert done.stopped == "no end after 1.5 s"


def test_environment_is_added() -> None:
    done = invoke(_python("import os; print(os.environ['A'], 'PATH' in os.environ)"), environment={"A": "b"})
    assert done.output == f"b {'PATH' in os.environ}\n"
