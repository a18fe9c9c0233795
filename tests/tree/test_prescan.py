"""The quick look at raw bytes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.prescan import scan

DECLARATIONS = {
    "macro": b"#define cudaX 1",
    "after a byte order mark": b"\xef\xbb\xbf#define cudaX 1",
    "macro with blanks": b" #  define cudaX(a) a",
    "function": b"int cudaX(int a);",
    "definition": b"static inline cudaError_t cudaX (void)\n{\n}",
    "type on the line before": b"__device__ double\ncudaX(double *a, double b)\n{",
    "pointer": b"const char *cudaX(int);",
    "template": b"template <typename T> __device__ T cudaX(T a) {",
    "extern C": b'extern "C" void cudaX(void);',
    "struct": b"struct cudaX {",
    "class on two lines": b"class cudaX\n{",
    "aligned": b"struct __align__(16) cudaX {",
    "typedef": b"typedef unsigned long cudaX;",
    "typedef of struct": b"typedef struct { int a; } x;\ntypedef struct foo {\n} cudaX;",
    "using": b"using cudaX = int;",
    "variable": b"static const int cudaX = 3;",
    "member": b"struct A {\n  int cudaX;\n};",
    "array": b"float cudaX[3];",
    "enum": b"enum cudaX : int {",
    "enumerator": b"enum E { a, cudaX = 3, b };",
    "first enumerator": b"typedef enum\n{ cudaX } E;",
}
USES = {
    "call": b"  cudaX(1);",
    "returned": b"  return cudaX(1);",
    "else": b"  else cudaX(1);",
    "member call": b"  a.cudaX(1);",
    "line comment": b"// int cudaX(int);",
    "block comment": b"/* text\n   int cudaX(int);\n*/",
    "argument": b"  int a = f(cudaX);",
    "case": b"case cudaX:",
    "namespace": b"using namespace cudaX;",
}


@pytest.mark.parametrize("text", DECLARATIONS.values(), ids=DECLARATIONS.keys())
def test_declarations_are_found(text: bytes) -> None:
    """Whatever declares a name counts."""
    assert scan(text + b"\n", lambda name: name == "cudaX").declared == ("cudaX",)


@pytest.mark.parametrize("text", USES.values(), ids=USES.keys())
def test_uses_are_not_declarations(text: bytes) -> None:
    """A use of CUDA's own name does not make it the project's."""
    assert scan(text + b"\n", lambda name: name == "cudaX").declared == ()


def test_includes_are_listed_in_order() -> None:
    """Quoted and angled, with blanks; once each."""
    data = b'#include <a.h>\r\n  # include "b/c.cuh"\n#include_next <a.h>\n// #include "no.h"\n'
    assert scan(data, lambda name: False).includes == ("a.h", "b/c.cuh")


@given(st.lists(st.sampled_from([b"a<", b"enum ", b"typedef a ", b"F(1)\n", b"{", b";\n", b"/*", b"template<a> "])))
def test_any_bytes_are_fine(pieces: list[bytes]) -> None:
    """Nothing makes it fail."""
    scan(b"".join(pieces) + b"\xff\x00", lambda name: True)


@pytest.mark.parametrize(
    "piece", [b"a<", b"a<a ", b"F(1,2)\n", b"enum ", b"template<a> ", b"typedef a \n", b"/*cudaX\n", b"struct __a__("]
)
def test_time_grows_with_the_size_alone(piece: bytes) -> None:
    """Four times the text takes nowhere near sixteen times the time."""
    small, large = (_seconds(piece * count) for count in (4000, 16000))
    assert large < 10 * small + 0.2


def _seconds(data: bytes) -> float:
    started = time.process_time()
    scan(data, lambda name: True)
    return time.process_time() - started
