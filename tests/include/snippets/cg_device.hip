// Cooperative groups as CUDA code writes them, under another namespace.
#include "porter/cooperative_groups.hpp"

namespace cg = porter::cooperative_groups;

__device__ int sum_of(cg::thread_group g, int* shared, int value) {
  int const rank = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    shared[rank] = value;
    g.sync();
    if (rank < i) value += shared[rank + i];
    g.sync();
  }
  return value;
}

// A reduction over the whole block through the type-erased group.
extern "C" __global__ void block_sum(const int* in, int* out) {
  __shared__ int shared[1024];
  cg::thread_block block = cg::this_thread_block();
  int const total = sum_of(block, shared, in[block.group_index().x * block.num_threads() + block.thread_rank()]);
  if (block.thread_rank() == 0) out[blockIdx.x] = total;
}

// Everything a tile knows: row r of `out` is what the list below says.
template <unsigned Size> __device__ void tile_facts(const int* in, unsigned* out, int n) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<Size>(block);
  cg::thread_block_tile<Size> same = tile;
  int const i = block.group_index().x * block.size() + block.thread_rank(), v = in[i];
  int all = 5;
  unsigned const facts[] = {
      tile.thread_rank(), same.meta_group_rank(), same.meta_group_size(), tile.num_threads(),
      tile.ballot(v & 1), (unsigned)tile.any(v & 4), (unsigned)tile.all(v & 3), tile.match_any(v & 3),
      tile.match_all(v & 16, all), (unsigned)all, (unsigned)tile.shfl(v, 1), (unsigned)tile.shfl_up(v, 1),
      (unsigned)tile.shfl_down(v, 2), (unsigned)tile.shfl_xor(v, Size / 2),
      (unsigned)cg::reduce(tile, v, cg::plus<int>()), (unsigned)cg::reduce(same, v, cg::less<int>()),
      (unsigned)cg::reduce(tile, v, cg::greater<int>()), cg::reduce(tile, (unsigned)v, cg::bit_and<unsigned>()),
      cg::reduce(tile, (unsigned)v, cg::bit_or<unsigned>()), cg::reduce(tile, (unsigned)v, cg::bit_xor<unsigned>()),
      (unsigned)cg::inclusive_scan(tile, v), (unsigned)cg::exclusive_scan(tile, v),
      (unsigned)cg::inclusive_scan(tile, v, cg::greater<int>()), (unsigned)cg::exclusive_scan(tile, v, cg::bit_or<int>()),
      (unsigned)cg::invoke_one_broadcast(tile, [=] { return v * 3; })};
  for (unsigned row = 0; row < sizeof(facts) / sizeof(*facts); ++row) out[row * n + i] = facts[row];
  tile.sync();
}
#define TILES(size) \
  extern "C" __global__ void tile_##size(const int* in, unsigned* out, int n) { tile_facts<size>(in, out, n); }
TILES(4)
TILES(16)
TILES(32)

extern "C" __global__ void float_sums(const float* in, float* out, int n) {
  auto block = cg::this_thread_block();
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  auto tile = cg::tiled_partition<32>(block);
  out[i] = cg::reduce(tile, in[i], cg::plus<float>());
  out[n + i] = cg::inclusive_scan(tile, in[i], cg::plus<float>());
  out[2 * n + i] = cg::exclusive_scan(tile, in[i]);
  double const wide = cg::reduce(tile, (double)in[i], cg::plus<double>());
  out[3 * n + i] = (float)wide;
}

// Groups of the threads that take a branch.
extern "C" __global__ void coalesced(const int* in, unsigned* out, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  if (v % 3 == 0) return;
  auto active = cg::coalesced_threads();
  auto odd = cg::binary_partition(active, v & 1);
  auto labelled = cg::labeled_partition(active, v & 6);
  auto pairs = cg::tiled_partition(active, 2);
  int all = 5;
  unsigned const facts[] = {
      active.size(), active.thread_rank(), active.ballot(v & 1), (unsigned)active.any(v & 8),
      (unsigned)active.all(v & 7), active.match_any(v & 3), active.match_all(v & 64, all), (unsigned)all,
      (unsigned)active.shfl(v, 0), (unsigned)active.shfl(v, active.size() - 1), (unsigned)active.shfl_up(v, 1),
      (unsigned)active.shfl_down(v, 2), (unsigned)cg::reduce(active, v, cg::plus<int>()),
      (unsigned)cg::inclusive_scan(active, v), (unsigned)cg::exclusive_scan(active, v), odd.size(), odd.thread_rank(),
      odd.meta_group_rank(), odd.meta_group_size(), labelled.size(), labelled.thread_rank(), labelled.meta_group_rank(),
      labelled.meta_group_size(), (unsigned)cg::reduce(labelled, v, cg::plus<int>()), pairs.size(),
      pairs.thread_rank(), pairs.meta_group_rank(), pairs.meta_group_size(),
      (unsigned)cg::invoke_one_broadcast(active, [=](int k) { return v + k; }, 1000)};
  for (unsigned row = 0; row < sizeof(facts) / sizeof(*facts); ++row) out[row * n + i] = facts[row];
}

extern "C" __global__ void copies(const float* in, float* out, const char* bytes, char* out_bytes, int count) {
  __shared__ float shared[256];
  __shared__ char text[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, shared, in, sizeof(float) * 256);
  cg::memcpy_async(block, text, 64, bytes + 1, count);
  cg::wait(block);
  for (unsigned i = block.thread_rank(); i < 256; i += block.size()) out[i] = shared[255 - i];
  if ((int)block.thread_rank() < count) out_bytes[block.thread_rank()] = text[block.thread_rank()];
  auto tile = cg::tiled_partition<32>(block);
  cg::memcpy_async(tile, shared + 32 * tile.meta_group_rank(), in, sizeof(float) * 32);
  cg::wait_prior<0>(tile);
  out[256 + threadIdx.x] = shared[threadIdx.x ^ 1];
}

extern "C" __global__ void places(unsigned long long* out) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  unsigned long long const i = grid.thread_rank();
  unsigned long long const facts[] = {grid.size(), grid.num_blocks(), grid.block_rank(), grid.dim_blocks().x,
                                      grid.thread_index().y, grid.dim_threads().z, block.thread_index().x,
                                      block.group_dim().y, block.thread_rank()};
  for (int row = 0; row < 9; ++row) out[i * 9 + row] = facts[row];
  auto token = block.barrier_arrive();
  block.barrier_wait(static_cast<unsigned&&>(token));
  cg::sync(block);
  if (!block.is_valid() || cg::group_size(block) != block.size() || cg::thread_rank(block) != facts[8]) out[i * 9] = 0;
}

struct Pixel { float r, g, b; };
__device__ cg::thread_block_tile<8> sub_tile(cg::thread_block_tile<32> const& warp) { return cg::tiled_partition<8>(warp); }
extern "C" __global__ void other_types(Pixel* p, short* s, cg::grid_group* unused) {
  (void)unused;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto eight = sub_tile(warp);
  auto four = cg::tiled_partition<4>(eight);
  p[threadIdx.x] = eight.shfl(p[threadIdx.x], four.meta_group_rank());
  s[threadIdx.x] = warp.shfl_down(s[threadIdx.x], 1);
  cg::thread_group const dynamic = cg::tiled_partition(cg::this_thread_block(), 16);
  if (dynamic.thread_rank() == 0) s[64 + threadIdx.x / 16] = dynamic.size() + eight.meta_group_rank();
  cg::invoke_one(warp, [=] { s[72 + threadIdx.x / 32] = 9; });
}
