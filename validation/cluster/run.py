"""Runs with a store: on this machine's cores or on a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from porter.validation.cluster.backend import Backend, LocalBackend
from porter.validation.cluster.engine import Kind, Progress, digest_of, do_all
from porter.validation.cluster.identity import Identity
from porter.validation.cluster.spec import ClusterSpec
from porter.validation.devices import registry
from porter.validation.run.codec import plain
from porter.validation.toolchain.store import prune

from porter.errors import Unusable
from porter.system.cache import cache_folder
from porter.system.results import Store


@dataclass(frozen=True)
class Where:
    """Where tasks are done, and what their results stream into."""

    spec: ClusterSpec = field(default_factory=ClusterSpec)
    jobs: int = 1
    store: Path | None = None
    progress: Progress | None = None
    say: Callable[[str], None] = lambda _: None
    patience: float = 60.0
    """Seconds without a worker after which a run ends."""

    @property
    def is_plain(self) -> bool:
        """Whether a run needs nothing of all this."""
        return not self.spec.is_remote and self.store is None


@dataclass(frozen=True)
class Ready:
    """A place that does tasks, with the devices that it has."""

    backend: Backend
    devices: tuple[str, ...]
    why_not: Mapping[str, str | None]
    has_runners: bool = False
    """Whether there are workers that compile nothing, but run what others compiled."""


def store_at(where: Where, kind: str, request: object) -> Path:
    """The store: the one that is named, or one in the cache that the same command finds again."""
    if where.store is not None:
        return where.store
    name = digest_of([kind, str(Path.cwd()), plain(request)])[:24]
    return cache_folder() / "runs" / f"{kind}-{name}.sqlite"


@contextlib.contextmanager
def ready(
    where: Where, store: Store, kind: str, wanted: Sequence[str], asked: Sequence[str] = (), *, must: bool = True
) -> Iterator[Ready]:
    """A backend for a run; `wanted` are the devices that it should have, one of them it must; `asked` are told of."""
    prune()
    names = tuple(dict.fromkeys((*wanted, *asked)))
    has_runners = False
    if not where.spec.is_remote:
        why = {name: registry.why_not_asked(name) for name in names}
        backend: Backend = LocalBackend(where.jobs)
        devices = tuple(name for name in wanted if why[name] is None)
    else:
        from porter.validation.cluster.dask_backend import DaskBackend

        seen: dict[str, tuple[str, str | None]] = {}

        def told(address: str, who: Identity, refused: str | None) -> None:
            seen[address] = (who.host, refused)
            store.worker(kind, address, who.host, refused, plain(who))

        remote = DaskBackend(where.spec, where.jobs, names, wanted, told, where.say, patience=where.patience)
        backend, devices, why = remote, remote.devices, dict(remote.identity.devices)
        has_runners = remote.has_runners
    try:
        if must and wanted and not devices:
            reasons = "; ".join(f"{name}: {why[name]}" for name in wanted)
            raise Unusable(f"no device can be used {'on the workers' if where.spec.is_remote else 'here'}: {reasons}")
        yield Ready(backend, devices, why, has_runners)
    finally:
        backend.close()


def do_run(kind: Kind, store: Store, place: Ready, where: Where, needs: Sequence[str] = ()) -> None:
    """All tasks of a run."""
    do_all(kind, store, place.backend, needs, where.progress, where.say)
