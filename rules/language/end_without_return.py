"""L023: functions with a result whose end may be reached without a `return`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.endings import OpenEnd, open_ends
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_PLAIN = re.compile(
    r"bool|char|short|int|long|float|double|size_t|ssize_t|ptrdiff_t|u?int(?:8|16|32|64|ptr)_t|uchar|ushort|uint|ulong"
    r"|u?(?:char|short|int|long|longlong)[1-4]|(?:float|double)[1-4]|half2?|__half2?|__nv_bfloat162?|dim3"
)
"""Types whose value a `return {}` makes."""
_SIGNS = frozenset({"unsigned", "signed"})
_ASSIGNS = re.compile(r"operator(?:[-+*/%&|^]|<<|>>)?=|operator(?:\+\+|--)")


class EndWithoutReturn(Rule):
    """End of a function with a result without `return`

    nvcc warns, and returns. Clang takes it that such an end is never reached, as the standard allows: it drops the
    branch that leads there, with the stores in it, and the condition of that branch counts as known. A helper that
    stores and whose result nobody reads so stores something else. A `return {}` stands there then; `return *this` in
    an operator that assigns. `return;` in such a function, which nvcc takes as well, gets a value.
    """

    code = "L023"
    text = "__device__|DEVICE"
    examples = (
        fixes(
            """
            __device__ bool f(int *p, int a)
            {
                if (a < 3) {
                    return true;
                }
                p[1] = 5;
            }
            """,
            """
            __device__ bool f(int *p, int a)
            {
                if (a < 3) {
                    return true;
                }
                p[1] = 5;
                return {};
            }
            """,
        ),
        fixes(
            "__device__ inline int f(int *p) { if (*p) return; *p = 1; }",
            "__device__ inline int f(int *p) { if (*p) return {}; *p = 1; return {}; }",
        ),
        fixes(
            "struct A { int x; __device__ A &operator=(const A &b) { x = b.x; } };",
            "struct A { int x; __device__ A &operator=(const A &b) { x = b.x; return *this; } };",
        ),
        fixes(
            "__device__ float4 *f(int a, float4 *p) { switch (a) { case 1: return p; default: break; } }",
            "__device__ float4 *f(int a, float4 *p) { switch (a) { case 1: return p; default: break; } return {}; }",
        ),
        fixes(
            "__device__ unsigned f(int *p) { for (int i = 0; i < 3; i++) return p[i]; }",
            "__device__ unsigned f(int *p) { for (int i = 0; i < 3; i++) return p[i]; return {}; }",
        ),
        fixes(
            "__device__ int f(int *p) { while (true) { if (*p) break; } }",
            "__device__ int f(int *p) { while (true) { if (*p) break; } return {}; }",
        ),
        fixes("__device__ void *f(int *p) { *p = 1; }", "__device__ void *f(int *p) { *p = 1; return {}; }"),
        fixes("__device__ int f()\n{\n}\n", "__device__ int f()\n{\n    return {};\n}\n"),
        reports("template <class T> __device__ T f(T *p) { *p = 1; }", effort=Effort.REVIEW),
        reports("__device__ T f(T *p) { if (p) { return; } return *p; }", effort=Effort.MANUAL),
        clean("__device__ void f(int *p) { if (*p) return; *p = 1; }"),
        clean("__device__ int f(int a) { if (a) return 1; else if (a > 2) { return 2; } else { return 3; } }"),
        clean("__device__ int f(int a) { switch (a) { case 1: { return 2; } default: return 3; } }"),
        clean("__device__ int f(int a) { while (true) { switch (a) { case 1: break; } if (a++) return a; } }"),
        clean("__device__ int f(int a) { for (;;) { if (a++ > 4) return a; } }"),
        clean("__device__ int f(int a) { do { if (a++ > 4) return a; } while (1); }"),
        clean("__device__ int f(int a) { if (a) return 1; __trap(); }"),
        clean("__device__ int f(int a) { if (a) return 1; porter::trap(); }"),
        clean('__device__ int f(int a) { if (a) return 1; asm volatile("trap;"); }'),
        clean("__device__ int f(int a) { if (a) return 1; NOT_REACHED(); }"),
        clean("__device__ int f(int a) {\n#if FAST\n    return a;\n#else\n    return a + 1;\n#endif\n}"),
        clean("__device__ int f(int a) { if constexpr (N) return 1; else if constexpr (!N) { return 2; } }"),
        clean("template <class T> __device__ T f(int a) { switch (a) { case 1: return T(1); case 2: return T(2); } }"),
        clean("struct A { __device__ A() { x = 1; } __device__ ~A() { x = 0; } int x; };"),
        clean("struct A { INTERFACE(A)\n__device__ A(int n = 0) { x = n; } int x; };"),
        clean("struct A { interface(A)\n__device__ A(int n) : x(n) { check(n); } int x; };"),
        clean("struct A { interface(A)\n__device__ A(int n) noexcept : x(n) { check(n); } int x; };"),
        reports("template <class T> EXPORT(a) __device__ T f(T *p) { *p = 1; }", effort=Effort.REVIEW),
        clean("__device__ auto f(int *p) { *p = 1; }"),
        clean("template <class T> __device__ std::enable_if_t<std::is_void_v<T>> f(T *p) { g(p); }"),
        clean("template <class T> __device__ typename std::enable_if<is<T, int>::value>::type f(T *p) { g(p); }"),
        clean("template <class T> __device__ std::enable_if_t<(sizeof(T) > 4) && is<T, A<B<T>>>> f(T *p) { g(p); }"),
        reports("template <class T> __device__ std::enable_if_t<is<T>, T> f(T *p) { g(p); }", effort=Effort.REVIEW),
        clean("struct A { __device__ operator int() const { if (x) return 1; x = 2; } };"),
        clean("__device__ void *f(int *p) { if (p) return p; throw 1; }"),
        clean("__device__ int f(int *p) { auto set = [&] { if (*p) return; *p = 2; }; set(); return 1; }"),
        clean("bool f(int *p) { *p = 1; }"),
        clean("#define F(n) __device__ int n(int *p) { *p = 1; }"),
        clean("__device__ int f(int *p);"),
        clean("__device__ int f(int *p) { *p = 1;"),
        clean(
            """
            #ifdef CHECKED
            __device__ void f(int *p, int *q)
            #else
            __device__ void f(int *p)
            #endif
            {
                *p = 1;
            }
            """
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per function."""
        for end in open_ends(unit.tokens):
            value = _value(end)
            if end.runs_out and _is_there(unit, end, value):
                continue
            if end.returns or value is not None or not end.runs_out_of_cases:
                yield self._found(unit, end, value)

    def _found(self, unit: Unit, end: OpenEnd, value: str | None) -> Finding:
        tokens, name = unit.tokens, end.name
        span = unit.span(end.head.name_first)
        if value is None:
            message = f"{name} has a result, and its end may be reached without one: clang takes it for never reached"
            return self.finding(unit, span, message, Effort.MANUAL if end.returns else Effort.REVIEW)
        edits = [Edit(tokens.end(one), tokens.end(one), f" {value}") for one in end.returns]
        if end.runs_out:
            edits.append(_at_end(unit, end, value))
        message = f"clang takes the end of {name}, which has a result, for never reached: it returns there now"
        return self.finding(unit, span, message, Effort.NONE, tuple(edits))


def _value(end: OpenEnd) -> str | None:
    """What a `return` may say without a look at the type; None where that is not known."""
    if "&" in end.kind:
        is_member = _ASSIGNS.fullmatch(end.name.rpartition("::")[2]) and end.parameters <= 1
        return "*this" if is_member else None
    if "*" in end.kind or all(word in _SIGNS or _PLAIN.fullmatch(word) for word in end.kind):
        return "{}"
    return None


def _is_there(unit: Unit, end: OpenEnd, value: str | None) -> bool:
    """Whether `; return value;` ends it already, behind what is no whole statement: `f<<<} return {}; }`."""
    before = unit.source.text[: unit.tokens.starts[end.head.end - 1]].rstrip()
    rest = before.removesuffix(f"return {value};")
    return rest != before and rest.rstrip()[-1:] in (";", "}")


def _at_end(unit: Unit, end: OpenEnd, value: str) -> Edit:
    """A `return` before the closing brace, on a line of its own where the brace has one."""
    text, brace = unit.source.text, unit.tokens.starts[end.head.end - 1]
    start = text.rfind("\n", 0, brace) + 1
    if text[start:brace].strip():
        return Edit(brace, brace, f"return {value}; " if text[brace - 1].isspace() else f" return {value}; ")
    first = brace if end.last is None else unit.tokens.starts[end.last]
    line = text[text.rfind("\n", 0, first) + 1 : first]
    indent = f"{text[start:brace]}    " if end.last is None else line[: len(line) - len(line.lstrip())]
    return Edit(start, start, f"{indent}return {value};{unit.source.newline}")
