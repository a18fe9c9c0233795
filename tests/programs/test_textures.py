"""Arrays, texture and surface objects of a program: of the device for the original, plain memory for the port."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.programs.launch import run_program
from porter.validation.programs.outcome import Verdict

SAID = """\
linear: 0 0.5 9.5 10 9
wrap: 5 5 9 13 1
pitch: 0.470588 0.509804 0.54902 0.588235 0.627451 0.666667 0.705882 0.745098 0.784314 0.823529 0.862745 0.901961
fetch: 0 7 -8 9 -10 0
refused: {invalid}
longer: 0 7 -8 9 -10
copy: {ok}
layers: 1 6 11
copy: {ok}
depth: 5 5 5
surface: 4 10 23
freed: {ok}
PASS
"""


@pytest.mark.slow
def test_objects_over_all_kinds_of_memory(textures: Path) -> None:
    is_original = textures.parent.name == "original"
    prefix = "cuda" if is_original else "hip"
    run = run_program(["./textures"], folder=textures.parent, keep=True)
    assert run.output.decode() == SAID.format(invalid=f"{prefix}ErrorInvalidValue", ok=f"{prefix}Success")
    assert not run.account.unsupported
    # the port's own functions refuse without the runtime
    assert run.verdict is (Verdict.IGNORED_ERROR if is_original else Verdict.PASSED)


@pytest.mark.slow
def test_texels_behind_the_memory_fault_when_read(textures: Path) -> None:
    run = run_program(["./textures", "beyond"], folder=textures.parent, keep=True)
    assert run.verdict is Verdict.FAULT and "0 bytes after the end of device memory" in run.reason
    if textures.parent.name == "original":
        assert any("32 bytes are described, the memory has 16" in note.text for note in run.account.notes)
