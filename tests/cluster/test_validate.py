"""`porter validate` and `porter build` on this machine, with a store, and on a cluster: the same document."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from porter.validation.devices.core.hostcc import fingerprint
from porter.validation.toolchain.invoke import invoke

from porter.system.cache import kept_folder
from porter.system.results import Store
from tests import folders
from tests.cluster.running import end, scheduler, start_worker, until_there
from tests.later import needs_installed
from tests.validate.running import devices

needs_installed("distributed")
pytestmark = pytest.mark.slow
_COMPILED = ("bitcode", "builds", "host", "precompiled", "remembered", "translated", "units")
SAMPLES = Path(__file__).resolve().parents[2] / "samples"
REFERENCE = """
def reference_axpby(x, y, alpha, beta):
    return alpha * x.astype("float64") + beta * y.astype("float64")
"""
"""The sample's own without PyTorch, which each process would import."""


def _porter(folder: Path, cache: Path, *words: str) -> str:
    command = (sys.executable, "-m", "porter", "--quiet", *words)
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        timeout=3000,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "PORTER_CACHE_DIR": str(cache), **_kept()},
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.decode()


def _kept() -> dict[str, str]:
    names = ("CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "PORTER_CLANG", "PORTER_NVCC", "PORTER_ROCM_HEADERS", "LANG")
    return {name: os.environ[name] for name in names if name in os.environ}


def _timeless(text: str) -> str:
    text = re.sub(r'("seconds"): [0-9.e-]+', r"\1: 0", text)
    return re.sub(r'("reused"): (?:\w+)', r"\1: 0", text)


def _can_hide() -> bool:
    return invoke(("unshare", "-m", "true"), 10).ok


@dataclass(frozen=True)
class _Home:
    """A project, and what `porter validate` says of one case of it without a cluster."""

    folder: Path
    cache: Path
    words: tuple[str, ...]
    plain: str

    def on(self, address: str, store: str) -> str:
        """What it says with one."""
        return _porter(self.folder, self.cache, *self.words, "--cluster", f"dask:{address}", "--store", store)


@pytest.fixture(scope="module")
def home(module_path: Path) -> _Home:
    """The case is named by a relative path; time limits are such that a machine with other work passes, too."""
    devices()
    folder = module_path / "home"
    cache = _cache("client")
    shutil.copytree(SAMPLES / "elementwise", folder / "elementwise", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "elementwise" / "reference.py").write_text(REFERENCE)
    name = re.findall(r'name = "(\w+)"', (folder / "elementwise/elementwise.case.toml").read_text())[0]
    limits = ("--timeout", "900", "--build-timeout", "1800")
    words = ("validate", "elementwise", "--case", name, "--format", "json", "-j", "1", *limits)
    plain = _porter(folder, cache, *words)
    assert json.loads(plain)["totals"]["passed"] == 1
    return _Home(folder, cache, words, plain)


def _cache(owner: str) -> Path:
    """One of its own, as another machine has it; what its compilers made is that of earlier runs."""
    place = kept_folder("tests") / f"{owner}-{fingerprint(os.environ[folders.VARIABLE])[:8]}"
    place.mkdir(mode=0o700, exist_ok=True)
    for path in place.iterdir():
        if path.name not in _COMPILED:
            folders.remove(path) if path.is_dir() else path.unlink()
    return place


def _hidden(folder: Path) -> tuple[str, ...]:
    """Before a worker's command: it does not see the client's files, where that can be had."""
    hide = f'mount -t tmpfs none {folder} && exec "$@"'
    return ("unshare", "-m", "sh", "-c", hide, "sh") if _can_hide() else ()


def test_the_document_is_the_same_whatever_the_cluster(home: _Home, tmp_path: Path) -> None:
    """One worker, with its own cache and without the client's files."""
    store = tmp_path / "run.sqlite"
    with scheduler() as address:
        own = {"PORTER_CACHE_DIR": str(_cache("worker"))}
        worker = start_worker(address, environment=own, before=_hidden(home.folder))
        try:
            until_there(address, 1)
            remote = home.on(address, str(store))
        finally:
            end(worker)
    assert _timeless(remote) == _timeless(home.plain)
    with Store(store, read_only=True) as read:
        (document,) = read.documents()
    assert _timeless(json.dumps(document)) == _timeless(json.dumps(json.loads(home.plain)))


def test_a_worker_without_compilers_runs_what_another_compiled(home: _Home, tmp_path: Path) -> None:
    """One compiles and then runs nothing, the other has a C compiler alone: the document is the same."""
    (tmp_path / "bin").mkdir()
    runner = _cache("runner")
    for name in ("gcc", "as", "ld", "git", "unshare", "sh", "mount"):
        for found in [path for path in (Path("/bin", name), Path("/usr/bin", name)) if path.exists()][:1]:
            (tmp_path / "bin" / name).symlink_to(found)
    gcc = str(tmp_path / "bin" / "gcc")
    if not Path(gcc).exists():
        pytest.skip("no gcc")
    bare = {
        "PATH": str(tmp_path / "bin"),
        "PORTER_HOST_CC": gcc,
        "PORTER_CLANG": "",
        "PORTER_NVCC": "",
        "ROCM_PATH": "",
    }
    bare |= {"CUDA_HOME": "", "CUDA_PATH": "", "PORTER_CACHE_DIR": str(runner)}
    store = tmp_path / "run.sqlite"
    with scheduler() as address:
        theirs = {"PORTER_CACHE_DIR": str(_cache("builder"))}
        started = [start_worker(address, "--refuses", "validate", environment=theirs, before=_hidden(home.folder))]
        started.append(start_worker(address, environment=bare, before=_hidden(home.folder)))
        try:
            until_there(address, 2)
            remote = home.on(address, str(store))
        finally:
            for worker in started:
                end(worker)
    assert _timeless(remote) == _timeless(home.plain)
    built = list((tmp_path / "run.sqlite-built").iterdir())
    assert built
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == path.name for path in built)
    assert not list(runner.glob("builds/*/*/device.s"))


def test_a_build_is_the_same_with_a_store(tmp_path: Path) -> None:
    home, cache = tmp_path / "home", _cache("alone")
    shutil.copytree(SAMPLES / "elementwise", home / "elementwise")
    _porter(home, cache, "port", "elementwise", "-o", "out")
    words = ("build", "out", "--format", "json", "-j", "1")
    plain: dict[str, Any] = json.loads(_timeless(_porter(home, cache, *words)))
    stored: dict[str, Any] = json.loads(_timeless(_porter(home, cache, *words, "--store", "run.sqlite")))
    assert plain == stored
    assert plain["units"]
