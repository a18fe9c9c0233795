"""What findings say of names and registers that nothing here knows: no reason that is not so."""

from __future__ import annotations

import pytest

from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.model import Settings
from porter.names.table import load_names
from porter.source import SourceFile


def _messages(text: str, rocm: str | None = None) -> list[str]:
    context = Context(Settings(rocm=rocm), load_names(rocm, {}), load_support(rocm), all_rules())
    ported = port(SourceFile("a.cu", text.encode()), context, "a.hip")
    return [finding.message for finding in ported.findings if finding.code in ("A002", "P102")]


def test_member_that_no_table_has() -> None:
    """`cuda::warp_size` of another library did not come with a later ROCm; only the namespace of that name did."""
    (message,) = _messages("using cuda::warp_size;\n", "6.0")
    assert message.startswith("cuda::warp_size is in no name table: it is another library's or the project's")


def test_namespace_alone() -> None:
    """Of the namespace itself the version is the reason."""
    messages = _messages("#include <cuda/atomic>\nusing namespace cuda;\n", "6.0")
    assert any(message.startswith("cuda: cuda came with ROCm 10.1") for message in messages)


@pytest.mark.parametrize("register", ["ctaid.w", "nsmid", "gridid", "envreg3", "dynamic_smem_size"])
def test_register_of_the_hardware(register: str) -> None:
    """Special registers of PTX that have no counterpart."""
    (message,) = _messages(f'__device__ void f(unsigned &x) {{ asm("mov.u32 %0, %%{register};" : "=r"(x)); }}')
    assert "gfx942 has no such register" in message


@pytest.mark.parametrize("register", ["flag", "odd", "v", "top", "pmul"])
def test_register_of_another_statement(register: str) -> None:
    """A register of the program's own is none that the hardware lacks."""
    (message,) = _messages(f'__device__ void f(unsigned &x) {{ asm("mov.u32 %0, %%{register};" : "=r"(x)); }}')
    assert f"%{register}; another statement declares this register" in message
    assert "gfx942" not in message
