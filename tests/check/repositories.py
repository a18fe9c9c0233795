"""Scratch git repositories, and checks of them without a command line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from porter.check.fail_on import FailOn
from porter.check.gate import CheckRequest, check
from porter.check.result import CheckResult
from porter.check.store import Store
from porter.settings import Choices

ENVIRONMENT = {
    **os.environ,
    **{f"GIT_{who}_{what}": "porter@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "maintenance.auto",  # which every commit would start a process for
    "GIT_CONFIG_VALUE_0": "false",
}

REDUCE = """\
#include <cuda_runtime.h>

template <typename T>
__device__ T sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void reduce(const float *in, float *out, int n) {
  float value = threadIdx.x < n ? in[threadIdx.x] : 0.0f;
  value = sum(value);
  if (threadIdx.x == 0) *out = value;
}
"""
"""Ported without anything left to do."""

SPIN = """
__global__ void locked(int *lock, int *value) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *value += 1;
  atomicExch(lock, 0);
}
"""
"""A lane that waits for another one of its wavefront: S102."""

TEXTURE = """
__global__ void look_up(cudaTextureObject_t image, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = texCubemap<float>(image, i, 0, 0);
}
"""
"""Cube maps, which neither gfx942 nor the port has: A002, by hand."""


def git(folder: Path, *arguments: str) -> str:
    """A git command that has to work."""
    done = subprocess.run(["git", *arguments], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return done.stdout.decode().strip()


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Writes files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def commit(folder: Path, files: Mapping[str, str] | None = None, *gone: str) -> str:
    """Writes and removes files and commits the tree; returns the commit."""
    write(folder, files or {})
    for name in gone:
        (folder / name).unlink()
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "a commit")
    return _head(folder) or git(folder, "rev-parse", "HEAD")


def _head(folder: Path) -> str:
    """What a branch that was committed to just now is at, without a process; empty in a linked work tree."""
    head = folder / ".git" / "HEAD"
    named = head.read_text().strip().removeprefix("ref: ") if head.is_file() else ""
    return (folder / ".git" / named).read_text().strip() if named.startswith("refs/heads/") else named


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A new repository with one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, files)
    return folder


def checked(
    folder: Path,
    since: str | None = None,
    fail_on: FailOn = FailOn.REVIEW,
    store: Store | None = None,
    *,
    update_baseline: bool = False,
    **choices: object,
) -> CheckResult:
    """What the gate says; no bug of ours may come up."""
    settings = replace(Choices(), **choices)  # type: ignore[arg-type]
    request = CheckRequest(folder, settings, 1, fail_on, since, update_baseline=update_baseline)
    answer = check(request, store or Store(None))
    assert not answer.crashes, answer.crashes
    return answer.result


def told(result: CheckResult) -> list[tuple[str, str]]:
    """Code and file of what fails."""
    return sorted((finding.code, finding.path) for finding in result.failing)
