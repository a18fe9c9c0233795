"""Whatever bytes a file holds: no crash, no change outside the reported edits, and porting the port changes nothing."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porter.engine import edits as editing
from porter.engine.context import build_context, parser_for
from porter.engine.file import Context, port
from porter.model import PortedFile
from porter.settings import Choices
from porter.source import SourceFile

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
_MOST_BYTES = 6000
_INSERTED = re.compile(rb'(?:\r?\n)?(?:#include [<"][^>"\n]+[>"]\r?\n)+')
_ODD = (b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b"\r\n", b"\\\n", b'"', b"'", b'R"(', b')"', b"/*", b"*/", b"//")
_SYNTAX = (b"{", b"}", b"(", b")", b"<", b">", b"<<<", b">>>", b",", b";", b"::", b"#if 1\n", b"#endif\n", b"#else\n")
_CUDA = (b"warpSize", b"__shfl_sync(m, x, 1)", b"cudaMalloc", b"32", b"0xffffffff", b"__syncwarp()", b"asm volatile(")
_WORDS = (
    b"#define X ",
    b"#include <cuda.h>\n",
    b"__global__ void ",
    b"template <int N> ",
    b"// porter: allow[A001] x\n",
)
_PIECES = (*_ODD, *_SYNTAX, *_CUDA, *_WORDS)


@functools.cache
def sources() -> tuple[bytes, ...]:
    """The samples' sources, cut to a length that clang takes in its stride."""
    paths = sorted(path for path in SAMPLES.rglob("*") if path.suffix in (".cu", ".cuh"))
    return tuple(path.read_bytes()[:_MOST_BYTES] for path in paths)


@functools.cache
def context() -> Context:
    """What a user's run would have."""
    return replace(build_context(Choices(), ["a.cu"], {}), parse=parser_for(SAMPLES, (), ()))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A sample with pieces of it deleted, doubled or overwritten, at places chosen at random."""
    data = draw(st.sampled_from(sources()))
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, len(data)))
        end = min(len(data), place + draw(st.integers(0, 40)))
        piece = draw(st.one_of(st.sampled_from(_PIECES), st.binary(max_size=4), st.just(data[place:end])))
        data = data[:place] + piece + data[end if draw(st.booleans()) else place :]
    return data


def ported(data: bytes) -> PortedFile:
    """Through the engine, under a name that is no file."""
    return port(SourceFile("mutated.cu", data), context(), "mutated.hip")


def changed_elsewhere(data: bytes, result: PortedFile) -> bool:
    """Whether the result differs from the source in more than the edits of the findings and one block of includes."""
    if result.passes > 2:
        return False
    edits = {edit for finding in result.findings for edit in finding.edits}
    text = editing.apply(data.decode("latin-1"), edits).encode("latin-1")
    if text == result.data:
        return False
    extra = len(result.data) - len(text)
    return not any(
        text[:place] == result.data[:place]
        and text[place:] == result.data[place + extra :]
        and _INSERTED.fullmatch(result.data[place : place + extra])
        for place in range(len(text) + 1)
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(mutated())
def test_mutated_sources(data: bytes) -> None:
    """The engine holds its promises for any bytes."""
    result = ported(data)
    assert not changed_elsewhere(data, result)
    assert not [finding for finding in result.findings if finding.code in ("E002", "E005")]
    again = ported(result.data)
    assert again.data == result.data


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    """Not even source code."""
    result = ported(data)
    assert ported(result.data).data == result.data
