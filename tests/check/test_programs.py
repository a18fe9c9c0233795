"""`--programs`: the programs that a change may touch are built and run on both sides, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.recipes import Program

from porter.check.programs import programs_touched
from porter.check.proofs import Touched
from porter.check.result import Proof, Step
from porter.settings import Choices
from tests.check.repositories import write

TABLES = (
    {"name": "one", "folder": "apps/one", "run": "./main"},
    {"name": "two", "folder": "apps/two", "run": "./main"},
)


def _proof(root: Path, files: set[str] | None, tables: tuple[dict[str, object], ...] = TABLES) -> Proof:
    changed = None if files is None else frozenset(files)
    return programs_touched(Touched(root, Choices(program=tables), 1, frozenset(), changed, lambda path: ()))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> dict[str, Compared]:
    """What the programs come to; the ones that ran are in it afterwards, with `agree` where nothing was said."""
    found: dict[str, Compared] = {}

    def compare(program: Program, *_: object) -> Compared:
        return found.setdefault(program.name, Compared(program.name, Agreement.AGREE, "", says="pass"))

    monkeypatch.setattr("porter.validation.programs.compare.both_sides", lambda source, work: (work, work))
    monkeypatch.setattr("porter.validation.programs.compare.compare_one", compare)
    return found


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (None, {"one", "two"}),
        (set(), set()),
        ({"apps/one/main.cu"}, {"one"}),
        ({"apps/one/deep/data.txt", "apps/two/Makefile"}, {"one", "two"}),
        ({"apps/oneself/main.cu"}, {"one", "two"}),
        ({"common/reduce.cuh"}, {"one", "two"}),
        ({"porter.toml"}, {"one", "two"}),
        ({"README.md", "apps/one/notes.RST"}, set()),
    ],
)
def test_what_may_be_touched(
    files: set[str] | None, expected: set[str], ran: dict[str, Compared], tmp_path: Path
) -> None:
    proof = _proof(tmp_path, files)
    assert set(ran) == expected
    assert proof.step is Step.PASSED
    assert proof.reason.startswith(f"{len(expected)} of" if expected else "no program of 2")


@pytest.mark.parametrize("agreement", [one for one in Agreement if one is not Agreement.AGREE])
def test_what_does_not_agree_is_no_pass(agreement: Agreement, ran: dict[str, Compared], tmp_path: Path) -> None:
    ran["two"] = Compared("two", agreement, "port: the reason")
    proof = _proof(tmp_path, None)
    could_not = {Agreement.NOT_RUN, Agreement.UNSUPPORTED, Agreement.TOO_LONG}
    assert proof.step is (Step.NOT_RUN if agreement in could_not else Step.FAILED)
    assert [subject["status"] for subject in proof.subjects] == ["passed", agreement.value]
    assert proof.subjects[1]["message"] == "port: the reason"
    assert proof.reason == "1 of 2 programs agree"


def test_that_both_sides_fail_is_told(ran: dict[str, Compared], tmp_path: Path) -> None:
    ran["one"] = Compared("one", Agreement.AGREE, "", says="fail")
    proof = _proof(tmp_path, {"apps/one/x.cu"})
    assert (proof.step, proof.subjects[0]["message"]) == (Step.PASSED, "both sides say that it failed")


def test_a_program_around_another(ran: dict[str, Compared], tmp_path: Path) -> None:
    tables = ({"name": "all", "run": "./main"}, {"name": "inner", "folder": "inner", "run": "./main"})
    _proof(tmp_path, {"inner/a.cu"}, tables)
    assert set(ran) == {"all", "inner"}
    ran.clear()
    _proof(tmp_path, {"src/a.cu"}, tables)
    assert set(ran) == {"all"}


def test_without_programs(tmp_path: Path) -> None:
    proof = _proof(tmp_path, None, ())
    assert (proof.step, proof.reason) == (Step.PASSED, "there are no programs")


@pytest.mark.slow
def test_a_program_is_built_and_run(tmp_path: Path) -> None:
    """Both sides of a right one agree; one whose warps are 32 wide by its own constant is no pass."""
    source = """
#include <cstdio>
__global__ void sum(const int *in, int *out) {
    int value = in[threadIdx.x];
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = value;
}
int main() {
    int *in, *out, host[2];
    cudaMallocManaged(&in, 64 * sizeof(int));
    cudaMalloc(&out, sizeof host);
    for (int i = 0; i < 64; i++) in[i] = i;
    sum<<<1, 64>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d\\n", host[0], host[1]);
    return host[0] != 496 || host[1] != 1520;
}
"""
    build = "main: main.cu\n\tnvcc -arch=sm_80 main.cu -o main\n"
    files = {"app/main.cu": source, "app/Makefile": build}
    write(tmp_path, files)
    tables: tuple[dict[str, object], ...] = ({"name": "sum", "folder": "app", "run": "./main"},)
    proof = _proof(tmp_path, {"app/main.cu"}, tables)
    if proof.step is Step.NOT_RUN:
        pytest.skip(str(proof.subjects))
    assert proof.step is Step.PASSED, proof
    write(tmp_path, {"app/main.cu": source.replace("host[1] != 1520", "host[1] != 1520 || warpSize != 32")})
    assert _proof(tmp_path, {"app/main.cu"}, tables).step is Step.FAILED
