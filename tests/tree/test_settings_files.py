"""setup.cfg and pyproject.toml: copied, and reported where they are about CUDA."""

from __future__ import annotations

import pytest

from porter.buildfiles.mentions import kind_of_build, mention
from porter.engine.notices import BUILD_SETTINGS


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("setup.cfg", "[build_ext]\ninclude_dirs = /usr/local/cuda/include\n", 2),
        ("setup.cfg", "[build_ext]\nlibraries = cublas, cudart\n", 2),
        ("a/pyproject.toml", '[tool.scikit-build]\ncmake.args = ["-DCMAKE_CUDA_ARCHITECTURES=80"]\n', 2),
        ("pyproject.toml", '[tool.cibuildwheel]\nenvironment = { TORCH_CUDA_ARCH_LIST = "8.0" }\n', 2),
        ("pyproject.toml", '[project]\n\ndependencies = ["nvidia-cublas-cu12"]\n', 3),
        ("pyproject.toml", 'dependencies = ["cupy-cuda12x"]\n', 1),
        ("pyproject.toml", 'description = "Fast CUDA kernels"\nkeywords = ["cuda", "nvidia"]\n', None),
        ("pyproject.toml", 'classifiers = ["Environment :: GPU :: NVIDIA CUDA :: 12"]\n', None),
        ("setup.cfg", "[metadata]\nurl = https://example.org/cudalike\n", None),
    ],
)
def test_where_it_is_about_cuda(path: str, text: str, line: int | None) -> None:
    assert kind_of_build(path) is BUILD_SETTINGS
    found = mention(BUILD_SETTINGS, text.encode())
    assert (found.line if found else None) == line
