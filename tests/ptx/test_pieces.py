"""Kernels cut into pieces at every block do the same."""

from __future__ import annotations

import pytest
from porter.validation.devices.ptx import translate

from tests.devices.test_pieces import CODE, check_pieces
from tests.ptx.conftest import CompileCuda


@pytest.mark.parametrize("schedule", [None, 5])
def test_pieces_change_no_result(
    compile_cuda: CompileCuda, monkeypatch: pytest.MonkeyPatch, schedule: int | None
) -> None:
    code = CODE.replace("#include <hip/hip_runtime.h>", "")
    check_pieces(lambda: compile_cuda(code), translate, monkeypatch, schedule)
