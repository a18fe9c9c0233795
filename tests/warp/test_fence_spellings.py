"""Fences of the device in loops, written in the ways that C++ has."""

from __future__ import annotations

import pytest

from porter.engine.context import build_context
from porter.engine.file import port
from porter.settings import Choices
from porter.source import SourceFile

CONTEXT = build_context(Choices(), ["a.cu"], {})
HELPERS = """
#define UNROLL _Pragma("unroll")
#define FENCE __threadfence()
#define FENCE_F() __threadfence()
#define ONCE(what) do { what; } while (0)
#define EACH(i, n) for (int i = 0; i < n; ++i)
__device__ void put(float *p, float v) { *p = v; __threadfence(); }
__device__ void put_twice(float *p, float v) { put(p, v); put(p + 1, v); }
__device__ void put_near(float *p, float v) { *p = v; __threadfence_block(); }
"""


def _found(text: str) -> list[str]:
    kernel = f"__global__ void k(float *sum, float v, int n) {{ int i = threadIdx.x;\n{text}\n sum[i] = v; }}"
    ported = port(SourceFile("a.cu", (HELPERS + kernel).encode()), CONTEXT, "a.hip")
    return [finding.code for finding in ported.findings if finding.code == "S106"]


FENCES = [
    "for (int j = 0; j < n; ++j) { sum[j] = v; __threadfence(); }",
    "while (n--) { sum[n] = v; __threadfence_system(); }",
    "do { sum[n] = v; __threadfence(); } while (--n);",
    "for (float q : {v, v}) { sum[i] += q; __threadfence(); }",
    "UNROLL for (int j = 0; j < n; ++j) { sum[j] = v; __threadfence(); }",
    "EACH(j, n) { sum[j] = v; __threadfence(); }",
    "for (int j = 0; j < n; ++j) FENCE;",
    "for (int j = 0; j < n; ++j) FENCE_F();",
    "for (int j = 0; j < n; ++j) ONCE(__threadfence());",
    "for (int j = 0; j < n; ++j) { put(sum, v); }",
    "for (int j = 0; j < n; ++j) { put_twice(sum, v); }",
    "for (int j = 0; j < n; ++j) { if (i == 0) { put(sum, v); } }",
    "for (int j = 0; j < n; ++j) ::__threadfence();",
    "EACH(j, n) cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);",
    "for (int j = 0; j < n; ++j) cuda::std::atomic_thread_fence(cuda::std::memory_order_seq_cst);",
    'for (int j = 0; j < n; ++j) asm volatile("membar.gl;" ::: "memory");',
    'for (int j = 0; j < n; ++j) asm volatile("membar.sys;" ::: "memory");',
    'for (int j = 0; j < n; ++j) asm volatile("fence.acq_rel.gpu;" ::: "memory");',
    'for (int j = 0; j < n; ++j) asm volatile("fence.sc.sys;" ::: "memory");',
    "auto f = [&] { __threadfence(); }; for (int j = 0; j < n; ++j) f();",
    "again: sum[n] = v; __threadfence(); if (--n) goto again;",
]
NO_FENCES = [
    "__threadfence(); for (int j = 0; j < n; ++j) sum[j] = v;",
    "put(sum, v);",
    "FENCE; FENCE_F();",
    "for (int j = 0; j < n; ++j) __threadfence_block();",
    "for (int j = 0; j < n; ++j) put_near(sum, v);",
    'for (int j = 0; j < n; ++j) asm volatile("membar.cta;" ::: "memory");',
    'for (int j = 0; j < n; ++j) asm volatile("fence.acq_rel.cta;" ::: "memory");',
    'for (int j = 0; j < n; ++j) asm volatile("" ::: "memory");',
    "EACH(j, n) cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);",
    "do { __threadfence(); sum[0] = v; } while (0);",
    "do { put(sum, v); } while (false);",
    "ONCE(__threadfence());",
    "auto f = [&] { __threadfence(); }; f();",
    "for (int j = 0; j < n; ++j) sum[j] = v; auto f = [&] { __threadfence(); }; f();",
    "done: sum[n] = v; __threadfence(); if (n) goto after; after: ;",
]


@pytest.mark.parametrize("text", FENCES)
def test_fences_of_the_device_in_loops(text: str) -> None:
    assert _found(text) == ["S106"]


@pytest.mark.parametrize("text", NO_FENCES)
def test_fences_out_of_loops(text: str) -> None:
    assert not _found(text)
