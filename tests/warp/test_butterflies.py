"""Loops that leave the same in all lanes of a warp, and near misses: what a warp does as often is no divergence."""

from __future__ import annotations

import pytest

from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.rule import Settings
from porter.engine.support import load_support
from porter.names.table import load_names
from porter.source import SourceFile

RULES = tuple(rule for rule in all_rules() if rule.code == "W102")
CONTEXT = Context(Settings(), load_names(None, {}), load_support(None), RULES)
XOR = "__shfl_xor_sync(~0u, v, o)"
STEP = "v += __shfl_xor_sync(~0u, v, {});"
AFTER = ("for (int i = 0; i < v; ++i) p[i] = __ballot_sync(~0u, p[i]);", "if (v) p[0] = __ballot_sync(~0u, w);")
SAME = (
    f"for (int o = 16; o > 0; o >>= 1) v = max(v, {XOR});",
    f"for (int o = 16; o; o >>= 1) v = max(v, {XOR});",
    f"for (int o = warpSize / 2; o > 0; o /= 2) v += {XOR};",
    f"for (int o = WIDTH >> 1; o >= 1; o = o / 2) {{ v = v + {XOR}; }}",
    f"for (unsigned o = 1; o < 32u; o *= 2) v |= {XOR};",
    f"for (int o = 1; o <= 16; o <<= 1) v = v > {XOR} ? v : {XOR};",
    f"int o; for (o = 16; o != 0; o >>= 1) v += {XOR};",
    f"for (int o = 16; o > 0; o >>= 1) {{ int other = {XOR}; v = other > v ? other : v; }}",
    f"for (int o = 16; o > 0; o >>= 1) {{ int other = {XOR}; v += other; }}",
    "for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(~0u, v, o, 32));",
    f"#pragma unroll\nfor (int o = 16; o > 0; o >>= 1) {{ v = min(v, {XOR}); w += __shfl_xor_sync(~0u, w, o); }}",
    "v = most(v);",
    "v = max(w, __shfl_xor_sync(~0u, w, 16));" + "".join(STEP.format(o) for o in (8, 4, 2, 1)),
    "int b = ~w & __shfl_xor_sync(~0u, (~w), 16); "
    + "".join(f"b &= __shfl_xor_sync(~0u, b, {o});" for o in (8, 4, 2, 1))
    + "v = b;",
    "".join(STEP.format(o) for o in (16, 8, 4, 2, 1)),
    "".join(STEP.format(o) for o in ("0x1", 2, "1 << 2", 8, "WIDTH / 2")),
    "".join(f"v = max(v, __shfl_xor_sync(~0u, v, {o}));" for o in (1, 2, 4, 8, 16)),
    "v = __shfl_sync(~0u, __reduce_max_sync(~0u, v), threadIdx.x % 2);",
)
PARTED = (
    f"for (int o = 8; o > 0; o >>= 1) v = max(v, {XOR});",
    f"for (int o = 16; o > 1; o >>= 1) v = max(v, {XOR});",
    f"for (int o = 16; o > 0; o >>= 2) v = max(v, {XOR});",
    f"for (int o = 12; o > 0; o >>= 1) v = max(v, {XOR});",
    f"for (int o = n; o > 0; o >>= 1) v = max(v, {XOR});",
    f"for (int o = 1; o < 16; o *= 2) v = max(v, {XOR});",
    f"for (int o = 2; o < 32; o *= 2) v = max(v, {XOR});",
    f"for (int o = 16; o > 0; o--) {{ if (n) v = max(v, {XOR}); }}",
    "for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(~0u, v, o, 16));",
    "for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(~0u, v, 16));",
    "for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_down_sync(~0u, v, o));",
    "for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(~0u, w, o));",
    f"for (int o = 16; o > 0; o >>= 1) v = max(v, {XOR}) + threadIdx.x;",
    f"for (int o = 16; o > 0; o >>= 1) v += {XOR} + w;",
    f"for (int o = 16; o > 0; o >>= 1) {{ v = max(v, {XOR}); v += threadIdx.x; }}",
    f"for (int o = 16; o > 0; o >>= 1) {{ v = max(v, {XOR}); change(&v); }}",
    f"for (int o = 16; o > 0; o >>= 1) {{ int other = {XOR}; v = max(w, other); }}",
    f"for (int o = 16; o > 0; o >>= 1) {{ if (n > o) break; v = max(v, {XOR}); }}",
    f"for (int o = 16; o > 0; o >>= 1) v = max(v, {XOR}); v += threadIdx.x;",
    f"for (int o = 16; o > 0; o >>= 1) v = max(v, {XOR}); if (w) v = 3;",
    "v = most(v) + w;",
    "v = max(w, __shfl_xor_sync(~0u, v, 16));" + "".join(STEP.format(o) for o in (8, 4, 2, 1)),
    "v = max(v, __shfl_xor_sync(~0u, w + 1, 16));" + "".join(STEP.format(o) for o in (8, 4, 2, 1)),
    "int v2 = v + __shfl_xor_sync(~0u, v, 16); v = v2 & w;" + "".join(STEP.format(o) for o in (8, 4, 2, 1)),
    "for (int i = 0; i < n; ++i) { " + "".join(STEP.format(o) for o in (16, 8, 4, 2, 1)) + "}",
    "".join(STEP.format(o) for o in (1, 2)),
    "".join(STEP.format(o) for o in (8, 4, 2, 1)),
    "".join(STEP.format(o) for o in (16, 8, 4, 2)),
    "".join(STEP.format(o) for o in (16, 8, 4, 2, "n")),
    "".join(STEP.format(o) for o in (16, 8)) + "v = w;" + "".join(STEP.format(o) for o in (4, 2, 1)),
    "".join(STEP.format(o) for o in (16, 8, 4, 2)) + "v = max(v, __shfl_xor_sync(~0u, w, 1));",
)


def found(statement: str, after: str) -> bool:
    """Whether the vote behind a statement is reported."""
    text = f"""\
#define WIDTH 32
__device__ void change(int *p);
__device__ int most(int v) {{ for (int o = 16; o > 0; o >>= 1) v = max(v, {XOR}); return v; }}
__global__ void k(int *p, int n) {{
  int v = p[threadIdx.x], w = p[threadIdx.x + 1];
  {statement}
  {after}
}}
"""
    done = port(SourceFile("a.cu", text.encode()), CONTEXT, "a.hip")
    return any("__ballot_sync" in finding.message for finding in done.findings)


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("statement", SAME)
def test_lanes_stay_together(statement: str, after: str) -> None:
    assert not found(statement, after)


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("statement", PARTED)
def test_lanes_part(statement: str, after: str) -> None:
    assert found(statement, after)
