"""The reader of declarations: C and C++ headers, every conditional branch."""

from __future__ import annotations

import pytest

from porter.names.derive.declarations import Declaration, Parameter
from porter.names.derive.namespaces import ccl_namespaces
from porter.names.derive.reader import read_declarations


def read(text: str) -> dict[str, Declaration]:
    """Declarations by name; the first of each."""
    found: dict[str, Declaration] = {}
    for declaration in read_declarations(text, "a.h", ccl_namespaces):
        found.setdefault(declaration.name, declaration)
    return found


def parameters(text: str) -> list[tuple[str, str, bool]]:
    """Parameters of the only function."""
    (function,) = [d for d in read_declarations(text, "a.h") if d.kind == "function"]
    return [tuple(parameter) for parameter in function.overloads[0].parameters]  # type: ignore[misc]


def test_function_with_decorations() -> None:
    """Calling-convention macros, attributes and default values around a prototype."""
    text = """
        extern __host__ __cudart_builtin__ cudaError_t CUDARTAPI cudaMemcpyAsync(
            void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream __dv(0));
    """
    found = read(text)["cudaMemcpyAsync"]
    assert found.kind == "function"
    assert found.overloads[0].parameters == (
        Parameter("void *", "dst"),
        Parameter("const void *", "src"),
        Parameter("size_t", "count"),
        Parameter("enum cudaMemcpyKind", "kind"),
        Parameter("cudaStream_t", "stream", True),
    )
    assert found.overloads[0].required == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(void);", []),
        ("int f(unsigned mask);", [("unsigned", "mask", False)]),
        ("int f(unsigned);", [("unsigned", "", False)]),
        ("int f(const struct S *s);", [("const struct S *", "s", False)]),
        ("int f(float v[3]);", [("float *", "v", False)]),
        ("int f(void (*call)(int), int n = 2);", [("void ( * ) ( int )", "call", False), ("int", "n", True)]),
        ("template <class T, int N = (1 > 0)> T f(T a, const T& b);", [("T", "a", False), ("const T &", "b", False)]),
    ],
)
def test_parameters(text: str, expected: list[tuple[str, str, bool]]) -> None:
    """Types and names of parameters."""
    assert parameters(text) == expected


def test_both_branches_are_read_once() -> None:
    """A declaration in each branch; a branch that would unbalance the braces is left out."""
    found = read(
        """
        #if defined(__CUDACC_RTC__)
        int rtc(int a);
        #else
        int host(int a);
        #endif
        #ifdef __cplusplus
        namespace outer {
        #else
        struct outer {
        #endif
        int inside(int a);
        }
        int after(void);
        """
    )
    assert {"rtc", "host", "outer::inside", "after"} <= found.keys()


def test_enumerators_have_values_and_owners() -> None:
    """Implicit values, shifts, references to earlier ones, attributes."""
    found = read(
        """
        #define BASE 0x10u
        typedef enum Kind_enum { kA, kB = 5, kC, kD = 1 << 3, kE = kD | 1, kF DEPRECATED_X = BASE, kG = -1 } Kind;
        enum class Scoped : int { One = 1, Two };
        """
    )
    values = {name: found[name].value for name in ("kA", "kB", "kC", "kD", "kE", "kF", "kG")}
    assert values == {"kA": 0, "kB": 5, "kC": 6, "kD": 8, "kE": 9, "kF": 16, "kG": -1}
    assert found["kA"].owner == "Kind"
    assert found["Scoped::Two"].value == 2
    assert {"Kind", "Kind_enum", "Scoped"} <= found.keys()


def test_value_that_cannot_be_computed_is_unknown() -> None:
    """An expression with a cast or a sizeof has no value, nor have those that count on from it."""
    found = read("enum E { a = sizeof(int) * 8, b, c = 3 };")
    assert (found["a"].value, found["b"].value, found["c"].value) == (None, None, 3)


def test_typedefs() -> None:
    """Handles, structs, function pointers, arrays; a deprecation macro behind the name is not the name."""
    found = read(
        """
        typedef struct CUstream_st *CUstream;
        typedef struct Desc_st { int width; float border[4]; union { int a; float b; } u; struct { int deep; }; } Desc;
        typedef void (CUDART_CB *callback_t)(cudaStream_t stream, void *data);
        typedef struct bsrInfo *bsrInfo_t CUSPARSE_DEPRECATED_TYPE;
        typedef unsigned int row_t[32];
        """
    )
    kinds = {d.name for d in found.values() if d.kind == "type"}
    assert {"CUstream", "CUstream_st", "Desc", "Desc_st", "callback_t", "bsrInfo_t", "row_t"} <= kinds
    assert found["CUstream"].target == "CUstream_st*"
    fields = {d.name for d in found.values() if d.kind == "field" and d.owner == "Desc"}
    assert fields == {"width", "border", "u", "deep"}


def test_namespaces_classes_and_macros_that_open_them() -> None:
    """Members of classes: static functions count, private ones do not."""
    found = read(
        """
        CUB_NAMESPACE_BEGIN
        template <typename T> struct BlockReduce { struct TempStorage {}; T Sum(T v) { return v; } };
        class Hidden { static int secret(int); public: static int shown(int a) { return a; } };
        struct DeviceReduce { template <class I> CUB_RUNTIME_FUNCTION static cudaError_t Sum(void *t, I in); };
        CUB_NAMESPACE_END
        namespace a { inline namespace v1 { namespace b { using std::plus; constexpr int n = 1; } } }
        inline namespace x::y { void f(); }
        """
    )
    assert {"cub::BlockReduce", "cub::DeviceReduce::Sum", "cub::Hidden::shown"} <= found.keys()
    assert "cub::BlockReduce::Sum" not in found
    assert "cub::Hidden::secret" not in found
    assert found["a::b::plus"].kind == "using"
    assert "a::b::n" in found


def test_macros() -> None:
    """Object-like with a value, function-like, aliases of functions."""
    found = read(
        """
        #define cudaHostAllocPortable 0x01
        #define cudaMemAttachGlobal 0x01u
        #define cuMemAlloc cuMemAlloc_v2
        #define make(x, ...) (x)
        """
    )
    assert found["cudaHostAllocPortable"].value == 1
    assert found["cudaMemAttachGlobal"].value == 1
    assert found["cuMemAlloc"].target == "cuMemAlloc_v2"
    assert [p.name for p in found["make"].overloads[0].parameters] == ["x", "..."]


def test_declarations_made_by_macros() -> None:
    """A function-like macro of the header, used as a declaration."""
    found = read(
        """
        #define DEFINE_STATE(hip, roc) typedef roc hip ## _t; typedef hip ## _t hip;
        #define BROKEN(x) BROKEN(x) ## ##
        DEFINE_STATE(hiprandState, rocrand_state)
        BROKEN(1)
        int after(int a);
        """
    )
    assert {"hiprandState", "hiprandState_t", "after"} <= found.keys()
    assert found["hiprandState_t"].target == "rocrand_state"


def test_end_macro_without_semicolon() -> None:
    """CUDA's device headers end prototypes with a macro that is `;` or `{ }`."""
    found = read(
        """
        #define __DEF_IF_HOST { }
        __DECL__ int atomicAdd(int *address, int val) __DEF_IF_HOST
        __DECL__ int atomicSub(int *address, int val) __DEF_IF_HOST
        """
    )
    assert {"atomicAdd", "atomicSub"} <= found.keys()


@pytest.mark.parametrize(
    "text", ["", "}", "{", "typedef", "enum {", "struct", "template <", "#if", "int f(", "operator", "::"]
)
def test_broken_text_never_fails(text: str) -> None:
    """Whatever is cut off, the reader comes to an end."""
    read_declarations(text, "a.h", ccl_namespaces)
    read_declarations(text + "\nint g(int);", "a.h")
