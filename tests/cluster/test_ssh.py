"""Dask's SSHCluster against an SSH server of this machine: what docs/scale.md says of ssh, executed."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from porter.validation.cluster.engine import do_all
from porter.validation.cluster.spec import ClusterSpec, cluster_spec

from porter.system.results import Store
from tests.cluster.running import ROOT, Nothing, end
from tests.later import later, needs_installed

needs_installed("distributed", "asyncssh")
dask_backend = later("porter.validation.cluster.dask_backend")

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[dict[str, Any]]:
    """How to connect to a server that lasts as long."""
    words = [sys.executable, "-m", "tests.cluster.ssh_server", str(folder)]
    process = subprocess.Popen(words, cwd=ROOT, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while not (folder / "port").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        port = int((folder / "port").read_text())
        yield {"port": port, "known_hosts": None, "client_keys": [str(folder / "key")], "username": "porter"}
    finally:
        end(process)


def test_workers_that_ssh_starts_do_the_work(tmp_path: Path) -> None:
    import distributed

    make: Any = distributed
    kind = Nothing(5)
    with _server(tmp_path) as how:
        cluster = dask_backend.with_a_loop(
            lambda: make.SSHCluster(
                ["127.0.0.1", "127.0.0.1"],
                connect_options=how,
                worker_options={"nthreads": 1, "n_workers": 2},
                scheduler_options={"port": 0, "dashboard_address": ":0"},
                remote_python=sys.executable,
            )
        )
        with cluster:
            spec: ClusterSpec = cluster_spec(f"dask:{cluster.scheduler_address}")
            backend = dask_backend.DaskBackend(spec, 1, (), (), lambda *_: None, lambda text: None)
            with Store(tmp_path / "s.sqlite") as store:
                do_all(kind, store, backend)
                backend.close()
                assert len(kind.answers(store)) == 5
