"""R001: kernels passed to functions that want an address in HIP."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import template_end
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports

_KERNEL_ARGUMENT = {
    "cudaFuncGetAttributes": 1,
    "cudaFuncGetName": 1,
    "cudaFuncSetAttribute": 0,
    "cudaFuncSetCacheConfig": 0,
    "cudaFuncSetSharedMemConfig": 0,
    "cudaLaunchKernel": 0,
    "cudaOccupancyAvailableDynamicSMemPerBlock": 1,
}
_CASTS = ("(const void", "(void", "reinterpret_cast<", "static_cast<", "nullptr", "NULL", "0", '"')


class KernelAsAddress(Rule):
    """Kernel passed where HIP wants an address

    CUDA's runtime has templates that take a kernel by its name (`cudaFuncSetAttribute(kernel, ...)`). HIP has only the
    C functions with a `const void *`, and a function does not convert to that by itself, so the argument is cast.
    """

    code = "R001"
    triggers = frozenset(_KERNEL_ARGUMENT)
    settles = True
    answers = triggers - {"cudaFuncGetName"}
    examples = (
        fixes(
            "auto e = cudaFuncSetCacheConfig(kernel<4, float>, preference);",
            "auto e = cudaFuncSetCacheConfig(reinterpret_cast<const void *>(kernel<4, float>), preference);",
        ),
        fixes(
            "void f(cudaFuncAttributes *a) { cudaFuncGetAttributes(a, &k); }",
            "void f(cudaFuncAttributes *a) { cudaFuncGetAttributes(a, reinterpret_cast<const void *>(&k)); }",
        ),
        clean("void f() { cudaFuncSetCacheConfig((const void *)kernel, cudaFuncCachePreferL1); }"),
        reports("void f() { cudaFuncSetCacheConfig(\n#ifdef A\n  kernel\n#else\n  other\n#endif\n  , 1); }"),
        clean(
            "void f() { cudaFuncSetCacheConfig(\n#ifdef __HIP_PLATFORM_AMD__\n  (const void *)kernel,\n"
            "#else\n  kernel,\n#endif\n  cudaFuncCachePreferL1); }"
        ),
        clean("void f(const void *k) { cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1); }"),
        clean("void f() { mine::cudaFuncSetCacheConfig(kernel, 1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        for name, place in _KERNEL_ARGUMENT.items():
            for index in unit.occurrences(name):
                arguments = unit.arguments(index)
                own = _without_conditions(unit, arguments[place]) if place < len(arguments) else None
                if own is not None and _needs_cast(unit, own):
                    span = _with_template_arguments(unit, own)
                    edits = (
                        Edit(span.start, span.start, "reinterpret_cast<const void *>("),
                        Edit(span.end, span.end, ")"),
                    )
                    message = f"{name} takes a const void * in HIP"
                    if unit.tokens.directives_in(span.start, span.end):
                        message += "; not cast: the argument has `#if` lines in it"
                        yield self.finding(unit, span, message, Effort.MANUAL)
                    else:
                        yield self.finding(unit, span, message, Effort.NONE, edits)


def _without_conditions(unit: Unit, span: Span) -> Span:
    """The argument without the `#if` lines before it: what is written there is no part of it."""
    tokens = unit.tokens
    first = tokens.at(span.start)
    while first < len(tokens) and (directive := tokens.directive_of(first)) is not None:
        first = directive.last
    return Span(min(tokens.starts[first], span.end) if first < len(tokens) else span.end, span.end)


def _with_template_arguments(unit: Unit, span: Span) -> Span:
    """The argument up to its end where a comma of its template arguments cut it."""
    tokens = unit.tokens
    first, last = tokens.at(span.start), tokens.at(span.end)
    opened = next((index for index in range(first, last) if tokens.texts[index] == "<"), None)
    end = template_end(tokens, opened, len(tokens)) if opened is not None else None
    return Span(span.start, max(span.end, tokens.end(end - 1))) if end is not None else span


def _needs_cast(unit: Unit, span: Span) -> bool:
    text = unit.slice(span)
    return bool(text) and not text.startswith(_CASTS) and not _is_address(unit, text)


def _is_address(unit: Unit, name: str) -> bool:
    """Whether a variable of this name is declared as a `void *` somewhere in the file."""
    texts = unit.tokens.texts
    return any(texts[index - 2 : index] == ["void", "*"] for index in unit.tokens.names.get(name, ()) if index > 1)
