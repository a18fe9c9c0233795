"""Programs of an outsider: what is reported of each port, and that a few compute what their originals do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from porter.engine.context import build_context
from porter.engine.file import port
from porter.model import Effort
from porter.settings import Choices
from porter.source import SourceFile
from tests.cli.command import porter
from tests.outside import needs
from tests.warp.programs import HEADER, Written, programs, write

ALL = programs()
CONTEXT = build_context(Choices(), ["a.cu"], {})
RUN = ("both_ballot64", "mask_by_count", "warp_exit")


@pytest.mark.parametrize("program", ALL, ids=lambda one: one.name)
def test_what_is_left_to_do(program: Written) -> None:
    done = port(SourceFile("a.cu", program.text.encode()), CONTEXT, "a.hip")
    left = {finding.code for finding in done.findings if finding.effort is not Effort.NONE}
    assert left == set(program.codes)
    assert not done.crashes


def test_each_has_a_name_of_its_own() -> None:
    assert len({one.name for one in ALL}) == len(ALL) == 289
    assert HEADER.is_file()
    assert {one.expected for one in ALL} == {"kept", "told", "right"}


@pytest.mark.slow
@needs("nvcc", "clang++")
def test_ports_compute_what_their_originals_do(tmp_path: Path) -> None:
    write(tmp_path / "src", tuple(one for one in ALL if one.name in RUN))
    done = porter("run", "--compare", "--source", str(tmp_path / "src"), "--format", "json")
    told = {one["name"]: one["verdict"] for one in json.loads(done.stdout)["programs"]}
    assert told == dict.fromkeys(RUN, "agree")
