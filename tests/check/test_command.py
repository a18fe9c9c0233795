"""`porter check` as users meet it: exit codes, outputs, limits, settings."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from porter.check.history import automatic
from porter.check.limit import Expired, time_limit
from porter.check.store import Store
from tests.check.repositories import REDUCE, SPIN, TEXTURE, commit, git, repository, write
from tests.cli.command import porter


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A cache of its own."""
    return {"PORTER_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose last commit brings work by hand, and a hazard."""
    made = repository(tmp_path / "project", {"reduce.cu": REDUCE})
    commit(made, {"image.cu": TEXTURE, "lock.cu": SPIN})
    return made


def test_exit_codes(root: Path, environment: dict[str, str]) -> None:
    """0 passed, 1 failed, 2 unusable; the result is on stdout, and the last line says what it came to."""
    failed = porter("check", "--since", "HEAD~1", folder=root, environment=environment)
    assert failed.code == 1
    assert failed.stdout.splitlines()[-1].startswith("failed: ")
    assert "image.cu:4:" in failed.stdout
    passed = porter("check", "--since", "HEAD", folder=root, environment=environment)
    assert (passed.code, passed.stdout.splitlines()[-1]) == (0, "passed")
    wrong = porter("check", "--since", "no-such-branch", folder=root, environment=environment)
    assert wrong.code == 2
    assert "fetch-depth 0" in wrong.stderr
    assert porter("check", "nowhere", folder=root, environment=environment).code == 2
    (root / ".porter-baseline.json").write_text("<<<<<<< ours\n")
    assert "middle of a merge" in porter("check", folder=root, environment=environment).stderr


def test_one_run_writes_many_formats(root: Path, environment: dict[str, str]) -> None:
    """Each to its file, and text on stdout."""
    given = ("check", "-o", "sarif=a.sarif", "-o", "junit=a.xml", "-o", "markdown=a.md", "-o", "json=a.json")
    assert porter(*given, folder=root, environment=environment).code == 1
    assert json.loads((root / "a.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((root / "a.json").read_text())["schema"] == "porter-check-1"
    assert "<testsuites" in (root / "a.xml").read_text()
    assert "### porter check: failed" in (root / "a.md").read_text()
    bad = porter("check", "-o", "pdf=a.pdf", folder=root, environment=environment)
    assert bad.code == 2
    assert "FORMAT=FILE" in bad.stderr


def test_settings_are_those_of_the_project(root: Path, environment: dict[str, str]) -> None:
    """`fail_on` and `baseline` from porter.toml; the command line wins."""
    write(root, {"porter.toml": 'fail_on = "hazard"\nbaseline = "gaps/accepted.json"\n', "gaps/x": ""})
    assert "lock.cu" in porter("check", folder=root, environment=environment).stdout.splitlines()[0]
    assert porter("check", "--update-baseline", folder=root, environment=environment).code == 0
    assert "S102" in (root / "gaps" / "accepted.json").read_text()
    assert porter("check", folder=root, environment=environment).code == 0
    assert porter("check", "--fail-on", "manual", folder=root, environment=environment).code == 1


def test_nothing_of_the_repository_is_run(root: Path, environment: dict[str, str]) -> None:
    """Neither its build files, nor hooks and monitors of git that it could bring along."""
    spy = root / "spy.sh"
    spy.write_text(f"#!/bin/sh\ntouch {root}/ran\n")
    spy.chmod(0o755)
    write(root, {"setup.py": f"open({str(root / 'ran')!r}, 'w')\n", "conftest.py": "raise SystemExit\n"})
    git(root, "config", "core.fsmonitor", str(spy))
    git(root, "config", "core.hooksPath", str(root))
    assert porter("check", "--since", "HEAD~1", folder=root, environment=environment).code == 1
    assert not (root / "ran").exists()


def test_a_time_limit() -> None:
    """It stops what takes longer, and leaves no timer behind."""
    with pytest.raises(Expired, match="not finished after"), time_limit(0.05):
        time.sleep(5)
    with time_limit(0.2):
        pass
    time.sleep(0.3)


def test_a_damaged_store_is_forgotten(tmp_path: Path) -> None:
    """A file that is no database costs time, not the check."""
    path = tmp_path / "known.sqlite"
    path.write_bytes(b"not a database" * 100)
    store = Store(path)
    store.put({"a": "b"})
    store.save()
    assert Store(path).get(["a", "c"]) == {"a": "b"}
    assert Store(None).get(["a"]) == {}


@pytest.mark.parametrize(
    ("surroundings", "wanted"),
    [
        ({}, "HEAD"),
        ({"GITHUB_BASE_REF": "main"}, "origin/main"),
        ({"GITHUB_BASE_REF": ""}, "HEAD"),
        ({"CI_MERGE_REQUEST_DIFF_BASE_SHA": "abc"}, "abc"),
        ({"PRE_COMMIT_FROM_REF": "v1", "GITHUB_BASE_REF": "main"}, "v1"),
    ],
)
def test_the_base_that_ci_names(surroundings: dict[str, str], wanted: str) -> None:
    """`--since auto`."""
    assert automatic(surroundings) == wanted
