#pragma once
// What kernels use of PyTorch, from PyTorch's own headers: types and macros.

#include <ATen/AccumulateType.h>
#include <ATen/NumericUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/core/TensorAccessor.h>
#include <c10/macros/Macros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

namespace at {
namespace cuda {
template <typename T>
C10_HOST_DEVICE inline T ATenCeilDiv(T a, T b) {
  return (a + b - 1) / b;
}
}  // namespace cuda
}  // namespace at

namespace torch {
using namespace at;
}
