"""Where drafts see the members of classes: bases, template arguments, own types, pointers; what is no plain class."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.cases.file import load_cases
from porter.validation.draft.behind import as_pointer
from porter.validation.draft.host import Host
from porter.validation.draft.init import draft
from porter.validation.draft.structures import elements_behind, record_of, structure
from porter.validation.draft.trying import text_of, try_sizes
from porter.validation.draft.types import Element

from tests.validate.running import by_name, devices, run

CLASSES = """
#define SIDES 3
enum class Mode { A, B };
struct Empty {};
template <typename T, int N> struct Base { T* ptr; int sizes[N]; };
template <typename T> class View : public Base<T, SIDES>, Empty {
 public:
  using value_type = T;
  __host__ __device__ View() = default;
  View(T* p, int n) : w{p}, rows(n) {}
  __device__ T& operator()(int i, int j) const { return w[i * cols + j]; }
  __device__ inline const T* row(int i) const;
  static constexpr int kRank = 2;
  struct Inner { int never; };
 private:
  const value_type *w = nullptr, *other;
  int rows{0}, cols = 4; double scale;
  unsigned char flag; Mode mode; float4 edge; bool on;
};
struct Pair { Base<double, 2> two[2]; unsigned int n; unsigned long long wide; };
typedef struct { int count; float* __restrict__ at; dim3 grid; void* any; int& seen; } Plain;
template <typename V> class Three {
 public:
  using Raw = V[SIDES];
  Three() : x_{} {}
  Three(const Three& other) = default;
  Three& operator=(const Three& other) = default;
  V& operator[](int i) { return x_[i]; }
 private:
  Raw x_;
};
struct Mixed { Three<float> at; int n; };
struct Table { float filter[SIDES * 2]; int span; char c; };
struct Virtual { virtual void f(); int n; };
struct Called { void (*f)(int); int n; };
struct Either { union { int n; float f; }; int* p; };
struct Bits { unsigned a : 3; int* p; };
struct Unknown { Missing inside; int* p; };
"""


def members(name: str) -> list[tuple[str, int, str]]:
    made = structure(Host(CLASSES), name, {"T": "float"})
    assert made is not None
    return [(p.name, p.at, p.element.dtype if p.element else f"{p.pointed}*") for p in made.parts]


def test_bases_templates_and_functions() -> None:
    """As a C++ compiler lays it out: offsetof and sizeof on x86-64 and for both devices."""
    made = structure(Host(CLASSES), "View<T>", {"T": "float"})
    assert made is not None and made.size == 96 and made.align == 16 and made.has_pointers
    assert members("View<T>") == [
        ("ptr", 0, "float*"), ("sizes", 8, "int32"), ("w", 24, "const float*"), ("other", 32, "const float*"),
        ("rows", 40, "int32"), ("cols", 44, "int32"), ("scale", 48, "float64"), ("flag", 56, "uint8"),
        ("mode", 60, "int32"), ("edge", 64, "float32"), ("on", 80, "bool"),
    ]  # fmt: skip


def test_members_that_are_classes_and_pointers_of_all_kinds() -> None:
    assert members("Pair") == [
        ("two_0_ptr", 0, "double*"), ("two_0_sizes", 8, "int32"), ("two_1_ptr", 16, "double*"),
        ("two_1_sizes", 24, "int32"), ("n", 32, "uint32"), ("wide", 40, "uint64"),
    ]  # fmt: skip
    assert members("Plain") == [
        ("count", 0, "int32"), ("at", 8, "float*"), ("grid", 16, "uint32"), ("any", 32, "void*"), ("seen", 40, "int*"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["Virtual", "Called", "Either", "Bits", "Unknown", "Empty", "Nowhere", "View<T"])
def test_what_is_no_plain_class(name: str) -> None:
    assert structure(Host(CLASSES), name, {}) is None


def test_the_elements_of_arrays_of_classes() -> None:
    """One type without gaps is one more dimension, several are a structure; pointers are neither."""
    host = Host(CLASSES)
    assert elements_behind(host, "Three<T>", {"T": "double"}) == Element("float64", 3)
    assert elements_behind(host, "Mixed", {}) == "(float32*3 at_x_ @0, int32 n @12 /16)"
    assert elements_behind(host, "Pair", {}) is None and elements_behind(host, "Nowhere", {}) is None


@pytest.mark.parametrize(
    ("define", "kind"), [("#define FLOAT\n", "float"), ("", "double"), ("#define OTHER\n", "double")]
)
def test_the_type_that_a_condition_asks_for(define: str, kind: str) -> None:
    text = "#if defined(FLOAT)\ntypedef float real_t;\n#elif defined(DOUBLE)\ntypedef double real_t;\n"
    host = Host(define + text + "#else\ntypedef long double real_t;\n#endif\ntypedef real_t other;\n")
    assert host.plain_type("other") == kind


def test_as_a_type_of_case_files() -> None:
    made = structure(Host(CLASSES), "Table", {})
    assert made is not None
    assert record_of(made) == "(float32*6 filter @0, int32 span @24, int8 c @28 /32)"
    view = structure(Host(CLASSES), "View<float>", {})
    assert view is not None and record_of(view) is None


KERNELS = """
struct Rows { const int* starts; float* values; int count; float by; bool up; };
__constant__ struct Limits { float low; int most; } limits;
template <typename T> struct Span { T* data; size_t size; __device__ T& operator[](size_t i) { return data[i]; } };
template <typename T> __global__ void fill(Span<T> span, Rows rows, T* last) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < span.size) span[i] = rows.values[i] * rows.by;
  if (i == 0) last[0] = rows.starts[0];
}
struct Held { float low; int most; char tag; };
__constant__ Held held;
__global__ void limited(float* to) { to[threadIdx.x] = min(to[threadIdx.x], held.low) + held.most; }
"""


def test_drafted_with_an_array_for_each_pointer(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(KERNELS)
    fill, limited = draft(tmp_path / "k.cu", assuming=True).parts
    text = fill.text()
    assert "{ name = 'span', kind = 'struct', fields = [['address', 'span_data'], ['uint64', 'span_size']] }" in text
    assert "['address', 'rows_starts'], ['address', 'rows_values'], ['int32', 'rows_count'], ['float32', 1]" in text
    assert text.index("out last") < text.index('"inout span_data: float32[TODO]"')
    assert '"in rows_starts: int32[TODO]' in text and '"in rows_values: float32[TODO]"' in text
    assert "# span_data: taken to be read and written" in text
    assert '"in held: (float32 low @0, int32 most @4, int8 tag @8 /12)[1]"' in limited.text()


@pytest.mark.slow
def test_a_draft_with_pointers_runs_and_agrees(tmp_path: Path) -> None:
    devices()
    (tmp_path / "k.cu").write_text(KERNELS)
    made = draft(tmp_path / "k.cu", assuming=True)
    tried = try_sizes(made)
    assert all(one.chosen for one in tried), [one.reason for one in tried]
    path = tmp_path / "k.case.toml"
    path.write_text(text_of(made, tried))
    assert load_cases(path)[0].launched == ("span", "rows", "last", "span_data", "rows_starts", "rows_values")
    assert {case.status.value for case in by_name(run(path)).values()} == {"passed"}


def test_pairs_and_arrays_of_the_library() -> None:
    host = Host("struct Own { int a; };\n")
    made = structure(host, "std::pair<uint8_t, double>", {})
    assert (
        made is not None
        and made.size == 16
        and [(one.name, one.at) for one in made.parts]
        == [
            ("first", 0),
            ("second", 8),
        ]
    )
    three = structure(host, "cuda::std::array<float, 3>", {})
    assert three is not None and three.size == 12 and three.parts[0].count == 3
    assert structure(host, "std::pair<int, Own*>", {}) is None
    assert structure(host, "std::array<float, N>", {}) is None
    own = structure(Host("struct pair { float x; };\n"), "pair<int, int>", {})  # the project's
    assert own is not None and own.parts[0].name == "x"


def test_a_typedef_of_a_pointer_to_the_structure_it_stands_behind() -> None:
    host = Host(
        "typedef struct par { float a; int b[3]; } *par_t;\ntypedef struct q { int a; } q_t;\nvoid f(par_t, q_t);"
    )
    assert as_pointer(host, "const par_t") == "par*"
    assert as_pointer(host, "q_t") == "q_t"
