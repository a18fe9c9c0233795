"""The table of what comes from outside is the only list there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from porter.system.needs import NEEDS, Need, Part, as_markdown, packages

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
SEARCHES = {
    *("porter/system/programs.py", "validation/programs/launch.py"),
    *("tests/ci/test_templates.py", "tests/cli/test_all.py"),
}
"""The one that reads the table, what looks for a program that users name, and a tool of the tests' environment."""


def test_the_document_is_the_table() -> None:
    assert as_markdown() in (ROOT / "docs/needs.md").read_text("utf-8"), "python3 -I porter/system/needs.py --markdown"


@pytest.mark.parametrize("row", NEEDS, ids=lambda row: row.name)
def test_a_row_says_how_to_get_it(row: Need) -> None:
    assert row.remedy and row.purpose and not row.purpose.endswith(".")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert not row.extra or row.extra in extras


def test_nothing_else_searches_the_path() -> None:
    """What is looked for without a row is installed by nobody, and missing without a reason."""
    folders = ("porter", "rules", "validation", "tests", "benchmarks")
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if path != Path(__file__)
        and re.search(r"\bshutil\.which\(|from shutil import .*which", path.read_text("utf-8"))
    }
    assert found == SEARCHES


def _tools(folder: Path, **programs: str) -> dict[str, str]:
    """An environment whose PATH has these scripts, and of the real ones what scripts take for granted."""
    for name, text in programs.items():
        (folder / name.replace("_", "-")).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name.replace("_", "-")).chmod(0o755)
    for name in ("sh", "dirname", "grep", "mktemp", "python3"):
        place = next(Path(p) / name for p in os.environ["PATH"].split(os.pathsep) if (Path(p) / name).exists())
        (folder / name).symlink_to(sys.executable if name == "python3" else place)
    return {"PATH": str(folder)}


def _script(name: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/bin/sh", str(ROOT / "tools" / name)], env=environment, capture_output=True, text=True)


def test_who_is_not_root_is_told_all_of_it(tmp_path: Path) -> None:
    environment = _tools(tmp_path, dpkg_query="exit 1", apt_get="exit 0", id="echo 1000")
    done = _script("install-system-packages.sh", environment)
    assert done.returncode == 0, done.stderr
    assert f"sudo apt-get install {' '.join(packages())}\n" in done.stdout


def test_what_cannot_be_installed_does_not_stop_the_rest(tmp_path: Path) -> None:
    """apt refuses all packages together, and one by one only hipcc; clang-19 is not offered."""
    apt = f'echo "$@" >>{tmp_path}/log; case "$*" in update*) ;; *hipcc*) exit 1 ;; esac'
    offered = 'case "$2" in clang-19) exit 1 ;; esac'
    environment = _tools(tmp_path, dpkg_query="exit 1", apt_get=apt, apt_cache=offered, id="echo 0")
    done = _script("install-system-packages.sh", environment)
    assert done.returncode == 0, done.stderr
    assert "clang-19: not offered" in done.stdout and "hipcc: could not be installed" in done.stdout
    last = [line.split()[-1] for line in (tmp_path / "log").read_text().splitlines()[2:]]
    assert last == [name for name in packages() if name != "clang-19"]


@pytest.mark.parametrize(
    ("programs", "wanted"),
    [({"id": "echo 1000"}, "has to run as root"), ({"id": "echo 0"}, "apt install mmdebstrap")],
)
def test_make_fresh_says_what_it_needs(tmp_path: Path, programs: dict[str, str], wanted: str) -> None:
    done = _script("fresh.sh", _tools(tmp_path, **programs))
    assert done.returncode == 1
    assert wanted in done.stderr


def test_what_a_command_uses_is_in_doctor() -> None:
    from porter.doctor import _outside_checks

    product = {row.name for row in NEEDS if row.part not in (Part.SETUP, Part.TESTS, Part.BY_HAND)}
    assert {check.name for check in _outside_checks()} == product


def test_documents_name_no_other_package() -> None:
    """`apt install` in the documents is followed by packages of the table."""
    files = [*ROOT.glob("*.md"), *(path for path in (ROOT / "docs").rglob("*.md"))]
    named = {
        word
        for path in files
        for line in re.findall(r"apt(?:-get)? install ([^`\n;&|]*)", path.read_text("utf-8"))
        for word in line.split()
        if not word.startswith("-")
    }
    assert named <= {row.debian for row in NEEDS}


@pytest.mark.parametrize("row", [row for row in NEEDS if row.library], ids=lambda row: row.name)
def test_a_library_is_found_and_never_started(row: Need, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is none of the programs that are asked for their version: to run one ends by a signal."""
    from porter.doctor import _outside

    library, started = tmp_path / "libone.so", tmp_path / "started"
    library.write_text(f"#!/bin/sh\ntouch {started}\n")
    library.chmod(0o755)
    monkeypatch.setenv(row.variables[0], str(library))
    assert _outside(row).found == str(library)
    assert not started.exists()
    monkeypatch.setenv(row.variables[0], str(tmp_path / "none"))
    monkeypatch.setattr("porter.system.programs.package_folders", list)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    assert _outside(row).found is None and row.name in _outside(row).remedy
