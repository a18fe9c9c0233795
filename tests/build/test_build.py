"""Real compilers: the ports of all samples, broken units, and compilers that misbehave."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import jsonschema
import pytest
from porter.validation.build.compile import PUT_RIGHT
from porter.validation.build.hints import hint_on
from porter.validation.build.model import BuildReport, How, Status
from porter.validation.build.report import build_json, build_markdown, build_text
from porter.validation.build.run import BuildRequest, build
from porter.validation.build.syntax import check_syntax, syntax_tool
from porter.validation.toolchain.clang import Missing, find_clang, lacks_wrapping_atomics
from porter.validation.toolchain.headers import find_headers
from porter.validation.toolchain.hipcc import Hipcc, find_hipcc, supports
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.rocm_headers import LIBRARIES, fetched

from porter.project.port import Request, port_to
from porter.report import schemas
from porter.settings import load_choices
from porter.system.cache import cache_folder
from tests.cli.command import porter

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "samples"
BUILT = {
    *("block_reduce/block_reduce.hip", "cg_reduction/cg_reduction.hip", "elementwise/elementwise.hip"),
    *("histogram/histogram.hip", "image_filters/apps/check.cpp", "image_filters/apps/threshold.hip"),
    *("image_filters/src/gradient.hip", "image_filters/src/row_extremes.hip", "inline_ptx/inline_ptx.hip"),
    *("layer_norm/layer_norm.hip", "nvrtc_string/nvrtc_string.hip", "softmax/softmax.hip", "spmv_csr/src/main.hip"),
    *("spmv_csr/src/multiply.hip", "stream_compaction/compaction.hip", "texture_filter/texture_filter.hip"),
    *("tiled_matmul/matmul.hip", "torch_extension/csrc/rms_norm_kernel.hip", "warp_scan/warp_scan.hip"),
    *("warp_topk/warp_topk.hip", "wmma_gemm/wmma_gemm.hip"),
}
WITH_LIBRARIES = {
    "cub_sort_reduce/cub_sort_reduce.hip": ("hipcub",),
    "cublas_curand/cublas_curand.hip": ("hipblas", "hiprand"),
    "nccl_allreduce/nccl_allreduce.hip": ("rccl",),
}
"""Those that need headers which distributions lack and `porter headers` fetches."""
NO_PROGRAM = {
    *("image_filters/src/gradient.hip", "image_filters/src/row_extremes.hip", "spmv_csr/src/multiply.hip"),
    "torch_extension/csrc/rms_norm_kernel.hip",
}


def _wanted() -> set[str]:
    """All samples, as far as the headers of the libraries are here."""
    folders = [path for path in (find_headers(), fetched(), Path("/usr/include")) if isinstance(path, Path)]
    has = {name for folder in folders for name in LIBRARIES if (folder / name).is_dir()}
    return BUILT | {unit for unit, names in WITH_LIBRARIES.items() if has.issuperset(names)}


def _needs_clang() -> None:
    found = find_clang("gfx942")
    if isinstance(found, Missing):
        pytest.skip(found.reason)


def _hipcc() -> Hipcc:
    found = find_hipcc()
    why = found.reason if isinstance(found, Missing) else supports(found, "gfx90a")
    if why is not None or isinstance(found, Missing):
        pytest.skip(why)
    return found


@pytest.fixture(scope="module")
def ported() -> Path:
    """The ports of all samples, in a place that stays: the compilations are kept between runs."""
    folder = cache_folder() / "tests" / "samples"
    port_to(Request(SAMPLES, load_choices(SAMPLES, None), 1, force=True), folder, None)
    return folder


@pytest.fixture(scope="module")
def gfx942(ported: Path) -> BuildReport:
    _needs_clang()
    return build(BuildRequest(ported, ("gfx942",), 2, compiler=How.CLANG))


@pytest.fixture(scope="module")
def gfx90a(ported: Path) -> BuildReport:
    _hipcc()
    return build(BuildRequest(ported, ("gfx90a",), 2, compiler=How.HIPCC))


def _by_status(report: BuildReport) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for unit in report.units:
        found.setdefault(unit.status.value, set()).add(unit.path)
    return found


def test_samples_build_for_gfx942(gfx942: BuildReport) -> None:
    assert _by_status(gfx942)["built"] >= _wanted()
    for unit in gfx942.units:
        if unit.status is not Status.BUILT:
            assert unit.reason and any(one.severity == "error" for one in unit.diagnostics), unit
    kernels = [kernel for unit in gfx942.units for kernel in unit.kernels]
    assert len(kernels) >= 41
    for kernel in kernels:
        assert kernel.occupancy is not None and 0 < kernel.occupancy.waves_per_simd <= 8
        assert (kernel.place is not None) != kernel.is_library, kernel
        assert (0 if kernel.is_library else 1) <= kernel.resources.vgprs <= 512, kernel


def test_samples_build_and_link_with_hipcc(gfx90a: BuildReport) -> None:
    assert _by_status(gfx90a)["built"] >= _wanted()
    linked = {program.path: program for program in gfx90a.programs if program.status is Status.BUILT}
    assert set(linked) >= BUILT - NO_PROGRAM
    assert ("cub_sort_reduce/cub_sort_reduce.hip" in linked) == ("cub_sort_reduce/cub_sort_reduce.hip" in _wanted())
    assert set(linked["spmv_csr/src/main.hip"].units) == {"spmv_csr/src/main.hip", "spmv_csr/src/multiply.hip"}


def test_both_compilers_see_the_same_kernels(gfx942: BuildReport, gfx90a: BuildReport) -> None:
    def names(report: BuildReport) -> set[tuple[str, str]]:
        return {(unit.path, kernel.name) for unit in report.units if unit.path in BUILT for kernel in unit.kernels}

    assert names(gfx942) == names(gfx90a)


def test_resources_agree_with_the_compilers_remarks(ported: Path, gfx90a: BuildReport) -> None:
    """hipcc's own remarks, from a run of its own."""
    source = ported / "tiled_matmul/matmul.hip"
    command = (_hipcc().path, "-x", "hip", "--offload-arch=gfx90a", "--cuda-device-only", "-O3", "-std=c++17", "-c")
    remarks = invoke(
        (*command, "-Rpass-analysis=kernel-resource-usage", str(source), "-o", "/dev/null"),
        environment={"HIP_PLATFORM": "amd"},
    ).output
    numbers = re.compile(
        r"(Function Name|SGPRs|VGPRs|AGPRs|ScratchSize[^:]*|SGPRs Spill|VGPRs Spill|LDS Size[^:]*): (\S+)"
    )
    theirs: dict[str, list[str]] = {}
    for key, value in numbers.findall(remarks):
        theirs.setdefault(value, []) if key == "Function Name" else theirs[list(theirs)[-1]].append(value)
    (unit,) = (unit for unit in gfx90a.units if unit.path == "tiled_matmul/matmul.hip")
    for kernel in unit.kernels:
        use = kernel.resources
        ours = [use.sgprs, use.vgprs, use.agprs, use.scratch_bytes, use.sgpr_spills, use.vgpr_spills, use.lds_bytes]
        assert [int(value) for value in theirs[use.symbol]] == ours
    assert len(unit.kernels) == 3


def test_a_second_build_compiles_nothing(ported: Path, gfx942: BuildReport) -> None:
    again = build(BuildRequest(ported, ("gfx942",), 2, compiler=How.CLANG))
    assert {unit.path for unit in again.units if unit.reused} == {unit.path for unit in again.units}
    assert [unit.kernels for unit in again.units] == [unit.kernels for unit in gfx942.units]
    assert [unit.diagnostics for unit in again.units] == [unit.diagnostics for unit in gfx942.units]


CUBE = """#include <cuda_runtime.h>

__global__ void ahead(float *out) { *out = 1.0f; }

__global__ void resample(cudaTextureObject_t faces, float *out) {
  *out = texCubemap<float>(faces, 1.0f, 0.0f, 0.0f);
}
"""


def test_diagnostics_lead_to_the_source_and_the_finding(tmp_path: Path) -> None:
    _needs_clang()
    source = tmp_path / "project" / "faces"
    source.mkdir(parents=True)
    (source / "cube.cu").write_text(CUBE)
    port_to(Request(source.parent, load_choices(source.parent, None), 1), tmp_path / "port", None)
    (unit,) = build(BuildRequest(tmp_path / "port", ("gfx942",), 1, compiler=How.CLANG)).units
    assert unit.status is Status.FAILED
    error = unit.diagnostics[0]
    assert error.place is not None and error.place.source == "faces/cube.cu"
    assert "texCubemap" in error.message and "texCubemap" in CUBE.splitlines()[(error.place.source_line or 0) - 1]
    assert error.kernel == "resample"
    assert [(one.code, one.effort) for one in error.findings[:1]] == [("A002", "manual")]


def test_names_newer_than_the_installed_hip(tmp_path: Path) -> None:
    (tmp_path / "include/hip").mkdir(parents=True)
    (tmp_path / "include/hip/hip_version.h").write_text("#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 3\n")
    wrong = "use of undeclared identifier 'hipLaunchKernelExC'"
    assert (
        hint_on(wrong, tmp_path / "include") == "hipLaunchKernelExC is in ROCm since 7.0, the headers here are of 6.3"
    )
    assert hint_on("use of undeclared identifier 'hipMalloc'", tmp_path / "include") is None
    assert hint_on("use of undeclared identifier 'x'", tmp_path / "include") is None
    assert hint_on(wrong, tmp_path) is None


def test_renderings(gfx942: BuildReport) -> None:
    document = json.loads(json.dumps(build_json(gfx942)))
    jsonschema.validate(document, schemas.load("build"))
    assert document["totals"]["by_status"]["built"] >= len(BUILT)
    text, markdown = build_text(gfx942), build_markdown(gfx942)
    for kernel in (kernel for unit in gfx942.units for kernel in unit.kernels):
        assert (kernel.name in text) != kernel.is_library
    assert "clang without ROCm" in text and "blocks of 96" in text
    assert "| reduce::block\\_sum&lt;float&gt; | gfx942 |" in markdown


def test_what_old_headers_lack_is_put_right_and_said(gfx942: BuildReport) -> None:
    clang = find_clang()
    assert not isinstance(clang, Missing)
    assert any(note.startswith(PUT_RIGHT) for note in gfx942.notes) == lacks_wrapping_atomics(clang)


SOURCE = """#include <hip/hip_runtime.h>
__global__ void __launch_bounds__(256, 8) spills(float* x) {
  float a[200];
  for (int i = 0; i < 200; i++) a[i] = x[i * 64 + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 200; i++) x[i * 64 + threadIdx.x] = a[i];
}
__global__ void tile(float* x) {
  extern __shared__ float dynamic[];
  __shared__ float fixed[12 * 1024];
  fixed[threadIdx.x] = dynamic[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = fixed[255 - threadIdx.x] + dynamic[255 - threadIdx.x];
}
__global__ void __launch_bounds__(128) bounded(float* x) { x[threadIdx.x] = 1; }
void f(float* x) {
  tile<<<1, 256, 20 * 1024>>>(x);
  bounded<<<1, 256>>>(x);
}
"""


def test_notes_on_kernels(tmp_path: Path) -> None:
    _needs_clang()
    (tmp_path / "a.hip").write_text(SOURCE)
    (unit,) = build(BuildRequest(tmp_path, compiler=How.CLANG)).units
    assert unit.status is Status.BUILT, unit
    kernels = {kernel.name: kernel for kernel in unit.kernels}
    notes = {name: {note.code for note in kernel.notes} for name, kernel in kernels.items()}
    assert notes == {"spills": {"spills"}, "tile": {"lds-over-limit"}, "bounded": {"block-over-bounds"}}
    assert kernels["spills"].resources.vgpr_spills > 0 and kernels["spills"].resources.scratch_bytes > 0
    tile = kernels["tile"]
    assert (tile.resources.lds_bytes, tile.block.dynamic_lds) == (48 << 10, 20 << 10)
    assert tile.occupancy is not None and tile.occupancy.waves_per_simd == 0


def test_static_lds_over_the_limit_is_an_error_with_its_line(tmp_path: Path) -> None:
    _needs_clang()
    (tmp_path / "a.hip").write_text(SOURCE.replace("12 * 1024", "20 * 1024"))
    (unit,) = build(BuildRequest(tmp_path, compiler=How.CLANG)).units
    assert unit.status is Status.FAILED and unit.reason is not None and "exceeds limit (65536)" in unit.reason
    place = unit.diagnostics[0].place
    assert place is not None and "void tile(" in SOURCE.splitlines()[place.line - 1]


def test_the_last_resort(tmp_path: Path) -> None:
    if (why := syntax_tool()) is not None:
        pytest.skip(why)
    (tmp_path / "a.hip").write_text(SOURCE.replace("x[threadIdx.x] = 1", "x[threadIdx.x] = nothing"))
    report = build(BuildRequest(tmp_path, compiler=How.SYNTAX))
    (unit,) = report.units
    assert unit.status is Status.FAILED and unit.diagnostics[0].message == "use of undeclared identifier 'nothing'"
    (tmp_path / "a.hip").write_text(SOURCE)
    (unit,) = build(BuildRequest(tmp_path, compiler=How.SYNTAX)).units
    assert unit.status is Status.BUILT and not unit.kernels
    assert "syntax and types only" in build_text(report)


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("sleep 60", Status.TIMED_OUT, "no end after 1 s"),
        ("yes 'error: again and again' | head -c 3000000; exit 1", Status.FAILED, "again and again"),
        ("kill -SEGV $$", Status.FAILED, "exit status"),
        ("echo 'fatal error: cannot write: No space left on device' >&2; exit 1", Status.FAILED, "No space left"),
    ],
)
def test_a_compiler_that_misbehaves_fails_its_unit_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, status: Status, said: str
) -> None:
    clang = find_clang("gfx942")
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)
    wrapper = tmp_path / "clang++"
    wrapper.write_text(f'#!/bin/sh\ncase "$*" in *bad.hip*) {script} ;; *) exec {clang.path} "$@" ;; esac\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PORTER_CLANG", str(wrapper))
    find_clang.cache_clear()
    try:
        (tmp_path / "bad.hip").write_text("")
        (tmp_path / "good.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k() {}\n")
        report = build(BuildRequest(tmp_path, seconds=1 if "sleep" in script else 60, compiler=How.CLANG))
    finally:
        find_clang.cache_clear()
    bad, good = report.units
    assert bad.status is status and said in (bad.reason or "") + bad.output
    assert len(bad.output) < 30_000
    assert "sleep" in script or good.status is Status.BUILT


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    _needs_clang()
    (tmp_path / "a.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k(int* x) { *x = 1; }\n")
    (tmp_path / "file").write_text("")
    unwritable = {"PORTER_CACHE_DIR": str(tmp_path / "file" / "cache")}
    done = porter("build", str(tmp_path), "--compiler", "clang", environment=unwritable)
    assert done.code == 0, done.stdout + done.stderr
    assert "not kept for the next run" in done.stdout and "Not a directory" in done.stdout


def test_the_command(tmp_path: Path) -> None:
    _needs_clang()
    (tmp_path / "a.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k(int* x) { *x = 1; }\n")
    done = porter("build", str(tmp_path), "--format", "json", "--compiler", "clang")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["kernels"][0]["name"] == "k"
    (tmp_path / "a.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k(int* x) { *y = 1; }\n")
    failed = porter("build", str(tmp_path), "--compiler", "clang")
    assert failed.code == 1 and "undeclared identifier 'y'" in failed.stdout
    assert porter("build", str(tmp_path), "--target", "sm_80").code == 2
    assert porter("build", str(tmp_path / "none")).code == 2


def test_a_syntax_check_is_kept_until_something_that_it_read_changes(tmp_path: Path) -> None:
    if (why := syntax_tool()) is not None:
        pytest.skip(why)
    (folder := tmp_path / "a b").mkdir()
    source, header = folder / "unit.hip", folder / "late $.h"
    runtime = "#include <hip/hip_runtime.h>"
    source.write_text(f'{runtime}\n#include "{header.name}"\n__global__ void k() {{ called(); }}\n')

    def checked() -> tuple[bool, bool]:
        made = check_syntax(source, "gfx942", ())
        return made.ok, made.reused

    assert [checked(), checked()] == [(False, False), (False, False)], "a header that is not there may come any time"
    never_seen = f"// {time.time_ns()}: what an earlier run kept does not count\n"
    header.write_text(f"{never_seen}__device__ void called(int);\n")
    assert [checked(), checked()] == [(False, False), (False, True)]
    header.write_text(f"{never_seen}__device__ void called() {{}}\n")
    assert [checked(), checked()] == [(True, False), (True, True)]
