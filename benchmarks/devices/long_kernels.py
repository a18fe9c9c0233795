"""What long kernels cost the host compiler: run as `python -m benchmarks.devices.long_kernels [FILE.cu ...]`.

Translates kernels of growing length for both virtual devices and builds them anew, and prints lines of assembly, blocks
and seconds of CPU time. The kernels are written here (rounds of a loop with a data-dependent branch in it, and memory);
with files, every kernel of theirs that is longer than 1,000 lines of PTX, for `ptx` only.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from porter.validation.devices import gfx942, ptx
from porter.validation.devices.core.launch import Image
from porter.validation.toolchain import nvcc
from porter.validation.toolchain.clang import assemble_text
from porter.validation.toolchain.result import Assembled

SIZES = (20, 40, 80, 160)
LONG = 1000
ROUND = """
  for (int k = 0; k < n; k++) {{
    x = x * {scale}f + a[(i + k * {odd}) % n];
    if (x > {limit}.0f) {{ x = sqrtf(x); u ^= u >> {shift}; }} else {{ x += y; y *= 0.5f; u += {odd}u; }}
    if ((u & {odd}u) == 1u) {{ a[i] = y; break; }}
  }}
  if (u & {bit}u) y = x - y; else x = y + {scale}f;
"""


def written(rounds: int) -> str:
    """A kernel of that many rounds."""
    body = "".join(
        ROUND.format(scale=1 + k / 1000, odd=2 * k + 1, limit=k, shift=1 + k % 29, bit=1 << k % 31)
        for k in range(rounds)
    )
    return f"""
extern "C" __global__ void rounds(float* a, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i, y = 0.5f;
  unsigned u = i * 2654435761u;
  #pragma clang loop unroll(disable)
  {body}
  a[i] = x + y + u;
}}
"""


def seconds() -> float:
    """CPU time of finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(name: str, module: ptx.Module | gfx942.Module, kernel: str, lines: int) -> None:
    """Build one kernel, and print a row."""
    before = seconds()
    made = module.translate(kernel)
    if not isinstance(made, Image):
        raise SystemExit(f"{kernel}: {made}")
    print(f"| {name} | {kernel[:40]} | {lines} | {made.segment_count} | {seconds() - before:.1f} |", flush=True)


def on_ptx(source: Path) -> tuple[ptx.Module, str]:
    """The module, and its text."""
    made = nvcc.ptx(source, include_dirs=(source.parent,))
    if not isinstance(made, Assembled):
        raise SystemExit(str(made))
    module = ptx.open_device().compile(made.text)  # type: ignore[union-attr]
    if not isinstance(module, ptx.Module):
        raise SystemExit(str(module))
    return module, made.text


def on_gfx942(code: str) -> tuple[gfx942.Module, str]:
    """The module, and its text."""
    made = assemble_text(code)
    if not isinstance(made, Assembled):
        raise SystemExit(str(made))
    module = gfx942.open_device().compile(made.text)  # type: ignore[union-attr]
    if not isinstance(module, gfx942.Module):
        raise SystemExit(str(module))
    return module, made.text


def lengths(text: str) -> Iterator[tuple[str, int]]:
    """Kernels of a PTX file, and how many instructions each has."""
    for match in re.finditer(r"\.entry\s+(\w+)(.*?)^\}", text, re.DOTALL | re.MULTILINE):
        yield match[1], len(re.findall(r"^\s+[^.\s/].*;$", match[2], re.MULTILINE))


def main(files: list[str]) -> None:
    """All rows."""
    print("| device | kernel | lines | blocks | CPU s |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            module, text = on_ptx(Path(file))
            os.environ["PORTER_CACHE_DIR"] = folder
            for kernel, count in lengths(text):
                if count > LONG:
                    build("ptx", module, kernel, count)
        for rounds in SIZES if not files else ():
            source = Path(folder) / f"k{rounds}.cu"
            source.write_text(written(rounds))
            module, text = on_ptx(source)
            os.environ["PORTER_CACHE_DIR"] = folder
            build("ptx", module, "rounds", dict(lengths(text))["rounds"])
            port, assembly = on_gfx942(source.read_text())
            build("gfx942", port, "rounds", len(re.findall(r"^\t[^.]", assembly, re.MULTILINE)))


if __name__ == "__main__":
    main(sys.argv[1:])
