"""A project's programs on both sides, and ports that are wrong on purpose."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.programs import compare, compilers
from porter.validation.programs.agreement import Agreement, Compared, compare_runs
from porter.validation.programs.compare import (
    ComparedProject,
    compare_one,
    compare_project,
    port_tree,
    run_both,
    settle,
)
from porter.validation.programs.launch import Options
from porter.validation.programs.outcome import Account, ProgramRun, Verdict
from porter.validation.programs.output import Tolerance
from porter.validation.programs.recipes import Program
from porter.validation.programs.sides import CUDA, HIP, Alike
from porter.validation.toolchain.headers import find_headers
from porter.validation.toolchain.result import Missing
from typer.testing import CliRunner

from porter.cli import app
from tests.outside import require


def _run(output: str = "sum 1\n", verdict: Verdict = Verdict.PASSED, code: int = 0, launches: int = 1) -> ProgramRun:
    return ProgramRun(("./main",), verdict, "why", code, Account(launches=launches), 0.0, output=output.encode())


@pytest.mark.parametrize(
    ("original", "port", "agreement"),
    [
        (_run(), _run(), Agreement.AGREE),
        (_run(), _run("sum 2\n"), Agreement.DIFFER),
        (_run(), _run(verdict=Verdict.FAILED, code=1), Agreement.DIFFER),
        (_run(verdict=Verdict.FAILED, code=1), _run(verdict=Verdict.FAILED, code=1), Agreement.AGREE),
        (_run(verdict=Verdict.FAILED, code=1, launches=0), _run(verdict=Verdict.FAILED, code=1), Agreement.NO_LAUNCH),
        (_run(), _run(verdict=Verdict.NO_LAUNCH, launches=0), Agreement.NO_LAUNCH),
        (_run(verdict=Verdict.FAULT), _run(verdict=Verdict.FAULT), Agreement.FAULT),
        (_run(), _run(verdict=Verdict.IGNORED_ERROR), Agreement.IGNORED_ERROR),
        (_run(), _run(verdict=Verdict.CRASHED, code=-11), Agreement.CRASHED),
    ],
)
def test_verdicts(original: ProgramRun, port: ProgramRun, agreement: Agreement) -> None:
    assert compare_runs("main", original, port, Tolerance()).agreement is agreement


def test_a_port_that_is_still_the_original() -> None:
    same = replace(_run(), account=Account(("cuda",), 1))
    found = compare_runs("main", same, same, Tolerance())
    assert (found.agreement, found.side) == (Agreement.NOT_BUILT, "port")


@pytest.mark.parametrize(
    ("headers", "wanted", "name"),
    [
        ("6.0", None, "hipHostMallocDefault"),
        ("6.3", None, "hipHostAllocDefault"),
        (None, None, "hipHostAllocDefault"),
        ("6.0", "6.4", "hipHostAllocDefault"),
    ],
)
def test_the_port_is_for_the_headers_it_is_built_with(
    headers: str | None, wanted: str | None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "include" / "hip"
    folder.mkdir(parents=True)
    (folder / "hip_runtime.h").touch()
    if headers is not None:
        major, minor = headers.split(".")
        (folder / "hip_version.h").write_text(f"#define HIP_VERSION_MAJOR {major}\n#define HIP_VERSION_MINOR {minor}\n")
    monkeypatch.setenv("PORTER_ROCM_HEADERS", str(folder.parent))
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.cu").write_text("unsigned flags = cudaHostAllocDefault;\n")
    if wanted is not None:
        (source / "porter.toml").write_text(f'rocm = "{wanted}"\n')
    port_tree(source, tmp_path / "port")
    assert f"flags = {name};" in (tmp_path / "port" / "a.hip").read_text()


def test_what_varies_by_itself_is_left_out() -> None:
    original, port = _run("seed 11\nsum 1\n"), _run("seed 99\nsum 1\n")
    again = replace(original, output=b"seed 42\nsum 1\n")
    assert compare_runs("main", original, port, Tolerance()).agreement is Agreement.DIFFER
    assert compare_runs("main", original, port, Tolerance(), again).agreement is Agreement.AGREE
    assert compare_runs("main", original, _run("seed 99\nsum 2\n"), Tolerance(), again).agreement is Agreement.DIFFER
    more = 'GPU Device 0: "AMD" with compute capability 9.4\nseed 99\nsum '
    for number, agreement in ((1, Agreement.AGREE), (2, Agreement.DIFFER)):
        assert compare_runs("main", original, _run(f"{more}{number}\n"), Tolerance(), again).agreement is agreement


@pytest.mark.parametrize(
    ("port", "agreement"),
    [
        ("seed 99, sum 2\nsorted\n", Agreement.DIFFER),
        ("seed 99, sum 1\nsorted otherwise\n", Agreement.DIFFER),
        ("seed 99, sum 1\nsorted\n", Agreement.AGREE),
        ("hello\nseed 99, sum 2\nsorted\n", Agreement.DIFFER),
    ],
)
def test_what_stands_beside_a_number_that_varies(port: str, agreement: Agreement) -> None:
    original = _run("seed 11, sum 1\nsorted\n")
    again = replace(original, output=b"seed 42, sum 1\nsorted\n")
    found = compare_runs("main", original, _run(port), Tolerance(), again)
    assert found.agreement is agreement
    if agreement is Agreement.AGREE:
        assert found.reason == "not compared: 1 number of the output, which another run of the original has otherwise"


def test_lines_in_another_order() -> None:
    """A difference, unless the original's come so, too, or a kernel printed them."""
    original, port = _run("11\n7\n"), _run("7\n11\n")
    assert compare_runs("main", original, port, Tolerance()).agreement is Agreement.DIFFER
    assert compare_runs("main", original, port, Tolerance(), original).agreement is Agreement.DIFFER
    again = replace(original, output=b"7\n11\n")
    assert compare_runs("main", original, port, Tolerance(), again).agreement is Agreement.AGREE
    assert compare_runs("main", original, _run("7\n12\n"), Tolerance(), again).agreement is Agreement.DIFFER
    by_kernel = replace(original, account=Account(launches=1, printed=True))
    assert compare_runs("main", by_kernel, port, Tolerance()).agreement is Agreement.AGREE


@pytest.mark.parametrize(
    ("left", "right", "again", "reason"),
    [
        (b"2\n1\n", b"1\n2\n", b"2\n1\n", "out: line 1: '2' and '1'"),
        (b"sum 1\n", b"sum 2\n", b"sum 1\n", "out: line 1: 'sum 1' and 'sum 2'"),
        (b"a\0b", b"a\0c", b"a\0b", "out: they differ from byte 2 on"),
        (b"a", None, b"a", "out: the port did not write it"),
        (b"2\n1\n", b"1\n2\n", b"1\n2\n", None),
        (b"seed 7\nsum 1\n", b"seed 8\nsum 1\n", b"seed 9\nsum 1\n", None),
        (b"a\0b", b"a\0c", b"a\0d", None),
        (b"time 7 ms", b"time 8 ms", b"time 7 ms", None),
    ],
)
def test_files(
    left: bytes, right: bytes | None, again: bytes, reason: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for side, content in (("original", left), ("port", right)):
        (tmp_path / side).mkdir()
        if content is not None:
            (tmp_path / side / "out").write_bytes(content)

    def run_again(words: object, options: object, folder: Path, *, keep: bool) -> ProgramRun:
        del words, options, keep
        (folder / "out").write_bytes(again)
        return _run()

    monkeypatch.setattr(compare, "run_program", run_again)
    program = Program("main", ("./main",), files=("out",))
    found = settle(program, _run(), _run(), tmp_path / "original", tmp_path / "port", Options())
    assert found.agreement is (Agreement.AGREE if reason is None else Agreement.DIFFER)
    assert reason is None or found.reason == reason


@pytest.mark.parametrize(
    ("port", "agreement"), [("blocks 608\nsum 1\n", Agreement.AGREE), ("blocks 608\nsum 2\n", Agreement.DIFFER)]
)
def test_what_goes_by_the_size_of_the_gpu(
    port: str, agreement: Agreement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The original on a GPU that is told to be as the port's says what the port has to say, in everything."""

    def run_again(words: object, options: Options, folder: Path, *, keep: bool) -> ProgramRun:
        del words, folder, keep
        return _run(f"blocks {2 * (304 if options.as_the_port else 108)}\nsum 1\n")

    monkeypatch.setattr(compare, "run_program", run_again)
    monkeypatch.setattr(compare, "_first_launch", lambda *_: None)
    first = _run("blocks 216\nsum 1\n")
    found = settle(Program("main", ("./main",)), first, _run(port), tmp_path, tmp_path, Options())
    assert found.agreement is agreement
    if agreement is Agreement.AGREE:
        assert found.reason == (
            "where the original's GPU says of itself what the port's does; with its own output, line 1: "
            "'blocks 216' and 'blocks 608'"
        )


@pytest.mark.parametrize(
    ("port", "faster", "agreement"),
    [
        ("2048, 0.009\n", "2048, 0.001\n", Agreement.AGREE),
        ("2048, 0.009\n", "2048, 0.008\n", Agreement.DIFFER),
        ("2049, 0.009\n", "2048, 0.001\n", Agreement.DIFFER),
    ],
)
def test_what_goes_by_the_clock(
    port: str, faster: str, agreement: Agreement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rate without a unit is what a faster clock changes, not what is another number."""

    def run_again(words: object, options: Options, folder: Path, *, keep: bool) -> ProgramRun:
        del words, folder, keep
        return _run(faster if options.clock > 1 else "2048, 0.008\n")

    monkeypatch.setattr(compare, "run_program", run_again)
    monkeypatch.setattr(compare, "_first_launch", lambda *_: None)
    found = settle(Program("main", ("./main",)), _run("2048, 0.008\n"), _run(port), tmp_path, tmp_path, Options())
    assert found.agreement is agreement
    assert agreement is Agreement.DIFFER or found.reason.endswith("with a clock that runs 8 times as fast")


@pytest.mark.parametrize(
    ("port", "agreement"), [("9 9 9 9 9 sum 1\n", Agreement.AGREE), ("9 9 9 9 9 sum 2\n", Agreement.DIFFER)]
)
def test_numbers_that_are_the_same_by_chance(
    port: str, agreement: Agreement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of the original are made as long as they show more that varies; what never does is compared."""
    runs = iter(f"{numbers} sum 1\n" for numbers in ("1 6 3 3 5", "1 2 7 4 4", "8 2 3 4 5", "7 7 7 7 7"))

    def run_again(words: object, options: Options, folder: Path, *, keep: bool) -> ProgramRun:
        del words, folder, keep
        return _run("1 2 3 4 5 sum 1\n" if options.as_the_port else next(runs))

    monkeypatch.setattr(compare, "run_program", run_again)
    monkeypatch.setattr(compare, "_first_launch", lambda *_: None)
    monkeypatch.setattr(compare, "by_fresh_memory", lambda *_: None)
    first = _run("1 2 3 4 5 sum 1\n")
    found = settle(Program("main", ("./main",)), first, _run(port), tmp_path, tmp_path, Options())
    assert found.agreement is agreement


def test_each_is_told_as_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "porter.toml").write_text('[[program]]\nname = "a"\nrun = "a"\n[[program]]\nname = "b"\nrun = "b"\n')
    told: list[str] = []

    def one(program: Program, source: Path, original: Path, port: Path, options: Options) -> Compared:
        del source, original, port, options
        assert told == {"a": [], "b": ["a"]}[program.name]
        return Compared(program.name, Agreement.AGREE, "")

    monkeypatch.setattr(compare, "compare_one", one)
    report = compare_project(tmp_path, (), Options(), lambda found: told.append(found.name))
    assert told == ["a", "b"] == [found.name for found in report.programs]


def test_that_nothing_was_printed_is_told(tmp_path: Path) -> None:
    found = settle(Program("main", ("./main",)), _run(""), _run(""), tmp_path, tmp_path, Options())
    assert found.agreement is Agreement.AGREE
    assert found.reason == "nothing was printed: only the exit codes were compared"
    assert not settle(Program("main", ("./main",)), _run(), _run(), tmp_path, tmp_path, Options()).reason


@pytest.mark.slow
def test_both_sides(cuda: Path, hip: Path, tmp_path: Path) -> None:
    for side, program in (("original", cuda), ("port", hip)):
        (tmp_path / side).mkdir()
        shutil.copy(program, tmp_path / side / "main")
    program = Program("main", ("./main", "pass", "5000"))
    found = run_both(program, tmp_path / "original", tmp_path / "port", Options())
    assert (found.agreement, found.says) == (Agreement.AGREE, "pass"), found.reason
    wrong = replace(program, run=("./main", "pass", "5000"), run_port=("./main", "wrong", "5000"))
    found = run_both(wrong, tmp_path / "original", tmp_path / "port", Options())
    assert found.agreement is Agreement.DIFFER
    said, _, where = found.reason.partition("; ")
    assert said == "exit code 0 of the original, 1 of the port"
    assert where.startswith(
        "memory differs first after launch 1, scale(float const*, float*, int): grid and block (20, "
    )
    other = replace(program, run=("./main", "pass", "5000"), run_port=("./main", "short", "5000"))
    found = run_both(other, tmp_path / "original", tmp_path / "port", Options())
    assert "device memory 2, element 4999 of 5000 as f4: 9998.0 and 0.0" in found.reason


_APART = {
    "main.cu": """
#include <cstdio>
extern __device__ int twice(int);
extern __device__ int table[4];
__global__ void fill(int *into) { into[threadIdx.x] = twice(threadIdx.x) + table[threadIdx.x & 3]; }
int main() {
    int *device, host[64];
    cudaMalloc(&device, sizeof host);
    fill<<<1, 64>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    puts(host[63] == 2 * 63 + 8 ? "PASS" : "FAIL");
}
""",
    "other.cu": """
__device__ int table[4] = {5, 6, 7, 8};
__device__ int twice(int value) { return 2 * value; }
""",
    "Makefile": """
CC = nvcc
CFLAGS = -O1 -arch=sm_80
main: main.o other.o
\t$(CC) $(CFLAGS) main.o other.o -o $@
%.o: %.cu
\t$(CC) $(CFLAGS) -dc $< -o $@
""",
    "porter.toml": '[[program]]\nname = "apart"\nrun = "./main"\n',
}

_BFLOAT16 = {
    "main.cu": """
#include <cstdio>
#include <cuda_bf16.h>
template <class T> __global__ void fill(T *into, float step) {
    T value = (T)(threadIdx.x * step);
    value += T(1.0f) * (T)0.3f;
    into[threadIdx.x] = value / (T)3;
}
int main() {
    __nv_bfloat16 *device, host[64];
    float sum = 0;
    cudaMalloc(&device, sizeof host);
    fill<<<1, 64>>>(device, 0.7f);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) sum += (float)host[i];
    printf("%.9g %.9g %d\\n", sum, (float)host[63], host[1] < host[2]);
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 -arch=sm_80 main.cu -o main\n",
    "porter.toml": '[[program]]\nname = "bfloat16"\nrun = "./main"\nrelative = 0.0\nabsolute = 0.0\n',
}


_BY_SIZE = {
    "main.cu": """
#include <cstdio>
__global__ void add(int *sum) { atomicAdd(sum, 1); }
int main() {
    cudaDeviceProp properties;
    int per_unit, *sum, host;
    cudaGetDeviceProperties(&properties, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, add, 1024, 0);
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    add<<<per_unit * properties.multiProcessorCount, 1024>>>(sum);
    cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
    printf("counted %d\\nPASS\\n", host);
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 -arch=sm_80 main.cu -o main\n",
    "porter.toml": '[[program]]\nname = "by_size"\nrun = "./main"\n',
}
_DEPENDENT = {
    "main.cu": r"""
#include <cuda_runtime.h>
#include <cstdio>
__global__ void first(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  if (i < n) x[i] = i;
}
template <class T> __global__ void second(const T *x, T *y, int n, T scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;");
#endif
  cudaGridDependencySynchronize();
  if (i < n) y[i] = scale * x[i] + y[i];
}
__global__ void nothing() {}
int refused() {
#ifdef PORTED
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {dim3(2), dim3(64), 0, 0, &attribute, 1};
  return cudaLaunchKernelEx(&config, nothing) == cudaErrorNotSupported;
#else
  return 1;
#endif
}
int main() {
  int n = 1000;
  float *x, *y, h[1000];
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  first<<<4, 256, 0, stream>>>(x, n);
  cudaLaunchAttribute attributes[3];
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  attributes[2].id = cudaLaunchAttributePriority;
  attributes[2].val.priority = 0;
  cudaLaunchConfig_t config = {0};
  config.gridDim = 4;
  config.blockDim = dim3(256);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 3;
  int given = cudaLaunchKernelEx(&config, second<float>, x, y, n, 2);
  given += cudaLaunchKernelEx(&config, nothing);
  const float *from = x;
  float scale = 3;
  void *arguments[] = {&from, &y, &n, &scale};
  given += cudaLaunchKernelExC(&config, (const void *)second<float>, arguments);
  config.numAttrs = 0;
  given += cudaLaunchKernelExC(&config, (const void *)second<float>, arguments);
  given += cudaStreamSynchronize(stream);
  cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%d %g %d\n", given, h[999], refused());
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 -arch=sm_90 $(MORE) main.cu -o main\n",
    "porter.toml": '[[program]]\nname = "dependent"\nrun = "./main"\nbuild_port = ["make MORE=-DPORTED"]\n',
}


_PROPERTIES_PRINTED = {
    "main.cu": r"""
#include <cstdio>
__global__ void count(int *into) { atomicAdd(into, 1); }
int main() {
  struct cudaDeviceProp found = {0};
  int rate = 0, *into, counted = 0;
  cudaGetDeviceProperties(&found, 0);
  cudaDeviceGetAttribute(&rate, cudaDevAttrClockRate, 0);
  printf("%s: %d.%d, %d and %d kHz, %d bits, L2 %d, mode %d, overlap %d\n", found.name, found.major, found.minor,
         found.clockRate, found.memoryClockRate, found.memoryBusWidth, found.l2CacheSize, found.computeMode,
         found.deviceOverlap);
  printf("as asked for one by one: %d, grid %d, block %d\n", found.clockRate == rate, found.maxGridSize[1],
         found.maxThreadsDim[2]);
  cudaMallocManaged(&into, sizeof *into);
  *into = 0;
  cudaMemPrefetchAsync(into, sizeof *into, 0);
  cudaMemAdvise(into, sizeof *into, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
  count<<<2, 32>>>(into);
  counted = cudaThreadSynchronize() == cudaSuccess ? *into : -1;
  printf("%d in main.cu\n", counted + (__FILE__[0] == 'm' ? 0 : 1));
  cudaThreadExit();
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 -arch=sm_35 main.cu -o main\n",
    "porter.toml": '[[program]]\nname = "query"\nrun = "./main"\n',
}
"""As programs from before CUDA 13 are: members and functions that it took away."""


_SHIFTED = {
    "main.cu": r"""
#include <cstdio>
#include <cstdlib>
__global__ void cut(const unsigned *words, unsigned *into, int bit) {
  into[threadIdx.x] = (words[threadIdx.x] >> bit) + (words[threadIdx.x + 1] << (32 - bit));
}
int main(int count, char **words) {
  unsigned *x, sum = 0;
  cudaMallocManaged(&x, 65 * sizeof *x);
  for (unsigned i = 0; i < 33; i++) x[i] = 3 * i;
  cut<<<1, 32>>>(x, x + 33, count > 1 ? atoi(words[1]) : 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; i++) sum += x[33 + i];
  printf("%u\n", sum);
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 main.cu -o main\n",
    "porter.toml": '[[program]]\nname = "zero"\nrun = "./main"\n[[program]]\nname = "five"\nrun = "./main 5"\n',
}
"""A stream of bits that is read from any place: where a word begins, its neighbour is shifted by all its bits.

With `|` for `+` both compilers shift a pair of words, which is right for each count.
"""


@pytest.mark.slow
def test_a_difference_that_is_a_shift_by_the_width(tmp_path: Path) -> None:
    """NVIDIA's GPUs give 0, gfx942 the word; nothing in the source says that the count can be so large."""
    zero, five = _programs(_SHIFTED, tmp_path)
    assert five.agreement is Agreement.AGREE and five.original is not None
    assert zero.agreement is Agreement.DIFFER and zero.original is not None and zero.port is not None
    assert zero.original.output == f"{3 * sum(range(32))}\n".encode()
    assert "counts modulo the width" in zero.reason, zero.reason


_FRESH = {
    "main.cu": r"""
#include <cstdio>
#include <cstdlib>
#ifdef __HIP__
const int LEFT = 2;
#else
const int LEFT = 1;
#endif
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }
int main(int count, char **) {
  int *before = (int *)malloc(4096), sum = 0, *x;
  for (int i = 0; i < 1024; i++) before[i] = LEFT;
  __asm__ volatile("" : : "r"(before) : "memory");
  free(before);
  int *host = count > 1 ? (int *)calloc(1024, 4) : (int *)malloc(4096);
  if (count > 2) host[9] = LEFT;
  cudaMalloc(&x, 4096);
  cudaMemcpy(x, host, 4096, cudaMemcpyHostToDevice);
  twice<<<1, 512>>>(x + 8);
  cudaMemcpy(host, x, 4096, cudaMemcpyDeviceToHost);
  for (int i = 8; i < 1000; i++) sum += host[i];
  printf("sum %d\n", sum);
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 main.cu -o main\n",
    "porter.toml": "".join(
        f'[[program]]\nname = "{name}"\nrun = "./main {words}"\n'
        for name, words in (("left", ""), ("cleared", "1"), ("wrong", "1 2"))
    ),
}
"""What malloc hands out was freed before, with another number in it on each side."""


@pytest.mark.slow
def test_a_difference_that_is_memory_nobody_wrote(tmp_path: Path) -> None:
    """The same bytes on both sides show it; what is cleared says nothing of it, be it right or wrong."""
    for tool in ("make", "nvcc"):
        require(tool)
    for name, text in _FRESH.items():
        (tmp_path / name).write_text(text)
    left, cleared, wrong = compare_project(tmp_path, (), Options()).programs
    assert left.agreement is Agreement.AGREE, left.reason
    assert "memory of malloc that nothing wrote: with what it held output, line 1" in left.reason
    assert cleared.agreement is Agreement.AGREE
    assert wrong.agreement is Agreement.DIFFER
    assert not any("malloc" in one.reason for one in (cleared, wrong))


@pytest.mark.parametrize(
    ("filled", "agreement", "told"),
    [
        (("sum 7\n", "sum 7\n"), Agreement.AGREE, True),
        (("sum 7\n", "sum 8\n"), Agreement.DIFFER, True),
        (("sum 1\n", "sum 1\n"), Agreement.DIFFER, False),
        (("sum 1\n", "sum 2\n"), Agreement.DIFFER, False),
        (("sum {}\n", "sum 8\n"), Agreement.DIFFER, False),
    ],
)
def test_what_fresh_memory_changes(
    filled: tuple[str, str], agreement: Agreement, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only an original that says something else reads such memory, the same each time; a port alone that does is
    wrong, and what draws its numbers anew in each run tells nothing."""
    drawn = iter(range(100, 200))

    def run_again(words: object, options: Options, folder: Path, *, keep: bool) -> ProgramRun:
        del words, folder, keep
        side = options.side or CUDA
        return _run(filled[side is HIP].format(next(drawn)) if options.fresh else ("sum 1\n", "sum 2\n")[side is HIP])

    monkeypatch.setattr(compare, "run_program", run_again)
    monkeypatch.setattr(compare, "_first_launch", lambda *_: None)
    found = settle(Program("main", ("./main",)), _run("sum 1\n"), _run("sum 2\n"), tmp_path, tmp_path, Options())
    assert found.agreement is agreement
    assert ("nothing wrote" in found.reason) is told


_SEEDED = {
    "main.cu": r"""
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <sys/time.h>
#ifdef __HIP__
const float MORE = 1.5f;
#else
const float MORE = 1;
#endif
__global__ void grow(float *x, float by) { x[threadIdx.x] *= by; }
int main(int count, char **) {
  float *x;
  struct timeval now;
  cudaMallocManaged(&x, 64 * sizeof *x);
  if (count == 2) {
    gettimeofday(&now, NULL);
    if (MORE > 1) system("sleep 1.2");
    srand(time(NULL));
  }
  else if (count == 4) srand(std::random_device()());
  else gettimeofday(&now, NULL), srand(now.tv_usec + now.tv_sec);
  for (int i = 0; i < 64; i++) x[i] = rand() % 1000;
  grow<<<1, 64>>>(x, count == 3 ? MORE : 3);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; i++) printf("%g ", x[i]);
  printf("\n");
  system("sleep 1.1");
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 main.cu -o main\n",
    "porter.toml": "".join(
        f'[[program]]\nname = "{name}"\nrun = "./main {words}"\n'
        for name, words in (("seconds", "1"), ("microseconds", ""), ("device", "1 2 3"), ("wrong", "1 2"))
    ),
}
"""Numbers that are drawn by the time of day."""


@pytest.mark.slow
def test_what_is_seeded_by_the_time_of_day_is_compared(tmp_path: Path) -> None:
    """Both sides are told the same time, so that nothing is left out; a port that is wrong is seen then, too."""
    for tool in ("make", "nvcc"):
        require(tool)
    for name, text in _SEEDED.items():
        (tmp_path / name).write_text(text)
    *right, wrong = compare_project(tmp_path, (), Options()).programs
    for one in right:
        assert (one.agreement, one.reason) == (Agreement.AGREE, "")
    assert wrong.agreement is Agreement.DIFFER


@pytest.mark.parametrize(("told", "agreement"), [("5 6\n", Agreement.AGREE), ("5 7\n", Agreement.DIFFER)])
def test_what_a_gpu_says_of_itself_beside_what_varies(
    told: str, agreement: Agreement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time without a label in the same output as the size of the GPU."""
    times = iter(range(100))

    def run_again(words: object, options: Options, folder: Path, *, keep: bool) -> ProgramRun:
        del words, folder, keep
        ours = f"blocks {304 if options.as_the_port else 108}\n0.{next(times)}\n5 6\n"
        return port if options.side is HIP else _run(ours)

    monkeypatch.setattr(compare, "run_program", run_again)
    monkeypatch.setattr(compare, "_first_launch", lambda *_: None)
    first, port = _run("blocks 108\n0.51\n5 6\n"), _run(f"blocks 304\n0.77\n{told}")
    assert settle(Program("main", ("./main",)), first, port, tmp_path, tmp_path, Options()).agreement is agreement


_HALF = {
    "main.cu": r"""
#include <cstdio>
#include <cuda_fp16.h>
__global__ void sum(const __half *x, __half *into) { atomicAdd(into, x[threadIdx.x]); }
int main() {
  __half *x, *into, h[64], one;
  for (int i = 0; i < 64; i++) h[i] = __float2half(1.f);
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&into, sizeof *into);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(into, 0, sizeof *into);
  sum<<<1, 64>>>(x, into);
  cudaMemcpy(&one, into, sizeof one, cudaMemcpyDeviceToHost);
  printf("%g\n", __half2float(one));
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 main.cu -o main\n",
    "porter.toml": '[[program]]\nname = "half"\nrun = "./main"\n',
}
"""A sum in two bytes of its own, which gfx942 adds to by the word around them."""


@pytest.mark.slow
def test_an_atomic_of_two_bytes_at_the_end_of_an_allocation(tmp_path: Path) -> None:
    found = _compared(_HALF, tmp_path)
    assert (found.agreement, found.original and found.original.output) == (Agreement.AGREE, b"64\n"), found.reason


_LINKED_BY_HOST = {
    "main.cu": r"""
#include <cstdio>
__global__ void three(int *x) { *x = 3; }
int main() {
  int *x, seen = 0;
  cudaMalloc(&x, 4);
  three<<<1, 1>>>(x);
  cudaMemcpy(&seen, x, 4, cudaMemcpyDeviceToHost);
  printf("%d\n", seen);
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O1 -c main.cu -o main.o\n\tg++ main.o -o main -lcuda -lcudart -lm\n",
    "porter.toml": '[[program]]\nname = "linked"\nrun = "./main"\n',
}


@pytest.mark.slow
def test_a_program_that_the_hosts_compiler_links(tmp_path: Path) -> None:
    """With the libraries that it will run with: there need be no driver."""
    found = _compared(_LINKED_BY_HOST, tmp_path)
    assert found.original is not None and found.original.output == b"3\n"


_FUSED = {
    "main.cu": r"""
#include <cstdio>
__host__ __device__ inline float product(float a, float b, float c) { return a * b - c * 0.5f; }
__global__ void multiply(float *x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] = product(0.1f * (i + 1), 0.7f + i, 0.3f * i);
}
int main() {
  float *x;
  int same = 0;
  cudaMallocManaged(&x, 64 * sizeof *x);
  multiply<<<1, 64>>>(x, 64);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; i++) same += x[i] == product(0.1f * (i + 1), 0.7f + i, 0.3f * i);
  printf("%d of 64: %s\n", same, same == 64 ? "PASS" : "FAIL");
}
""",
    "Makefile": "main: main.cu\n\tnvcc -O2 -Xcompiler -ffp-contract=off main.cu -o main\n",
    "porter.toml": '[[program]]\nname = "fused"\nrun = "./main"\n',
}
"""The product with 0.5 is exact: fused with it, the sum is what the host has, fused with the other it is not."""


@pytest.mark.slow
def test_a_difference_that_is_rounding(tmp_path: Path) -> None:
    """nvcc and clang fuse different products with the sum."""
    (found,) = _programs(_FUSED, tmp_path)
    assert found.agreement is Agreement.DIFFER, found.reason
    assert (
        "they agree with products and sums rounded apart on both sides (-fmad=false, -ffp-contract=off)" in found.reason
    )


@pytest.mark.parametrize("agreement", [Agreement.AGREE, Agreement.DIFFER, Agreement.NOT_BUILT])
def test_rounding_is_told_where_it_is_all(
    agreement: Agreement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Alike | None] = []

    def both_built(_program: Program, _original: Path, _port: Path, alike: Alike | None = None) -> str:
        built.append(alike)
        return ""

    run, first = _run(), "output, line 1: 1 and 2"
    other = Compared("a", agreement, "x", original=run)
    monkeypatch.setattr(compare, "_both_built", both_built)
    monkeypatch.setattr(
        compare, "run_both", lambda *_: other if built[-1] else Compared("a", Agreement.DIFFER, first, original=run)
    )
    monkeypatch.setattr(compare, "both_sides", lambda source, work: (work, work))
    monkeypatch.setattr(compare, "seeding", lambda *_: None)
    found = compare_one(Program("a", ("./a",)), tmp_path, tmp_path, tmp_path, Options())
    assert found.agreement is Agreement.DIFFER and built == [None, Alike.ROUNDING]
    assert found.reason.startswith(first) and (found.reason == first) is (agreement is not Agreement.AGREE)


@pytest.mark.slow
def test_what_the_gpu_says_of_itself_and_names_that_the_toolkit_lacks(tmp_path: Path) -> None:
    found = _compared(_PROPERTIES_PRINTED, tmp_path)
    assert found.port is not None and b": 9.4, 2100000 and 1300000 kHz" in found.port.output
    assert b"as asked for one by one: 1, grid 65536, block 1024\n64 in main.cu" in found.port.output
    assert found.reason.startswith("where the original's GPU says of itself what the port's does; with its own output")
    assert "8.0, 1410000 and 1215000 kHz, 5120 bits, L2 41943040, mode 0, overlap 1" in found.reason
    toolkit = compilers.toolkit_version(CUDA)
    if toolkit and int(toolkit.partition(".")[0]) >= 13:
        assert found.reason.endswith(
            "; original built with names that its toolkit lacks: clockRate, computeMode, cudaMemAdvise, "
            "cudaMemLocation, cudaMemPrefetchAsync, cudaThreadExit, cudaThreadSynchronize, deviceOverlap, "
            "memoryClockRate"
        )


@pytest.mark.slow
def test_a_grid_by_the_number_of_multiprocessors(tmp_path: Path) -> None:
    assert _compared(_BY_SIZE, tmp_path).reason == (
        "where the original's GPU says of itself what the port's does; with its own output, line 1: "
        "'counted 221184' and 'counted 622592'"
    )


@pytest.mark.slow
def test_device_code_that_is_compiled_apart(tmp_path: Path) -> None:
    """nvcc links it by itself; the port's Makefile says so to hipcc."""
    assert _compared(_APART, tmp_path).says == "pass"


@pytest.mark.slow
def test_launches_with_attributes(tmp_path: Path) -> None:
    """Programmatic dependent launch becomes the stream's order; a cluster of two blocks is refused."""
    found = _compared(_DEPENDENT, tmp_path)
    assert found.port is not None and b"0 7992 1" in found.port.output


@pytest.mark.slow
def test_bfloat16_that_is_converted(tmp_path: Path) -> None:
    """As CUDA's, and rounded where CUDA's is: HIP 6.0 knows neither casts nor operators, older ones no such type."""
    headers = find_headers()
    if isinstance(headers, Missing) or not (headers / "hip" / "hip_bf16.h").is_file():
        pytest.skip(
            headers.reason if isinstance(headers, Missing) else f"no hip/hip_bf16.h in {headers}: HIP before 6.0"
        )
    _compared(_BFLOAT16, tmp_path)


def _programs(files: Mapping[str, str], folder: Path) -> tuple[Compared, ...]:
    for tool in ("make", "nvcc"):
        require(tool)
    for name, text in files.items():
        (folder / name).write_text(text)
    programs = compare_project(folder, (), Options()).programs
    for found in programs:
        if found.agreement is Agreement.NOT_RUN:
            pytest.skip(found.reason)
    return programs


def _compared(files: Mapping[str, str], folder: Path) -> Compared:
    (found,) = _programs(files, folder)
    assert found.agreement is Agreement.AGREE, found.reason
    assert found.port is not None and found.port.account.sides == ("hip",)
    return found


@pytest.mark.parametrize("where", [("FOLDER",), ("--source", "FOLDER")])
def test_the_project_may_stand_where_a_command_does(
    where: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is proposed next names the project."""
    asked: list[Path] = []

    def compared(source: Path, *_: object) -> ComparedProject:
        asked.append(source)
        return ComparedProject((Compared("a b", Agreement.DIFFER, "output"),))

    monkeypatch.setattr(compare, "compare_project", compared)
    done = CliRunner().invoke(app, ["run", "--compare", *(str(tmp_path) if one == "FOLDER" else one for one in where)])
    assert asked == [tmp_path] and done.exit_code == 1
    assert f"porter run --compare {tmp_path} --program 'a b' --format json" in done.output


@pytest.mark.parametrize("words", [("no-such-folder",), (".", "."), ("--source", "/", "."), ("--", "./main", "3")])
def test_a_command_is_refused(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, ["run", "--compare", *words])
    assert done.exit_code == 2
    assert "--compare takes its programs from porter.toml: porter run --compare DIR" in " ".join(done.output.split())
