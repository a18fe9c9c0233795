"""What `porter cases init` reads off host code: sizes, launches, template arguments, values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from porter.validation.cases.case import Case
from porter.validation.cases.expression import Expression
from porter.validation.cases.file import load_cases
from porter.validation.draft.declarations import without_comments
from porter.validation.draft.expression import Unknown, over
from porter.validation.draft.host import Host
from porter.validation.draft.init import draft

HOST = """
#define TILE 16
#define CEIL(a, b) (((a) + (b) - 1) / (b))
typedef unsigned char byte;
struct Point { float x, y; float w[2]; };
static int rounded(int n, int to) { return CEIL(n, to) * to; }
int main(int argc, char** argv) {
  int n = atoi(argv[1]);  // not = 7
  constexpr int width = 2 * TILE;
  const int rows = n / width;
  std::vector<float> h(n * 2);
  HERE;
}
"""


def host() -> Host:
    return Host(without_comments(HOST))


@pytest.mark.parametrize(
    ("written", "at_100"),
    [
        ("(n + TILE - 1) / TILE", 7),
        ("CEIL(n, TILE * 2)", 4),
        ("rounded(n, 64)", 128),
        ("(int) ceil((float) n / (float) width)", 4),
        ("ceil(n / 256.0)", 1),
        ("n % width ? rows + 1 : rows", 4),
        ("n >> 1", 50),
        ("static_cast<int>(n) << 3", 800),
        ("std::max(n, 1 << 10)", 1024),
        ("h.size() * sizeof(float)", 800),
        ("sizeof(Point) * 3 + sizeof(byte)", 49),
        ("-n + 2 * n", 100),
        ("(n - 1) / 8 + 1", 13),
        ("0x10 + 010", 24),
        ("!n", 0),
    ],
)
def test_expressions_of_the_host(written: str, at_100: int) -> None:
    """Against C's arithmetic for n = 100."""
    it = host()
    value = it.value(written, it.text.index("HERE"))
    expression = Expression(value.shown())
    expression.check()
    assert expression.names <= {"n"}
    assert expression.value({"n": 100}) == at_100


@pytest.mark.parametrize("written", ["n ^ 3", "n / 0", "unknown(n)", "missing + 1", "n +", "a ? b", "'c'", "~n"])
def test_what_cannot_be_told(written: str) -> None:
    it = host()
    with pytest.raises(Unknown):
        it.value(written, it.text.index("HERE"))


def test_members_with_an_index() -> None:
    it = host()
    assert it.value("options.sizes[K-1] * 2", it.text.index("HERE")).text != ""


def test_bytes_become_elements() -> None:
    it = host()
    place = it.text.index("HERE")
    assert over(it.value("n * sizeof(float) * 2", place), 4).shown() == "2 * n"
    assert over(it.value("(n + 1) * sizeof(double) + sizeof(double) * n", place), 8).shown() == "n + 1 + n"
    assert over(it.value("n", place), 4).shown() == "n // 4"


def test_a_variable_is_what_it_was_last_set_to() -> None:
    it = Host("int main() { int a = 3; a = 5; const int b = a; a = 7; k<<<1, b>>>(a); a = 9; }")
    it.varying = frozenset()
    place = it.text.index("k<<<")
    assert it.value("a", place).number == 7
    assert it.value("b", place).number == 5


def cases(folder: Path, text: str, name: str = "k.cu") -> dict[str, Case]:
    (folder / name).write_text(text)
    made = draft(folder / name)
    assert made.marks == 0, made.text
    (folder / "k.case.toml").write_text(made.text)
    return {case.name: case for case in load_cases(folder / "k.case.toml")}


def sides(case: Case, name: str) -> list[str]:
    return [side.text for argument in case.arguments if argument.name == name for side in argument.shape]


THROUGH = """
__global__ void add(float* x, const int* __restrict__ rows, const float2* pairs, int n, float f, char3 by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = rows[i]; j < rows[i + 1]; j++) sum += pairs[j].x + f + by.x;
  x[i] = sum;
}
template <int BLOCK>
void launch(float* out, int* r, float2* p, int many) {
  add<<<dim3((many + BLOCK - 1) / BLOCK), BLOCK>>>(out, r, p, many, 0.25, make_char3(1, 2, 3));
}
int main(int argc, char* argv[]) {
  const int elements = atoi(argv[1]);
  float* d_x; int* d_rows; float2* d_pairs;
  const size_t bytes = sizeof(float) * elements;
  CHECK(cudaMalloc((void**)&d_x, bytes));
  cudaMalloc(&d_rows, (elements + 1) * sizeof(int));
  cudaMalloc(&d_pairs, elements * sizeof(float2));
  launch<128>(d_x, d_rows, d_pairs, elements);
}
"""


def test_a_launch_in_a_function_of_its_own(tmp_path: Path) -> None:
    """Sizes come from the caller's allocations, the block from its template argument."""
    case = cases(tmp_path, THROUGH)["add"]
    assert [side.text for side in case.grid] == ["(n + 128 - 1) // 128"]
    assert [side.value({}) for side in case.block] == [128]
    assert sides(case, "x") == ["n"] and sides(case, "rows") == ["n + 1"] and sides(case, "pairs") == ["n", "2"]
    kinds = {argument.name: argument.kind for argument in case.arguments}
    assert kinds == {"x": "out", "rows": "in", "pairs": "in", "n": "scalar", "f": "scalar", "by": "struct"}
    rows = next(argument for argument in case.arguments if argument.name == "rows")
    assert rows.values is not None and rows.values.kind == "arange"
    assert [size for ((_, values),) in case.sweep for size in values] == [1, 31, 32, 33, 997, 1000]


def test_headers_and_neighbours(tmp_path: Path) -> None:
    """A kernel in a header belongs to the file that launches it; allocations may be in the file beside."""
    (tmp_path / "kernels.h").write_text(
        "#define B 64\n__global__ void put(int* y) { y[blockIdx.x * B + threadIdx.x] = 1; }\n"
    )
    (tmp_path / "main.cpp").write_text("int main() { int* y; cudaMalloc(&y, sizeof(int) * 640); run(y, 10); }\n")
    case = cases(tmp_path, '#include "kernels.h"\nvoid run(int* y, int blocks) { put<<<blocks, B>>>(y); }\n')["put"]
    assert sides(case, "y") == ["640"] and case.block[0].value({}) == 64 and case.grid[0].text == "10"


DEDUCED = """
typedef double real;
enum Mode { A, B };
struct Options { int count; float scale; };
template <typename T, int N>
__global__ void scale(T* data, const int* at, Mode mode, Options o, const float table[][4]) {
  data[at[threadIdx.x]] *= N + o.count + table[0][1];
}
void run(int n) {
  real* values = nullptr; int* places; float* table; Options options; options.count = 3;
  cudaMalloc(&values, 100 * sizeof(*values)); cudaMalloc(&places, 64 * sizeof(int)); cudaMalloc(&table, 16 * 8);
  scale<real, 2 + 2><<<1, 64>>>(values, places, B, options, (float (*)[4]) table);
}
"""


def test_types_and_values(tmp_path: Path) -> None:
    case = next(iter(cases(tmp_path, DEDUCED).values()))
    assert case.kernel == "scale<double, 4>"
    by_name = {argument.name: argument for argument in case.arguments}
    assert by_name["data"].dtype == "float64" and sides(case, "data") == ["100"]
    values = by_name["at"].values
    assert values is not None and values.high is not None and values.high.value({}) == 100
    assert [(one.dtype, one.value.value({})) for one in by_name["o"].fields] == [("int32", 3), ("float32", 1)]
    assert sides(case, "table") == ["8", "4"]


def test_a_makefile_tells_the_sizes_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("run: k\n\t$(LAUNCHER) ./$(program) 96 7\n")
    text = """
__global__ void k(float* y, int n, int times) { for (int i = 0; i < times; i++) y[blockIdx.x * 32 + threadIdx.x] += n; }
int main(int c, char** v) {
  int n = atoi(argv[1]), times = atoi(argv[2]);
  float* y; cudaMalloc(&y, n * 4);
  k<<<n / 32, 32>>>(y, n, times);
}
"""
    case = cases(tmp_path, text)["k"]
    assert dict(case.sweep[0]) == {"n": (96,), "times": (7,)}


@pytest.mark.parametrize(
    ("launch", "mark"),
    [
        ("k<<<secret(), 32>>>(y)", "grid"),
        ("k<<<1, 32>>>(hidden)", "arguments"),
    ],
)
def test_what_is_not_there_is_marked(tmp_path: Path, launch: str, mark: str) -> None:
    body = "__global__ void k(float* y) { y[threadIdx.x * 2] = 1; }\n"
    (tmp_path / "k.cu").write_text(f"{body}int main() {{ float* y; cudaMalloc(&y, 256); {launch}; }}\n")
    made = draft(tmp_path / "k.cu")
    assert made.marks == 1
    marked = [line for line in made.text.splitlines() if "TODO" in line]
    assert (mark == "grid") == marked[0].startswith("grid"), marked


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("p[i] = 1;", "out"),
        ("p[q[i]] = 1; p[0] = 2;", "out"),
        ("*p = 1;", "out"),
        ("p[i] += 1;", "inout"),
        ("p[i]++;", "inout"),
        ("float x = p[i];", "in"),
        ("float& x = p[i]; x = 1;", "inout"),
        ("p[i] = p[i + 1];", "inout"),
        ("helper(p);", "inout"),
        ("atomicAdd(p + i, 1.f);", "inout"),
    ],
)
def test_directions(tmp_path: Path, body: str, kind: str) -> None:
    (tmp_path / "k.cu").write_text(
        f"__global__ void k(float* p, const int* q) {{ int i = 0; {body} }}\n"
        "int main() { float* p; int* q; cudaMalloc(&p, 64); cudaMalloc(&q, 64); k<<<1, 4>>>(p, q); }\n"
    )
    found = re.search(r'"(\w+) p:', draft(tmp_path / "k.cu").text)
    assert found is not None and found[1] == kind


def test_flags_of_the_makefile(tmp_path: Path) -> None:
    """What is conditional is left alone; folders that are there are searched."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "width.h").write_text("#define WIDTH (2 * HALF)\n")
    (tmp_path / "Makefile").write_text(
        "CFLAGS := -O3 -DHALF=16 -Dreal=double \\\n  -I./inc -Imissing # -DNOT=1\n"
        "ifeq ($(DEBUG),yes)\n  CFLAGS += -DHALF=99\nendif\n"
    )
    text = """#include "width.h"
__global__ void k(real* y) { y[threadIdx.x] = 1; }
int main() { real* y; cudaMalloc(&y, WIDTH * sizeof(real)); k<<<1, WIDTH>>>(y); }
"""
    case = cases(tmp_path, text)["k"]
    assert case.defines == ("HALF=16", "real=double")
    assert [path.name for path in case.include_dirs] == ["inc"]
    assert case.arguments[0].dtype == "float64" and sides(case, "y") == ["32"]


@pytest.mark.parametrize("write", ["out[atomicAdd(count, 1)] = i;", "int p = atomicAdd(count, 1); out[p] = i;"])
def test_what_a_counter_gives_out_has_no_order_and_no_length(write: str, tmp_path: Path) -> None:
    """Both ways to write it."""
    source = tmp_path / "push.cu"
    source.write_text(
        f"__global__ void push(int *out, int *count, int n) {{ int i = threadIdx.x; if (i < n) {{ {write} }} }}"
    )
    assert "{any_order, partial}" in draft(source).text


def test_lengths_of_callers_bring_their_sizes(tmp_path: Path) -> None:
    """What a length of a caller is made of is a symbol of the case, for every kernel."""
    source = tmp_path / "k.cu"
    source.write_text(
        """
        __global__ void one(float* x, int c) { x[threadIdx.x] = c; }
        __global__ void two(float* x, int c) { x[threadIdx.x] = c; }
        void first(float* d, int c) { one<<<1, 32>>>(d, c); }
        void second(float* d, int c) { two<<<1, 32>>>(d, c); }
        int main(int argc, char** argv) {
          int rows = 8, steps = atoi(argv[1]), c = atoi(argv[2]);
          float* d;
          cudaMalloc(&d, rows * steps * c * sizeof(float));
          first(d, c);
          second(d, c);
        }
        """
    )
    path = tmp_path / "k.case.toml"
    path.write_text(draft(source).text)
    assert [set(dict(case.sweep[0])) for case in load_cases(path)] == [{"steps", "c"}, {"steps", "c"}]


def test_structures_with_initial_values_and_constructors(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(
        """
        struct Box { int x0 = 0, nx = 4; float w = 1.5f; };
        struct Grid {
          int rows_;
          float step_;
          Grid(int rows, float step)
              : rows_(rows),
                step_(step) { }
          __host__
          __device__
          int rows() const { return rows_; }
        };
        __global__ void k(float* x, Box box, const Grid* grids) { x[threadIdx.x] = box.w * grids[0].step_; }
        int main() { float* d; Grid* g; Box b;
          cudaMalloc(&d, 32 * sizeof(float)); cudaMalloc(&g, 2 * sizeof(Grid)); k<<<1, 32>>>(d, b, g); }
        """
    )
    text = draft(source).text
    assert "TODO" not in text
    assert "fields = [['int32', " in text and "in grids: (int32 rows_, float32 step_)[2] = integers(0, 100)" in text
