"""Code objects without source: alone, bundled, compressed, in object files and stripped."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices.core.result import Fault, NotRun, Ran
from porter.validation.devices.gfx942 import Device, Module
from porter.validation.toolchain.clang import Missing, find_clang
from porter.validation.toolchain.headers import include_options
from test_kernels import CALLS, SUM

from tests.kept import folder_made_by
from tests.outside import require

CODE = (
    CALLS
    + SUM
    + """
#include <hip/hip_fp16.h>
extern "C" __global__ void mixed(const __half* a, const double* b, double* o, int n) {
  __shared__ double s[64];
  int i = threadIdx.x;
  s[i] = (double)__half2float(__hmul(a[i], a[(i + 1) & 63])) + sin(b[i]) / b[(i * 7) & 63];
  __syncthreads();
  double v = s[63 - i] + __shfl_xor(s[i], 5) * n;
  o[i] = v;
  if (n == 1) printf("lane %d: %g\\n", i, v);
}
int main() { return 0; }
"""
)


def build(folder: Path, *options: str) -> Path:
    """Compile CODE with clang; skips without clang, its offload tools or lld."""
    clang = find_clang()
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)
    require("ld.lld")
    require("clang-offload-bundler")
    command = [clang.path, "-x", "hip", "-std=c++17", "-O3", "-g", f"--rocm-device-lib-path={clang.bitcode}",
               "-mcode-object-version=5", "-D__HIP_PLATFORM_AMD__", *include_options(clang.headers), "-include",
               "hip/hip_runtime.h", "-c", *options]  # fmt: skip

    def fill(made: Path) -> None:
        source = made / "code.hip"
        source.write_text(CODE)
        words = [*command, str(source), "-o", str(made / "code.o")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return Path(shutil.copy(folder_made_by(fill, *command, CODE) / "code.o", folder))


def check(device: Device, path: Path, where: str) -> None:
    module = device.compile_object(path)
    assert isinstance(module, Module), module
    a = np.random.default_rng(1).random(64).astype(np.float32)
    done = module.launch("calls", 1, 64, [a, 5, np.zeros(64, np.int32)], shared=256)
    assert isinstance(done, Ran), done
    i = np.arange(64)
    s = np.zeros(64, np.float32)
    for k in range(5):
        s += a[(((k * i) & 15) + i) & 63]
    expected = np.where(i & 1, s * np.array([1, 2, 3], np.float32)[i % 3], s + (i & 3) + 1).astype(np.float32)
    assert np.array_equal(done.output(0), expected + a[(i + 1) & 63])
    x = np.random.default_rng(2).random(64)
    half = np.random.default_rng(3).random(64).astype(np.float16)
    done = module.launch("mixed", 1, 64, [half, x, np.zeros(64), 1])
    assert isinstance(done, Ran), done
    s64 = (half * np.roll(half, -1)).astype(np.float64) + np.sin(x) / x[i * 7 & 63]
    assert done.output(2) == pytest.approx(s64[63 - i] + s64[i ^ 5], rel=1e-14)
    assert done.printed.splitlines()[3] == f"lane 3: {done.output(2)[3]:g}"
    fault = module.launch("sum", 1, 64, [np.zeros(10, np.float32), np.zeros(1, np.float32), 64])
    assert isinstance(fault, Fault)
    assert where in str(fault)


def test_a_fat_object_file(device: Device, tmp_path: Path) -> None:
    made = build(tmp_path, "--offload-arch=gfx90a", "--offload-arch=gfx942", "--offload-compress")
    module = device.compile_object(made)
    assert isinstance(module, Module), module
    assert "gfx942" in module.program.target
    check(device, made, "code.hip:")
    assert device.compile_object(made, "no_such_kernel") == NotRun(f"{made}: no kernel named no_such_kernel")


def test_a_stripped_code_object(device: Device, tmp_path: Path) -> None:
    bundle = build(tmp_path, "--offload-arch=gfx942", "--cuda-device-only", "--no-gpu-bundle-output")
    strip = require("llvm-strip")
    subprocess.run([strip, str(bundle)], check=True)
    check(device, bundle, "assembly line")


def test_another_target_is_not_run(device: Device, tmp_path: Path) -> None:
    made = build(tmp_path, "--offload-arch=gfx1030", "--cuda-device-only")
    found = device.compile_object(made)
    assert isinstance(found, NotRun)
    assert "no code for gfx942" in found.reason


@pytest.mark.parametrize(("content", "reason"), [
    (b"plain text", "neither an ELF file nor an offload bundle"),
    (b"\x7fELF" + bytes(60), "EI_CLASS"),
    (b"__CLANG_OFFLOAD_BUNDLE__" + bytes(8), "neither an ELF file nor an offload bundle"),
])  # fmt: skip
def test_other_files_say_why(device: Device, tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    found = device.compile_object(path)
    assert isinstance(found, NotRun)
    assert reason.lower() in found.reason.lower()
