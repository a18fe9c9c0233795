// Thrust's allocator of pinned host memory, which rocThrust lacks. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_PINNED_ALLOCATOR_HPP
#define PORTER_PINNED_ALLOCATOR_HPP

#include <cstddef>
#include <limits>
#include <new>

#include <hip/hip_runtime_api.h>
#include <thrust/detail/config.h>

namespace thrust {
namespace system {
namespace hip {
namespace experimental {

template <class T> class pinned_allocator {
 public:
  typedef T value_type;
  typedef T *pointer;
  typedef const T *const_pointer;
  typedef T &reference;
  typedef const T &const_reference;
  typedef std::size_t size_type;
  typedef std::ptrdiff_t difference_type;
  template <class U> struct rebind {
    typedef pinned_allocator<U> other;
  };

  pinned_allocator() {}
  pinned_allocator(const pinned_allocator &) {}
  template <class U> pinned_allocator(const pinned_allocator<U> &) {}
  pinned_allocator &operator=(const pinned_allocator &) = default;

  pointer address(reference r) { return &r; }
  const_pointer address(const_reference r) { return &r; }

  pointer allocate(size_type count, const_pointer = nullptr) {
    void *memory = nullptr;
    if (count > max_size() || hipHostMalloc(&memory, count * sizeof(T), 0) != hipSuccess) throw std::bad_alloc();
    return static_cast<pointer>(memory);
  }
  void deallocate(pointer memory, size_type) { static_cast<void>(hipHostFree(memory)); }
  size_type max_size() const { return (std::numeric_limits<size_type>::max)() / sizeof(T); }

  bool operator==(const pinned_allocator &) const { return true; }
  bool operator!=(const pinned_allocator &) const { return false; }
};

template <> class pinned_allocator<void> {
 public:
  typedef void value_type;
  typedef void *pointer;
  typedef const void *const_pointer;
  typedef std::size_t size_type;
  typedef std::ptrdiff_t difference_type;
  template <class U> struct rebind {
    typedef pinned_allocator<U> other;
  };
};

}  // namespace experimental
}  // namespace hip
}  // namespace system

namespace hip {
namespace experimental {
using thrust::system::hip::experimental::pinned_allocator;
}  // namespace experimental
}  // namespace hip
}  // namespace thrust

#endif  // PORTER_PINNED_ALLOCATOR_HPP
