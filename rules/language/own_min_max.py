"""L030: templates `min` and `max` of the project's own beside those that clang declares for HIP."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.heads import Head, find_heads
from porter.cpp.syntax import Tokens, split_commas
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_NAMES = frozenset({"min", "max"})


class OwnMinMax(Rule):
    """Own template `min` or `max` for the device

    CUDA has functions of these names for each type, and a template `T min(T, T)` beside them is an overload. Clang
    declares that very template for HIP's device code, and refuses another one for the device. The project's own is for
    the host alone then: the device has clang's, which is the same comparison.
    """

    code = "L030"
    triggers = _NAMES
    settles = True
    examples = (
        fixes(
            "template <typename T> __forceinline__ __host__ __device__ T min(T a, T b) { return a < b ? a : b; }",
            "template <typename T> __forceinline__ __host__ T min(T a, T b) { return a < b ? a : b; }",
        ),
        fixes(
            "template <class T>\n__device__ inline T max(T a, T b)\n{ if (a > b) return a; return b; }",
            "template <class T>\n__host__ inline T max(T a, T b)\n{ if (a > b) return a; return b; }",
        ),
        fixes(
            "template <class T> __host__ __device__ T min(const T a, T b);",
            "template <class T> __host__ T min(const T a, T b);",
        ),
        clean("template <class T> __host__ T min(T a, T b) { return a < b ? a : b; }"),
        clean("namespace own { template <class T> __device__ T min(T a, T b) { return a < b ? a : b; } }"),
        clean("struct A { template <class T> __device__ T min(T a, T b) { return a < b ? a : b; } };"),
        clean("template <class T> __device__ T min(T a, T b, T c) { return min(a, min(b, c)); }"),
        clean("template <class T> __device__ T min(const T &a, const T &b) { return a < b ? a : b; }"),
        clean("template <class T, class U> __device__ T min(T a, U b) { return a < b ? a : b; }"),
        clean("template <class T, int n> __device__ T min(T a, T b) { return a < b ? a : b; }"),
        clean("template <class T> __device__ T *min(T *a, T *b) { return *a < *b ? a : b; }"),
        clean("template <> __device__ V min(V a, V b) { return a.x < b.x ? a : b; }"),
        clean("__device__ V min(V a, V b) { return a.x < b.x ? a : b; }"),
        clean("#define MIN(n) template <class T> __device__ T n(T a, T b) { return a < b ? a : b; }\nMIN(min)"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per template."""
        tokens = unit.tokens
        for head in find_heads(tokens, "__device__"):
            name = tokens.texts[head.name_first]
            if name not in _NAMES or head.name_last != head.name_first + 1 or not _is_clangs(tokens, head):
                continue
            place = next((i for i in range(head.begin, head.name_first) if tokens.texts[i] == "__device__"), None)
            if place is not None:
                message = f"clang has this template {name} for the device: the project's is for the host"
                yield self.finding(
                    unit, unit.span(head.name_first), message, Effort.NONE, (_for_host(unit, head, place),)
                )


def _for_host(unit: Unit, head: Head, place: int) -> Edit:
    """Without `__device__`, or with `__host__` where that is not said."""
    start, end = unit.tokens.starts[place], unit.tokens.end(place)
    if "__host__" not in unit.tokens.texts[head.begin : head.name_first]:
        return Edit(start, end, "__host__")
    return Edit(start, end + (unit.source.text[end : end + 1] == " "), "")


def _is_clangs(tokens: Tokens, head: Head) -> bool:
    """Whether it is `template <class T> T name(T, T)`, outside of all namespaces and classes, and not in a macro."""
    opening = head.template
    if opening is None or head.directive is not None or next(tokens.braces_around(head.name_first), None) is not None:
        return False
    keyword, parameter, close = tokens.texts[opening + 1 : opening + 4]
    if keyword not in ("class", "typename") or close != ">" or tokens.texts[head.name_first - 1] != parameter:
        return False
    parts = list(split_commas(tokens, head.opening + 1, head.closing))
    return len(parts) == 2 and all(_is_value(tokens.texts[first:last], parameter) for first, last in parts)


def _is_value(words: list[str], parameter: str) -> bool:
    """`T`, `T a`, `const T a`."""
    words = [word for word in words if word != "const"]
    return words[:1] == [parameter] and all(word.isidentifier() for word in words) and len(words) <= 2
