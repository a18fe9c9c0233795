"""CUDA in strings of Python files: what is followed, what is written back, and what is said where it is not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import porter
from porter.engine.python_strings import sources_of
from porter.source import SourceFile

KERNEL = "__global__ void k(int *x) { x[0] = __ballot_sync(0xffffffff, x[threadIdx.x]); }"


def ported(folder: Path, text: str) -> tuple[str, list[tuple[int, str, str, str]]]:
    """The new text, and line, code, effort and message of what was found."""
    (folder / "a.py").write_text(text)
    done = porter.port(folder)
    found = [(e.line, e.code, e.effort, e.message) for path, e in done.report.findings if path == "a.py"]
    return done.files.get("a.py", text.encode()).decode(), found


@pytest.mark.parametrize("quote", ['"""', "'''", 'r"""', "r'''", '"', "'", 'r"', "u'"])
def test_names_in_every_kind_of_literal(tmp_path: Path, quote: str) -> None:
    end = quote.lstrip("ru")
    code = f"{quote}__global__ void k(float2 *x) {{ cuCreal(x[0]); }}{end}"
    text = f"import cupy\ncode = {code}\nk = cupy.RawKernel(code, 'k')\n"
    new, found = ported(tmp_path, text)
    assert "hipCreal(x[0])" in new and ast.parse(new)
    assert (3, "K204", "none") in {(line, code, effort) for line, code, effort, _ in found}
    assert (2, "A001") in {(line, code) for line, code, *_ in found}


def test_headers_are_changed_in_place(tmp_path: Path) -> None:
    text = (
        'import cupy as cp\nm = cp.RawModule(code=r"""\n#include <cuda_fp16.h>\n__global__ void k(__half *x) {}\n""")\n'
    )
    new, found = ported(tmp_path, text)
    assert "#include <hip/hip_fp16.h>" in new and "hip_runtime" not in new
    assert (3, "A010", "none") in {(line, code, effort) for line, code, effort, _ in found}


def test_what_needs_our_headers_is_left_to_a_person_for_hiprtc(tmp_path: Path) -> None:
    """And the hazard is at the line of the Python file."""
    text = f"import cupy\nk = cupy.RawKernel('''\n\n{KERNEL}\n''', 'k')\n"
    new, found = ported(tmp_path, text)
    assert "__ballot_sync" in new
    manual = [(line, message) for line, code, effort, message in found if effort == "manual"]
    assert manual and manual[0][0] == 4 and "not done: hipRTC does not find porter/warp32.hpp from CuPy" in manual[0][1]


def test_load_inline_gets_them(tmp_path: Path) -> None:
    text = (
        "from torch.utils.cpp_extension import load_inline\n"
        f"source = '''\n{KERNEL}\n'''\n"
        "m = load_inline('m', cpp_sources='', cuda_sources=[source], functions=['f'])\n"
    )
    new, found = ported(tmp_path, text)
    assert '#include "porter/warp32.hpp"' in new and "porter::ballot_sync" in new and ast.parse(new)
    assert any(effort == "review" and "extra_include_paths" in message for _, _, effort, message in found)
    again, _ = ported(tmp_path, new)
    assert again == new


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("k = cupy.RawKernel(f'{a} __global__ void k() {{}}', 'k')", "the text is made at run time"),
        ("k = cupy.RawKernel(open('k.cu').read(), 'k')", "the text is made at run time: open('k.cu').read()"),
        ("s = 'a'\ns += 'b'\nk = cupy.RawKernel(s, 'k')", "the text of s comes from elsewhere"),
        ("def f(s):\n    return cupy.RawKernel(s, 'k')", "the text of s comes from elsewhere"),
        ("s = 'a'\nt = s.replace('a', 'b')\nk = cupy.RawKernel(s, 'k')", "s.replace changes or searches the text"),
        ("s = 'a'\nt = s + 'b'\nk = cupy.RawKernel(s, 'k')", "s is a part of another text"),
        ("k = cupy.RawKernel('\\x41', 'k')", "escapes that are not followed"),
    ],
)
def test_what_is_not_followed_is_said(tmp_path: Path, text: str, reason: str) -> None:
    new, found = ported(tmp_path, f"import cupy\n{text}\n")
    assert new == f"import cupy\n{text}\n"
    assert [effort for _, code, effort, message in found if code == "K204" and reason in message] == ["manual"], found


def test_a_variable_belongs_to_its_function() -> None:
    """Others of the same name are others; a choice of literals is all of them."""
    text = """
def f(s):
    return s + "x"
def g(x):
    if x:
        s = "one"
    else:
        s = "two"
    return RawKernel(s, "k")
def h():
    return RawKernel(T, "k")
T = "three"
"""
    found = sources_of(SourceFile("a.py", text.encode()))
    assert [one.literal.text for one in found if one.literal] == ["one", "two", "three"] and len(found) == 3


def test_libraries_without_amd(tmp_path: Path) -> None:
    code = "__global__ void k(float2 *x) { cuCreal(x[0]); }"
    text = f"from pycuda.compiler import SourceModule\nm = SourceModule('{code}')\n"
    new, found = ported(tmp_path, text)
    assert "hipCreal" in new
    assert any(
        code == "K204" and effort == "manual" and "PyCUDA has no version for AMD" in m for _, code, effort, m in found
    )


def test_near_misses() -> None:
    """Calls of the same name, and text beside the source."""
    assert not sources_of(SourceFile("a.py", b"p = Program('x', 'c++')  # RawKernel\n"))
    assert not sources_of(SourceFile("a.py", b"RawKernel = 1\nx = RawKernel\n"))
    assert not sources_of(SourceFile("a.py", b"def f(:\n  RawKernel('a', 'b')\n"))
    (only,) = sources_of(SourceFile("a.py", b"k = RawKernel('source', 'name', options=('-I.',))\n"))
    assert only.literal is not None and only.literal.text == "source"
    found = sources_of(SourceFile("a.py", b"k = ElementwiseKernel('T x', 'T y', 'y = x', 'name', preamble='int a;')\n"))
    assert [one.literal.text for one in found if one.literal] == ["y = x", "int a;"]


def test_places_with_escapes_and_bytes_beyond_ascii() -> None:
    """Offsets are those of the file's bytes, whatever stands before."""
    data = "# ä\nk = RawKernel('ab\\n' \"\\\"c\" r'\\d', 'k')\n".encode()
    (one,) = sources_of(SourceFile("a.py", data))
    assert one.literal is not None and one.literal.text == 'ab\n"c\\d'
    assert [data[one.literal.position(i) : one.literal.position(i) + 1] for i in (0, 1, 2, 4, 6)] == [
        b"a", b"b", b"\\", b"c", b"d",
    ]  # fmt: skip


def test_numba(tmp_path: Path) -> None:
    text = "from numba import cuda\n@cuda.jit\ndef k(x):\n    x[0] = cuda.shfl_down_sync(0xffffffff, x[0], 16)\n"
    new, found = ported(tmp_path, text)
    assert new == text
    assert [(line, code) for line, code, *_ in found] == [(2, "K208"), (4, "K208")]
