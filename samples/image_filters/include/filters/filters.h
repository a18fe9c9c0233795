// Filters on single-channel images in device memory, row by row without padding.
#pragma once

#include <cuda_runtime_api.h>

namespace filters {

struct Image {
  float* pixels = nullptr;
  int width = 0;
  int height = 0;
};

// The magnitude of the gradient; the border repeats its pixels.
cudaError_t gradient(const Image& in, const Image& out, cudaStream_t stream = nullptr);

// The smallest and the largest value of each row: out has two columns and a row for each of in.
cudaError_t row_extremes(const Image& in, const Image& out, cudaStream_t stream = nullptr);

}  // namespace filters
