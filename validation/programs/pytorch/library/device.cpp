/* c10::cuda: devices, streams, memory and checks, on porter's drop-in runtime. */
#include "runtime.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDADeviceAssertionHost.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/impl/CUDAGuardImpl.h>

#include <array>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace porter {
Memory memory;

void unsupported(const char *what) {
    porter_refuses(what, nullptr);
    TORCH_CHECK(false, what, " is not there when PyTorch runs on a virtual device");
}
} // namespace porter

namespace c10::cuda {

// ---- devices ---------------------------------------------------------------------------------------------

DeviceIndex device_count() noexcept {
    int count = 0;
    return GetDeviceCount(&count) == cudaSuccess ? static_cast<DeviceIndex>(count) : 0;
}

DeviceIndex device_count_ensure_non_zero() {
    const DeviceIndex count = device_count();
    TORCH_CHECK(count > 0, "No CUDA GPUs are available");
    return count;
}

DeviceIndex current_device() {
    DeviceIndex device = -1;
    C10_CUDA_CHECK(GetDevice(&device));
    return device;
}

void set_device(DeviceIndex device, const bool force) { C10_CUDA_CHECK(SetDevice(device, force)); }
void device_synchronize() { C10_CUDA_CHECK(PORTER_RUNTIME(DeviceSynchronize)()); }

void warn_or_error_on_sync() {
    TORCH_CHECK(warning_state().get_sync_debug_mode() != SyncDebugMode::L_ERROR, "called a synchronizing CUDA operation");
    if (warning_state().get_sync_debug_mode() == SyncDebugMode::L_WARN) TORCH_WARN("called a synchronizing CUDA operation");
}

cudaError_t GetDeviceCount(int *count) { return PORTER_RUNTIME(GetDeviceCount)(count); }

cudaError_t GetDevice(DeviceIndex *device) {
    int number = -1;
    const auto status = PORTER_RUNTIME(GetDevice)(&number);
    if (status == cudaSuccess) *device = static_cast<DeviceIndex>(number);
    return status;
}

cudaError_t SetDevice(DeviceIndex device, const bool) {
    TORCH_CHECK(device >= 0, "device id must be non-negative!", static_cast<int>(device));
    return PORTER_RUNTIME(SetDevice)(device);
}

cudaError_t MaybeSetDevice(DeviceIndex device) { return SetDevice(device); }

DeviceIndex ExchangeDevice(DeviceIndex device) {
    const DeviceIndex before = current_device();
    if (device >= 0 && device != before) set_device(device);
    return before;
}

DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }
void SetTargetDevice() {}
bool hasPrimaryContext(DeviceIndex) { return true; }
std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext() { return current_device(); }

// ---- errors ----------------------------------------------------------------------------------------------

std::string get_cuda_error_help(cudaError_t) noexcept { return ""; }
const char *get_cuda_check_suffix() noexcept { return ""; }
const char *get_cuda_async_error_suffix(cudaError_t) noexcept { return ""; }

std::mutex *getFreeMutex() {
    static std::mutex mutex;
    return &mutex;
}

void c10_cuda_check_implementation(int32_t error, const char *file, const char *function, uint32_t line, bool) {
    const auto status = static_cast<cudaError_t>(error);
    if (status == cudaSuccess) return;
    (void)PORTER_RUNTIME(GetLastError)();
    throw c10::AcceleratorError({function, file, line}, error, std::string("CUDA error: ") + PORTER_RUNTIME(GetErrorString)(status));
}

// ---- streams: the id of one is its handle, 0 the default stream ------------------------------------------

namespace {
constexpr int STREAMS = 32;
thread_local std::array<StreamId, 64> current_streams{};

DeviceIndex device_or_current(DeviceIndex device) { return device >= 0 ? device : current_device(); }

CUDAStream stream_of(StreamId id, DeviceIndex device) {
    return CUDAStream(CUDAStream::UNCHECKED, Stream(Stream::UNSAFE, Device(DeviceType::CUDA, device), id));
}
} // namespace

cudaStream_t CUDAStream::stream() const { return reinterpret_cast<cudaStream_t>(stream_.id()); }

bool CUDAStream::query() const {
    const auto status = PORTER_RUNTIME(StreamQuery)(stream());
    if (status == cudaErrorNotReady) (void)PORTER_RUNTIME(GetLastError)();
    else C10_CUDA_CHECK(status);
    return status == cudaSuccess;
}

void CUDAStream::synchronize() const { C10_CUDA_CHECK(PORTER_RUNTIME(StreamSynchronize)(stream())); }

CUDAStream getStreamFromPool(const int priority, DeviceIndex device) {
    static std::mutex mutex;
    static std::unordered_map<int, std::array<cudaStream_t, STREAMS>> pools;
    static std::unordered_map<int, int> next;
    const DeviceIndex index = device_or_current(device);
    const int high = priority < 0, pool = index * 2 + high;
    const std::lock_guard<std::mutex> lock(mutex);
    auto &stream = pools[pool][next[pool]++ % STREAMS];
    if (!stream) C10_CUDA_CHECK(PORTER_RUNTIME(StreamCreateWithPriority)(&stream, cudaStreamNonBlocking, high ? -1 : 0));
    return stream_of(reinterpret_cast<StreamId>(stream), index);
}

CUDAStream getStreamFromPool(const bool high, DeviceIndex device) { return getStreamFromPool(high ? -1 : 0, device); }

CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device) {
    return stream_of(reinterpret_cast<StreamId>(stream), device);
}

CUDAStream getDefaultCUDAStream(DeviceIndex device) { return stream_of(0, device_or_current(device)); }

CUDAStream getCurrentCUDAStream(DeviceIndex device) {
    const DeviceIndex index = device_or_current(device);
    return stream_of(current_streams.at(index), index);
}

void setCurrentCUDAStream(CUDAStream stream) { current_streams.at(stream.device_index()) = stream.id(); }
std::ostream &operator<<(std::ostream &out, const CUDAStream &stream) { return out << stream.unwrap(); }

// ---- memory: an allocation is an allocation, so that accesses past its end show --------------------------

namespace CUDACachingAllocator {
namespace {
std::mutex sizes_mutex;
std::unordered_map<void *, size_t> sizes;

void *allocate_bytes(size_t bytes) {
    if (!bytes) return nullptr;
    void *at = nullptr;
    const auto status = PORTER_RUNTIME(Malloc)(&at, bytes);
    if (status != cudaSuccess) {
        (void)PORTER_RUNTIME(GetLastError)();
        TORCH_CHECK_WITH(OutOfMemoryError, status != cudaErrorMemoryAllocation, "CUDA out of memory. Tried to allocate ", bytes, " bytes.");
        C10_CUDA_CHECK(status);
    }
    /* what PyTorch's pool has is what was freed before; here a NaN, or the largest number, which no sum survives unseen */
    std::memset(at, 0xff, bytes);
    const std::lock_guard<std::mutex> lock(sizes_mutex);
    sizes[at] = bytes;
    auto &memory = porter::memory;
    memory.current += static_cast<int64_t>(bytes);
    memory.total += static_cast<int64_t>(bytes);
    memory.allocations++;
    memory.peak = std::max(memory.peak, memory.current);
    return at;
}

void release(void *at) {
    if (!at) return;
    {
        const std::lock_guard<std::mutex> lock(sizes_mutex);
        const auto found = sizes.find(at);
        if (found != sizes.end()) {
            porter::memory.current -= static_cast<int64_t>(found->second);
            porter::memory.freed += static_cast<int64_t>(found->second);
            sizes.erase(found);
        }
    }
    (void)PORTER_RUNTIME(Free)(at);
}

struct Allocator final : CUDAAllocator {
    DataPtr allocate(size_t bytes) override {
        const Device device(DeviceType::CUDA, current_device());
        void *at = allocate_bytes(bytes);
        return {at, at, &release, device};
    }
    DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void *to, const void *from, std::size_t bytes) const override {
        default_copy_data(to, from, bytes);
        porter_wrote(to, bytes);
    }
    void *raw_alloc(size_t bytes) override { return allocate_bytes(bytes); }
    void *raw_alloc_with_stream(size_t bytes, cudaStream_t) override { return allocate_bytes(bytes); }
    void raw_delete(void *at) override { release(at); }
    void init(int) override {}
    bool initialized() override { return true; }
    double getMemoryFraction(DeviceIndex) override { return 1.0; }
    void setMemoryFraction(double, DeviceIndex) override {}
    std::vector<StreamSegmentSize> getExpandableSegmentSizes(DeviceIndex) override { return {}; }
    void emptyCache(MempoolId_t) override {}
    void enable(bool) override {}
    bool isEnabled() const override { return true; }
    void cacheInfo(DeviceIndex, size_t *largest) override { *largest = 0; }
    void *getBaseAllocation(void *at, size_t *size) override {
        const std::lock_guard<std::mutex> lock(sizes_mutex);
        const auto found = sizes.find(at);
        if (size) *size = found == sizes.end() ? 0 : found->second;
        return at;
    }
    void recordStream(const DataPtr &, CUDAStream) override {}
    CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex) override {
        CachingDeviceAllocator::DeviceStats stats;
        auto &bytes = stats.allocated_bytes[0];
        bytes.current = porter::memory.current;
        bytes.peak = porter::memory.peak;
        bytes.allocated = porter::memory.total;
        bytes.freed = porter::memory.freed;
        return stats;
    }
    void resetAccumulatedStats(DeviceIndex) override { porter::memory.total = porter::memory.freed = 0; }
    void resetPeakStats(DeviceIndex) override { porter::memory.peak = porter::memory.current; }
    SnapshotInfo snapshot(MempoolId_t, bool) override { return {}; }
    void beginAllocateToPool(DeviceIndex, MempoolId_t, std::function<bool(cudaStream_t)>) override {}
    void endAllocateToPool(DeviceIndex, MempoolId_t) override {}
    void releasePool(DeviceIndex, MempoolId_t) override {}
    ShareableHandle shareIpcHandle(void *) override { porter::unsupported("memory of other processes (CUDACachingAllocator::shareIpcHandle)"); }
    std::shared_ptr<void> getIpcDevPtr(std::string) override { porter::unsupported("memory of other processes (CUDACachingAllocator::getIpcDevPtr)"); }
    void recordHistory(bool, CreateContextFn, size_t, RecordContext, bool, const std::vector<std::string> &) override {}
    void attachOutOfMemoryObserver(OutOfMemoryObserver) override {}
    void attachOomRejectionObserver(OomRejectionObserver) override {}
    void attachAllocatorTraceTracker(AllocatorTraceTracker) override {}
    void enablePeerAccess(DeviceIndex, DeviceIndex) override {}
    cudaError_t memcpyAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream, bool) override {
        return PORTER_RUNTIME(MemcpyAsync)(to, from, bytes, PORTER_RUNTIME(MemcpyDeviceToDevice), stream);
    }
    std::shared_ptr<AllocatorState> getCheckpointState(DeviceIndex, MempoolId_t) override { porter::unsupported("checkpoints of memory pools"); }
    CheckpointDelta setCheckpointPoolState(DeviceIndex, std::shared_ptr<AllocatorState>) override { porter::unsupported("checkpoints of memory pools"); }
    std::string name() override { return "native"; }
};

Allocator the_allocator;
} // namespace

std::atomic<CUDAAllocator *> allocator{&the_allocator};

namespace {
const bool registered = (porter_opens(), c10::SetAllocator(DeviceType::CUDA, &the_allocator), true);
}
} // namespace CUDACachingAllocator

namespace impl {
namespace {
C10_REGISTER_GUARD_IMPL(CUDA, CUDAGuardImpl)
}
} // namespace impl
} // namespace c10::cuda
