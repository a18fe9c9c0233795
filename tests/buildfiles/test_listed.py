"""Which sources a build gives to AMD's compiler alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.buildfiles.engine import convert
from porter.buildfiles.listed import listed_for_amd
from porter.buildfiles.listed_cmake import condition
from porter.buildfiles.unit import BuildUnit, Kind
from porter.settings import Choices
from porter.source import SourceFile
from tests.tree.trees import make_tree

KNOWN = frozenset({"csrc/a.cu", "csrc/b.cu", "csrc/amd/c.cu", "csrc/amd/d.cpp", "csrc/bind.cpp", "e.cpp"})


def cmake(text: str) -> frozenset[str]:
    """What one CMake file at the root lists for AMD."""
    return listed_for_amd([("CMakeLists.txt", text.encode())], KNOWN)


def setup(text: str) -> frozenset[str]:
    """What one setup.py lists for AMD."""
    return listed_for_amd([("setup.py", text.encode())], KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        'set(S csrc/a.cu)\nif(GPU_LANG STREQUAL "HIP")\n  list(APPEND S csrc/amd/c.cu)\nendif()',
        "if(USE_CUDA)\n add_library(k csrc/a.cu)\nelseif(USE_ROCM)\n add_library(k csrc/amd/c.cu)\nendif()",
        "if(NOT (USE_CUDA OR CPU_ONLY) AND HIP_FOUND)\n target_sources(k PRIVATE csrc/amd/c.cu)\nendif()",
        "if(NOT HIP_FOUND)\n add_library(k csrc/a.cu)\nelse()\n add_library(k csrc/amd/c.cu)\nendif()",
        "gpu_library(k SRCS csrc/a.cu HIP_SPECIFIC_SRCS csrc/amd/c.cu CUDA_SPECIFIC_SRCS csrc/b.cu)",
        "# HIP\nhip_add_library(k csrc/amd/c.cu)",
        "set_source_files_properties(csrc/amd/c.cu PROPERTIES LANGUAGE HIP)",
        "if(USE_HIP)\n add_library(k ${CMAKE_CURRENT_SOURCE_DIR}/csrc/amd/c.cu)\nendif()",
    ],
)
def test_a_list_of_cmake_for_amd(text: str) -> None:
    """By the condition around it, by a keyword in it, by the command."""
    assert cmake(text) == {"csrc/amd/c.cu"}


@pytest.mark.parametrize(
    "text",
    [
        "add_library(k csrc/amd/c.cu)\nif(USE_ROCM)\n set(X 1)\nendif()",
        "if(USE_ROCM)\n add_library(k csrc/a.cu)\nelse()\n add_library(k csrc/a.cu)\nendif()",
        "if(USE_ROCM OR USE_CUDA)\n add_library(k csrc/a.cu)\nendif()",
        "if(NOT USE_ROCM)\n add_library(k csrc/a.cu)\nendif()",
        "if(NOT USE_CUDA)\n add_library(k e.cpp)  # HIP, or no GPU at all\nendif()",
        "if(USE_CUDA)\n add_library(k csrc/a.cu)\nelse()  # hip\n add_library(k e.cpp)\nendif()",
        "if(HIP_PLATFORM_NVIDIA)\n add_library(k csrc/a.cu)\nendif()",
        "if(NO_HIP)\n add_library(k csrc/a.cu)\nendif()",
        "add_library(k csrc/a.cu)\n"
        "if(USE_HIP)\n set_source_files_properties(csrc/a.cu PROPERTIES LANGUAGE HIP)\nendif()",
        "if(USE_HIP)\n file(GLOB S csrc/*.cu)\nendif()",
        "set_source_files_properties(csrc/a.cu PROPERTIES COMPILE_FLAGS -DHIP)",
        'if(USE_HIP)\n message("csrc/a.cu")\nendif()',
    ],
)
def test_what_is_not_for_amd_alone(text: str) -> None:
    """Listed for others as well, for nobody in particular, or by a pattern that takes CUDA's files."""
    assert cmake(text) == frozenset()


def test_a_pattern_of_other_files_counts() -> None:
    """Sources that nvcc would not take by their names, in a folder that only AMD's branch lists."""
    assert cmake("if(USE_HIP)\n file(GLOB S csrc/amd/*.cpp)\nendif()") == {"csrc/amd/d.cpp"}


def test_lists_of_several_files_are_seen_together() -> None:
    """What one folder lists for AMD and another for all is for all."""
    files = [
        ("CMakeLists.txt", b"if(USE_HIP)\n add_library(k csrc/amd/c.cu csrc/a.cu)\nendif()"),
        ("csrc/CMakeLists.txt", b"add_library(k a.cu)"),
    ]
    assert listed_for_amd(files, KNOWN) == {"csrc/amd/c.cu"}


@pytest.mark.parametrize(
    "text",
    [
        "sources = ['csrc/a.cu']\nif IS_ROCM:\n    sources += ['csrc/amd/c.cu']",
        "if torch.version.hip is not None:\n    s = ['csrc/amd/c.cu']\nelse:\n    s = ['csrc/a.cu']",
        "if torch.version.hip is None and ok:\n    s = []\nelif torch.version.hip:\n    s = ['csrc/amd/c.cu']",
        "def ext():\n    if not is_rocm():\n        x = 0\n    else:\n        x = join(here, 'csrc', 'amd', 'c.cu')",
        "s = ['csrc/amd/c.cu'] if TARGET == 'rocm' else ['csrc/a.cu']",
        "s = {'hip': 1}\nif ROCM_HOME and not CUDA_HOME:\n    s = ['csrc/amd/c.cu']",
    ],
)
def test_a_list_of_python_for_amd(text: str) -> None:
    """By the condition around it."""
    assert setup(text) == {"csrc/amd/c.cu"}


@pytest.mark.parametrize(
    "text",
    [
        "s = ['csrc/a.cu']  # hip",
        "if IS_ROCM:\n    s = ['csrc/a.cu']\nelse:\n    s = ['csrc/a.cu', 'csrc/b.cu']",
        "if torch.cuda.is_available() or hip:\n    s = ['csrc/a.cu']",
        "if not torch.version.hip:\n    s = ['csrc/a.cu']",
        "if torch.version.hip == other:\n    s = ['csrc/a.cu']",
        "this is no Python, and hip",
    ],
)
def test_what_python_lists_for_others(text: str) -> None:
    """For all, for NVIDIA, or nothing that can be told; a broken file tells nothing."""
    assert setup(text) == frozenset()


def test_brackets_and_precedence() -> None:
    """AND binds stronger than OR; NOT strongest."""
    assert condition("(USE_HIP AND X OR USE_ROCM)").is_amds
    assert not condition("(USE_HIP AND X OR Y)").is_amds
    assert condition("((X OR Y) AND (USE_HIP))").is_amds
    assert condition('("${LANG}" STREQUAL "HIP")').is_amds
    assert not condition("(CMAKE_SYSTEM_PROCESSOR STREQUAL AMD64)").is_amds


def test_a_tree_is_read(tmp_path: Path) -> None:
    """The dialect of a file follows from the list, and what is listed for both stays CUDA's."""
    from porter.engine.dialect import Dialect
    from porter.project.dialects import dialect_of

    kernel = "__global__ void k(float *x) { x[0] = 1; }\n"
    lists = "add_library(k a.cu)\nif(USE_ROCM)\n target_sources(k PRIVATE amd.cu)\nendif()\n"
    make_tree(tmp_path, {"CMakeLists.txt": lists, "a.cu": kernel, "amd.cu": kernel})
    assert dialect_of(tmp_path, tmp_path / "amd.cu", Choices()) is Dialect.HIP
    assert dialect_of(tmp_path, tmp_path / "a.cu", Choices()) is Dialect.CUDA


def converted(text: str) -> tuple[str, list[str]]:
    """A CMake file as the port has it, and the codes of what was found."""
    result = convert(BuildUnit(SourceFile("CMakeLists.txt", text.encode()), Kind.CMAKE))
    return result.data.decode(), [finding.code for finding in result.findings]


def test_nvidias_branches_beside_amds_stay() -> None:
    """A build that knows AMD needs nothing of us where it is NVIDIA's; what both come to is converted."""
    lists = "if(USE_ROCM)\n enable_language(HIP)\nelseif(USE_CUDA)\n enable_language(CUDA)\nendif()\n"
    more = "if(USE_CUDA)\n if(CUDA_VERSION VERSION_LESS 12)\n endif()\nendif()\n"
    language = 'if(LANG STREQUAL "HIP")\nendif()\nif(${LANG} STREQUAL "CUDA")\n enable_language(CUDA)\nendif()\n'
    hips = 'if(HIP_COMPILER STREQUAL "nvcc")\n enable_language(CUDA)\nendif()\n'
    for text in (lists, lists + more, language, hips):
        assert converted(text) == (text, [])


@pytest.mark.parametrize(
    "text",
    [
        "if(USE_CUDA)\n enable_language(CUDA)\nendif()\n",
        "if(USE_CUDA)\n enable_language(CUDA)\nelse()\n message(none)\nendif()\n",
        'if(GPU_COMPILER STREQUAL "nvcc")\n enable_language(CUDA)\nendif()\n',
        "if(USE_ROCM)\nendif()\nif(USE_GPU)\n enable_language(CUDA)\nendif()\n",
        "if(USE_ROCM)\nelseif(USE_CUDA)\nendif()\nenable_language(CUDA)\n",
    ],
)
def test_without_a_branch_for_amd_all_is_converted(text: str) -> None:
    """CUDA's branch is then what the port has."""
    assert "enable_language(HIP)" in converted(text)[0]
