"""benchmarks/golden.py with the virtual device in the place of a GPU: what is recorded is found again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices import presence, registry

from benchmarks import golden


@pytest.mark.slow
def test_recorded_outputs_are_found_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if (reason := registry.why_not("ptx")) is not None:
        pytest.skip(reason)
    assert golden.record(tmp_path, "ptx", "elementwise") == 0
    index = json.loads((tmp_path / "index.json").read_text())
    files = [row["file"] for row in index["trials"] if "file" in row]
    assert files and {row["status"] for row in index["trials"]} == {"passed"} and index["gpu"] is None
    assert golden.compare(tmp_path, "ptx", "elementwise") == 0
    said = capsys.readouterr().out
    assert said.count("at most 0 ulp apart") >= len(files)

    stored = dict(np.load(tmp_path / files[-1]))
    name = next(key for key in stored if not key.endswith(".written"))
    stored[name] = np.nextafter(stored[name], np.inf, dtype=stored[name].dtype)
    np.savez_compressed(tmp_path / files[-1], **stored)
    golden.compare(tmp_path, "ptx", "elementwise")
    assert "at most 1 ulp apart" in capsys.readouterr().out


def test_without_a_gpu_nothing_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if presence.find_gpu("cuda")[0] is None:
        pytest.skip("there is a GPU")
    assert golden.clock() == 1
    assert golden.record(tmp_path, "cuda", "block_reduce") == 1
    assert "not run" in capsys.readouterr().out
