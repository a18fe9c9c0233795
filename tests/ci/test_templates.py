"""pre-commit, the GitHub Action and the GitLab job: valid for their own tools, and run as those would."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from porter.buildfiles.mentions import BEGINNINGS, NAMES, SUFFIXES, TEMPLATES, kind_of_build
from porter.project.discovery import CODE_SUFFIXES, is_code
from tests.check.repositories import ENVIRONMENT, REDUCE, SPIN, commit, git, repository

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
PRE_COMMIT = shutil.which("pre-commit", path=f"{BIN}:{os.environ['PATH']}")
WORKFLOW = re.compile(r"```yaml\n# \.github/workflows.*?\n(.*?)```", re.DOTALL)


def load(path: Path) -> Any:
    """A YAML file."""
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("schema", "path"), [("vendor.github-actions", "action.yml"), ("vendor.gitlab-ci", "docs/ci/gitlab-ci.yml")]
)
def test_the_schema_of_the_host_is_met(schema: str, path: str) -> None:
    """Against the schemas that come with check-jsonschema."""
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed")
    options = ["--data-transform", "gitlab-ci"] if "gitlab" in schema else []
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *options, str(ROOT / path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_of_the_docs_is_valid(tmp_path: Path) -> None:
    """What people copy is a workflow, and gives the Action only inputs that it has."""
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed")
    found = WORKFLOW.search((ROOT / "docs" / "ci.md").read_text("utf-8"))
    assert found is not None
    (tmp_path / "porting.yml").write_text(found[1])
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, str(tmp_path / "porting.yml")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    step = load(tmp_path / "porting.yml")["jobs"]["porter"]["steps"][1]
    inputs = load(ROOT / "action.yml")["inputs"]
    assert step["with"].keys() <= inputs.keys()
    table = re.findall(r"^\| `([a-z-]+)`", (ROOT / "docs" / "ci.md").read_text("utf-8"), re.MULTILINE)
    assert set(inputs) - set(table) <= {"token", "comment"}


# -- the Action ---------------------------------------------------------------------------------------


class Runner:
    """Does what a runner does with the steps of a composite action that are shell scripts."""

    def __init__(self, folder: Path, project: Path, inputs: dict[str, str], path: str) -> None:
        self.action = load(ROOT / "action.yml")
        self.folder = folder
        self.project = project
        self.inputs = {name: str(one.get("default", "")) for name, one in self.action["inputs"].items()} | inputs
        self.outputs: dict[str, dict[str, str]] = {}
        self.environment = {
            **ENVIRONMENT,
            "PATH": path,
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_BASE_REF": "main",
        }
        (folder / "temp").mkdir(parents=True)

    def expanded(self, text: str) -> str:
        """An expression's value; those of the runner's own context that the action uses, and no others."""
        known = {f"inputs.{name}": value for name, value in self.inputs.items()}
        known |= {f"steps.{s}.outputs.{n}": v for s, found in self.outputs.items() for n, v in found.items()}
        known |= {
            "github.repository": "owner/name",
            "github.event.pull_request.number": "7",
            "inputs.package || github.action_path": self.inputs["package"] or str(self.folder / "action"),
        }
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: known[match[1]], text)

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """One step, with `bash -e` as the host starts it."""
        step = next(step for step in self.action["runs"]["steps"] if step["name"] == name)
        assert "${{" not in step["run"], "expressions inside scripts could be forged"
        files = {f"GITHUB_{key}": self.folder / key.lower() for key in ("OUTPUT", "ENV", "STEP_SUMMARY")}
        for path in files.values():
            path.touch()
        environment = self.environment | {key: str(path) for key, path in files.items()}
        environment |= {key: self.expanded(str(value)) for key, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        for line in files["GITHUB_ENV"].read_text().splitlines():
            self.environment.update([tuple(line.split("=", 1))])  # type: ignore[list-item]
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        self.outputs[step.get("id", name)] = dict(line.split("=", 1) for line in lines)  # type: ignore[misc]
        return done


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A branch that brings a hazard."""
    root = repository(tmp_path / "project", {"reduce.cu": REDUCE})
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    commit(root, {"lock.cu": SPIN})
    return root


def with_porter(temp: Path) -> None:
    """Stands for the step that installs, where that was tested already."""
    (temp / "porter" / "bin").mkdir(parents=True)
    script = temp / "porter" / "bin" / "porter"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m porter "$@"\n')
    script.chmod(0o755)


def test_the_action_fails_on_a_hazard(tmp_path: Path, project: Path) -> None:
    """Annotations, a summary, SARIF, one comment that is updated, and the exit code at the end."""
    tools = tmp_path / "tools"
    tools.mkdir()
    calls = tmp_path / "calls"
    known = tmp_path / "id"
    known.write_text("")
    gh = f'#!/bin/sh\necho "$@" >> "{calls}"\ncase "$*" in *--paginate*) cat "{known}";; esac\n'
    (tools / "gh").write_text(gh)
    (tools / "gh").chmod(0o755)
    runner = Runner(tmp_path / "runner", project, {"fail-on": "hazard"}, f"{tools}:{os.environ['PATH']}")
    with_porter(tmp_path / "runner" / "temp")
    checked = runner.run("Check")
    assert checked.returncode == 0, checked.stderr
    assert "::error file=lock.cu,line=3" in checked.stdout
    assert runner.outputs["check"]["passed"] == "false"
    sarif = json.loads(Path(runner.outputs["check"]["sarif-file"]).read_text())
    assert [one["ruleId"] for one in sarif["runs"][0]["results"]] == ["S102"]
    assert "### porter check: failed" in (tmp_path / "runner" / "step_summary").read_text()
    assert runner.run("Comment").returncode == 0
    known.write_text("41\n")
    assert runner.run("Comment").returncode == 0
    posted, patched = [line for line in calls.read_text().splitlines() if "--method" in line]
    assert "--method POST repos/owner/name/issues/7/comments" in posted
    assert "--method PATCH repos/owner/name/issues/comments/41" in patched
    assert runner.run("Result").returncode == 1


def test_the_action_passes(tmp_path: Path, project: Path) -> None:
    """Nothing new of the kind that fails: the result is 0."""
    commit(project, {"lock.cu": "// gone\n"})
    runner = Runner(tmp_path / "runner", project, {}, os.environ["PATH"])
    with_porter(tmp_path / "runner" / "temp")
    assert runner.run("Check").returncode == 0
    assert runner.outputs["check"]["passed"] == "true"
    assert runner.run("Result").returncode == 0


def test_wrong_inputs_end_the_action(tmp_path: Path, project: Path) -> None:
    """A base that is not there is the step's failure, not a finding; inputs are never taken for options."""
    runner = Runner(tmp_path / "runner", project, {"since": "nowhere"}, os.environ["PATH"])
    with_porter(tmp_path / "runner" / "temp")
    assert runner.run("Check").returncode == 2
    runner = Runner(tmp_path / "other", project, {"path": "--update-baseline"}, os.environ["PATH"])
    with_porter(tmp_path / "other" / "temp")
    assert runner.run("Check").returncode == 2
    assert not (project / ".porter-baseline.json").exists()


@pytest.mark.slow
def test_the_action_installs_porter(tmp_path: Path, project: Path) -> None:
    """The step makes an environment in which the command runs; its dependencies are those of this one."""
    action = tmp_path / "runner" / "action"
    for name in ("porter", "rules", "validation"):
        shutil.copytree(ROOT / name, action / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copy(ROOT / name, action)
    runner = Runner(tmp_path / "runner", project, {}, os.environ["PATH"])
    site = next(path for path in sys.path if path.endswith("site-packages"))
    runner.environment |= {"PYTHONPATH": site, "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    runner.environment |= {"PIP_NO_COMPILE": "1", "CFLAGS": "-O0"}  # it runs once
    installed = runner.run("Install")
    assert installed.returncode == 0, installed.stderr
    assert runner.environment["PORTER_CACHE_DIR"].endswith("/porter-cache")
    assert runner.run("Check").returncode == 0
    assert runner.outputs["check"]["passed"] in ("true", "false")


# -- pre-commit ---------------------------------------------------------------------------------------


@pytest.fixture
def hooked(tmp_path: Path) -> Path:
    """A repository with the hook from our manifest, run with the porter of this environment."""
    if PRE_COMMIT is None:
        pytest.skip("pre-commit is not installed")
    manifest = {".pre-commit-hooks.yaml": (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")}
    hooks = repository(tmp_path / "hooks", manifest)
    revision = git(hooks, "rev-parse", "HEAD")
    configuration = {
        "repos": [
            {
                "repo": str(hooks),
                "rev": revision,
                "hooks": [{"id": "porter-check", "language": "system", "args": ["--fail-on", "hazard"]}],
            }
        ]
    }
    return repository(
        tmp_path / "project",
        {".pre-commit-config.yaml": yaml.safe_dump(configuration), "reduce.cu": REDUCE, "notes.txt": "x\n"},
    )


def looked_at() -> list[str]:
    """Names of files that the gate looks at, from the tables."""
    names = [f"src/a{suffix}" for suffix in sorted(CODE_SUFFIXES | SUFFIXES.keys())]
    names += [f"a{suffix}.in" for suffix, kind in SUFFIXES.items() if kind in TEMPLATES]
    names += [*NAMES, *(f"sub/{name}" for name in NAMES), *(begin + "x" for begin, _ in BEGINNINGS)]
    names += [
        "a.tcu",
        "a.cuknl",
        "a.cuhh",
        "a.cukernels",
        "b.cpp.cuda",
        "b.hpp.in",
        "A.CU",
        "src/SConstruct",
        "CMakeLists.txt",
    ]
    names += ["requirements.txt", "requirements/requirements-gpu.in", "environment.yml", "ci/cuda-environment.yaml"]
    names += ["conda/all_cuda-128_arch-x86_64.yaml"]
    assert all(is_code(name) or kind_of_build(name) is not None for name in names)
    return [*names, ".porter-baseline.json", "sub/porter.toml", ".gitmodules"]


def test_the_hooks_see_every_file_that_the_gate_looks_at() -> None:
    """And start for no other, which would cost each commit to the documents a second."""
    for hook in load(ROOT / ".pre-commit-hooks.yaml"):
        pattern = re.compile(hook["files"])
        assert [name for name in looked_at() if pattern.search(name) is None] == []
        others = ("README.md", "docs/build.md", "notes.txt", "a.json", "makefiles.md", "a.hs", "data.in", "x.case.toml")
        assert [name for name in others if is_code(name) or kind_of_build(name) is not None] == []
        assert [name for name in others if pattern.search(name) is not None] == []


def test_the_documented_suffixes_are_those_of_the_table() -> None:
    text = (ROOT / "docs" / "usage.md").read_text("utf-8")
    line = re.search(r"^Files ending in `([^`]+)`", text, re.MULTILINE)
    assert line is not None
    assert set(line[1].split()) == CODE_SUFFIXES


def pre_commit(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`pre-commit run` with a home of its own."""
    environment = {
        **ENVIRONMENT,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(root.parent / "pre-commit"),
    }
    assert PRE_COMMIT is not None
    command = [PRE_COMMIT, "run", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_the_hook_in_pre_commit(hooked: Path) -> None:
    """It looks at what is staged, and only when code is; then a commit with a hazard does not go through."""
    (hooked / "notes.txt").write_text("y\n")
    git(hooked, "add", "notes.txt")
    assert "Skipped" in pre_commit(hooked).stdout
    (hooked / "reduce.cu").write_text(REDUCE + "// a comment\n")
    git(hooked, "add", "reduce.cu")
    passed = pre_commit(hooked)
    assert passed.returncode == 0, passed.stdout
    assert "Passed" in passed.stdout
    (hooked / "reduce.cu").write_text(REDUCE + SPIN)
    assert pre_commit(hooked).returncode == 0, "not staged"
    git(hooked, "add", "reduce.cu")
    failed = pre_commit(hooked)
    assert failed.returncode == 1
    assert "reduce.cu:16:" in failed.stdout
    commit(hooked)
    assert pre_commit(hooked, "--from-ref", "HEAD~1", "--to-ref", "HEAD").returncode == 1
    assert pre_commit(hooked, "--all-files").returncode == 0, "nothing is new against HEAD"
