"""malloc, new and free in kernels."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

LISTS = """
struct Node { int value; Node* next; };
extern "C" __global__ void build(Node** heads, const int* values, int n) {
  Node* head = nullptr;
  for (int k = 0; k < n; k++) {
    Node* node = (Node*)malloc(sizeof(Node));
    if (!node) return;
    node->value = values[k] + threadIdx.x;
    node->next = head;
    head = node;
  }
  heads[threadIdx.x] = head;
}
extern "C" __global__ void sum(Node** heads, int* sums) {
  int s = 0;
  for (Node* node = heads[threadIdx.x]; node;) {
    s += node->value;
    Node* old = node;
    node = node->next;
    free(old);
  }
  sums[threadIdx.x] = s;
}
extern "C" __global__ void null(void** out, size_t bytes) { out[threadIdx.x] = malloc(bytes); free(nullptr); }
extern "C" __global__ void churn(int* out, int n) {
  int s = 0;
  for (int k = 0; k < n; k++) { int* p = new int[8]; p[k & 7] = k; s += p[k & 7]; delete[] p; }
  out[threadIdx.x] = s;
}
"""


@pytest.fixture(scope="module")
def lists(compile_hip: Compile) -> Module:
    """The kernels above."""
    return compile_hip(LISTS)


@pytest.mark.parametrize("threads", [1, 2])
def test_lists_live_from_one_launch_to_the_next(lists: Module, threads: int) -> None:
    values = np.array([3, 1, 4, 1, 5], np.int32)
    heads = lists.device.buffer(np.zeros(96, np.uint64))
    options = Options(threads=threads)
    assert isinstance(lists.launch("build", 1, 96, [heads, values, 5], options=options), Ran)
    assert len(set(heads.read().tolist())) == 96
    done = lists.launch("sum", 1, 96, [heads, np.zeros(96, np.int32)], options=options)
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(1), 14 + 5 * np.arange(96))
    heap = lists.device.memory.heap
    assert heap.live == 0


def test_too_much_gives_null_and_says_so(lists: Module) -> None:
    done = lists.launch("null", 1, 64, [np.ones(64, np.uint64), 1 << 40])
    assert isinstance(done, Ran), done
    assert not done.output(0).any()
    assert any("malloc" in note for note in done.notes)


def test_freed_memory_counts_no_more(lists: Module) -> None:
    done = lists.launch("churn", 2, 64, [np.zeros(64, np.int32), 100])
    assert isinstance(done, Ran), done
    assert np.all(done.output(0) == 4950)
