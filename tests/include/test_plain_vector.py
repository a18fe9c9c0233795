"""plain_vector.hpp: sums of classes with operators from another base, with HIP's headers of every version at hand."""

from __future__ import annotations

from pathlib import Path

from tests.include import hip

CLASS = """
#include "porter/plain_vector.hpp"
#include "porter/minmax.hpp"
namespace mine {
template <class S> struct Ops {
  __host__ __device__ S operator+(const S &b) const { S r; r.x = ((S *)this)->x + b.x; return r; }
  __host__ __device__ S operator-() const { S r; r.x = -((S *)this)->x; return r; }
  __host__ __device__ S &operator*=(float b) { ((S *)this)->x *= b; return *(S *)this; }
};
struct Vec : public Ops<Vec>, public BASE {
  Vec() = default;
  __host__ __device__ Vec(const float3 &f) : BASE(f) {}
};
template <class T> __host__ __device__ T min(const Ops<T> &a, const Ops<T> &b) { return (T &)a + (T &)b; }
static_assert(sizeof(Vec) == 12 && alignof(Vec) == 4, "");
__device__ float of(float3 a) { return a.x; }
__global__ void k(Vec *p) {
  Vec a = p[0];
  a *= 2.0f;
  p[1] = a + -p[2];
  p[3] = make_float3(1, 2, 3);
  p[4] = min(p[0], p[1]);
  float3 f = a;
  p[0].x = of(a) + f.x;
}
}  // namespace mine
"""


def test_sums_are_the_classes_own(tmp_path: Path) -> None:
    hip.check_everywhere(CLASS.replace("BASE", "porter::plain::float3_base"), tmp_path)


def test_with_hips_vector_they_are_ambiguous(tmp_path: Path) -> None:
    tree = hip.require_tree()
    source = CLASS.replace("BASE", "float3")
    done = hip.compiled(source, tmp_path, tree=tree, flags=("-fsyntax-only",), host=False)
    assert "multiple base classes" in done.stderr or "ambiguous" in done.stderr
