"""Harness, child process and outcomes, run end to end on a runtime that needs no GPU."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from porter.validation.devices.core.result import Fault, FaultKind, NotRun, Ran
from porter.validation.devices.device import Launch, TimedOut
from porter.validation.verdict.timing import Measured, achieved, ceilings, spread

from tests.harness.conftest import Compile

pytestmark = pytest.mark.slow

SOURCE = r"""
#include <cuda_runtime.h>
#include <unistd.h>
namespace n {
struct Pair { int a; double b; };
__constant__ float table[4];
template <typename T> __global__ void scale(const T* in, T* out, T factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor;
}
__global__ void all_kinds(bool flag, signed char c, unsigned long long u, float f, double d, Pair pair, double* out) {
  out[0] = flag; out[1] = c; out[2] = double(u); out[3] = f; out[4] = d; out[5] = pair.a; out[6] = pair.b;
}
__global__ void look_up(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
__global__ void misbehave(int how, int* out) {
  if (how == 0) for (;;) usleep(1000);
  if (how == 1) *reinterpret_cast<volatile int*>(0) = 1;
  if (how == 2) fake_fail(cudaErrorIllegalAddress);
  if (how == 3) out[-1] = 7;
  if (how == 4) out[1] = 7;
  if (how == 5) { std::fprintf(stderr, "Memory access fault by GPU node-1 on address 0x7f0000\n"); std::abort(); }
  if (how == 6) for (int i = 0; i < 400000; ++i) std::printf("kernels may print\n");
  if (how == 7) _exit(3);
  out[0] = how;
}
__global__ void sleep(int* out) { usleep(20000); out[0] += 1; }
int forward(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = in[i] + 1;
  return 0;
}
}
int main() { return 0; }
"""


def _launch(*arguments: Any, grid: int = 1, block: int = 1, **more: Any) -> Launch:
    return Launch((grid, 1, 1), (block, 1, 1), arguments, **more)


def test_arrays_go_in_and_come_back(compile_fake: Compile) -> None:
    kernel = compile_fake(SOURCE, "n::scale<float>")
    given, out = np.arange(100, dtype=np.float32).reshape(10, 10), np.zeros((10, 10), np.float32)
    done = kernel.launch(_launch(given, out, np.float32(2), 100, grid=4, block=32), 30)
    assert isinstance(done, Ran), done
    np.testing.assert_array_equal(done.output(1), given * 2)
    np.testing.assert_array_equal(done.output(0), given)
    assert not out.any() and done.outputs[2:] == (None, None)
    empty = kernel.launch(_launch(given[:0], out[:0], 2.0, 0), 30)
    assert isinstance(empty, Ran) and empty.output(1).shape == (0, 10)


def test_every_kind_of_argument(compile_fake: Compile) -> None:
    kernel = compile_fake(SOURCE, "n::all_kinds")
    pair = np.array([(7, 0, 2.5)], np.dtype([("a", "i4"), ("pad", "i4"), ("b", "f8")])).tobytes()
    out = np.zeros(7)
    done = kernel.launch(_launch(np.bool_(True), -3, 2**64 - 2**12, 0.5, 0.1, pair, out), 30)
    assert isinstance(done, Ran), done
    assert done.output(6).tolist() == [1, -3, 2**64 - 2**12, 0.5, 0.1, 7, 2.5]


def test_torch_tensors(compile_fake: Compile) -> None:
    torch = pytest.importorskip("torch")
    kernel = compile_fake(SOURCE, "n::scale<unsigned short>")
    given = torch.arange(6, dtype=torch.float32).to(torch.bfloat16).reshape(2, 3).t()
    done = kernel.launch(_launch(given, torch.zeros(3, 2, dtype=torch.bfloat16), 1, 6, grid=1, block=6), 30)
    assert isinstance(done, Ran), done
    back = torch.from_numpy(done.output(1)).view(torch.bfloat16)
    assert torch.equal(back, given)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((np.zeros(1, np.float32),), "4 parameters, given are 1"),
        ((1.5, np.zeros(1, np.float32), np.float64(1), 1), "argument 2 has 8 bytes, the parameter 4"),
        ((None, None, np.zeros(1), 1), "argument 2 is an array, the parameter is no pointer"),
        ((None, None, 1.0, 2**40), "does not fit 4 bytes"),
        ((None, None, 1.0, object()), "cannot be passed"),
    ],
)
def test_arguments_that_do_not_fit(compile_fake: Compile, arguments: tuple[Any, ...], said: str) -> None:
    done = compile_fake(SOURCE, "n::scale<float>").launch(_launch(*arguments), 30)
    assert isinstance(done, NotRun) and said in done.reason


def test_variables_are_set(compile_fake: Compile) -> None:
    kernel = compile_fake(SOURCE, "n::look_up")
    values = np.array([4, 3, 2, 1], np.float32)
    done = kernel.launch(_launch(np.zeros(4, np.float32), block=4, constants=(("n::table", values),)), 30)
    assert isinstance(done, Ran), done
    np.testing.assert_array_equal(done.output(0), values)
    unknown = kernel.launch(_launch(np.zeros(4, np.float32), block=4, constants=(("n::other", values),)), 30)
    assert isinstance(unknown, NotRun) and "n::other" in unknown.reason.replace("‘", "").replace("'", "")
    long = kernel.launch(_launch(np.zeros(4, np.float32), constants=(("n::table", np.zeros(5)),)), 30)
    assert isinstance(long, NotRun) and "more bytes" in long.reason


def test_what_goes_wrong_takes_down_the_child_only(compile_fake: Compile) -> None:
    kernel = compile_fake(SOURCE, "n::misbehave")

    def run(how: int, seconds: float = 30) -> Any:
        return kernel.launch(_launch(how, np.zeros(1, np.int32)), seconds)

    began = time.monotonic()
    assert run(0, 1.0) == TimedOut(1.0)
    assert time.monotonic() - began < 20
    crashed, illegal, before, after, aborted = (run(how) for how in (1, 2, 3, 4, 5))
    assert isinstance(crashed, Fault) and "SIGSEGV" in str(crashed)
    assert isinstance(illegal, Fault) and illegal.kind is FaultKind.OUT_OF_BOUNDS
    assert "cudaErrorIllegalAddress (700): made up" in str(illegal)
    assert isinstance(before, Fault) and "written before the memory of argument 1" in str(before)
    assert isinstance(after, Fault) and "written after the memory of argument 1" in str(after)
    assert isinstance(aborted, Fault) and aborted.kind is FaultKind.OUT_OF_BOUNDS
    assert "Memory access fault by GPU node-1" in str(aborted)
    printed, gone, fine = run(6), run(7), run(8)
    assert isinstance(printed, Ran) and isinstance(fine, Ran) and fine.output(1)[0] == 8
    assert isinstance(gone, Fault) and "exit status 3" in str(gone)


def test_the_runtime_refuses(compile_fake: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compile_fake(SOURCE, "n::scale<double>")
    array = np.zeros(1)
    done = kernel.launch(_launch(array, array, 1.0, 1, block=2048), 30)
    assert isinstance(done, NotRun) and "(9)" in done.reason
    kernel.close()
    monkeypatch.setenv("FAKE_NO_GPU", "1")
    none = kernel.launch(_launch(array, array, 1.0, 1), 30)
    assert isinstance(none, NotRun) and "(100)" in none.reason


def test_a_launcher_is_called_as_it_is(compile_fake: Compile) -> None:
    kernel = compile_fake(SOURCE, "n::forward")
    assert kernel.harness.unit.kind == "launcher"
    done = kernel.launch(_launch(np.arange(3, dtype=np.float32), np.zeros(3, np.float32), 3), 30)
    assert isinstance(done, Ran) and done.output(1).tolist() == [1, 2, 3]


def test_times_agree_with_the_clock(compile_fake: Compile) -> None:
    """A kernel that sleeps 20 ms, timed by events; the sleep cannot be shorter."""
    kernel = compile_fake(SOURCE, "n::sleep")
    measured = kernel.time(_launch(np.zeros(1, np.int32)), 60, warmup=2, repeats=9, flush_bytes=1 << 20)
    assert isinstance(measured, Measured), measured
    assert len(measured.milliseconds) == 9
    found = spread(measured.milliseconds)
    assert 0.020 <= found.least <= found.low <= found.median <= found.high
    for outputs in (measured.before, measured.after):
        assert outputs[0] is not None and outputs[0].tolist() == [1]
    limits = ceilings(measured.properties)
    assert limits.bytes_per_second == 2 * 2619e6 * 5120 / 8
    assert limits.operations_per_second == 2 * 128 * 132 * 1980e6
    rates = achieved(found.median, 1e9, None, limits)
    assert rates.operations_per_second is None and rates.bytes_per_second == 1e9 / found.median


def test_a_compiler_that_refuses(compile_fake: Compile) -> None:
    with pytest.raises(AssertionError, match="BuildFailed"):
        compile_fake(SOURCE.replace("out[i] = in[i] * factor", "out[i] = nothing"), "n::scale<int>")
