// Lets hipBLAS take HIP's own types, as cuBLAS takes CUDA's; to be included before <hipblas/hipblas.h>.
//
// HIPBLAS_V2: hipComplex, hipDoubleComplex, hipDataType and hipblasComputeType_t in the signatures (ROCm 6 asks for it,
// ROCm 7 has nothing else). HIPBLAS_USE_HIP_HALF: __half instead of a 16-bit integer.
#pragma once

#ifndef HIPBLAS_V2
#define HIPBLAS_V2
#endif

#ifndef HIPBLAS_USE_HIP_HALF
#define HIPBLAS_USE_HIP_HALF
#endif
