"""What gets installed is all that is needed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.kept import folder_made_by

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"porter": "porter", "rules": "porter/rules", "validation": "porter/validation"}


@pytest.mark.slow
def test_a_wheel_holds_every_file(tmp_path: Path) -> None:
    """Code and data of the three folders under their import names, and nothing at the top besides."""
    source = tmp_path / "source"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]

    def fill(folder: Path) -> None:
        subprocess.run([*command, "-w", folder, source], check=True, capture_output=True)

    said = (path.read_bytes() for path in sorted(source.iterdir()) if path.is_file())
    (wheel,) = folder_made_by(fill, *command, *said, version("setuptools"), version("pip")).glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {
        f"{place}/{path.relative_to(source / name).as_posix()}"
        for name, place in FOLDERS.items()
        for path in (source / name).rglob("*")
        if path.is_file()
    }
    assert wanted - held == set()
    assert {name.partition("/")[0] for name in held} == {"porter"}
