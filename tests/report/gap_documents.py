"""Documents for the gap report: a real port, and what a build and a validation of it would say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from porter.project.port import Request, port_to
from porter.report.as_json import report_json
from porter.settings import Choices
from tests.tree.trees import make_tree

NASTY_PATH = "<img src=x onerror=alert(1)> & \"q\" 'a'/<script>alert(2)<#script>.cu"
BIDI = "\u202eevil\u202c"
SOURCES = {
    "reduce/sum.cu": """\
#include <cuda_runtime.h>
__global__ void block_sum(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? in[i] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, value);
}
__global__ void locked(int *lock, int *value) {
  while (atomicCAS(lock, 0, 1) != 0) { }
  *value += 1;
  atomicExch(lock, 0);
}
""",
    "texture/look.cu": """\
#include <cuda_runtime.h>
__global__ void look_up(cudaTextureObject_t image, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = texCubemap<float>(image, i, 0, 0);
}
""",
    "plain.cu": "#include <cuda_runtime.h>\n__global__ void scale(float *x) { x[threadIdx.x] *= 2.0f; }\n",
    NASTY_PATH: f"""\
#include <cuda_runtime.h>
// </script><script>alert(3)</script> {BIDI} "quoted" 'single' &amp; <!-- {"x" * 10_000}
__global__ void nasty(float *x) {{
  x[0] = __shfl_sync(0xffffffffu, x[1], 0); // <script>alert(4)</script> {BIDI}
  asm("elect.sync _|<script>, 0;");
}}
""",
}


def ported(folder: Path) -> dict[str, Any]:
    """The report of `porter port` on a small project that tries to break out; its tree is in `folder`/out."""
    source = make_tree(folder / "project", SOURCES)
    answer = port_to(Request(source, Choices(), 1), folder / "out")
    assert not answer.run.crashes
    document: dict[str, Any] = json.loads(json.dumps(report_json(answer.report)))
    return document


def kernel_build(name: str, path: str, **changes: Any) -> dict[str, Any]:
    """One compiled kernel, as `porter build` tells it."""
    facts = {"vgprs": 24, "agprs": 0, "sgprs": 20, "lds_bytes": 1024, "scratch_bytes": 0, "waves_per_simd": 8}
    return {"name": name, "source": path, "target": "gfx942", "limited_by": ["waves"], "notes": [], **facts, **changes}


def built() -> dict[str, Any]:
    """What `porter build` would say: one kernel spills, two files do not build."""
    units: list[dict[str, Any]] = [
        {"path": "reduce/sum.hip", "target": "gfx942", "status": "built", "diagnostics": []},
        {
            "path": "texture/look.hip",
            "target": "gfx942",
            "status": "failed",
            "diagnostics": [
                {
                    "severity": "error",
                    "message": "unknown type <b>cudaTextureObject_t</b>",
                    "source": "texture/look.cu",
                    "source_line": 2,
                    "kernel": "look_up",
                }
            ],
        },
    ]
    own = {"severity": "error", "message": "no such thing", "source": "plain.cu", "source_line": 2, "kernel": None}
    units.append({"path": "plain.hip", "target": "gfx942", "status": "failed", "diagnostics": [own]})
    kernels = [
        kernel_build("block_sum(float const*, float*, int)", "reduce/sum.cu"),
        kernel_build(
            "locked", "reduce/sum.cu", vgprs=256, agprs=256, waves_per_simd=1, scratch_bytes=64, vgpr_spills=12
        ),
    ]
    return {"schema": "porter-build-1", "units": units, "kernels": kernels}


def side(name: str, device: str, lanes: int, status: str = "passed", error: float = 1e-7) -> dict[str, Any]:
    """One side of a case."""
    ends = (0, 1, 2, 4, 8, 16, 64, 1024, None)
    ulps = [{"at_most": end, "elements": n} for end, n in zip(ends, (900, 60, 30, 10, 0, 0, 0, 0, 0), strict=True)]
    output = {
        "name": "out",
        "elements": 1000,
        "max_error": 4 * error,
        "rms_error": error,
        "of_allowed": 0.1,
        "ulps": ulps,
    }
    return {
        "side": name,
        "device": device,
        "warp": None,
        "lanes": lanes,
        "status": status,
        "reason": "",
        "evidence": {"message": "out[3] is 1.0, expected 2.0"} if status != "passed" else None,
        "outputs": [output],
        "counters": {"active_lanes": 0.5 * lanes, "bytes_moved": {"global": 4096}, "divergent_branches": 0},
        "command": "hipcc --offload-arch=gfx942",
        "does_not_show": ["memory ordering between blocks", "time"],
    }


def case(name: str, path: str, status: str = "passed") -> dict[str, Any]:
    """One case, run on both virtual devices."""
    return {
        "name": name,
        "path": f"{path}.case.toml",
        "source": path,
        "kernel": name,
        "status": status,
        "reason": "",
        "devices": [
            {"original": "ptx", "port": "gfx942", "status": status, "against": ["reference"], "accuracy_ratio": 1.0}
        ],
        "sides": [side("original", "ptx", 32), side("port", "gfx942", 64, status, 3e-7)],
        "repeat": f"porter validate {path}.case.toml --case {name} --seed 7",
    }


def validated() -> dict[str, Any]:
    """What `porter validate` would say: one passed, one wrong."""
    cases = [case("block_sum", "reduce/sum.cu"), case("locked", "project/reduce/sum.cu", "wrong-values")]
    return {"schema": "porter-validate/1", "cases": cases}


def estimated() -> dict[str, Any]:
    """What `porter bench --devices gfx942` would say of two kernels; of one nothing came out."""
    rows = [
        estimate("block_sum", "reduce/sum.cu", "n=1000", 2000.0, 5000.0),
        estimate("block_sum", "reduce/sum.cu", "n=<b>9", 9000.0, 50_000.0, "atomics of one line"),
        {**estimate("locked", "reduce/sum.cu", "n=1", 1.0, 0.0), "estimate": None, "reason": "too long"},
    ]
    roofs = {"bandwidth": {"memory": 4650.0, "L2": 27500.0}, "rate": {"f32 VALU": 136_000.0}}
    head = {"schema": "porter-estimate-1", "porter": "0", "chip": "MI300X", "measured": False, "left_out": "TLB misses"}
    return {**head, "roofs": roofs, "estimates": rows, "comparisons": [], "against_original": [], "errors": []}


def estimate(
    kernel: str, source: str, shape: str, nanoseconds: float, operations: float, limit: str = "memory"
) -> dict[str, Any]:
    """One row; its lines are those of the port."""
    port = "/cache/reduce/sum.hip"
    found = {
        "nanoseconds": nanoseconds,
        "band": 1.3,
        "limit": limit,
        "tested": limit == "memory",
        "resources": {},
        "waves_per_simd": 8.0,
        "limited_by": [],
        "traffic": {"l2": 0.0, "last": 0.0, "read": 4000.0, "write": 100.0},
        "costs": [{"cause": "lanes <off>", "nanoseconds": nanoseconds / 4, "places": [], "remedy": "less divergence"}],
        "operations": operations,
        "lines": [[f"{port}:5", 0.6], [f"{port}:7", 0.25], ["/opt/rocm/include/hip/x.h:9", 0.15]],
    }
    about = {"case": kernel, "path": "x.case.toml", "source": source, "kernel": kernel, "warp": "preserve"}
    more = {"side": "port", "variant": "", "doubt": None, "reason": None, "counters": {}, "moved": None}
    return {**about, **more, "shape": shape, "blocks": 1, "sampled": 1, "estimate": found}


def compared() -> dict[str, Any]:
    """What `porter run --compare` would say of four programs."""

    def ran(launches: int, *names: str) -> dict[str, Any]:
        calls = [{"text": "cublasSgemm <b>", "count": 2}]
        return {"launches": launches, "kernels": [{"name": name} for name in names], "stand_ins": calls}

    def program(name: str, verdict: str, reason: str = "", **changes: Any) -> dict[str, Any]:
        both = {"original": ran(1, "k"), "port": ran(1, "k"), "side": None, "says": None}
        return {"name": name, "verdict": verdict, "reason": reason, **both, **changes}

    return {
        "schema": "porter-programs-1",
        "programs": [
            program("agrees", "agree", says="pass"),
            program("both fail", "agree", says="fail"),
            program("too long", "too-long", "original: 300 s", side="original", port=None),
            program("<script>alert(5)</script>", "differ", f"line 1: 1 and {BIDI}2", port=ran(1200, "k", "l")),
        ],
    }


def profiled() -> dict[str, Any]:
    """What `porter run --profile` would say of a program with two kernels, of which one is a library's."""
    roofs = {"bandwidth": {"memory": 4650.0}, "rate": {"f32 VALU": 136_000.0}}
    rows = [
        {**_launched("void lib::locked(float*)", [1], 1.0), "side": "cuda", "estimate": None, "counters": None},
        _launched("void locked<float>(float*, int)", [2, 3, 5], 700.0),
        _launched("void lib::locked(float*)", [4], 900.0, "/opt/rocm/include/lib.hpp:3"),
    ]
    times = {"nanoseconds": 3000.0, "low": 2000.0, "high": 4000.0, "short_launches": 4}
    profile = {"chip": "MI300X", "measured": False, "left_out": "TLB misses", "roofs": roofs, "estimate": times}
    about = {"schema": "porter-run-1", "command": ["./app", "<b>10"], "verdict": "passed", "reason": "", "exit_code": 0}
    return {**about, "seconds": 1.0, "kernels": [], "profile": {**profile, "launches": rows}}


def _launched(kernel: str, launches: list[int], nanoseconds: float, line: str = "") -> dict[str, Any]:
    found = estimate("locked", "", "", nanoseconds, 0.0)["estimate"]
    lines = [[line, 1.0]] if line else found["lines"]
    size = {"grid": [30, 1, 1], "block": [256, 1, 1], "shared": 0, "launches": launches}
    return {
        "side": "hip",
        "kernel": kernel,
        **size,
        "counters": {},
        "traffic": {},
        "estimate": {**found, "lines": lines},
    }
