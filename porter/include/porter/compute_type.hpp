// What GemmEx computes in, given as a data type or as a compute type: cuBLAS's C++ header takes both, hipBLAS the latter.
//
// Complex types compute in their real one, as cuBLAS has it. Any other data type is an invalid value for hipBLAS too.
#pragma once

#include "hipblas_types.hpp"

#include <hipblas/hipblas.h>

namespace porter {

inline hipblasComputeType_t compute_type(hipblasComputeType_t type) {
  return type;
}

inline hipblasComputeType_t compute_type(hipDataType type) {
  switch (type) {
  case HIP_R_16F:
    return HIPBLAS_COMPUTE_16F;
  case HIP_R_32F:
  case HIP_C_32F:
    return HIPBLAS_COMPUTE_32F;
  case HIP_R_64F:
  case HIP_C_64F:
    return HIPBLAS_COMPUTE_64F;
  case HIP_R_32I:
    return HIPBLAS_COMPUTE_32I;
  default:
    return static_cast<hipblasComputeType_t>(-1);
  }
}

} // namespace porter
