// For tests alone: what samples/cub_sort_reduce uses of hipCUB, which Debian has not, on the rocPRIM that it has. Inside
// kernels rocPRIM does the work; device-wide calls are declared and no more, so that host code can be parsed.
#ifndef PORTER_TEST_HIPCUB_HPP
#define PORTER_TEST_HIPCUB_HPP
#include <hip/hip_runtime.h>

#include <rocprim/block/block_load.hpp>
#include <rocprim/block/block_reduce.hpp>
#include <rocprim/block/block_scan.hpp>
#include <rocprim/block/block_store.hpp>
#include <rocprim/warp/warp_reduce.hpp>

namespace hipcub {

enum BlockLoadAlgorithm { BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_WARP_TRANSPOSE };
enum BlockScanAlgorithm { BLOCK_SCAN_WARP_SCANS };

template <class Base>
class Stored {
 public:
  using TempStorage = typename Base::storage_type;
  __device__ explicit Stored(TempStorage& storage) : storage_(storage) {}

 protected:
  TempStorage& storage_;
};

template <class T, int Threads>
struct BlockReduce : Stored<rocprim::block_reduce<T, Threads>> {
  using Base = rocprim::block_reduce<T, Threads>;
  using Stored<Base>::Stored;
  __device__ T Sum(T value) {
    Base().reduce(value, value, this->storage_, rocprim::plus<T>());
    return value;
  }
};

// The default is the trap: all lanes of the wavefront, where CUB has 32.
template <class T, int Lanes = 64>
struct WarpReduce : Stored<rocprim::warp_reduce<T, Lanes>> {
  using Base = rocprim::warp_reduce<T, Lanes>;
  using Stored<Base>::Stored;
  template <class Operation>
  __device__ T Reduce(T value, Operation operation) {
    Base().reduce(value, value, this->storage_, operation);
    return value;
  }
};

template <class T, int Threads, int Items, BlockLoadAlgorithm>
struct BlockLoad : Stored<rocprim::block_load<T, Threads, Items, rocprim::block_load_method::block_load_warp_transpose>> {
  using Base = rocprim::block_load<T, Threads, Items, rocprim::block_load_method::block_load_warp_transpose>;
  using Stored<Base>::Stored;
  __device__ void Load(const T* from, T (&items)[Items], int valid, T otherwise) {
    Base().load(from, items, valid, otherwise, this->storage_);
  }
};

template <class T, int Threads, int Items, BlockStoreAlgorithm>
struct BlockStore
    : Stored<rocprim::block_store<T, Threads, Items, rocprim::block_store_method::block_store_warp_transpose>> {
  using Base = rocprim::block_store<T, Threads, Items, rocprim::block_store_method::block_store_warp_transpose>;
  using Stored<Base>::Stored;
  __device__ void Store(T* to, T (&items)[Items], int valid) { Base().store(to, items, valid, this->storage_); }
};

template <class T, int Threads, BlockScanAlgorithm>
struct BlockScan : Stored<rocprim::block_scan<T, Threads, rocprim::block_scan_algorithm::using_warp_scan>> {
  using Base = rocprim::block_scan<T, Threads, rocprim::block_scan_algorithm::using_warp_scan>;
  using Stored<Base>::Stored;
  template <int Items>
  __device__ void ExclusiveSum(T (&items)[Items], T (&sums)[Items]) {
    Base().exclusive_scan(items, sums, T(0), this->storage_, rocprim::plus<T>());
  }
};

struct DeviceRadixSort {
  template <class Key, class Value>
  static hipError_t SortPairs(void*, size_t&, const Key*, Key*, const Value*, Value*, int);
};

struct DeviceReduce {
  template <class In, class Out>
  static hipError_t Sum(void*, size_t&, In, Out, int);
};

}  // namespace hipcub
#endif
