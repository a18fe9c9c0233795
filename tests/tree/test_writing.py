"""Whole files or nothing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from porter.errors import Unusable
from porter.project.writing import Placed, content_at, content_of, place, place_link, sha256, write_atomically


def test_place_writes_keeps_and_replaces(tmp_path: Path) -> None:
    """New files are written, equal ones untouched, foreign ones kept, our own replaced."""
    path = tmp_path / "f"
    assert place(path, content_of(b"one"), 0o640, None) is Placed.WRITTEN
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"one", 0o640)
    before = path.stat()
    assert place(path, content_of(b"one"), 0o640, None) is Placed.SAME
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.stat().st_ino == before.st_ino
    assert place(path, content_of(b"two"), 0o640, None) is Placed.KEPT
    assert path.read_bytes() == b"one"
    assert place(path, content_of(b"two"), 0o640, sha256(b"one")) is Placed.WRITTEN
    assert place(path, content_of(b"three"), 0o640, None, force=True) is Placed.WRITTEN
    assert path.read_bytes() == b"three"


def test_place_never_writes_through_a_link_or_over_a_folder(tmp_path: Path) -> None:
    """The target of a link in the output is not ours."""
    (tmp_path / "target").write_bytes(b"safe")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "folder").mkdir()
    assert place(tmp_path / "link", content_of(b"new"), 0o644, None) is Placed.KEPT
    assert place(tmp_path / "link", content_of(b"new"), 0o644, None, force=True) is Placed.WRITTEN
    assert (tmp_path / "target").read_bytes() == b"safe"
    assert place(tmp_path / "folder", content_of(b"new"), 0o644, None, force=True) is Placed.KEPT


def test_links(tmp_path: Path) -> None:
    """A link is made as it is, dangling or not, and replaced only if it is ours."""
    link = tmp_path / "link"
    assert place_link(link, "./no//where", None) is Placed.WRITTEN
    assert os.readlink(link) == "./no//where"  # noqa: PTH115
    assert place_link(link, "./no//where", None) is Placed.SAME
    assert place_link(link, "other", None) is Placed.KEPT
    assert place_link(link, "other", "./no//where") is Placed.WRITTEN
    (tmp_path / "file").write_bytes(b"")
    assert place_link(tmp_path / "file", "x", None) is Placed.KEPT


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    """No space left: the old file stays, no temporary one does, and the error names the path."""
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def full(*args: object, **kwargs: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(Unusable, match=rf"{path}: No space left"):
        write_atomically(path, content_of(b"new"), 0o644, sync=True)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a write."""
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def interrupted(*args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, content_of(b"new"), 0o644)
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert path.read_bytes() == b"old"


def test_files_too_large_to_hold(tmp_path: Path) -> None:
    """Content is copied in pieces."""
    data = os.urandom(3 << 20)
    (tmp_path / "a").write_bytes(data)
    content = content_at(tmp_path / "a")
    assert (content.sha256, content.size) == (sha256(data), len(data))
    assert max(map(len, content.chunks())) <= 1 << 20
    assert place(tmp_path / "b", content, 0o600, None) is Placed.WRITTEN
    assert (tmp_path / "b").read_bytes() == data
