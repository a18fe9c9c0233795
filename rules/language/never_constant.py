"""L027: functions that are `constexpr`, and can never be constant."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_CAST = "reinterpret_cast"
_CHOOSES = frozenset({"if", "?", "&&", "||", "for", "while", "do", "switch", "goto", "try", "and", "or", "consteval"})
_INLINE = frozenset({"inline", "__inline__", "__inline", "__forceinline__", "static"})
_ENDS = frozenset({";", "{", "}", "="})
_BEFORE = frozenset({";", "{", "}", ""})


class NeverConstant(Rule):
    """`constexpr` function that can never be constant

    A body whose only way leads through `reinterpret_cast` has no value that is known when the program is compiled. nvcc
    takes the word `constexpr` all the same, clang does not ("constexpr function never produces a constant expression",
    an error before C++23). It goes; what was `inline` by it alone is `inline` then. Templates are not asked by clang.
    """

    code = "L027"
    text = _CAST
    triggers = frozenset({"constexpr"})
    examples = (
        clean("constexpr float f(int a) { return a ? *reinterpret_cast<float *>(&a) : 0.f; }"),
        clean("template <class T> constexpr T f(int a) { return *reinterpret_cast<T *>(&a); }"),
        clean("constexpr int n = 3;\\nint *f(char *p) { return reinterpret_cast<int *>(p); }"),
        clean(
            "template <int N> int f(float a) { if constexpr (N > 1) return *reinterpret_cast<int *>(&a); return 0; }"
        ),
        clean("auto g = [](float a) constexpr { return *reinterpret_cast<int *>(&a); };"),
        clean("constexpr int f(int a) { if (a) return 1; return *reinterpret_cast<int *>(&a); }"),
        fixes(
            "template <> __device__ inline constexpr half f() { short v = 1; return *reinterpret_cast<half *>(&v); }",
            "template <> __device__ inline half f() { short v = 1; return *reinterpret_cast<half *>(&v); }",
        ),
        fixes(
            "__device__ constexpr int f(float a) { return *reinterpret_cast<int *>(&a); }",
            "__device__ inline int f(float a) { return *reinterpret_cast<int *>(&a); }",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per function."""
        tokens = unit.tokens
        for index in tokens.names.get("constexpr", ()):
            body = _body(unit, index)
            if body is None or not self._is_never_constant(unit, *body) or _is_template(unit, index):
                continue
            start, end = tokens.starts[index], tokens.starts[index + 1]
            head = _head(unit, index, body[0])
            edit = Edit(start, end, "") if not _INLINE.isdisjoint(head) else Edit(start, tokens.end(index), "inline")
            message = (
                "constexpr goes: the function has no constant value for a reinterpret_cast, and clang refuses that"
            )
            yield self.finding(unit, unit.span(index), message, Effort.NONE, (edit,))

    @staticmethod
    def _is_never_constant(unit: Unit, opening: int, closing: int) -> bool:
        inside = frozenset(unit.tokens.texts[opening:closing])
        return _CAST in inside and _CHOOSES.isdisjoint(inside)


def _body(unit: Unit, index: int) -> tuple[int, int] | None:
    """The braces of the function that a `constexpr` begins."""
    tokens = unit.tokens
    place = index + 1
    if tokens.texts[index - 1] == "if":
        return None
    while place < len(tokens) and tokens.texts[place] not in _ENDS and tokens.texts[place] != "(":
        place += 1
    if place >= len(tokens) or tokens.texts[place] != "(" or place not in tokens.partner:
        return None
    place = tokens.partner[place] + 1
    while tokens.texts[place : place + 1] in (["const"], ["noexcept"]):
        place += 1
    if tokens.texts[place : place + 1] != ["{"] or place not in tokens.partner:
        return None
    return place, tokens.partner[place]


def _begin(unit: Unit, index: int) -> int:
    """The first token of the declaration."""
    while index > 0 and unit.tokens.texts[index - 1] not in _BEFORE and unit.tokens.directive_of(index - 1) is None:
        index -= 1
    return index


def _is_template(unit: Unit, index: int) -> bool:
    """Whether the declaration is a template, and no specialization of one."""
    first = _begin(unit, index)
    begins = unit.tokens.texts[first : first + 3]
    return begins[:1] == ["template"] and begins != ["template", "<", ">"]


def _head(unit: Unit, index: int, opening: int) -> frozenset[str]:
    return frozenset(unit.tokens.texts[_begin(unit, index) : opening])
