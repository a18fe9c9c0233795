"""R033: calls of the runtime in a function that a stream calls on the host."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.functions import Braces, begins_lambda, body_of_lambda, only_body
from porter.cpp.syntax import IDENTIFIER, split_commas, template_end
from porter.engine.rule import Dialect, Effort, Finding, Rule, Unit, clean, reports

_GIVES = frozenset(
    f"{vendor}{name}" for vendor in ("cuda", "cu", "hip") for name in ("StreamAddCallback", "LaunchHostFunc")
)
_CALL = re.compile(r"(cuda|cu|hip)([A-Z]\w*)")
_OF_HIP = frozenset({"hipHostFree", "hipHostMalloc", "hipLaunchKernelGGL"})
"""Those that CUDA has by another name."""
_HARMLESS = re.compile(r"\w+?(?:GetErrorString|GetErrorName|GetLastError|PeekAtLastError|[a-z]GetDevice|GetVersion)")
_CASTS = frozenset({"reinterpret_cast", "static_cast"})
_MOST = 100
"""Functions that are followed."""


class CallInCallback(Rule):
    """Call of the runtime in a stream's callback

    What `cudaLaunchHostFunc` and `cudaStreamAddCallback` are given must not call the runtime or launch kernels: CUDA
    may answer with cudaErrorNotPermitted, and often lets it pass. On ROCm such a call may wait for the stream that
    waits for the callback, and the program hangs. Let the callback set a flag or wake a thread, and let that make the
    call. Functions that the callback calls are followed in the same file, but for what it hands to another thread.
    """

    code = "R033"
    only_reports = True
    dialect = Dialect.BOTH
    triggers = _GIVES
    hazards = ("host-func-callbacks",)
    examples = (
        clean("void done(void *p) { ready = true; }\nvoid f() { cudaLaunchHostFunc(s, done, p); cudaFree(p); }"),
        clean(
            "void done(void *p) { free(p); }\nvoid g(void *p) { cudaFree(p); }\n"
            "void f() { cudaLaunchHostFunc(s, done, p); }"
        ),
        clean(
            "void CUDART_CB done(cudaStream_t s, cudaError_t e, void *p) { puts(cudaGetErrorString(e)); }\n"
            "void f() { cudaStreamAddCallback(s, done, p, 0); }"
        ),
        clean(
            "void work(void *p) { cudaFree(p); }\nvoid done(void *p) { start_thread(work, p); }\n"
            "void f() { cudaLaunchHostFunc(s, done, p); }"
        ),
        clean("void done(void *p) { queue.push([=] { cudaFree(p); }); }\nvoid f() { cudaLaunchHostFunc(s, done, p); }"),
        clean("void done(void *p) { pool->cudaFree(p); }\nvoid f() { cudaLaunchHostFunc(s, done, p); }"),
        clean("void f(cudaHostFn_t done) { cudaLaunchHostFunc(s, done, p); cudaFree(p); }"),
        clean("void done(void *p);\nvoid f() { cudaLaunchHostFunc(s, done, p); }\nvoid g() { done(p); cudaFree(p); }"),
        clean(
            "struct A { void done(void *p) { cudaFree(p); } };\nvoid done(void *p) { free(p); }\n"
            "void f() { cudaLaunchHostFunc(s, done, p); }"
        ),
        clean("void f() { cudaLaunchHostFunc(s, [](void *p) { a[0] = 1; }, p); cudaFree(p); }"),
        reports(
            "void done(void *p) { cudaFree(p); }\nvoid f() { cudaLaunchHostFunc(s, done, p); }", effort=Effort.REVIEW
        ),
        reports(
            "void CUDART_CB done(cudaStream_t s, cudaError_t e, void *p) { CHECK(cudaEventRecord(event, s)); }\n"
            "void f() { CHECK(cudaStreamAddCallback(s, &done, p, 0)); }",
            effort=Effort.REVIEW,
        ),
        reports(
            "void f() { cudaLaunchHostFunc(s, [](void *p) { cudaStreamSynchronize(0); }, p); }", effort=Effort.REVIEW
        ),
        reports(
            "static void release(void *p) { cudaFreeHost(p); }\nvoid done(void *p) { if (p) release(p); }\n"
            "void f() { cudaLaunchHostFunc(s, (cudaHostFn_t)done, p); }",
            effort=Effort.REVIEW,
        ),
        reports(
            "template <class T> void done(void *p) noexcept { k<<<1, 32>>>((T *)p); }\n"
            "void f() { cudaLaunchHostFunc(s, done<int>, p); }",
            effort=Effort.REVIEW,
        ),
        reports(
            "void Queue::done(void *p) { hipHostFree(p); }\n"
            "void f() { hipLaunchHostFunc(s, reinterpret_cast<hipHostFn_t>(&Queue::done), p); }",
            path="a.hip",
            effort=Effort.REVIEW,
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        walked: set[int] = set()
        for name in sorted(_GIVES & unit.tokens.names.keys()):
            for index in unit.tokens.names[name]:
                given = _given(unit, index) if unit.is_free(index) else None
                for place, call in _calls(unit, *given, walked) if given is not None else ():
                    message = f"{call} in what {name} is given: CUDA forbids it, and on ROCm the stream may hang"
                    yield self.finding(unit, unit.span(place), message, Effort.REVIEW)


def _given(unit: Unit, index: int) -> Braces | None:
    """The braces of the function that a call is given, where this file has them."""
    closed = unit.tokens.partner.get(index + 1)
    if closed is None or unit.tokens.texts[index + 1] != "(":
        return None
    arguments = split_commas(unit.tokens, index + 2, closed)
    return _function(unit, *arguments[1]) if len(arguments) > 2 else None


def _function(unit: Unit, first: int, last: int) -> Braces | None:
    """The braces of a function named, or of a lambda written, in a range of tokens."""
    texts, partner = unit.tokens.texts, unit.tokens.partner
    while first < last and texts[first] in ("&", "+", "::"):
        first += 1
    if first >= last:
        return None
    if texts[first] == "[":
        return body_of_lambda(unit.tokens, first)
    if texts[first] == "(":
        closed = partner.get(first, last)
        return _function(unit, closed + 1, last) if closed + 1 < last else _function(unit, first + 1, closed)
    if texts[first] in _CASTS:
        after = template_end(unit.tokens, first + 1, last)
        return None if after is None else _function(unit, after, last)
    while first + 2 < last and texts[first + 1] == "::":
        first += 2
    is_whole = first + 1 == last or template_end(unit.tokens, first + 1, last) == last
    return only_body(unit.tokens, texts[first]) if is_whole else None


def _calls(unit: Unit, first: int, last: int, walked: set[int]) -> Iterator[tuple[int, str]]:
    """The calls of the runtime in braces, and in the functions of this file that are called there."""
    tokens = unit.tokens
    if first in walked or len(walked) > _MOST:
        return
    walked.add(first)
    place = first
    while place < last:
        place += 1
        text = tokens.texts[place]
        if begins_lambda(tokens, place):
            inner = body_of_lambda(tokens, place)
            place = place if inner is None else inner[1]
        elif text == "<<<":
            yield place, "a kernel's launch"
        elif tokens.kinds[place] == IDENTIFIER and tokens.texts[place + 1] == "(" and unit.is_free(place):
            if _is_api(unit, place):
                yield place, text
            elif (called := only_body(tokens, text)) is not None:
                yield from _calls(unit, *called, walked)


def _is_api(unit: Unit, place: int) -> bool:
    """Whether the name at a token is a function of the runtime's or the driver's that may wait."""
    text = unit.tokens.texts[place]
    parts = _CALL.fullmatch(text)
    if parts is None or _HARMLESS.fullmatch(text):
        return False
    if parts[1] != "hip":
        row = unit.names.get(text)
        return row is not None and row.kind == "function" and unit.is_cuda(place)
    rows = (unit.names.get(vendor + parts[2]) for vendor in ("cuda", "cu"))
    return text in _OF_HIP or any(row is not None and row.kind == "function" for row in rows)
