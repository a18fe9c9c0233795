"""Where an added #include goes."""

from __future__ import annotations

import pytest

from porter.cpp.lex import lex
from porter.engine.edits import apply
from porter.engine.insertion import include_edit
from porter.model import Edit
from porter.source import SourceFile


def inserted(text: str) -> str:
    """The text with `#include <n.h>` added."""
    source = SourceFile("a.h", text.encode("latin-1"))
    edit = include_edit(source, lex(source.text), ["<n.h>"])
    assert edit is not None
    return apply(source.text, [edit])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "#include <n.h>\n"),
        ("int x;\n", "#include <n.h>\nint x;\n"),
        ("// license\n\nint x;\n", "// license\n#include <n.h>\n\nint x;\n"),
        (
            "#pragma once\n#ifndef X\n#include <b.h>\nint y;\n#endif\n#include <a.h>\nint x;\n",
            "#pragma once\n#include <n.h>\n#ifndef X\n#include <b.h>\nint y;\n#endif\n#include <a.h>\nint x;\n",
        ),
        (
            "#ifdef X\n#include <b.h>\n#define Y\n#endif\n#include <a.h>\nint x;\n",
            "#ifdef X\n#include <b.h>\n#define Y\n#endif\n#include <n.h>\n#include <a.h>\nint x;\n",
        ),
        ("#include <a.h>\nint x;\n", "#include <n.h>\n#include <a.h>\nint x;\n"),
        ("#pragma once\nint x;\n", "#pragma once\n#include <n.h>\nint x;\n"),
        (
            "#ifndef A_H\n#define A_H\nint x;\n#endif\n",
            "#ifndef A_H\n#define A_H\n#include <n.h>\nint x;\n#endif\n",
        ),
        (
            "#ifndef A_H\n#define A_H\n#include <a.h>\n#endif\n",
            "#ifndef A_H\n#define A_H\n#include <n.h>\n#include <a.h>\n#endif\n",
        ),
        (
            "#if X\n#include <a.h>\n#endif\nint x;\n",
            "#include <n.h>\n#if X\n#include <a.h>\n#endif\nint x;\n",
        ),
        (
            "#if X\n#include <a.h>\n#endif\n#include <b.h>\n",
            "#if X\n#include <a.h>\n#endif\n#include <n.h>\n#include <b.h>\n",
        ),
        ("\xef\xbb\xbfint x;\n", "\xef\xbb\xbf#include <n.h>\nint x;\n"),
        ("#include <a.h>\r\nint x;\r\n", "#include <n.h>\r\n#include <a.h>\r\nint x;\r\n"),
        ("// only a comment", "// only a comment\n#include <n.h>\n"),
        ("/* one */ int x;\n", "#include <n.h>\n/* one */ int x;\n"),
        ("// porter: allow[A] x\n#include <a.h>\n", "#include <n.h>\n// porter: allow[A] x\n#include <a.h>\n"),
        (
            "// license\n// porter: allow[A] x\n// porter: allow[B] y\nint x;\n",
            "// license\n#include <n.h>\n// porter: allow[A] x\n// porter: allow[B] y\nint x;\n",
        ),
        ("/* porter: allow[A] x */\nint x;\n", "#include <n.h>\n/* porter: allow[A] x */\nint x;\n"),
        ("// porter: allow[A] x\n\nint x;\n", "#include <n.h>\n// porter: allow[A] x\n\nint x;\n"),
    ],
)
def test_place(before: str, after: str) -> None:
    """Every configuration of the file sees the line, guards and comments stay first."""
    assert inserted(before) == after


_SWITCHED = '#ifdef GPU\n#include <{}>\n#endif\n#include "a.h"\n'


@pytest.mark.parametrize("header", ["cublas_v2.h", "hipblas/hipblas.h"])
def test_what_hipblas_asks_for_stands_before_it(header: str) -> None:
    source = SourceFile("a.h", _SWITCHED.format(header).encode())
    edit = include_edit(source, lex(source.text), ['"porter/hipblas_types.hpp"'])
    assert edit is not None and edit.start == 0
    assert inserted(source.text).index("<n.h>") > source.text.index("#endif")


def test_another_library_keeps_its_part() -> None:
    source = SourceFile("a.h", _SWITCHED.format("cufft.h").encode())
    edit = include_edit(source, lex(source.text), ['"porter/hipblas_types.hpp"'])
    assert edit is not None and edit.start == source.text.index('#include "a.h"')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#define A\nint $x;\n#include <a.h>\n", "#define A\n#include <n.h>\nint $x;\n#include <a.h>\n"),
        (
            "#define A\nint x;\n#include <a.h>\nint $y;\n",
            "#define A\nint x;\n#include <n.h>\n#include <a.h>\nint $y;\n",
        ),
        ("#define $A\n#include <a.h>\nint x;\n", "#define $A\n#include <n.h>\n#include <a.h>\nint x;\n"),
        ("/* a\n b */ int $x;\n#include <a.h>\n", "/* a\n b */ \n#include <n.h>\nint $x;\n#include <a.h>\n"),
        (
            "#if X\nint $x;\n#endif\n#include <a.h>\n",
            "#include <n.h>\n#if X\nint $x;\n#endif\n#include <a.h>\n",
        ),
    ],
)
def test_it_stands_before_a_change_that_may_need_it(before: str, after: str) -> None:
    """`$` is where something changes."""
    source = SourceFile("a.h", before.replace("$", "").encode())
    change = Edit(before.index("$"), before.index("$"), "")
    edit = include_edit(source, lex(source.text), ["<n.h>"], [change])
    assert edit is not None
    assert apply(source.text, [edit]) == after.replace("$", "")
