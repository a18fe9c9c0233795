/* at::cuda: properties, generators, handles of libraries, and the hooks by which PyTorch's CPU half asks for CUDA. */
#include "runtime.h"

#include <ATen/Context.h>
#include <ATen/Utils.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/empty.h>
#include <c10/core/StorageImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/CallOnce.h>

#include <cstring>
#include <deque>

namespace at::cuda {
namespace {
DeviceIndex or_current(DeviceIndex device) { return device >= 0 ? device : c10::cuda::current_device(); }
} // namespace

cudaDeviceProp *getDeviceProperties(DeviceIndex device) {
    static std::mutex mutex;
    static std::unordered_map<int, std::unique_ptr<cudaDeviceProp>> kept;
    const std::lock_guard<std::mutex> lock(mutex);
    auto &properties = kept[or_current(device)];
    if (!properties) {
        properties = std::make_unique<cudaDeviceProp>();
        C10_CUDA_CHECK(PORTER_RUNTIME(GetDeviceProperties)(properties.get(), or_current(device)));
    }
    return properties.get();
}

cudaDeviceProp *getCurrentDeviceProperties() { return getDeviceProperties(c10::cuda::current_device()); }
int warp_size() { return getCurrentDeviceProperties()->warpSize; }

bool canDeviceAccessPeer(DeviceIndex device, DeviceIndex peer) {
    int can = 0;
    C10_CUDA_CHECK(PORTER_RUNTIME(DeviceCanAccessPeer)(&can, device, peer));
    return can != 0;
}

c10::Allocator *getCUDADeviceAllocator() { return c10::cuda::CUDACachingAllocator::get(); }
decltype(getCurrentCUDASparseHandle()) getCurrentCUDASparseHandle() { porter::unsupported("at::cuda::getCurrentCUDASparseHandle"); }
decltype(getCurrentCUDABlasHandle()) getCurrentCUDABlasHandle(bool) { porter::unsupported("at::cuda::getCurrentCUDABlasHandle"); }
decltype(getCurrentCUDABlasLtHandle()) getCurrentCUDABlasLtHandle() { porter::unsupported("at::cuda::getCurrentCUDABlasLtHandle"); }
void clearCublasWorkspaces() {}
} // namespace at::cuda

// ---- generators: Philox's seed and offset, as a GPU's ------------------------------------------------------

namespace at {

void CUDAGeneratorState::increase(uint64_t increment) { philox_offset_per_thread_ += (increment + 3) / 4 * 4; }

c10::intrusive_ptr<CUDAGeneratorState> CUDAGeneratorState::clone() {
    return c10::make_intrusive<CUDAGeneratorState>(seed_, philox_offset_per_thread_);
}

CUDAGeneratorImpl::CUDAGeneratorImpl(DeviceIndex device)
    : c10::GeneratorImpl{Device(DeviceType::CUDA, device), DispatchKeySet(c10::DispatchKey::CUDA)},
      state_(c10::make_intrusive<CUDAGeneratorState>()) {
    no_reset_rnn_state_.clear();
}

CUDAGeneratorImpl::CUDAGeneratorImpl(DeviceIndex device, c10::intrusive_ptr<CUDAGeneratorState> state)
    : c10::GeneratorImpl{Device(DeviceType::CUDA, device), DispatchKeySet(c10::DispatchKey::CUDA)}, state_(std::move(state)) {
    no_reset_rnn_state_.clear();
}

void CUDAGeneratorImpl::set_current_seed(uint64_t seed) {
    state_->seed_ = seed;
    state_->philox_offset_per_thread_ = 0;
    no_reset_rnn_state_.clear();
}

void CUDAGeneratorImpl::set_offset(uint64_t offset) { set_philox_offset_per_thread(offset); }
uint64_t CUDAGeneratorImpl::get_offset() const { return state_->philox_offset_per_thread_; }
uint64_t CUDAGeneratorImpl::current_seed() const { return state_->seed_; }

uint64_t CUDAGeneratorImpl::seed() {
    const auto random = c10::detail::getNonDeterministicRandom(true);
    set_current_seed(random);
    return random;
}

c10::intrusive_ptr<c10::TensorImpl> CUDAGeneratorImpl::get_state() const {
    auto state = at::empty({16}, at::TensorOptions().dtype(at::kByte).device(at::kCPU));
    const uint64_t words[2] = {current_seed(), philox_offset_per_thread()};
    std::memcpy(state.mutable_data_ptr(), words, sizeof words);
    return state.getIntrusivePtr();
}

void CUDAGeneratorImpl::set_state(const c10::TensorImpl &state) {
    at::detail::check_rng_state(state);
    TORCH_CHECK(state.numel() == 16 || state.numel() == 8, "RNG state is wrong size");
    uint64_t words[2] = {0, 0};
    std::memcpy(words, state.data(), static_cast<size_t>(state.numel()));
    set_current_seed(words[0]);
    set_philox_offset_per_thread(words[1]);
}

void CUDAGeneratorImpl::graphsafe_set_state(const c10::intrusive_ptr<GeneratorImpl> &other) {
    state_ = dynamic_cast<CUDAGeneratorImpl &>(*other).state_;
}

c10::intrusive_ptr<c10::GeneratorImpl> CUDAGeneratorImpl::graphsafe_get_state() const {
    return c10::make_intrusive<CUDAGeneratorImpl>(device().index(), state_);
}

void CUDAGeneratorImpl::set_philox_offset_per_thread(uint64_t offset) {
    TORCH_CHECK(offset % 4 == 0, "offset must be a multiple of 4");
    state_->philox_offset_per_thread_ = offset;
}

uint64_t CUDAGeneratorImpl::philox_offset_per_thread() const { return state_->philox_offset_per_thread_; }
void CUDAGeneratorImpl::register_graph(cuda::CUDAGraph *) { porter::unsupported("random numbers in a CUDA graph"); }

PhiloxCudaState CUDAGeneratorImpl::philox_cuda_state(uint64_t increment) {
    const uint64_t offset = state_->philox_offset_per_thread_;
    state_->increase(increment);
    return PhiloxCudaState(state_->seed_, offset);
}

std::pair<uint64_t, uint64_t> CUDAGeneratorImpl::philox_engine_inputs(uint64_t increment) {
    const uint64_t offset = state_->philox_offset_per_thread_;
    state_->increase(increment);
    return {state_->seed_, offset};
}

DeviceType CUDAGeneratorImpl::device_type() { return DeviceType::CUDA; }

CUDAGeneratorImpl *CUDAGeneratorImpl::clone_impl() const { return new CUDAGeneratorImpl(device().index(), state_->clone()); }

std::shared_ptr<CUDAGeneratorImpl> CUDAGeneratorImpl::clone() const { return std::shared_ptr<CUDAGeneratorImpl>(clone_impl()); }

namespace cuda::detail {
Generator createCUDAGenerator(DeviceIndex device) { return make_generator<CUDAGeneratorImpl>(or_current(device)); }

const Generator &getDefaultCUDAGenerator(DeviceIndex device) {
    static std::mutex mutex;
    static std::deque<Generator> generators;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto index = static_cast<size_t>(or_current(device));
    while (generators.size() <= index) {
        generators.push_back(createCUDAGenerator(static_cast<DeviceIndex>(generators.size())));
        generators.back().seed();
    }
    return generators[index];
}
} // namespace cuda::detail

// ---- hooks -----------------------------------------------------------------------------------------------

namespace {
thread_local bool next_is_default = false;

void free_pinned(void *at) { (void)porter_free_host(at); }

struct Pinned final : c10::Allocator {
    DataPtr allocate(size_t bytes) override {
        void *at = nullptr;
        if (bytes) C10_CUDA_CHECK(porter_allocate_host(&at, bytes));
        return {at, at, &free_pinned, Device(DeviceType::CPU)};
    }
    DeleterFnPtr raw_deleter() const override { return &free_pinned; }
    void copy_data(void *to, const void *from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};

struct CUDAHooks : at::CUDAHooksInterface {
    explicit CUDAHooks(at::CUDAHooksArgs) {}
    void init() const override {}
    const Generator &getDefaultGenerator(DeviceIndex device) const override { return cuda::detail::getDefaultCUDAGenerator(device); }
    Generator getNewGenerator(DeviceIndex device) const override {
        if (std::exchange(next_is_default, false)) return cuda::detail::getDefaultCUDAGenerator(device);
        return cuda::detail::createCUDAGenerator(device);
    }
    Device getDeviceFromPtr(void *) const override { return {DeviceType::CUDA, c10::cuda::current_device()}; }
    bool isPinnedPtr(const void *at) const override { return porter_is_pinned(at); }
    bool hasCUDA() const override { return c10::cuda::device_count() > 0; }
    bool hasCUDART() const override { return true; }
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return hasCUDA(); }
#ifdef USE_ROCM
    bool hasROCM() const override { return true; }
#endif
    bool hasPrimaryContext(DeviceIndex) const override { return true; }
    DeviceIndex current_device() const override { return c10::cuda::current_device(); }
    DeviceIndex deviceCount() const override { return c10::cuda::device_count(); }
    DeviceIndex getCurrentDevice() const override { return c10::cuda::current_device(); }
    void setCurrentDevice(DeviceIndex device) const override { c10::cuda::set_device(device); }
    DeviceIndex exchangeDevice(DeviceIndex device) const override { return c10::cuda::ExchangeDevice(device); }
    DeviceIndex maybeExchangeDevice(DeviceIndex device) const override { return c10::cuda::ExchangeDevice(device); }
    c10::Allocator *getPinnedMemoryAllocator() const override {
        static Pinned pinned;
        return &pinned;
    }
    c10::Allocator *getCUDADeviceAllocator() const override { return cuda::getCUDADeviceAllocator(); }
    int getNumGPUs() const override { return c10::cuda::device_count(); }
    std::string showConfig() const override { return "porter's virtual device\n"; }
    void deviceSynchronize(DeviceIndex) const override { c10::cuda::device_synchronize(); }

  private:
    static bool porter_is_pinned(const void *at) {
#ifdef USE_ROCM
        hipPointerAttribute_t found{};
        if (hipPointerGetAttributes(&found, at) != hipSuccess) return (void)hipGetLastError(), false;
#if HIP_VERSION_MAJOR >= 6
        return found.type == hipMemoryTypeHost;
#else
        return found.memoryType == hipMemoryTypeHost;
#endif
#else
        cudaPointerAttributes found{};
        if (cudaPointerGetAttributes(&found, at) != cudaSuccess) return (void)cudaGetLastError(), false;
        return found.type == cudaMemoryTypeHost;
#endif
    }
};

REGISTER_CUDA_HOOKS(CUDAHooks)
} // namespace
} // namespace at

// ---- for Python ------------------------------------------------------------------------------------------

extern "C" {
__attribute__((visibility("default"))) void porter_torch_next_is_default(void) { at::next_is_default = true; }

__attribute__((visibility("default"))) const int64_t *porter_torch_memory(void) { return &porter::memory.current; }

struct PorterProperties {
    char name[256], architecture[64];
    int64_t total_memory, shared_block, shared_multiprocessor, shared_optin, l2_cache;
    int32_t major, minor, multiprocessors, warp_size, threads, threads_multiprocessor, registers, integrated;
};

__attribute__((visibility("default"))) int porter_torch_properties(int device, PorterProperties *out) {
    cudaDeviceProp from{};
    if (const auto status = PORTER_RUNTIME(GetDeviceProperties)(&from, device); status != cudaSuccess) return status;
    *out = {};
    std::strncpy(out->name, from.name, sizeof out->name - 1);
#ifdef USE_ROCM
    std::strncpy(out->architecture, from.gcnArchName, sizeof out->architecture - 1);
    out->shared_multiprocessor = static_cast<int64_t>(from.maxSharedMemoryPerMultiProcessor);
    out->shared_optin = static_cast<int64_t>(from.sharedMemPerBlock);
#else
    out->shared_multiprocessor = static_cast<int64_t>(from.sharedMemPerMultiprocessor);
    out->shared_optin = static_cast<int64_t>(from.sharedMemPerBlockOptin);
#endif
    out->total_memory = static_cast<int64_t>(from.totalGlobalMem);
    out->shared_block = static_cast<int64_t>(from.sharedMemPerBlock);
    out->l2_cache = from.l2CacheSize;
    out->major = from.major;
    out->minor = from.minor;
    out->multiprocessors = from.multiProcessorCount;
    out->warp_size = from.warpSize;
    out->threads = from.maxThreadsPerBlock;
    out->threads_multiprocessor = from.maxThreadsPerMultiProcessor;
    out->registers = from.regsPerBlock;
    out->integrated = from.integrated;
    return 0;
}
}
