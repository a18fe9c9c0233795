"""`--cluster SPEC`: where tasks are done."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.errors import Unusable

_ADDRESS = re.compile(r"(?:tcp|tls|ucx|ws|wss|inproc)://.+")
HELP = "Where the tasks are done: local, dask:local, or a Dask scheduler, dask:tcp://HOST:PORT (tls:// too)."


@dataclass(frozen=True)
class ClusterSpec:
    """Where: this machine's cores, a cluster that is started for the run, or a scheduler that runs."""

    kind: str = "local"
    """`local`, `dask-local` or `dask`."""
    address: str = ""

    @property
    def is_remote(self) -> bool:
        """Whether files have to travel."""
        return self.kind != "local"


def cluster_spec(text: str) -> ClusterSpec:
    """The words of the option; raises Unusable."""
    if text == "local":
        return ClusterSpec()
    engine, _, rest = text.partition(":")
    if engine == "dask" and rest == "local":
        return ClusterSpec("dask-local")
    if engine == "dask" and _ADDRESS.fullmatch(rest):
        return ClusterSpec("dask", rest)
    raise Unusable(f"--cluster {text}: local, dask:local, dask:tcp://HOST:PORT or dask:tls://HOST:PORT")
