"""L024: `template` before a name that no template arguments follow."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_SCOPE = frozenset({"::", ".", "->"})
_FIRST = "template"


class TemplateWithoutArguments(Rule):
    """`template` without template arguments

    `A::template f(p)` leaves the arguments of `f` to the call, and nvcc takes it. Clang wants a list of arguments
    behind a name with `template` since version 19. The call means the same without the word.
    """

    code = "L024"
    text = r"(?:::|\.|->)\s*template\s+[A-Za-z_]\w*\s*\("
    examples = (
        fixes(
            "template <class T> __device__ void g(T *p) { A<T>::template f(p); p->template h(1); }",
            "template <class T> __device__ void g(T *p) { A<T>::f(p); p->h(1); }",
        ),
        fixes(
            "template <class T> struct B { __device__ void g(T v) { A<T>::template f(v, 2); } };",
            "template <class T> struct B { __device__ void g(T v) { A<T>::f(v, 2); } };",
        ),
        clean("template <class T> __device__ void g(T *p) { A<T>::template f<T>(p); p->template h<1>(1); }"),
        clean("template <class T> __device__ void g(T *p) { p->template operator()<1>(); }"),
        clean("template <class T> using rebind = typename T::template other<int>;"),
        clean("template <template <class> class F, class T> struct A : F<T> {};"),
        clean("template __device__ void g(int *);"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per word."""
        tokens = unit.tokens
        for index in tokens.names.get(_FIRST, ()):
            if index == 0 or tokens.texts[index - 1] not in _SCOPE or index + 2 >= len(tokens):
                continue
            if (
                tokens.kinds[index + 1] == "i"
                and tokens.texts[index + 2] == "("
                and tokens.texts[index + 1] != "operator"
            ):
                edit = Edit(tokens.starts[index], tokens.starts[index + 1], "")
                message = f"{tokens.texts[index + 1]} has no template arguments here: clang takes no template before it"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, (edit,))
