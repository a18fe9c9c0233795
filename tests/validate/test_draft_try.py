"""`porter cases init --try`: sizes that the original takes are kept, and it is said why the others are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.init import draft
from porter.validation.draft.trying import text_of, try_sizes
from porter.validation.run.plan import Request, validate
from porter.validation.run.porting import in_hip
from porter.validation.verdict.outcome import Status

from tests.cli.command import porter

SOURCE = """
#include <cstdlib>
// Without a guard: the size has to be a multiple of the block, and the table has two entries.
__global__ void pick(const int* __restrict__ which, const float* table, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float local[2] = {table[i], 1.0f};
  out[i] = local[which[i]];
}
__global__ void guarded(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2.0f * x[i] + 1.0f;
}
__global__ void neighbours(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2.0f * x[i] + x[i + 1 < n ? i + 1 : 0];
}
__global__ void beyond(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = in[i];
}
__global__ void broad(int* hits) { hits[blockIdx.x] = blockDim.x; }
int main(int argc, char** argv) {
  const int n = atoi(argv[1]), rounded = 96 * 96;
  int *d_which, *d_hits; float *d_table, *d_out;
  cudaMalloc(&d_which, rounded * sizeof(int)); cudaMalloc(&d_table, rounded * sizeof(float));
  cudaMalloc(&d_out, rounded * sizeof(float)); cudaMalloc(&d_hits, (1 << 20) * sizeof(int));
  pick<<<rounded / 96, 96>>>(d_which, d_table, d_out);
  float *d_x, *d_y;
  cudaMalloc(&d_x, n * sizeof(float)); cudaMalloc(&d_y, n * sizeof(float));
  guarded<<<(n + 63) / 64, 64>>>(d_x, n);
  neighbours<<<(n + 63) / 64, 64>>>(d_x, n);
  beyond<<<(n + 63) / 64, 64>>>(d_x, d_y, n);
  broad<<<1 << 20, 32>>>(d_hits);
}
"""


@pytest.mark.slow
def test_what_the_original_takes(tmp_path: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    source = tmp_path / "k.cu"
    source.write_text(SOURCE)
    made = draft(source)
    tried = {one.case.kernel: one for one in try_sizes(made)}
    assert set(tried) == {"pick", "guarded", "neighbours", "beyond", "broad"}
    assert "integers(0, 2)" in tried["pick"].text and "# integers are 0 and 1 only" in tried["pick"].text
    assert "sweep = { n = [1, 31, 32, 33, 997, 1000] }" in tried["guarded"].text
    # what a neighbour holds depends on which block comes first: sizes that show it are left out
    assert "# left out, n=1000: nondeterministic: x[" in tried["neighbours"].text
    assert "1000" not in tried["neighbours"].text.partition("sweep")[2].partition("\n")[0]
    assert "# left out, n=33: fault: access outside every allocation" in tried["beyond"].text
    assert "sweep = { n = [4096] }" in tried["beyond"].text
    assert 'grid = "min(1048576, 64)"' in tried["broad"].text and "not all blocks" in tried["broad"].text
    assert text_of(made, tuple(tried.values())).count("[[case]]") == 5
    done = porter("cases", "init", str(source), "--try", "--kernel", "guarded", "--stdout")
    assert done.code == 0 and 'kernel = "guarded"' in done.stdout


def test_a_file_has_so_much_time(tmp_path: Path) -> None:
    """Nothing is begun after it, the drafts stand as they are, and say why."""
    source = tmp_path / "k.cu"
    source.write_text(SOURCE)
    tried = {one.case.kernel: one for one in try_sizes(draft(source), file_seconds=0.0)}
    assert len(tried) == 5 and not any(one.chosen for one in tried.values())
    assert all("no more was tried after 0 s for this file" in one.text for one in tried.values())


def test_nothing_runs_where_something_is_left_to_fill_in(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text('struct Thing;\n__global__ void k(Thing* y) { if (y) asm volatile(""); }\n')
    (only,) = try_sizes(draft(source))
    assert only.status is Status.NOT_RUN and only.reason.startswith("to fill in: ") and not only.chosen


@pytest.mark.slow
def test_a_launch_and_lengths_are_guessed_and_said(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(float* y) { y[threadIdx.x] = 1; }\n")
    (only,) = try_sizes(draft(source))
    assert only.status is Status.PASSED and only.chosen
    assert sum(note.startswith("nothing tells this: ") for note in only.case.notes) == 3


def test_types_of_cuda_have_other_names_in_the_port() -> None:
    assert in_hip("ns::cvt<__half, __nv_bfloat16, 4>") == "ns::cvt<__half, __hip_bfloat16, 4>"
    assert in_hip("cudaSomething") == "cudaSomething"


@pytest.mark.slow
def test_blocks_of_too_many_threads_and_sizes_in_no_length(tmp_path: Path) -> None:
    """A side of the block that nothing tells is made smaller; an offset that leads out of an array becomes 0."""
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    source = tmp_path / "k.cu"
    source.write_text(
        """
        __global__ void cube(int* x) { x[threadIdx.x] = blockDim.z; }
        __global__ void shifted(float* x, int n, int by) {
          if (threadIdx.x < n) x[threadIdx.x] = 2 * x[threadIdx.x - by]; }
        void first(int side) { int* d; cudaMalloc(&d, 64 * sizeof(int)); cube<<<2, dim3(side, side, side)>>>(d); }
        void second(int by, int n) { float* e; cudaMalloc(&e, n * sizeof(float)); shifted<<<1, 32>>>(e, n, by); }
        """
    )
    tried = {one.case.kernel: one for one in try_sizes(draft(source))}
    assert tried["cube"].chosen and "blocks of more than 1024 threads were made smaller" in tried["cube"].text
    assert tried["shifted"].chosen and "sizes that are in no length: they are 0" in tried["shifted"].text


@pytest.mark.slow
def test_arrays_that_are_too_large_are_cut_to_what_the_first_blocks_reach(tmp_path: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    source = tmp_path / "k.cu"
    source.write_text(
        """
        __global__ void plane(double x[][400][200]) { x[blockIdx.x][threadIdx.y][threadIdx.x] += 1; }
        void first() { double* d; cudaMalloc(&d, 1600 * 400 * 200 * sizeof(double));
          plane<<<1600, dim3(16, 16)>>>((double (*)[400][200]) d); }
        """
    )
    (found,) = try_sizes(draft(source))
    assert found.chosen, found.reason
    assert "too large as a whole: of x only what these blocks reach is there" in found.text
    assert "min(1600, 64)" in found.text and "float64[1600, 80000]" not in found.text


@pytest.mark.slow
def test_one_block_where_more_leave_arrays_that_cannot_grow(tmp_path: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    source = tmp_path / "k.cu"
    source.write_text(
        """
        __global__ void far(float* x) { x[blockIdx.x * 30000000 + threadIdx.x] = 1; }
        void first() { float* d; cudaMalloc(&d, 64 * sizeof(float)); far<<<4, 64>>>(d); }
        """
    )
    (found,) = try_sizes(draft(source))
    assert found.chosen and "one block only: with more, arrays are left" in found.text


def test_sizes_that_another_function_sets(tmp_path: Path) -> None:
    """0 is what a variable has before it is read; a step that stays 0 is none of them."""
    source = tmp_path / "k.cu"
    source.write_text(
        """
        long long words = 0;
        __global__ void k(float* x, int n, int step) { if (threadIdx.x < n) x[threadIdx.x + step] = 1; }
        void first(int threads) { int n = 0, step = 0; load(path, &n); float *d; cudaMalloc(&d, n * sizeof(float));
          k<<<(n + 31) / 32, threads>>>(d, n, step); }
        __global__ void all(float* x, int n) { x[n - 1 - threadIdx.x] = 1; }
        void second() { float *d; cudaMalloc(&d, words * sizeof(float)); all<<<1, 32>>>(d, words); }
        """
    )
    k, every = draft(source).parts
    table = dict(zip(k.sizes.names, k.sizes.tables[0], strict=True))
    assert table["n"] > 0 and table["step"] == 0 and table["threads"] == 128
    assert all(dict(zip(every.sizes.names, one, strict=True))["n"] > 0 for one in every.sizes.tables)


@pytest.mark.slow
def test_one_block_where_the_whole_grid_takes_too_long(tmp_path: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    source = tmp_path / "k.cu"
    source.write_text(
        """
        __global__ void slow(float* x) {
          volatile float* v = x + blockIdx.x * 32;
          while (blockIdx.x > 0 && v[threadIdx.x] < 1e30f) {}
          v[threadIdx.x] = 1; }
        void first() { float* d; cudaMalloc(&d, 4 * 32 * sizeof(float)); slow<<<4, 32>>>(d); }
        """
    )
    (found,) = try_sizes(draft(source), 1.0)
    assert found.chosen and "# one block only: the program's grid takes longer than a launch may" in found.text


def test_what_counts_bits_is_small(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(float* x, int lg_n, int algo) { x[threadIdx.x] = lg_n + algo; }\n"
        "void first(int lg_n, int algo) { float* d; cudaMalloc(&d, sizeof(float) << lg_n);"
        " k<<<algo, 32>>>(d, lg_n, algo); }\n"
    )
    (part,) = draft(tmp_path / "k.cu").parts
    table = dict(zip(part.sizes.names, part.sizes.tables[0], strict=True))
    assert table["lg_n"] == 10 and table["algo"] > 10


@pytest.mark.slow
def test_what_is_tried_is_what_is_written(tmp_path: Path) -> None:
    """Values hang on a case's name: some of these integers lead out of the table, and the case must not."""
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    kernels = [
        f"__global__ void k{n}(const int* at, float* x) {{ x[at[threadIdx.x]] += 1; }}\n"
        f"void f{n}() {{ int* d; float* x; cudaMalloc(&d, 2 * sizeof(int)); cudaMalloc(&x, 70 * sizeof(float));"
        f" k{n}<<<1, 2>>>(d, x); }}\n"
        for n in range(6)
    ]
    source = tmp_path / "k.cu"
    source.write_text("".join(kernels))
    made = draft(source)
    path = tmp_path / "k.case.toml"
    path.write_text(text_of(made, try_sizes(made)))
    found = validate(Request((path,), ("ptx",), schedules=1)).report.cases
    assert [case.status for case in found] == [Status.PASSED] * 6
