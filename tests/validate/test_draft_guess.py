"""`porter cases init --try` for kernels without a launch: guesses that the original takes, each with a comment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.guessing import GUESSES, can_be_guessed, filled, obstacle, search
from porter.validation.draft.init import Draft, DraftedCase, draft
from porter.validation.draft.repairing import repair
from porter.validation.draft.trying import _planned, try_sizes
from porter.validation.verdict.outcome import CaseResult, SideResult, Status

SOURCE = """
template <typename T, int BLOCK> __global__ void scale(const T* in, T* out, const int* where, int rows, int cols) {
  __shared__ T kept[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  kept[threadIdx.x] = in[where[threadIdx.x]];
  __syncthreads();
  for (int k = 0; k < cols; k++) out[i * cols + k] = kept[threadIdx.x] * k;
}
__global__ void turned(float* a, float* b, int pitch) {
  extern __shared__ float tile[];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  tile[threadIdx.y * blockDim.x + threadIdx.x] = a[y * pitch + x];
  __syncthreads();
  b[x * pitch + y] = tile[threadIdx.y * blockDim.x + threadIdx.x];
}
struct Node { virtual ~Node(); float* inside; int count; };
__global__ void nodes(Node* list) { list[threadIdx.x].count++; }
"""


def drafted(tmp_path: Path, *, assuming: bool = True) -> Draft:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    return draft(path, assuming=assuming)


def test_nothing_is_assumed_unasked(tmp_path: Path) -> None:
    scale, turned, _ = drafted(tmp_path, assuming=False).parts
    assert scale.kernel == "scale<TODO, TODO>" and not can_be_guessed(scale)
    assert 'grid = ["TODO", "TODO"]' in turned.after  # as many dimensions as it asks for


def test_types_are_not_guessed(tmp_path: Path) -> None:
    parts = drafted(tmp_path).parts
    assert [can_be_guessed(part) for part in parts] == [True, True, False]


def test_a_guess_says_what_it_is(tmp_path: Path) -> None:
    scale, turned, _ = drafted(tmp_path).parts
    made = filled(scale, GUESSES[0], {1: 32768})
    assert made is not None and made.kernel == "scale<float, 128>" and not made.marks
    text = made.text()
    assert "# T: taken to be float" in text and "# nothing tells this: grid = 2" in text
    assert '"out out: float32[32768]"' in text and "cols = [100]" in text
    other = filled(turned, GUESSES[1], {})
    assert other is not None and "block = [16, 16]" in other.after and "grid = [1, 1]" in other.after


def _fault(reason: str) -> CaseResult:
    return CaseResult("k", "k.case.toml", 1, "k.cu", "k", Status.FAULT, reason)


def test_an_array_grows_where_the_original_leaves_it(tmp_path: Path) -> None:
    going = search(drafted(tmp_path).parts[0])
    next(going)
    text = going.send(
        _fault("access outside every allocation: 95 bytes after the end of argument 1 (32768 bytes)")
    ).text()
    assert '"out out: float32[16384]"' in text and '"in in: float32[8192]"' in text
    text = going.send(
        _fault("access outside every allocation: 99999999999 bytes after the end of argument 0 (9 bytes)")
    ).text()
    assert "# integers count up" in text
    text = going.send(_fault("access outside shared memory (LDS): at 0x0")).text()
    assert "shared = 49152" in text


def test_an_array_whose_length_was_found_grows_too(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void fill(float* out, int n) { if (threadIdx.x < n) out[threadIdx.x + 9] = 1; }")
    (part,) = draft(path, assuming=True).parts
    known = replace(part, after=("grid = 1", "block = 64", "arguments = [", '  "out out: float32[50]",', "]"))
    assert not known.marks and not can_be_guessed(known, "division by zero")
    assert can_be_guessed(known, "fault: access outside every allocation: fill")
    going = search(known)
    next(going)
    text = going.send(_fault("access outside every allocation: 4 bytes after the end of argument 0 (200 bytes)")).text()
    assert '"out out: float32[100]"' in text
    assert "# longer than what was found for it, which the original leaves" in text and "grid = 1" in text


def test_a_guess_that_writes_nothing_is_none(tmp_path: Path) -> None:
    going = search(drafted(tmp_path).parts[0])
    next(going)
    idle = SideResult("original", "ptx", 32, Status.PASSED, counters={"written_elements": 0})
    ran = replace(_fault(""), status=Status.PASSED, sides=(idle,))
    assert "where: int32[8192] = integers(1, 2)" in going.send(ran).text()  # flags that are set
    assert "where: int32[8192] = integers(-1, 0)" in going.send(ran).text()  # ends of lists
    texts = [going.send(ran).text() for _ in range(8)]  # two sizes of 0, and the told block first
    assert any("block = 256" in text for text in texts)
    wrote = replace(ran, sides=(replace(idle, counters={"written_elements": 7}),))
    with pytest.raises(StopIteration) as ended:
        going.send(wrote)
    assert isinstance(ended.value.value, DraftedCase)


def test_what_no_guess_fills_is_named(tmp_path: Path) -> None:
    scale, _, nodes = drafted(tmp_path).parts
    assert obstacle(scale) is None and "TODO(Node*)" in str(obstacle(nodes))


def test_types_are_told_by_what_they_point_to(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <class Cell, class Key, class Op> __global__ void k(Cell* c, Key* keys, Op op) { c[0] = 1; }"
    )
    (part,) = draft(path, assuming=True).parts
    assert part.kernel == "k<float, int, TODO>"


def test_headers_above_the_source_are_found(tmp_path: Path) -> None:
    (tmp_path / "include" / "lib" / "parts").mkdir(parents=True)
    (tmp_path / "include" / "lib" / "types.h").write_text('#include "lib/more.h"\ntypedef double real;\n')
    (tmp_path / "include" / "lib" / "more.h").write_text("\n")
    path = tmp_path / "include" / "lib" / "parts" / "k.cuh"
    path.write_text("#include <lib/types.h>\n#include <vector>\n__global__ void k(real* x) { x[0] = 1; }\n")
    made = draft(path, assuming=True)
    assert 'include_dirs = ["../.."]' in made.text and 'root = "../.."' in made.text
    assert '"out x: float64[1]"' in made.text
    path.write_text("#include <vector>\n__global__ void k(float* x) { x[0] = 1; }\n")
    assert "root" not in draft(path, assuming=True).text


def test_what_does_not_compile_is_left(tmp_path: Path) -> None:
    going = search(drafted(tmp_path).parts[0])
    next(going)
    with pytest.raises(StopIteration) as ended:
        going.send(CaseResult("k", "k.case.toml", 1, "k.cu", "k", Status.BUILD_FAILED, "no such header"))
    assert ended.value.value == "build-failed: no such header"


@pytest.mark.slow
def test_what_the_original_takes(tmp_path: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    scale, turned, nodes = try_sizes(drafted(tmp_path))
    assert scale.chosen and turned.chosen and not nodes.chosen
    assert '"out out: float32[65536]"' in scale.text  # 2 * 128 rows of 100: twice 8192, and four times that
    assert "shared = 49152" in turned.text
    assert "TODO(Node*)" in nodes.text


def test_what_grows_once_more_grows_faster_and_with_its_equals(tmp_path: Path) -> None:
    """Two arrays of one length are one length; an array that is too short again gets four times what it had."""
    (tmp_path / "k.cu").write_text(
        "__global__ void f(const float* a, float* b, int n) { b[threadIdx.x] = a[threadIdx.x * n]; }\n"
        "int main(int argc, char** argv) { int n = atoi(argv[1]); float *x, *y;\n"
        "  cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4);\n  f<<<1, 64>>>(x, y, n); }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    tries = search(part)
    said = "access outside every allocation: f; 4 bytes at 0x10; 40 bytes after the end of argument 0 (400 bytes)"
    first = next(tries)
    assert "a: float32[n]" in first.text() and "b: float32[n]" in first.text()
    grown = tries.send(_fault(said))
    assert "a: float32[200]" in grown.text() and "b: float32[200]" in grown.text()
    again = tries.send(_fault(said.replace("400", "800")))
    assert "a: float32[800]" in again.text() and "b: float32[800]" in again.text()


def test_integers_count_up_where_0_and_1_fault_too(tmp_path: Path) -> None:
    """A search in an array that is not sorted leaves it, whatever its numbers are."""
    part = drafted(tmp_path).parts[0]
    tries = search(part)
    said = "access outside every allocation: scale; 4 bytes at 0x10; 4 bytes before argument 2 (32768 bytes)"
    assert "where: int32[8192] = integers(0, 2)" in next(tries).text()
    assert "where: int32[8192] = arange" in tries.send(_fault(said)).text()


def test_assumed_numbers_get_smaller_with_too_much_shared_memory(tmp_path: Path) -> None:
    part = drafted(tmp_path).parts[0]
    assert part.kernel == "scale<float, 128>"
    tries = search(part)
    next(tries)
    too_much = replace(_fault("2097152 bytes of shared memory; there are 232448"), status=Status.NOT_RUN)
    smaller = tries.send(too_much)
    assert 'kernel = "scale<float, 64>"' in smaller.text() and smaller.kernel == "scale<float, 64>"
    assert replace(part, assumes=False).smaller_tiles() is None  # a program's own numbers are not changed


def test_newer_standards_and_traits(tmp_path: Path) -> None:
    part = drafted(tmp_path).parts[0]
    made = repair(part, 'error: namespace "std" has no member "ranges"')
    assert made is not None and made.text().count('"-std=c++20"') == 2
    assert repair(part, 'error: namespace "mine" has no member "ranges"') is None
    (tmp_path / "t.cu").write_text(
        "template <typename A, typename B> __global__ void pack(const A* in, B* out) {\n"
        "  out[threadIdx.x] = (std::make_unsigned_t<A>)in[threadIdx.x]; }\n"
        "template <typename T, int BLOCK_SIZE> __global__ void tile(T* a) { a[threadIdx.y * BLOCK_SIZE] = 1; }\n"
        "__global__ void bytes(void* out) { ((int*)out)[threadIdx.x] = 1; }\n"
    )
    assert [one.kernel for one in draft(tmp_path / "t.cu", assuming=True).parts] == [
        "pack<int, float>", "tile<float, 16>", "bytes",
    ]  # fmt: skip
    assert '"inout out: uint8[TODO]"' in draft(tmp_path / "t.cu", assuming=True).parts[2].text()


def test_one_size_is_0_where_all_the_same_do_nothing(tmp_path: Path) -> None:
    """A step of an elimination is a size like the others, and with the number of rows nothing is left to do."""
    (tmp_path / "k.cu").write_text(
        "__global__ void step(float* a, int size, int t) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < size - 1 - t) a[size * i + t] = 1; }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    going = search(part)
    assert "sweep = { size = [100], t = [100] }" in next(going).text()
    idle = SideResult("original", "ptx", 32, Status.PASSED, counters={"written_elements": 0})
    ran = replace(_fault(""), status=Status.PASSED, sides=(idle,))
    assert "sweep = { size = [0], t = [100] }" in going.send(ran).text()
    made = going.send(ran)
    assert "sweep = { size = [100], t = [0] }" in made.text() and "# t: 0, as " in made.text()
    wrote = replace(ran, sides=(replace(idle, counters={"written_elements": 7}),))
    with pytest.raises(StopIteration) as ended:
        going.send(wrote)
    assert ended.value.value == made
    assert made.zeroed(("t",)) is None  # it is 0


def test_bounds_lie_around_the_values_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(float* a, float x_min, float maxRange, float maxMin, float scale, int min_n) {\n"
        "  if (a[threadIdx.x] > x_min && a[threadIdx.x] < maxRange) a[threadIdx.x] = scale * maxMin * min_n; }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    table = dict(zip(part.sizes.names, part.sizes.tables[0], strict=True))
    assert (table["x_min"], table["maxRange"], table["maxMin"], table["scale"]) == (-4.5, 4.5, 0.5, 0.5)
    assert table["min_n"] > 0  # an integer is a size


def test_one_number_for_all_integers(tmp_path: Path) -> None:
    """-1 ends a list, and of unsigned integers the largest is an empty place of a table."""
    (tmp_path / "k.cu").write_text(
        "__global__ void k(const unsigned* at, const unsigned char* c, const long long* b, float* a) {\n"
        "  a[at[threadIdx.x] + c[threadIdx.x] + b[threadIdx.x]] = 1; }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    made = filled(part, GUESSES[0], {})
    assert made is not None
    text = made.same(-1).text()
    assert (
        "at: uint32[8192] = integers(4294967295, 4294967296)" in text and "c: uint8[8192] = integers(255, 256)" in text
    )
    assert "b: int64[8192] = integers(-1, 0)" in text and "a: float32[8192]" in text
    assert made.same(1).text().count("integers(1, 2)") == 3


def test_a_search_ends(tmp_path: Path) -> None:
    """However much there is to try, a kernel that never runs gets no more than some sixty runs."""
    going = search(drafted(tmp_path).parts[0])
    next(going)
    for number in range(200):
        said = "data race" if number % 2 else "access outside every allocation: 9 bytes before argument 2 (4 bytes)"
        try:
            going.send(_fault(f"{said}; number {number}"))
        except StopIteration as ended:
            assert ended.value.startswith("fault: access outside every allocation")
            break
    assert 20 < number < 80


def test_sizes_of_one_kind_are_0_together(tmp_path: Path) -> None:
    """Where a box begins in each direction: at its end nothing is left to do in any."""
    (tmp_path / "k.cu").write_text(
        "__global__ void box(float* a, int x3, int y3, int x4, int y4) {\n"
        "  int i = x3 + threadIdx.x, j = y3 + threadIdx.y;\n  if (i < x4 && j < y4) a[i * y4 + j] = 1; }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    going = search(part)
    next(going)
    idle = SideResult("original", "ptx", 32, Status.PASSED, counters={"written_elements": 0})
    ran = replace(_fault(""), status=Status.PASSED, sides=(idle,))
    tables = [going.send(ran).sizes.tables[0] for _ in range(6)]
    assert (0, 100, 100, 100) in tables and (0, 0, 100, 100) in tables and (100, 100, 0, 0) in tables


def test_what_counts_bits_is_small(tmp_path: Path) -> None:
    """`x >> 100` is 0 on one machine and `x >> 4` on the other."""
    (tmp_path / "k.cu").write_text(
        "__global__ void k(unsigned* a, unsigned startbit, int nBits, int row_shift, int habits, int bitmap_n) {\n"
        "  a[threadIdx.x] = (a[habits] >> startbit) + (1 << nBits) + (bitmap_n << row_shift); }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    made = filled(part, GUESSES[0], {})
    assert made is not None
    table = dict(zip(made.sizes.names, made.sizes.tables[0], strict=True))
    assert table["startbit"] == table["nBits"] == table["row_shift"] == 4 and table["bitmap_n"] == 100


def test_a_search_that_takes_long_ends(tmp_path: Path) -> None:
    going = search(drafted(tmp_path).parts[0], seconds=0)
    next(going)
    with pytest.raises(StopIteration) as ended:
        going.send("not run")
    assert ended.value.value == "not-run: not run"


COLUMNS = """
__global__ void columns(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * n;
}
void run(const float* in, float* out, int rows, int n) {
  columns<<<(rows + 15) / 16 * (n / 1000), 32>>>(in, out, n);
}
"""


def test_sizes_of_a_case_with_lengths_to_fill_in_leave_blocks(tmp_path: Path) -> None:
    """A launch of no blocks runs clean, and would be taken for a guess that the original takes."""
    path = tmp_path / "k.cu"
    path.write_text(COLUMNS)
    made = draft(path, assuming=True)
    (part,) = made.parts
    assert part.marks and part.sizes.tables[0][part.sizes.names.index("n")] < 1000
    with_blocks = _planned(part, made).case
    assert with_blocks.sizes.tables[0][part.sizes.names.index("n")] >= 1000
    enough = path.with_name("enough.cu")
    enough.write_text(COLUMNS.replace("n / 1000", "n / 4"))
    other = draft(enough, assuming=True)
    assert _planned(other.parts[0], other).case == other.parts[0]
