"""PTX with memory, lanes and barriers in it, ported and run on the virtual gfx942."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, NotRun, Ran

from porter.engine.file import port
from porter.model import Effort
from porter.source import SourceFile
from tests.warp.execution import context, module
from tests.warp.ptx_forms import ENDS, GIVEN, STATEMENTS, THREADS, kernel

NAMES = list(STATEMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(NAMES), 16))
def test_forms(first: int) -> None:
    names = NAMES[first : first + 16]
    ported = port(SourceFile("a.cu", kernel(names).encode()), context("preserve"), "a.cu")
    assert [finding.message for finding in ported.findings if finding.effort is Effort.MANUAL] == []
    assert b"asm" not in ported.data
    loaded = module(ported.data.decode())
    arguments = [np.zeros(len(names) * THREADS, np.uint32), GIVEN, np.zeros(THREADS * 4 + 32, np.uint32)]
    done = loaded.launch(loaded.kernels[0], (1,), (THREADS,), arguments, 0, Options(uninitialised=False))
    if isinstance(done, NotRun):
        pytest.skip(done.reason)
    assert isinstance(done, Ran), str(done)
    assert done.outputs[0] is not None
    found = done.outputs[0].reshape(len(names), THREADS)
    wrong = [
        name
        for name, row in zip(names, found, strict=True)
        if not np.array_equal(row, np.asarray(STATEMENTS[name][1](GIVEN)).astype(np.uint32))
    ]
    assert wrong == []


@pytest.mark.parametrize("opcode", ENDS)
def test_the_kernel_ends(opcode: str) -> None:
    """With a fault, where a lane comes to it; not where none does."""
    body = f'if (threadIdx.x > last) asm volatile("{opcode};"); out[threadIdx.x] = 1;'
    text = f"__global__ void k(unsigned *out, unsigned last) {{ {body} }}"
    ported = port(SourceFile("a.cu", text.encode()), context("preserve"), "a.cu")
    assert b"asm" not in ported.data
    loaded = module(ported.data.decode())
    done = [
        loaded.launch(loaded.kernels[0], (1,), (THREADS,), [np.zeros(THREADS, np.uint32), last])
        for last in (THREADS, 5)
    ]
    if isinstance(done[0], NotRun):
        pytest.skip(done[0].reason)
    assert isinstance(done[0], Ran) and isinstance(done[1], Fault), done
