"""Runs on worker processes: what ends, comes late, or does not fit costs no more than it must."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from porter.validation.cluster.engine import do_all
from porter.validation.cluster.spec import ClusterSpec

from porter.errors import Unusable
from porter.system.results import Store
from tests.cluster.running import Nothing, Process, end, other_porter, scheduler, start_worker, until_there, workers
from tests.later import later, needs_installed

needs_installed("distributed")
dask_backend = later("porter.validation.cluster.dask_backend")

pytestmark = pytest.mark.slow


class _Run:
    """A run of tasks that do nothing, and what was said of it."""

    def __init__(self, folder: Path, kind: Nothing) -> None:
        self.store, self.kind = Store(folder / "runs.sqlite"), kind
        self.said: list[str] = []
        self.refused: dict[str, str | None] = {}

    def on(self, address: str, devices: tuple[str, ...] = (), patience: float = 60.0) -> list[dict[str, object]]:
        """The answers."""
        backend = dask_backend.DaskBackend(
            ClusterSpec("dask", address), 1, devices, devices, self._told, self.said.append, patience=patience
        )
        try:
            do_all(self.kind, self.store, backend, backend.devices, say=self.said.append)
        finally:
            backend.close()
        return [dict(answer) for answer in self.kind.answers(self.store)]

    def _told(self, address: str, who: object, refused: str | None) -> None:
        self.refused[address] = refused


@pytest.fixture
def run(tmp_path: Path) -> Callable[[Nothing], _Run]:
    """Makes runs whose store ends with the test."""
    return lambda kind: _Run(tmp_path, kind)


def test_all_are_done_and_answers_are_in_order(run: Callable[[Nothing], _Run]) -> None:
    it = run(Nothing(100))
    with scheduler() as address, workers(address, (), ()):
        answers = it.on(address)
    assert [answer["number"] for answer in answers] == list(range(100))
    assert not it.said


def test_one_run_after_the_other_on_the_same_workers(tmp_path: Path) -> None:
    """The steps of a build; the second is not answered with what the first came to."""
    with scheduler() as address, workers(address, ()), Store(tmp_path / "s.sqlite") as store:
        backend = dask_backend.DaskBackend(ClusterSpec("dask", address), 1, (), (), lambda *_: None, lambda text: None)
        try:
            for size in (1, 2):
                kind = Nothing(3, size=size)
                do_all(kind, store, backend)
                assert [answer["text"] for answer in kind.answers(store)] == ["x" * size] * 3
        finally:
            backend.close()


def test_a_killed_worker_costs_its_tasks_only_and_they_are_repeated(run: Callable[[Nothing], _Run]) -> None:
    it = run(Nothing(40, wait=0.05))
    with scheduler() as address, workers(address, (), ()) as (first, _):
        threading.Timer(3.0, end, [first]).start()
        answers = it.on(address)
    assert [answer["number"] for answer in answers] == list(range(40))
    assert not any("lost" in answer for answer in answers)


@pytest.mark.parametrize("failures", [0, 2])
def test_a_task_that_kills_three_workers_is_set_aside(run: Callable[[Nothing], _Run], failures: int) -> None:
    it = run(Nothing(12, wait=0.01))
    killing = ("--kills", "5", "--after", str(failures / 10))
    with scheduler(failures) as address, workers(address, killing, killing, killing, killing) as started:
        answers = it.on(address)
        dead = [process for process in started if process.poll() is not None]
    assert [answer["number"] for answer in answers] == list(range(12))
    assert [answer["number"] for answer in answers if "lost" in answer] == [5]
    assert "set aside: 3 workers ended" in str(answers[5]["lost"])
    assert len(dead) == 3


def test_a_worker_that_comes_late_works(run: Callable[[Nothing], _Run]) -> None:
    it = run(Nothing(60, wait=0.2))
    late: list[Process] = []
    with scheduler() as address, workers(address, ()) as started:
        threading.Timer(1.0, lambda: late.append(start_worker(address))).start()
        it.on(address)
        started += late
    assert len(it.refused) == 2 and set(it.refused.values()) == {None}
    done = it.store._base.execute("SELECT worker, COUNT(*) FROM task GROUP BY worker").fetchall()
    assert len(done) == 2 and min(count for _, count in done) > 1


def test_other_versions_and_processors_are_refused_by_name(run: Callable[[Nothing], _Run], tmp_path: Path) -> None:
    it = run(Nothing(10))
    other = {"PYTHONPATH": str(other_porter(tmp_path / "other"))}
    with scheduler() as address, workers(address, (), ("--machine", "riscv64")) as started:
        started.append(start_worker(address, environment=other))
        until_there(address, 3)
        answers = it.on(address)
    assert len(answers) == 10
    reasons = sorted(str(reason) for reason in it.refused.values() if reason is not None)
    assert len(reasons) == 2
    assert reasons[0].startswith("it has porter ") and "processor is riscv64" in reasons[1]
    assert sum("gets no work" in text for text in it.said) == 2


def test_what_a_worker_does_not_want_others_do(run: Callable[[Nothing], _Run]) -> None:
    """It is asked once, and what it was asked is asked somebody else, not answered with its refusal again."""
    it = run(Nothing(30, wait=0.01))
    with scheduler() as address, workers(address, ("--refuses", "nothing"), ()):
        until_there(address, 2)
        answers = it.on(address)
    assert [answer["number"] for answer in answers] == list(range(30))
    assert not any("lost" in answer for answer in answers)
    assert sum("gets no work: it does not want to" in text for text in it.said) == 1


def test_a_worker_without_a_compiler_is_refused(run: Callable[[Nothing], _Run], tmp_path: Path) -> None:
    it = run(Nothing(10))
    (tmp_path / "bin").mkdir()
    bare = {"PATH": str(tmp_path / "bin"), "PORTER_CLANG": "", "PORTER_HOST_CC": "", "CUDA_HOME": "", "ROCM_PATH": ""}
    with scheduler() as address, workers(address, ()) as started:
        started.append(start_worker(address, environment=bare))
        until_there(address, 2)
        backend_devices = ("ptx",)
        try:
            it.on(address, backend_devices)
        except Unusable as error:
            pytest.skip(str(error))
    if set(it.refused.values()) == {None}:
        pytest.skip("this machine's compilers are found without PATH")
    reasons = [reason for reason in it.refused.values() if reason is not None]
    assert len(reasons) == 1 and reasons[0].startswith("ptx: ") and "no g++" in reasons[0]


def test_without_a_worker_the_run_ends_and_says_why(run: Callable[[Nothing], _Run]) -> None:
    with scheduler() as address, pytest.raises(Unusable, match="no worker after 1 s"):
        run(Nothing(1)).on(address, patience=1.0)


def test_where_nobody_may_work_the_reason_is_said(run: Callable[[Nothing], _Run]) -> None:
    with (
        scheduler() as address,
        workers(address, ("--machine", "riscv64")),
        pytest.raises(Unusable, match=r"no worker can be used: .*riscv64"),
    ):
        run(Nothing(1)).on(address, patience=12.0)
