"""`porter build` and the toolchains need no numpy, no torch."""

from __future__ import annotations

import subprocess
import sys


def test_building_needs_the_base_install_only() -> None:
    code = "import porter.validation.build.run, porter.validation.build.report, porter.validation.toolchain.nvcc, sys"
    shown = "print(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'torch', 'pybind11'}))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{shown}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
