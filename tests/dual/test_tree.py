"""`porter port --style dual` on whole trees, and what --verify says about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.dual.verify import Outcome, _same_lines, proven, verdict_text, verify
from tests.cli.command import porter
from tests.outside import needs
from tests.tree.trees import make_tree

FILES: dict[str, bytes | str] = {
    "a.cu": '#include <cuda_runtime.h>\n#include "b.cuh"\n'
    "__global__ void k(int *p) { p[0] = max(3, p[1]) + __shfl_sync(~0u, p[2], 0); }\n"
    "int main() { return cudaDeviceSynchronize(); }\n",
    "b.cuh": "__global__ void __maxnreg__(128) b() {}\nint line() { return __LINE__; }\n",
    "c.cu": "int c;\n",
    "Makefile": "NVCC = nvcc\na: a.cu\n\t$(NVCC) -o a a.cu\n",
}


def tree_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_tree_for_both_vendors(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "src", FILES)
    done = porter("port", source, "-o", tmp_path / "out", "--style", "dual")
    assert done.code in (0, 1), done.stderr
    out = tree_of(tmp_path / "out")
    assert out["a.cu"].decode() == FILES["a.cu"]
    assert out["b.cuh"].decode().startswith("#ifdef __HIP_PLATFORM_AMD__\n__global__ void b() {}\n#else\n")
    assert b"#define __shfl_sync porter::shfl_sync\n" in out["porter/hip/cuda_to_hip.h"]
    assert "porter/warp32.hpp" in out
    assert (
        b"ifdef USE_HIP\nNVCC = hipcc -Iporter/hip -include cuda_runtime.h\nelse\nNVCC = nvcc\nendif\n"
        in out["Makefile"]
    )
    again = porter("port", tmp_path / "out", "-o", tmp_path / "twice", "--style", "dual")
    assert again.code == done.code, again.stderr
    twice = tree_of(tmp_path / "twice")
    assert {name: data for name, data in twice.items() if "manifest" not in name} == {
        name: data for name, data in out.items() if "manifest" not in name
    }


def test_one_file_cannot_be_dual(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "src", FILES)
    done = porter("port", source / "a.cu", "-o", tmp_path / "a.hip", "--style", "dual")
    assert done.code == 2
    assert "--style dual" in done.stderr


@pytest.mark.slow
@needs("nvcc")
def test_verify_proves_and_refutes(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "src", FILES)
    done = porter("port", source, "-o", tmp_path / "out", "--style", "dual", "--verify")
    assert "verify: 2 of 2 translation units are the same for CUDA (1 by their bytes, 1 by" in done.stderr
    from porter.project.manifest import read_manifest

    manifest = read_manifest(tmp_path / "out")
    assert manifest is not None
    header = tmp_path / "out" / "b.cuh"
    header.write_text(header.read_text().replace("128", "129"))
    verdicts = verify(source, tmp_path / "out", manifest.files.values())
    assert [verdict.outcome for verdict in verdicts] == [Outcome.DIFFERENT, Outcome.SAME_BYTES]
    assert not proven(verdicts)
    assert "a.cu: different: token" in verdict_text(verdicts)


@pytest.mark.slow
@needs("nvcc")
def test_verify_compares_several_units_at_a_time(tmp_path: Path) -> None:
    """Each with the headers that it lacks; what one lacks another does not see in the middle of its two sides."""
    unit = '#include <no_such/{0}.h>\n#if __has_include(<no_such/other.h>)\nint o;\n#endif\n#include "b.cuh"\n'
    files = {**FILES, **{f"u{n}.cu": unit.format(n) for n in range(4)}, "v.cu": "#include <no_such/other.h>\n"}
    source = make_tree(tmp_path / "src", files)
    done = porter("port", source, "-o", tmp_path / "out", "--style", "dual", "-q")
    assert done.code in (0, 1), done.stderr
    from porter.project.manifest import read_manifest

    manifest = read_manifest(tmp_path / "out")
    assert manifest is not None
    seen: list[tuple[int, int]] = []
    verdicts = verify(source, tmp_path / "out", manifest.files.values(), 3, lambda done, of: seen.append((done, of)))
    assert proven(verdicts), verdict_text(verdicts)
    assert seen == [(n + 1, 7) for n in range(7)]
    assert {v.path: v.missing for v in verdicts if v.path.startswith("u")} == {
        f"u{n}.cu": (f"no_such/{n}.h",) for n in range(4)
    }


def test_texts_that_differ_in_empty_lines_alone() -> None:
    assert _same_lines("int a;\n\n\nint b;\n", "int a;\nint b;\n")
    assert not _same_lines("int a;\n", "int b;\n")
    assert not _same_lines('char *r = R"(\n\n)";\n', 'char *r = R"(\n)";\n')
