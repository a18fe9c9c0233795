"""A018: the project's own headers that are included within a namespace or `extern "C"`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Include, Tokens, headers_of, tokens_of
from porter.engine.renames import looks_like_cuda
from porter.engine.rule import Effort, Finding, Rule, Span, Unit, clean, fixes
from porter.engine.support import FOLDER

_RUNTIME = "hip/hip_runtime.h"
_BY_WORD = {
    "asm": f"{FOLDER}/ptx.hpp",
    "min": f"{FOLDER}/minmax.hpp",
    "max": f"{FOLDER}/minmax.hpp",
    "__launch_bounds__": f"{FOLDER}/launch_bounds.hpp",
}
_MARKS = frozenset({"__global__", "__device__", "__host__", "__shared__", "__constant__", "cooperative_groups", "cub"})
_MOST_HEADERS = 100


class HeaderInScope(Rule):
    """Header included within a namespace

    `namespace mine { #include "kernels.cuh" }`, or the same in `extern "C"`: nvcc has included CUDA's runtime before
    the first line, so that nothing of it lands in there. What the port of such a header needs - HIP's runtime and the
    support headers - is included ahead, outside of the braces.
    """

    code = "A018"
    triggers = frozenset({"namespace", "extern"})
    text = r"\A[^{]*\{(?s:.)*#[ \t]*include"
    examples = (
        fixes('namespace mine {\n#include "a.cuh"\n}', 'namespace mine {\n#include "a.cuh"\n}'),
        clean('namespace mine { int f; }\n#include "a.cuh"'),
        clean('namespace mine {\n#include "table.inc"\n}'),
        clean('extern "C" {\n#include <stdio.h>\n}'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per such include line."""
        for include in _in_braces(unit.tokens):
            wanted = [one for one in _needed(unit, include) if not any(name.endswith(one) for name in unit.included)]
            if wanted:
                lines = tuple(f"<{one}>" if one == _RUNTIME else one for one in wanted)
                message = f'"{include.name}" is included within braces: what its port includes comes ahead of them'
                yield self.finding(unit, Span(include.start, include.end), message, Effort.NONE, includes=lines)


def _in_braces(tokens: Tokens) -> Iterator[Include]:
    first = tokens.first_characters.find("{")
    for include in tokens.includes:
        if first < 0 or tokens.at(include.start) <= first:
            continue
        if any(tokens.directive_of(index) is None for index in tokens.braces_around(tokens.at(include.start))):
            yield include


def _has_device_code(tokens: Tokens) -> bool:
    """Whether a header is CUDA's in more than macros, which other compilers leave empty."""
    places = (index for mark in _MARKS for index in tokens.names.get(mark, ()))
    return any(tokens.directive_of(index) is None for index in places)


def _needed(unit: Unit, include: Include) -> list[str]:
    """What the port of a header includes, and of those that it includes."""
    source = unit.included_file(unit.source.path, include.name) if unit.included_file is not None else None
    if source is None or unit.included_file is None:
        return [_RUNTIME] if include.name.endswith(".cuh") else []
    names = [one.name for one in tokens_of(source).includes]
    sources = [source, *headers_of(source, names, unit.included_file, _MOST_HEADERS, f"{FOLDER}/")]
    words = frozenset(word for one in sources for word in tokens_of(one).names)
    rows = {word: row for word in words if (row := unit.support.get(word)) is not None}
    telling = any(map(looks_like_cuda, words)) or any(word.startswith("__") for word in rows)
    if not telling and not any(_has_device_code(tokens_of(one)) for one in sources):
        return []  # a header in C has `min` and `sqrt` as well
    found = {row.header for row in rows.values()}
    found |= {header for word, header in _BY_WORD.items() if word in words}
    return [_RUNTIME, *sorted(found)]
