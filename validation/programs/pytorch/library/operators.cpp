/* ATen's operators on CUDA tensors: the CPU's kernels on the same memory, counted.
 *
 * Device addresses are host addresses, so that a tensor of the device is also one of the CPU: an alias of its storage. What an operator
 * makes anew is moved into device memory; what it gives back of its arguments, or of their storages, is the tensor they were. */
#include "runtime.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/op_registration.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CPUAllocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace {
using c10::IValue;
using c10::Storage;
using c10::StorageImpl;

std::mutex counts_mutex;
std::map<std::string, int64_t> counts;

/* Operators that take tensors of both kinds on a GPU, too. */
const std::unordered_set<std::string> takes_both = {
    "aten::copy_", "aten::_copy_from", "aten::index", "aten::index_put_", "aten::_index_put_impl_", "aten::_unsafe_index", "aten::set_",
    "aten::_unsafe_index_put", "aten::is_set_to",
};

at::Device here() { return {at::kCUDA, c10::cuda::current_device()}; }

Storage device_storage(const void *from, size_t bytes) {
    auto *allocator = c10::cuda::CUDACachingAllocator::get();
    Storage made(c10::Storage::use_byte_size_t(), bytes, allocator->allocate(bytes), allocator, true);
    if (bytes) std::memcpy(made.mutable_data(), from, bytes);
    porter_wrote(made.data(), bytes);
    return made;
}

at::Tensor tensor_over(Storage storage, const at::Tensor &like, c10::DispatchKey key) {
    auto made = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
    auto *impl = made.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
    if (like.is_conj()) made._set_conj(true);
    if (like.is_neg()) made._set_neg(true);
    return made;
}

/* The tensors of one call, as the CPU sees them. */
class Call {
  public:
    explicit Call(const std::string &name) : name_(name) {}

    at::Tensor to_host(const at::Tensor &tensor) {
        if (!tensor.defined()) return tensor;
        if (writes && tensor.is_cuda()) changed_.push_back(tensor);
        if (!tensor.is_cuda()) {
            if (tensor.dim() > 0 && !stranger_.defined()) stranger_ = tensor;
            return tensor;
        }
        TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided, name_, ": a tensor of layout ", tensor.layout(),
                                    " is not there when PyTorch runs on a virtual device");
        for (const auto &[device, host] : tensors_)
            if (device.is_same(tensor)) return host;
        device_ = tensor.device();
        auto host = tensor_over(alias(tensor.storage()), tensor, c10::DispatchKey::CPU);
        tensors_.emplace_back(tensor, host);
        return host;
    }

    Storage alias(const Storage &storage) {
        auto &made = aliases_[storage.unsafeGetStorageImpl()];
        if (!made) {
            auto *keeps = new Storage(storage);
            c10::DataPtr data(const_cast<void *>(storage.data()), keeps, [](void *at) { delete static_cast<Storage *>(at); }, at::kCPU);
            made = Storage(Storage::use_byte_size_t(), storage.nbytes(), std::move(data), c10::GetCPUAllocator(), true);
            known_.emplace(made.unsafeGetStorageImpl(), Known{storage, made.data(), made.nbytes()});
        }
        return made;
    }

    void check() const {
        TORCH_CHECK(tensors_.empty() || !stranger_.defined() || takes_both.count(name_), "Expected all tensors to be on the same device, but found at least two devices, ",
                    device_.value_or(here()), " and cpu! (when checking arguments of ", name_, ")");
    }

    /* Storages that grew, shapes that changed. */
    void written() {
        for (auto &[host, known] : known_) {
            if (host->data() == known.data && host->nbytes() == known.bytes) continue;
            Storage grown = device_storage(host->data(), host->nbytes());
            auto *device = known.device.unsafeGetStorageImpl();
            device->set_data_ptr_noswap(std::move(grown.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks()));
            device->set_nbytes(host->nbytes());
            known.data = host->data();
            known.bytes = host->nbytes();
        }
        for (auto &[device, host] : tensors_) {
            auto *impl = device.unsafeGetTensorImpl();
            const auto now = host.storage().unsafeGetStorageImpl();
            const bool moved = now != aliases_[device.storage().unsafeGetStorageImpl()].unsafeGetStorageImpl();
            if (moved) impl->set_storage_keep_dtype(of_device(host.storage()));
            if (moved || host.sizes() != device.sizes() || host.strides() != device.strides() || host.storage_offset() != device.storage_offset())
                impl->set_sizes_and_strides(host.sizes(), host.strides(), host.storage_offset());
        }
        for (const auto &tensor : changed_)
            if (tensor.numel())
                porter_wrote(tensor.data_ptr(), at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.itemsize()));
    }

    at::Tensor to_device(const at::Tensor &host) {
        if (!host.defined() || !host.is_cpu() || stays_on_host) return host;
        for (const auto &[device, own] : tensors_)
            if (own.is_same(host)) return device;
        if (host.layout() != at::kStrided) porter::unsupported((name_ + ": a result that is not strided").c_str());
        return tensor_over(of_device(host.storage()), host, c10::DispatchKey::CUDA);
    }

    bool stays_on_host = false;
    bool writes = false; /* the argument at hand is written to */

  private:
    struct Known {
        Storage device;
        const void *data;
        size_t bytes;
    };

    Storage of_device(const Storage &host) {
        const auto found = known_.find(host.unsafeGetStorageImpl());
        if (found != known_.end()) return found->second.device;
        Storage made = device_storage(host.data(), host.nbytes());
        known_.emplace(host.unsafeGetStorageImpl(), Known{made, host.data(), host.nbytes()});
        kept_.push_back(host);
        return made;
    }

    std::string name_;
    std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;
    std::unordered_map<StorageImpl *, Storage> aliases_;
    std::unordered_map<StorageImpl *, Known> known_;
    std::vector<Storage> kept_;
    std::vector<at::Tensor> changed_;
    std::optional<at::Device> device_;
    at::Tensor stranger_;
};

/* Numbers by the seed and offset of the CUDA generator; the CPU's own is not touched. */
at::Generator host_generator(const IValue &given) {
    const auto &generator = given.isGenerator() ? given.toGenerator() : at::cuda::detail::getDefaultCUDAGenerator();
    if (generator.device().is_cpu()) return generator;
    auto *own = at::check_generator<at::CUDAGeneratorImpl>(generator);
    const auto [seed, offset] = own->philox_engine_inputs(4);
    return at::detail::createCPUGenerator(seed + 0x9E3779B97F4A7C15u * offset);
}

IValue argument(Call &call, const IValue &value) {
    if (value.isTensor()) return call.to_host(value.toTensor());
    if (value.isList() && !value.isIntList() && !value.isDoubleList() && !value.isBoolList()) {
        /* of whatever type: TorchScript's list of indices is neither one of tensors nor one of optional tensors */
        c10::impl::GenericList list(value.toList().elementType());
        for (const IValue one : value.toList()) list.push_back(argument(call, one));
        return list;
    }
    if (value.isStorage()) return value.toStorage().device_type() == at::kCUDA ? IValue(call.alias(value.toStorage())) : value;
    if (value.isDevice()) {
        call.stays_on_host = value.toDevice().is_cpu();
        return at::Device(at::kCPU);
    }
    return value;
}

IValue result(Call &call, const IValue &value) {
    if (value.isTensor()) return call.to_device(value.toTensor());
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor &one : value.toTensorVector()) list.push_back(call.to_device(one));
        return list;
    }
    return value;
}

bool takes_generator(const c10::Argument &argument) {
    auto type = argument.type();
    if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
    return type->kind() == c10::TypeKind::GeneratorType;
}

void on_host(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
    const auto &schema = op.schema();
    Call call(schema.operator_name().name);
    const size_t arguments = schema.arguments().size(), first = stack->size() - arguments;
    C10_CUDA_CHECK(PORTER_RUNTIME(StreamSynchronize)(c10::cuda::getCurrentCUDAStream()));
    for (size_t i = 0; i < arguments; i++) {
        auto &value = (*stack)[first + i];
        call.writes = schema.arguments()[i].alias_info() && schema.arguments()[i].alias_info()->isWrite();
        value = takes_generator(schema.arguments()[i]) ? IValue(host_generator(value)) : argument(call, value);
    }
    call.check();
    if (!op.hasKernelForDispatchKey(c10::DispatchKey::CPU) && !op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) &&
        !op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
        !op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional))
        porter::unsupported((toString(schema.operator_name()) + " (no kernel for the CPU)").c_str());
    {
        const std::lock_guard<std::mutex> lock(counts_mutex);
        counts[toString(schema.operator_name())]++;
    }
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    call.written();
    const size_t results = schema.returns().size(), start = stack->size() - results;
    for (size_t i = 0; i < results; i++) (*stack)[start + i] = result(call, (*stack)[start + i]);
}

// ---- what needs no computing -----------------------------------------------------------------------------

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout, std::optional<at::Device> device,
                 std::optional<bool>, std::optional<at::MemoryFormat> format) {
    TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(at::kStrided) == at::kStrided, "layout ", *layout, " is not there when PyTorch runs on a virtual device");
    const c10::DeviceGuard guard(device.value_or(here()));
    return at::detail::empty_generic(size, c10::cuda::CUDACachingAllocator::get(), c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                     c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
    const c10::DeviceGuard guard(device.value_or(here()));
    return at::detail::empty_strided_generic(size, stride, c10::cuda::CUDACachingAllocator::get(), c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                             c10::dtype_or_default(dtype));
}

void record_stream(at::Tensor &, c10::Stream) {}

TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_host>()); }

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
    m.impl("empty.memory_format", &empty);
    m.impl("empty_strided", &empty_strided);
    m.impl("as_strided", &at::native::as_strided_tensorimpl);
    m.impl("view", &at::native::view);
    m.impl("_reshape_alias", &at::native::_reshape_alias);
    m.impl("unfold", &at::native::unfold);
    m.impl("record_stream", &record_stream);
    m.impl("copy_", torch::CppFunction::makeFromBoxedFunction<&on_host>()); /* PyTorch's own asks for a kernel by device */
}
} // namespace

extern "C" {
/* The operators and how often they ran, a line each; valid until the next call. */
__attribute__((visibility("default"))) const char *porter_torch_operators(void) {
    static std::string text;
    const std::lock_guard<std::mutex> lock(counts_mutex);
    text.clear();
    for (const auto &[name, count] : counts) text += name + " " + std::to_string(count) + "\n";
    return text.c_str();
}

__attribute__((visibility("default"))) int64_t porter_torch_stream(int device) { return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device)).id(); }

__attribute__((visibility("default"))) void porter_torch_set_stream(int device, int64_t id) {
    using c10::cuda::CUDAStream;
    const at::Device where(at::kCUDA, static_cast<c10::DeviceIndex>(device));
    c10::cuda::setCurrentCUDAStream(CUDAStream(CUDAStream::UNCHECKED, c10::Stream(c10::Stream::UNSAFE, where, id)));
}

__attribute__((visibility("default"))) int64_t porter_torch_new_stream(int device, int priority) {
    return c10::cuda::getStreamFromPool(priority, static_cast<c10::DeviceIndex>(device)).id();
}
}
