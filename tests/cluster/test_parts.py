"""The parts of a cluster run that need no cluster: the store, trees, slots, names, the codec, progress."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from porter.validation.cluster import hand, slots
from porter.validation.cluster.backend import LocalBackend
from porter.validation.cluster.engine import do_all
from porter.validation.cluster.identity import Identity, differences, why_refused
from porter.validation.cluster.messages import Order, order_of
from porter.validation.cluster.names import translator
from porter.validation.cluster.spec import ClusterSpec, cluster_spec
from porter.validation.cluster.trees import Tree, Trees, packed, unpacked
from porter.validation.run.codec import made, plain
from porter.validation.verdict.outcome import CaseResult, Evidence, OutputResult, SideResult, Status, Written

from porter.errors import Unusable
from porter.project.progress import told
from porter.report.render import dump, dumped
from porter.system.results import Result, Store, Task, is_store
from tests.cluster.running import Nothing

# -- the option ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("local", ClusterSpec()),
        ("dask:local", ClusterSpec("dask-local")),
        ("dask:tcp://10.0.0.1:8786", ClusterSpec("dask", "tcp://10.0.0.1:8786")),
        ("dask:tls://head:8786", ClusterSpec("dask", "tls://head:8786")),
    ],
)
def test_the_option(text: str, spec: ClusterSpec) -> None:
    assert cluster_spec(text) == spec


@pytest.mark.parametrize("text", ["", "dask", "dask:", "dask:head:8786", "ray:local", "tcp://10.0.0.1:8786"])
def test_what_is_no_cluster(text: str) -> None:
    with pytest.raises(Unusable, match="--cluster"):
        cluster_spec(text)


# -- the store ----------------------------------------------------------------------------------------


def _tasks(*names: str, digest: str = "1", touched: str = "") -> list[Task]:
    return [Task(name, {"n": name}, digest, touched=touched) for name in names]


def _done(store: Store, number: int, *, failed: bool = False, seconds: float = 1.0) -> None:
    store.put("x", number, Result({"number": number}, failed, seconds, parts=({"part": number},)))


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        assert store.begin("x", "key", _tasks("a", "b", "c")) == 0
        _done(store, 1)
    with Store(path) as store:
        assert store.begin("x", "key", _tasks("a", "b", "c")) == 1
        assert list(store.waiting("x")) == [0, 2]
        assert [answer for _, answer in store.answers("x")] == [{"number": 1}]


def test_what_changed_since_is_done_again(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.begin("x", "key", _tasks("a", "b"))
        _done(store, 0)
        _done(store, 1)
        assert store.begin("x", "key", [*_tasks("a", digest="2"), *_tasks("b", "c")]) == 1
        assert sorted(store.waiting("x")) == [0, 2]


@pytest.mark.parametrize("key", ["key", "another"])
def test_a_run_that_ended_is_run_again(tmp_path: Path, key: str) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.begin("x", "key", _tasks("a"))
        _done(store, 0)
        store.end("x", {}, "")
        assert store.begin("x", key, _tasks("a")) == 0


def test_the_order_is_failed_then_changed_then_longest(tmp_path: Path) -> None:
    names = ("short", "long", "changed", "failed", "failed and short")
    with Store(tmp_path / "s.sqlite") as store:
        store.begin("x", "key", _tasks(*names))
        _done(store, 0, seconds=1)
        _done(store, 1, seconds=9)
        _done(store, 2, seconds=2)
        _done(store, 3, seconds=5, failed=True)
        _done(store, 4, seconds=1, failed=True)
        store.end("x", {}, "")
        again = [Task(n, {}, "1", touched="new" if n == "changed" else "") for n in (*names, "new")]
        store.begin("x", "key", again)
        order = [store.task("x", number).name for number in store.waiting("x")]
    assert order == ["failed", "failed and short", "new", "changed", "long", "short"]


def test_the_time_left_is_known_when_every_task_has_one(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.begin("x", "key", _tasks("a", "b"))
        assert store.seconds_left("x") is None
        _done(store, 0, seconds=4)
        _done(store, 1, seconds=6)
        store.end("x", {}, "")
        store.begin("x", "key", _tasks("a", "b"))
        assert store.seconds_left("x") == 10


def test_documents_come_from_the_store_and_not_from_half_a_run(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.begin("x", "key", _tasks("a", "b"))
        _done(store, 1)
    assert is_store(path) and not is_store(Path(__file__))
    with Store(path, read_only=True) as store, pytest.raises(Unusable, match="not complete: 1 tasks are left"):
        list(store.documents())
    with Store(path) as store:
        store.begin("x", "key", _tasks("a", "b"))
        _done(store, 0)
        store.end("x", {"schema": "porter-x/1"}, "parts")
    with Store(path, read_only=True) as store:
        assert list(store.documents()) == [{"schema": "porter-x/1", "parts": [{"part": 0}, {"part": 1}]}]


def test_the_report_reads_a_store_as_it_reads_documents(tmp_path: Path) -> None:
    from porter.report.gap.inputs import read_inputs

    (tmp_path / "port.json").write_text('{"schema": "porter-report/1"}')
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.begin("x", "key", _tasks("a"))
        _done(store, 0)
        store.end("x", {"schema": "porter-validate/1"}, "cases")
    inputs = read_inputs([tmp_path / "port.json", path], tmp_path)
    assert inputs.validations == ({"schema": "porter-validate/1", "cases": [{"part": 0}]},)


def test_two_runs_do_not_write_to_one_store(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path), pytest.raises(Unusable, match="another run"):
        Store(path)
    Store(path).close()


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE task(a)")
    base.commit()
    base.close()
    with pytest.raises(Unusable, match="not a store of porter's"):
        Store(path)


# -- the engine on this machine -----------------------------------------------------------------------


def test_tasks_of_this_machine_and_a_stop_on_the_way(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(done: int, total: int, left: float | None) -> None:
        if done >= 3:
            raise Stop

    said: list[str] = []
    first, again = Nothing(8), Nothing(8)
    with Store(tmp_path / "s.sqlite") as store:
        backend = LocalBackend(1)
        with pytest.raises(Stop):
            do_all(first, store, backend, progress=stop, say=said.append)
        backend.close()
    with Store(tmp_path / "s.sqlite") as store:
        backend = LocalBackend(1)
        do_all(again, store, backend, say=said.append)
        backend.close()
        assert [answer["number"] for answer in again.answers(store)] == list(range(8))
    assert len(again.seen) <= 5 and "of 8 are done already" in said[0]


# -- trees --------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with what travels and what does not."""
    root = tmp_path / "home/project"
    (root / "inc").mkdir(parents=True)
    (root / "a.cu").write_text('#include "inc/b.h"\n')
    (root / "inc/b.h").write_text("int b;\n")
    (root / "tool.sh").write_text("#!/bin/sh\n")
    (root / "tool.sh").chmod(0o755)
    (root / "link.h").symlink_to("inc/b.h")
    (root / "secret").symlink_to("/etc/passwd")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("[core]\n")
    return root


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a worker."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    slots._seen.clear()
    return tmp_path / "cache"


def _send(tree: Tree) -> int:
    """What a delivery does; the number of contents that were not there."""
    wanted = slots.missing(tree.name, tree.manifest.packed())
    for pack in tree.packs(wanted):
        slots.receive(pack)
    return len(wanted)


def test_a_tree_is_laid_out_below_its_own_paths(project: Path, cache: Path) -> None:
    tree = Trees().tree([project, project / "inc"])
    with pytest.raises(slots.Lacking), slots.laid_out(tree.name):
        pass
    _send(tree)
    with slots.laid_out(tree.name) as root:
        there = Path(f"{root}{project}")
        assert (there / "a.cu").read_bytes() == (project / "a.cu").read_bytes()
        assert (there / "link.h").is_symlink() and (there / "link.h").read_text() == "int b;\n"
        assert (there / "tool.sh").stat().st_mode & 0o111
        assert not (there / "a.cu").stat().st_mode & 0o111
        assert not (there / ".git").exists()
        assert not (there / "secret").is_symlink() and not (there / "secret").exists()


def test_only_what_changed_travels_again_and_the_rest_is_not_touched(project: Path, cache: Path) -> None:
    first = Trees().tree([project])
    _send(first)
    with slots.laid_out(first.name) as root:
        before = Path(f"{root}{project}/inc/b.h").stat().st_mtime_ns
    (project / "a.cu").write_text("int changed;\n")
    (project / "tool.sh").unlink()
    second = Trees().tree([project])
    assert second.name.name == first.name.name and second.name.digest != first.name.digest
    assert _send(second) == 1
    with slots.laid_out(second.name) as again:
        assert again == root
        assert Path(f"{root}{project}/a.cu").read_text() == "int changed;\n"
        assert Path(f"{root}{project}/inc/b.h").stat().st_mtime_ns == before
        assert not Path(f"{root}{project}/tool.sh").exists()


def test_another_version_in_use_is_not_changed(project: Path, cache: Path) -> None:
    first = Trees().tree([project])
    _send(first)
    (project / "a.cu").write_text("int changed;\n")
    second = Trees().tree([project])
    _send(second)
    with slots.laid_out(first.name) as one, slots.laid_out(second.name) as other, slots.laid_out(first.name) as same:
        assert one != other and one == same
        assert Path(f"{one}{project}/a.cu").read_text() != Path(f"{other}{project}/a.cu").read_text()


def test_what_a_task_changed_or_left_behind_is_put_right(project: Path, cache: Path) -> None:
    tree = Trees().tree([project])
    _send(tree)
    with slots.laid_out(tree.name) as root:
        there = Path(f"{root}{project}")
        (there / "a.cu").chmod(0o644)
        (there / "a.cu").write_text("spoilt\n")
        (there / "new.h").write_text("int n;\n")
    slots._seen.clear()
    with slots.laid_out(tree.name) as root:
        assert (there / "a.cu").read_bytes() == (project / "a.cu").read_bytes()
        assert not (there / "new.h").exists()


def test_a_damaged_content_is_not_used(project: Path, cache: Path) -> None:
    tree = Trees().tree([project])
    _send(tree)
    for path in (cache / "contents").rglob("*"):
        if path.is_file() and path.name != tree.name.digest:
            path.write_bytes(b"damaged")
    with pytest.raises(slots.Lacking), slots.laid_out(tree.name):
        pass
    assert _send(tree) >= 1


def test_packs_and_manifests_are_what_they_say(project: Path, cache: Path) -> None:
    tree = Trees().tree([project])
    with pytest.raises(ValueError, match="not that of the tree"):
        slots.missing(type(tree.name)(tree.name.name, "0" * 64), tree.manifest.packed())
    with pytest.raises(ValueError, match="not the one"):
        list(unpacked(packed([("0" * 64, b"other")])))


@pytest.mark.parametrize("path", ["relative", "/a/../b", "//a", "/a/./b"])
def test_paths_that_lead_elsewhere_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="no path of a tree"):
        slots._inside(tmp_path, path)


def test_large_files_stay_and_are_named(project: Path) -> None:
    with (project / "data.bin").open("wb") as file:
        file.truncate(17 << 20)
    tree = Trees().tree([project])
    assert tree.left_out == (str(project / "data.bin"),)


# -- names, values, text ------------------------------------------------------------------------------


def test_names_are_the_clients(tmp_path: Path) -> None:
    prefix, own = str(tmp_path / "cache/trees/t-0/files"), str(tmp_path / "cache")
    digest = "0123456789abcdef" * 2
    unit = tmp_path / f"cache/units/{digest}/k.cu"
    unit.parent.mkdir(parents=True)
    unit.write_text(f'#include "{prefix}/home/a.cu"\n')
    text = json.dumps({"command": f"cc {unit} -I{prefix}/home", "port": f"{own}/ports/{digest}/k.hip", "h": "/b/p/x.h"})
    read = json.loads(translator(prefix, own, "/home/me/.cache/porter", [("/b/p", "/home/p")])(text))
    assert read["h"] == "/home/p/x.h"
    import hashlib

    at_home = hashlib.sha256(b'#include "/home/a.cu"\n').hexdigest()[:32]
    assert read["command"] == f"cc /home/me/.cache/porter/units/{at_home}/k.cu -I/home"
    assert read["port"] == f"/home/me/.cache/porter/ports/{digest}/k.hip"


@dataclass(frozen=True)
class _Odd:
    path: Path | None
    pairs: tuple[tuple[str, int], ...]
    data: bytes = b""


def test_values_come_back_as_they_were() -> None:
    written = Written("k", (1, 2, 3), (0, 0, 1), "a.cu:3")
    side = SideResult(
        "port",
        "gfx942",
        64,
        Status.WRONG_VALUES,
        "native",
        evidence=Evidence("m", "t", "s", "out", (1, 2), written),
        outputs=(OutputResult("out", 3, False, float("inf"), 0.5, 2.0, (1, 2)),),
        counters={"a": 1.5},
    )
    case = CaseResult("c", "p", 1, "s", "k", Status.FAULT, sides=(side,), seeds=(1, 2))
    assert made(CaseResult, json.loads(json.dumps(plain(case)))) == case
    odd = _Odd(Path("a/b"), (("x", 1),), b"\x00\xff")
    assert made(_Odd, json.loads(json.dumps(plain(odd)))) == odd
    assert made(_Odd, json.loads(json.dumps(plain(_Odd(None, ()))))) == _Odd(None, ())


def test_what_nobody_has_loaded_is_in_nobodys_way() -> None:
    """A worker that compares programs never loads the profiles that a run may have."""
    program = """
from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.outcome import Account, ProgramRun, Verdict
from porter.validation.run.codec import made, plain
run = ProgramRun(("./main",), Verdict.PASSED, "", 0, Account(), 0.5)
told = Compared("a", Agreement.AGREE, "", None, run, run)
assert made(Compared, plain(told)) == told
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_orders_of_another_protocol_are_none() -> None:
    order = Order("validate", {"a": 1}, needs=("ptx",), folder="/x")
    assert order_of(order.packed()) == order
    other = json.loads(order.packed()) | {"protocol": 99}
    assert order_of(json.dumps(other).encode()) is None


def test_who_is_refused_and_who_is_named() -> None:
    one = Identity("1", "aa", "3.11", "x86_64", "EPYC", "h1", {"ptx": None, "gfx942": "no clang++"}, {"nvcc": "13.0"})
    assert why_refused(one, one, ("ptx",)) is None
    assert why_refused(one, one, ("gfx942",)) == "gfx942: no clang++"
    other = Identity("1", "bb", "3.11", "x86_64", "EPYC", "h2")
    assert "it has porter 1 (bb)" in (why_refused(one, other, ()) or "")
    arm = Identity("1", "aa", "3.12", "aarch64", "Neoverse", "h3", tools={"nvcc": "12.4"})
    assert "aarch64" in (why_refused(one, arm, ()) or "")
    assert differences(one, arm) == [
        "nvcc: 13.0 and 12.4",
        "processor: EPYC and Neoverse",
        "Python: 3.11 and 3.12",
    ]


def test_a_document_in_pieces_is_the_same_text() -> None:
    for items in ([], [1], [{"a": 1}, {"b": [2]}]):
        head = {"schema": "x", "list": [1, 2], "empty": []}
        assert "".join(dumped(head, "cases", iter(items))) == dump({**head, "cases": items})


def test_progress_says_tasks_rate_and_time_left() -> None:
    assert told("validating", 120, 4000, 120, 60.0, 1940.0) == "validating: 120 of 4,000, 2 a second, 60 s, 32 min left"
    assert told("validating", 0, 4000, 0, 10.0, None) == "validating: 0 of 4,000, 10 s"


def test_what_is_no_kind_of_task_is_refused() -> None:
    from porter.validation.cluster.hand import HANDLERS, do

    reply = do(Order("shell", {"command": "id"}), "")
    assert reply.state == "refused" and "shell" not in HANDLERS


@pytest.mark.parametrize("folder", ["/home/me/project", "/home/me/elsewhere/x", ""])
def test_a_command_that_was_given_beside_what_travels(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`porter build ../port` of a sibling folder: that has no place on the worker yet."""
    (tmp_path / "home" / "me" / "project").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    hand.enter(str(tmp_path), folder)
    assert Path.cwd() == Path(f"{tmp_path}{folder}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):  # of this machine itself nothing is made
        hand.enter("", str(tmp_path / "gone"))
