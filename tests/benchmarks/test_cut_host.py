"""Host code is cut away, and nothing that a kernel needs; the draw repeats and leaves out what was named."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cut_host import cut_program, markers_of, without_host_code
from benchmarks.without_host import drawn

KEPT = (
    "#define SIDE 16\n",
    "constexpr int twice(int x) { return 2 * x; }\n",
    "__device__ float f(float x) { return x; }\n",
    "template <typename T>\n__global__ void k(T* a) { a[threadIdx.x] = f(1); }\n",
    "namespace n {\n__host__ __device__ inline int g() { return 1; }\n}\n",
    "struct P { float x; __device__ float y() const { return x; } P() {} };\n",
    "static const int table[2][2] = {{1, 2}, {3, 4}};\n",
    "struct Q q[2] = {{1}, {2}};\n",
    "__constant__ float c[4];\n",
    "MINE int h() { return 3; }\n",
    "template __global__ void k<float>(float*);\n",
)


@pytest.mark.parametrize("text", KEPT)
def test_what_stays(text: str) -> None:
    assert without_host_code(text, frozenset({"MINE"})) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("int main(int argc, char** argv) { k<<<1, 2>>>(a); return 0; }", ""),
        ("#include <a>\nstatic void run(int n) {\n  if (n) { k<<<n, 2>>>(); }\n}\nint x;", "#include <a>\n\nint x;"),
        ("template <typename T, int N = 4>\nvoid go(T* a) { cudaMalloc(&a, N); }", ""),
        ("#define GO(n) \\\n  k<<<n, 1>>>()\nint x;", "\nint x;"),
        ('extern "C" {\nvoid go() { k<<<1, 1>>>(); }\n}', 'extern "C" {\n\n}'),
        ("struct P { P(int n) : a(n), b{n} { cudaMalloc(&c, n); } int a, b; };", "struct P { P(int n) ; int a, b; };"),
        ("struct P { void go() { k<<<1, 1>>>(); } };", "struct P { void go() ; };"),
        ("template void go<float>(float*);\nint x;", "\nint x;"),
        ("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(1); }", ""),
        ("struct R make(int n) { return R{n}; }", ""),
    ],
)
def test_what_goes(text: str, left: str) -> None:
    assert without_host_code(text) == left


def test_macros_that_make_a_function_the_devices() -> None:
    assert markers_of(iter(["#define HD __host__ \\\n  __device__\n#define N 4\n"])) == {"HD"}


def test_a_draw_repeats_and_leaves_out_programs_that_a_document_names(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        folder = tmp_path / "src" / f"{name}-cuda"
        folder.mkdir(parents=True)
        (folder / "main.cu").write_text(
            f'#include "k.h"\n__global__ void {name}_a() {{}}\n__global__ void {name}_b() {{}}\n'
            "__global__ void declared();\nint main() { " + f"{name}_a<<<1, 1>>>(); }}\n"
        )
        (folder / "k.h").write_text(f"__global__ void {name}_c() {{}}\n")
        (folder / "host.cpp").write_text("void launch() {}\n")
        (folder / "Makefile").write_text("CFLAGS = -DN=4\nrun:\n\t./main 100 100\n")
    made = list(drawn(tmp_path / "src", tmp_path / "w", 3, 4, 2, "of `two` and others"))
    assert made == list(drawn(tmp_path / "src", tmp_path / "other", 3, 4, 2, "of `two` and others"))
    assert len(made) == 4 and {one.folder for one in made} == {"one-cuda", "three-cuda"}
    assert all(one.kernel[:-2] == one.folder.removesuffix("-cuda") for one in made)
    root = cut_program(tmp_path / "src", "one-cuda", tmp_path / "cut")
    assert "main" not in (root / "main.cu").read_text() and not (root / "host.cpp").exists()
    assert (root / "Makefile").read_text() == "CFLAGS = -DN=4\nrun:\n"
