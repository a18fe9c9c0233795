"""Tasks on the workers of a Dask cluster: the only user of `distributed`, but for what workers ask it about themselves.

Dask decides which worker does what, moves data between workers and repeats what was lost. Here is what it does not
know: who may work, which trees are where, and which task it was that took its worker with it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from porter.validation.cluster import work
from porter.validation.cluster.backend import Finished
from porter.validation.cluster.identity import Identity, differences, short_identity, why_refused
from porter.validation.cluster.messages import Order, Reply, reply_of
from porter.validation.cluster.spec import ClusterSpec
from porter.validation.cluster.trees import Tree
from porter.validation.devices.registry import RUN
from porter.validation.run.codec import made

from porter.errors import Unusable

DEATHS = 3
"""Workers that a task may take with it before it is set aside."""
_SMALL = 1 << 20
"""A tree of so many bytes goes with its tasks until every worker has it."""
_SECONDS_BETWEEN_LOOKS = 1.0
_MOST_ATTEMPTS = 12
_SLOWNESS = 5
"""Times the patience that a worker has that is there, and has not said yet who it is."""
_KNOWN_TREES = 256
_BATCH = 64
_REMEMBERED_KEYS = 4096
_STARTS = 3
_LOCAL = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.log-length": 100,
    "distributed.scheduler.http.routes": [],
}
"""Of a scheduler that is started here: deaths are told at once, and little is kept."""


def _only_runs(name: str) -> bool:
    """Whether a device is needed for what is compiled already."""
    return name.startswith(RUN)


Told = Callable[[str, Identity, "str | None"], None]
"""Told of each worker: its address, who it is, and why it gets no work."""


@dataclass(eq=False)
class _Pending:
    """A task that was asked for, and what happened to it so far."""

    number: int
    order: Order
    tree: Tree | None
    rank: int
    deaths: int = 0
    unsure: int = 0
    """Workers that ended before it was known whether they had begun with it."""
    attempts: int = 0
    """How often it was sent and not done, for a reason that may be its own."""
    sent: int = 0
    is_suspect: bool = False
    started_on: list[str] = field(default_factory=list)
    only_on: frozenset[str] = frozenset()
    future: Any = None


@dataclass(eq=False)
class _Delivery:
    """A tree on its way to a worker, and the tasks that wait for it there."""

    tree: Tree
    worker: str
    waiting: list[_Pending]
    left: int = 0
    failed: bool = False


def _forget_names() -> None:
    """Dask keeps how it shortened the names of the last 100,000 tasks; here each name comes once."""
    from dask.utils import key_split

    key_split.cache_clear()


def with_a_loop(start: Callable[[], Any]) -> Any:
    """What runs an event loop in a thread; distributed asserts that the thread runs within ten seconds, which a machine
    that stands still for a while does not keep."""
    for _ in range(_STARTS):
        try:
            return start()
        except AssertionError:
            continue
    raise TimeoutError("no thread for its event loop")


class DaskBackend:
    """A client of a scheduler; without an address, of one that is started here and ends with it."""

    is_remote = True

    def __init__(
        self,
        spec: ClusterSpec,
        jobs: int,
        devices: Sequence[str],
        wanted: Sequence[str],
        told: Told,
        say: Callable[[str], None],
        *,
        patience: float = 60.0,
    ) -> None:
        self._run = uuid.uuid4().hex[:12]
        self._devices, self._told, self._say, self._patience = tuple(devices), told, say, patience
        self._wanted = tuple(wanted)
        self._needs: tuple[str, ...] | None = None
        self._events: queue.SimpleQueue[tuple[Callable[[Any], None], Any]] = queue.SimpleQueue()
        self._outbox: list[_Pending] = []
        self._gathered: dict[int, Any] = {}
        self._ended: list[Finished] = []
        self._flying: dict[int, _Pending] = {}
        self._parked: deque[_Pending] = deque()
        self._suspects: deque[_Pending] = deque()
        self._suspect: _Pending | None = None
        self._workers: dict[str, Identity | str | None] = {}
        """By address: who it is, why it is refused, None while it is asked."""
        self._runners: set[str] = set()
        """Workers that compile nothing, and run what others compiled."""
        self._threads: dict[str, int] = {}
        self._has: dict[str, set[str]] = {}
        self._deliveries: dict[tuple[str, str], _Delivery] = {}
        self._packs: dict[str, list[Any]] = {}
        self._small: dict[str, tuple[bytes, bytes]] = {}
        self._ranks = 0
        self._looked = 0.0
        self._last_eligible = time.monotonic()
        self._cluster: Any = None
        self._client = self._connected(spec, jobs)
        self._client.subscribe_topic(self._topic, self._began)
        try:
            self._wait_for_workers()
        except BaseException:
            self.close()
            raise

    # -- the cluster ----------------------------------------------------------------------------------

    @property
    def _topic(self) -> str:
        return f"porter-{self._run}"

    def _connected(self, spec: ClusterSpec, jobs: int) -> Any:
        import dask.config
        import distributed

        make: Any = distributed

        for name in ("distributed", "distributed.nanny", "distributed.scheduler", "distributed.worker", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            if spec.kind == "dask":
                return with_a_loop(
                    lambda: make.Client(spec.address, security=make.Security(), timeout=self._patience, name="porter")
                )
            with dask.config.set(_LOCAL):
                self._cluster = with_a_loop(
                    lambda: make.LocalCluster(
                        n_workers=jobs,
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        dashboard_address=":0",
                        worker_dashboard_address=None,
                        security=make.Security.temporary(),  # else any user of this machine could give it orders
                        silence_logs=logging.CRITICAL,
                    )
                )
            return with_a_loop(lambda: make.Client(self._cluster, name="porter"))
        except (OSError, TimeoutError, ImportError, ValueError, TypeError) as error:
            if isinstance(error, ModuleNotFoundError):
                raise
            raise Unusable(f"--cluster: {spec.address or 'a cluster of this machine'}: {error}") from None

    def _wait_for_workers(self) -> None:
        """Until the workers that are there now have said who they are, and one of them may work."""
        began = time.monotonic()
        while (waited := time.monotonic() - began) < self._patience * _SLOWNESS:
            if waited > self._patience and None not in self._workers.values():
                break
            self._look()
            self._turn(0.1)
            if self._workers and all(known is not None for known in self._workers.values()) and self._settle():
                return
        if not self._settle():
            raise Unusable(f"--cluster: {self._why_nobody()}")

    def _settle(self) -> bool:
        """With the first workers it is clear which devices there are; whether somebody may work."""
        known = [who for who in self._workers.values() if isinstance(who, Identity)]
        if self._needs is None and known:
            self._needs = max((self._usable(who) for who in known), key=len)
            for address, who in list(self._workers.items()):
                if isinstance(who, Identity):
                    self._judge(address, who)
        return bool(self._eligible())

    def _usable(self, who: Identity) -> tuple[str, ...]:
        return tuple(name for name in self._wanted if who.devices.get(name, "") is None)

    def _why_nobody(self) -> str:
        if not self._workers:
            return f"no worker after {self._patience:g} s"
        known = ((address, self._workers[address]) for address in self._workers)
        reasons = [
            f"{one}: {'it compiles nothing' if one in self._runners else why or 'no answer'}" for one, why in known
        ]
        return "no worker can be used: " + "; ".join(reasons[:5])

    @property
    def devices(self) -> tuple[str, ...]:
        """Of the devices that are wanted, those that the best worker has: all that work have them."""
        return self._needs or ()

    @property
    def identity(self) -> Identity:
        """One of the workers that work."""
        return next(who for address in self._eligible() if isinstance(who := self._workers[address], Identity))

    @property
    def width(self) -> int:
        """How many tasks are done at a time."""
        return max(1, sum(self._threads.get(address, 1) for address in {*self._eligible(), *self._runners}))

    @property
    def has_runners(self) -> bool:
        """Whether some workers compile nothing, and run what others compiled."""
        return bool(self._runners)

    def _eligible(self, order: Order | None = None) -> list[str]:
        """Who may work; what is compiled already may also be done by those that compile nothing."""
        none_compiles = order is not None and bool(order.needs) and all(map(_only_runs, order.needs))
        known = (address for address, who in self._workers.items() if isinstance(who, Identity))
        return [address for address in known if none_compiles or address not in self._runners]

    def _look(self) -> None:
        """Who came and who went."""
        self._looked = time.monotonic()
        self._threads = dict(self._client.nthreads())
        for address in self._threads.keys() - self._workers.keys():
            self._workers[address] = None
            future = self._client.submit(
                work.identity,
                self._devices,
                workers=[address],
                allow_other_workers=False,
                key=f"porter-{self._run}-who-{uuid.uuid4().hex}",
                priority=1000,
                pure=False,
            )
            self._when(future, functools.partial(self._introduced, address))
        for address in self._workers.keys() - self._threads.keys():
            del self._workers[address]
            self._runners.discard(address)
            self._forget(address)
        wanted = next((pending.order for pending in self._flying.values()), None)  # a run asks the same of all
        if self._eligible(wanted):
            self._last_eligible = time.monotonic()
            for _ in range(len(self._parked)):
                self._send(self._parked.popleft())
        elif self._flying and time.monotonic() - self._last_eligible > self._patience:
            raise Unusable(
                f"--cluster: {self._why_nobody()}; what is done is kept, the same command goes on from there"
            )

    def _forget(self, address: str) -> None:
        for holders in self._has.values():
            holders.discard(address)
        for key in [key for key in self._deliveries if key[0] == address]:
            for pending in self._deliveries.pop(key).waiting:
                self._send(pending)
        for pending in list(self._flying.values()):
            if pending.only_on and not pending.only_on & self._workers.keys() and pending.future is not None:
                future, pending.future = pending.future, None
                future.cancel()
                self._send(pending)

    def _introduced(self, address: str, done: Any) -> None:
        if address not in self._workers:
            return
        if done.status != "finished":
            error = done.exception() if done.status == "error" else done.status
            self._refuse(address, f"it does not know who it is: {type(error).__name__}: {error}".split("\n")[0])
            return
        who = made(Identity, done.result())
        self._workers[address] = who
        if self._needs is not None:
            self._judge(address, who)

    def _judge(self, address: str, who: Identity) -> None:
        reason = why_refused(short_identity(), who, self._needs or ())
        runs = why_refused(short_identity(), who, tuple(filter(_only_runs, self._needs or ()))) is None
        if reason is not None and runs and any(map(_only_runs, self._needs or ())):
            self._told(address, who, None)
            self._runners.add(address)
            self._say(f"worker {address} compiles nothing ({reason}), and runs what others compiled")
            return
        self._told(address, who, reason)
        if reason is not None:
            self._refuse(address, reason)
            return
        others = [other for key, other in self._workers.items() if isinstance(other, Identity) and key != address]
        if others:
            different = differences(others[0], who)
            if different:
                self._say(f"worker {address} differs from {others[0].host}: {'; '.join(different)}")

    def _refuse(self, address: str, reason: str) -> None:
        if not isinstance(self._workers.get(address), str):
            self._workers[address] = reason
            self._say(f"worker {address} gets no work: {reason}")

    # -- tasks ----------------------------------------------------------------------------------------

    def submit(self, number: int, order: Order, tree: Tree | None) -> None:
        """One task to be done."""
        self._ranks += 1
        if self._ranks % _REMEMBERED_KEYS == 0:
            _forget_names()
        pending = _Pending(number, order, tree, self._ranks)
        self._flying[number] = pending
        self._send(pending)

    def _send(self, pending: _Pending) -> None:
        if self._flying.get(pending.number) is not pending:
            return
        eligible = frozenset(self._eligible(pending.order))
        if not eligible:
            self._parked.append(pending)
            return
        if pending.is_suspect and self._suspect not in (None, pending):
            self._suspects.append(pending)
            return
        if pending.is_suspect:
            self._suspect = pending
        pending.attempts += 1
        pending.sent += 1
        if pending.attempts > _MOST_ATTEMPTS:
            self._end(pending, Reply("crash", reason=f"given up after {_MOST_ATTEMPTS} attempts"))
            return
        pending.only_on = frozenset() if len(eligible) == len(self._workers) else eligible
        pending.started_on.clear()
        where = {"workers": sorted(pending.only_on), "allow_other_workers": False} if pending.only_on else {}
        manifest, pack = self._with_it(pending.tree, eligible)
        built = self._built_for(pending.tree, eligible)
        if manifest is None and built is None and not where:
            self._outbox.append(pending)
            if len(self._outbox) >= _BATCH:
                self._flush()
            return
        pending.future = self._client.submit(
            work.do,
            pending.order.packed(),
            self._topic,
            pending.number,
            manifest,
            pack,
            built,
            key=self._key(pending),
            priority=-pending.rank,
            pure=False,
            **where,
        )
        self._when(pending.future, functools.partial(self._came_back, pending))

    def _key(self, pending: _Pending) -> tuple[str | int, ...]:
        """A tuple, whose first part makes one group of all: what the scheduler knows of groups stays small.

        Numbers are those of one run, of which a backend may see several: a key that was used before is answered before.
        """
        return (self._topic, pending.rank, pending.sent)

    def _flush(self) -> None:
        """Together they cost the scheduler much less than one by one."""
        batch = [one for one in self._outbox if self._flying.get(one.number) is one]
        self._outbox.clear()
        if not batch:
            return
        futures = self._client.map(
            work.do,
            [pending.order.packed() for pending in batch],
            [self._topic] * len(batch),
            [pending.number for pending in batch],
            key=[self._key(pending) for pending in batch],
            priority=-batch[0].rank,
            pure=False,
        )
        for pending, future in zip(batch, futures, strict=True):
            pending.future = future
            self._when(future, functools.partial(self._came_back, pending))

    def _with_it(self, tree: Tree | None, eligible: frozenset[str]) -> tuple[bytes | None, bytes | None]:
        """Manifest and contents of a small tree that not everybody has."""
        if tree is None or tree.size > _SMALL or eligible <= self._has.get(tree.name.digest, frozenset()):
            return None, None
        key = tree.name.digest
        if key not in self._small:
            if len(self._small) >= 16:
                self._small.pop(next(iter(self._small)))
            self._small[key] = (tree.manifest.packed(), next(iter(tree.packs(tree.manifest.digests)), b""))
        manifest, pack = self._small[key]
        return manifest, pack or None

    def _built_for(self, tree: Tree | None, eligible: frozenset[str]) -> bytes | None:
        """What was compiled for a task, unless everybody has it."""
        if tree is None or not tree.built or eligible <= self._has.get(tree.built_name, frozenset()):
            return None
        return tree.built_pack()

    def _when(self, future: Any, then: Callable[[Any], None]) -> None:
        future.add_done_callback(lambda done: self._events.put((then, done)))

    def _began(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """In a thread of Dask's."""
        _, message = event
        pending = self._flying.get(message["number"])
        if pending is not None:
            pending.started_on.append(message["worker"])

    def _came_back(self, pending: _Pending, done: Any) -> None:
        if pending.future is not done:
            return
        pending.future = None
        if done.status == "finished":
            self._replied(pending, done)
            return
        error = done.exception() if done.status == "error" else None
        if type(error).__name__ == "KilledWorker":
            self._killed(pending, 1 + int(getattr(error, "allowed_failures", 0)))
        elif isinstance(error, ImportError) or error is None or "Cancelled" in type(error).__name__:
            self._looked = 0.0
            self._send(pending)
        else:
            self._end(pending, Reply("crash", reason=f"{type(error).__name__}: {error}"))

    def _replied(self, pending: _Pending, done: Any) -> None:
        try:
            reply = reply_of(self._result_of(done))
        except Exception as error:  # what it said was lost on the way: its worker is gone
            self._say(f"a reply was lost: {type(error).__name__}")
            self._send(pending)
            return
        if reply.state == "refused":
            self._refuse(reply.worker, reply.reason)
            pending.attempts -= 1
            self._send(pending)
        elif reply.state == "lacks" and reply.reason == "built" and pending.tree is not None:
            self._has.pop(pending.tree.built_name, None)
            self._send(pending)
        elif reply.state == "lacks" and pending.tree is not None:
            pending.attempts -= 1
            self._deliver(reply.worker, pending)
        else:
            if pending.tree is not None:
                self._remember(pending.tree.name.digest, reply.worker)
                if pending.tree.built:
                    self._remember(pending.tree.built_name, reply.worker)
            self._end(pending, reply)

    def _remember(self, digest: str, worker: str) -> None:
        if digest not in self._has and len(self._has) >= _KNOWN_TREES:
            self._has.pop(next(iter(self._has)))
        self._has.setdefault(digest, set()).add(worker)

    def _killed(self, pending: _Pending, times: int) -> None:
        """A worker ended with the task on it. A task that only waited there is not to blame.

        Where it ended at once, it did not come to say that it had begun: then it shows when the task, as the only one
        under suspicion, takes another worker with it.
        """
        if pending.started_on or pending.is_suspect:
            pending.deaths += max(1, len(set(pending.started_on))) + pending.unsure
            pending.unsure = 0
        else:
            pending.unsure = times
        if self._suspect is pending:
            self._suspect = None
        pending.is_suspect = True
        self._looked = 0.0
        if pending.deaths >= DEATHS:
            where = ", ".join(dict.fromkeys(pending.started_on)) or "unknown"
            reason = f"set aside: {pending.deaths} workers ended while they did it (the last: {where})"
            self._end(pending, Reply("killed", reason=reason))
        else:
            self._send(pending)
        self._next_suspect()

    def _next_suspect(self) -> None:
        if self._suspect is None and self._suspects:
            self._send(self._suspects.popleft())

    def _end(self, pending: _Pending, reply: Reply) -> None:
        self._flying.pop(pending.number, None)
        self._ended.append(Finished(pending.number, reply, pending.deaths))
        if self._suspect is pending:
            self._suspect = None
            self._next_suspect()

    def finished(self, seconds: float) -> Sequence[Finished]:
        """What came to an end, after waiting for at most so long."""
        deadline = time.monotonic() + seconds
        while not self._ended and (left := deadline - time.monotonic()) > 0:
            if time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
                self._look()
            self._turn(min(left, _SECONDS_BETWEEN_LOOKS))
        found, self._ended = self._ended, []
        return found

    def _turn(self, seconds: float) -> None:
        """What happened meanwhile, one after the other, in this thread."""
        self._flush()
        events: list[tuple[Callable[[Any], None], Any]] = []
        with contextlib.suppress(queue.Empty):
            events.append(self._events.get(timeout=seconds))
            while len(events) < _BATCH:
                events.append(self._events.get_nowait())
        ended = [done for _, done in events if done.status == "finished"]
        try:
            self._gathered = dict(zip(map(id, ended), self._client.gather(ended), strict=True))
        except Exception:  # one of them was lost: each is asked for by itself
            self._gathered = {}
        for then, done in events:
            then(done)
        self._gathered = {}

    def _result_of(self, done: Any) -> Any:
        return self._gathered[id(done)] if id(done) in self._gathered else done.result()

    # -- trees ----------------------------------------------------------------------------------------

    def _deliver(self, worker: str, pending: _Pending) -> None:
        """Its tree goes to a worker; then the task is tried again."""
        tree = pending.tree
        assert tree is not None
        key = (worker, tree.name.digest)
        if key in self._deliveries:
            self._deliveries[key].waiting.append(pending)
            return
        delivery = _Delivery(tree, worker, [pending])
        self._deliveries[key] = delivery
        manifest = self._scattered(f"manifest-{tree.name.digest}", lambda: [tree.manifest.packed()])
        future = self._pinned(worker, work.missing, tree.name.name, tree.name.digest, manifest[0])
        self._when(future, lambda done: self._told_missing(delivery, done))

    def _pinned(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(
            function,
            *arguments,
            workers=[worker],
            allow_other_workers=False,
            key=f"porter-{self._run}-tree-{uuid.uuid4().hex}",
            priority=500,
            pure=False,
        )

    def _scattered(self, key: str, contents: Callable[[], Iterator[bytes] | list[bytes]]) -> list[Any]:
        """Data that goes to one worker from here, and from there to the others."""
        if key not in self._packs:
            self._packs[key] = [self._client.scatter(data, hash=False) for data in contents()]
        return self._packs[key]

    def _told_missing(self, delivery: _Delivery, done: Any) -> None:
        if done.status != "finished":
            self._delivered(delivery, failed=True)
            return
        wanted: list[str] = done.result()
        if not wanted:
            self._delivered(delivery, failed=False)
            return
        key = "packs-" + hashlib.sha256("".join(wanted).encode()).hexdigest()
        packs = self._scattered(key, lambda: delivery.tree.packs(wanted))
        delivery.left = len(packs)
        for pack in packs:
            self._when(
                self._pinned(delivery.worker, work.receive, pack), lambda one: self._received(delivery, one, key)
            )

    def _received(self, delivery: _Delivery, done: Any, key: str) -> None:
        delivery.left -= 1
        if done.status != "finished":
            delivery.failed = True
            self._packs.pop(key, None)
        if not delivery.left:
            self._delivered(delivery, failed=delivery.failed)

    def _delivered(self, delivery: _Delivery, *, failed: bool) -> None:
        digest = delivery.tree.name.digest
        self._deliveries.pop((delivery.worker, digest), None)
        if failed:
            self._packs.pop(f"manifest-{digest}", None)
        else:
            self._remember(digest, delivery.worker)
            if frozenset(self._eligible()) <= self._has.get(digest, frozenset()):
                self._packs.clear()  # everybody has it; who comes later gets it again
        for pending in delivery.waiting:
            self._send(pending)

    def close(self) -> None:
        """Nothing more is wanted."""
        futures = [pending.future for pending in self._flying.values() if pending.future is not None]
        self._flying.clear()
        try:
            if futures and self._client.status == "running":
                self._client.cancel(futures)
        finally:
            self._client.close()
            if self._cluster is not None:
                self._cluster.close()
