"""printf in kernels, against the same printf compiled for the host."""

# ruff: noqa: E501
from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.printf import render
from porter.validation.devices.core.result import Ran

PRINTS = r"""
  printf("plain text, no value, 100%%\n");
  printf("%d %i %u %x %X %o %c|", i - 3, -i, 4000000000u + i, 255 + i, 48879 + i, 64 + i, 'a' + i);
  printf("%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%#x|%#o|", i, i, i, i, i, i, i, i + 16, i + 8);
  printf("%ld %lld %lu %llx %zu %hhd %hd|", (long)i << 40, -(1ll << (40 + i)), ~0ul - i, 1ull << (60 + i), sizeof(int), 300 + i, 70000 + i);
  printf("%f %.2f %10.3f %e %g %G %a|", 1.5 * i, 2.0f / 3 + i, -i * 1e3, 12345.678 * i, 1e-10 * i, 1e20 * i, 0.5 + i);
  printf("%f %f %F %5.1f|%-8.2f|%08.2f|", 1.0 / (i - i), -1.0 / (i - i), 0.0, 3.14159, 2.71828, 1.41421);
  printf("%s|%10s|%-10s|%.3s|", "text", "right", "left", "cut off");
  printf("%s%s%s", i & 1 ? "odd" : "even", "", ", a string of more than fifty-six bytes: it takes several fragments, in order\n");
  printf("%*d|%-*d|%.*f|%*.*f\n", 6, i, 6, i, 2, 1.0 * i, 9, 3, 2.0 * i);
"""


def test_printf_as_the_host_prints(compile_hip: Compile, tmp_path: Path) -> None:
    compiler = find_host_compiler()
    if compiler is None:
        pytest.skip("no host compiler")
    source = tmp_path / "host.c"
    source.write_text(f"#include <stdio.h>\nint main(void) {{ for (int i = 0; i < 4; i++) {{ {PRINTS} }} return 0; }}")
    subprocess.run([compiler.path, "-w", str(source), "-o", str(tmp_path / "host")], check=True)
    expected = subprocess.run([str(tmp_path / "host")], capture_output=True, text=True, check=True).stdout
    module = compile_hip(f'extern "C" __global__ void k(int n) {{ int i = n; {PRINTS} }}', quickly=True)
    printed = ""
    for n in range(4):
        done = module.launch("k", 1, 1, [n])
        assert isinstance(done, Ran), done
        printed += done.printed
    assert printed == expected


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_lane_prints_once(compile_hip: Compile, level: str, threads: int) -> None:
    module = compile_hip(
        'extern "C" __global__ void k(const int* a) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n'
        '  if (a[i] & 1) printf("thread %d has %d\\n", i, a[i]); }',
        level,
    )
    a = np.random.default_rng(3).integers(0, 100, 256).astype(np.int32)
    done = module.launch("k", 2, 128, [a], options=Options(threads=threads))
    assert isinstance(done, Ran), done
    assert sorted(done.printed.splitlines()) == sorted(f"thread {i} has {v}" for i, v in enumerate(a) if v & 1)


class _Words:
    def __init__(self, *words: int | bytes) -> None:
        self.words = list(words)

    def word(self, size: int) -> int:
        word = self.words.pop(0)
        assert isinstance(word, int)
        return word

    def string(self) -> bytes:
        word = self.words.pop(0)
        assert isinstance(word, bytes)
        return word


def test_render_leaves_what_it_does_not_know() -> None:
    assert render(b"%y %", _Words()) == b"%y %"
    assert render(b"%hhd %d", _Words(0xFFFFFFFFFFFFFF80, 0xFFFFFFFF)) == b"-128 -1"
    assert render(b"%p|%14p|%c", _Words(0x7F00, 0x7F00, 65)) == b"0x7f00|        0x7f00|A"
    assert render(b"a%nb %s", _Words(0, b"x")) == b"ab x"
    assert render(b"%*d|%.*f", _Words((1 << 32) - 5, 7, (1 << 32) - 1, 0x3FF8000000000000)) == b"7    |1.500000"
