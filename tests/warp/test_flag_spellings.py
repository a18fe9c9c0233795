"""Loops that end by a flag of a loop inside them, written in the ways that C++ has."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cpp.headers import header_reader
from porter.engine.context import build_context
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.model import Settings
from porter.names.table import load_names
from porter.settings import Choices
from porter.source import SourceFile

CONTEXT = build_context(Choices(), ["a.cu"], {})
HELPERS = """
#define UNROLL _Pragma("unroll")
#define HIT(i) (x[i] == 3)
#define EACH(i, n) for (int i = 0; i < n; ++i)
#define NEXT t = (t * 5 + 1) % n
#define MARK(f) f = true
enum State { kOpen, kDone };
struct Walk { bool found; int at; };
__device__ bool hit(const int *x, int i) { return x[i] == 3; }
__device__ void look(const int *x, int i, bool &found) { if (x[i] == 3) found = true; }
__device__ void look_at(const int *x, int i, bool *found) { if (x[i] == 3) *found = true; }
"""


def missed(text: str) -> object:
    """A spelling that is not understood yet."""
    return pytest.param(text, marks=pytest.mark.xfail(strict=True))


def _found(text: str) -> list[str]:
    start = "int t = threadIdx.x; bool found = false; Walk w{};"
    kernel = f"__global__ void k(int *out, const int *x, int n) {{ {start}\n{text}\n out[threadIdx.x] = t; }}"
    ported = port(SourceFile("a.cu", (HELPERS + kernel).encode()), CONTEXT, "a.hip")
    return [finding.code for finding in ported.findings if finding.code == "S107"]


INNER = "for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { found = true; break; } }"
PARTED = [
    f"while (!found) {{ {INNER} }}",
    f"while (found == false) {{ {INNER} }}",
    f"while (not found) {{ {INNER} }}",
    f"do {{ {INNER} }} while (!found);",
    f"for (; !found;) {{ {INNER} }}",
    f"for (int r = 0; !found; ++r) {{ {INNER} }}",
    f"for (int r = 0; r < n && !found; ++r) {{ {INNER} }}",
    f"for (;;) {{ {INNER} if (found) break; }}",
    f"while (true) {{ {INNER} if (found) {{ break; }} }}",
    f"while (true) {{ {INNER} if (found) {{ out[t] = 1; break; }} }}",
    f"while (true) {{ {INNER} if (!found) continue; break; }}",
    f"again: {INNER} if (!found) goto again;",
    f"while (!found) [[likely]] {{ {INNER} }}",
    f"UNROLL while (!found) {{ {INNER} }}",
    f"EACH(r, n) {{ {INNER} if (found) break; }}",
    f"while (!(found || t < 0)) {{ {INNER} }}",
    f"while (!found && t >= 0) {{ {INNER} }}",
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; if (hit(x, t)) { found = true; break; } } }",
    "while (!found) { for (int i = 0; i < x[t] && !found; ++i) { NEXT; found = HIT(t); } }",
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; found |= HIT(t); } }",
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; found = found || HIT(t); } }",
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; if (found = HIT(t)) break; } }",
    "while (!found) { int i = 0; while (i < x[t]) { NEXT; ++i; if (HIT(t)) found = true; } }",
    "while (!found) { int i = 0; do { NEXT; if (HIT(t)) { found = true; break; } } while (++i < x[t]); }",
    "while (!found) { EACH(i, x[t]) { NEXT; if (HIT(t)) { found = true; break; } } }",
    "while (!found) { UNROLL for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { found = true; break; } } }",
    missed("while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { MARK(found); break; } } }"),
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; look(x, t, found); if (found) break; } }",
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; look_at(x, t, &found); if (found) break; } }",
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; if (!HIT(t)) continue; found = true; break; } }",
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; switch (x[t]) { case 3: found = true; } } }",
    "auto done = false; while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done = true; break; } } }",
    "bool done{false}; while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done = true; break; } } }",
    "bool done(false); while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done = true; break; } } }",
    "int done = 0; while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done = 1; break; } } }",
    "char done = 0; while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done = 1; break; } } }",
    "uint8_t done = 0; while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done = 1; break; } } }",
    "unsigned done = 0; while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done = 1u; break; } } }",
    missed(
        "long done = 0; while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done = 1; break; } } }"
    ),
    "State s{}; while (s == kOpen) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { s = kDone; break; } } }",
    missed("int done = 0; while (!done) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { ++done; break; } } }"),
    missed(
        "int done = 0; while (done == 0) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { done++; break; } } }"
    ),
    "while (!w.found) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { w.found = true; break; } } }",
    "bool &f = found; while (!f) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { f = true; break; } } }",
    "while (!found) { auto go = [&] { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) found = true; } }; go(); }",
]
TOGETHER = [
    "while (!found) { for (int i = 0; i < n; ++i) { NEXT; if (x[i] == 3) { found = true; break; } } }",
    "for (int r = 0; r < n; ++r) { bool own = false; for (int i = 0; i < x[t]; ++i) if (HIT(i)) { own = true; } }",
    "while (!found) { NEXT; if (HIT(t)) found = true; }",
    f"for (int r = 0; r < n; ++r) {{ {INNER} }}",
    "for (int r = 0; r < n; ++r) { bool o = 0; for (int i = 0; i < x[t]; ++i) { if (HIT(i)) { o = true; break; } }"
    " if (o) continue; out[r] = 1; }",
    "while (!found) { for (int i = 0; i < n; ++i) { NEXT; if (HIT(t)) continue; found = x[n] == 3; } }",
    "double d = 0; while (d < 1) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { d = 2; break; } } }",
    "__shared__ int s; while (!s) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { s = 1; break; } } }",
    "Walk a, b, c = a; while (c.at < n) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { c = b; break; } } }",
    "Walk *p = &w; while (!p->found) { for (int i = 0; i < x[t]; ++i) { NEXT; if (HIT(t)) { p->found = true; } } }",
    f"{INNER} while (!found) {{ NEXT; found = HIT(t); }}",
    f"while (!found) {{ {INNER} found = t > 5; }}",
    "while (!w.found) { for (int i = 0; i < x[t]; ++i) { NEXT; w.at = t; } w.found = w.at > 3; }",
    "int sum = 0; while (sum < n) { for (int i = 0; i < x[t]; ++i) { NEXT; sum += x[t]; } }",
    "while (!found) { for (int i = 0; i < x[t]; ++i) { NEXT; __syncthreads(); if (x[n] == 3) found = true; } }",
]


@pytest.mark.parametrize("text", PARTED)
def test_lanes_that_leave_a_loop_inside_at_different_turns(text: str) -> None:
    assert _found(text) == ["S107"]


@pytest.mark.parametrize("place", ["file", "header"])
@pytest.mark.parametrize(
    ("helper", "kernel"),
    [
        (
            "__device__ void look(const int *x, int i, bool &found) { if (x[i] == 3) found = true; }",
            "for (int i = 0; i < x[t]; ++i) { ++t; look(x, t, found); }",
        ),
        ("#define EACH(i, n) for (int i = 0; i < n; ++i)", "EACH(i, x[t]) { ++t; if (x[t] == 3) found = true; }"),
        (
            "__device__ int lane_of() { return threadIdx.x & 31; }",
            "for (int i = 0; i < lane_of(); ++i) found = x[i];",
        ),
    ],
)
def test_what_a_header_has_counts_as_what_the_file_has(tmp_path: Path, helper: str, kernel: str, place: str) -> None:
    (tmp_path / "a.cuh").write_text(f"#pragma once\n{helper}\n")
    start = f"{helper}\n" if place == "file" else '#include "a.cuh"\n'
    body = f"int t = threadIdx.x; bool found = false; while (!found) {{ {kernel} }}"
    rules = tuple(rule for rule in all_rules() if rule.code == "S107")
    context = Context(
        Settings(), load_names(None, {}), load_support(None), rules, included_file=header_reader(tmp_path, ())
    )
    text = f"{start}__global__ void k(const int *x) {{ {body} }}\n"
    found = port(SourceFile("k.cu", text.encode()), context, "k.hip").findings
    assert [(finding.code, finding.kernel) for finding in found] == [("S107", "k")]


@pytest.mark.parametrize("text", TOGETHER)
def test_flags_that_need_not_be_hidden(text: str) -> None:
    assert not _found(text)
