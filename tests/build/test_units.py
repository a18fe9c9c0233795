"""Which files are units, with which options, and which include folders a tree implies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from porter.validation.build.launches import read_sources
from porter.validation.build.link import programs
from porter.validation.build.units import find_tree

from porter.errors import Unusable
from tests.cli.command import porter


def _write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_include_folders_are_implied(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "app/src/a.hip": '#include "lib/x.h"\n#include "beside.h"\n#include <string.h>\n',
            "app/src/beside.h": "",
            "app/include/lib/x.h": '#include "lib/y.h"\n#include "deep.h"\n',
            "app/include/lib/y.h": "",
            "app/detail/deep.h": "",
            "other/include/lib/x.h": "",
            "other/string.h": "",
        },
    )
    (unit,) = find_tree(tmp_path).units
    assert unit.options == (f"-I{tmp_path}/app/include", f"-I{tmp_path}/app/detail")


def test_a_way_up_in_a_path_is_gone(tmp_path: Path) -> None:
    """Compilers name files as they were given them, and the place of an error is looked up below the root."""
    _write(tmp_path, {"port/a.hip": "__global__ void k() {}\n", "project/b.cu": ""})
    (tmp_path / "link").symlink_to(tmp_path / "project")
    tree = find_tree(tmp_path / "link" / ".." / "port")
    assert tree.root == tmp_path / "port"
    assert find_tree(tmp_path / "project" / ".." / "port" / "a.hip").root == tree.root


def test_only_gpu_code_is_a_unit_of_an_unported_folder(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "a.hip": "",
            "b.cpp": "#include <hip/hip_runtime.h>\n",
            "c.cpp": "int f() { return 1; }\n",
            "d.h": "__global__ void k();",
            ".git/x.hip": "",
        },
    )
    assert [unit.path for unit in find_tree(tmp_path).units] == ["a.hip", "b.cpp"]


def test_a_tree_for_both_vendors(tmp_path: Path) -> None:
    files = {
        "a.cu": "#include <cuda_runtime.h>\nint main() { return cudaDeviceSynchronize(); }\n",
        "b.cu": "__global__ void k(int *p) { p[0] = 1; }\n",
        "c.cpp": "int c;\n",
    }
    source = _write(tmp_path / "src", files)
    assert porter("port", source, "-o", tmp_path / "out", "--style", "dual").code == 0
    assert (tmp_path / "out/a.cu").read_text() == files["a.cu"]
    units = find_tree(tmp_path / "out").units
    assert [unit.path for unit in units] == ["a.cu", "b.cu"]
    assert all(unit.options[:3] == (f"-I{tmp_path}/out/porter/hip", "-include", "cuda_runtime.h") for unit in units)


def test_one_file(tmp_path: Path) -> None:
    _write(tmp_path, {"a.hip": "", "b.hip": ""})
    assert [unit.path for unit in find_tree(tmp_path / "a.hip").units] == ["a.hip"]


@pytest.mark.parametrize("name", ["nothing", "empty"])
def test_nothing_to_build(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Unusable):
        find_tree(tmp_path / name)


def test_a_compilation_database(tmp_path: Path) -> None:
    _write(tmp_path, {"src/a.hip": "", "src/b.hip": "", "include/x.h": ""})
    entries = [
        {
            "directory": str(tmp_path / "build"),
            "file": "../src/a.hip",
            "command": "hipcc -DN='\"a b\"' -D M=2 -I../include -isystem /opt/x -O2 -std=c++20 -fgpu-rdc "
            "-gencode arch=compute_80,code=sm_80 --expt-relaxed-constexpr -o a.o -c ../src/a.hip",
        }
    ]
    _write(tmp_path, {"compile_commands.json": json.dumps(entries)})
    tree = find_tree(tmp_path)
    (unit,) = tree.units
    assert unit.options == (
        '-DN="a b"',
        "-DM=2",
        *("-I", str(tmp_path / "include"), "-isystem", "/opt/x", "-O2", "-std=c++20", "-fgpu-rdc"),
    )
    assert tree.description == "compile_commands.json"
    assert "src/b.hip" in tree.notes[0]


@pytest.mark.parametrize("text", ["{", "{}", '[1, {}, {"file": 3}]'])
def test_a_damaged_database(tmp_path: Path, text: str) -> None:
    _write(tmp_path, {"a.hip": "", "compile_commands.json": text})
    if text.startswith("["):
        (unit,) = find_tree(tmp_path).units
        assert unit.options == ()
    else:
        with pytest.raises(Unusable, match=r"compile_commands\.json"):
            find_tree(tmp_path)


KERNELS = """
#include <hip/hip_runtime.h>
#define TILE 16
constexpr unsigned kBlock = 8u * 32;
namespace n { template <typename T, int N> __global__ void t(T* x) {} }
__global__ void __launch_bounds__(kBlock) plain(int* x) {}
__global__ void never(int* x) {}
void f(int n, int* p) {
  const dim3 block(TILE, TILE / 2);
  n::t<int, TILE><<<1, block>>>(p);
  n::t<int, 4><<<1, 96>>>(p);
  plain<<<n, kBlock, 4 * sizeof(int)>>>(p);
  plain<<<n, dim3(32, 2), 1 << 10>>>(p);
  plain<<<n, n>>>(p);
}
"""


def test_block_sizes_of_launches(tmp_path: Path) -> None:
    _write(tmp_path, {"a.hip": KERNELS})
    sources = read_sources(tmp_path, ["a.hip"])
    found = {
        name: [(block.threads, block.dynamic_lds, block.is_certain) for block in sources.blocks(name, "a.hip")]
        for name in ("n::t<int, 16>", "n::t<int, 4>", "n::t<float, 9>", "plain", "never")
    }
    assert found == {
        "n::t<int, 16>": [(128, 0, True)],
        "n::t<int, 4>": [(96, 0, True)],
        "n::t<float, 9>": [(128, 0, False), (96, 0, False)],
        "plain": [(256, 0, True), (64, 1024, True)],
        "never": [],
    }
    kernel = sources.kernel("plain", "a.hip")
    assert kernel is not None and sources.bounds(kernel) == 256


def test_constants_of_headers_count_where_they_agree(tmp_path: Path) -> None:
    files = {
        "a.hip": '#include "s.h"\n__global__ void k(int* x) {}\nvoid f(int* x) { dim3 b(SIDE, SIDE); k<<<1, b>>>(x); }',
        "b.hip": "__global__ void j(int* x) {}\nvoid g(int* x) { j<<<1, OTHER>>>(x); }",
        "s.h": "#define SIDE 8\n#define OTHER 64\n",
        "t.h": "#define OTHER 128\n",
    }
    sources = read_sources(_write(tmp_path, files), list(files))
    assert [block.threads for block in sources.blocks("k", "a.hip")] == [64] and not sources.blocks("j", "b.hip")


def test_the_same_name_in_two_programs(tmp_path: Path) -> None:
    text = "__global__ void k(int* x) {}\nvoid f(int* x) { k<<<1, %d>>>(x); }\n"
    files = {"a/src/k.hip": text % 64, "b/k.hip": text % 96, "b/main.hip": "void k(int*);"}
    sources = read_sources(_write(tmp_path, files), list(files))
    for unit, path, threads in (("a/src/k.hip", "a/src/k.hip", 64), ("b/main.hip", "b/k.hip", 96)):
        kernel = sources.kernel("k", unit)
        assert kernel is not None and kernel.path == path
        assert [block.threads for block in sources.blocks("k", unit)] == [threads]


def test_programs(tmp_path: Path) -> None:
    main = "#include <hipblas/hipblas.h>\nint main(int argc, char** argv) { return 0; }\n"
    _write(
        tmp_path,
        {"a/main.hip": main, "a/k.hip": "", "a/lib/l.hip": "", "b/other.hip": "", "b/m.hip": "int\nmain()\n{}"},
    )
    found = programs(tmp_path, ["a/main.hip", "a/k.hip", "a/lib/l.hip", "b/other.hip", "b/m.hip"])
    assert [(one.main, one.units[1:], one.libraries) for one in found] == [
        ("a/main.hip", ("a/k.hip", "a/lib/l.hip"), ("hipblas",)),
        ("b/m.hip", ("b/other.hip",), ()),
    ]
