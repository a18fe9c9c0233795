"""A020: names of the project's that a macro makes of CUDA's names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from porter.cpp.syntax import Tokens, split_commas
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_NAME = r"cu(?:da|blas|blasLt|fft|rand|sparse|solver|solverDn)?[A-Z]\w*"
_CANDIDATE = re.compile(rf"^(?:\w+{_NAME}|{_NAME}_\w*)$", re.MULTILINE)
"""What may be made of a name of CUDA's."""
_PASTE = re.compile(r"(?:\b(\w+)\s*##\s*)?\b([A-Za-z_]\w*)\b(?:\s*##\s*(\w+)\b)?")


class _Maker(NamedTuple):
    """A macro that makes a name: what stands before and after which of its arguments."""

    argument: int
    before: str
    after: str


class MadeName(Rule):
    """Name that a macro makes of CUDA's

    `#define LOAD(name) decltype(&name) p_##name` declares `p_cuMemAlloc` where it is given `cuMemAlloc`. HIP's name is
    another, and so is what the macro makes of it: `LOAD(hipMalloc)` declares `p_hipMalloc`, and the uses follow. Where
    the port has a function of its own, in a namespace, the macro can make no name of it.
    """

    code = "A020"
    text = rf"\w{_NAME}|\b{_NAME}_"
    in_sight = r"##"
    examples = (
        fixes(
            "#define LOAD(name) static decltype(&name) p_##name\nLOAD(cuMemAlloc);\n"
            "int f(CUdeviceptr *p) { return p_cuMemAlloc(p, 4); }",
            "#define LOAD(name) static decltype(&name) p_##name\nLOAD(cuMemAlloc);\n"
            "int f(CUdeviceptr *p) { return p_hipMalloc(p, 4); }",
        ),
        fixes(
            "#define LOAD(t, name) t (*lib_ ## name ## _ptr)(int)\nLOAD(int, cudaSetDevice);\n"
            "int f() { return (*lib_cudaSetDevice_ptr)(0); }",
            "#define LOAD(t, name) t (*lib_ ## name ## _ptr)(int)\nLOAD(int, cudaSetDevice);\n"
            "int f() { return (*lib_hipSetDevice_ptr)(0); }",
        ),
        reports(
            "#define LOAD(name) static decltype(&name) p_##name\nLOAD(cuLaunchKernelEx);\nauto f = p_cuLaunchKernelEx;"
        ),
        clean("#define LOAD(name) static int p_##name\nLOAD(mine);\nint f() { return p_mine + p_cuMemAlloc; }"),
        clean("#define SHOW(name) #name\nconst char *f() { return SHOW(cuMemAlloc); } int p_cuMemAlloc;"),
        clean("#define LOAD(name) static int p_##name\nint f() { return p_cuMemAlloc; }"),
        clean("#define CALL(name) mine_##name()\nint mine_cuInit(); int f() { return CALL(Init); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per use of a name that a macro makes."""
        for made, (given, new) in sorted(_made(unit).items()):
            for index in unit.tokens.names.get(made, ()):
                if not unit.is_for_cuda(index):
                    continue
                span = unit.span(index)
                if new is None:
                    message = f"{made} is made by a macro of {given}, in whose place the port has a name in a namespace"
                    yield self.finding(unit, span, message, Effort.MANUAL)
                else:
                    message = f"{made} is made by a macro of {given}: it is {new} in the port"
                    yield self.finding(unit, span, message, Effort.NONE, (Edit(span.start, span.end, new),))


def _made(unit: Unit) -> dict[str, tuple[str, str | None]]:
    """What macros make of CUDA's names in the file and in the headers that it includes, and what of HIP's."""
    words = "\n".join(name for name in unit.tokens.names if name not in unit.names)
    if _CANDIDATE.search(words) is None:
        return {}
    everywhere = tuple(unit.program.all_tokens)
    makers: dict[str, _Maker] = {}
    for tokens in everywhere:
        makers |= dict(_makers(tokens))
    found: dict[str, tuple[str, str | None]] = {}
    for tokens in everywhere if makers else ():
        for name in makers.keys() & tokens.names.keys():
            for given in _given(tokens, name, makers[name].argument):
                new = _in_port(unit, given)
                if new != given:
                    maker = makers[name]
                    made = maker.before + given + maker.after
                    found[made] = given, None if new is None else maker.before + new + maker.after
    return found


def _makers(tokens: Tokens) -> Iterator[tuple[str, _Maker]]:
    for directive in tokens.directives:
        text = tokens.text[directive.start : directive.end] if directive.name == "define" else ""
        if "##" not in text or tokens.texts[directive.first + 1] != "(":
            continue
        closed = tokens.partner.get(directive.first + 1, directive.first)
        names = [tokens.texts[a] for a, _ in split_commas(tokens, directive.first + 2, closed)]
        for match in _PASTE.finditer(text, text.find(")") + 1):
            before, name, after = match[1] or "", match[2], match[3] or ""
            if name in names and before not in names and after not in names and before + after:
                yield tokens.texts[directive.first], _Maker(names.index(name), before, after)


def _given(tokens: Tokens, macro: str, argument: int) -> Iterator[str]:
    """The single words that a macro is given as one of its arguments."""
    for index in tokens.names[macro]:
        closed = tokens.partner.get(index + 1) if tokens.texts[index + 1] == "(" else None
        if closed is None:
            continue
        arguments = split_commas(tokens, index + 2, closed)
        if argument < len(arguments) and arguments[argument][1] - arguments[argument][0] == 1:
            yield tokens.texts[arguments[argument][0]]


def _in_port(unit: Unit, name: str) -> str | None:
    """What a name is in the port; None: one in a namespace."""
    support = unit.support.get(name)
    if support is not None and not support.call:
        return None if "::" in support.name else support.name
    row = unit.names.get(name)
    return name if row is None or row.hip is None else row.hip
