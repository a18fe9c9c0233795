"""The support headers as extensions of PyTorch compile them: without HIP's operators and conversions of halves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.include import hip
from tests.later import later

builder = later("torch.utils.cpp_extension")

SNIPPETS = ("atomics", "half", "memory", "mma", "warp32", "wmma")


@pytest.mark.slow
@pytest.mark.parametrize("name", SNIPPETS)
def test_headers_do_without_what_pytorch_switches_off(tmp_path: Path, name: str) -> None:
    text = "#define FEW_KERNELS\n" + hip.snippet(f"{name}_device")
    done = hip.compiled(text, tmp_path, flags=(*builder.COMMON_HIPCC_FLAGS, "-O0", "-Wno-sometimes-uninitialized"))
    assert done.returncode == 0, done.stderr


def test_pytorch_switches_them_off() -> None:
    assert {"-D__HIP_NO_HALF_OPERATORS__=1", "-D__HIP_NO_HALF_CONVERSIONS__=1"} <= {*builder.COMMON_HIPCC_FLAGS}
