"""`--build` and `--validate`: what a change touches is compiled and run, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from porter.check.proofs import Touched, build_touched, python_files, validate_touched
from porter.check.result import Step
from porter.cpp.include_graph import include_graph
from porter.cpp.prescan import scan
from porter.project.discovery import is_code
from porter.settings import Choices
from tests.check.repositories import REDUCE, write

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "elementwise"


def touched(root: Path, kernels: set[str], files: set[str] | None) -> Touched:
    """A change of some files."""
    code = [path for path in root.rglob("*") if path.is_file() and is_code(path.name)]
    graph = include_graph({p.relative_to(root).as_posix(): scan(p.read_bytes(), lambda _: True) for p in code})
    return Touched(root, Choices(), 1, frozenset(kernels), None if files is None else frozenset(files), graph.reachable)


@pytest.mark.slow
def test_only_sources_with_changed_kernels_are_built(tmp_path: Path) -> None:
    """What does not compile is told with the compiler's message; a file that nobody touched is not built."""
    broken = "__global__ void broken(float *x) { x[0] = not_there(x); }\n"
    write(tmp_path, {"reduce.cu": REDUCE, "broken.cu": broken, "untouched.cu": broken})
    good = build_touched(touched(tmp_path, {"reduce.cu"}, {"reduce.cu"}))
    if good.step is Step.NOT_RUN:
        pytest.skip(good.reason)
    assert good.step is Step.PASSED, good
    assert [subject["name"] for subject in good.subjects] == ["reduce.cu for gfx942"]
    bad = build_touched(touched(tmp_path, {"broken.cu"}, {"broken.cu"}))
    assert bad.step is Step.FAILED
    assert "not_there" in bad.subjects[0]["message"]
    assert build_touched(touched(tmp_path, set(), {"README.md"})).reason == "no kernel changed"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A sample with its cases, beside another file."""
    shutil.copytree(SAMPLE, tmp_path / "elementwise")
    (tmp_path / "other.cu").write_text(REDUCE)
    return tmp_path


def chosen(monkeypatch: pytest.MonkeyPatch, root: Path, files: set[str] | None) -> list[str]:
    """Names of the cases that would run."""
    from porter.validation.run import plan as module

    ran: list[str] = []

    def pretend(request: Any, progress: object = None) -> object:
        ran.extend(request.names)
        return module.Outcome(module.ValidateReport(()))

    monkeypatch.setattr(module, "validate", pretend)
    validate_touched(touched(root, set(), files))
    return sorted(ran)


def test_cases_run_whose_files_changed(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    """A source, a header that it includes, the reference, or the case itself; and no other file."""
    everything = chosen(monkeypatch, project, None)
    assert everything
    assert chosen(monkeypatch, project, {"other.cu", "README.md"}) == []
    for name in sorted(path.name for path in (project / "elementwise").iterdir() if path.suffix in (".cu", ".toml")):
        assert chosen(monkeypatch, project, {f"elementwise/{name}"}) == everything, name
    source = next((project / "elementwise").glob("*.cu"))
    source.write_text('#include "helper.cuh"\n' + source.read_text())
    (project / "elementwise" / "helper.cuh").write_text("#pragma once\n")
    assert chosen(monkeypatch, project, {"elementwise/helper.cuh"}) == everything


def test_imports_of_a_reference_are_followed(tmp_path: Path) -> None:
    """Modules beside it, however often they import one another; nothing is run."""
    write(
        tmp_path,
        {
            "reference.py": "import helper\nfrom sub.tool import f\nraise SystemExit\n",
            "helper.py": "import reference, numpy\n",
            "sub/tool.py": "",
            "other.py": "",
        },
    )
    found = [path.relative_to(tmp_path).as_posix() for path in python_files(tmp_path / "reference.py")]
    assert sorted(found) == ["helper.py", "reference.py", "sub/tool.py"]


@pytest.mark.slow
def test_a_case_really_runs(project: Path) -> None:
    """The sample's cases pass on the virtual device, or say why they cannot be run."""
    proof = validate_touched(touched(project, set(), {"elementwise/elementwise.cu"}))
    if proof.step is Step.NOT_RUN:
        pytest.skip(proof.reason)
    assert proof.step is Step.PASSED, proof
    assert proof.subjects
