// Sparse matrix times vector: the matrix on the device and the entry point of the library.
#pragma once

#include <cuda_runtime.h>

namespace spmv {

// Compressed sparse rows; all pointers are device memory.
struct CsrMatrix {
  int rows = 0;
  int cols = 0;
  int nonzeros = 0;
  const int* offsets = nullptr;  // rows + 1
  const int* columns = nullptr;
  const float* values = nullptr;
};

// y = alpha * A * x + beta * y
cudaError_t multiply(const CsrMatrix& a, const float* x, float* y, float alpha, float beta, cudaStream_t stream = nullptr);

}  // namespace spmv
