"""Sources that are not read again: only those that nobody can have changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from porter.project import digests, discovery, port_tree, reuse, seen
from porter.project.discovery import Project
from porter.project.records import FileRecord
from porter.system import stamps
from tests.tree.trees import KERNEL, PORTED_KERNEL, listing, make_tree, port

OTHER = KERNEL.replace(b"2.0f", b"3.0f")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of the sources that were read to be compared, in a world where no change is recent."""
    monkeypatch.setattr(stamps, "_SETTLED", -(10**12))
    found: list[str] = []
    digest: Callable[[str, int], str | None] = digests._digest

    def noted(path: str, size: int) -> str | None:
        found.append(path.rpartition("/")[2])
        return digest(path, size)

    monkeypatch.setattr(digests, "_digest", noted)
    yield found


def test_nothing_is_read_where_nothing_changed(tmp_path: Path, read: list[str]) -> None:
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": KERNEL, "c.txt": "x"})
    out = tmp_path / "out"
    port(source, out)
    assert port(source, out).run.reused == 3
    assert read == []


@pytest.mark.parametrize("way", ["written", "replaced", "moved"])
def test_times_that_are_set_back_hide_nothing(tmp_path: Path, read: list[str], way: str) -> None:
    """The same size and the old times, however the file came to be another one."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": KERNEL})
    out, changed = tmp_path / "out", source / "a.cu"
    port(source, out)
    before = changed.stat()
    if way == "written":
        changed.write_bytes(OTHER)
    else:
        beside = tmp_path / "other.cu"
        beside.write_bytes(OTHER)
        os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
        if way == "replaced":
            changed.unlink()
        beside.rename(changed)
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (changed.stat().st_size, changed.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert port(source, out).run.reused == 1
    assert read == ["a.cu"]
    assert (out / "a.hip").read_bytes() == PORTED_KERNEL.replace(b"2.0f", b"3.0f")


def test_what_was_just_changed_is_read(tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its times may be those that the next change leaves as well."""
    monkeypatch.setattr(stamps, "_SETTLED", 10**12)
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    for _ in range(2):
        read.clear()
        assert port(source, out).run.reused == 2
        assert sorted(read) == ["a.cu", "b.h"]


def test_a_touched_file_is_read_and_known_again(tmp_path: Path, read: list[str]) -> None:
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    written = listing(out)
    (source / "b.h").touch()
    assert port(source, out).run.reused == 2
    assert read == ["b.h"]
    assert port(source, out).run.reused == 2
    assert read == ["b.h"]
    assert listing(out) == written


@pytest.mark.parametrize("damage", [b"", b"\0", b"i\1\0\0\0"], ids=["empty", "no value", "no table"])
def test_without_what_was_kept_all_is_read(tmp_path: Path, read: list[str], damage: bytes) -> None:
    from porter.system.cache import keep

    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    (place,) = (one for one in (tmp_path / "cache" / "seen").iterdir() if not one.suffix)
    keep(place, damage)
    assert port(source, out).run.reused == 2
    assert sorted(read) == ["a.cu", "b.h"]


def test_many_bytes_are_compared_by_all_cores(tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_MANY_BYTES", 0)
    monkeypatch.setattr(reuse, "digest_by", lambda seen, entry: None)
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    assert port(source, out).run.reused == 2
    (source / "a.cu").write_bytes(OTHER)
    assert port(source, out).run.reused == 1


def test_old_projects_make_room(tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "_MOST_PROJECTS", 2)
    for name in "abcd":
        port(make_tree(tmp_path / name, {"a.cu": KERNEL}), tmp_path / f"out-{name}")
    assert len(list((tmp_path / "cache" / "seen").glob("*.sha256"))) == 3


def test_fresh_files_are_known_when_the_run_took_long_enough(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read once more at its end: one that changed since is not taken for what was ported."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": KERNEL})
    out = tmp_path / "out"
    clock = time.time_ns()
    monkeypatch.setattr(stamps, "_SETTLED", 10**9)
    monkeypatch.setattr(discovery.time, "time_ns", lambda: clock)

    def later(project: Project, records: Mapping[str, FileRecord], before: seen.Seen) -> seen.Seen:
        nonlocal clock
        (source / "a.cu").write_bytes(OTHER)
        clock += 10**11
        return seen.keep_seen(project, records, before)

    monkeypatch.setattr(port_tree, "keep_seen", later)
    port(source, out)
    assert sorted(read) == ["a.cu", "b.h"]
    read.clear()
    monkeypatch.setattr(port_tree, "keep_seen", lambda *ignored: {})
    assert port(source, out).run.reused == 1
    assert read == ["a.cu"]
