"""What a compiler refuses of a kernel that is cut out is left out, where it is no code of the device."""

from __future__ import annotations

import pytest
from porter.validation.harness.pruning import pruned

TEXT = """#line 1 "/a/lib.h"
#define HD __host__ __device__
namespace lib {
class Array {
 public:
  Array(missing::Shape shape) { go(shape); }
  missing::Shape shape() const { return shape_; }
  HD int size() const { return n; }
 private:
  friend class Gone;
  missing::Shape shape_;
  int n;
};
template <typename T> struct Host { missing::Shape a; T b; };
void run(Array a) { if (a.size()) { missing::go(); } }
int table[] = {1, 2, missing::n};
int names[missing::n]
#if B
= {1}
#endif
;
#if A
void other() {
#else
void other() {
#endif
  missing::go();
}
}
#line 1 "/a/k.cu"
extern "C" {
__global__ void k(int *x) { x[0] = missing::n; }
}
"""


def said(*lines: int, file: str = "/a/lib.h") -> str:
    return "\n".join(f'{file}({line}): error: name followed by "::" must be a class' for line in lines)


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        (5, "Array(missing::Shape shape) { go(shape); }"),
        (6, "missing::Shape shape() const { return shape_; }"),
        (9, "friend class Gone;"),
        (10, "missing::Shape shape_;"),
        (13, "missing::Shape a; "),
        (14, "void run(Array a) { if (a.size()) { missing::go(); } }"),
        (15, "int table[] = {1, 2, missing::n};"),
        (16, "int names[missing::n]\n#if B\n= {1}\n#endif\n;"),
    ],
)
def test_the_innermost_declaration(line: int, gone: str) -> None:
    made = pruned(TEXT, said(line), ())
    assert made is not None and len(made) == len(TEXT) and made.count("\n") == TEXT.count("\n")
    assert gone.strip() not in made
    left = TEXT.replace(gone.strip(), " ")
    assert made.split() == left.split() or line == 13


@pytest.mark.parametrize("line", [7, 1, 26])
def test_what_stays(line: int) -> None:
    """Code of the device, directives, and what a branch of the preprocessor cuts through."""
    assert pruned(TEXT, said(line), ()) is None


def test_a_word_in_a_branch_before() -> None:
    text = '#line 1 "/a/lib.h"\n#ifndef MAIN\nextern\n#endif\nconst char *names[missing::n];\nint kept;\n'
    assert (pruned(text, said(4), ()) or "").split() == ["#line", "1", '"/a/lib.h"', "int", "kept;"]


def test_a_template_whose_rest_is_in_branches() -> None:
    head = '#line 1 "/a/lib.h"\nnamespace lib {\nint kept;\n'
    text = f"{head}template <class T>\n#if A\nusing b = T;\n#else\nusing b = missing::C;\n#endif\n}}\n"
    assert (pruned(text, said(3), ()) or "").split() == [*head.split(), "}"]
    assert pruned(text.replace("missing::C", "__device__"), said(3), ()) is None


def test_an_end_that_is_not_expected() -> None:
    text = '#line 1 "/a/lib.h"\nnamespace lib {\nint kept;\ntemplate <class T>\n\n}\n'
    assert (pruned(text, said(5), ()) or "").split() == text.replace("template <class T>", "").split()


def test_kernels_and_wanted_names_stay() -> None:
    assert pruned(TEXT, said(2, file="/a/k.cu"), ("k",)) is None
    assert pruned(TEXT, said(14), ("run",)) is None
    assert pruned(TEXT, said(14, file="/a/other.h"), ()) is None
    assert pruned(TEXT, "nothing is wrong", ()) is None


def test_messages_of_clang_and_several_at_once() -> None:
    made = pruned(TEXT, "/a/x/../lib.h:6:3: error: use of undeclared identifier 'missing'\n/a/lib.h(9): error: no", ())
    assert made is not None and "shape() const" not in made and "Gone" not in made and "shape_;" in made
