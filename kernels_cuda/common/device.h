// SPDX-License-Identifier: Apache-2.0
//
// The CUDA execution model as device code here uses it: the header that tells nvcc from an ordinary
// C++ compiler (for functions that the CPU shares: core/operators/common/host_device.h). Under nvcc
// everything is what CUDA calls it. Elsewhere threads, barriers, shuffles and memory are those of
// an emulator (test/cuda/emulation/), which executes the same sources and reports divergent
// barriers, races in shared memory and accesses outside an operand.
//
// Device code reads and writes operands through `Global` and blocks' memory through
// INTARSIA_SHARED; kernels are marked INTARSIA_GLOBAL and started by `launch`.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/operators/common/host_device.h"
#include "intarsia/types.h"

#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#else
#include "kernels_cuda/common/device_emulated.h"
#endif

namespace intarsia::cuda {

inline constexpr unsigned kWarpSize = 32;

/// Neighbours that are read or written by one instruction, of 16 bytes at most.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  static_assert(sizeof(T) * N <= 16);
  T values[N];
};
/// The most elements of a Pack.
template <class T>
inline constexpr int kPack = 16 / static_cast<int>(sizeof(T));

#ifdef __CUDACC__

#define INTARSIA_GLOBAL __global__ void
#define INTARSIA_DEVICE __device__ inline
#define INTARSIA_SHARED(type, name, count) __shared__ __align__(16) type name[count]
/// The memory of `other`, which nobody uses any more.
#define INTARSIA_SHARED_AGAIN(type, name, count, other)                                      \
  static_assert(sizeof(type) * (count) <= sizeof(other), "more than there is to use again"); \
  type(&name)[count] = reinterpret_cast<type(&)[count]>(other)
// Before a loop whose body is long enough as it is, and before one that must have none left: an
// array is in registers only if every index is known.
#ifdef __CUDA_ARCH__  // the host's compiler, which sees the same functions, does not know it
#define INTARSIA_ROLLED _Pragma("unroll 1")
#define INTARSIA_UNROLLED _Pragma("unroll")
#define INTARSIA_UNROLLED_BY(times) _Pragma(INTARSIA_TEXT(unroll times))
#define INTARSIA_TEXT(text) #text
#else
#define INTARSIA_ROLLED
#define INTARSIA_UNROLLED
#define INTARSIA_UNROLLED_BY(times)
#endif

__device__ inline unsigned thread_x() {
  return threadIdx.x;
}
__device__ inline unsigned block_x() {
  return blockIdx.x;
}
__device__ inline unsigned block_size() {
  return blockDim.x;
}
__device__ inline unsigned grid_size() {
  return gridDim.x;
}
/// All threads of the block arrive, and see what the others wrote.
__device__ inline void sync_threads() {
  __syncthreads();
}
/// The value of the lane whose number differs in the bits `mask`. All lanes of the warp take part.
template <class T>
__device__ inline T shuffle_xor(T value, unsigned mask) {
  return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask));
}
__device__ inline void atomic_min(unsigned long long* address, unsigned long long value) {
  atomicMin(address, value);
}
/// What this thread wrote to operands is seen by whoever sees what it writes from now on.
__device__ inline void fence() {
  __threadfence();
}
/// Adds one, and returns what was there before. REQUIRES: every thread of the block has called
/// `fence`, and met the others at a barrier since.
__device__ inline unsigned announce(unsigned* counter) {
  return atomicAdd(counter, 1u);
}
/// A product that is rounded before anything is added to it; `a * b` may be fused with a sum.
__device__ inline float rounded_product(float a, float b) {
  return __fmul_rn(a, b);
}
__device__ inline double rounded_product(double a, double b) {
  return __dmul_rn(a, b);
}

/// An element as the number that kernels compute with, and back.
__device__ inline float number_of(Float16 element) {
  return __half2float(__ushort_as_half(element.bits));
}
template <class T>
__device__ T number_of(T element) {
  return element;
}
template <class T, class Number>
__device__ T element_of(Number number) {
  if constexpr (std::is_same_v<T, Float16>) {
    return Float16::from_bits(__half_as_ushort(__float2half_rn(number)));
  } else {
    return static_cast<T>(number);
  }
}

/// Blocks of a grid whose threads take elements in turns: enough for the largest device.
inline constexpr int64_t kMostBlocks = 4096;

/// Elements of an operand in device memory. `count` serves the emulator.
template <class T>
class Global {
 public:
  Global() = default;
  INTARSIA_HOST_DEVICE Global(T* data, int64_t) : data_(data) {}
  __device__ T& operator[](int64_t index) const { return data_[index]; }
  /// Elements `index` to `index + N - 1`. REQUIRES: they are aligned as a Pack.
  template <int N>
  __device__ Pack<std::remove_const_t<T>, N> pack(int64_t index) const {
    return *reinterpret_cast<const Pack<std::remove_const_t<T>, N>*>(data_ + index);
  }
  template <int N>
  __device__ void store(int64_t index, const Pack<T, N>& pack) const {
    *reinterpret_cast<Pack<T, N>*>(data_ + index) = pack;
  }
  /// A pack of 16 bytes, as another block of the launch may have written it.
  template <int N>
  __device__ Pack<std::remove_const_t<T>, N> fresh(int64_t index) const {
    static_assert(sizeof(T) * N == 16);
    const uint4 bits = __ldcg(reinterpret_cast<const uint4*>(data_ + index));
    Pack<std::remove_const_t<T>, N> pack;
    memcpy(&pack, &bits, sizeof(pack));
    return pack;
  }
  INTARSIA_HOST_DEVICE bool present() const { return data_ != nullptr; }
  INTARSIA_HOST_DEVICE T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Neighbours in shared memory. REQUIRES: `index` is a multiple of N.
template <int N, class T>
__device__ Pack<T, N> shared_pack(T* array, int index) {
  return *reinterpret_cast<const Pack<T, N>*>(array + index);
}

template <int N, class T>
__device__ void shared_store(T* array, int index, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(array + index) = pack;
}

/// Begins a copy of N neighbours to shared memory, zeros unless `there`; it may happen at any time
/// until `copy_wait` returns. REQUIRES: both are aligned as a Pack.
template <int N, class T>
__device__ void copy_async(T* array, int to, const Global<const T>& from, int64_t index,
                           bool there) {
  constexpr int kBytes = N * static_cast<int>(sizeof(T));
  if constexpr (kBytes < 4) {  // less than the instruction copies
    array[to] = there ? from[index] : T{};
  } else {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(array + to));
    const T* source = from.data() + (there ? index : 0);
    const int bytes = there ? kBytes : 0;
    if constexpr (kBytes == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source),
                   "r"(bytes));
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(source),
                   "n"(kBytes), "r"(bytes));
    }
  }
}
/// Ends a group of copies of this thread.
__device__ inline void copy_commit() {
  asm volatile("cp.async.commit_group;");
}
/// Waits until at most `Groups` groups of this thread are under way.
template <int Groups>
__device__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

/// Four matrices of 8 x 8 elements in shared memory, spread over the warp as `multiply_add` takes
/// them. Lane i gives the place of row i % 8 of matrix i / 8, 16 bytes aligned.
template <bool Transposed>
__device__ void load_matrices(unsigned (&to)[4], Float16* array, int index) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(array + index));
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  }
}
/// sums += A * B on the matrix units, over a warp: 16 x 8 sums, A of 16 x 16 elements, B of 16 x 8,
/// in float. Lane i has the sums of rows i / 4 and i / 4 + 8, columns i % 4 * 2 and its neighbour.
__device__ inline void multiply_add(float (&sums)[4], const unsigned (&a)[4], unsigned b_first,
                                    unsigned b_second) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_first), "r"(b_second));
}

template <class... Parameters>
[[nodiscard]] int launch_as(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                            void* stream, std::type_identity_t<Parameters>... values) {
  void* places[] = {&values...};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                          places, 0, static_cast<cudaStream_t>(stream));
}

/// Starts `kernel(arguments...)` on a stream, in `blocks` blocks of `threads` threads. Returns the
/// error of this launch; cudaGetLastError would give, and take away, whatever the program did
/// before. Shared memory is static, so there is no size to give.
template <auto kernel, class... Arguments>
[[nodiscard]] int launch(unsigned blocks, unsigned threads, void* stream,
                         const Arguments&... arguments) {
  return launch_as(kernel, blocks, threads, stream, arguments...);
}

#else

#define INTARSIA_GLOBAL inline void
#define INTARSIA_DEVICE inline
#define INTARSIA_ROLLED
#define INTARSIA_UNROLLED
#define INTARSIA_UNROLLED_BY(times)
#define INTARSIA_SHARED(type, name, count) \
  static ::intarsia::cuda::emulation::SharedArray<type, count> name

#define INTARSIA_SHARED_AGAIN(type, name, count, other) \
  static auto name = ::intarsia::cuda::emulation::again<type, count>(other)

using emulation::copy_async;
using emulation::copy_commit;
using emulation::copy_wait;
using emulation::fence;
using emulation::load_matrices;
using emulation::multiply_add;
using emulation::shared_pack;
using emulation::shared_store;

inline unsigned thread_x() {
  return emulation::current().thread_x;
}
inline unsigned block_x() {
  return emulation::current().block_x;
}
inline unsigned block_size() {
  return emulation::current().block_size;
}
inline unsigned grid_size() {
  return emulation::current().grid_size;
}
inline void sync_threads() {
  emulation::barrier();
}
template <class T>
T shuffle_xor(T value, unsigned mask) {
  return emulation::exchange(value).template of_lane<T>(thread_x() % kWarpSize ^ mask);
}
inline unsigned announce(unsigned* counter) {
  emulation::check_announcement();
  return (*counter)++;
}
inline void atomic_min(unsigned long long* address, unsigned long long value) {
  if (value < *address) *address = value;
}
inline float rounded_product(float a, float b) {
  return a * b;
}
inline double rounded_product(double a, double b) {
  return a * b;
}

inline float number_of(Float16 element) {
  return static_cast<float>(element);
}
template <class T>
T number_of(T element) {
  return element;
}
template <class T, class Number>
T element_of(Number number) {
  return static_cast<T>(number);
}

/// Few, so that small operands have turns.
inline constexpr int64_t kMostBlocks = 2;

template <class T>
using Global = emulation::GlobalArray<T>;

template <class... Parameters>
[[nodiscard]] int launch_as(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                            void* stream, std::type_identity_t<Parameters>... values) {
  return emulation::start(blocks, threads, stream,
                          emulation::Task::make<Parameters...>(kernel, std::move(values)...));
}
template <auto kernel, class... Arguments>
[[nodiscard]] int launch(unsigned blocks, unsigned threads, void* stream,
                         const Arguments&... arguments) {
  return launch_as(kernel, blocks, threads, stream, arguments...);
}

#endif

}  // namespace intarsia::cuda
