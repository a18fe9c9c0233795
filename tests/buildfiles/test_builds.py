"""Converted build files with the real tools: CMake's HIP language and make, both styles, and nvcc for the CUDA side."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.system.needs import need
from tests.cli.command import porter
from tests.kept import folder_made_by
from tests.outside import needs, nvcc_that_links, place, require

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
CLANG, NEW_CLANG = (path if isinstance(path := place(name), str) else None for name in ("clang++ of hipcc", "clang++"))
HIP_VERSION = Path("/usr/include/hip/hip_version.h")
HIP_CMAKE = LIBRARIES / "cmake" / "hip-lang" / "hip-lang-config.cmake"

needs_hip_cmake = pytest.mark.skipif(
    not HIP_CMAKE.is_file(), reason=f"no CMake files of HIP's ({need('HIP runtime').remedy})"
)
pytestmark = pytest.mark.slow


def built(sample: str, style: str, fill: Callable[[Path], None], *tools: str) -> Path:
    """A folder with what came of a sample; made once for as long as porter, the sample and the tools are the same."""
    programs = [require(name) for name in tools]
    said = [word for path in programs for word in (path, run(Path(), path, "--version"))]
    files = [path for path in (SAMPLES / sample).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    read = [path for path in (*sorted(files), HIP_VERSION) if path.is_file()]
    texts = [word for path in read for word in (str(path), path.read_bytes())]
    return folder_made_by(fill, fill.__qualname__, sample, style, *said, *texts)


def ported(folder: Path, sample: str, style: str) -> Path:
    out = folder / "out"
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


def rocm_in(folder: Path) -> Path:
    """The distribution's HIP in the layout that CMake's HIP language looks for."""
    root = folder / "rocm"
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
def test_cmake_builds_for_amd(sample: str, programs: tuple[str, ...], style: str) -> None:
    """Linked programs with code for gfx90a; then each HIP command once more with a newer clang, for gfx942."""

    def fill(made: Path) -> None:
        folder = ported(made, sample, style)
        build = configured(folder, rocm_in(made), style)
        run(folder, "cmake", "--build", build)
        if NEW_CLANG is not None:
            check_again(build, NEW_CLANG)

    build = built(sample, style, fill, "cmake", "clang++ of hipcc") / "out" / "build"
    for program in programs:
        assert b"gfx90a" in (build / program).read_bytes()


def check_again(build: Path, clang: str) -> None:
    """The HIP commands of a build with another compiler."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = entry["command"].split()
        if words[0] != CLANG:
            continue
        again = [word.replace("gfx90a", "gfx942") for word in words[1 : words.index("-o")]]
        source = [*(["-x", "hip"] if entry["file"].endswith(".cu") else []), entry["file"]]
        flags = [*again, "-nogpulib", "-fsyntax-only", "--cuda-device-only", *source]
        run(Path(entry["directory"]), clang, *(word for word in flags if not re.match(r"--rocm-device", word)))


@needs("hipcc", "make")
@pytest.mark.parametrize("style", ["renamed", "dual"])
def test_make_builds_for_amd(style: str) -> None:
    def fill(made: Path) -> None:
        folder = ported(made, "spmv_csr", style)
        run(folder, "make", "ARCH=gfx90a", *(["USE_HIP=1"] if style == "dual" else []))

    assert b"gfx90a" in (built("spmv_csr", style, fill, "hipcc", "make") / "out" / "build" / "spmv").read_bytes()


@needs("nvcc", "cmake")
def test_cmake_of_a_dual_tree_builds_with_nvcc() -> None:
    def fill(made: Path) -> None:
        folder = ported(made, "image_filters", "dual")
        run(folder, "cmake", "-S", ".", "-B", "build", "-DCMAKE_CUDA_ARCHITECTURES=80", CUDACXX=nvcc_that_links(made))
        run(folder, "cmake", "--build", "build")

    assert (built("image_filters", "dual", fill, "nvcc", "cmake") / "out/build/apps/filters_check").is_file()


@needs("nvcc", "make")
def test_make_of_a_dual_tree_builds_with_nvcc() -> None:
    def fill(made: Path) -> None:
        folder = ported(made, "spmv_csr", "dual")
        run(folder, "make", PATH=f"{Path(nvcc_that_links(made)).parent}:{os.environ['PATH']}")

    assert (built("spmv_csr", "dual", fill, "nvcc", "make") / "out" / "build" / "spmv").is_file()
