"""Messages of clang, gcc and nvcc, and the line of the tree that each is about."""

from __future__ import annotations

from pathlib import Path

from porter.validation.build.diagnostics import missing_header, read_diagnostics
from porter.validation.build.origin import Origins

from porter.project.records import Entry, FileRecord, Status

ROOT = Path("/tree")

CLANG = """\
In file included from /tree/a.hip:3:
In file included from /usr/include/x.h:7:
/usr/include/y.h:12:3: error: no member named 'q' in 'S'
  s.q();
  ~ ^
/tree/b.cuh:40:5: note: in instantiation of function template specialization 'f<int>' requested here
/tree/a.hip:90:5: note: in instantiation of function template specialization 'g<int>' requested here
/tree/a.hip:5:1: warning: unused [-Wunused]
1 warning and 1 error generated when compiling for gfx942.
"""


def test_the_nearest_line_of_the_tree() -> None:
    error, warning = read_diagnostics(CLANG)
    assert (error.severity, error.text, error.path) == ("error", "no member named 'q' in 'S'", "/usr/include/y.h")
    assert error.own(ROOT) == ("/tree/b.cuh", 40, 0)
    assert warning.own(ROOT) == ("/tree/a.hip", 5, 1)


def test_without_an_instantiation_the_include_line_counts() -> None:
    output = "In file included from /tree/a.hip:3:\nIn file included from /tree/i.h:9:\n/usr/y.h:1:2: error: e\n"
    assert read_diagnostics(output)[0].own(ROOT) == ("/tree/i.h", 9, 0)
    output = "In file included from /tree/i.h:9,\n                 from /tree/a.hip:3:\n/usr/y.h:1:2: error: e\n"
    assert read_diagnostics(output)[0].own(ROOT) == ("/tree/i.h", 9, 0)


def test_a_header_that_is_reached_through_its_parent_has_its_findings() -> None:
    """`#include "../common.h"` of `/tree/dropout/a.hip` is `common.h`, and above the tree is not in it."""
    entry = Entry(1204, 1, "A002", "manual", "no tensor maps")
    known = Origins(ROOT, {"common.h": FileRecord("common.h", "common.h", Status.PORTED, entries=(entry,))})
    (raw,) = read_diagnostics("/tree/dropout/../common.h:1204:3: error: unknown type name 'CUtensorMap'\n")
    found = known.diagnostic(raw)
    assert found.place is not None
    assert (found.place.source, found.place.source_line) == ("common.h", 1204)
    assert [one.code for one in found.findings] == ["A002"]
    (raw,) = read_diagnostics("/tree/dropout/../../other/a.h:1:3: error: e\n")
    assert known.diagnostic(raw).place is None


def test_the_operands_of_assembly_have_its_findings() -> None:
    """They stand on lines of their own; other errors there have none."""
    rows = [Entry(4, 1, "P101", "none", "done"), Entry(9, 1, "P102", "manual", "left")]
    known = Origins(ROOT, {"a.h": FileRecord("a.h", "a.h", Status.PORTED, entries=tuple(rows))})
    said = "/tree/a.h:14:3: error: invalid output constraint '=l' in asm\n/tree/a.h:14:9: error: unknown type\n"
    assembly, other = map(known.diagnostic, read_diagnostics(said))
    assert [one.message for one in assembly.findings] == ["left"]
    assert other.findings == ()


def test_both_passes_say_it_once() -> None:
    line = "/tree/a.hip:5:1: error: x\n"
    assert len(read_diagnostics(line + "1 error generated when compiling for gfx942.\n" + line)) == 1


def test_messages_without_a_place() -> None:
    output = """\
clang: error: unknown argument: '--x'
ld.lld: error: undefined symbol: f()
error: <unknown>:0:0: local memory (70000) exceeds limit (65536) in function 'k'
LLVM ERROR: out of memory
"""
    found = [(raw.severity, raw.text, raw.own(ROOT)) for raw in read_diagnostics(output)]
    assert found == [
        ("error", "unknown argument: '--x'", None),
        ("error", "undefined symbol: f()", None),
        ("error", "local memory (70000) exceeds limit (65536) in function 'k'", None),
    ]


def test_nvcc() -> None:
    output = '/tree/a.cu(12): error: identifier "x" is undefined\n/tree/a.cu(3): warning #177-D: variable "y"\n'
    found = [(raw.severity, raw.text, raw.line) for raw in read_diagnostics(output)]
    assert found == [("error", 'identifier "x" is undefined', 12), ("warning", 'variable "y"', 3)]


def test_missing_headers() -> None:
    clang, gcc, file = (
        read_diagnostics(text)[0]
        for text in (
            "/t/a.hip:2:10: fatal error: 'hipcub/hipcub.hpp' file not found\n",
            "/t/a.cu:2:10: fatal error: cub/cub.cuh: No such file or directory\n",
            "clang: error: no such file or directory: 'x.hip'\n",
        )
    )
    assert (missing_header(clang), missing_header(gcc), missing_header(file)) == (
        "hipcub/hipcub.hpp",
        "cub/cub.cuh",
        None,
    )


def test_a_quoted_line_of_code_is_no_message() -> None:
    assert read_diagnostics('  12 | const char* s = "a: error: b";\n     |  ^\n') == ()
