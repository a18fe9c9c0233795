// What both capture programs share: the file they write, the inputs they draw, and what they are asked for.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HOST_AND_DEVICE __host__ __device__ inline

constexpr uint32_t kBlock = 4096;         // inputs of one checksum
constexpr uint32_t kBlocks = 1u << 20;    // 2^32 inputs in all

// Mixes 32 bits well: inputs are drawn by it, and outputs are summed through it, in whatever order.
HOST_AND_DEVICE uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

HOST_AND_DEVICE uint32_t drawn(uint32_t row, uint32_t place) { return mix(mix(row * 64 + place) + 0x9e3779b9u * (place + 1)); }

// A float by its bits: an edge, a denormal, one of ordinary size, or any.
HOST_AND_DEVICE uint32_t float_drawn(uint32_t row, uint32_t place) {
  uint32_t bits = drawn(row, place);
  const uint32_t sign = bits & 0x80000000u, fraction = bits >> 8 & 0x7fffffu;
  switch (bits & 7) {
    case 0:
      switch (bits >> 3 & 15) {
        case 0: return sign;
        case 1: return sign | 0x7f800000u;  // infinity
        case 2: return sign | 0x7fc00000u;  // NaN
        case 3: return sign | 0x7f800001u;  // a signalling one
        case 4: return sign | 1u;
        case 5: return sign | 0x007fffffu;
        case 6: return sign | 0x00800000u;
        case 7: return sign | 0x7f7fffffu;
        case 8: return sign | 0x3f800000u;
        case 9: return sign | 0x3f000000u;
        case 10: return sign | 0x4effffffu;
        case 11: return sign | 0x4f000000u;  // 2^31
        case 12: return sign | 0x4f800000u;
        case 13: return sign | 0x3effffffu;  // just below a half
        case 14: return sign | 0x43000000u;
        default: return sign | 0x7e800000u;
      }
    case 1: return sign | fraction;
    case 2: return bits;
    default: return sign | (119u + (bits >> 3 & 15)) << 23 | fraction;
  }
}

HOST_AND_DEVICE uint64_t double_drawn(uint32_t row, uint32_t place) {
  const uint32_t high = drawn(row, 2 * place + 32), low = drawn(row, 2 * place + 33);
  const uint64_t sign = static_cast<uint64_t>(high & 0x80000000u) << 32;
  const uint64_t fraction = (static_cast<uint64_t>(high & 0xfffffu) << 32) | low;
  switch (low & 7) {
    case 0:
      switch (high & 7) {
        case 0: return sign;
        case 1: return sign | 0x7ff0000000000000ull;
        case 2: return sign | 0x7ff8000000000000ull;
        case 3: return sign | 1ull;
        case 4: return sign | 0x0010000000000000ull;
        case 5: return sign | 0x7fefffffffffffffull;
        case 6: return sign | 0x3ff0000000000000ull;
        default: return sign | 0x3fe0000000000000ull;
      }
    case 1: return sign | fraction;
    case 2: return static_cast<uint64_t>(high) << 32 | low;
    default: return sign | static_cast<uint64_t>(1015u + (high >> 20 & 15)) << 52 | fraction;
  }
}

// An element of a matrix in a format of `exponent` and `mantissa` bits, by the kind of the row: of one size, of sizes
// that are far apart (they show the order of a sum and where it is rounded), of opposite values in pairs, or tiny.
HOST_AND_DEVICE uint32_t element_drawn(uint32_t row, uint32_t place, int exponent, int mantissa) {
  const uint32_t kind = row & 3, bits = drawn(row, 64 + (kind == 2 ? place / 2 : place));
  const uint32_t bias = (1u << (exponent - 1)) - 1, reach = exponent > 5 ? 12u : bias > 7 ? 6u : 3u;
  const uint32_t fraction = bits & ((1u << mantissa) - 1);
  uint32_t sign = bits >> 31, size = bias;
  if (kind == 1) size = bias - reach + (bits >> 24 & 63) % (2 * reach + 1);
  if (kind == 2) sign ^= place & 1;
  if (kind == 3) size = bits >> 24 & 1;
  return sign << (exponent + mantissa) | size << mantissa | fraction;
}

struct Asked {
  const char* path = "device.capture";
  const char* only = "";                           // what the names of instructions have in them
  uint32_t first = 0, step = 1, blocks = kBlocks;  // blocks of 4096 inputs to sum up
  uint32_t whole = 64;                             // of these, each so many-th is kept in full
  uint32_t rows = 4096;                            // drawn inputs of everything else
};

inline Asked asked(int count, char** words) {
  Asked found;
  for (int i = 1; i < count; i++) {
    const struct { const char* name; uint32_t* place; } known[] = {
        {"--first", &found.first}, {"--step", &found.step}, {"--blocks", &found.blocks},
        {"--whole", &found.whole}, {"--rows", &found.rows}};
    bool is_option = !strcmp(words[i], "--only") && i + 1 < count;
    if (is_option) {
      found.only = words[++i];
      continue;
    }
    for (const auto& one : known)
      if (!strcmp(words[i], one.name) && i + 1 < count) {
        *one.place = static_cast<uint32_t>(strtoul(words[++i], nullptr, 10));
        is_option = true;
        break;
      }
    if (!is_option) found.path = words[i];
  }
  if (!found.step || !found.whole || !found.blocks || !found.rows || found.first >= kBlocks) {
    fprintf(stderr, "capture: --step, --whole, --blocks and --rows are positive, --first is below %u\n", kBlocks);
    exit(2);
  }
  const uint32_t most = (kBlocks - 1 - found.first) / found.step + 1;
  if (found.blocks > most) found.blocks = most;
  return found;
}

// A text line for each record, and its words as they lie in memory.
class Records {
 public:
  Records(const char* path, const char* kind, const char* device) : file_(fopen(path, "wb")) {
    if (!file_) { perror(path); exit(1); }
    fprintf(file_, "porter-capture 1\n%s\n%s\n", kind, device);
  }
  void add(const char* name, const char* kind, const char* type, uint32_t first, uint32_t step, const std::vector<uint32_t>& words) {
    uint32_t sum = 0;
    for (size_t i = 0; i < words.size(); i++) sum += mix(words[i] ^ static_cast<uint32_t>(i) * 0x9e3779b1u);
    fprintf(file_, "%s %s %s %u %u %zu %08x\n", name, kind, type, first, step, words.size(), sum);
    if (fwrite(words.data(), 4, words.size(), file_) != words.size() || fflush(file_)) { perror("capture"); exit(1); }
    fprintf(stderr, "%s %s: %zu words\n", name, kind, words.size());
  }
  void end() {
    fputs("end\n", file_);
    if (fclose(file_)) { perror("capture"); exit(1); }
  }

 private:
  FILE* file_;
};
