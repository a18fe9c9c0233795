// Compares both filters with loops on the CPU, for an image whose sides are no multiples of anything.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>

#include "filters/filters.h"

namespace {

constexpr int kWidth = 333, kHeight = 77;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(EXIT_FAILURE);
}

filters::Image on_device(int width, int height, const std::vector<float>& pixels) {
  filters::Image image{nullptr, width, height};
  const size_t bytes = sizeof(float) * width * height;
  check(cudaMalloc(reinterpret_cast<void**>(&image.pixels), bytes));
  if (!pixels.empty()) check(cudaMemcpy(image.pixels, pixels.data(), bytes, cudaMemcpyHostToDevice));
  return image;
}

std::vector<float> on_host(const filters::Image& image) {
  std::vector<float> pixels(static_cast<size_t>(image.width) * image.height);
  check(cudaMemcpy(pixels.data(), image.pixels, sizeof(float) * pixels.size(), cudaMemcpyDeviceToHost));
  check(cudaFree(image.pixels));
  return pixels;
}

}  // namespace

int main() {
  std::vector<float> pixels(kWidth * kHeight);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>((i * 2654435761u >> 7) % 1000) / 1000.0f;
  const auto at = [&](int x, int y) {
    return pixels[std::clamp(y, 0, kHeight - 1) * kWidth + std::clamp(x, 0, kWidth - 1)];
  };

  const filters::Image in = on_device(kWidth, kHeight, pixels);
  const filters::Image edges = on_device(kWidth, kHeight, {}), extremes = on_device(2, kHeight, {});
  check(filters::gradient(in, edges));
  check(filters::row_extremes(in, extremes));
  const std::vector<float> got = on_host(edges), rows = on_host(extremes);

  int wrong = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double dx = 0.5 * (at(x + 1, y) - at(x - 1, y)), dy = 0.5 * (at(x, y + 1) - at(x, y - 1));
      wrong += !(std::fabs(got[y * kWidth + x] - std::sqrt(dx * dx + dy * dy)) <= 1e-5);  // NaN is wrong
    }
    const auto [low, high] = std::minmax_element(pixels.begin() + y * kWidth, pixels.begin() + (y + 1) * kWidth);
    wrong += rows[2 * y] != *low || rows[2 * y + 1] != *high;
  }
  check(cudaFree(in.pixels));
  std::printf("image_filters: %d wrong values\n", wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
