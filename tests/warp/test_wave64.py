"""The rules for 64 lanes on kernels that are wrong and right, executed on the virtual gfx942 before and after."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran

from porter.engine.file import port
from porter.model import PortedFile
from porter.source import SourceFile
from tests.fixtures.wave64 import Snippet, load
from tests.warp.execution import context, module
from tests.warp.wave64_results import RESULTS, THREADS

SNIPPETS = {snippet.name: snippet for snippet in load()}
MISTAKES = [snippet for snippet in SNIPPETS.values() if snippet.codes]
RIGHT = [snippet for snippet in SNIPPETS.values() if not snippet.codes]
SEED = 7
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def test_there_are_enough() -> None:
    assert len(SNIPPETS) == len(load()), "a name is used twice"
    assert len(MISTAKES) >= 80
    assert len(RIGHT) >= 60
    assert sum(snippet.result != "not_run" for snippet in MISTAKES) >= 70


@cache
def ported(snippet: Snippet) -> PortedFile:
    """A snippet as a file of its own, through the engine with all rules."""
    return port(SourceFile(f"{snippet.name}.hip", snippet.text.encode()), context("preserve"), f"{snippet.name}.hip")


@pytest.mark.parametrize("snippet", MISTAKES, ids=lambda snippet: snippet.name)
def test_mistake_is_found(snippet: Snippet) -> None:
    """All rules that must find something do, no others, and what is fixed is settled."""
    result = ported(snippet)
    assert {finding.code for finding in result.findings} == set(snippet.codes), result.findings
    assert result.changed == snippet.fixed
    again = port(SourceFile("a.hip", result.data), context("preserve"), "a.hip")
    assert again.data == result.data


@pytest.mark.parametrize("snippet", RIGHT, ids=lambda snippet: snippet.name)
def test_right_code_stays(snippet: Snippet) -> None:
    result = ported(snippet)
    assert not result.findings, result.findings
    assert result.data == snippet.text.encode()


@pytest.mark.parametrize("mode", ["preserve", "native"])
def test_what_we_ported_is_left_alone_as_a_file_of_hip(mode: str) -> None:
    """A port is somebody's HIP tree from then on: `lane_id()` there may count 32 lanes, whatever its name."""
    sources = sorted(path for path in SAMPLES.rglob("*") if path.suffix in (".cu", ".cuh"))
    for path in sources:
        done = port(SourceFile("a.cu", path.read_bytes()), context(mode), "a.hip")
        again = port(SourceFile("a.hip", done.data), context(mode), "a.hip")
        assert again.data == done.data, path


def test_lane_id_is_what_the_function_in_sight_says() -> None:
    body = "__device__ int lane_id() { return threadIdx.x & %d; }\n__global__ void k(int *w, int i) {\n"
    body += "  auto m = __ballot(i);\n  if (lane_id() == 0) w[(blockIdx.x * 256 + threadIdx.x) / 32] = m;\n}\n"
    for lanes, found in ((31, False), (63, True)):
        done = port(SourceFile("a.hip", (body % lanes).encode()), context("preserve"), "a.hip")
        assert ("V106" in {finding.code for finding in done.findings}) is found


def _together(snippets: Iterable[tuple[Snippet, str]]) -> str:
    """One translation unit: each snippet in a namespace of its own, its macros taken back."""
    parts = ["#include <hip/hip_runtime.h>\n#include <stdint.h>\n"]
    for snippet, text in snippets:
        macros = re.findall(r"#define (\w+)", text)
        parts.append(f"namespace {snippet.name}_ {{\n{text}}}\n" + "".join(f"#undef {name}\n" for name in macros))
    return "".join(parts)


def _run(snippets: list[Snippet], *, fixed: bool) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    texts = [(one, ported(one).data.decode() if fixed else one.text) for one in snippets]
    loaded = module(_together(texts))
    x = np.random.default_rng(SEED).integers(-3, 4, THREADS).astype(np.int32)
    found = {}
    for one in snippets:
        space = f"{one.name}_"
        kernel = next((name for name in loaded.kernels if name.startswith(f"_ZN{len(space)}{space}")), None)
        assert kernel is not None, (space, loaded.kernels)
        done = loaded.launch(
            kernel, (1,), (THREADS,), [x.copy(), np.zeros(THREADS, np.int32)], 0, Options(uninitialised=False)
        )
        assert isinstance(done, Ran), f"{one.name}: {done}"
        found[one.name] = done.outputs[1].reshape(-1)
    return found


def _expected(snippet: Snippet) -> np.ndarray:  # type: ignore[type-arg]
    x = np.random.default_rng(SEED).integers(-3, 4, THREADS).astype(np.int32)
    return np.asarray(RESULTS[snippet.result](x)).astype(np.int32)


@pytest.mark.slow
def test_right_code_is_right() -> None:
    snippets = [one for one in RIGHT if one.result != "not_run"]
    outputs = _run(snippets, fixed=False)
    assert [name for name, y in outputs.items() if not np.array_equal(y, _expected(SNIPPETS[name]))] == []


@pytest.mark.slow
def test_mistakes_are_mistakes_and_fixes_are_right() -> None:
    """Each wrong kernel gives something else than the right one; where it was fixed, the port gives the same."""
    snippets = [one for one in MISTAKES if one.result != "not_run"]
    outputs = _run(snippets, fixed=False)
    assert [name for name, y in outputs.items() if np.array_equal(y, _expected(SNIPPETS[name]))] == []
    outputs = _run([one for one in snippets if one.fixed], fixed=True)
    assert [name for name, y in outputs.items() if not np.array_equal(y, _expected(SNIPPETS[name]))] == []
