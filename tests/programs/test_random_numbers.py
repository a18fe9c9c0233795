"""Random numbers of device code, which cuRAND and rocRAND draw otherwise: both sides with one generator."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import pytest
from porter.validation.programs import compare
from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.compare import compare_one, port_tree, run_both
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import Account, ProgramRun, Verdict
from porter.validation.programs.random_numbers import seeding
from porter.validation.programs.recipes import Program
from porter.validation.programs.sides import CUDA, Alike

COUNT = 71
"""Numbers of one thread in drawn.cu."""


def _both(drawn: tuple[Path, Path], *words: str) -> Compared:
    original, port = drawn
    return run_both(Program("drawn", ("./drawn", *words)), original.parent, port.parent, Options())


@pytest.mark.slow
def test_every_call_draws_the_same(drawn: tuple[Path, Path]) -> None:
    found = _both(drawn, "0")
    assert found.agreement is Agreement.AGREE, found.reason
    assert found.original is not None
    assert len(found.original.output.splitlines()) == 64 * COUNT


@pytest.mark.slow
def test_a_wrong_port_still_differs(drawn: tuple[Path, Path]) -> None:
    assert _both(drawn, "1").agreement is Agreement.AGREE
    found = _both(drawn, "2")
    assert found.agreement is Agreement.DIFFER
    assert found.reason.startswith("output, line 1: 'pi is about 3.1")


@pytest.mark.slow
def test_numbers_are_as_they_say(drawn: tuple[Path, Path]) -> None:
    """Ranges, means and deviations of what 64 threads draw, and that threads and calls draw other numbers."""
    run = run_program(("./drawn", "0"), Options(side=CUDA, seconds=120), drawn[0].parent, keep=True)
    values = [float(line.split()[1]) for line in run.output.decode().splitlines()]
    columns = [values[at::COUNT] for at in range(COUNT)]
    for start, kind in ((0, "XORWOW"), (17, "Philox"), (40, "MRG")):
        words, u, d = columns[start : start + 3]
        assert all(value == int(value) and 0 <= value < 2**32 for value in words), kind
        assert len(set(words)) == len(words), kind
        assert all(0 < value <= 1 for value in (*u, *d)), kind
        assert abs(statistics.mean((*u, *d)) - 0.5) < 4 * math.sqrt(1 / 12 / 128), kind
        normals = columns[start + 3] + columns[start + 4] + columns[start + 5]
        assert abs(statistics.mean(normals)) < 4 / math.sqrt(len(normals)), kind
        assert 0.75 < statistics.stdev(normals) < 1.25, kind
        assert all(value > 0 for column in columns[start + 8 : start + 12] for value in column), kind
        for at, mean in ((12, 3.5), (13, 900.0), (14, 5000.0)):
            column = columns[start + at]
            assert all(value == int(value) >= 0 for value in column), kind
            assert abs(statistics.mean(column) - mean) < 4 * math.sqrt(mean / 64), (kind, mean)
    for start in (57, 64):  # Sobol's first numbers, of threads that begin one after another
        assert len({f"{value:.4f}" for value in columns[start + 1]}) == 64
        assert abs(statistics.mean(columns[start + 1]) - 0.5) < 0.02


def test_who_seeds(tmp_path: Path) -> None:
    """Kernels that were launched, and seed for themselves or by a function that they call."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.cu").write_text(
        "#include <curand_kernel.h>\n"
        "namespace space { template <class T> __global__ void seed(curandState *s) { curand_init(7, 0, 0, s); } }\n"
        "__global__ void draw(curandState *s, float *to) { *to = curand_uniform(s); }\n"
        "template <class S> __device__ inline void begin(S *s) { curand_init(7, 0, 0, s); }\n"
        "__global__ void behind(curandState *s) { begin(s); }\n"
        "void go(curandState *s, float *to) { space::seed<int><<<1, 1>>>(s); draw<<<1, 1>>>(s, to); }\n"
        "void begun(curandState *s) { behind<<<1, 1>>>(s); }\n"
    )
    port_tree(source, tmp_path / "port")
    kernels = ["draw(curandStateXORWOW*, float*)", "void space::seed<int>(curandStateXORWOW*)"]
    found = seeding(tmp_path / "port", kernels)
    assert found == "seed (a.cu:2) seeds random numbers, and rocRAND's are not cuRAND's for the same seed (A003)"
    assert (seeding(tmp_path / "port", ["behind(curandStateXORWOW*)"]) or "").startswith("behind (a.cu:5) seeds")
    assert seeding(tmp_path / "port", kernels[:1]) is None
    assert seeding(tmp_path, kernels) is None


@pytest.mark.parametrize(
    ("second", "agreement", "reason"),
    [
        (
            Compared("a", Agreement.AGREE, ""),
            Agreement.AGREE,
            "with one generator of random numbers on both sides; with each one's own output, line 1: 1 and 2; k seeds",
        ),
        (
            Compared("a", Agreement.DIFFER, "output, line 3: 4 and 5"),
            Agreement.DIFFER,
            "output, line 3: 4 and 5; with one generator of random numbers on both sides; with each one's own output, "
            "line 1: 1 and 2; k seeds",
        ),
        (
            Compared("a", Agreement.NOT_BUILT, "port: no discrete distributions"),
            Agreement.DIFFER,
            "output, line 1: 1 and 2; memory differs first after launch 1; k seeds; with one generator on both sides "
            "port: no discrete distributions",
        ),
    ],
)
def test_what_is_said(
    second: Compared, agreement: Agreement, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ProgramRun(("./a",), Verdict.PASSED, "", 0, Account(), 0.0, output=b"1")
    first = Compared(
        "a", Agreement.DIFFER, "output, line 1: 1 and 2; memory differs first after launch 1", original=run
    )
    built: list[bool] = []

    def both_built(_program: Program, _original: Path, _port: Path, alike: Alike | None = None) -> str:
        built.append(alike is Alike.GENERATOR)
        return ""

    monkeypatch.setattr(compare, "_both_built", both_built)
    monkeypatch.setattr(compare, "run_both", lambda *_: second if built[-1] else first)
    monkeypatch.setattr(compare, "both_sides", lambda source, work: (work, work))
    monkeypatch.setattr(compare, "seeding", lambda *_: "k seeds")
    found = compare_one(Program("a", ("./a",)), tmp_path, tmp_path, tmp_path, Options())
    assert (found.agreement, found.reason, built) == (agreement, reason, [False, True])
