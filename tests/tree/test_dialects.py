"""Whose code the files of a tree are."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.project.dialects import dialect_of
from porter.settings import Choices
from tests.tree.trees import make_tree

KERNEL = "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"
HIP = f"#include <hip/hip_runtime.h>\n{KERNEL}"
CUDA = f"#include <cuda_runtime.h>\n{KERNEL}"

TREES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a header that is AMD's as a whole": (
        {"a.cu": f'#include "a.cuh"\n{KERNEL}', "a.cuh": f"#pragma once\n#ifdef USE_ROCM\n{KERNEL}#endif\n"},
        {"a.cu": "cuda", "a.cuh": "cuda"},
    ),
    "a library for both with a backend each": (
        {
            "lib.hpp": '#ifdef __HIP_PLATFORM_NVIDIA__\n#include "cub.hpp"\n#endif\n#include <hip/hip_runtime.h>\n',
            "cub.hpp": "#include <cub/cub.cuh>\n",
            "test.cpp": f'#include "lib.hpp"\n{KERNEL}',
            "own.hpp": "#include <cuda_runtime.h>\n",
        },
        {"test.cpp": "hip", "lib.hpp": "hip", "cub.hpp": "nvidia", "own.hpp": "cuda"},
    ),
    "what only a branch for NVIDIA leads to, and what it includes": (
        {
            "lib.hpp": '#ifdef __HIP_PLATFORM_AMD__\n#include "amd.hpp"\n#else\n#include "nv/all.hpp"\n#endif\n',
            "amd.hpp": "#include <hip/hip_runtime.h>\n",
            "nv/all.hpp": '#include "one.hpp"\n#include "../both.hpp"\n',
            "nv/one.hpp": "#include <cub/cub.cuh>\n",
            "both.hpp": "int both();\n",
            "test.cpp": f'#include "lib.hpp"\n#include "both.hpp"\n{KERNEL}',
        },
        {"nv/all.hpp": "nvidia", "nv/one.hpp": "nvidia", "both.hpp": "hip", "amd.hpp": "hip", "test.cpp": "hip"},
    ),
    "a folder for each vendor, of which the one for CUDA includes nothing of CUDA's": (
        {
            "cuda/a.cpp": f'#include "k.h"\n{KERNEL}void f(void **p) {{ cudaMalloc(p, 4); }}\n',
            "cuda/k.h": KERNEL,
            "hip/a.cpp": f'#include "k.h"\n{HIP}void f(void **p) {{ hipMalloc(p, 4); }}\n',
            "hip/k.h": HIP,
        },
        {"cuda/a.cpp": "both", "cuda/k.h": "both", "hip/a.cpp": "hip", "hip/k.h": "hip"},
    ),
    "a tree of AMD's whose comments and messages name CUDA": (
        {
            "a.cpp": f'{KERNEL}// as cudaMalloc(p, 4)\n/* * cudaFree(p) */\nvoid f() {{ puts("cudaFree(p)"); }}\n',
            "k.hip": HIP,
        },
        {"a.cpp": "hip", "k.hip": "hip"},
    ),
    "a branch that nvcc takes, and so does a port": (
        {"a.h": '#ifdef __CUDACC__\n#include "k.cuh"\n#endif\n', "k.cuh": CUDA, "a.cu": f'#include "a.h"\n{KERNEL}'},
        {"k.cuh": "cuda"},
    ),
    "a header that another file includes in the open": (
        {
            "a.h": '#ifndef USE_ROCM\n#include "k.cuh"\n#endif\n',
            "k.cuh": CUDA,
            "a.cu": f'#include "a.h"\n{KERNEL}',
            "b.cu": f'#include "k.cuh"\n{KERNEL}',
        },
        {"k.cuh": "cuda"},
    ),
    "a name that is included in the open once": (
        {
            "a.cu": f'#ifndef USE_ROCM\n#include "k.cuh"\n#else\n#include "k.cuh"\n#endif\n{KERNEL}',
            "k.cuh": CUDA,
        },
        {"k.cuh": "cuda"},
    ),
    "a source that is included, and compiled": (
        {"a.cu": f'#ifndef USE_ROCM\n#include "b.cu"\n#endif\n{KERNEL}', "b.cu": CUDA},
        {"b.cu": "cuda"},
    ),
    "two that include one another behind the branch": (
        {
            "a.cu": f'#ifndef USE_ROCM\n#include "one.cuh"\n#endif\n{KERNEL}',
            "one.cuh": '#include "two.cuh"\n',
            "two.cuh": f'#include "one.cuh"\n{KERNEL}',
        },
        {"one.cuh": "nvidia", "two.cuh": "nvidia"},
    ),
    "AMD's project whose sources are called .cu": (
        {"a.cu": HIP, "b.cu": HIP, "c.cu": KERNEL, "d.cuh": HIP},
        {"c.cu": "hip"},
    ),
    "the same with one of CUDA's": (
        {"a.cu": HIP, "b.cu": HIP, "c.cu": KERNEL, "d.h": CUDA},
        {"c.cu": "cuda"},
    ),
    "CUDA's project with one file for AMD": (
        {"a.cu": KERNEL, "b.cu": KERNEL, "c.hip": HIP},
        {"a.cu": "cuda", "c.hip": "hip"},
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree(tmp_path: Path, name: str) -> None:
    files, wanted = TREES[name]
    make_tree(tmp_path, files)
    assert {path: dialect_of(tmp_path, tmp_path / path, Choices()).value for path in wanted} == wanted
