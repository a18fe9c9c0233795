"""Where a name that a file declares can be seen, and what of it other files get to know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from porter.cpp.include_graph import include_graph
from porter.cpp.lex import lex
from porter.cpp.prescan import Scan, scan
from porter.cpp.visible import stretch
from porter.engine.dialect import Dialect
from porter.engine.support import load_support
from porter.engine.unit import Unit
from porter.model import Settings
from porter.names.table import load_names
from porter.project.neighbours import looked_at
from porter.project.reuse import Shown, shown_names
from porter.source import SourceFile

DECLARED = "max"
"""In each text the first `max` is the declaration."""


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("void f() { int max = 3; g(max); } int h;", "}"),
        ("void f() { if (x) { int max(3); } g(max); }", "}"),
        ("void f(int a, int max) const { g(max); } int h;", "}"),
        ("void f() { for (int max = 0; max < 3; ++max) g(max); h(); }", ";"),
        ("void f(int max);", ";"),
        ("auto f = [](int max) mutable { g(max); };", "}"),
        ("void f(int max) // why { not\n{ g(max); }", "}"),
        ("#define max(a) a\nint x;\n#undef max\nint y;", "max"),
    ],
)
def test_ends(text: str, last: str) -> None:
    tokens = lex(text)
    found = stretch(tokens, tokens.names[DECLARED][0])
    assert found is not None and tokens.texts[found.last] == last
    assert not found.covers(len(tokens) - 1) or found.last == len(tokens) - 1


@pytest.mark.parametrize(
    "text",
    [
        "int max(int a, int b);",
        "struct P { int max; };",
        "namespace n { int max(int, int); }",
        'extern "C" { int max(int, int); }',
        "struct alignas(8) { int max; } p;",
        "struct S { S(int max) : a(max) { g(); } int a; };",
        "enum { max = 3 };",
        "#define max(a) a\nint x;",
        "void f() { int max = 3;",
    ],
)
def test_does_not_tell(text: str) -> None:
    tokens = lex(text)
    assert stretch(tokens, tokens.names[DECLARED][0]) is None


@pytest.mark.parametrize(
    ("text", "declared", "hidden"),
    [
        ("void f() {\n  dim3 max(1);\n}\n", False, True),
        ("void f()\n// why\n{\n  dim3 max(1);\n}\n", False, True),
        ("struct P {\n  int max(int a);\n};\n", True, False),
        ("namespace n {\nint max(int a);\n}\n", True, False),
        ("struct alignas(8) P {\n  int max(int a);\n};\n", True, False),
        ("void f() {\n  dim3 max(1);\n}\nint max(int a, int b) {\n  return a;\n}\n", True, False),
        (
            "#ifdef A\nvoid f() {\n#else\nvoid f(int a) {\n#endif\n}\nint max(int a);\n",
            True,
            False,
        ),
        ("#define max(a) a\nint f() { return max(1); }\n#undef max\n", False, True),
        ("#define max(a) a\n#undef maximum\n", True, False),
    ],
)
def test_what_other_files_get_to_know(text: str, declared: bool, hidden: bool) -> None:
    found = scan(text.encode(), lambda name: name == DECLARED)
    assert (DECLARED in found.declared, DECLARED in found.hidden) == (declared, hidden)


def unit(text: str) -> Unit:
    """A file whose `max` no other file declares; clang may not be asked."""
    made = Unit(SourceFile("a.cu", text.encode()), Settings(), load_names(None, {}), load_support(None))
    found = scan(text.encode(), lambda name: name == DECLARED)
    return replace(
        made, declared=frozenset((*found.declared, *found.hidden)), hidden=frozenset(found.hidden), parse=_never
    )


def _never(source: SourceFile, tokens: object, bodies: bool) -> None:
    raise AssertionError("clang was asked")


@pytest.mark.parametrize(
    ("text", "cudas"),
    [
        ("void f() {\n  dim3 max(1);\n  g(max);\n}\nvoid h() {\n  g(max(1, 2));\n}\n", [False, False, True]),
        (
            "void e() {\n  int max = 1;\n}\nvoid f(int max) {\n  g(max);\n}\nvoid h() {\n  g(max(1, 2));\n}\n",
            [False] * 3 + [True],
        ),
        ("#ifdef __HIP_PLATFORM_AMD__\nvoid f() {\n  int max = 1;\n  g(max);\n}\n#endif\n", [False, False]),
    ],
)
def test_blocks_and_branches_tell_without_clang(text: str, cudas: list[bool]) -> None:
    one = unit(text)
    assert [one.is_cuda(index) for index in one.tokens.names[DECLARED]] == cudas


OWN = "inline __device__ int max(int a, int b) {\n  return a > b ? a : b;\n}\n"
USE = "inline __device__ int f(int a) {\n  return max(a, 1);\n}\n"


@pytest.mark.parametrize(
    ("text", "cudas"),
    [
        (f"#ifdef A\n{USE}{OWN}{USE}#endif\n", [True, False, False]),
        (f"namespace n {{\n{USE}{OWN}}}\n", [True, False]),
        (f"template <class T>\n{USE}{OWN}", [False, False]),
        (f"inline __device__ int max(int a, int b);\n{USE}{OWN}", [False] * 3),
        (f"struct S {{\n{USE}{OWN}}};\n", [False, False]),
        (f"#define M max(1, 2)\n{OWN}", [False, False]),
        ('#include "own.h"\n' + USE + OWN, [False, False]),
    ],
)
def test_functions_mean_what_stands_before_them(text: str, cudas: list[bool]) -> None:
    """Where clang sees nothing, as under a macro that only the build sets."""
    header = SourceFile("own.h", OWN.encode())
    one = replace(unit(text), parse=None, included_file=lambda path, name: header if name == "own.h" else None)
    assert [one.is_cuda(index) for index in one.tokens.names[DECLARED]] == cudas


AMD_ONLY = "#ifdef USE_ROCM\nusing max = hip_max;\n#endif\n"


def test_names_of_amds_branches() -> None:
    look = looked_at("a.h", AMD_ONLY.encode(), lambda name: name == DECLARED)
    assert (look.declared, look.amds) == ((DECLARED,), (DECLARED,))
    both = looked_at("a.h", f"{AMD_ONLY}int max(int a);\n".encode(), lambda name: name == DECLARED)
    assert (both.declared, both.amds) == ((DECLARED,), ())


def test_names_for_amd_are_those_that_nobody_else_declares() -> None:
    amds, plain = Scan((), (DECLARED,), amds=(DECLARED,)), Scan((), (DECLARED,))
    user = Scan(("a.h", "b.h"))
    scans = {"k.cu": user, "a.h": amds, "b.h": Scan()}
    assert shown_names(include_graph(scans), scans) == dict.fromkeys(scans, Shown((DECLARED,), (DECLARED,)))
    scans = {"k.cu": user, "a.h": amds, "b.h": plain}
    assert shown_names(include_graph(scans), scans) == dict.fromkeys(scans, Shown((DECLARED,)))


@pytest.mark.parametrize(
    ("text", "cudas"),
    [
        ("int f() { return max(1, 2); }", [True]),
        ("#ifdef USE_ROCM\nint f() { return max(1, 2); }\n#endif", [False]),
    ],
)
def test_what_is_declared_for_amd_is_cudas_elsewhere(text: str, cudas: list[bool]) -> None:
    one = replace(unit(text), declared=frozenset({DECLARED}), for_amd=frozenset({DECLARED}))
    assert [one.is_cuda(index) for index in one.tokens.names[DECLARED]] == cudas


def test_a_file_of_hips_asks_clang() -> None:
    one = replace(
        unit("#include <hip/hip_runtime.h>\nint f() { return max(1, 2); }"),
        declared=frozenset({DECLARED}),
        for_amd=frozenset({DECLARED}),
        dialect=Dialect.BOTH,
    )
    with pytest.raises(AssertionError, match="clang was asked"):
        one.is_cuda(one.tokens.names[DECLARED][0])


def test_clang_is_asked_where_they_do_not() -> None:
    one = unit("namespace n {\nint max(int a);\n}\nvoid f() {\n  g(max(1));\n}\n")
    with pytest.raises(AssertionError, match="clang was asked"):
        one.is_cuda(one.tokens.names[DECLARED][1])


def test_a_licence_is_no_reason_to_read_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(text: str) -> None:
        raise AssertionError("the file was read")

    monkeypatch.setattr("porter.engine.dialect.lex", fails)
    looked_at("a.cu", b"// PROCUREMENT OF SUBSTITUTE GOODS\nint max;\n", lambda name: name == DECLARED)
    for text in (b"#ifdef USE_ROCM\n#endif\n", b"#include <hip/hip_runtime.h>\n"):
        with pytest.raises(AssertionError, match="the file was read"):
            looked_at("a.cu", text, lambda name: name == DECLARED)
