"""C040: `[[attributes]]` behind CUDA's qualifiers."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes

_QUALIFIERS = frozenset(
    {
        *("__device__", "__host__", "__global__", "__forceinline__", "__noinline__"),
        *("__constant__", "__shared__", "__managed__"),
    }
)
_BEFORE = _QUALIFIERS | {
    *("static", "inline", "constexpr", "extern", "explicit", "virtual", "friend", "__inline__", "__restrict__"),
}


class AttributeAfterQualifier(Rule):
    """`[[attribute]]` behind `__device__`

    `__device__ [[nodiscard]] int f();` compiles with nvcc. For clang, and so for HIP's compiler, a list of attributes
    comes before everything else of a declaration: "an attribute list cannot appear here". It is moved there, which
    means the same for both.
    """

    code = "C040"
    dialect = Dialect.BOTH
    triggers = _QUALIFIERS
    text = r"\[\s*\["
    examples = (
        fixes(
            "struct S { __device__ [[nodiscard]] bool empty() const; };",
            "struct S { [[nodiscard]] __device__ bool empty() const; };",
        ),
        fixes(
            'template <class T> static __global__ [[deprecated("old")]] void k(T *p) { p[p[0]] = 1; }',
            'template <class T> [[deprecated("old")]] static __global__ void k(T *p) { p[p[0]] = 1; }',
        ),
        clean("[[nodiscard]] __host__ __device__ int f(int *p) { return p[0]; }"),
        clean("auto f = [] __device__ (int i) { return i; }; __device__ int a[2]; int b = x[[] { return 1; }()];"),
        clean("__device__ int a[2]; void g() { auto h = [=] __device__ { return [] { return 1; }(); }; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per list."""
        tokens = unit.tokens
        for name in sorted(_QUALIFIERS & tokens.names.keys()):
            for index in tokens.names[name]:
                end = tokens.partner.get(index + 1)
                if tokens.texts[index + 1 : index + 3] != ["[", "["] or end is None or tokens.texts[end - 1] != "]":
                    continue
                first = index
                while first > 0 and tokens.texts[first - 1] in _BEFORE:
                    first -= 1
                span = unit.span(index + 1, end)
                start, after = tokens.starts[first], tokens.starts[end + 1]
                edits = (
                    Edit(start, start, f"{unit.source.text[span.start : span.end]} "),
                    Edit(span.start, after, ""),
                )
                message = f"clang takes attributes before {name}, not behind it"
                yield self.finding(unit, span, message, Effort.NONE, edits)
