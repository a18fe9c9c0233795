// Thin wrappers around PTX instructions that had no intrinsic when this code was written.
#pragma once

#include <cuda_runtime.h>

namespace ptx {

__device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ __forceinline__ unsigned lanemask_lt() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}

__device__ __forceinline__ unsigned lanemask_ge() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(mask));
  return mask;
}

// `length` bits of `word` from bit `start`.
__device__ __forceinline__ unsigned bfe(unsigned word, unsigned start, unsigned length) {
  unsigned field;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(word), "r"(start), "r"(length));
  return field;
}

__device__ __forceinline__ unsigned bfi(unsigned field, unsigned word, unsigned start, unsigned length) {
  unsigned result;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(field), "r"(word), "r"(start), "r"(length));
  return result;
}

__device__ __forceinline__ unsigned byte_permute(unsigned a, unsigned b, unsigned selector) {
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
}

// (a & b) | (~a & c)
__device__ __forceinline__ unsigned select_bits(unsigned a, unsigned b, unsigned c) {
  unsigned result;
  asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

__device__ __forceinline__ void prefetch_l2(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

__device__ __forceinline__ float load_streaming(const float* address) {
  float value;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(value) : "l"(address));
  return value;
}

__device__ __forceinline__ void fence_device() { asm volatile("membar.gl;" ::: "memory"); }

// 16 bytes from global to shared memory, without registers in between.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(global) : "memory");
}

__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
}

}  // namespace ptx
