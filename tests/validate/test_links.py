"""Addresses in arrays of structures and in variables: how a case says them, and what runs with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.cases.inputs import Trial, fill
from porter.validation.cases.links import Link, linked, part_of, unlinked
from porter.validation.run.passing import pack

from tests.validate.running import by_name, run, write_case

SOURCE = """
struct Node { int n; const float* from; float* to; };
__constant__ float* scratch;
__global__ void twice(Node* nodes, float** sums) {
  Node& node = nodes[blockIdx.x];
  const int i = threadIdx.x;
  if (i >= node.n) return;
  node.to[i] = 2.0f * node.from[i];
  scratch[blockIdx.x * 8 + i] = node.to[i] + 1.0f;
  if (i == 0) sums[blockIdx.x][0] = node.from[0];
}
"""
CASE = """grid = 2
block = 32
arguments = [
  "inout nodes: (int32 n, address from @8, address to)[2] = constant(5)",
  "in sums: (address row)[2]",
  "in nodes_from: float32[16]",
  "inout nodes_to: float32[16]",
  "inout sums_row: float32[8]",
  "inout scratch_to: float32[16]",
]
constants = ["in scratch: (address to)[1]"]
"""


def test_which_bytes_hold_which_address(tmp_path: Path) -> None:
    (case,) = load_cases(write_case(tmp_path, "twice", CASE, SOURCE))
    assert case.parameters == ("nodes", "sums")
    assert case.launched == ("nodes", "sums", "nodes_from", "nodes_to", "sums_row", "scratch_to")
    trial = Trial({}, 1, "random")
    packed = pack(case, fill(case, trial), trial.symbols, 0)
    assert packed.links == (
        *(Link(0, 8, 2, 0), Link(0, 32, 2, 32), Link(0, 16, 3, 0), Link(0, 40, 3, 32)),
        *(Link(1, 0, 4, 0), Link(1, 8, 4, 16), Link("scratch", 0, 5, 0)),
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"inout nodes_to: float32[16]",', "", "nodes: no array is named 'nodes_to'"),
        ('"inout scratch_to: float32[16]",', "", "scratch: no array is named 'scratch_to'"),
        ("address to)[2]", "adress to)[2]", "is not DTYPE NAME"),
        ("address from @8", "address from @2", "overlaps"),
    ],
)
def test_what_cannot_be(before: str, after: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=said):
        load_cases(write_case(tmp_path, "twice", CASE.replace(before, after), SOURCE))


def test_there_and_back() -> None:
    links = (Link(0, 0, 1), Link(0, 8, 1, 16))
    there = linked(np.zeros(24, np.uint8), links, {1: 0x7000})
    assert there.view("<u8").tolist() == [0x7000, 0x7010, 0]
    places = {0: (0x100, 24), 1: (0x7000, 64)}
    assert not unlinked(there, links, places).any()
    swapped = there.view("<u8")[[1, 0, 2]]
    assert unlinked(swapped, links, places).tolist() == [(2 << 48) + 16, 2 << 48, 0]
    lost = np.array([5, 0x7010, 9], "<u8")
    assert unlinked(lost, links, places).tolist() == [5, 0, 9]
    cleared = np.array([0x7000, 0, 0], "<u8")
    assert unlinked(cleared, links, places).tolist() == [0, (1 << 64) - 1, 0]


@pytest.mark.parametrize(
    ("size", "count", "element", "part"),
    [(64, 2, 4, 32), (100, 3, 4, 32), (20, 2, 4, 8), (7, 9, 1, 0), (72, 3, 12, 24)],
)
def test_parts(size: int, count: int, element: int, part: int) -> None:
    assert part_of(size, count, element) == part


@pytest.mark.slow
def test_original_and_port_run_with_them(tmp_path: Path) -> None:
    """The right port agrees in every bit; wrong values, addresses that changed and reading too far are found."""
    path = write_case(tmp_path, "twice", CASE, SOURCE)
    (case,) = run(path).report.cases
    assert case.status.value == "passed", case.reason
    path.write_text(path.read_text().replace('source = "k.cu"\n', 'source = "k.cu"\nport = "k.hip"\n'))
    for right, wrong, status, said in (
        ("node.to[i] + 1.0f", "node.to[i] + 2.0f", "wrong-values", "scratch_to"),
        ("= node.from[0];", "= node.from[i + 1];", "wrong-values", "sums_row"),
        ("= node.from[0];", "= node.from[0], node.to = 0;", "wrong-values", "nodes_to_address"),
        ("node.from[i];", "node.from[i + 4000];", "fault", "nodes_from"),
    ):
        assert right in SOURCE
        (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n" + SOURCE.replace(right, wrong))
        case = by_name(run(path))["twice"]
        assert case.status.value == status and (status == "fault" or said in case.reason), (wrong, case.reason)
