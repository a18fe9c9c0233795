"""The project's headers as one run finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cpp import headers
from porter.cpp.headers import Headers


def test_each_name_is_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "a.h").write_text("int a;\n")
    asked: list[str] = []
    found = headers._stamp

    def counted(root: Path, path: str, folders: dict[str, str]) -> tuple[int, int] | None:
        asked.append(path)
        return found(root, path, folders)

    monkeypatch.setattr(headers, "_stamp", counted)
    files = Headers(tmp_path)
    for _ in range(3):
        for unit in ("k.cu", "l.cu"):
            source = files.reader(["inc"])(unit, "a.h")
            assert source is not None and source.path == "inc/a.h"
            assert files.reader(["inc"])(unit, "none.h") is None
    assert sorted(asked) == ["a.h", "inc/a.h", "inc/none.h", "none.h"]
    assert files.reader([])("k.cu", "a.h") is None
    assert files.reader([])("inc/k.cu", "a.h") is not None


def test_a_header_that_is_gone_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("int a;\n")
    files = Headers(tmp_path)
    (tmp_path / "b.h").write_bytes(b"\xff\xfei\0")  # UTF-16
    assert files.reader([])("k.cu", "a.h") is not None
    assert files.reader([])("k.cu", "b.h") is None
    assert files.reader([])("k.cu", "../a.h") is None


def test_a_header_outside_of_the_root_is_none(tmp_path: Path) -> None:
    """Be it the file or its folder that a link leads to; links within the root are followed."""
    root = tmp_path / "root"
    (root / "inc").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    for path in (tmp_path / "other" / "a.h", tmp_path / "other" / "b.h", root / "inc" / "c.h"):
        path.write_text("int a;\n")
    (root / "a.h").symlink_to(tmp_path / "other" / "a.h")
    (root / "far").symlink_to(tmp_path / "other")
    (root / "near").symlink_to(root / "inc")
    (root / "d.h").symlink_to(root / "inc" / "c.h")
    (root / "lost.h").symlink_to(root / "inc" / "none.h")
    read = Headers(root).reader([])
    found = {name: read("k.cu", name) is not None for name in ("a.h", "far/b.h", "near/c.h", "d.h", "lost.h")}
    assert found == {"a.h": False, "far/b.h": False, "near/c.h": True, "d.h": True, "lost.h": False}
