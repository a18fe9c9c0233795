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
};

extern const struct PorterHarness porter_harness;
}
