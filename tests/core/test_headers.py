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

    def counted(root: Path, path: str) -> tuple[int, int] | None:
        asked.append(path)
        return found(root, path)

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
