"""L001: the `register` keyword."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_AFTER_REGISTER_VARIABLE = ("asm", "__asm__", "__asm")


class RegisterStorage(Rule):
    """`register` storage class

    C++17 has no `register` any more: nvcc accepts it with a warning, clang, and so HIP's compiler, does not. The
    keyword never had an effect on GPU code and is removed. C files keep it.
    """

    code = "L001"
    triggers = frozenset({"register"})
    settles = True
    hazards = ()
    examples = (
        fixes(
            "__global__ void k(float *p) { register float x = p[0]; p[1] = x; }",
            "__global__ void k(float *p) { float x = p[0]; p[1] = x; }",
            path="a.cuh",
        ),
        fixes("void f(register int n);", "void f(int n);", path="a.cpp"),
        clean("void f(register int n);", path="a.c"),
        clean('register long sp asm("rsp");', path="a.cpp"),
        fixes("#define N register int n", "#define N int n", path="a.cpp"),
        clean("#define register\nint r = o.register;", path="a.cpp"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per keyword in code."""
        if unit.source.path.endswith(".c"):
            return
        for index in unit.tokens.names.get("register", ()):
            if self._is_storage_class(unit, index):
                span = unit.span(index)
                edits = (Edit(span.start, unit.tokens.starts[index + 1], ""),)
                yield self.finding(unit, span, "C++17 has no register variables", Effort.NONE, edits)

    @staticmethod
    def _is_storage_class(unit: Unit, index: int) -> bool:
        tokens = unit.tokens
        directive = tokens.directive_of(index)
        if directive is not None and (directive.name != "define" or directive.first == index):
            return False
        if not unit.is_free(index) or index + 1 >= len(tokens):
            return False
        between = unit.slice(Span(tokens.end(index), tokens.starts[index + 1]))
        if between.strip() or tokens.kinds[index + 1] != "i":
            return False
        rest = tokens.texts[index + 1 : index + 8]
        end = next((place for place, text in enumerate(rest) if text in (";", "=", ",", ")")), len(rest))
        return not any(word in _AFTER_REGISTER_VARIABLE for word in rest[:end])
