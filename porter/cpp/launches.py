"""Kernel launches read from the tokens: `k<<<...>>>(...)`, the runtime's launch calls, and HIP's own form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from porter.cpp.brackets import closing, split_commas, template_start, written
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.model import Launch, Span
from porter.source import SourceFile

_LONGEST_CONFIGURATION = 400
_SCOPE = re.compile(r"::|\.")
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "HIP_KERNEL_NAME"})

_CALLS = {
    "cudaLaunchKernel": (0, 1, 2, 4, 5),
    "cudaLaunchCooperativeKernel": (0, 1, 2, 4, 5),
    "hipLaunchKernel": (0, 1, 2, 4, 5),
    "hipLaunchCooperativeKernel": (0, 1, 2, 4, 5),
    "hipLaunchKernelGGL": (0, 1, 2, 3, 4),
}
"""Launch function -> places of kernel, grid, block, shared bytes and stream among its arguments."""
_CONFIGURED = {
    "cudaLaunchKernelEx": 1,
    "cudaLaunchKernelExC": 1,
    "hipLaunchKernelExC": 1,
    "hipLaunchKernelEx": 1,
    "launch_kernel_ex": 1,
    "launch_kernel_ex_c": 1,
}
_MODULE = frozenset({"cuLaunchKernel", "cuLaunchCooperativeKernel", "hipModuleLaunchKernel"})


def find_launches(tokens: Tokens, path: str, source: SourceFile) -> tuple[Launch, ...]:
    """Every launch site of a file, in macros and inactive branches too."""
    key = "launches", path
    known = tokens.memo.get(key)
    if known is None:
        known = tokens.memo[key] = tuple(sorted(_launches(tokens, path, source), key=lambda launch: launch.span))
    return cast("tuple[Launch, ...]", known)


def _launches(tokens: Tokens, path: str, source: SourceFile) -> Iterator[Launch]:
    yield from _chevrons(tokens, path, source)
    for name in (*_CALLS, *_CONFIGURED, *_MODULE):
        for index in tokens.names.get(name, ()):
            launch = _call(tokens, index, path, source)
            if launch is not None:
                yield launch


def base_name(expression: str) -> str:
    """The name a kernel expression ends in: `ns::k<float, 4>` -> `k`, `A<int>::template k<(N > 2)>` -> `k`."""
    plain: list[str] = []
    rounds = angles = 0
    for character in expression.replace("->", ".").lstrip("(&* "):
        rounds += (character == "(") - (character == ")")
        if rounds == 0 and character in "<>":
            angles = max(0, angles + (1 if character == "<" else -1))
        elif rounds == angles == 0:
            plain.append(character)
    return _SCOPE.split("".join(plain))[-1].removeprefix("template ").strip(")&* ")


def launched_kernels(tokens: Tokens, launch: Launch, kernels: frozenset[str]) -> tuple[str, ...]:
    """Which of the named kernels a launch can start; a variable stands for the kernels assigned to it."""
    name = base_name(launch.kernel)
    if name in kernels:
        return (name,)
    assigned: dict[str, None] = {}
    for index in tokens.names.get(name, ()):
        if tokens.texts[index + 1] in ("=", "{"):
            for text in _until_semicolon(tokens, index + 2):
                if text in kernels:
                    assigned[text] = None
    return tuple(assigned)


def _until_semicolon(tokens: Tokens, index: int) -> Iterator[str]:
    for text in tokens.texts[index : index + 60]:
        if text == ";":
            return
        yield text


def _chevrons(tokens: Tokens, path: str, source: SourceFile) -> Iterator[Launch]:
    for index in tokens.launches:
        if index == 0:
            continue
        directive = tokens.directive_of(index)
        low, high = (directive.first, directive.last) if directive else (0, len(tokens))
        end = configuration_end(tokens, index, high)
        if end is None:
            continue
        first, kernel = _kernel_before(tokens, index, low)
        if not kernel:
            continue
        values = [written(tokens, a, b) for a, b in split_commas(tokens, index + 1, end)]
        grid, block, shared, stream = (*values[:4], *_DEFAULTS[len(values[:4]) :])
        called = closing(tokens, end + 1, high) if tokens.texts[end + 1] == "(" else None
        span = Span(tokens.starts[first], tokens.end(end if called is None else called))
        yield Launch(kernel, grid, block, shared, stream, path, source.position(span.start)[0], span)


_DEFAULTS = ("", "", "0", "0")


def configuration_end(tokens: Tokens, index: int, high: int) -> int | None:
    """Index of the `>>>` that closes the `<<<` at `index`; None when it is no launch, or does not end before `high`."""
    position = index + 1
    high = min(high, index + _LONGEST_CONFIGURATION)
    while position < high:
        text = tokens.texts[position]
        if text == ">>>":
            return position
        if text in ("(", "[", "{"):
            position = closing(tokens, position, high) or position
        elif text in (";", "}", "<<<"):
            return None
        position += 1
    return None


def _kernel_before(tokens: Tokens, index: int, low: int) -> tuple[int, str]:
    """First token and text of the kernel expression that ends before `index`."""
    texts, kinds = tokens.texts, tokens.kinds
    first = index - 1
    if first < low:
        return index, ""
    if texts[first] in (")", "]"):
        opening = tokens.partner.get(first)
        if opening is None or opening < low:
            return index, ""
        named = opening > low and kinds[opening - 1] == IDENTIFIER and texts[opening - 1] not in ("return", "else")
        if not named:
            return opening, written(tokens, opening + 1, first)
        first = opening - 1
    elif texts[first] in (">", ">>", ">>>"):
        start = template_start(tokens, first, low, parameters=True)  # what stands before `<<<` compares nothing
        if start is None or start == low:
            return index, ""
        first = start - 1
    if kinds[first] != IDENTIFIER:
        return index, ""
    while first > low + 1 and texts[first - 1] in ("::", ".", "->", "##") and _is_scope(tokens, first - 2):
        first = _scope_before(tokens, first - 2, low)
    if first > low and texts[first - 1] == "::":
        first -= 1
    return first, written(tokens, first, index)


def _is_scope(tokens: Tokens, index: int) -> bool:
    return tokens.kinds[index] == IDENTIFIER or tokens.texts[index] in (">", ")", "]")


def _scope_before(tokens: Tokens, index: int, low: int) -> int:
    """First token of the scope that ends at `index`: a name, with template arguments or without."""
    if tokens.texts[index] == ">":
        start = template_start(tokens, index, low)
        if start is not None and start > low:
            return start - 1
    return index


def _call(tokens: Tokens, index: int, path: str, source: SourceFile) -> Launch | None:
    name = tokens.texts[index]
    opening = index + 1
    if name in _CONFIGURED and tokens.texts[opening] == "<":
        return None
    directive = tokens.directive_of(index)
    high = directive.last if directive else len(tokens)
    closed = closing(tokens, opening, high) if tokens.texts[opening] == "(" else None
    if closed is None:
        return None
    stretches = split_commas(tokens, opening + 1, closed)
    values = [written(tokens, first, last) for first, last in stretches]
    span = Span(tokens.starts[index], tokens.end(closed))
    line = source.position(span.start)[0]
    if name in _CALLS:
        places = _CALLS[name]
        if len(values) <= places[2]:
            return None
        texts = [values[place] if place < len(values) else "0" for place in places]
        kernel = _uncast(tokens, *stretches[places[0]])
        return Launch(kernel, texts[1], texts[2], texts[3], texts[4], path, line, span)
    if name in _CONFIGURED:
        if len(values) < 2:
            return None
        config = values[0][1:] + "." if values[0].startswith("&") else values[0] + "->"
        kernel = _uncast(tokens, *stretches[1])
        grid, block, shared, stream = (config + f for f in ("gridDim", "blockDim", "dynamicSmemBytes", "stream"))
        return Launch(kernel, grid, block, shared, stream, path, line, span)
    if len(values) < 9:
        return None
    grid, block = ", ".join(values[1:4]), ", ".join(values[4:7])
    return Launch(values[0], grid, block, values[7], values[8], path, line, span)


def _uncast(tokens: Tokens, first: int, last: int) -> str:
    """A kernel argument without the casts, `&` and parentheses around it."""
    texts = tokens.texts
    while first < last:
        if texts[first] in ("&", "*"):
            first += 1
            continue
        if texts[first] == "(":
            closed = closing(tokens, first, last)
            if closed is None:
                break
            if closed == last - 1:
                first, last = first + 1, last - 1
            else:
                first = closed + 1
            continue
        if texts[first] in _CASTS and texts[last - 1] == ")":
            opening = tokens.partner.get(last - 1)
            if opening is None or opening < first:
                break
            first, last = opening + 1, last - 1
            continue
        break
    return written(tokens, first, last)
