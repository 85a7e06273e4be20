// SPDX-License-Identifier: Apache-2.0
//
// Cases of CUDA kernels that exist for several element types: numbers, kernels by type, what a
// result may be off, and operands that do not begin where packs may.
#pragma once

#include "test/cuda/kernel_cases.h"

namespace intarsia::test {

/// Numbers that elements of the type hold exactly.
inline std::vector<double> numbers_of(DataType type, const Dims& dims, unsigned seed,
                                      double low = -2, double high = 2) {
  std::mt19937 random(seed);
  return random_numbers(type, count_of(dims), random, low, high);
}

inline KernelUnderTest cuda_kernel_of(std::string_view op, const std::vector<DataType>& types) {
  return on_device(kernel_name(std::string(op) + ".cuda", types));
}
inline KernelUnderTest cpu_kernel_of(std::string_view op, const std::vector<DataType>& types) {
  return cpu_kernel(kernel_name(op, types));
}

/// What a result may be off, of the largest one. Both sides compute float16 in float and round
/// once: where their floats lie on two sides of a tie, the results are neighbours, 2^-10 apart at
/// most.
inline double tolerance_of(DataType type) {
  return type == DataType::kFloat16 ? 0x1p-10 : type == DataType::kFloat ? 1e-5 : 0;
}

/// The kernel, with every operand moved to an address that no pack may have: one element behind a
/// multiple of 16 bytes.
inline KernelUnderTest unaligned(const KernelUnderTest& kernel) {
  KernelUnderTest moved = kernel;
  moved.run = [kernel](const KernelContext& context) {
    const int inputs = context.input_count(), count = inputs + context.output_count();
    std::vector<TensorView> operands(context.operands_, context.operands_ + count);
    std::vector<std::vector<uint8_t>> copies;
    for (int i = 0; i < count; ++i) {
      TensorView& view = operands[static_cast<size_t>(i)];
      if (!view.present()) continue;
      const int of = i == inputs && view.data == context.input(0).data ? 0 : i;  // in place
      if (of != i) {
        view.data = operands[0].data;
        continue;
      }
      copies.emplace_back(static_cast<size_t>(view.bytes()) + 32);
      const size_t start = reinterpret_cast<uintptr_t>(copies.back().data()) % 16;
      uint8_t* at =
          copies.back().data() + (16 - start) + static_cast<size_t>(element_bits(view.type) / 8);
      if (view.bytes() > 0) std::memcpy(at, view.data, static_cast<size_t>(view.bytes()));
      view.data = at;
    }
    KernelContext with_copies = context;
    with_copies.operands_ = operands.data();
    const Status status = kernel.run(with_copies);
    for (int i = inputs; i < count; ++i) {
      const TensorView& to = context.operands_[i];
      if (!to.present() || to.bytes() == 0) continue;
      std::memcpy(to.data, operands[static_cast<size_t>(i)].data, static_cast<size_t>(to.bytes()));
    }
    return status;
  };
  return moved;
}

}  // namespace intarsia::test
