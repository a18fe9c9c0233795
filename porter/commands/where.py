"""`--cluster` and `--store`, the same for all commands that have them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from porter.errors import Unusable

if TYPE_CHECKING:
    from porter.validation.cluster.run import Where

Cluster: TypeAlias = Annotated[
    str,
    typer.Option(
        "--cluster", metavar="SPEC", help="Who does the work: local, dask:local, or dask:tcp://HOST:PORT (tls:// too)."
    ),
]
StoreFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="FILE", help="SQLite file that results stream into; the same command goes on from it."
    ),
]


def place(cluster: str, store: Path | None, jobs: int, rocm_headers: Path | None = None) -> Where:
    """Where the work is done; Unusable where the options do not fit together."""
    from porter.validation.cluster.run import Where
    from porter.validation.cluster.spec import cluster_spec

    spec = cluster_spec(cluster)
    if spec.is_remote and rocm_headers is not None:
        raise Unusable("--rocm-headers: workers have their own; set PORTER_ROCM_HEADERS there, or run `porter headers`")
    return Where(spec, jobs, store, say=_say)


def _say(text: str) -> None:
    from porter.system.quiet import is_quiet

    if not is_quiet():
        print(f"porter: {text}", file=sys.stderr, flush=True)
