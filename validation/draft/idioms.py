"""Macros that projects name alike: loops over a grid, rounded division, assertions, attributes of functions."""

from __future__ import annotations

import re

_LOOP = "for ({kind} {i} = blockIdx.x * blockDim.x + threadIdx.x; {i} < ({n}); {i} += blockDim.x * gridDim.x)"
_FUNCTIONS = (
    (
        r"(?:i|u)?(?:div_?(?:round_?)?up|ceil_?div|div_?ceil|up_?div|ceiling?_?division|round_?up_?div)",
        2,
        "(((a) + (b) - 1) / (b))",
        "division rounded up",
    ),
    (r"min(?:imum)?|imin|_?min_?", 2, "((a) < (b) ? (a) : (b))", "the smaller one"),
    (r"max(?:imum)?|imax|_?max_?", 2, "((a) > (b) ? (a) : (b))", "the larger one"),
    (r"abs|iabs|fabs_?", 1, "((a) < 0 ? -(a) : (a))", "the amount"),
    (r"sqr|square|pow2|sq", 1, "((a) * (a))", "the square"),
    (r"(?:\w*_)?(?:un)?likely", 1, "(a)", "its argument"),
    (r"idx2c|ij2c", 3, "((c) * (b) + (a))", "a place in a matrix by columns"),
)
"""Name, number of parameters (a, b, c), body, what it is."""
_CHECK = re.compile(r"assert|check|expect|ensure|require|verify|(?:^|_)log(?:$|_)|trace|debug|dbg|warn", re.IGNORECASE)
_UNROLL = re.compile(r"(?:pragma_?)?unroll(?:_?\w+)?", re.IGNORECASE)
_ATTRIBUTES = (
    (re.compile(r"restrict", re.IGNORECASE), "__restrict__"),
    (
        re.compile(r"host_?dev|(?:^|_)hd(?:$|_)|_hd_|cpu_?gpu|gpu_?cpu|callable", re.IGNORECASE),
        "__host__ __device__",
    ),
    (re.compile(r"device|(?:^|_)gpu(?:$|_)|(?:^|_)dev(?:$|_)", re.IGNORECASE), "__device__"),
    (re.compile(r"inline", re.IGNORECASE), "inline"),
    (re.compile(r"export|api|dll|decl|public|noexcept|visib|hidden|unused|nodiscard|noinline", re.IGNORECASE), ""),
)


def usual_macro(name: str, calls: tuple[tuple[str, ...], ...], text: str) -> tuple[str, str] | None:
    """The definition of a macro that is called so, and what it is."""
    counts = {len(one) for one in calls}
    lower = name.lower()
    if "kernel_loop" in lower or re.fullmatch(r"(?:cuda|gpu|grid)_(?:\w+_)?(?:loop|for)(?:_\w+)?", lower):
        return _loop(name, counts)
    for pattern, count, body, meaning in _FUNCTIONS:
        if re.fullmatch(pattern, lower) and counts == {count}:
            parameters = ", ".join("abc"[:count])
            return f"#define {name}({parameters}) {body}", meaning
    if _CHECK.search(name) and _are_statements(name, text):
        return f"#define {name}(...) ((void)0)", "a check that says nothing"
    if _UNROLL.fullmatch(name):
        return f"#define {name}(...)", "nothing"
    return None


def _loop(name: str, counts: set[int]) -> tuple[str, str] | None:
    if counts == {2}:
        return f"#define {name}(i, n) {_LOOP.format(kind='int', i='i', n='n')}", "the usual loop over a grid"
    if counts == {3}:
        body = _LOOP.format(kind="kind", i="i", n="n")
        return f"#define {name}(i, n, kind) {body}", "the usual loop over a grid"
    return None


def _are_statements(name: str, text: str) -> bool:
    """Whether every use of a macro is a statement of its own, so that nothing needs its value."""
    used = [text[: match.start()].rstrip()[-1:] for match in re.finditer(rf"(?<![\w.>:]){name}\s*\(", text)]
    return bool(used) and all(mark in ";{})" or not mark for mark in used)


def attribute(name: str, text: str) -> str | None:
    """What a bare word in front of a declaration or a loop, or behind a star, is by its name; None for another word."""
    if _UNROLL.fullmatch(name) and re.search(rf"\b{name}\s+(?:for|while|do)\b", text):
        return ""
    before = r"(?:^|[;}>{]|\b(?:static|template|inline|__\w+__))"
    used = rf"\*\s*{name}\s+\w+\s*[,)\[]|{before}\s*{name}\s+[\w:]+[\s*&<]"
    if re.search(used, text, re.MULTILINE) is None:
        return None
    return next((written for pattern, written in _ATTRIBUTES if pattern.search(name)), None)
