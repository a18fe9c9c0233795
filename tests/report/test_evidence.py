"""What builds and validations really write is what the gap report reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from porter.validation.build import model as building
from porter.validation.build.hints import hint_on
from porter.validation.build.occupancy import Use, find_target, occupancy
from porter.validation.build.report import build_json
from porter.validation.verdict.outcome import (
    CaseResult,
    Evidence,
    OutputResult,
    PairResult,
    SideResult,
    Status,
    ValidateReport,
)
from porter.validation.verdict.report import report_json, report_markdown, report_text

from porter.report.gap.evidence import (
    Paths,
    builds_by_kernel,
    cases_by_kernel,
    errors_by_source,
    failed_units,
    plain_name,
    sources_with,
)
from porter.report.gap.inputs import kind_of

PATHS = Paths(["src/sum.cu", "other/sum.cu"], {"src/sum.hip": "src/sum.cu"})


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """As it is read from a file."""
    read: dict[str, Any] = json.loads(json.dumps(document))
    return read


def build_document() -> dict[str, Any]:
    """A build of one unit with one kernel and one error."""
    place = building.Place("src/sum.hip", 9, 1, "src/sum.cu", 8)
    target = find_target("gfx942")
    assert target is not None
    resources = building.Resources("_Z3sum", 40, 8, 30, 0, 0, 4096, 16, 256, False)
    kernel = building.KernelBuild(
        "void ns::sum<float, 4>(float*)",
        place,
        resources,
        building.Block(256, 0, "assumed"),
        occupancy(target, Use(40, 8, 30, 4096, 256)),
        (building.Note("scratch", "16 bytes of scratch per lane"),),
    )
    error = building.Diagnostic("error", "no member named x", place, None, "ns::sum")
    unit = building.UnitBuild(
        "src/sum.hip", "gfx942", building.How.CLANG, building.Status.FAILED, None, ("clang",), (error,), (kernel,)
    )
    return plain(build_json(building.BuildReport("out", (), (unit,), (), 1.0, "")))


def test_a_build() -> None:
    """Resources, occupancy, notes and errors, at the kernel and the file of the source."""
    document = build_document()
    assert kind_of(document) == "build"
    ((key, (build,)),) = builds_by_kernel([document], PATHS).items()
    assert key == ("src/sum.cu", "sum")
    assert (build.vgprs, build.agprs, build.lds_bytes, build.scratch_bytes) == (40, 8, 4096, 16)
    assert build.waves_per_simd
    assert build.notes == ("16 bytes of scratch per lane",)
    assert errors_by_source([document], PATHS) == {"src/sum.cu": [("ns::sum", "src/sum.cu:8: no member named x")]}
    assert sources_with([document], PATHS, "failed") == {"src/sum.cu"}


def test_a_validation() -> None:
    """Sides, devices, lanes, errors, histograms, pairs, what it does not show, and the command."""
    output = OutputResult("out", 100, False, 1e-6, 1e-7, 0.5, (90, 5, 3, 2, 0, 0, 0, 0, 0))
    sides = (
        SideResult("original", "ptx", 32, Status.PASSED, outputs=(output,), does_not_show=("time",)),
        SideResult(
            "port",
            "gfx942",
            64,
            Status.WRONG_VALUES,
            warp="native",
            evidence=Evidence("out[3] is 1", "n=4", "in order"),
            outputs=(output,),
            command=("clang", "a b"),
            headers="HIP 6.0 in /there",
        ),
    )
    pair = PairResult("ptx", "gfx942", "native", Status.WRONG_VALUES, "values differ", "2 ulp", 1.5, ("reference",))
    case = CaseResult(
        "sums",
        "/elsewhere/src/sum.case.toml",
        3,
        "/elsewhere/src/sum.cu",
        "ns::sum<float>",
        Status.WRONG_VALUES,
        sides=sides,
        pairs=(pair,),
        repeat=("porter", "validate", "x y"),
    )
    report = ValidateReport((case,))
    said = "compiled with the headers of HIP 6.0 in /there"
    assert f"gfx942: {said}" in report_text(report)
    assert f"- `gfx942`: {said}" in report_markdown(report)
    document = plain(report_json(report))
    assert kind_of(document) == "validate"
    ((key, (found,)),) = cases_by_kernel([document], PATHS).items()
    assert key == ("src/sum.cu", "sum")
    assert found.status == "wrong-values"
    assert [(run.side, run.device, run.lanes) for run in found.runs] == [
        ("original", "ptx", 32),
        ("port (native)", "gfx942", 64),
    ]
    assert found.runs[1].reason == "out[3] is 1"
    assert found.runs[0].outputs[0].ulps == (90, 5, 3, 2, 0, 0, 0, 0, 0)
    assert found.max_ulps == "3-4"
    assert found.pairs[0].detail == "values differ; 2 ulp; 1.5 times the original's error"
    assert found.does_not_show == ("time",)
    assert found.command == "porter validate 'x y'"


def test_names() -> None:
    """Kernels are recognised without what an instance adds to them."""
    assert plain_name("void ns::reduce<float, (int)4>(float*, ns::T<int>)") == "reduce"
    assert plain_name("(anonymous namespace)::scale") == "scale"
    assert plain_name("scale") == "scale"
    assert PATHS.find("/a/b/other/sum.cu") == "other/sum.cu"
    assert PATHS.find("sum.cu") == "sum.cu", "it could be either"
    assert PATHS.find("nowhere.cu") == "nowhere.cu"


def test_headers_that_are_too_old_are_the_machine_and_one_cause(tmp_path: Path) -> None:
    """Whatever else is wrong in the unit; a unit that fails for its own reasons alone is refused."""
    version = tmp_path / "hip" / "hip_version.h"
    version.parent.mkdir()
    version.write_text("#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 0\n")
    names = ("hipLaunchKernelExC", "hipHostAllocWriteCombined", "hipMalloc")
    texts = [f"use of undeclared identifier '{name}'" for name in names]
    errors = tuple(
        building.Diagnostic("error", text, building.Place("src/sum.hip", 9, 1, "src/sum.cu", 8), hint=hint)
        for text, hint in [("no such thing", None), *((text, hint_on(text, tmp_path)) for text in texts)]
    )
    failed = building.Status.FAILED
    units = (
        building.UnitBuild("src/sum.hip", "gfx942", None, failed, "no such thing", (), errors),
        building.UnitBuild("src/sum.hip", "gfx942", None, failed, "no such thing", (), (errors[0], errors[3])),
    )
    old, own = failed_units([plain(build_json(building.BuildReport("port", (), units, (), 1.0, "")))], PATHS, {})
    assert not old.refused and old.message == "the port is for a newer ROCm, and the headers here are of 6.0"
    assert old.hint.startswith("hipLaunchKernelExC is in ROCm since 7.0, the headers here are of 6.0. `porter headers ")
    assert own.refused and own.message == "no such thing"
    assert errors[2].hint == "hipHostAllocWriteCombined is in ROCm since 6.3, the headers here are of 6.0"
