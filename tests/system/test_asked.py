"""Commands that a server runs for its clients."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from porter.system.asked import asked

SECONDS = 60


def test_an_answer(tmp_path: Path) -> None:
    """The code and both streams; in another folder."""
    (tmp_path / "a.cu").write_text("int a;\n")
    done = asyncio.run(asked("scan", "a.cu", "--format", "json", folder=tmp_path))
    assert (done.code, done.stderr) == (0, "") and '"command": "scan"' in done.stdout
    assert asyncio.run(asked("scan", "nothing", folder=tmp_path)).code == 2


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cancelled", "late"])
def test_nobody_waits_any_more(tmp_path: Path, how: str) -> None:
    """The process ends, whatever it was doing, and other tasks go on meanwhile."""
    number = tmp_path / "number"
    command = (
        "record",
        "-o",
        str(tmp_path / "c.json"),
        "--",
        "sh",
        "-c",
        f"echo $$ >{number}.new; mv {number}.new {number}; sleep 600",
    )

    async def talk() -> None:
        task = asyncio.ensure_future(asked(*command, seconds=SECONDS if how == "cancelled" else 15))
        while not number.exists() and not task.done():
            await asyncio.sleep(0.05)
        if how == "cancelled":
            task.cancel()
        with pytest.raises(asyncio.CancelledError if how == "cancelled" else TimeoutError):
            await task

    asyncio.run(talk())
    shell, until = int(number.read_text()), time.monotonic() + SECONDS
    while time.monotonic() < until and _is_there(shell):
        time.sleep(0.05)
    assert not _is_there(shell)


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
