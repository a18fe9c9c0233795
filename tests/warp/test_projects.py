"""Projects of several files: what is reported of each port, header by header, and that a few compute what they did."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from porter.engine.context import build_context
from porter.engine.file import port
from porter.model import Effort
from porter.settings import Choices
from porter.source import SourceFile
from tests.cli.command import porter
from tests.outside import needs
from tests.warp.projects import HEADER, Project, projects, write

ALL = projects()
CONTEXT = build_context(Choices(), ["main.cu"], {})
RUN = ("mask_by_reference", "near_bitset_class", "persistent_queue")


@pytest.mark.parametrize("project", ALL, ids=lambda one: one.name)
def test_what_is_left_to_do(project: Project) -> None:
    files = {path: SourceFile(path, text.encode()) for path, text in project.files.items()}
    files[HEADER.name] = SourceFile(HEADER.name, HEADER.read_bytes())
    context = replace(CONTEXT, included_file=lambda path, name: files.get(name))
    done = [port(file, context, path.replace(".cu", ".hip")) for path, file in files.items()]
    left = {finding.code for one in done for finding in one.findings if finding.effort is not Effort.NONE}
    assert left == set(project.codes)
    assert not any(one.crashes for one in done)


def test_each_has_a_name_of_its_own() -> None:
    assert len({one.name for one in ALL}) == len(ALL) == 117
    assert {one.expected for one in ALL} == {"kept", "told", "right"}
    assert all(len(one.files) > 1 for one in ALL)


@pytest.mark.slow
@needs("nvcc", "clang++")
def test_ports_compute_what_their_originals_do(tmp_path: Path) -> None:
    write(tmp_path / "src", tuple(one for one in ALL if one.name in RUN))
    done = porter("run", "--compare", "--source", str(tmp_path / "src"), "--format", "json")
    told = {one["name"]: one["verdict"] for one in json.loads(done.stdout)["programs"]}
    assert told == dict.fromkeys(RUN, "agree")
