"""Conditions on the GPU's generation: which code is taken because nothing else is there."""

from __future__ import annotations

import pytest

from porter.engine.support import load_support
from porter.engine.unit import Unit
from porter.model import Settings
from porter.names.table import load_names
from porter.source import SourceFile
from porter.warp.ptx.generation import NAME, sole_code

MMA = (
    'asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%5,%6};" : "=r"(d), "=r"(d) '
    ': "r"(a), "r"(a), "r"(a), "r"(a), "r"(a));'
)
TAKEN = (
    f"#if __CUDA_ARCH__ >= 800\n{MMA}\n#endif",
    f"#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ > 790)\n{MMA}\n#endif",
    "#if __CUDA_ARCH__ >= 750\nf();\n#else\n// nothing\n#endif",
    '#if __CUDA_ARCH__ >= 800\nf();\n#else\nassert(false && "not supported");\n#endif',
    '#if __CUDA_ARCH__ >= 800\nf();\n#else\nasm volatile("trap;");\n#endif',
    "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800\n#define HAS_MMA\n#endif",
    "#if __CUDA_ARCH__ >= 800\n#if __CUDA_ARCH__ == 860\ng();\n#endif\nf();\n#endif",
)
LEFT = (
    "#if __CUDA_ARCH__ >= 800\nf();\n#else\ng(x = 1);\n#endif",
    "#if __CUDA_ARCH__ >= 800\nreturn f();\n#else\nreturn g();\n#endif",
    "#if __CUDA_ARCH__ >= 700\nf();\n#endif",
    "#if __CUDA_ARCH__ >= 900\nf();\n#endif",
    "#if __CUDA_ARCH__ == 800\nf();\n#endif",
    "#if __CUDA_ARCH__ >= 750 && __CUDA_ARCH__ < 800\nf();\n#endif",
    "#if __CUDA_ARCH__ >= 800\nf();\n#elif __CUDA_ARCH__ >= 700\ng();\n#else\nh();\n#endif",
    '#if __CUDA_ARCH__ >= 800\nasm("wgmma.fence.sync.aligned;");\n#endif',
    "#if __CUDA_ARCH__ < 800\ng();\n#endif\n#if __CUDA_ARCH__ >= 800\nf();\n#endif",
    "#if __CUDA_ARCH__ >= 800 || defined(__HIP_PLATFORM_AMD__)\nf();\n#endif",
    "int x = __CUDA_ARCH__ >= 800;",
)


def unit_of(text: str) -> Unit:
    return Unit(SourceFile("a.cu", text.encode()), Settings(), load_names(None, {}), load_support(None))


@pytest.mark.parametrize("text", TAKEN)
def test_taken(text: str) -> None:
    unit = unit_of(f"__device__ void k(unsigned a, unsigned d) {{\n{text}\n}}\n")
    first = [index for index in unit.tokens.names[NAME] if unit.tokens.texts[index + 1] != "=="]
    assert sole_code(unit) == frozenset(first)


@pytest.mark.parametrize("text", LEFT)
def test_left(text: str) -> None:
    assert not sole_code(unit_of(f"__device__ void k(unsigned a, unsigned d) {{\n{text}\n}}\n"))
