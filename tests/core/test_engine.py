"""The engine: byte-exact, to a fixed point, with suppressions, includes and bugs as findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.rule import Rule
from porter.engine.support import load_support
from porter.engine.unit import Unit
from porter.model import Edit, Effort, Finding, Settings
from porter.names.table import NameRow, NameTable
from porter.source import SourceFile

NAMES = NameTable(
    {
        name: NameRow(name, "function", "runtime", hip)
        for name, hip in {"cudaMalloc": "hipMalloc", "cudaFree": "hipFree", "cub": "hipcub"}.items()
    },
    {"cuda_runtime.h": NameRow("cuda_runtime.h", "header", "runtime", "hip/hip_runtime.h")},
)


def context(*rules: Rule, names: NameTable = NAMES) -> Context:
    """A run with the given rules, or all of them."""
    return Context(Settings(), names, load_support(None), rules or all_rules())


def ported(text: str | bytes, *rules: Rule, path: str = "a.cuh") -> bytes:
    """The new bytes of a source."""
    data = text if isinstance(text, bytes) else text.encode("latin-1")
    return port(SourceFile(path, data), context(*rules), path).data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"int x = cudaMalloc(p);\r\n\tint y; \r\n", b"int x = hipMalloc(p);\r\n\tint y; \r\n"),
        (b"// caf\xe9 cudaMalloc\nint x = cudaMalloc(p);", b"// caf\xe9 cudaMalloc\nint x = hipMalloc(p);"),
        (b"\xef\xbb\xbfint x = cudaMalloc(p);", b"\xef\xbb\xbfint x = hipMalloc(p);"),
        (b'f("cudaMalloc", cudaMalloc(p));', b'f("cudaMalloc", hipMalloc(p));'),
        (b"cudaMal\\\nloc(p);", b"cudaMal\\\nloc(p);"),
    ],
)
def test_bytes_outside_edits_are_kept(before: bytes, after: bytes) -> None:
    """Encoding, BOM, line ends, blanks and comments are the user's."""
    assert ported(before) == after


def test_utf16_is_left_alone_and_reported() -> None:
    """No C++ compiler for AMD GPUs reads it."""
    data = "int x;".encode("utf-16")
    result = port(SourceFile("a.cu", data), context(), "a.hip")
    assert result.data == data
    assert [(f.code, f.effort) for f in result.findings] == [("E003", Effort.MANUAL)]


def test_a_colour_profile_is_no_source() -> None:
    """Images bring `.icc` files; one that is cut off, or has another suffix, is what it was."""
    data = b"\0\0\2\x0clcms" + bytes(28) + b"acsp" + bytes(40)
    assert port(SourceFile("test.icc", data), context(), "test.icc").findings == ()
    for name, other in (("test.icc", data[1:]), ("test.h", data)):
        assert [f.code for f in port(SourceFile(name, other), context(), name).findings] == ["E003"]


def test_allow_comment_needs_a_reason_and_covers_its_line() -> None:
    """A suppressed finding edits nothing; without a reason it suppresses nothing."""
    text = "a = cudaMalloc(p); // porter: allow[A001] ours\nb = cudaMalloc(p); // porter: allow[A001]\n"
    result = port(SourceFile("a.cuh", text.encode()), context(), "a.cuh")
    assert result.data.decode() == text.replace("b = cudaMalloc", "b = hipMalloc")
    assert [f.suppressed for f in result.findings if f.line == 1] == ["ours"]
    assert "E004" in {f.code for f in result.findings}


def test_allow_comment_alone_covers_the_next_line() -> None:
    """As linters do it."""
    text = "// porter: allow[renamed-name] kept for the CUDA build\na = cudaMalloc(p);\nb = cudaFree(p);\n"
    assert ported(text).decode() == text.replace("cudaFree", "hipFree")


def _idle(text: str, *rules: Rule, parse: bool = True, settings: Settings | None = None) -> list[str]:
    """What is said of allow comments that cover nothing."""
    whole = replace(context(*rules), parse=(lambda *_: None) if parse else None, settings=settings or Settings())
    result = port(SourceFile("a.cuh", text.encode()), whole, "a.cuh")
    said = [finding for finding in result.findings if finding.code == "E011"]
    assert all(finding.effort is Effort.NONE and finding.suppressed is None for finding in said)
    return [f"{finding.line}: {finding.message.partition(': ')[2]}" for finding in said]


@pytest.mark.parametrize(
    "text",
    [
        "a = cudaMalloc(p); // porter: allow[A001] ours\n",
        "// porter: allow[renamed-name] ours\na = cudaMalloc(p);\n",
        "a = cudaFree(cudaMalloc(p)); /* porter: allow[A001, A001] ours */\n",
        "a = 1; // porter: allow[A001]\n",  # E004 says so
        "a = 1; // porter: allows much\n",
        'const char *s = "// porter: allow[A001] text";\n',
        "a = 1; // porter: allow[V103] no rule for AMD's lines looked here\n",
        "a = 1; // porter: allow[W120] with the other mode\n",
        "a = 1; // porter: allow[K101] of build files\n",
    ],
)
def test_an_allow_comment_that_is_not_idle(text: str) -> None:
    """It covers something, in any pass, or nobody looked."""
    assert _idle(text) == []


def test_an_allow_comment_that_covers_nothing_is_told() -> None:
    """A note, once per comment; what it misspells is told, too."""
    text = "a = 1; // porter: allow[A001] was here\n// porter: allow[A001] too far\n\na = cudaMalloc(p);\n"
    assert _idle(text) == ["1: A001 finds nothing on line 1", "2: A001 finds nothing on line 3"]
    assert _idle("a = cudaMalloc(p); // porter: allow[A001, W102] half\n") == ["1: W102 finds nothing on line 1"]
    assert _idle("a = cudaMalloc(p); // porter: allow[A01, A001] x\n") == ["1: no finding is called A01"]
    assert _idle("a = 1; // porter: allow[] all\n") == ["1: it names no code"]
    assert _idle("a = 1; // porter: allow[renamed_name] x\n") == ["1: no finding is called renamed_name"]


def test_nobody_says_that_a_comment_is_idle_where_not_all_was_looked_at() -> None:
    """Rules that are switched off, the other way of porting warps, files without clang; a misspelling is one still."""
    text = "a = 1; // porter: allow[A001] x\nb = 1; // porter: allow[A0001] x\n"
    misspelt = ["2: no finding is called A0001"]
    without = tuple(rule for rule in all_rules() if rule.code != "A001")
    assert _idle(text, *without) == misspelt
    assert _idle(text, parse=False) == misspelt
    assert _idle(text, settings=Settings(warp="native")) == misspelt
    assert _idle(text, *all_rules(), Broken("broken", "test")) == misspelt
    assert len(_idle(text)) == 2


class Endless(Rule):
    """A rule that never ends."""

    code = "Z901"

    def find(self, unit: Unit) -> Iterator[Finding]:
        """Appends a character each time."""
        span = unit.span(0)
        yield self.finding(unit, span, "more", Effort.NONE, (Edit(span.end, span.end, "x"),))


def test_a_rule_that_does_not_converge_is_left_out_and_named() -> None:
    """The file is what all the other rules make of it, and stays that."""
    rules = (*all_rules(), Endless("endless", "test"))
    result = port(SourceFile("a.cuh", b"int y = cudaFree(p);"), context(*rules), "a.cuh")
    (bug,) = (f for f in result.findings if f.code == "E002")
    assert "Z901" in bug.message
    (left,) = (f for f in result.findings if f.code == "Z901")
    assert left.effort is Effort.MANUAL and not left.edits
    assert result.data == b"int y = hipFree(p);"
    assert port(SourceFile("a.cuh", result.data), context(*rules), "a.cuh").data == result.data


def test_a_cut_off_source_is_looked_at_until_nothing_changes() -> None:
    """Where brackets do not match, new names can give old ones another meaning."""
    text = b"__device__ n(volatile t*s,t lane){t=s[;s[lane]+=;__syncwarp"
    result = port(SourceFile("a.cu", text), context(), "a.hip")
    assert port(SourceFile("a.cu", result.data), context(), "a.hip").data == result.data


class Wrap(Rule):
    """Wraps calls of outer(...)."""

    code = "Z902"

    def find(self, unit: Unit) -> Iterator[Finding]:
        """Replaces the whole call, inner names as they are now."""
        for index in unit.tokens.names.get("outer", ()):
            (argument,) = unit.arguments(index)
            span = unit.span(index, unit.tokens.partner[index + 1])
            text = f"wrapped<{unit.slice(argument)}>"
            yield self.finding(unit, span, "wrap", Effort.NONE, (Edit(*span, text),))


def test_nested_edits_are_done_in_a_later_pass() -> None:
    """The outer edit wins first; the inner one is found again in the new text, at its original place."""
    rules = (*all_rules(), Wrap("wrap", "test"))
    result = port(SourceFile("a.cuh", b"int a;\nint y = outer(cudaMalloc);\n"), context(*rules), "a.cuh")
    assert result.data == b"int a;\nint y = wrapped<hipMalloc>;\n"
    inner = [f for f in result.findings if f.code == "A001"]
    assert [f.line for f in inner] == [2]


def test_support_header_and_path() -> None:
    """The #include is relative to the file, once, and stays alone on a second run."""
    text = b"__device__ int f(int v) { return __shfl_xor_sync(~0u, v, 1) + __shfl_xor_sync(~0u, v, 2); }\n"
    result = port(SourceFile("s/a.cuh", text), context(), "s/a.cuh", "../")
    assert result.data.startswith(b'#include "../porter/warp32.hpp"\n__device__')
    assert result.support == ("porter/warp32.hpp",)
    again = port(SourceFile("s/a.cuh", result.data), context(), "s/a.cuh", "../")
    assert again.data == result.data and not again.changed


FRAGMENTS = st.sampled_from(
    [
        "cudaMalloc(p);", "cub::X", "#if A\n", "#endif\n", "{", "}", "(", ")", '"', "'", "/*", "*/", "//", "\\\n",
        "__shfl_sync(m, v, s)", "warpSize", "#define F(x) cudaFree(x)\n", "k<<<1, 2>>>(p);", "R\"(", ")\"",
        "__global__ void k(int *p)", "#include <cuda_runtime.h>\n", "\xff", "\0", "\r\n", "template <int N>", "asm(\"",
        "__device__ double atomicAdd(double *a, double b)", ";", "::", "struct", "porter: allow[A001] x\n", "extern",
    ]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=14))
def test_any_source_is_a_fixed_point_and_keeps_what_no_edit_touches(parts: list[str]) -> None:
    """Whatever the source: no crash, the second run changes nothing."""
    data = " ".join(parts).encode("latin-1")
    once = port(SourceFile("a.cu", data), context(), "a.hip")
    assert not {"E002", "E005"} & {f.code for f in once.findings}
    again = port(SourceFile("a.cu", once.data), context(), "a.hip")
    assert again.data == once.data
    if not any(f.fixed for f in once.findings):
        assert once.data == data


class Broken(Rule):
    """A rule that raises."""

    code = "Z903"

    def find(self, unit: Unit) -> Iterator[Finding]:
        """Fails after its first finding."""
        yield self.finding(unit, unit.span(0), "first", Effort.NONE)
        raise ValueError("no such thing")


def test_a_rule_that_raises_does_not_stop_the_others() -> None:
    """The file is ported by the other rules, the finding names the culprit, the traceback is kept."""
    result = port(SourceFile("a.cuh", b"x = cudaMalloc(p);"), context(*all_rules(), Broken("broken", "test")), "a.cuh")
    assert result.data == b"x = hipMalloc(p);"
    failed = [f for f in result.findings if f.code == "E005"]
    assert failed and "Z903" in failed[0].message and failed[0].effort is Effort.MANUAL
    assert any("no such thing" in crash for crash in result.crashes)


class Swallow(Rule):
    """Replaces a whole statement, inner names and all."""

    code = "Z904"

    def find(self, unit: Unit) -> Iterator[Finding]:
        """`outer(...)` goes."""
        for index in unit.tokens.names.get("outer", ()):
            span = unit.span(index, unit.tokens.partner[index + 1])
            yield self.finding(unit, span, "gone", Effort.NONE, (Edit(*span, "0"),))


class Pair(Rule):
    """Changes a name inside `outer(...)` together with one outside."""

    code = "Z905"

    def find(self, unit: Unit) -> Iterator[Finding]:
        """Both edits or none."""
        for inner, outside in zip(unit.tokens.names.get("inner", ()), unit.tokens.names.get("also", ()), strict=False):
            edits = tuple(Edit(*unit.span(index), "done") for index in (inner, outside))
            yield self.finding(unit, unit.span(inner), "both", Effort.NONE, edits)


def test_a_conflict_that_no_later_pass_settles_is_reported() -> None:
    """The loser of the first pass is named with its place, unless all its text is gone."""
    rules = (Swallow("swallow", "test"), Pair("pair", "test"), *all_rules())
    result = port(SourceFile("a.cuh", b"int y = outer(inner, cudaMalloc) + also;\n"), context(*rules), "a.cuh")
    assert result.data == b"int y = 0 + also;\n"
    conflicts = [f for f in result.findings if f.code == "E001"]
    assert [c.message for c in conflicts] == ["Z905 gave way to Z904 here: both"]
