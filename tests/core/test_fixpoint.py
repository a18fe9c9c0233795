"""One pass where one is enough, another where something could turn up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from porter.cpp.lex import Tokens
from porter.engine.context import build_context, parser_for
from porter.engine.edits import Accepted
from porter.engine.file import port
from porter.engine.fixpoint import is_settled
from porter.engine.rule import Rule
from porter.engine.semantics import Semantics
from porter.engine.unit import Unit
from porter.model import Edit, Effort, Finding, PortedFile, Span
from porter.settings import Choices
from porter.source import SourceFile
from tests.core.test_engine import Wrap, context

ROOT = Path(__file__).resolve().parents[2]


class Respell(Rule):
    """Writes another name for `from_here`."""

    code = "Z911"

    def __init__(self, new: str) -> None:
        super().__init__("respell", "test")
        self.new = new

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One edit per name."""
        for index in unit.tokens.names.get("from_here", ()):
            span = unit.span(index)
            yield self.finding(unit, span, "respell", Effort.NONE, (Edit(*span, self.new),))


class Follower(Rule):
    """Waits for `to_there`, or for a header."""

    code = "Z912"
    triggers = frozenset({"to_there", "there.h"})

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One edit per name."""
        for index in unit.tokens.names.get("to_there", ()):
            span = unit.span(index)
            yield self.finding(unit, span, "follow", Effort.NONE, (Edit(*span, "arrived"),))


def result(text: str, *rules: Rule) -> PortedFile:
    """Ported with a small name table."""
    return port(SourceFile("a.cuh", text.encode()), context(*rules), "a.cuh")


@pytest.mark.parametrize("new", ["elsewhere", "ns::elsewhere", "dir/file.h"])
def test_new_names_that_mean_nothing_end_it(new: str) -> None:
    """Names for names: one pass."""
    done = result("int from_here;", Respell(new), Follower("follower", "test"))
    assert (done.passes, done.data.decode()) == (1, f"int {new};")


@pytest.mark.parametrize(
    ("new", "after"),
    [
        ("to_there", "arrived"),
        ("ns::to_there", "ns::arrived"),
        ("there.h", "there.h"),
        ("cudaNothingKnown", "cudaNothingKnown"),
        ("elsewhere(1)", "elsewhere(1)"),
        ("\n#if A\nx\n#endif\n", "\n#if A\nx\n#endif\n"),
        ("", ""),
    ],
)
def test_anything_else_is_looked_at_again(new: str, after: str) -> None:
    """A name that a rule waits for, one that looks like CUDA's, structure, and text that went away."""
    done = result("int from_here;", Respell(new), Follower("follower", "test"))
    assert (done.passes >= 2, done.data.decode()) == (True, f"int {after};")


def test_a_name_of_the_tables_is_looked_at_again() -> None:
    """What one rule writes may be what the tables rename."""
    rules = (*context().rules, Respell("cudaFree"))
    done = result("int y = from_here(p);", *rules)
    assert (done.passes, done.data) == (2, b"int y = hipFree(p);")


def test_a_conflict_is_looked_at_again() -> None:
    """The loser gets its turn."""
    done = result("int y = outer(cudaMalloc);\n", *context().rules, Wrap("wrap", "test"))
    assert (done.passes, done.data) == (2, b"int y = wrapped<hipMalloc>;\n")


def test_an_inserted_include_counts_by_its_name() -> None:
    """A rule may wait for a header."""
    unit = context().unit(SourceFile("a.cu", b"int x;"))
    accepted = Accepted((), (), ())
    include = Edit(0, 0, '#include "there.h"\n')
    assert is_settled(unit, accepted, include, context().rules, include.text)
    assert not is_settled(unit, accepted, include, (Follower("follower", "test"),), include.text)


class Waiting(Rule):
    """Waits for `cudaMalloc`."""

    code = "Z913"
    triggers = frozenset({"cudaMalloc"})

    def __init__(self, code: str) -> None:
        super().__init__("waiting", "test")
        self.code = code  # type: ignore[misc]


@pytest.mark.parametrize(
    ("new", "declared", "waiting", "settled"),
    [
        ("porter::cudaMalloc", frozenset(), (), True),
        ("porter::cudaMalloc", frozenset(), ("Z911",), True),
        ("porter::cudaMalloc", frozenset(), ("Z911", "Z912"), False),
        ("porter::cudaMalloc", frozenset({"cudaMalloc"}), (), False),
        ("other::cudaMalloc", frozenset(), (), False),
        ("porter::cudaFree", frozenset(), (), False),
    ],
)
def test_a_name_that_becomes_ours(new: str, declared: frozenset[str], waiting: tuple[str, ...], settled: bool) -> None:
    """It is no name of CUDA's any more, unless the project has one of its own or another rule waits for the word."""
    unit = replace(context(), declared=declared).unit(SourceFile("a.cu", b"int x = cudaMalloc;"))
    edit = Edit(8, 18, new)
    finding = Finding("Z911", "respell", Effort.NONE, "a.cu", 1, 9, "", Span(8, 18), edits=(edit,))
    accepted = Accepted((finding,), (edit,), ())
    assert is_settled(unit, accepted, None, tuple(map(Waiting, waiting)), f"int x = {new};") is settled


def test_a_plain_port_takes_one_pass() -> None:
    """Headers and names, with the real tables."""
    text = (
        b"#include <cuda_runtime.h>\nvoid f(int **p, cudaStream_t s) { cudaMalloc(p, 4); cudaStreamSynchronize(s); }\n"
    )
    shared = build_context(Choices(), ["a.cu"], {})
    once = port(SourceFile("a.cu", text), shared, "a.hip")
    assert once.passes == 1 and b"hipMalloc" in once.data
    assert not port(SourceFile("a.hip", once.data), shared, "a.hip").changed


SAMPLES = sorted(path for path in (ROOT / "samples").rglob("*") if path.suffix in (".cu", ".cuh", ".h", ".cpp"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_pass_that_is_left_out_would_have_changed_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes and findings where every file is looked at until nothing changes."""
    source, shared = SourceFile(path.name, path.read_bytes()), build_context(Choices(), [path.name], {})
    done = port(source, shared, path.name)
    monkeypatch.setattr("porter.engine.file.is_settled", lambda *_: False)
    patient = port(source, shared, path.name)
    assert (done.data, done.findings) == (patient.data, patient.findings)


TWICE = """
#include "own.h"
#if __CUDA_ARCH__ >= 700
#define HALF __half
#endif
%s
__device__ float f(float x, double *y, int i, unsigned long n) {
    if (threadIdx.x == __ffs(__ballot(x))) i += warpSize;
    return max(x, y[i]) + min(n, n);
}
"""


@pytest.mark.parametrize(("line", "parses"), [("", 1), ('#define LANE(l) asm("mov.u32 %0, %laneid;" : "=r"(l))', 2)])
def test_names_for_names_in_directives_keep_what_clang_said(line: str, parses: int, tmp_path: Path) -> None:
    """A condition under porter's name for a macro is no other condition."""
    asked: list[str] = []
    parser = parser_for(tmp_path, (), ())

    def parse(source: SourceFile, tokens: Tokens, bodies: bool) -> Semantics | None:
        asked.append(source.text)
        return parser(source, tokens, bodies)

    run = replace(build_context(Choices(), (), {}), parse=parse)
    done = port(SourceFile("k.cu", (TWICE % line).encode()), run, "k.hip")
    assert "PORTER_CUDA_ARCH" in done.data.decode() and "porter::max(x, y[i])" in done.data.decode()
    assert done.passes > 1
    assert len(asked) == parses
