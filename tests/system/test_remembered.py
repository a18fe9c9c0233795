"""What was found out of a file holds for that very file, and no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from porter.system.remembered import remembered, remembered_while
from porter.system.stamps import stamp_of


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))


class Asked:
    """Counts how often a file is looked at."""

    def __init__(self, path: Path) -> None:
        self.path, self.times = path, 0

    def __call__(self) -> str:
        self.times += 1
        return self.path.read_text()


def test_a_file_is_asked_once(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_text("one")
    asked = Asked(path)
    assert [remembered("version", path, asked) for _ in range(3)] == ["one"] * 3
    assert asked.times == 1


def test_what_else_counts(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_text("one")
    asked = Asked(path)
    for what, also in (("version", "a"), ("version", "b"), ("sections", "a"), ("version", "a")):
        remembered(what, path, asked, also)
    assert asked.times == 3


def test_another_file_under_the_name_is_asked(tmp_path: Path) -> None:
    path, other = tmp_path / "tool", tmp_path / "other"
    path.write_text("one")
    assert remembered("version", path, Asked(path)) == "one"
    other.write_text("two")
    other.replace(path)
    assert remembered("version", path, Asked(path)) == "two"


def test_new_content_of_the_same_size_with_the_old_time_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_text("one")
    before = path.stat()
    assert remembered("version", path, Asked(path)) == "one"
    path.write_text("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert remembered("version", path, Asked(path)) == "two"


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_text("one")

    def failing() -> str:
        raise ValueError

    with pytest.raises(ValueError):
        remembered("version", path, failing)
    assert remembered("version", path, Asked(path)) == "one"


def test_a_damaged_entry_is_asked_anew(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_text("one")
    remembered("version", path, Asked(path))
    for entry in (tmp_path / "cache" / "remembered").iterdir():
        entry.write_text("spoilt")
    assert remembered("version", path, Asked(path)) == "one"


def test_without_a_file_there_is_nothing_to_remember(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        remembered("version", tmp_path / "none", Asked(tmp_path / "none"))


def test_what_changed_just_now_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor what comes from the future: the next change might leave the same times."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "file"
    file.write_text("x")
    now = stamp_of(file.stat())
    said: list[str] = []

    def answer() -> str:
        said.append("asked")
        return "answer"

    for stamp, asked in (
        (now, 2),
        (now._replace(changed=now.changed + 10**15), 2),
        (now._replace(modified=now.modified + 10**15), 2),
        (now._replace(modified=1, changed=2), 1),
        (now._replace(modified=1, changed=3), 1),
    ):
        said.clear()
        for _ in range(2):
            assert remembered_while("what", [("file", stamp)], answer) == "answer"
        assert len(said) == asked
