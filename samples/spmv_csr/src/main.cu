// Multiplies matrices with short, middling and long rows, and checks against the CPU.
#include "spmv/csr.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call)                                                                       \
  do {                                                                                         \
    const cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));    \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (0)

namespace {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& host) : count_(host.size()) {
    CHECK_CUDA(cudaMalloc(&data_, (count_ + 1) * sizeof(T)));
    CHECK_CUDA(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }
  std::vector<T> download() const {
    std::vector<T> host(count_);
    CHECK_CUDA(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

int count_wrong(int rows, int cols, int row_length) {
  std::vector<int> offsets(1, 0), columns;
  std::vector<float> values, x(cols), y(rows);
  for (int r = 0; r < rows; ++r) {
    const int length = row_length == 0 ? 0 : (r * 7) % (2 * row_length);
    for (int k = 0; k < length; ++k) {
      columns.push_back((r * 31 + k * 17) % cols);
      values.push_back(static_cast<float>((r + k * 5) % 29) / 16.0f - 0.8f);
    }
    offsets.push_back(static_cast<int>(columns.size()));
    y[r] = static_cast<float>(r % 5);
  }
  for (int c = 0; c < cols; ++c) x[c] = static_cast<float>(c % 13) / 8.0f - 0.7f;

  const DeviceArray<int> doffsets(offsets), dcolumns(columns);
  const DeviceArray<float> dvalues(values), dx(x), dy(y);
  const spmv::CsrMatrix a = {rows, cols, offsets.back(), doffsets.data(), dcolumns.data(), dvalues.data()};
  constexpr float alpha = 1.5f, beta = -0.5f;
  CHECK_CUDA(spmv::multiply(a, dx.data(), dy.data(), alpha, beta));
  const std::vector<float> got = dy.download();

  int wrong = 0;
  for (int r = 0; r < rows; ++r) {
    double sum = 0.0;
    for (int k = offsets[r]; k < offsets[r + 1]; ++k) sum += static_cast<double>(values[k]) * x[columns[k]];
    wrong += !(std::fabs(got[r] - (alpha * sum + beta * y[r])) <= 1e-4);  // NaN is wrong
  }
  return wrong;
}

}  // namespace

int main() {
  int wrong = 0;
  for (int row_length : {0, 1, 5, 20, 100}) wrong += count_wrong(1003, 777, row_length);
  std::printf("spmv_csr: %d wrong rows\n", wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
