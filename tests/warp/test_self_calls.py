"""Functions that call themselves, or an overload of their name, leave no rule out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.rule import Settings
from porter.engine.support import load_support
from porter.names.table import load_names
from porter.source import SourceFile
from porter.warp.bodies import bodies_of

CONTEXT = Context(Settings(), load_names(None, {}), load_support(None), all_rules())
LEFT_OUT = frozenset({"E002", "E005", "E009"})
CALLED = ("{name}({arguments});", "auto again = {name}({arguments});")
EXAMPLES = [
    pytest.param(example.before, example.path, called, id=f"{rule.code}-{number}-{called[:4]}")
    for rule in all_rules()
    for number, example in enumerate(rule.examples)
    for called in CALLED
    if "__device__" in example.before and example.path.endswith((".cu", ".cuh", ".hip"))
]


def calling_themselves(text: str, path: str, called: str) -> str:
    """The text, each function that is no kernel with a call of itself at its beginning."""
    unit = CONTEXT.unit(SourceFile(path, text.encode()))
    places = [
        (unit.tokens.starts[one.head.body] + 1, called.format(name=one.name, arguments=", ".join(one.parameters)))
        for one in bodies_of(unit).functions
        if one.head.body is not None and not one.is_kernel
    ]
    for place, call in sorted(places, reverse=True):
        text = f"{text[:place]} {call} {text[place:]}"
    return text


@pytest.mark.parametrize(("text", "path", "called"), EXAMPLES)
def test_no_rule_is_left_out(text: str, path: str, called: str) -> None:
    """In the file itself, and in a header whose functions another file calls."""
    text = calling_themselves(text, path, called)
    done = port(SourceFile(path, text.encode()), CONTEXT, path)
    assert not [finding for finding in done.findings if finding.code in LEFT_OUT]
    kernel = max(text.find("__global__"), 0)
    begin = text.rfind("\n", 0, kernel) + 1 if kernel else len(text)
    header = SourceFile("h.h", text[:begin].encode())
    source = SourceFile(path, f'#include "h.h"\n{text[begin:]}'.encode())
    done = port(source, replace(CONTEXT, included_file=lambda _, name: header if name == "h.h" else None), path)
    assert not [finding for finding in done.findings if finding.code in LEFT_OUT]


def test_a_barrier_in_a_helper_that_calls_an_overload() -> None:
    """Such a helper of a header surely waits when one of its statements is a barrier."""
    header = SourceFile(
        "h.h",
        b"__device__ inline void meet(int *s) { meet(s, 1); }\n"
        b"__device__ inline void meet(int *s, int n) { if (n) meet(s); __syncthreads(); }\n",
    )
    source = SourceFile(
        "a.cu",
        b'#include "h.h"\n__global__ void k(int *p) {\n  __shared__ int s[64];\n  int t = threadIdx.x;\n'
        b"  if (t < 32) {\n    s[t] = p[t];\n    meet(s);\n    s[t] += s[t + 16];\n    s[t] += s[t + 8];\n  }\n}\n",
    )
    done = port(source, replace(CONTEXT, included_file=lambda _, name: header), "a.hip")
    assert [finding.line for finding in done.findings if finding.code == "S101" and finding.edits]
    assert not [finding for finding in done.findings if finding.code in LEFT_OUT]
