"""Quick looks at a file: what is faster than the plain way says the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.buildfiles.mentions import _CUDA, _in_python
from porter.cpp.prescan import words_of
from porter.engine.dialect import _MENTIONS_HIP
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.engine.trace import Trace, _is_of_words
from porter.names.table import load_names
from porter.source import SourceFile

PLAIN = {
    _MENTIONS_HIP: rb"\bhip|HIP|(?:\b|_)ROC|roc[a-z]+/|\bck(?:_tile)?/|amdgcn",
    _CUDA: rb"nvcc|CUDA|cuda|\bcu(?:blas|fft|rand|sparse|solver|dnn)\b|\.cu\b|\bsm_\d\d",
}
IN_PYTHON = (
    rb"CUDAExtension|\bnvcc\b|load_inline|cpp_extension|RawKernel|RawModule|SourceModule|ElementwiseKernel|ReductionKernel"
    rb"|cuda\.jit|nvrtcCreateProgram|cuda\.core|\.cu\b|[\"']cu[\"']"
)
PIECES = (
    *("hip", "HIP", "ROC", "PROCUREMENT", "rocblas", "/", "ck", "ck_tile", "amdgcn", "s", "_", " ", "\n", ".", '"'),
    *("nvcc", "cuda", "cublas", "cu", "fft", "sm_", "80", "x", "4", "global", "Device", "warp", "WARP", "SIZE", "lane"),
    *("__shfl", "__device__", "float", "double", "uint", "AT_DISPATCH_", "id", "<<", ">>", "+", "(", "\xe9", "$"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
OF_WORDS = [re.compile(rule.text) for rule in all_rules() if rule.text and _is_of_words(rule.text)]


@given(TEXTS)
def test_patterns_that_begin_with_letters_find_what_the_plain_ones_find(text: str) -> None:
    data = text.encode("latin-1")
    for fast, plain in PLAIN.items():
        one, other = fast.search(data), re.search(plain, data)
        assert (one is None) == (other is None), plain
        if one is not None and other is not None and fast is not _MENTIONS_HIP:
            assert one.start() == other.start(), plain


@given(st.lists(st.sampled_from((*PIECES, "'", "cpp_extension", "RawKernel", "cuda.core", "x")), max_size=8))
def test_words_looked_for_one_by_one_are_those_looked_for_at_once(pieces: list[str]) -> None:
    data = "".join(pieces).encode("latin-1")
    found = re.search(IN_PYTHON, data)
    assert _in_python(data) == (found.start() if found is not None else None)


@given(TEXTS)
def test_parts_of_words_are_found_in_the_words(text: str) -> None:
    words = b"\n".join(words_of(text.encode("latin-1"))).decode("latin-1")
    for pattern in OF_WORDS:
        assert (pattern.search(text) is None) == (pattern.search(words) is None), pattern.pattern


def test_patterns_with_blanks_signs_or_edges_are_not_of_words() -> None:
    assert OF_WORDS
    for text in (r"a b", r"\bwarp", r"\s+x", r"<<<", r"cuda/", r"a.b", r"x[^;]", r"warp$", "#[ \\t]*include"):
        assert not _is_of_words(text)
    for text in (r"(?i:warp|wave)", r"WARP_?SIZE", r"[wW]arp", r"__gfx\w+", r"(?:float|double)([1234])"):
        assert _is_of_words(text)


DEFINED = '#include "b.h"\nint A::f() { return 1; }'


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ({"a.cpp": DEFINED, "b.h": "struct A { __device__ int f(); };"}, True),
        (
            {
                "a.cpp": DEFINED,
                "b.h": '#include "c.h"',
                "c.h": "__device__ int f();",
            },
            True,
        ),
        (
            {"a.cpp": DEFINED, "b.h": '#include "a.cpp"\nstruct A { int f(); };'},
            False,
        ),
        ({"a.cpp": '#include "gone.h"\nint A::f() { return 1; }'}, False),
        ({"a.cpp": "int A::f() { for (;;) while (1) return 1; }"}, False),
        ({"a.cpp": "MY_DEVICE int f() { for (;;) while (1) return 1; }"}, True),
        ({"a.cpp": 'namespace a {\n#include "x.h"\n}'}, True),
        ({"a.cpp": '#include "x.h"\nnamespace a {\n}'}, False),
    ],
)
def test_a_file_is_looked_at_for_what_is_in_sight(texts: dict[str, str], wanted: bool) -> None:
    """What it includes counts where a rule is about that; loops and includes alone are those of any file."""
    files = {path: SourceFile(path, text.encode()) for path, text in texts.items()}
    trace = Trace(all_rules(), load_names(None, {}), load_support(None))
    assert trace.concerns(files["a.cpp"], lambda path, name: files.get(name)) is wanted
    if "b.h" in files:
        assert not trace.concerns(files["a.cpp"])


@pytest.mark.parametrize("between", ["/" * 200, "/* */" * 100, "//\n" * 100, "\\\n" * 100], ids=lambda text: text[:5])
def test_what_stands_between_two_signs_is_read_once(between: str) -> None:
    """A line of slashes after `<<`, of which each may begin a comment, took seconds at 34, and twice that at 36."""
    (text,) = (rule.text for rule in all_rules() if rule.code == "L010")
    assert re.search(text, f"a << {between} x") is None
    assert re.search(text, f"a << {between}\n< x") is not None
