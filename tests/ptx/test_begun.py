"""The code of a kernel of PTX changes while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.begun import CODE, check_a_long_launch, check_turns
from tests.ptx.conftest import CompileCuda


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("schedule", [None, 5])
def test_code_changes_between_turns(
    compile_cuda: CompileCuda, monkeypatch: pytest.MonkeyPatch, schedule: int | None
) -> None:
    check_turns(compile_cuda(CODE), monkeypatch, schedule)


def test_a_long_launch(compile_cuda: CompileCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    check_a_long_launch(compile_cuda(CODE), monkeypatch)
