// What the kernel's side (nvcc, hipcc) offers to the Python side (the host compiler): plain C, no GPU headers.
#pragma once
#include <stddef.h>
#include <stdint.h>

extern "C" {

struct PorterLaunch {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  int cooperative;
};

struct PorterProperties {
  char name[256];
  char architecture[256];
  int lanes;
  int units;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  int driver;
  int runtime;
  size_t memory;
  size_t cache;
};

// A texture or surface object to be made: 0 for sides that it does not have.
struct PorterImage {
  size_t bits, channels, kind;  // kind: 0 unsigned, 1 signed, 2 float
  size_t width, height, depth;  // depth: or the layers
  size_t layered, linear, normalized, fractions;
  size_t mode[3];  // 0 wrap, 1 clamp, 2 mirror, 3 border
  size_t memory;   // 0 array, 1 linear, 2 rows with a pitch
  size_t surface;
};

// Every function answers a null pointer, or the runtime's name and words of what went wrong.
struct PorterHarness {
  const char *kernel;
  int parameters;
  const unsigned *sizes;
  const unsigned char *is_pointer;
  int symbols;
  const char *const *symbol_names;
  const char *(*count)(int *);
  const char *(*properties)(struct PorterProperties *);
  const char *(*allocate)(void **, size_t);
  const char *(*release)(void *);
  const char *(*copy_in)(void *, const void *, size_t);
  const char *(*copy_out)(void *, const void *, size_t);
  const char *(*fill)(void *, int, size_t);
  const char *(*set_symbol)(int, const void *, size_t);
  const char *(*get_symbol)(int, void *, size_t);
  const char *(*launch)(const struct PorterLaunch *, void **);
  const char *(*time)(const struct PorterLaunch *, void **, int warmup, int repeats, void *flushed, size_t flush_bytes, float *ms);
  // Null where the kernel's file names no texture or surface object.
  const char *(*make_image)(const struct PorterImage *, const void *texels, unsigned long long *object);
  const char *(*read_image)(unsigned long long object, void *texels);
  const char *(*release_images)(void);
};

extern const struct PorterHarness porter_harness;
}
