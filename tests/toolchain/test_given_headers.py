"""`--rocm-headers`: the folder given comes before all others."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.toolchain.headers import GIVEN, find_headers, use_headers, used_by

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


def test_a_command_tells_its_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several folders the first with HIP; none where it is not on this machine."""
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "none"))
    for folder, minor in (("mine", 3), ("other", 4)):
        (tmp_path / folder / "hip").mkdir(parents=True)
        text = f"#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR {minor}\n"
        (tmp_path / folder / "hip" / "hip_version.h").write_text(text)
    given = ("clang++", "-isystem", str(tmp_path / "empty"), "-isystem", str(tmp_path / "mine"))
    assert used_by((*given, "-isystem", str(tmp_path / "other"))) == f"HIP 6.3 in {tmp_path / 'mine'}"
    monkeypatch.setattr("porter.validation.toolchain.headers.rocm_roots", lambda: [tmp_path / "nowhere"])
    assert used_by(("clang++", "-isystem", str(tmp_path / "empty"))) is None
    assert used_by(()) is None
