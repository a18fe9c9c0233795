#pragma once
// What kernels use of PyTorch, from PyTorch's own headers: types and macros.

#include <ATen/AccumulateType.h>
#include <ATen/NumericUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/core/TensorAccessor.h>
#include <c10/macros/Macros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

namespace torch {
using namespace at;
}
