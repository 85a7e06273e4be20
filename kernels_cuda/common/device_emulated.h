// SPDX-License-Identifier: Apache-2.0
//
// What device code calls where no CUDA compiler compiles it: hooks of an emulator that the tests
// link (test/cuda/emulation/). Never part of a program. Blocks run one after another in any
// order, the threads of a block as fibers, in any order between two barriers.
//
// Shared memory notes who read and wrote each element since the last barrier; operands know their
// extent. Both can shift an access by one element, and barriers can be left out, on request: so the
// tests prove that such a mistake in a kernel would be seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

namespace intarsia::cuda {

template <class T, int N>
struct Pack;  // device.h

namespace emulation {

/// Where the running thread is in its grid.
struct ThreadIndex {
  unsigned thread_x = 0;
  unsigned block_x = 0;
  unsigned block_size = 1;
  unsigned grid_size = 1;
};
const ThreadIndex& current();
void barrier();
uint64_t shuffle_xor(uint64_t bits, unsigned mask);

/// A kernel with its arguments.
struct Task {
  void (*run)(const void* call) = nullptr;
  void (*drop)(void* call) = nullptr;
  void* call = nullptr;

  template <class... Parameters>
  static Task make(void (*kernel)(Parameters...), Parameters... arguments) {
    struct Call {
      void (*kernel)(Parameters...);
      std::tuple<Parameters...> arguments;
    };
    return {[](const void* call) {
              const auto& self = *static_cast<const Call*>(call);
              std::apply(self.kernel, self.arguments);
            },
            [](void* call) { delete static_cast<Call*>(call); }, new Call{kernel, {arguments...}}};
  }
};
/// Executes the task over a grid, or records it if the stream is being captured; returns CUDA's
/// error. Owns the task.
int start(unsigned blocks, unsigned threads, void* stream, Task task);

/// The accesses to one element of shared memory; epochs are counted from barrier to barrier.
struct AccessRecord {
  uint64_t write_epoch = 0;
  uint64_t read_epoch = 0;
  unsigned writer = 0;
  unsigned reader = 0;  // kSeveral: more than one since the barrier
  static constexpr unsigned kSeveral = 0xffffffffu;
};
/// The element to access instead of `index`: itself, unless that lies outside or a mistake was
/// asked for.
int64_t shared_index(int64_t index, int64_t count);
int64_t global_index(int64_t index, int64_t count);
/// Of `n` neighbours in an operand that begins at element `address` of all memory; -1 if it does
/// not hold them, or they are not aligned as one.
int64_t global_pack_index(int64_t index, int64_t n, int64_t count, uintptr_t address);
void on_read(AccessRecord& record);
void on_write(AccessRecord& record);

/// An element of shared memory.
template <class T>
class SharedReference {
 public:
  SharedReference(T& value, AccessRecord& record) : value_(value), record_(record) {}
  SharedReference(const SharedReference&) = default;
  operator T() const {  // NOLINT: stands for the element
    on_read(record_);
    return value_;
  }
  SharedReference& operator=(T value) {
    on_write(record_);
    value_ = value;
    return *this;
  }
  SharedReference& operator=(const SharedReference& other) { return *this = static_cast<T>(other); }
  SharedReference& operator-=(T value) { return *this = static_cast<T>(*this) - value; }
  SharedReference& operator*=(T value) { return *this = static_cast<T>(*this) * value; }

 private:
  T& value_;
  AccessRecord& record_;
};

/// A block's array. Its contents are undefined when a block begins: reading before writing is an
/// error. Constant-initialised, so that a kernel may hold it as a static variable.
template <class T, int64_t Count>
class SharedArray {
 public:
  SharedReference<T> operator[](int64_t index) {
    const auto at = static_cast<size_t>(shared_index(index, Count));
    return {values_[at], records_[at]};
  }

 private:
  T values_[Count] = {};
  AccessRecord records_[Count] = {};
};

/// Elements of an operand.
template <class T>
class GlobalArray {
 public:
  GlobalArray() = default;
  GlobalArray(T* data, int64_t count) : data_(data), count_(count) {}
  T& operator[](int64_t index) const {
    const int64_t at = global_index(index, count_);
    static std::remove_const_t<T> nothing{};  // in place of an element that there is not
    return count_ > 0 ? data_[at] : nothing;
  }
  template <int N>
  Pack<std::remove_const_t<T>, N> pack(int64_t index) const {
    Pack<std::remove_const_t<T>, N> pack{};
    if (const int64_t at = aligned_index(index, N); at >= 0) {
      std::memcpy(pack.values, data_ + at, sizeof(pack.values));
    }
    return pack;
  }
  template <int N>
  void store(int64_t index, const Pack<T, N>& pack) const {
    if (const int64_t at = aligned_index(index, N); at >= 0) {
      std::memcpy(data_ + at, pack.values, sizeof(pack.values));
    }
  }
  bool present() const { return data_ != nullptr; }

 private:
  /// -1 for a pack that does not lie in the operand, or is not aligned.
  int64_t aligned_index(int64_t index, int64_t n) const {
    return global_pack_index(index, n, count_, reinterpret_cast<uintptr_t>(data_) / sizeof(T));
  }

  T* data_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace emulation
}  // namespace intarsia::cuda
