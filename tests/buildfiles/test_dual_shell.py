"""Shell scripts for both vendors: statements stay whole, and each switch calls what it should."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.buildfiles.dual import both_paths
from porter.buildfiles.engine import convert
from porter.buildfiles.sources import Sources
from porter.buildfiles.unit import BuildUnit, Kind
from porter.source import SourceFile

FILES = {
    "branches": 'if [ -n "$A" ]; then\n  F=--use_fast_math\nelse\n  F=-lineinfo\nfi\nnvcc $F a.cu\n',
    "a loop": "for f in a b; do\n  nvcc -lineinfo $f.cu -o $f\ndone\n",
    "a question": "if which nvcc; then\n  nvcc -G a.cu\nfi\nnvcc -lineinfo a.cu\n",
    "a text": "cat <<X\nnvcc -lineinfo\nX\nnvcc -lineinfo a.cu\n",
    "a function": "build() { nvcc -lineinfo $1.cu; }\nbuild a\n",
    "cases": "case b in\n a) F=-lineinfo ;;\n b) F=--use_fast_math ;;\nesac\nnvcc $F a.cu\n",
    "a command that goes on": "nvcc -lineinfo a.cu && \\\n echo done\n",
    "a variable": "NVCC=nvcc\n$NVCC -lineinfo a.cu\n",
    "a quoted variable": 'NVCC="nvcc -O3"\n$NVCC -lineinfo a.cu\n',
    "a variable that asks": "NVCC=$(which nvcc)\n$NVCC -lineinfo a.cu\n",
    "a default": "NVCC=${NVCC:-nvcc}\n$NVCC -lineinfo a.cu\n",
    "a branch in a line": "if true; then nvcc -lineinfo a.cu; else\n nvcc -G a.cu\nfi\n",
    "a condition that compiles": "while ! nvcc -lineinfo a.cu\ndo\n echo no\ndone\n",
}


def said(folder: Path, text: str, **surroundings: str) -> str:
    """What a script calls: each compiler prints its words."""
    for name in ("nvcc", "hipcc"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (folder / name).chmod(0o755)
    (folder / "build.sh").write_text(text)
    path = {"PATH": f"{folder}:/usr/bin:/bin", **surroundings}
    done = subprocess.run(["bash", "build.sh"], cwd=folder, env=path, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", FILES)
def test_each_switch_calls_its_own(tmp_path: Path, name: str) -> None:
    unit = BuildUnit(SourceFile("build.sh", FILES[name].encode()), Kind.SHELL, Sources())
    converted = convert(unit)
    written = both_paths(unit, converted.edits).decode()
    assert said(tmp_path, written) == said(tmp_path, FILES[name])
    amd = said(tmp_path, written, USE_HIP="1")
    assert "-I./porter/hip -include cuda_runtime.h" in amd
    amd = amd.replace('"./porter/hip"', "./porter/hip")
    assert amd.replace(" -I./porter/hip -include cuda_runtime.h", "") == said(tmp_path, converted.data.decode())
    assert all("-I./porter/hip" in line for line in amd.splitlines() if "a.cu" in line)
