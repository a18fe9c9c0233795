"""Branches that a source leaves out: no draft reads types from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.draft.branches import without_dead
from porter.validation.draft.init import draft


def left(text: str, *defines: str) -> list[str]:
    made = without_dead(text, defines)
    assert len(made) == len(text) and made.count("\n") == text.count("\n")
    return [line.strip() for line in made.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("#ifdef A\nx\n#endif\n", ["x"]),  # a feature that a build may switch on
        ("#ifdef A\nx\n#else\ny\n#endif\n", ["y"]),
        ("#ifdef A\n__global__ void k();\n#else\ny\n#endif\n", ["__global__ void k();", "y"]),
        ("#ifdef HAVE_A\nx\n#else\ny\n#endif\n", ["x", "y"]),
        ("#if CUDART_VERSION > 9000\nx\n#else\ny\n#endif\n", ["x", "y"]),
        ("#if __CUDA_ARCH__ >= 600\nx\n#else\ny\n#endif\n", ["x", "y"]),
        ("#define A\n#ifdef A\nx\n#else\ny\n#endif\n", ["x"]),
        ("#define A\n#undef A\n#ifdef A\nx\n#else\ny\n#endif\n", ["y"]),
        ("#ifdef F\n#define A\n#endif\n#ifdef A\nx\n#else\ny\n#endif\n", ["y"]),
        ("#if HAVE_F\n#define A\n#endif\n#ifdef A\nx\n#else\ny\n#endif\n", ["x", "y"]),
        ("#define P 2\n#if P == 1\nx\n#elif P == 2\ny\n#else\nz\n#endif\n", ["y"]),
        ("#define D 2\n#define P D\n#if P == 1\nx\n#elif P == 2\ny\n#endif\n", ["y"]),
        ("#if 0\nx\n#endif\ny\n", ["y"]),
        ("#if 0\n#if 1\nx\n#endif\n#else\ny\n#endif\n", ["y"]),
        ("#ifndef H\n#define H\nx\n#ifdef H\ny\n#else\nz\n#endif\n#endif\n", ["x", "y"]),
        ("#if defined(__CUDACC__) && !defined(_WIN32)\nx\n#else\ny\n#endif\n", ["x"]),
        ("#else\nx\n#endif\n#ifdef A\ny\n", ["x", "y"]),  # what nothing opens, and nothing closes
    ],
)
def test_what_is_left(text: str, wanted: list[str]) -> None:
    assert left(text) == wanted


def test_the_command_line_decides() -> None:
    text = "#ifdef WIDE\nx\n#else\ny\n#endif\n#if BITS == 64\nz\n#endif\n"
    assert left(text) == ["y", "z"]
    assert left(text, "WIDE", "BITS=32") == ["x"]


def test_a_type_behind_a_condition(tmp_path: Path) -> None:
    text = (
        "{}\n#ifdef DOUBLE\n#define Real double\n#else\n#define Real float\n#endif\n"
        "__global__ void k(Real* a, Real b) {{ a[threadIdx.x] = b; }}\n"
    )
    for above, wanted in (("#define DOUBLE", "float64"), ("", "float32")):
        (tmp_path / "k.cu").write_text(text.format(above))
        (part,) = draft(tmp_path / "k.cu", assuming=True).parts
        assert f'  "scalar b: {wanted} = b",' in part.after
