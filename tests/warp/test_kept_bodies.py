"""What is known of a file's bodies ends with the file, before anybody looks for garbage."""

from __future__ import annotations

import gc

import pytest

from porter.engine.context import build_context
from porter.engine.file import port
from porter.engine.unit import Unit
from porter.settings import Choices
from porter.source import SourceFile
from porter.warp.bodies import Bodies
from porter.warp.flow.walk import Flow
from porter.warp.wave64.view import View

CUDA = """
__device__ float %s(float x, int n) {
    __shared__ float s[32];
    for (int i = 0; i < n; i++) { x += __shfl_xor_sync(~0u, x, i); s[threadIdx.x %% 32] = x; __syncthreads(); }
    return x + s[0];
}
__global__ void k_%s(float *p) { if (threadIdx.x < 3) p[0] = %s(p[0], 4); }
"""
HIP = """
#include <hip/hip_runtime.h>
__device__ float %s(float x) { for (int i = 32; i; i /= 2) x += __shfl_xor(x, i, 64); return x; }
__global__ void k_%s(float *p, unsigned long long *q) { q[0] = __ballot(p[threadIdx.x] > 0); p[0] = %s(p[0]); }
"""


@pytest.mark.parametrize(("path", "text"), [("k.cu", CUDA), ("k.hip", HIP)])
def test_a_file_ends_with_the_next(path: str, text: str) -> None:
    """Walks and views know the bodies that they are kept with."""
    run = build_context(Choices(), (), {})
    alive: list[dict[type, int]] = []
    gc.collect()
    gc.disable()
    try:
        for name in ("first", "second", "third", "fourth"):
            port(SourceFile(path, (text % (name, name, name)).encode()), run, path)
            kinds = [type(one) for one in gc.get_objects()]
            alive.append({kind: kinds.count(kind) for kind in (Unit, Bodies, Flow, View)})
    finally:
        gc.enable()
    assert alive[0][Bodies] and alive[0][Flow] + alive[0][View]
    assert alive[3] == alive[1]
