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
#define INTARSIA_SHARED(type, name, count) __shared__ type name[count]
// Before a loop whose body is long enough as it is.
#define INTARSIA_ROLLED _Pragma("unroll 1")

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
  INTARSIA_HOST_DEVICE bool present() const { return data_ != nullptr; }

 private:
  T* data_ = nullptr;
};

/// Starts `kernel(arguments...)` on a stream, in `blocks` blocks of `threads` threads. Returns the
/// error of this launch; cudaGetLastError would give, and take away, whatever the program did
/// before. Shared memory is static, so there is no size to give.
template <class... Parameters, class... Arguments>
[[nodiscard]] int launch(unsigned blocks, unsigned threads, void* stream,
                         void (*kernel)(Parameters...), const Arguments&... arguments) {
  const auto start = [&](Parameters... values) {
    void* places[] = {&values...};
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                            places, 0, static_cast<cudaStream_t>(stream));
  };
  return start(Parameters(arguments)...);
}

#else

#define INTARSIA_GLOBAL inline void
#define INTARSIA_DEVICE inline
#define INTARSIA_ROLLED
#define INTARSIA_SHARED(type, name, count) \
  static ::intarsia::cuda::emulation::SharedArray<type, count> name

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
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = emulation::shuffle_xor(bits, mask);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
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

template <class... Parameters, class... Arguments>
[[nodiscard]] int launch(unsigned blocks, unsigned threads, void* stream,
                         void (*kernel)(Parameters...), const Arguments&... arguments) {
  return emulation::start(blocks, threads, stream,
                          emulation::Task::make(kernel, Parameters(arguments)...));
}

#endif

}  // namespace intarsia::cuda
