"""Drafts of kernels that follow pointers in memory: classes passed by pointer, arrays of pointers, variables."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.behind import as_pointer
from porter.validation.draft.guessing import made_output
from porter.validation.draft.host import Host
from porter.validation.draft.init import DraftedCase, draft
from porter.validation.draft.trying import try_sizes

SOURCE = """
struct Node { int n; const float* from; double *to; Node* next; };
typedef struct { int n; float* w; } layer, *layer_p;
typedef struct plan* plan_t;
struct plan { int n; unsigned int* order; float2* z; };
__constant__ float* scratch;
__constant__ unsigned int *chain[2], *other;
__constant__ plan thePlan;
__device__ int* counts = NULL;
__device__ float hidden;
__constant__ int sizes[4];
__global__ void one(Node* nodes, float** sums, int count) {
  Node& node = nodes[blockIdx.x];
  if (threadIdx.x < count) node.to[threadIdx.x] = node.from[threadIdx.x] + sizes[0];
  scratch[0] = chain[0][1] + other[2] + thePlan.order[3];
  sums[blockIdx.x][0] = counts[0];
}
__global__ void two(layer_p l, plan_t p) { p->z[threadIdx.x].x = l->w[0]; }
void set() { f(scratch, chain, other, thePlan, counts, sizes, hidden); }
"""


def drafted(folder: Path, name: str) -> DraftedCase:
    source = folder / "k.cu"
    source.write_text(SOURCE, "utf-8")
    (part,) = draft(source, (name,), assuming=True).parts
    return part


def lines(part: DraftedCase, key: str) -> list[str]:
    start = part.after.index(f"{key} = [") + 1
    return [line.strip(' ",') for line in part.after[start : part.after.index("]", start)]]


def test_each_pointer_has_an_array_behind_the_parameters(tmp_path: Path) -> None:
    part = drafted(tmp_path, "one")
    assert lines(part, "arguments") == [
        "inout nodes: (int32 n @0, address from @8, address to @16 /32)[TODO] = integers(0, 100)",
        "in sums: (address row @0 /8)[TODO] = integers(0, 100)",
        "scalar count: int32 = count",
        "in nodes_from: float32[TODO]",
        "inout nodes_to: float64[TODO]",
        "inout sums_row: float32[TODO]",
        "inout scratch_row: float32[TODO]",
        "inout chain_row: uint32[TODO]",
        "inout other_row: uint32[TODO]",
        "inout thePlan_order: uint32[TODO]",
        "inout thePlan_z: float32[TODO, 2]",
        "inout counts_row: int32[TODO]",
    ]
    assert "nodes.next: taken to be null" in part.notes


def test_variables_that_are_pointers(tmp_path: Path) -> None:
    assert lines(drafted(tmp_path, "one"), "constants") == [
        "in scratch: (address row)[1]",
        "in chain: (address row)[2]",
        "in other: (address row)[1]",
        "in thePlan: (int32 n @0, address order @8, address z @16 /24)[1] = integers(0, 100)",
        "in counts: (address row)[1]",
        "in sizes: int32[4]",
    ]


def test_typedefs_of_pointers(tmp_path: Path) -> None:
    assert lines(drafted(tmp_path, "two"), "arguments") == [
        "inout l: (int32 n @0, address w @8 /16)[1] = integers(0, 100)",
        "inout p: (int32 n @0, address order @8, address z @16 /24)[1] = integers(0, 100)",
        "inout l_w: float32[TODO]",
        "inout p_order: uint32[TODO]",
        "inout p_z: float32[TODO, 2]",
    ]


def test_variables_that_only_a_called_function_names(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__constant__ unsigned* chain[1] = {NULL};\n__constant__ int unused[2];\n"
        "__constant__ int known[2] = {3, 4};\n__constant__ int zero = 0;\n"
        "__device__ void put(int i) { chain[0][i] = i + known[0] + zero; }\n__global__ void k(int n) { put(n); }\n"
        "void set() { f(chain, unused, known, zero); }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    assert lines(part, "constants") == ["in chain: (address row)[1]"]
    assert "inout chain_row: uint32[TODO]" in lines(part, "arguments")
    assert not any(line.startswith("not_run") for line in part.after)


@pytest.mark.parametrize(
    ("text", "kind", "pointer"),
    [
        ("typedef struct plan* plan_t;", "plan_t", "struct plan*"),
        ("typedef const float *view;", "const view", "const float*"),
        ("using rows = double**;", "rows", "double**"),
        ("typedef struct { int n; } layer, *layer_p;", "layer_p*", "layer**"),
        ("typedef struct { int n; } layer;", "layer", "layer"),
        ("typedef float real;", "real*", "real*"),
        ("float* real; int real_t;", "real", "real"),
    ],
)
def test_what_a_typedef_of_a_pointer_is(text: str, kind: str, pointer: str) -> None:
    assert as_pointer(Host(text), kind) == pointer


def test_an_input_that_the_original_writes_to(tmp_path: Path) -> None:
    part = drafted(tmp_path, "one")
    changed = made_output(part, "nodes_from")
    assert changed is not None and "inout nodes_from: float32[TODO]" in lines(changed, "arguments")
    assert changed.notes[-1] == "nodes_from: the original writes to it"
    assert made_output(part, "sums_row_address") is None and made_output(part, "nodes_to") is None


@pytest.mark.slow
def test_they_run(tmp_path: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    drafted(tmp_path, "one")
    found = try_sizes(draft(tmp_path / "k.cu", assuming=True))
    assert [one.reason for one in found] == ["", ""]
    assert "# nothing tells this: " in found[0].text and "(address row @0 /8)[16]" in found[0].text
