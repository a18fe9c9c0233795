"""A file is asked about by the rules that have something to look for in it, and by no others."""

from __future__ import annotations

import functools

import pytest

from porter.engine.asking import asked, named, not_about, others, triggers_of
from porter.engine.context import build_context
from porter.engine.dialect import Dialect
from porter.engine.file import Context
from porter.engine.rule import Rule, Unit
from porter.settings import Choices
from porter.source import SourceFile

NOTHING = "int main() { return 0; }\n"
SOURCES = (
    NOTHING,
    "",
    "#include <cub/cub.cuh>\n#include <cuda_fp16.h>\n",
    "__global__ void k(float *x) { x[0] = max(__shfl_sync(~0u, x[1], 0), 1); __syncthreads(); }\n",
    'template <class T> void f(T *p) { cudaMalloc(&p, 4); cublasSgemm(h, p); asm volatile("bar.sync 0;"); }\n',
    "#define W warpSize\nextern __shared__ int s[];\nint n = prop.maxGridSize[1];\n",
)


@functools.cache
def context() -> Context:
    """That of a run with default settings."""
    return build_context(Choices(), (), {})


def unit(text: str) -> Unit:
    """The text as a file."""
    return context().unit(SourceFile("a.cu", text.encode()))


def by_each(one: Unit, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The same, asked rule by rule; those that look for themselves are left to do so."""
    return tuple(rule for rule in rules if type(rule).applies is not Rule.applies or rule.applies(one))


@pytest.mark.parametrize("text", SOURCES)
def test_by_words_as_rule_by_rule(text: str) -> None:
    """The same rules, in the same order."""
    rules = context().rules
    one = unit(text)
    assert asked(one, rules) == by_each(one, rules)
    assert asked(one, rules[::-1]) == by_each(one, rules[::-1])
    assert asked(one, rules[5:6]) == by_each(one, rules[5:6])


def test_most_rules_are_left_out_of_a_plain_file() -> None:
    """And a header alone brings those that look for it."""
    rules = context().rules
    assert len(asked(unit(NOTHING), rules)) < len(rules) / 2
    brought = set(asked(unit("#include <cooperative_groups/scan.h>\n"), rules)) - set(asked(unit(NOTHING), rules))
    assert brought
    assert all("cooperative_groups/scan.h" in rule.triggers for rule in brought)


def test_parts_of_the_rules() -> None:
    """By name, by dialect, and all that they look for."""
    rules = context().rules
    assert [rule.code for rule in named(rules, "min-max")] == ["M003"]
    assert len(others(rules, "min-max")) == len(rules) - 1
    assert not [rule for rule in not_about(rules, Dialect.HIP) if rule.dialect is Dialect.HIP]
    assert {rule.dialect for rule in rules} >= {Dialect.HIP, Dialect.CUDA}
    assert {"min", "max"} <= triggers_of(rules).keys()
    assert not triggers_of(())
