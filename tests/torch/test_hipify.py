"""PyTorch's own hipify over our output, as CUDAExtension runs it at build time on ROCm."""

from __future__ import annotations

import difflib
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.command import porter
from tests.later import later

hipify_python = later("torch.utils.hipify.hipify_python")

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ("torch_extension",)
SOURCES = frozenset({".cu", ".hip", ".cpp", ".cc", ".c"})
LEFT_TO_HIPIFY = re.compile(
    r'\s*#include <(?:ATen|c10)/|\s*#include "(?:hip/hip_runtime\.h|.*_hip\.\w+)"|// !!! This is a file automatically'
)
LAUNCH = re.compile(r"<<<|hipLaunchKernelGGL")


def hipify(folder: Path, sources: list[Path]) -> dict[str, tuple[str, Path | None]]:
    """Status and result for each file that hipify looked at."""
    hipify_python.HIPIFY_FINAL_RESULT.clear()
    found = hipify_python.hipify(
        project_directory=str(folder),
        output_directory=str(folder),
        header_include_dirs=[],
        includes=[os.path.join(folder, "*")],  # noqa: PTH118
        extra_files=[str(path) for path in sources],
        is_pytorch_extension=True,
        hipify_extra_files_only=True,
    )
    return {
        str(Path(path).relative_to(folder)): (done.status, Path(done.hipified_path) if done.hipified_path else None)
        for path, done in found.items()
    }


def ported(tmp_path: Path, sample: str, *options: str) -> Path:
    out = tmp_path / "out"
    done = porter("port", ROOT / "samples" / sample, "-o", out, *options)
    assert done.code == 0, done.stdout + done.stderr
    return out


def sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_standalone_port_is_not_touched(tmp_path: Path, sample: str) -> None:
    out = ported(tmp_path, sample, "--torch", "standalone")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for status, _ in hipify(out, sources(out)).values():
        assert status in ("[ignored, input is hipified output]", "[skipped, no changes]")
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    text = "\n".join(path.read_text() for path in sources(out))
    assert not re.search(r"(?:ATen|c10)/cuda/", text)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("style", ["renamed", "dual"])
def test_hipify_changes_only_what_was_left_to_it(tmp_path: Path, sample: str, style: str) -> None:
    out = ported(tmp_path, sample, "--style", style)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for path, (_, result) in hipify(out, sources(out)).items():
        if result is None or result == out / path or style == "dual":
            continue
        old, new = (out / path).read_text().splitlines(), result.read_text().splitlines()
        lines = [line[2:] for line in difflib.ndiff(old, new) if line.startswith(("- ", "+ "))]
        strange = [line for line in lines if not LEFT_TO_HIPIFY.match(line) and not LAUNCH.search(line)]
        assert all(line.strip() in ("", "#include <hip/hip_runtime.h>") or "porter/" in line for line in strange), (
            strange
        )
    assert {path: path.read_bytes() for path in before} == before


def test_support_headers_are_hips_already(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "porter" / "include" / "porter", tmp_path / "porter")
    headers = sorted((tmp_path / "porter").iterdir())
    assert {status for status, _ in hipify(tmp_path, headers).values()} == {"[skipped, no changes]"}
