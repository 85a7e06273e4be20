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

/// What the lanes of a warp show each other.
struct WarpData {
  static constexpr size_t kBytes = 32;
  unsigned char lanes[32][kBytes];
  unsigned count = 0;  // of lanes

  template <class T>
  T of_lane(unsigned lane) const {
    T value;
    std::memcpy(&value, lanes[checked_lane(lane)], sizeof(T));
    return value;
  }
  unsigned checked_lane(unsigned lane) const;
};
/// Waits until all lanes of the warp have come with theirs.
const WarpData& exchange_bytes(const void* data, size_t bytes);
template <class T>
const WarpData& exchange(const T& value) {
  static_assert(sizeof(T) <= WarpData::kBytes);
  return exchange_bytes(&value, sizeof(T));
}

void fence();
/// A violation unless all threads of the block have called `fence` before the last barrier.
void check_announcement();

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
  bool in_flight = false;  // a copy to it is under way
  uint64_t write_epoch = 0;
  uint64_t read_epoch = 0;
  unsigned writer = 0;
  unsigned reader = 0;  // kSeveral: more than one since the barrier
  static constexpr unsigned kSeveral = 0xffffffffu;
};
/// The element to access instead of `index`: itself, unless that lies outside or a mistake was
/// asked for.
int64_t shared_index(int64_t index, int64_t count);
int64_t shared_pack_index(int64_t index, int64_t n, int64_t count);
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
  /// The place of N neighbours, of which `index` is the first.
  int64_t pack_index(int64_t index, int64_t n) const { return shared_pack_index(index, n, Count); }
  /// Without a count of sites: `at` is a place that was found before.
  SharedReference<T> element(int64_t at) {
    return {values_[static_cast<size_t>(at)], records_[static_cast<size_t>(at)]};
  }
  AccessRecord& record(int64_t at) { return records_[static_cast<size_t>(at)]; }

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
  template <int N>
  Pack<std::remove_const_t<T>, N> fresh(int64_t index) const {
    return pack<N>(index);
  }
  bool present() const { return data_ != nullptr; }
  T* data() const { return data_; }

 private:
  /// -1 for a pack that does not lie in the operand, or is not aligned.
  int64_t aligned_index(int64_t index, int64_t n) const {
    return global_pack_index(index, n, count_, reinterpret_cast<uintptr_t>(data_) / sizeof(T));
  }

  T* data_ = nullptr;
  int64_t count_ = 0;
};

template <int N, class T, int64_t Count>
Pack<T, N> shared_pack(SharedArray<T, Count>& array, int64_t index) {
  const int64_t at = array.pack_index(index, N);
  Pack<T, N> pack;
  for (int i = 0; i < N; ++i) pack.values[i] = array.element(at + i);
  return pack;
}

template <int N, class T, int64_t Count>
void shared_store(SharedArray<T, Count>& array, int64_t index, const Pack<T, N>& pack) {
  const int64_t at = array.pack_index(index, N);
  for (int i = 0; i < N; ++i) array.element(at + i) = pack.values[i];
}

/// The memory of another array: what is written here is written there.
template <class T, int64_t Count, class U, int64_t OtherCount>
class SharedAgain : public SharedArray<T, Count> {
 public:
  static_assert(sizeof(T) * Count <= sizeof(U) * OtherCount);
  explicit SharedAgain(SharedArray<U, OtherCount>& other) : other_(other) {}
  void touch(int64_t at, int n) {
    const auto bytes = static_cast<int64_t>(sizeof(T)), others = static_cast<int64_t>(sizeof(U));
    for (int64_t i = at * bytes / others; i * others < (at + n) * bytes; ++i) {
      on_write(other_.record(i));
    }
  }

 private:
  SharedArray<U, OtherCount>& other_;
};
template <class T, int64_t Count, class U, int64_t OtherCount>
SharedAgain<T, Count, U, OtherCount> again(SharedArray<U, OtherCount>& other) {
  return SharedAgain<T, Count, U, OtherCount>(other);
}
template <int N, class T, int64_t Count, class U, int64_t OtherCount>
void shared_store(SharedAgain<T, Count, U, OtherCount>& array, int64_t index,
                  const Pack<T, N>& pack) {
  const int64_t at = array.pack_index(index, N);
  array.touch(at, N);
  for (int i = 0; i < N; ++i) array.element(at + i) = pack.values[i];
}

/// Calls `complete(self, at, values)` when the thread waits for its group.
void begin_copy(void (*complete)(void* array, int64_t at, const void* values), void* array,
                int64_t at, const void* values, size_t bytes);
void copy_commit();
void wait_for_copies(int groups);
template <int Groups>
void copy_wait() {
  wait_for_copies(Groups);
}

/// The copy is made when it is waited for; until then its elements may not be touched.
template <int N, class T, int64_t Count>
void copy_async(SharedArray<T, Count>& array, int64_t to, const GlobalArray<const T>& from,
                int64_t index, bool there) {
  Pack<T, N> pack{};
  if (there) pack = from.template pack<N>(index);
  const int64_t at = array.pack_index(to, N);
  const auto complete = [](void* self, int64_t place, const void* values) {
    auto& target = *static_cast<SharedArray<T, Count>*>(self);
    for (int i = 0; i < N; ++i) {
      target.record(place + i).in_flight = false;
      target.element(place + i) = static_cast<const T*>(values)[i];
    }
  };
  if (sizeof(pack) < 4) return complete(&array, at, pack.values);
  for (int i = 0; i < N; ++i) {
    on_write(array.record(at + i));
    array.record(at + i).in_flight = true;
  }
  begin_copy(complete, &array, at, pack.values, sizeof(pack.values));
}

/// Element `column` of row `row` of matrix m is in lane 4 row + column / 2, or, transposed, in lane
/// 4 column + row / 2.
template <bool Transposed, class T, int64_t Count>
void load_matrices(unsigned (&to)[4], SharedArray<T, Count>& array, int64_t index) {
  const unsigned lane = current().thread_x % 32;
  const WarpData rows = exchange(array.pack_index(index, 8));
  for (unsigned m = 0; m < 4; ++m) {
    T pair[2];
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = Transposed ? lane % 4 * 2 + i : lane / 4;
      const unsigned column = Transposed ? lane / 4 : lane % 4 * 2 + i;
      pair[i] = array.element(rows.of_lane<int64_t>(8 * m + row) + column);
    }
    std::memcpy(&to[m], pair, sizeof(pair));
  }
}
void multiply_add(float (&sums)[4], const unsigned (&a)[4], unsigned b_first, unsigned b_second);

}  // namespace emulation
}  // namespace intarsia::cuda
