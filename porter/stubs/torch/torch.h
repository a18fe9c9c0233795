// ATen, c10 and torch as far as PyTorch extensions with CUDA kernels use them.
#pragma once
#include "../cuda/half.h"
#include "../cuda/libraries.h"
#include "../std/streams.h"

#pragma clang force_cuda_host_device begin
#define C10_WARP_SIZE 32
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(n) __launch_bounds__(n)
#define C10_LAUNCH_BOUNDS_2(n, m) __launch_bounds__(n, m)
#define C10_ALWAYS_INLINE inline
#define C10_RESTRICT __restrict__
#define C10_UNUSED
#define C10_NODISCARD
#define C10_EXPORT
#define C10_IMPORT
#define C10_API
#define TORCH_API
#define TORCH_CUDA_CU_API
#define C10_CUDA_API
#define AT_FORALL_SCALAR_TYPES(each)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(each)
#define C10_LIKELY(e) (e)
#define C10_UNLIKELY(e) (e)
#define GPU_LAMBDA __host__ __device__
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_KERNEL_LOOP_TYPE(i, n, T) for (T i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define TORCH_CHECK(condition, ...) ((void)(condition), ::porter_stub::swallow(__VA_ARGS__))
#define TORCH_CHECK_EQ(a, b) ((void)((a) == (b)))
#define TORCH_INTERNAL_ASSERT(...) ((void)::porter_stub::swallow(__VA_ARGS__))
#define TORCH_WARN(...) ((void)::porter_stub::swallow(__VA_ARGS__))
#define TORCH_WARN_ONCE(...) ((void)::porter_stub::swallow(__VA_ARGS__))
#define AT_ASSERTM(condition, ...) ((void)(condition), ::porter_stub::swallow(__VA_ARGS__))
#define AT_ASSERT(...) ((void)::porter_stub::swallow(__VA_ARGS__))
#define AT_CHECK(condition, ...) ((void)(condition), ::porter_stub::swallow(__VA_ARGS__))
#define AT_ERROR(...) ((void)::porter_stub::swallow(__VA_ARGS__))
#define AT_CUDA_CHECK(e) ((void)(e))
#define C10_CUDA_CHECK(e) ((void)(e))
#define C10_CUDA_ERROR_HANDLED(e) (e)
#define C10_CUDA_IGNORE_ERROR(e) ((void)(e))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)cudaGetLastError())
#define TORCH_CUDABLAS_CHECK(e) ((void)(e))
#define TORCH_CUSPARSE_CHECK(e) ((void)(e))
#define THCudaCheck(e) ((void)(e))
#define TORCH_EXTENSION_NAME extension
#define PYBIND11_MODULE(name, variable) static void porter_module(::pybind11::module_ &variable)
#define TORCH_LIBRARY(name, variable) static void porter_library_##name(::torch::Library &variable)
#define TORCH_LIBRARY_IMPL(name, key, variable) static void porter_library_##name##_##key(::torch::Library &variable)
#define TORCH_LIBRARY_FRAGMENT(name, variable) static void porter_fragment_##name(::torch::Library &variable)
#define AT_PRIVATE_DISPATCH(...) ((void)(__VA_ARGS__))
#define PORTER_DISPATCH(TYPE, NAME, ...) \
  [&] {                                  \
    (void)(TYPE);                        \
    typedef float scalar_t;              \
    return __VA_ARGS__();                \
  }()
#define AT_DISPATCH_FLOATING_TYPES(T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(A, T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(A, B, C, T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(T, N, ...) [&] { typedef long index_t; return __VA_ARGS__(); }()
#define AT_DISPATCH_ALL_TYPES(T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(A, T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(T, N, ...) PORTER_DISPATCH(T, N, __VA_ARGS__)
#define AT_DISPATCH_CASE(T, ...) PORTER_DISPATCH(T, "", __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) PORTER_DISPATCH(0, "", __VA_ARGS__)
#define AT_DISPATCH_SWITCH(T, N, ...) ((void)(T), (void)sizeof(__VA_ARGS__))
namespace porter_stub { template <class... A> int swallow(const A &...); }

namespace c10 {
enum class ScalarType : signed char {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8, QInt32, BFloat16,
  Float8_e5m2 = 23, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz, Undefined
};
enum class DeviceType : signed char { CPU, CUDA, HIP = 6 };
enum class Layout : signed char { Strided, Sparse };
enum class MemoryFormat : signed char { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
typedef signed char DeviceIndex;
#define PORTER_MIXED(name, op)                                                    \
  friend float operator op(name, float);                                          \
  friend float operator op(float, name);                                          \
  friend double operator op(name, double);                                        \
  friend double operator op(double, name);                                        \
  friend name operator op(name, int);                                             \
  friend name operator op(int, name);                                             \
  friend name operator op(name, long);                                            \
  friend name operator op(long, name);
#define PORTER_SMALL(name, native)                                                \
  struct alignas(2) name {                                                        \
    unsigned short x;                                                             \
    struct from_bits_t {};                                                        \
    static constexpr from_bits_t from_bits() { return {}; }                       \
    name() = default;                                                             \
    constexpr name(unsigned short bits, from_bits_t) : x(bits) {}                 \
    constexpr name(float) : x(0) {}                                               \
    name(const native &);                                                         \
    operator float() const;                                                       \
    operator native() const;                                                      \
    friend name operator+(const name &, const name &);                            \
    friend name operator-(const name &, const name &);                            \
    friend name operator*(const name &, const name &);                            \
    friend name operator/(const name &, const name &);                            \
    friend name operator-(const name &);                                          \
    PORTER_MIXED(name, +) PORTER_MIXED(name, -) PORTER_MIXED(name, *) PORTER_MIXED(name, /) \
    friend name &operator+=(name &, const name &);                                \
    friend name &operator-=(name &, const name &);                                \
    friend name &operator*=(name &, const name &);                                \
    friend name &operator/=(name &, const name &);                                \
  };
PORTER_SMALL(Half, __half)
PORTER_SMALL(BFloat16, __nv_bfloat16)
#undef PORTER_SMALL
#undef PORTER_MIXED
struct alignas(1) Float8_e4m3fn { unsigned char x; Float8_e4m3fn() = default; Float8_e4m3fn(float); operator float() const; };
struct alignas(1) Float8_e5m2 { unsigned char x; Float8_e5m2() = default; Float8_e5m2(float); operator float() const; };
struct alignas(1) Float8_e4m3fnuz { unsigned char x; Float8_e4m3fnuz() = default; Float8_e4m3fnuz(float); operator float() const; };
template <class T> struct complex : std::complex<T> { using std::complex<T>::complex; };
template <class T> class ArrayRef {
 public:
  ArrayRef();
  ArrayRef(const T &);
  ArrayRef(const T *, size_t);
  ArrayRef(const std::vector<T> &);
  template <class U> ArrayRef(std::initializer_list<U>);
  size_t size() const;
  const T &operator[](size_t) const;
  const T *data() const;
  const T *begin() const;
  const T *end() const;
  std::vector<T> vec() const;
  bool empty() const;
  bool equals(ArrayRef) const;
  ArrayRef slice(size_t, size_t) const;
  const T &front() const;
  const T &back() const;
  friend bool operator==(ArrayRef, ArrayRef);
  friend bool operator!=(ArrayRef, ArrayRef);
};
typedef ArrayRef<int64_t> IntArrayRef;
template <class T> using optional = std::optional<T>;
using std::nullopt;
template <class T> using intrusive_ptr = std::shared_ptr<T>;
struct Scalar { template <class T> Scalar(T); template <class T> T to() const; double toDouble() const; };
struct Device {
  Device(DeviceType, DeviceIndex = -1);
  Device(const std::string &);
  DeviceIndex index() const;
  DeviceType type() const;
  bool is_cuda() const;
  bool operator==(const Device &) const;
  bool operator!=(const Device &) const;
};
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
#define PORTER_TYPE(k, name) constexpr ScalarType k = ScalarType::name;
PORTER_TYPE(kByte, Byte) PORTER_TYPE(kChar, Char) PORTER_TYPE(kShort, Short) PORTER_TYPE(kInt, Int) PORTER_TYPE(kLong, Long) PORTER_TYPE(kHalf, Half)
PORTER_TYPE(kFloat, Float) PORTER_TYPE(kDouble, Double) PORTER_TYPE(kBool, Bool) PORTER_TYPE(kBFloat16, BFloat16) PORTER_TYPE(kFloat16, Half)
PORTER_TYPE(kFloat32, Float) PORTER_TYPE(kFloat64, Double) PORTER_TYPE(kInt8, Char) PORTER_TYPE(kUInt8, Byte) PORTER_TYPE(kInt16, Short)
PORTER_TYPE(kInt32, Int) PORTER_TYPE(kInt64, Long) PORTER_TYPE(kFloat8_e4m3fn, Float8_e4m3fn) PORTER_TYPE(kFloat8_e5m2, Float8_e5m2)
#undef PORTER_TYPE
struct TensorOptions {
  TensorOptions();
  template <class T> TensorOptions(T);
  TensorOptions dtype(ScalarType) const;
  template <class T> TensorOptions device(T, DeviceIndex = -1) const;
  TensorOptions layout(Layout) const;
  TensorOptions requires_grad(bool = true) const;
  TensorOptions memory_format(MemoryFormat) const;
};
size_t elementSize(ScalarType);
const char *toString(ScalarType);
template <class T> struct CppTypeToScalarType { static constexpr ScalarType value = ScalarType::Float; };
namespace cuda {
class CUDAStream {
 public:
  operator cudaStream_t() const;
  cudaStream_t stream() const;
  DeviceIndex device_index() const;
  void synchronize() const;
};
CUDAStream getCurrentCUDAStream(DeviceIndex = -1);
CUDAStream getDefaultCUDAStream(DeviceIndex = -1);
CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1);
void setCurrentCUDAStream(CUDAStream);
struct CUDAGuard { template <class T> explicit CUDAGuard(T); void set_index(DeviceIndex); };
struct OptionalCUDAGuard { OptionalCUDAGuard(); template <class T> explicit OptionalCUDAGuard(T); };
struct CUDAStreamGuard { explicit CUDAStreamGuard(CUDAStream); };
DeviceIndex current_device();
DeviceIndex device_count();
void set_device(DeviceIndex);
void device_synchronize();
namespace CUDACachingAllocator { void *raw_alloc(size_t); void raw_delete(void *); void emptyCache(); void recordStream(const void *, CUDAStream); }
}
}  // namespace c10

namespace at {
using namespace c10;
using c10::ArrayRef;
using c10::BFloat16;
using c10::Half;
using c10::IntArrayRef;
using c10::ScalarType;
template <class T> struct DefaultPtrTraits { typedef T *PtrType; };
template <class T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };
template <class T, size_t n, template <class> class P = DefaultPtrTraits, class I = int64_t> class GenericPackedTensorAccessor {
 public:
  typedef typename P<T>::PtrType PtrType;
  GenericPackedTensorAccessor<T, n - 1, P, I> operator[](I) const;
  I size(I) const;
  I stride(I) const;
  PtrType data() const;
  const I *sizes() const;
};
template <class T, template <class> class P, class I> class GenericPackedTensorAccessor<T, 1, P, I> {
 public:
  typedef typename P<T>::PtrType PtrType;
  T &operator[](I) const;
  I size(I) const;
  I stride(I) const;
  PtrType data() const;
};
template <class T, size_t n, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, n, P, int32_t>;
template <class T, size_t n, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, n, P, int64_t>;
template <class T, size_t n, template <class> class P = DefaultPtrTraits, class I = int64_t> using PackedTensorAccessor = GenericPackedTensorAccessor<T, n, P, I>;
template <class T, size_t n> using TensorAccessor = GenericPackedTensorAccessor<T, n>;
struct DeprecatedTypeProperties { ScalarType scalarType() const; operator ScalarType() const; bool is_cuda() const; };
class Tensor {
 public:
  Tensor();
  template <class T> T *data_ptr() const;
  void *data_ptr() const;
  template <class T> const T *const_data_ptr() const;
  template <class T> T *mutable_data_ptr() const;
  template <class T> T *data() const;
  template <class T, size_t n> TensorAccessor<T, n> accessor() const;
  template <class T, size_t n, template <class> class P = DefaultPtrTraits> PackedTensorAccessor32<T, n, P> packed_accessor32() const;
  template <class T, size_t n, template <class> class P = DefaultPtrTraits> PackedTensorAccessor64<T, n, P> packed_accessor64() const;
  template <class T, size_t n, template <class> class P = DefaultPtrTraits, class I = int64_t> PackedTensorAccessor<T, n, P, I> packed_accessor() const;
  template <class T, size_t n, template <class> class P = DefaultPtrTraits, class I = int64_t> PackedTensorAccessor<T, n, P, I> generic_packed_accessor() const;
  template <class T> T item() const;
  IntArrayRef sizes() const;
  IntArrayRef strides() const;
  int64_t size(int64_t) const;
  int64_t stride(int64_t) const;
  int64_t numel() const;
  int64_t dim() const;
  int64_t ndimension() const;
  int64_t element_size() const;
  int64_t nbytes() const;
  int64_t storage_offset() const;
  int64_t get_device() const;
  Device device() const;
  ScalarType scalar_type() const;
  ScalarType dtype() const;
  DeprecatedTypeProperties type() const;
  TensorOptions options() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const;
  bool is_floating_point() const;
  bool defined() const;
  bool requires_grad() const;
  bool is_sparse() const;
  Tensor operator[](int64_t) const;
  Tensor operator-() const;
  template <class T> Tensor &operator+=(const T &);
  template <class T> Tensor &operator-=(const T &);
  template <class T> Tensor &operator*=(const T &);
  template <class T> Tensor &operator/=(const T &);
#define PORTER_METHOD(name) template <class... A> Tensor name(A &&...) const;
#define PORTER_BRACED(name) template <class... A> Tensor name(IntArrayRef, A &&...) const;
  PORTER_METHOD(contiguous) PORTER_METHOD(to) PORTER_METHOD(cuda) PORTER_METHOD(cpu) PORTER_METHOD(clone) PORTER_METHOD(detach) PORTER_METHOD(view)
  PORTER_METHOD(reshape) PORTER_METHOD(flatten) PORTER_METHOD(transpose) PORTER_METHOD(permute) PORTER_METHOD(t) PORTER_METHOD(squeeze) PORTER_METHOD(unsqueeze)
  PORTER_METHOD(sum) PORTER_METHOD(mean) PORTER_METHOD(max) PORTER_METHOD(min) PORTER_METHOD(abs) PORTER_METHOD(sqrt) PORTER_METHOD(exp) PORTER_METHOD(matmul)
  PORTER_METHOD(mm) PORTER_METHOD(bmm) PORTER_METHOD(mul) PORTER_METHOD(add) PORTER_METHOD(sub) PORTER_METHOD(div) PORTER_METHOD(add_) PORTER_METHOD(mul_)
  PORTER_METHOD(copy_) PORTER_METHOD(zero_) PORTER_METHOD(fill_) PORTER_METHOD(resize_) PORTER_METHOD(select) PORTER_METHOD(narrow) PORTER_METHOD(slice)
  PORTER_METHOD(index) PORTER_METHOD(index_select) PORTER_METHOD(expand) PORTER_METHOD(expand_as) PORTER_METHOD(view_as) PORTER_METHOD(toType) PORTER_METHOD(float_)
  PORTER_METHOD(new_empty) PORTER_METHOD(new_zeros) PORTER_METHOD(cumsum) PORTER_METHOD(nonzero) PORTER_METHOD(argsort) PORTER_METHOD(masked_select)
  PORTER_BRACED(view) PORTER_BRACED(reshape) PORTER_BRACED(permute) PORTER_BRACED(new_empty) PORTER_BRACED(new_zeros) PORTER_BRACED(sum) PORTER_BRACED(expand)
#undef PORTER_METHOD
#undef PORTER_BRACED
};
#define PORTER_BINARY(op)                                                     \
  Tensor operator op(const Tensor &, const Tensor &);                         \
  Tensor operator op(const Tensor &, const Scalar &);                         \
  Tensor operator op(const Scalar &, const Tensor &);
PORTER_BINARY(+) PORTER_BINARY(-) PORTER_BINARY(*) PORTER_BINARY(/) PORTER_BINARY(<) PORTER_BINARY(>) PORTER_BINARY(==)
#undef PORTER_BINARY
std::ostream &operator<<(std::ostream &, const Tensor &);
typedef ArrayRef<Tensor> TensorList;
#define PORTER_FACTORY(name) \
  template <class... A> Tensor name(A &&...); \
  template <class... A> Tensor name(IntArrayRef, A &&...);
PORTER_FACTORY(empty) PORTER_FACTORY(zeros) PORTER_FACTORY(ones) PORTER_FACTORY(full) PORTER_FACTORY(rand) PORTER_FACTORY(randn) PORTER_FACTORY(randint)
PORTER_FACTORY(empty_like) PORTER_FACTORY(zeros_like) PORTER_FACTORY(ones_like) PORTER_FACTORY(full_like) PORTER_FACTORY(arange) PORTER_FACTORY(tensor)
PORTER_FACTORY(from_blob) PORTER_FACTORY(cat) PORTER_FACTORY(stack) PORTER_FACTORY(matmul) PORTER_FACTORY(mm) PORTER_FACTORY(addmm) PORTER_FACTORY(sum)
PORTER_FACTORY(softmax) PORTER_FACTORY(sigmoid) PORTER_FACTORY(tanh) PORTER_FACTORY(relu) PORTER_FACTORY(scalar_tensor) PORTER_FACTORY(where) PORTER_FACTORY(empty_strided)
PORTER_FACTORY(sqrt) PORTER_FACTORY(pow) PORTER_FACTORY(abs) PORTER_FACTORY(bmm) PORTER_FACTORY(conv2d) PORTER_FACTORY(native_layer_norm)
#undef PORTER_FACTORY
template <class T> struct numeric_limits {
  static T lowest();
  static T max();
  static T lower_bound();
  static T upper_bound();
};
template <class T> struct OpMathType { typedef T type; };
template <> struct OpMathType<Half> { typedef float type; };
template <> struct OpMathType<BFloat16> { typedef float type; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool cuda> struct AccumulateType { typedef T type; };
template <class T, bool cuda> using acc_type = typename AccumulateType<T, cuda>::type;
ScalarType toAccumulateType(ScalarType, bool);
template <class A, class B> A ceil_div(A, B);
template <class... A> void checkAllSameGPU(A &&...);
struct Generator { struct Lock { } mutex_; };
struct PhiloxCudaState { unsigned long long seed_, offset_; };
struct CUDAGeneratorImpl { PhiloxCudaState philox_cuda_state(uint64_t); uint64_t current_seed() const; };
struct TensorArg { TensorArg(const Tensor &, const char *, int); };
typedef const char *CheckedFrom;
struct OptionalDeviceGuard { OptionalDeviceGuard(); template <class T> explicit OptionalDeviceGuard(T); };
struct DeviceGuard { template <class T> explicit DeviceGuard(T); };
template <class T, int n> struct alignas(sizeof(T) * n) porter_aligned { T val[n]; };
namespace native {
template <class T, int n> struct memory { typedef porter_aligned<T, n> aligned_vector; };
}
namespace cuda {
using namespace c10::cuda;
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStream;
using c10::cuda::OptionalCUDAGuard;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
cudaDeviceProp *getCurrentDeviceProperties();
cudaDeviceProp *getDeviceProperties(int64_t);
cublasHandle_t getCurrentCUDABlasHandle();
cublasLtHandle_t getCurrentCUDABlasLtHandle();
cusparseHandle_t getCurrentCUDASparseHandle();
int warp_size();
bool is_available();
template <class A, class B> A ATenCeilDiv(A, B);
template <class... A> bool getApplyGrid(A &&...);
namespace philox { std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState); }
namespace detail { const Generator &getDefaultCUDAGenerator(DeviceIndex = -1); struct IntDivider { IntDivider(unsigned); }; template <class T, class I> struct TensorInfo { T *data; I sizes[25], strides[25]; int dims; }; }
}
}  // namespace at

__device__ c10::Half atomicAdd(c10::Half *, c10::Half);
__device__ c10::BFloat16 atomicAdd(c10::BFloat16 *, c10::BFloat16);
template <class T> __device__ T gpuAtomicAdd(T *, T);
template <class T> __device__ void gpuAtomicAddNoReturn(T *, T);
template <class T> __device__ T gpuAtomicMax(T *, T);
template <class T> __device__ T gpuAtomicMin(T *, T);
template <class T> __device__ T WARP_SHFL(T, int, int = warpSize, unsigned int = 0xffffffff);
template <class T> __device__ T WARP_SHFL_UP(T, unsigned int, int = warpSize, unsigned int = 0xffffffff);
template <class T> __device__ T WARP_SHFL_DOWN(T, unsigned int, int = warpSize, unsigned int = 0xffffffff);
template <class T> __device__ T WARP_SHFL_XOR(T, int, int = warpSize, unsigned int = 0xffffffff);
__device__ unsigned int WARP_BALLOT(int, unsigned int = 0xffffffff);
__device__ unsigned int WARP_ACTIVE_MASK();

namespace pybind11 {
struct arg { explicit arg(const char *); template <class T> arg operator=(T &&) const; };
struct module_ {
  template <class F, class... A> module_ &def(const char *, F &&, A &&...);
  template <class T> void attr(T) const;
  const char *doc() const;
};
typedef module_ module;
template <class T, class... B> struct class_ { template <class... A> class_(A &&...); template <class... A> class_ &def(A &&...); template <class... A> class_ &def_readwrite(A &&...); };
template <class... A> struct init {};
struct object {};
struct gil_scoped_release {};
struct array {};
template <class T, int f = 0> struct array_t : array { T *mutable_data(); const T *data() const; ssize_t size() const; };
namespace literals { arg operator""_a(const char *, size_t); }
}
namespace py = pybind11;
namespace torch {
using namespace at;
using at::IntArrayRef;
using at::Tensor;
using at::ScalarType;
using at::Device;
using at::kCPU;
using at::kCUDA;
struct Library { template <class... A> Library &def(A &&...); template <class F> Library &impl(const char *, F &&); };
template <class F> F CppFunction(F);
TensorOptions dtype(ScalarType);
template <class T> TensorOptions device(T, DeviceIndex = -1);
TensorOptions requires_grad(bool = true);
namespace indexing { struct Slice { template <class... A> Slice(A...); }; struct EllipsisIndexType {}; extern const EllipsisIndexType Ellipsis, None; }
namespace nn { struct Module {}; namespace functional {} }
namespace autograd {
typedef std::vector<at::Tensor> variable_list, tensor_list;
typedef at::Tensor Variable;
struct AutogradContext { template <class... A> void save_for_backward(A &&...); tensor_list get_saved_variables() const; };
template <class T> struct Function { template <class... A> static variable_list apply(A &&...); };
}
namespace cuda { bool is_available(); using namespace c10::cuda; }
namespace headeronly { template <class A, class B> A ceil_div(A, B); }
struct NoGradGuard {};
struct InferenceMode {};
}  // namespace torch
#pragma clang force_cuda_host_device end
