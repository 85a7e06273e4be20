// SPDX-License-Identifier: Apache-2.0
//
// Operators on codes, bytes that stand for numbers, element by element: AddCodes and MultiplyCodes,
// which broadcast, and MapCodes, a table. Formulas: core/operators/quantization/codes.h.
//
// Numbers are floats, which no fused multiply-add rounds otherwise: the same codes on every
// instruction set.
#include "core/operators/quantization/codes.h"
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"
#include "kernels_cpu/math/byte_table.h"
#include "kernels_cpu/quantization/integers.h"

namespace intarsia::cpu {
namespace {

struct AddCodes {
  static constexpr std::string_view name = "intarsia:AddCodes";
  float a_factor, addend, b_factor;
  float operator()(float a, float b) const { return (a * a_factor + addend) + b * b_factor; }
};

struct MultiplyCodes {
  static constexpr std::string_view name = "intarsia:MultiplyCodes";
  float a_zero, b_zero, factor, addend;
  float operator()(float a, float b) const { return (a - a_zero) * (b - b_zero) * factor + addend; }
};

/// Codes of type T as floats, and the other way round.
template <class T>
struct CodeNumber {
  using Stored = T;
  INTARSIA_INLINE static float load(T code) { return static_cast<float>(code); }
  INTARSIA_INLINE static T store(float number) { return nearest_byte<T>(number); }
};

template <class Formula, class T>
struct CombineCodes {
  static constexpr KernelId id{Formula::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0, 1};
  static constexpr int kNumbers = sizeof(Formula) / sizeof(float);

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>, s = kernel_type_of<float>;
    if constexpr (kNumbers == 3) {
      return check_operands<ops::CombineCodes>(
          context, {.inputs = {t, t, s, s, s}, .required_inputs = 5, .outputs = {t}});
    } else {
      return check_operands<ops::CombineCodes>(
          context, {.inputs = {t, t, s, s, s, s}, .required_inputs = 6, .outputs = {t}});
    }
  }

  static Status run(const KernelContext& context) {
    using Number = CodeNumber<T>;
    const TensorView& output = context.output(0);
    if (output.count() == 0) return {};
    float numbers[kNumbers];
    for (int i = 0; i < kNumbers; ++i) numbers[i] = *context.input(2 + i).as<const float>();
    const auto formula = std::bit_cast<Formula>(numbers);
    const TensorView* inputs[] = {&context.input(0), &context.input(1)};
    const BroadcastLoop loop(output, inputs);
    const BroadcastOperand operands[] = {inputs[0]->as<T>(), inputs[1]->as<T>()};
    T* y = output.as<T>();
    for_elements(context, loop.count, [&](int64_t begin, int64_t end) {
      BroadcastPieces pieces(loop, operands, begin, end);
      for (BroadcastPiece piece; pieces.next(piece);) {
        on_widest_isa(context.isa(), [&] {
          compute_row<Number, Number, Number>(piece.at<T>(0), piece.advances[0], piece.at<T>(1),
                                              piece.advances[1], y + piece.first, piece.length,
                                              formula);
        });
      }
    });
    return {};
  }
};

template <class T>
struct MapCodes {
  static constexpr KernelId id{"intarsia:MapCodes", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::MapCodes>(context,
                                         {.inputs = {t, t}, .required_inputs = 2, .outputs = {t}});
  }
  static Status run(const KernelContext& context) {
    const auto* x = context.input(0).as<const uint8_t>();
    const auto* table = context.input(1).as<const uint8_t>();
    auto* y = context.output(0).as<uint8_t>();
    const auto map = pick_isa(context.isa(), [](auto i) { return &ByteTable<i>::map; });
    for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
      map(x + begin, y + begin, end - begin, table);
    });
    return {};
  }
};

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList codes_kernels;
constinit const KernelList codes_kernels =
    kernel_list<EachPair<CombineCodes, Types<AddCodes, MultiplyCodes>, Bytes>,
                Each<MapCodes, Bytes>>();

}  // namespace intarsia::cpu
