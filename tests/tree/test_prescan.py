"""The quick look at raw bytes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.cpp.prescan import Standing, scan
from tests.fuzz.growth import work

DECLARATIONS = {
    "macro": b"#define shimX 1",
    "after a byte order mark": b"\xef\xbb\xbf#define shimX 1",
    "macro with blanks": b" #  define shimX(a) a",
    "function": b"int shimX(int a);",
    "definition": b"static inline cudaError_t shimX (void)\n{\n}",
    "type on the line before": b"__device__ double\nshimX(double *a, double b)\n{",
    "pointer": b"const char *shimX(int);",
    "template": b"template <typename T> __device__ T shimX(T a) {",
    "extern C": b'extern "C" void shimX(void);',
    "struct": b"struct shimX {",
    "class on two lines": b"class shimX\n{",
    "aligned": b"struct __align__(16) shimX {",
    "typedef": b"typedef unsigned long shimX;",
    "typedef of struct": b"typedef struct { int a; } x;\ntypedef struct foo {\n} shimX;",
    "using": b"using shimX = int;",
    "variable": b"static const int shimX = 3;",
    "member": b"struct A {\n  int shimX;\n};",
    "array": b"float shimX[3];",
    "name in brackets": b"extern int shimX (int *f);",
    "enum": b"enum shimX : int {",
    "enumerator": b"enum E { a, shimX = 3, b };",
    "first enumerator": b"typedef enum\n{ shimX } E;",
}
USES = {
    "pointer to functions": b"X shimX (CALL* f)(int);",
    "pointers to functions": b"extern shimX (*f[3])(int a,\n  int b);",
    "pointer to members": b"static shimX (A::*f)(int);",
    "call": b"  shimX(1);",
    "returned": b"  return shimX(1);",
    "else": b"  else shimX(1);",
    "member call": b"  a.shimX(1);",
    "line comment": b"// int shimX(int);",
    "block comment": b"/* text\n   int shimX(int);\n*/",
    "argument": b"  int a = f(shimX);",
    "case": b"case shimX:",
    "namespace": b"using namespace shimX;",
}


@pytest.mark.parametrize("text", DECLARATIONS.values(), ids=DECLARATIONS.keys())
def test_declarations_are_found(text: bytes) -> None:
    """Whatever declares a name counts."""
    assert scan(text + b"\n", lambda name: name == "shimX").declared == ("shimX",)


AT_FILE_SCOPE = [name for name in DECLARATIONS if name not in ("typedef of struct", "member")]


@pytest.mark.parametrize("name", AT_FILE_SCOPE)
def test_a_name_built_like_those_of_the_runtime_is_cudas_own_at_file_scope(name: str) -> None:
    """A stand-in for builds without CUDA is renamed with its uses; within something else the name is the project's."""
    text = DECLARATIONS[name].replace(b"shimX", b"cudaX") + b"\n"
    wanted = lambda found: found == "cudaX"  # noqa: E731
    assert scan(text, wanted).declared == ()
    assert scan(b'extern "C" {\nint a;\n}\n' + text, wanted).declared == ()
    if b"define" not in text:
        assert scan(b"namespace mine {\n" + text + b"}\n", wanted).declared == ("cudaX",)


WITHOUT_CUDA = {
    "in a branch": b"#ifndef WITH_CUDA\nnamespace mine {\nint cudaX(int a) {\n}\n}\n#endif\n",
    "in the other branch": b"#if defined(USE_CUDA)\n#else\nnamespace a::b {\ninline int cudaX(int a) {\n}\n}\n#endif\n",
    "an enumerator": b"#ifndef WITH_CUDA\nnamespace mine {\nenum E {\n  a,\n  cudaX = 1,\n};\n}\n#endif\n",
    "refused": b'#ifdef WITH_CUDA\n#error "not with CUDA"\n#endif\nnamespace mine {\nusing cudaX = int;\n}\n',
}
WITH_CUDA = {
    "in the branch with it": b"#ifdef WITH_CUDA\nnamespace mine {\nint cudaX(int a) {\n}\n}\n#endif\n",
    "in the other branch": b"#ifndef WITH_CUDA\nint a;\n#else\nnamespace mine {\nint cudaX(int a) {\n}\n}\n#endif\n",
    "without AMD": b"#ifndef WITH_HIP\nnamespace mine {\nint cudaX(int a) {\n}\n}\n#endif\n",
    "behind a guard": b"#ifndef MY_CUDA_H\n#define MY_CUDA_H\nnamespace mine {\nint cudaX(int a) {\n}\n}\n#endif\n",
    "a member": b"#ifndef WITH_CUDA\nnamespace mine {\nstruct A {\nint cudaX(int a) {\n}\n};\n}\n#endif\n",
    "an enumerator": b"namespace mine {\nenum E {\n  a,\n  cudaX = 1,\n};\n}\n",
    "refused without it": b'#ifndef WITH_CUDA\n#error "CUDA"\n#endif\nnamespace mine {\nint cudaX(int a) {\n}\n}\n',
    "denied": b'#if !defined(WITH_CUDA)\n#error "CUDA"\n#endif\nnamespace mine {\nint cudaX(int a) {\n}\n}\n',
    "a warning": b'#ifdef WITH_CUDA\n#warning "slow"\n#endif\nnamespace mine {\nint cudaX(int a) {\n}\n}\n',
}


@pytest.mark.parametrize("name", WITHOUT_CUDA)
def test_a_stand_in_within_a_namespace_is_cudas_own_where_cuda_is_absent(name: str) -> None:
    """Both builds use it without the namespace's name, or CUDA's would not be found."""
    assert scan(WITHOUT_CUDA[name], lambda found: found == "cudaX").declared == ()


@pytest.mark.parametrize("name", WITH_CUDA)
def test_a_function_within_a_namespace_is_the_projects_where_cuda_is_there(name: str) -> None:
    """It stands beside CUDA's, and is meant by its users."""
    assert scan(WITH_CUDA[name], lambda found: found == "cudaX").declared == ("cudaX",)


OWN = {
    "struct": b"struct ncclX {\n",
    "struct on two lines": b"struct ncclX\n{\n",
    "enumerator": b"enum E { a, ncclX = 3 };",
    "function": b"static inline int ncclX(int a) {\n",
    "function on two lines": b"int ncclX(int a,\n  int b)\n{\n",
    "typedef": b"typedef struct mine ncclX;",
    "macro": b"#define ncclX(a) a",
    "behind a guard": b"#ifndef MINE_H\n#define MINE_H\nstruct ncclX {\n#endif",
    "behind another guard": b"#if !defined(MINE_H)\n\n#define MINE_H 1\nstruct ncclX {\n#endif",
    "for the device": b"#if CHECK_CUDACC\nstruct ncclX {\n#endif",
}
NOT_OWN = {
    "prototype": b"int ncclX(int a);",
    "prototype on two lines": b"int ncclX(int a,\n  int b);",
    "forward declaration": b"struct ncclX;",
    "without the library": b"#ifdef USE_NCCL\n#include <nccl.h>\n#else\nstruct ncclX {\n#endif",
    "where the library is not": b"#ifndef USE_NCCL\ntypedef int ncclX;\n#endif",
    "where it is denied": b"#if !defined(USE_NCCL)\nenum E { ncclX };\n#endif",
    "where it is zero": b"#if USE_NCCL == 0\nint ncclX(int a) {\n#endif",
}


_MEANT = b"#define cudaOne hipOne\n#define cudaTwo hipTwo\n#define cudaSix hipSix\n"
_SHUFFLE = b"#define shimX(m, v) __shfl(v, 0)\n"


@pytest.mark.parametrize(
    ("text", "amds"),
    [
        (_MEANT + _SHUFFLE, True),
        (b"#ifndef A_H\n#define A_H\n" + _MEANT + _SHUFFLE + b"#endif\n", True),
        (_SHUFFLE, False),
        (b"#define cudaOne hipOne\n" + _SHUFFLE, False),
        (b"#ifdef BACKEND\n" + _MEANT + b"#else\n" + _SHUFFLE + b"#endif\n", False),
        (b"#ifdef BACKEND\n" + _MEANT + b"#endif\n" + _SHUFFLE, False),
        (_MEANT.replace(b"hip", b"mine") + _SHUFFLE, False),
    ],
)
def test_what_says_hip_of_cudas_names_without_a_condition_is_for_amd_alone(text: bytes, amds: bool) -> None:
    """A header that one backend's branch includes, and that is no AMD's by itself."""
    found = scan(text, lambda name: name == "shimX" or name.startswith("cuda"))
    assert "shimX" in found.declared and ("shimX" in found.amds) is amds


def _own(text: bytes, standing: Standing) -> bool:
    return scan(text + b"\n", lambda name: name == "ncclX", standing=lambda name: standing).declared == ("ncclX",)


@pytest.mark.parametrize("text", OWN.values(), ids=OWN.keys())
def test_who_defines_what_hip_lacks_means_the_own_one(text: bytes) -> None:
    """NCCL itself: nothing is renamed, and every use finds what the project has."""
    assert _own(text, "missing") and _own(text, "unknown") and not _own(text, "replaced")


@pytest.mark.parametrize("text", NOT_OWN.values(), ids=NOT_OWN.keys())
def test_a_name_of_the_librarys_that_is_not_defined_stays_a_gap(text: bytes) -> None:
    """A prototype is the library's own, and a stand-in counts for builds without it."""
    assert not _own(text, "missing")


def test_a_pointer_type_is_declared_by_its_typedef() -> None:
    """`typedef void (*name)(int);` of a name that no table has."""
    assert _own(b"typedef void (*ncclX)(int a,\n  int b);", "unknown")
    assert not _own(b"  int (*ncclX)(int a);", "missing")


@pytest.mark.parametrize("text", USES.values(), ids=USES.keys())
def test_uses_are_not_declarations(text: bytes) -> None:
    """A use of CUDA's own name does not make it the project's."""
    assert scan(text + b"\n", lambda name: name == "shimX").declared == ()


def test_includes_are_listed_in_order() -> None:
    """Quoted and angled, with blanks; once each."""
    data = b'#include <a.h>\r\n  # include "b/c.cuh"\n#include_next <a.h>\n// #include "no.h"\n'
    assert scan(data, lambda name: False).includes == ("a.h", "b/c.cuh")


@pytest.mark.parametrize(
    "before",
    [
        b"#if ( \\\n    defined(X) && \\\n    (Y == 1))\n#define Z\n#endif",
        b"/*\n * Contact: A. Author (author@example.org),\n * a university (b)\n */",
        b"DECLARE_ALL(a, b)",
    ],
    ids=["condition on several lines", "comment", "macro"],
)
def test_what_looks_like_a_head_does_not_reach_over_includes(before: bytes) -> None:
    """`defined(X) && ... #include "a.h" ... void f() {` is no function: what stands between is seen."""
    found = scan(before + b'\n#include "a.h"\n#define shimX 1\nvoid f(int a) {\n}\n', lambda name: name == "shimX")
    assert (found.includes, found.declared) == (("a.h",), ("shimX",))


def test_the_parameters_of_a_head_may_stand_in_conditions() -> None:
    """A directive of another kind does not end them."""
    text = b"\nshimX(int a,\n#ifdef Y\n  int b,\n#endif\n  int c)\n{\n}\n"
    assert scan(text, lambda name: True).declared == ("shimX",)


@given(st.lists(st.sampled_from([b"a<", b"enum ", b"typedef a ", b"F(1)\n", b"{", b";\n", b"/*", b"template<a> "])))
def test_any_bytes_are_fine(pieces: list[bytes]) -> None:
    """Nothing makes it fail."""
    scan(b"".join(pieces) + b"\xff\x00", lambda name: True)


@pytest.mark.parametrize(
    "piece", [b"a<", b"a<a ", b"F(1,2)\n", b"enum ", b"template<a> ", b"typedef a \n", b"/*shimX\n", b"struct __a__("]
)
def test_time_grows_with_the_size_alone(piece: bytes) -> None:
    """Four times the text takes nowhere near sixteen times the time."""
    small, large = (_seconds(piece * count) for count in (4000, 16000))
    assert large < 10 * small + 0.2


def _seconds(data: bytes) -> float:
    started = time.process_time()
    scan(data, lambda name: True)
    return time.process_time() - started


@pytest.mark.parametrize("name", ["CUDA_SUCCESS", "CUDA_ERROR_UNKNOWN", "CU_DEVICE_ATTRIBUTE_WARP_SIZE", "cudaSuccess"])
def test_enumerators_of_the_library_are_renamed_with_their_uses(name: str) -> None:
    """Who loads the driver by name declares them; those within something of the project's are the project's."""
    text = b"typedef enum cudaError_enum {\n  %b = 0,\n  MINE = 1\n} CUresult;\n" % name.encode()
    wanted = lambda found: found == name  # noqa: E731
    assert scan(text, wanted).declared == ()
    assert scan(b"namespace mine {\n" + text + b"}\n", wanted).declared == (name,)
    assert scan(text, lambda found: found == name, standing=lambda found: "missing").declared == (name,)


def test_stand_ins_in_a_namespace_cost_what_their_number_costs() -> None:
    """In lines of Python, which no busy machine changes."""

    def cost(count: int) -> int:
        one = b"inline cudaError_t cudaFoo() { return 0; }\n"
        text = b"#ifndef WITH_CUDA\nnamespace mine {\n" + one * count + b"}\n#endif\n"
        return work(lambda: scan(text, lambda name: True))

    cost(3)
    assert cost(400) < 5 * cost(100)
