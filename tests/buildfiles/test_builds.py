"""Converted build files with the real tools: CMake's HIP language and make, both styles, and nvcc for the CUDA side."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from porter.system.needs import need
from tests.cli.command import porter
from tests.outside import needs, nvcc_that_links, place

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
CLANG, NEW_CLANG = (path if isinstance(path := place(name), str) else None for name in ("clang++ of hipcc", "clang++"))
HIP_CMAKE = LIBRARIES / "cmake" / "hip-lang" / "hip-lang-config.cmake"

needs_hip_cmake = pytest.mark.skipif(
    not HIP_CMAKE.is_file(), reason=f"no CMake files of HIP's ({need('HIP runtime').remedy})"
)
pytestmark = pytest.mark.slow


def ported(tmp_path: Path, sample: str, style: str) -> Path:
    out = tmp_path / "out"
    done = porter("port", SAMPLES / sample, "-o", out, "--style", style)
    assert done.code == 0, done.stdout + done.stderr
    return out


def run(folder: Path, *command: object, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, "HIP_PLATFORM": "amd", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def rocm(tmp_path: Path) -> Path:
    """The distribution's HIP in the layout that CMake's HIP language looks for."""
    root = tmp_path / "rocm"
    root.mkdir()
    for name, target in (("lib", LIBRARIES), ("bin", Path("/usr/bin")), ("include", Path("/usr/include"))):
        (root / name).symlink_to(target)
    return root


def configured(folder: Path, rocm: Path, style: str) -> Path:
    flags = f"--rocm-path=/usr --rocm-device-lib-path={LIBRARIES}/amdgcn/bitcode"
    run(
        folder,
        *("cmake", "-S", ".", "-B", "build", "-DCMAKE_HIP_ARCHITECTURES=gfx90a", f"-DCMAKE_HIP_COMPILER={CLANG}"),
        *(f"-DCMAKE_HIP_COMPILER_ROCM_ROOT={rocm}", f"-DCMAKE_HIP_FLAGS={flags}"),
        *("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DUSE_HIP=ON" if style == "dual" else "-DUNUSED=1"),
        CMAKE_PREFIX_PATH=str(rocm),
    )
    return folder / "build"


@needs("cmake", "clang++ of hipcc")
@needs_hip_cmake
@pytest.mark.parametrize(
    ("sample", "programs", "style"),
    [
        ("image_filters", ("apps/filters_check", "apps/filters_threshold"), "renamed"),
        ("image_filters", ("apps/filters_check", "apps/filters_threshold"), "dual"),
        ("spmv_csr", ("spmv_check",), "renamed"),
    ],
)
def test_cmake_builds_for_amd(tmp_path: Path, rocm: Path, sample: str, programs: tuple[str, ...], style: str) -> None:
    """Linked programs with code for gfx90a; then each HIP command once more with a newer clang, for gfx942."""
    folder = ported(tmp_path, sample, style)
    build = configured(folder, rocm, style)
    run(folder, "cmake", "--build", build)
    for program in programs:
        assert b"gfx90a" in (build / program).read_bytes()
    if NEW_CLANG is None:
        return
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = entry["command"].split()
        if words[0] != CLANG:
            continue
        again = [word.replace("gfx90a", "gfx942") for word in words[1 : words.index("-o")]]
        source = [*(["-x", "hip"] if entry["file"].endswith(".cu") else []), entry["file"]]
        flags = [*again, "-nogpulib", "-fsyntax-only", "--cuda-device-only", *source]
        run(Path(entry["directory"]), NEW_CLANG, *(word for word in flags if not re.match(r"--rocm-device", word)))


@needs("hipcc", "make")
@pytest.mark.parametrize("style", ["renamed", "dual"])
def test_make_builds_for_amd(tmp_path: Path, style: str) -> None:
    folder = ported(tmp_path, "spmv_csr", style)
    run(folder, "make", "ARCH=gfx90a", *(["USE_HIP=1"] if style == "dual" else []))
    assert b"gfx90a" in (folder / "build" / "spmv").read_bytes()


@needs("nvcc", "cmake")
def test_cmake_of_a_dual_tree_builds_with_nvcc(tmp_path: Path) -> None:
    folder = ported(tmp_path, "image_filters", "dual")
    run(folder, "cmake", "-S", ".", "-B", "build", "-DCMAKE_CUDA_ARCHITECTURES=80", CUDACXX=nvcc_that_links(tmp_path))
    run(folder, "cmake", "--build", "build")
    assert (folder / "build" / "apps" / "filters_check").is_file()


@needs("nvcc", "make")
def test_make_of_a_dual_tree_builds_with_nvcc(tmp_path: Path) -> None:
    folder = ported(tmp_path, "spmv_csr", "dual")
    run(folder, "make", PATH=f"{Path(nvcc_that_links(tmp_path)).parent}:{os.environ['PATH']}")
    assert (folder / "build" / "spmv").is_file()
