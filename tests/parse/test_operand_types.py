"""Types of operands that need no clang, and those that do."""

from __future__ import annotations

import pytest

from porter.cpp.lex import lex
from porter.cpp.operand_types import operand_type

BODY = (
    "#define MOST 32\n#define WIDE 32u\n#define SUM 1 + 1\n#define TWO 1\n#undef TWO\n#define TWO 2ul\n"
    "#define CALL() 1\n"
    "constexpr int kSize = 3; constexpr long kLong = 4; int total; constexpr unsigned kOne = 1; "
    "void before() { constexpr int kOne = 2; } template <int N, class K> "
    "void f(int n, const T &t, float *p, unsigned u, T w) { const int m = 3; auto a = n; int q, r; "
    "float s = 0; { int s = 1; } unsigned long v = 2; float4 c; int32_t i; float x; char b; size_t z; Own4 o; "
    "const int *__restrict__ grid; __shared__ double shared[32]; int twice[2]; { float *twice; } unsigned char *bytes; "
    "float *many[2]; int factor = 2; int half = 3; a = n * factor; a = 2 * half; T *pointer; "
    "use(OPERAND); }"
)


@pytest.mark.parametrize(
    ("operand", "wanted"),
    [
        ("n", "int"),
        ("m", "int"),
        ("32", "int"),
        ("-1", "int"),
        ("0.5f", "float"),
        ("1.0", "double"),
        ("threadIdx.x", "unsigned int"),
        ("t", "T"),
        ("w", "T"),
        ("p", None),
        ("a", None),
        ("r", None),
        ("s", None),
        ("u", None),
        ("v", None),
        ("32u", None),
        ("4294967296", None),
        ("unknown", None),
        ("i", "int"),
        ("c.y", "float"),
        ("o.y", None),
        ("n + 1", "int"),
        ("n - -1", "int"),
        ("(n - 1) * i", "int"),
        ("n * x", "float"),
        ("x * 2.0", "double"),
        ("threadIdx.x + n", "unsigned int"),
        ("int(x)", "int"),
        ("static_cast<float>(n)", "float"),
        ("static_cast<float>(n) + 1", "float"),
        ("(x)", "float"),
        ("b + 1", None),
        ("z - 1", "size_t"),
        ("kSize", "int"),
        ("n - kSize", "int"),
        ("N", "int"),
        ("K", None),
        ("kLong", None),
        ("kOne", None),
        ("total", None),
        ("(float)p[n]", "float"),
        ("(float)o.x", "float"),
        ("(n)", "int"),
        ("(T)n", None),
        ("n < 1", None),
        ("n ? 1 : 2", None),
        ("T(n) + 1", None),
        ("w + w", None),
        ("f(n) + 1", None),
        ("n +", None),
        ("n << 1", None),
        ("p[0]", "float"),
        ("p[n + 1]", "float"),
        ("p[0] + 1", "float"),
        ("grid[n]", "int"),
        ("grid[n][n]", None),
        ("shared[n]", "double"),
        ("twice[n]", None),
        ("bytes[n]", None),
        ("many[n]", None),
        ("o[n]", None),
        ("factor", "int"),
        ("half", "int"),
        ("pointer", None),
        ("min(n, m)", "int"),
        ("max(n, min(m, 3))", "int"),
        ("min(n, x)", None),
        ("min(n, m, n)", None),
        ("min(n, m) + x", "float"),
        ("g(n, m)", None),
        ("::max(n, 0)", "int"),
        ("::max(w, w)", None),
        ("__shfl_xor_sync(~0u, w, 1)", None),
        ("__shfl_xor_sync(~0u, p[n], 1)", "float"),
        ("__shfl_sync(~0u, n, 1, 32)", "int"),
        ("porter::shfl_down_sync(~0u, n, 1)", "int"),
        ("other::shfl_down_sync(~0u, n, 1)", None),
        ("__shfl(n, 1)", None),
        ("MOST", "int"),
        ("n - MOST", "int"),
        ("WIDE", None),
        ("SUM", None),
        ("TWO", None),
        ("CALL", None),
    ],
)
def test_only_what_is_plain_is_answered(operand: str, wanted: str | None) -> None:
    """A variable declared by one word and once, a literal, an index."""
    tokens = lex(BODY.replace("OPERAND", operand))
    first = tokens.names["use"][0] + 2
    last = len(tokens) - 3
    assert operand_type(tokens, first, last, tokens.names["template"][0]) == wanted
