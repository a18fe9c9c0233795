"""`--rocm-headers`: the folder given comes before all others."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.toolchain.headers import GIVEN, find_headers, use_headers

from porter.errors import Unusable


def test_a_folder_that_is_given_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GIVEN, raising=False)
    with pytest.raises(Unusable, match="hip_runtime"):
        use_headers(tmp_path)
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_runtime.h").touch()
    monkeypatch.setenv(GIVEN, "")
    use_headers(tmp_path)
    assert find_headers() == tmp_path.resolve()
