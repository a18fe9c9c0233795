"""What one lane of a warp writes to shared memory and all of them read: the port's barriers keep it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran

from porter.engine.file import port
from porter.source import SourceFile
from tests.warp.execution import context, module

BODIES = {
    "a warp's element": "if (lane == 0) s[warp] = in[i + warp]; sum += s[warp] + lane;",
    "an element by a sum": "if (lane == 7) { s[2 * warp + 1] = in[i + warp]; } sum += s[2 * warp + 1] + lane;",
    "below another condition": "if (n > 0) { if (lane == 0) s[warp] = in[i + warp]; } sum += s[warp] + lane;",
    "in a condition": "if (lane == 0) s[warp] = in[i + warp]; if (s[warp] != 77) sum += s[warp] + lane;",
    "a row": "if (lane == 0) r[warp][2] = in[i + warp]; sum += r[warp][2] + lane;",
    "one variable": "if (threadIdx.x == 0) one = in[i]; sum += one + lane;",
    "one variable, half of the lanes": "if (lane < 16) { one = in[i]; } sum += one + lane;",
}
"""The round of a loop over i; blocks of `one` have one warp."""
APART = {
    "a barrier": "if (lane == 0) s[warp] = in[i]; __syncwarp(); sum += s[warp];",
    "a barrier of the block": "if (threadIdx.x == 0) one = in[i]; __syncthreads(); sum += one; __syncthreads();",
    "all lanes write": "s[warp] = n; sum += s[warp];",
    "the lane reads itself": "if (lane == 0) { s[warp] = in[i]; sum += s[warp]; }",
    "the same lane reads": "if (lane == 0) s[warp] = in[i]; sum += i; if (lane == 0) sum += s[warp];",
    "each its own": "if (lane < 9) r[warp][lane] = in[i]; sum += r[warp][lane];",
    "another row": "if (lane == 0) s[warp] = in[i]; sum += s[warp + 4];",
    "a whole warp": "if (warp == 1) s[warp] = n; sum += s[warp];",
    "the grid agrees": "if (n == 1) s[warp] = n; sum += s[warp];",
    "volatile": "if (lane == 0) v[warp] = in[i]; sum += v[warp];",
    "a lambda with a barrier": 'auto meet = [&] { asm volatile("bar.sync 1, 64;"); }; $ meet(); sum += s[warp];',
    "a lambda that calls a barrier": "auto meet = [&] { sum++; __syncthreads(); }; $ meet(); sum += s[warp];",
    "each lane's own part": "int *mine = &r[warp][lane]; if (lane == 0) mine[0] = in[i]; sum += mine[0];",
    "an atomic": "if (lane == 0) one = in[i]; sum += atomicAdd(&one, 1);",
}


def _text(body: str) -> str:
    body = body.replace("$", "if (lane == 0) s[warp] = in[i];")
    return f"""
__global__ void k(int *out, const int *in, int n) {{
  __shared__ int s[16], r[8][33], one;
  __shared__ volatile int v[8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
  for (int i = 0; i < n; i++) {{ {body} }}
  out[threadIdx.x] = sum;
}}
"""


def _ran(text: str, threads: int) -> npt.NDArray[Any]:
    loaded = module(text)
    data = np.arange(100, 120, dtype=np.int32) ** 2
    arguments = [np.zeros(threads, np.int32), data, np.int32(5)]
    done = loaded.launch(next(iter(loaded.kernels)), (1,), (threads,), arguments, 0, Options(uninitialised=False))
    if isinstance(done, NotRun):
        pytest.skip(done.reason)
    assert isinstance(done, Ran), str(done)
    assert done.outputs[0] is not None
    return done.outputs[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", BODIES)
def test_all_lanes_read_what_one_wrote(name: str) -> None:
    done = port(SourceFile("a.cu", _text(BODIES[name]).encode()), context("preserve"), "a.hip")
    assert [finding.code for finding in done.findings if finding.code == "S101"]
    threads = 32 if "one" in name else 64
    lanes = np.arange(threads)
    data = np.arange(100, 120) ** 2
    expected = sum(data[i + lanes // 32] + lanes % 32 for i in range(5))
    np.testing.assert_array_equal(_ran(done.data.decode(), threads), expected)
    if name == "a warp's element":
        without = done.data.decode().replace("porter::syncwarp();", "")
        assert (_ran(without, threads) != expected).any()


@pytest.mark.parametrize("name", APART)
def test_no_barrier_where_none_is_missing(name: str) -> None:
    done = port(SourceFile("a.cu", _text(APART[name]).encode()), context("preserve"), "a.hip")
    assert "S101" not in {finding.code for finding in done.findings}
