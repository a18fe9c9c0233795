// What both capture programs run: all inputs of an instruction, or drawn ones; RUNTIME(Malloc) is hipMalloc or cudaMalloc.
#pragma once
#include "records.hpp"

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const RUNTIME(Error_t) error = (call);                                                       \
    if (error != RUNTIME(Success)) {                                                             \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, RUNTIME(GetErrorString)(error));        \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

template <typename Op>
__global__ void sums(uint32_t* out, uint32_t first, uint32_t step) {
  const uint32_t block = first + blockIdx.x * step;
  uint32_t sum = 0;
  for (uint32_t i = threadIdx.x; i < kBlock; i += blockDim.x) sum += mix(Op::of(block * kBlock + i) ^ i * 0x9e3779b1u);
  atomicAdd(&out[blockIdx.x], sum);
}

template <typename Op>
__global__ void values(uint32_t* out, uint32_t first, uint32_t step) {
  const uint32_t block = first + blockIdx.x * step;
  for (uint32_t i = threadIdx.x; i < kBlock; i += blockDim.x) out[blockIdx.x * kBlock + i] = Op::of(block * kBlock + i);
}

class Memory {
 public:
  explicit Memory(size_t words) : words_(words) {
    CHECK(RUNTIME(Malloc)(&at, words * 4));
    CHECK(RUNTIME(Memset)(at, 0, words * 4));
  }
  ~Memory() { CHECK(RUNTIME(Free)(at)); }
  std::vector<uint32_t> read() const {
    CHECK(RUNTIME(GetLastError)());
    std::vector<uint32_t> found(words_);
    CHECK(RUNTIME(Memcpy)(found.data(), at, words_ * 4, RUNTIME(MemcpyDeviceToHost)));
    return found;
  }
  uint32_t* at = nullptr;

 private:
  size_t words_;
};

inline uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

template <typename Op>
void all_inputs(Records& file, const Asked& want, const char* type, uint32_t most = kBlocks) {
  const uint32_t blocks = want.first >= most ? 0 : smaller(want.blocks, (most - 1 - want.first) / want.step + 1);
  if (!blocks || !strstr(Op::said, want.only)) return;
  Memory checked(blocks);
  sums<Op><<<blocks, 256>>>(checked.at, want.first, want.step);
  file.add(Op::said, "sums", type, want.first, want.step, checked.read());
  const uint32_t kept = (blocks - 1) / want.whole + 1;
  constexpr uint32_t kAtOnce = 4096;  // blocks of one record: 64 MiB
  for (uint32_t done = 0; done < kept; done += kAtOnce) {
    const uint32_t part = smaller(kAtOnce, kept - done), first = want.first + done * want.whole * want.step;
    Memory whole(static_cast<size_t>(part) * kBlock);
    values<Op><<<part, 256>>>(whole.at, first, want.step * want.whole);
    file.add(Op::said, "values", type, first, want.step * want.whole, whole.read());
  }
}

// A kernel with one row of drawn operands for each thread, and so many words of results.
#define ROWS(name, words) __global__ void name(uint32_t* out, uint32_t rows) {               \
    const uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;                             \
    if (row >= rows) return;                                                                \
    out += static_cast<size_t>(row) * (words);
#define END }

static __device__ float f32(uint32_t row, uint32_t place) { return __uint_as_float(float_drawn(row, place)); }
static __device__ double f64(uint32_t row, uint32_t place) { return __longlong_as_double(double_drawn(row, place)); }
static __device__ void put(uint32_t* out, double value) {
  const unsigned long long bits = __double_as_longlong(value);
  out[0] = static_cast<uint32_t>(bits);
  out[1] = static_cast<uint32_t>(bits >> 32);
}

inline void drawn_rows(Records& file, const Asked& want, const char* name, const char* type, void (*kernel)(uint32_t*, uint32_t), uint32_t words, uint32_t threads = 1) {
  if (!strstr(name, want.only)) return;
  const uint32_t rows = threads == 1 ? want.rows : (want.rows + 15) / 16;  // a matrix is a whole warp's results
  Memory out(static_cast<size_t>(rows) * words * threads);
  kernel<<<(rows * threads + 255) / 256, 256>>>(out.at, rows);
  file.add(name, "rows", type, 0, words * threads, out.read());
}
#define DRAWN(name, type, words) drawn_rows(file, want, #name, type, name, words);
