// CUB: collectives of a warp and of a block, device-wide algorithms, iterators.
#pragma once
#include "../std/containers.h"
#include "device.h"
#include "runtime.h"

#pragma clang force_cuda_host_device begin
#define CUB_NAMESPACE_BEGIN
#define CUB_NAMESPACE_END
#define CUB_PTX_WARP_THREADS 32
#define CUB_PTX_LOG_WARP_THREADS 5
#define CUB_MAX(a, b) (((a) > (b)) ? (a) : (b))
#define CUB_MIN(a, b) (((a) < (b)) ? (a) : (b))
#define CubDebugExit(e) (void)(e)
#define CubDebug(e) (e)
namespace cub {
struct Sum { template <class T> T operator()(const T &, const T &) const; };
struct Difference { template <class T> T operator()(const T &, const T &) const; };
struct Max { template <class T> T operator()(const T &, const T &) const; };
struct Min { template <class T> T operator()(const T &, const T &) const; };
struct ArgMax { template <class T> T operator()(const T &, const T &) const; };
struct ArgMin { template <class T> T operator()(const T &, const T &) const; };
struct Equality { template <class T> bool operator()(const T &, const T &) const; };
struct Inequality { template <class T> bool operator()(const T &, const T &) const; };
struct NullType {};
template <class T> struct Traits {
  typedef T UnsignedBits;
  static T TwiddleIn(T);
  static T TwiddleOut(T);
  static T Max();
  static T Lowest();
};
template <class T> struct NumericTraits : Traits<T> {};
enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };
template <class K, class V> struct KeyValuePair { typedef K Key; typedef V Value; K key; V value; KeyValuePair(); KeyValuePair(K, V); };
template <class T> struct DoubleBuffer {
  T *d_buffers[2];
  int selector;
  DoubleBuffer();
  DoubleBuffer(T *, T *);
  T *Current();
  T *Alternate();
};
template <class T> struct Uninitialized { T &Alias(); };
template <class T, int n> struct ArrayWrapper { T array[n]; };
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier m, class It> typename std::iterator_traits<It>::value_type ThreadLoad(It);
template <CacheStoreModifier m, class It, class T> void ThreadStore(It, T);
__device__ unsigned int LaneId();
__device__ unsigned int WarpId();
__device__ int RowMajorTid(int, int, int);
template <int threads, class T> __device__ T ShuffleIndex(T, int, unsigned);
template <int threads, class T> __device__ T ShuffleDown(T, int, int, unsigned);
template <int threads, class T> __device__ T ShuffleUp(T, int, int, unsigned);

#define PORTER_COLLECTIVE(name)          \
  struct TempStorage : Uninitialized<int[64]> {}; \
  name();                                \
  name(TempStorage &);
template <class T, int threads = 32, int ptx = 0> class WarpReduce {
 public:
  PORTER_COLLECTIVE(WarpReduce)
  T Sum(T);
  T Sum(T, int);
  template <class F> T Reduce(T, F);
  template <class F> T Reduce(T, F, int);
  template <class G> T HeadSegmentedSum(T, G);
  template <class G> T TailSegmentedSum(T, G);
  template <class G, class F> T HeadSegmentedReduce(T, G, F);
  template <class G, class F> T TailSegmentedReduce(T, G, F);
};
template <class T, int threads = 32, int ptx = 0> class WarpScan {
 public:
  PORTER_COLLECTIVE(WarpScan)
  template <class... A> void InclusiveSum(T, T &, A &&...);
  template <class... A> void ExclusiveSum(T, T &, A &&...);
  template <class... A> void InclusiveScan(T, T &, A &&...);
  template <class... A> void ExclusiveScan(T, T &, A &&...);
  template <class... A> void Scan(T, T &, T &, A &&...);
  T Broadcast(T, unsigned);
};
template <class K, int items, int threads = 32, class V = NullType, int ptx = 0> class WarpMergeSort {
 public:
  PORTER_COLLECTIVE(WarpMergeSort)
  template <class... A> void Sort(A &&...);
};
template <class T, int x, BlockReduceAlgorithm a = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1, int ptx = 0> class BlockReduce {
 public:
  PORTER_COLLECTIVE(BlockReduce)
  T Sum(T);
  T Sum(T, int);
  template <int n> T Sum(T (&)[n]);
  template <class F> T Reduce(T, F);
  template <class F> T Reduce(T, F, int);
  template <int n, class F> T Reduce(T (&)[n], F);
};
template <class T, int x, BlockScanAlgorithm a = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int ptx = 0> class BlockScan {
 public:
  PORTER_COLLECTIVE(BlockScan)
  template <class I, class O, class... A> void InclusiveSum(I &&, O &&, A &&...);
  template <class I, class O, class... A> void ExclusiveSum(I &&, O &&, A &&...);
  template <class I, class O, class... A> void InclusiveScan(I &&, O &&, A &&...);
  template <class I, class O, class... A> void ExclusiveScan(I &&, O &&, A &&...);
};
#define PORTER_BLOCK(name, method1, method2, method3, method4, ...)      \
  template <__VA_ARGS__> class name {                                    \
   public:                                                               \
    PORTER_COLLECTIVE(name)                                              \
    template <class... A> void method1(A &&...);                         \
    template <class... A> void method2(A &&...);                         \
    template <class... A> void method3(A &&...);                         \
    template <class... A> void method4(A &&...);                         \
  };
PORTER_BLOCK(BlockLoad, Load, LoadA, LoadB, LoadC, class T, int x, int items, BlockLoadAlgorithm a = BLOCK_LOAD_DIRECT, int y = 1, int z = 1, int ptx = 0)
PORTER_BLOCK(BlockStore, Store, StoreA, StoreB, StoreC, class T, int x, int items, BlockStoreAlgorithm a = BLOCK_STORE_DIRECT, int y = 1, int z = 1, int ptx = 0)
PORTER_BLOCK(BlockExchange, BlockedToStriped, StripedToBlocked, ScatterToBlocked, ScatterToStriped, class T, int x, int items, bool slice = false, int y = 1, int z = 1, int ptx = 0)
PORTER_BLOCK(BlockRadixSort, Sort, SortDescending, SortBlockedToStriped, SortDescendingBlockedToStriped, class K, int x, int items, class V = NullType, int bits = 4, bool memo = true, int ptx = 0)
PORTER_BLOCK(BlockMergeSort, Sort, StableSort, SortA, SortB, class K, int x, int items, class V = NullType, int y = 1, int z = 1)
PORTER_BLOCK(BlockHistogram, Histogram, InitHistogram, Composite, CompositeA, class T, int x, int items, int bins, BlockHistogramAlgorithm a = BLOCK_HISTO_SORT, int y = 1, int z = 1, int ptx = 0)
PORTER_BLOCK(BlockDiscontinuity, FlagHeads, FlagTails, FlagHeadsAndTails, FlagA, class T, int x, int y = 1, int z = 1, int ptx = 0)
PORTER_BLOCK(BlockAdjacentDifference, SubtractLeft, SubtractRight, SubtractA, SubtractB, class T, int x, int y = 1, int z = 1, int ptx = 0)
PORTER_BLOCK(BlockShuffle, Offset, Rotate, Up, Down, class T, int x, int y = 1, int z = 1, int ptx = 0)
PORTER_BLOCK(BlockRadixRank, RankKeys, RankA, RankB, RankC, int x, int bits, bool descending, bool memo = true)
PORTER_BLOCK(BlockRunLengthDecode, RunLengthDecode, DecodeA, DecodeB, DecodeC, class T, int x, int runs, int items)
PORTER_BLOCK(WarpLoad, Load, LoadA, LoadB, LoadC, class T, int items, int a = 0, int threads = 32)
PORTER_BLOCK(WarpStore, Store, StoreA, StoreB, StoreC, class T, int items, int a = 0, int threads = 32)
PORTER_BLOCK(WarpExchange, BlockedToStriped, StripedToBlocked, ScatterToStriped, ExchangeA, class T, int items, int threads = 32)
#undef PORTER_BLOCK
#undef PORTER_COLLECTIVE
#define PORTER_LOAD(name) template <class... A> void name(A &&...);
PORTER_LOAD(LoadDirectBlocked) PORTER_LOAD(LoadDirectStriped) PORTER_LOAD(StoreDirectBlocked) PORTER_LOAD(StoreDirectStriped)
#undef PORTER_LOAD
template <int threads, class... A> void LoadDirectStriped(A &&...);
template <int threads, class... A> void StoreDirectStriped(A &&...);

#define PORTER_ALGORITHM(name) template <class... A> static cudaError_t name(A &&...);
struct DeviceReduce { PORTER_ALGORITHM(Sum) PORTER_ALGORITHM(Reduce) PORTER_ALGORITHM(Max) PORTER_ALGORITHM(Min) PORTER_ALGORITHM(ArgMax) PORTER_ALGORITHM(ArgMin) PORTER_ALGORITHM(ReduceByKey) PORTER_ALGORITHM(TransformReduce) };
struct DeviceSegmentedReduce { PORTER_ALGORITHM(Sum) PORTER_ALGORITHM(Reduce) PORTER_ALGORITHM(Max) PORTER_ALGORITHM(Min) PORTER_ALGORITHM(ArgMax) PORTER_ALGORITHM(ArgMin) };
struct DeviceScan { PORTER_ALGORITHM(InclusiveSum) PORTER_ALGORITHM(ExclusiveSum) PORTER_ALGORITHM(InclusiveScan) PORTER_ALGORITHM(ExclusiveScan) PORTER_ALGORITHM(InclusiveSumByKey) PORTER_ALGORITHM(ExclusiveSumByKey) PORTER_ALGORITHM(InclusiveScanByKey) PORTER_ALGORITHM(ExclusiveScanByKey) };
struct DeviceRadixSort { PORTER_ALGORITHM(SortPairs) PORTER_ALGORITHM(SortPairsDescending) PORTER_ALGORITHM(SortKeys) PORTER_ALGORITHM(SortKeysDescending) };
struct DeviceSegmentedRadixSort : DeviceRadixSort {};
struct DeviceMergeSort { PORTER_ALGORITHM(SortPairs) PORTER_ALGORITHM(SortKeys) PORTER_ALGORITHM(StableSortPairs) PORTER_ALGORITHM(StableSortKeys) };
struct DeviceSegmentedSort : DeviceMergeSort { PORTER_ALGORITHM(SortKeysDescending) PORTER_ALGORITHM(SortPairsDescending) };
struct DeviceSelect { PORTER_ALGORITHM(If) PORTER_ALGORITHM(Flagged) PORTER_ALGORITHM(Unique) PORTER_ALGORITHM(UniqueByKey) };
struct DevicePartition { PORTER_ALGORITHM(If) PORTER_ALGORITHM(Flagged) };
struct DeviceHistogram { PORTER_ALGORITHM(HistogramEven) PORTER_ALGORITHM(HistogramRange) PORTER_ALGORITHM(MultiHistogramEven) PORTER_ALGORITHM(MultiHistogramRange) };
struct DeviceRunLengthEncode { PORTER_ALGORITHM(Encode) PORTER_ALGORITHM(NonTrivialRuns) };
struct DeviceSpmv { PORTER_ALGORITHM(CsrMV) };
struct DeviceAdjacentDifference { PORTER_ALGORITHM(SubtractLeft) PORTER_ALGORITHM(SubtractRight) PORTER_ALGORITHM(SubtractLeftCopy) };
struct DeviceFor { PORTER_ALGORITHM(Bulk) PORTER_ALGORITHM(ForEach) PORTER_ALGORITHM(ForEachN) };
#undef PORTER_ALGORITHM
template <class T, class D = ptrdiff_t> struct CountingInputIterator : std::porter_iterator<T> { explicit CountingInputIterator(T); };
template <class T, class D = ptrdiff_t> struct ConstantInputIterator : std::porter_iterator<T> { explicit ConstantInputIterator(T); };
template <class T, class F, class It, class D = ptrdiff_t> struct TransformInputIterator : std::porter_iterator<T> { TransformInputIterator(It, F); };
template <class It, class D = ptrdiff_t, class T = int> struct ArgIndexInputIterator : std::porter_iterator<KeyValuePair<int, T>> { ArgIndexInputIterator(It); };
template <CacheLoadModifier m, class T, class D = ptrdiff_t> struct CacheModifiedInputIterator : std::porter_iterator<T> { template <class Q> CacheModifiedInputIterator(Q *); };
template <class T = int, class D = ptrdiff_t> struct DiscardOutputIterator : std::porter_iterator<T> { DiscardOutputIterator(); };
template <class T> struct TexObjInputIterator : std::porter_iterator<T> {};
struct CachingDeviceAllocator {
  bool debug;
  template <class... A> CachingDeviceAllocator(A &&...);
  template <class... A> cudaError_t DeviceAllocate(A &&...);
  cudaError_t DeviceFree(void *);
};
template <class O, class = void> struct GridEvenShare {};
}  // namespace cub
#pragma clang force_cuda_host_device end
