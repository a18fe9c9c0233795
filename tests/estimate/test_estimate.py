"""Estimates: counters against a profiler's, caches against counts by hand, the model against its own factors."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from porter.validation.devices.core.launch import Options, Sample
from porter.validation.devices.core.result import Executed, Ran, Site
from porter.validation.devices.gfx942 import Module
from porter.validation.estimate.chip import LINE, load, names
from porter.validation.estimate.compare import Compared, Time, compared
from porter.validation.estimate.counters import counters
from porter.validation.estimate.issue import issue
from porter.validation.estimate.model import UNTESTED, Estimate, estimate
from porter.validation.estimate.products import products
from porter.validation.estimate.work import Launched, Step, lds_cycles, steps, wave_latency
from typer.testing import CliRunner

from porter.cli import app
from porter.errors import Unusable
from porter.report import schemas
from tests.devices.conftest import Compile, compile_hip, device

__all__ = ["compile_hip", "device"]
ROOT = Path(__file__).resolve().parents[2]
N = 1 << 18
CODE = """
#include <hip/hip_runtime.h>
#define ID (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void vector_copy(double *a, double *b, double *c, int n, int stride) {
    if (ID < n) c[ID] = a[ID];
}
extern "C" __global__ void far_apart(double *a, double *c, int n) { c[ID] = a[ID * 16 % n]; }
extern "C" __global__ void again(double *a, double *c, int n) {
    double s = 0;
    for (int i = 0; i < 4; i++) {
        s += a[threadIdx.x];
        asm volatile("" ::: "memory");
    }
    c[ID] = s;
}
extern "C" __global__ void one_bank(float *a, float *c, int n) {
    __shared__ float tile[64 * 32];
    tile[threadIdx.x * 32] = a[ID];
    __syncthreads();
    c[ID] = tile[(63 - threadIdx.x) * 32];
}
extern "C" __global__ void roots(float *a, float *c, int n) {
    float v = a[ID];
    for (int i = 0; i < 64; i++) v = __builtin_amdgcn_rcpf(v + 1);
    c[ID] = v;
}
extern "C" __global__ void counted(int *a, int apart) {
    __builtin_amdgcn_wave_barrier();
    atomicAdd(&a[apart == 1 ? ID % 32 : ID * apart], (int)threadIdx.x);
}
extern "C" __global__ void indexed(float *a, float *c, int n) {
    float own[64];
#pragma nounroll
    for (int k = 0; k < 64; k++) own[(k * n) & 63] = a[ID] + k;
    c[ID] = own[n & 31];
}
extern "C" __global__ void wide(const int *entry, float4 *c) {
    __shared__ float4 room[64 * 16];
    room[threadIdx.x] = float4{};
    __syncthreads();
    c[threadIdx.x] = room[entry[threadIdx.x]];
}
extern "C" __global__ void meeting(float *a, float *c, int n) {
    __shared__ float room[256];
    float v = 0;
    for (int i = 0; i < 64; i++) {
        room[threadIdx.x] = v;
        __syncthreads();
        v += room[(threadIdx.x + n) & 255];
        __syncthreads();
    }
    c[ID] = v;
}
template <typename T, typename S> __device__ void product(const T *a, const T *b, S *c, int n) {
    __shared__ T left[16][64], right[16][64];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    int row = blockIdx.x % (n / 64) * 64, column = blockIdx.x / (n / 64) * 64;
    S sum[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 4; i++) {
            left[x][y + 16 * i] = a[(row + y + 16 * i) * n + k + x];
            right[y][x + 16 * i] = b[(k + y) * n + column + x + 16 * i];
        }
        __syncthreads();
        for (int q = 0; q < 16; q++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sum[i][j] += (S)left[q][y * 4 + i] * (S)right[q][x * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(row + y * 4 + i) * n + column + x * 4 + j] = sum[i][j];
}
extern "C" __global__ void product_f64(const double *a, const double *b, double *c, int n) { product(a, b, c, n); }
extern "C" __global__ void product_f32(const float *a, const float *b, float *c, int n) { product(a, b, c, n); }
extern "C" __global__ void product_f16(const _Float16 *a, const _Float16 *b, float *c, int n) { product(a, b, c, n); }
struct Bf16 {
    unsigned short bits;
    __device__ operator float() const { return __uint_as_float(unsigned(bits) << 16); }
};
extern "C" __global__ void product_bf16(const Bf16 *a, const Bf16 *b, float *c, int n) { product(a, b, c, n); }
extern "C" __global__ void times_vector(const double *a, const double *b, double *c, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k * n + ID % n] * b[k];
    c[ID] = sum;
}
extern "C" __global__ void polynomial(const double *a, const double *b, double *c, int n) {
    double x = a[ID], sum = 0;
    for (int k = 0; k < n; k++) sum = sum * x + b[k];
    c[ID] = sum;
}
"""


@pytest.fixture(scope="module")
def module(compile_hip: Compile) -> Module:
    return compile_hip(CODE)


def launched(
    module: Module, kernel: str, *arguments: object, block: int = 256, sample: Sample | None = None
) -> Launched:
    """One run with everything counted; N threads."""
    options = Options(uninitialised=False, caches=load("mi300x").caches, count_memory=True, sample=sample)
    ran = module.launch(kernel, N // block, block, list(arguments), options=options)
    assert isinstance(ran, Ran), ran
    return Launched(N // block, block, ran.counters, sample.blocks if sample else N // block, 0)


def estimated(module: Module, kernel: str, *arguments: object, block: int = 256) -> Estimate:
    return estimate(load("mi300x"), launched(module, kernel, *arguments, block=block))


def copy(module: Module, sample: Sample | None = None) -> Launched:
    return launched(module, "vector_copy", np.ones(N), np.ones(N), np.zeros(N), N, 1, sample=sample)


@pytest.mark.slow
def test_counters_of_a_vector_copy_are_those_of_a_real_profile(module: Module) -> None:
    """rocprof-compute's own sample profile of an MI300X, four times as long: what no compiler changes."""
    published = {
        "SQ_WAVES": 16384,
        "SQ_ITEMS": 1048576,
        "SQ_INSTS_FLAT": 32768,
        "SQ_INSTS_VMEM_RD": 16384,
        "SQ_INSTS_VMEM_WR": 16384,
        "TCP_TOTAL_CACHE_ACCESSES_sum": 524288,
        "TCP_TCC_READ_REQ_sum": 65536,
        "TCP_TCC_WRITE_REQ_sum": 131072,
        "TCC_EA0_WRREQ_sum": 131072,
    }
    found = counters(copy(module))
    assert {name: 4 * found[name] for name in published} == published
    assert found["SQ_THREAD_CYCLES_VALU"] == 64 * found["SQ_INSTS_VALU"]


def test_a_sample_of_the_blocks_counts_as_much(module: Module) -> None:
    whole, part = (counters(copy(module, sample)) for sample in (None, Sample(256, 4)))
    assert part == whole


def test_every_line_that_lanes_share_is_asked_for_once(module: Module) -> None:
    near, far = copy(module), launched(module, "far_apart", np.ones(N), np.zeros(N), N)
    loads = [next(s.executed for s in steps(one.counters) if "global_load" in s.mnemonic) for one in (near, far)]
    assert [one.l2_requests * LINE // one.bytes for one in loads] == [1, 16]
    assert [one.accesses // one.runs for one in loads] == [16, 64]


def test_what_was_read_before_comes_from_the_nearest_cache(module: Module) -> None:
    found = launched(module, "again", np.ones(N), np.zeros(N), N)
    loads = [step.executed for step in steps(found.counters) if step.issue.unit == "vmem" and not step.writes]
    cus = load("mi300x").cus
    assert sum(one.l2_requests for one in loads) == 256 * 8 // LINE * min(cus, found.blocks)
    assert sum(one.l2_misses for one in loads) == 256 * 8 // LINE * 8
    assert sum(one.last_misses for one in loads) == 256 * 8 // LINE
    assert sum(one.other_xcd for one in loads) == 256 * 8 // LINE * 7
    assert not sum(step.executed.other_xcd for step in steps(copy(module).counters))


def test_costs_name_the_cause_and_the_line(module: Module) -> None:
    bank = launched(module, "one_bank", np.ones(N, np.float32), np.zeros(N, np.float32), N, block=64)
    conflicts = counters(bank)["SQ_LDS_BANK_CONFLICT"]
    assert conflicts == 2 * 2 * 31 * N // 64
    causes = {
        "scattered or narrow accesses": estimated(module, "far_apart", np.ones(N), np.zeros(N), N),
        "transcendentals": estimated(module, "roots", np.ones(N, np.float32), np.zeros(N, np.float32), N),
    }
    for cause, found in causes.items():
        first = found.costs[0]
        assert first.cause == cause
        assert first.nanoseconds > 0.3 * found.nanoseconds
        assert sum(share for _, share in first.places) == pytest.approx(1.0)
    plain = estimate(load("mi300x"), copy(module))
    assert plain.limit == "memory" and not {cost.cause for cost in plain.costs} & causes.keys()


def test_barriers_cost_the_wavefronts_that_meet(module: Module) -> None:
    found = estimated(module, "meeting", np.zeros(N, np.float32), np.zeros(N, np.float32), 3)
    (barriers,) = [cost for cost in found.costs if cost.cause == "barriers"]
    assert barriers.nanoseconds > 0.05 * found.nanoseconds
    assert len(barriers.places) == 2 and all(share == 0.5 for _, share in barriers.places)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "kind", "known", "saves"),
    [("product_f16", np.float16, True, True), ("product_bf16", np.uint16, True, True),
     ("product_f64", np.float64, True, False), ("product_f32", np.float32, False, False),
     ("times_vector", np.float64, False, False), ("polynomial", np.float64, False, False)],
)  # fmt: skip
def test_products_of_matrices_are_told_from_other_sums(
    module: Module, kernel: str, kind: type[np.generic], *, known: bool, saves: bool
) -> None:
    """MFMA does f16 eight times and f64 twice as fast as the VALU, f32 no faster; a matrix times a vector is none.

    The product in double here waits for the LDS whatever does it.
    """
    n, large = 128, 1 << 15
    options = Options(uninitialised=False, caches=load("mi300x").caches, count_memory=True)
    arrays = (np.ones(n * n, kind), np.ones(n * n, kind), np.zeros(n * n, np.float64))
    ran = module.launch(kernel, n * n // 64 // 64, 256, [*arrays, n], options=options)
    assert isinstance(ran, Ran), ran
    found = products(steps(ran.counters))
    assert bool(found.kinds) is known
    chip = load("mi300x")
    many = estimate(chip, Launched(large, 256, ran.counters, n * n // 64 // 64, 8192))
    costs = [cost for cost in many.costs if cost.cause == "products of matrices without MFMA"]
    assert bool(costs) is saves
    assert all(sum(share for _, share in cost.places) == pytest.approx(1.0) for cost in costs)


def test_more_work_never_takes_less(module: Module) -> None:
    """Bytes, blocks, conflicts and instructions: each only adds."""
    chip, base = load("mi300x"), copy(module)
    before = estimate(chip, base).nanoseconds
    assert estimate(chip, replace(base, blocks=2 * base.blocks)).nanoseconds > 1.5 * before
    assert estimate(chip, replace(base, shared=60 << 10)).nanoseconds > before
    for field in ("l2_requests", "last_misses", "accesses", "runs"):
        more = tuple(replace(one, **{field: 9 * getattr(one, field)}) for one in base.counters.executed)
        changed = replace(base, counters=replace(base.counters, executed=more))
        assert estimate(chip, changed).nanoseconds >= before, field


def test_an_estimate_has_a_band_and_says_when_nothing_tested_it(module: Module) -> None:
    found = estimate(load("mi300x"), copy(module))
    assert found.tested and 1 < found.band < UNTESTED
    empty = replace(copy(module).counters, executed=(), written_back=0)
    assert estimate(load("mi300x"), Launched(1 << 20, 64, empty, 1 << 20, 0)).band == UNTESTED


def lds(mnemonic: str, size: int) -> Step:
    one = Executed(Site(f"{mnemonic} v0, v1", 1), 0, "shared", 1, 64, 1, 64, 64 * size)
    return Step(one, issue(mnemonic))


def test_cycles_of_the_lds_are_the_published_ones() -> None:
    """Of one SIMD pair's port a store of 4 bytes takes 8 cycles, of 16 bytes 20; a CU has two."""
    assert lds_cycles(lds("ds_write_b32", 4))[0] == 8 / 2
    assert lds_cycles(lds("ds_write_b128", 16))[0] == 20 / 2
    assert lds_cycles(lds("ds_read_b32", 4)) == (2.0, 2.0)
    assert lds_cycles(lds("ds_read_b128", 16)) == (2.0, 8.0)


@pytest.mark.parametrize(
    ("mnemonic", "unit", "cycles"),
    [
        ("v_fma_f32", "valu", 2),
        ("v_fma_f64", "valu", 4),
        ("v_exp_f32_e32", "valu", 16),
        ("v_pk_fma_f16", "valu", 4),
        ("v_add_u32_e32", "valu", 4),
        ("v_mfma_f32_32x32x8_f16", "mfma", 32),
        ("v_mfma_f32_32x32x8_bf16_1k", "mfma", 32),
        ("v_mfma_f32_16x16x32_fp8_bf8", "mfma", 16),
        ("v_mfma_f64_16x16x4_f64", "mfma", 32),
        ("v_mfma_i32_16x16x32_i8", "mfma", 16),
        ("s_load_dwordx2", "smem", 1),
        ("s_and_saveexec_b64", "salu", 1),
        ("s_cbranch_execz", "branch", 1),
        ("s_waitcnt", "none", 1),
        ("ds_bpermute_b32", "lds", 0),
        ("global_atomic_add_f32", "vmem", 0),
    ],
)
def test_instructions_have_their_unit(mnemonic: str, unit: str, cycles: float) -> None:
    assert (issue(mnemonic).unit, issue(mnemonic).cycles) == (unit, cycles)


def test_published_figures_have_their_source() -> None:
    rows = list(csv.DictReader((ROOT / "benchmarks" / "estimate_published.csv").open()))
    assert len(rows) > 100 and all(row["source"] and float(row["value"]) > 0 for row in rows)


def test_chips() -> None:
    assert names() == ("mi300a", "mi300x")
    assert load("mi300x").cus == 304 and load("mi300x").caches.l2_sets * 16 * LINE == 4 << 20
    with pytest.raises(Unusable, match="there are: mi300a, mi300x"):
        load("h100")


def test_contended_atomics_are_done_one_after_the_other(module: Module) -> None:
    """All lanes on one line against each on a line of its own: as many atomics, another time; the cause is named."""
    chip = load("mi300x")
    sample = Sample(256, 1)
    one, apart = (launched(module, "counted", np.zeros(N * 32, np.int32), n, sample=sample) for n in (1, 32))
    assert one.counters.atomics == apart.counters.atomics == 256 * 256
    assert one.counters.hottest == 256 * 256 and apart.counters.hottest == 1
    hot, cold = estimate(chip, one), estimate(chip, apart)
    assert hot.limit == "atomics of one line" and not hot.tested and hot.band >= UNTESTED
    assert hot.nanoseconds > 4 * 256 * 256 > cold.nanoseconds
    assert hot.costs[0].cause == "atomics on the same line" and hot.costs[0].places


def test_scratch_goes_through_the_caches(module: Module) -> None:
    found = launched(module, "indexed", np.zeros(N, np.float32), np.zeros(N, np.float32), 5)
    private = [step.executed for step in steps(found.counters) if step.executed.space == "private"]
    assert sum(one.l2_requests for one in private) > 0
    assert "spills to scratch" in {cost.cause for cost in estimate(load("mi300x"), found).costs}


def loop(turns: int, *, ahead: bool) -> tuple[Step, ...]:
    """A loop around a load from memory: awaited at once, or a turn later."""
    load_, wait = ("global_load_dword v1, v0, s[0:1]", turns), ("s_waitcnt vmcnt(0)", turns)
    texts = [
        ("s_mov_b32 s0, 0", 1),
        ("global_load_dword v1, v0, s[0:1]", 1),
        *((wait, load_) if ahead else (load_, wait)),
        *[("v_fma_f64 v[2:3], v[2:3], v[2:3], v[2:3]", turns)] * 100,
        ("s_endpgm", 1),
    ]
    made = (Executed(Site(text, 1), 0, None, n, 64 * n, n, 64 * n, 256 * n, 0, n, n, n, n) for text, n in texts)
    return tuple(Step(one, issue(one.site.text.split()[0])) for one in made)


def test_loads_that_a_loop_asks_for_a_turn_ahead_hide_behind_its_work() -> None:
    chip = load("mi300x")
    at_once, ahead = (wave_latency(chip, loop(50, ahead=way), 1) for way in (False, True))
    turn = 100 * 4 / chip.clock
    assert at_once > 50 * (turn + chip.latency["memory"])
    assert at_once - 50 * turn < ahead < at_once - 45 * turn


@pytest.mark.parametrize(
    ("changed", "extra"),
    [({}, 0), ({20: 8}, 1), ({20: 0}, 0), ({1: 8, 2: 0}, 1), ({1: 8, 2: 16}, 2), ({20: 128}, 1), ({4: 128}, 0)],
)
def test_lanes_that_the_lds_serves_together(module: Module, changed: dict[int, int], extra: int) -> None:
    """Of 16-byte reads lanes 0-3 with 20-23, 4-7 with 16-19; entries 8 apart are in the same banks."""
    entries = np.array([lane % 8 + 64 * (lane // 8 % 4) + 8 * (lane // 32) for lane in range(64)], np.int32)
    for lane, entry in changed.items():
        entries[lane] = entry
    options = Options(uninitialised=False, count_memory=True)
    ran = module.launch("wide", 1, 64, [entries, np.zeros((64, 4), np.float32)], options=options)
    assert isinstance(ran, Ran), ran
    (read,) = [one for one in ran.counters.memory if "ds_read_b128" in one.site.text]
    assert read.conflicts == extra


def times(ratio: float, limits: tuple[str, str] = ("memory", "memory"), *, tested: bool = True) -> Compared:
    pair = Time(1.0, 1.3, limits[0], tested), Time(ratio, 1.2, limits[1], tested)
    return compared("case", "n=1", ("a", "b"), pair)


def test_a_direction_is_stated_only_beyond_the_bands() -> None:
    assert [times(ratio).direction for ratio in (0.7, 0.8, 1.0, 1.29, 1.31)] == ["less", "open", "open", "open", "more"]
    for other in (times(1.5, ("memory", "latency")), times(1.5, tested=False)):
        assert other.direction == "open" and other.needed == pytest.approx(1.56)
    assert "open" in times(1.0).said and "more time" in times(2.0).said


def bench(*options: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(app, ["bench", str(CASES), "--devices", "gfx942", "--format", "json", *options])
    if done.exit_code == 2:
        return 2, {}
    document = json.loads(done.stdout)
    jsonschema.validate(document, schemas.load("estimate"))
    if any("clang" in (row["reason"] or "") for row in document["estimates"]):
        pytest.skip("no compiler for gfx942")
    return done.exit_code, document


CASES = ROOT / "samples" / "block_reduce"


@pytest.mark.slow
def test_a_sweep_compares_each_value_with_the_case(tmp_path: Path) -> None:
    code, document = bench("--case", "dot", "--sweep", "block=64,1024", "--sweep", "blocks=2", "--sweep", "else=1")
    rows = {
        row["variant"]: row for row in document["estimates"] if row["shape"].startswith("n=1000, blocks=3, threads=32")
    }
    assert set(rows) == {"", "block=64", "block=1024", "blocks=2", "else=1"}
    assert code == 1 and "no symbol" in rows["else=1"]["reason"]
    assert rows["blocks=2"]["blocks"] == 2 and rows["block=64"]["blocks"] == 2
    for one in document["comparisons"]:
        apart = max(one["ratio"], 1 / one["ratio"])
        assert (one["direction"] == "open") == (apart <= one["needed"])
    earlier = tmp_path / "before.json"
    earlier.write_text(json.dumps(document))
    _, again = bench("--case", "dot", "--against", str(earlier))
    found = [one for one in again["comparisons"] if one["before"] == "before"]
    assert found and all(one["ratio"] == 1 and one["direction"] == "open" for one in found)


@pytest.mark.slow
def test_a_block_size_that_changes_the_result_is_told() -> None:
    """A block sums a chunk: with other blocks there are other chunks."""
    _, document = bench("--case", "block_sum_float", "--sweep", "block=128")
    doubts = {row["doubt"] for row in document["estimates"] if row["variant"] == "block=128" and row["estimate"]}
    assert "it leaves another result behind" in doubts


def test_sweeps_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    assert bench("--sweep", "block=x")[0] == 2
    (tmp_path / "other.json").write_text("{}")
    assert bench("--against", str(tmp_path / "other.json"))[0] == 2
    assert CliRunner().invoke(app, ["bench", str(CASES), "--devices", "cuda", "--sweep", "block=64"]).exit_code == 2


COPIES = """
__global__ void copy(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i];
}
__global__ void gather(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i * 64];
}
"""
CASE = """
[[case]]
name = "{0}"
kernel = "{0}"
sweep = {{ n = [20000] }}
grid = "(n + 255) // 256"
block = 256
arguments = ["in a: float32[64 * n]", "out b: float32[n]", "scalar n: int32 = n"]
"""


@pytest.mark.slow
def test_bytes_of_the_port_over_those_of_the_original(tmp_path: Path) -> None:
    """Neighbours move what they ask for on both; a line of 128 bytes for 4 is four sectors of 32."""
    (tmp_path / "a.cu").write_text(COPIES)
    cases = "".join(CASE.format(name) for name in ("copy", "gather"))
    (tmp_path / "a.case.toml").write_text('schema = "porter-case/1"\nsource = "a.cu"\n' + cases)
    done = CliRunner().invoke(app, ["bench", str(tmp_path), "--devices", "ptx,gfx942", "--format", "json"])
    document = json.loads(done.stdout)
    jsonschema.validate(document, schemas.load("estimate"))
    if any(row["moved"] is None for row in document["estimates"]):
        pytest.skip(str([row["reason"] for row in document["estimates"]]))
    copy_, gather = document["against_original"]
    assert copy_["original"]["asked"] == copy_["port"]["asked"] == 2 * 4 * 20000
    assert {level: round(ratio, 2) for level, ratio in copy_["ratio"].items()} == {"asked": 1, "l2": 1, "memory": 1}
    lanes = 20000
    assert gather["original"]["l2"] == lanes * 32 + lanes * 4 and gather["port"]["l2"] == lanes * 128 + lanes * 4
    originals = [row for row in document["estimates"] if row["side"] == "original"]
    assert len(originals) == 2 and all(row["estimate"] is None for row in originals)
    text = CliRunner().invoke(app, ["bench", str(tmp_path), "--devices", "ptx,gfx942"]).stdout
    assert "x 3.67" in text and "H100" in text


@pytest.mark.slow
def test_command_says_that_nothing_was_measured() -> None:
    wanted = ["bench", str(ROOT / "samples" / "elementwise"), "--devices", "gfx942", "--size", "n=100000"]
    done = CliRunner().invoke(app, [*wanted, "--format", "json"])
    document = json.loads(done.stdout)
    jsonschema.validate(document, schemas.load("estimate"))
    assert document["measured"] is False
    if any("clang" in (row["reason"] or "") for row in document["estimates"]):
        pytest.skip("no compiler for gfx942")
    assert done.exit_code == 0 and all(row["estimate"]["nanoseconds"] > 0 for row in document["estimates"])
    assert CliRunner().invoke(app, [*wanted[:-1], "n"]).exit_code == 2
