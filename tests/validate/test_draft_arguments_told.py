"""Template arguments that a draft finds in other files, leaves empty, or changes when the compiler asks for others."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.init import Draft, draft
from porter.validation.draft.repairing import repair
from porter.validation.draft.trying import try_sizes


def drafted(folder: Path, text: str, use: str = "", *, assuming: bool = True) -> Draft:
    (folder / "lib").mkdir()
    (folder / "use").mkdir()
    (folder / "LICENSE").write_text("\n")
    source = folder / "lib" / "k.cuh"
    source.write_text(text)
    (folder / "use" / "use.cu").write_text(use)
    return draft(source, assuming=assuming)


FILL = "struct Twice { int by; };\ntemplate <typename T, int N> __global__ void fill(T* x) { x[threadIdx.x] = N; }\n"


@pytest.mark.parametrize(
    ("use", "kernel", "told"),
    [
        ("void g() { fill<double, 7> <<<1, 2>>>(0); }", "fill<double, 7>", True),
        ("template __global__ void fill<unsigned, 3>(unsigned*);", "fill<unsigned int, 3>", True),
        ("void g() { cudaLaunchKernel((void*)fill<short, 5>, 1, 1, 0, 0, 0); }", "fill<short, 5>", True),
        ("void g() { fill<real_t, 7> <<<1, 2>>>(0); }", "fill<float, 7>", True),
        ("// fill<double, 7> <<<1, 2>>>(0);", "fill<float, 4>", False),
        ("bool b = fill < 3; int refill<int, 3>(0);", "fill<float, 4>", False),
    ],
)
def test_as_another_file_has_them(use: str, kernel: str, told: bool, tmp_path: Path) -> None:
    (part,) = drafted(tmp_path, FILL, use).parts
    assert part.kernel.replace("unsigned,", "unsigned int,") == kernel
    notes = {"template arguments as in use.cu", "launched as in use.cu"}
    assert bool(notes & set(part.notes)) == told


@pytest.mark.parametrize(
    ("written", "kernel"),
    [
        ("Tile<16>", "work<Tile<16>>"),
        ("Tile", "work<Plain>"),  # the other file's own parameter: no class is called so without arguments
        ("Plain", "work<Plain>"),
    ],
)
def test_classes_that_another_file_names(written: str, kernel: str, tmp_path: Path) -> None:
    text = (
        "struct Plain { static const int rows = 2; };\ntemplate <int N> struct Tile { static const int rows = N; };\n"
        "template <typename Tile_t> __global__ void work(float* x) { x[threadIdx.x] = Tile_t::rows; }\n"
    )
    use = f"template <typename Tile> void g() {{ work<{written}><<<1, 2>>>(0); }}"
    (part,) = drafted(tmp_path, text, use).parts
    assert part.kernel == kernel


def test_nothing_is_looked_for_unasked(tmp_path: Path) -> None:
    (part,) = drafted(tmp_path, FILL, "void g() { fill<double, 7> <<<1, 2>>>(0); }", assuming=False).parts
    assert part.kernel == "fill<TODO, TODO>"


def test_an_empty_pack(tmp_path: Path) -> None:
    text = (
        "template <int B, typename func_t, typename... args_t>\n"
        "__global__ void blocked(func_t f, float* x, int n, args_t... args) {\n"
        "  int i = blockIdx.x * B + threadIdx.x;\n  if (i < n) x[i] = f(x[i], args...);\n}\n"
    )
    (part,) = drafted(tmp_path, text).parts
    assert part.kernel == "blocked<128, thrust::negate<float>>"
    assert "args_t: taken to be an empty pack" in part.notes and not any('"scalar args' in one for one in part.after)


MASK = "template <typename T> __global__ void mask(T* x) { x[threadIdx.x] = x[threadIdx.x] % 3 ^ 1; }\n"


def test_integers_where_the_compiler_asks_for_them(tmp_path: Path) -> None:
    (part,) = drafted(tmp_path, MASK).parts
    made = repair(part, "k.cuh(1): error: expression must have integral or unscoped enum type")
    assert part.kernel == "mask<float>" and made is not None and made.kernel == "mask<int>"
    assert any("int32" in line for line in made.after) and "T: taken to be int" in made.notes
    assert repair(made, "k.cuh(1): error: expression must have integral or unscoped enum type") is None


def test_halves_where_it_finds_no_overload_for_a_float(tmp_path: Path) -> None:
    (part,) = drafted(tmp_path, MASK).parts
    said = 'error: more than one instance of overloaded function "{}" matches the argument list:'
    made = repair(part, said.format("__habs"))
    assert made is not None and made.kernel == "mask<__half>" and any("float16" in line for line in made.after)
    other = repair(part, said.format("__dp4a"))
    assert other is not None and other.kernel == "mask<int>"
    assert repair(made, said.format("__habs")) is None


@pytest.mark.slow
def test_they_run(tmp_path: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    (found,) = try_sizes(drafted(tmp_path, MASK))
    assert found.chosen and found.case.kernel == "mask<int>", found.reason


def test_a_type_that_nothing_uses(tmp_path: Path) -> None:
    (part,) = drafted(tmp_path, FILL.replace("int N>", "int N, typename COMPUTE>")).parts
    assert part.kernel == "fill<float, 4, int>" and "COMPUTE: taken to be int" in part.notes


SWITCH = """
#define DIM_SWITCH(VALUE, NAME, ...) [&] { \\
    if (VALUE == 64) { constexpr static int NAME = 64; return __VA_ARGS__(); } \\
    constexpr int NAME = 128; return __VA_ARGS__(); }()
#define OTHER(VALUE, NAME, ...) [&] { return __VA_ARGS__(); }()
#define TYPE_SWITCH(WIDE, NAME, ...) [&] { using NAME = double; return __VA_ARGS__(); }()
template <typename T, int DIM> __global__ void k(T* a) { a[threadIdx.x] = DIM; }
"""


@pytest.mark.parametrize(
    ("launch", "kernel"),
    [
        ("OTHER(dim, D, [&] { k<float, D><<<1, 32>>>(a); })", "k<float, TODO>"),
        ("DIM_SWITCH(dim, D, [&] { f(); }); k<float, D><<<1, 32>>>(a);", "k<float, TODO>"),  # closed before
        ("DIM_SWITCH(dim, D, [&] { k<float, D><<<1, 32>>>(a); })", "k<float, 64>"),
        ("TYPE_SWITCH(w, S, [&] { DIM_SWITCH(dim, D, [&] { k<S, D><<<1, 32>>>((S*)a); }); })", "k<double, 64>"),
    ],
)
def test_a_switch_around_the_launch(launch: str, kernel: str, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(f"{SWITCH}void run(float* a, int dim, bool w) {{ {launch}; }}\n")
    (part,) = draft(tmp_path / "k.cu").parts
    assert part.kernel == kernel
