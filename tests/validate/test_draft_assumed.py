"""Template arguments that nothing tells: classes and enumerations of the text, functors, and what stays open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.init import DraftedCase, draft
from porter.validation.draft.repairing import repair
from porter.validation.draft.trying import try_sizes

from porter.errors import Unusable

TRAITS = """
namespace policy {
enum class Order { forward = 3, backward };
struct Threads { enum { BLOCK = 64 }; };
template <int N, class T> struct Tuning : Threads { static constexpr int ROUNDS = N; typedef T Value; };
struct Other { static constexpr int ROUNDS = 1; };
typedef Tuning<2, float> Usual;
}
template <typename Policy, policy::Order ORDER>
#if __CUDA_ARCH__ >= 700
__launch_bounds__(64, 2)
#endif
__global__ void walk(const typename Policy::Value* in, float* out) {
  int i = blockIdx.x * Policy::BLOCK + threadIdx.x;
  for (int k = 0; k < Policy::ROUNDS; k++) out[i] = in[i] * (ORDER == policy::Order::forward ? 2.0f : 3.0f);
}
"""
OWN = """
struct Halved { __device__ float operator()(float a) const { return a * 0.5f; } };
struct Scaled { float by; __device__ float operator()(float a, float b) const { return a * b * by; } };
template <typename T, typename Op> __global__ void each(const T* in, T* out, Op op) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = op(in[i]);
}
"""
NONE = """
template <typename T, typename Op> __global__ void both(const T* a, const T* b, T* out, Op op) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = op(a[i], b[i]);
}
template <typename Policy> __global__ void unknown(float* out) { out[Policy::FIRST] = 1; }
template <typename F> __global__ void three(float* out, F f) { out[0] = f(1, 2, 3); }
template <typename TilingConfig> __global__ void tiled(float* out) { out[threadIdx.x] = TilingConfig::ROWS; }
"""


def drafted(text: str, folder: Path, *, assuming: bool = True) -> tuple[DraftedCase, ...]:
    path = folder / "k.cuh"
    path.write_text(text)
    return draft(path, assuming=assuming).parts


def test_traits_are_the_class_that_has_them_all(tmp_path: Path) -> None:
    """Inherited ones too; template arguments as somebody else writes them, and an enumeration's first value."""
    (walk,) = drafted(TRAITS, tmp_path)
    assert walk.kernel == "walk<policy::Tuning<2, float>, (policy::Order)3>"
    assert "Policy: taken to be policy::Tuning<2, float>" in walk.text()
    assert drafted(TRAITS, tmp_path, assuming=False)[0].kernel == "walk<TODO, TODO>"


def test_a_functor_is_one_of_the_text(tmp_path: Path) -> None:
    """One that is called with as many arguments; it holds nothing."""
    (each,) = drafted(OWN, tmp_path)
    assert each.kernel == "each<float, Halved>" and not [line for line in each.after if "options" in line]
    assert any("name = 'op', kind = 'struct', fields = [['uint8', 0]]" in line for line in each.after)


def test_where_there_is_none_thrust_has_one(tmp_path: Path) -> None:
    both, unknown, three, tiled = drafted(NONE, tmp_path)
    assert both.kernel == "both<float, thrust::plus<float>>"
    assert 'hip_options = ["-include", "thrust/functional.h"]' in both.after
    assert unknown.kernel == "unknown<TODO>" and three.kernel == "three<TODO>"
    assert tiled.kernel == "tiled<TODO>"  # its name says type, what it is asked for does not


@pytest.mark.slow
@pytest.mark.parametrize("text", [TRAITS, OWN, NONE.partition("template <typename Policy>")[0]])
def test_what_was_assumed_runs(text: str, tmp_path: Path) -> None:
    if registry.why_not("ptx") is not None:
        pytest.skip(str(registry.why_not("ptx")))
    path = tmp_path / "k.cuh"
    path.write_text(text)
    (one,) = try_sizes(draft(path, assuming=True), 10.0)
    assert one.chosen, one.reason


LAUNCHED_ELSEWHERE = """
__global__ void declared(float* out);
__global__ void nvrtc(IMAGE_T* out, const KNOWN_T* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < WIDTH) out[i] = in[i] * std::max(2, WIDTH);
}
"""


def test_types_are_found_behind_their_namespace(tmp_path: Path) -> None:
    text = """namespace p { enum class Part { a, b }; struct Level { int wide; int high; }; typedef int size; }
    __global__ void k(float* out, p::Part part, p::Level level, p::size n, other::Part* others) { out[n] = 1; }"""
    (k,) = drafted(text, tmp_path)
    lines = "".join(k.after)
    assert "scalar part: int32" in lines and "name = 'level', kind = 'struct'" in lines and "scalar n: int32" in lines


@pytest.mark.slow
def test_what_a_run_time_compiler_is_given_is_defined(tmp_path: Path) -> None:
    """Types where they are written, other macros when nvcc says that they are missing, and its option."""
    if registry.why_not("ptx") is not None:
        pytest.skip(str(registry.why_not("ptx")))
    path = tmp_path / "k.cuh"
    path.write_text("#include <algorithm>\ntypedef int KNOWN_T;\n" + LAUNCHED_ELSEWHERE)
    (one,) = try_sizes(draft(path, assuming=True), 10.0)
    assert one.chosen, one.reason
    assert 'defines = ["IMAGE_T=float"]' in one.text and "assumed = ['static constexpr int WIDTH = 4;']" in one.text
    assert 'cuda_options = ["--expt-relaxed-constexpr"]' in one.text
    assert "# nothing defines WIDTH: taken to be 4" in one.text and "KNOWN_T" not in one.text


def test_declarations_are_no_kernels(tmp_path: Path) -> None:
    path = tmp_path / "k.cuh"
    path.write_text("__global__ void declared(float* out);\n")
    with pytest.raises(Unusable, match="defined in another file: declared"):
        draft(path)
    path.write_text("__global__ void declared(float* out);\n__global__ void here(float* out) { *out = 1; }\n")
    made = draft(path)
    assert [part.kernel for part in made.parts] == ["here"]
    assert "# declared here, and defined in another file: declared" in made.text


@pytest.mark.slow
def test_concepts_ask_for_a_newer_language(tmp_path: Path) -> None:
    """A parameter with a concept is a type, and both sides get the option."""
    if registry.why_not("ptx") is not None:
        pytest.skip(str(registry.why_not("ptx")))
    path = tmp_path / "k.cuh"
    body = "{ int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = i; }"
    path.write_text(
        f"template <class T> concept Number = sizeof(T) == 4;\ntemplate <Number N>\n__global__ void k(N* out) {body}\n"
    )
    (one,) = try_sizes(draft(path, assuming=True), 10.0)
    assert one.chosen and one.case.kernel == "k<float>", one.reason
    assert 'hip_options = ["-std=c++20"]' in one.text


def test_iterators_are_pointers_and_types_in_types_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "k.cuh"
    path.write_text(
        "template <typename InputIt, typename OutIterator, typename T, typename It>\n"
        "__global__ void copy(InputIt from, OutIterator to, cuda::atomic<T, cuda::thread_scope_device>* counter,\n"
        "  thrust::complex<T>* z, It* its, int n) {\n"
        "  int i = threadIdx.x; if (i < n) { to[i] = *(from + i); counter->fetch_add(1); z[i] = its[i]; }\n}\n"
    )
    (part,) = draft(path, assuming=True).parts
    assert part.kernel == "copy<float*, float*, float, float>" and not any("TODO(" in line for line in part.after)
    lines = [line.strip() for line in part.after]
    assert '"inout counter: float32[TODO]",' in lines and '"out z: float32[n, 2]",' in lines
    assert '"inout from: float32[TODO]",' in lines and '"out to: float32[n]",' in lines
    assert part.retyped is not None and part.retyped("int").kernel == "copy<int*, int*, int, int>"


def test_a_structure_that_a_typedef_names_is_no_macro(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "typedef struct { unsigned a; unsigned b; } PAIR_T;\n"
        "__global__ void k(PAIR_T* p) { p[threadIdx.x].a = 1; }\n"
        "__global__ void l(IMAGE_T* p) { p[threadIdx.x] = 1; }\n"
    )
    k, other = draft(tmp_path / "k.cu", assuming=True).parts
    assert not any("PAIR_T=" in line for line in k.after)
    assert 'defines = ["IMAGE_T=float"]' in other.after


def test_a_vector_where_a_compiler_wants_members(tmp_path: Path) -> None:
    said = 'k.cu(3): error: expression must have class type but it has type "{}"'
    (tmp_path / "k.cu").write_text(
        "template <typename T> __global__ void k(T* p) { T own = p[threadIdx.x]; p[threadIdx.x].x = own.w; }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    made = repair(part, said.format("float"))
    assert made is not None and made.kernel == "k<float4>" and '  "inout p: float32[TODO, 4]",' in made.after
    assert repair(part, said.format("int")) is None
    assert repair(replace(part, retyped=None), said.format("float")) is None


@pytest.mark.parametrize(
    ("body", "kernel"),
    [
        ("a[0] = payoff.strike;", "k<TODO>"),  # a member that is no function tells nothing
        ("a[0] = payoff.missing(a[1]);", "k<TODO>"),
        ("a[0] = payoff.value(a[1]);", "k<Put>"),  # the smallest that has it
        ("a[0] = payoff.value(a[1]) + payoff.rate();", "k<Rated>"),
        ("Payoff other(payoff); a[0] = other.rate();", "k<Rated>"),
    ],
)
def test_a_class_with_the_functions_that_a_kernel_calls(body: str, kernel: str, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "struct Rated { float strike; __device__ float value(float x) const { return x - strike; }\n"
        "  __device__ float rate() const { return strike; } };\n"
        "struct Put { float strike; __device__ float value(float x) const { return strike - x; } };\n"
        f"template <typename Payoff> __global__ void k(Payoff payoff, float* a) {{ {body} }}\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    assert part.kernel == kernel
