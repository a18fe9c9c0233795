"""`porter validate` and `porter build` on this machine, with a store, and on a cluster: the same document."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from porter.validation.toolchain.invoke import invoke

from porter.system.results import Store
from tests.cluster.running import end, scheduler, start_worker
from tests.validate.running import devices

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def _porter(folder: Path, cache: Path, *words: str) -> str:
    command = (sys.executable, "-m", "porter", "--quiet", *words)
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        timeout=500,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "PORTER_CACHE_DIR": str(cache), **_kept()},
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.decode()


def _kept() -> dict[str, str]:
    import os

    names = ("CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "PORTER_CLANG", "PORTER_NVCC", "PORTER_ROCM_HEADERS", "LANG")
    return {name: os.environ[name] for name in names if name in os.environ}


def _timeless(text: str) -> str:
    text = re.sub(r'("seconds"): [0-9.e-]+', r"\1: 0", text)
    return re.sub(r'("reused"): (?:\w+)', r"\1: 0", text)


def _can_hide() -> bool:
    return invoke(("unshare", "-m", "true"), 10).ok


def test_the_document_is_the_same_whatever_the_cluster(tmp_path: Path) -> None:
    """One worker, with its own cache and without the client's files; the case is named by a relative path."""
    devices()
    home, cache = tmp_path / "home", tmp_path / "cache"
    shutil.copytree(SAMPLES / "elementwise", home / "elementwise")
    words = ("validate", "elementwise", "--case", "saxpy", "--format", "json", "-j", "1")
    names = re.findall(r'name = "(\w+)"', (home / "elementwise/elementwise.case.toml").read_text())
    words = tuple(names[0] if word == "saxpy" else word for word in words)
    plain = _porter(home, cache, *words)
    hide = f'mount -t tmpfs none {home} && exec "$@"'
    before = ("unshare", "-m", "sh", "-c", hide, "sh") if _can_hide() else ()
    with scheduler() as address:
        worker = start_worker(address, environment={"PORTER_CACHE_DIR": str(tmp_path / "theirs")}, before=before)
        try:
            store = home / "run.sqlite"
            remote = _porter(home, cache, *words, "--cluster", f"dask:{address}", "--store", str(store))
        finally:
            end(worker)
    assert json.loads(plain)["totals"]["passed"] == 1
    assert _timeless(remote) == _timeless(plain)
    with Store(store, read_only=True) as read:
        (document,) = read.documents()
    assert _timeless(json.dumps(document)) == _timeless(json.dumps(json.loads(plain)))


def test_a_build_is_the_same_with_a_store(tmp_path: Path) -> None:
    home, cache = tmp_path / "home", tmp_path / "cache"
    shutil.copytree(SAMPLES / "elementwise", home / "elementwise")
    _porter(home, cache, "port", "elementwise", "-o", "out")
    words = ("build", "out", "--format", "json", "-j", "1")
    plain: dict[str, Any] = json.loads(_timeless(_porter(home, cache, *words)))
    stored: dict[str, Any] = json.loads(_timeless(_porter(home, cache, *words, "--store", "run.sqlite")))
    assert plain == stored
    assert plain["units"]
