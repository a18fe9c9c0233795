"""The child processes of a run: what they import, which tasks they take, what they leave behind."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from porter.validation.run.crew import NOT_UNDERSTOOD, spare_children, understood
from porter.validation.run.plan import Request, validate
from porter.validation.run.worker import Decoder, Garbled
from porter.validation.toolchain.invoke import invoke, module_command

from porter.system.scratch import lasting_folder, own_temporary_folder
from tests.forking.children import use_forks, use_starts
from tests.validate.running import devices, write_case


@pytest.fixture(autouse=True)
def _as_users_have_it() -> Iterator[None]:
    """Processes that begin from nothing; other tests have forks."""
    use_starts()
    yield
    use_forks()


def test_a_package_of_the_user_does_not_hide_ours(tmp_path: Path) -> None:
    for name in ("porter", "validation", "numpy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong one')\n")
    (tmp_path / "helper.py").write_text("")
    done = invoke(module_command("porter.validation.devices.presence", "cuda"), 60, tmp_path)
    assert "the wrong one" not in done.output and done.code in (0, 1)
    words = list(module_command("porter.validation.run.worker"))
    words[2] = (
        words[2].split("runpy.run_module")[0] + "import numpy, porter.validation.run.worker, helper; print('ours')"
    )
    assert invoke(words, 60, tmp_path).output == "ours\n"


def test_a_worker_is_not_believed() -> None:
    """What runs kernels and other people's Python could say anything: no code comes out of it, and nothing endless."""
    code = pickle.dumps(_Evil())
    for data in (struct.pack("<Q", len(code)) + code, struct.pack("<Q", 1 << 60), struct.pack("<Q", 4) + b"[[[["):
        with pytest.raises(Garbled):
            Decoder().feed(data)
    for answer in (["step"], ["done", {"sides": 3}], ["other", 1], 7, None, []):
        with pytest.raises(NOT_UNDERSTOOD):
            understood(answer)
    assert understood(["step", ["port", "gfx942", None], "launch", 3]) == (("port", "gfx942", None), "launch", 3.0)


class _Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return os.abort, ()


def test_what_compilers_leave_behind_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with own_temporary_folder():
        (run,) = tmp_path.iterdir()
        subprocess.run(["sh", "-c", 'echo left > "$TMPDIR/preamble-1.pch"'], check=True)
        assert (run / "preamble-1.pch").exists() and lasting_folder() == tmp_path
    assert not list(tmp_path.iterdir()) and os.environ["TMPDIR"] == str(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("body", ["__global__ void k(int* p) { p[threadIdx.x] = 1; }", "#include <vector>\n"])
def test_a_command_leaves_no_temporary_file(tmp_path: Path, body: str) -> None:
    """Not even where worker processes end without a goodbye."""
    (tmp_path / "src").mkdir()
    for number in range(3):
        (tmp_path / f"src/{number}.cu").write_text(f"#include <map>\n{body}\n")
    (tmp_path / "tmp").mkdir()
    command = (sys.executable, "-m", "porter", "port", "src", "-o", "out", "--jobs", "2")
    done = invoke(
        command, 120, tmp_path, {"TMPDIR": str(tmp_path / "tmp"), "PORTER_CACHE_DIR": str(tmp_path / "cache")}
    )
    assert done.ok, done.said
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.slow
def test_a_child_serves_one_crew_after_the_other(tmp_path: Path) -> None:
    """The first one's, for other files, too; and it ends with the last."""
    case = 'grid = 1\nblock = 32\narguments = ["out out: int32[32]"]\nreference = "r.py:filled"\n'
    requests = []
    for value in (3, 4):
        folder = tmp_path / str(value)
        folder.mkdir()
        (folder / "r.py").write_text(f"import numpy\ndef filled(): return numpy.full(32, {value}, numpy.int32)\n")
        source = f"__global__ void k(int* out) {{ out[threadIdx.x] = {value}; }}\n"
        requests.append(Request((write_case(folder, "k", case, source),), devices()))
    with spare_children() as spare:
        used = []
        for request in requests:
            outcome = validate(request, spare=spare)
            assert [case.status.value for case in outcome.report.cases] == ["passed"], outcome
            used.append(list(spare))
        assert used[0] == used[1] and len(used[0]) == 1 and used[0][0].poll() is None
    assert used[0][0].poll() is not None
