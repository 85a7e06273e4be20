// SPDX-License-Identifier: Apache-2.0
//
// Operators on codes, bytes that stand for numbers, element by element: sums and products, which
// broadcast, and MapCodes, a table. Formulas: core/operators/quantization/codes.h.
//
// Numbers are floats, which no fused multiply-add rounds otherwise: the same codes on every
// instruction set. Formulas give anchored numbers (quantization/integers.h).
#include "core/operators/quantization/codes.h"

#include <cstring>

#include "core/kernel_list.h"
#include "kernels_cpu/common/byte_words.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/elementwise/binary_run.h"
#include "kernels_cpu/math/byte_table.h"
#include "kernels_cpu/math/code_sums.h"
#include "kernels_cpu/quantization/integers.h"

namespace intarsia::cpu {
namespace {

struct AddCodes {
  static constexpr std::string_view name = "intarsia:AddCodes";
  float a_factor, addend, b_factor;
  float operator()(float a, float b) const {
    return ((a * a_factor + addend) + b * b_factor) + kAnchor;
  }
};

struct MultiplyCodes {
  static constexpr std::string_view name = "intarsia:MultiplyCodes";
  float a_zero, b_zero, factor, addend;
  float operator()(float a, float b) const {
    return ((a - a_zero) * (b - b_zero) * factor + addend) + kAnchor;
  }
};

/// The nearest integer, ties to even, and the zero point, anchored.
INTARSIA_INLINE float code_of(float quotient, float zero) {
  return (quotient + kAnchor) + zero;
}

struct AddDequantized {
  static constexpr std::string_view name = "intarsia:AddDequantized";
  float a_zero, a_scale, b_zero, b_scale, scale, zero;
  float operator()(float a, float b) const {
    return code_of(((a - a_zero) * a_scale + (b - b_zero) * b_scale) / scale, zero);
  }
};

struct MultiplyDequantized {
  static constexpr std::string_view name = "intarsia:MultiplyDequantized";
  float a_zero, a_scale, b_zero, b_scale, scale, zero;
  float operator()(float a, float b) const {
    return code_of((a - a_zero) * a_scale * ((b - b_zero) * b_scale) / scale, zero);
  }
};

/// Four codes of type T that lie side by side, as numbers in lanes of 32 bits: vectors of such
/// words take codes apart and put them together without moving any from lane to lane.
template <class T>
struct CodeWord {
  using Stored = ByteWord;
  struct Numbers {
    float of[4];
  };
  INTARSIA_INLINE static Numbers load(uint32_t word) {
    Numbers numbers;
    INTARSIA_UNROLLED
    for (int i = 0; i < 4; ++i) {
      const auto top = static_cast<int32_t>(word << (24 - 8 * i));
      numbers.of[i] = static_cast<float>(
          std::is_signed_v<T> ? top >> 24 : static_cast<int32_t>(word >> 8 * i) & 0xff);
    }
    return numbers;
  }
  INTARSIA_INLINE static uint32_t store(const Numbers& numbers) {
    uint32_t word = 0;
    INTARSIA_UNROLLED
    for (int i = 0; i < 4; ++i) word |= (anchored_byte<T>(numbers.of[i]) & 0xffu) << 8 * i;
    return word;
  }
};

/// z = f(x, y) of `length` codes each, by instructions for codes where there are such; otherwise
/// false.
template <class T, class F>
bool combine_codes(const T* x, const T* y, T* z, int64_t length, const F& f, Isa isa) {
  if constexpr (std::is_same_v<F, AddCodes>) {
    const CodeSum sum{f.a_factor, f.addend, f.b_factor, std::is_signed_v<T>};
    if (!sum.is_bounded()) return false;
    const auto bytes = [](auto* codes) { return reinterpret_cast<const uint8_t*>(codes); };
    return pick_isa(isa, [&](auto i) {
      if constexpr (has_code_sums(i)) {
        CodeSums<i>::add(bytes(x), bytes(y), reinterpret_cast<uint8_t*>(z), length, sum);
      }
      return has_code_sums(i);
    });
  }
  return false;
}

/// z = f(x, y) of `length` codes each; an operand that stands still is one code.
template <class T, class F>
INTARSIA_INLINE void combine_row(const T* x, bool x_advances, const T* y, bool y_advances, T* z,
                                 int64_t length, const F& f) {
  using Word = CodeWord<T>;
  const ByteWord stills[] = {static_cast<uint8_t>(*x) * 0x01010101u,
                             static_cast<uint8_t>(*y) * 0x01010101u};
  const auto each = [f](const typename Word::Numbers& a, const typename Word::Numbers& b) {
    typename Word::Numbers result;
    INTARSIA_UNROLLED
    for (int i = 0; i < 4; ++i) result.of[i] = f(a.of[i], b.of[i]);
    return result;
  };
  compute_row<Word, Word, Word>(x_advances ? words_of(x) : stills, x_advances,
                                y_advances ? words_of(y) : stills + 1, y_advances,
                                reinterpret_cast<ByteWord*>(z), length / 4, each);
  const int64_t done = length / 4 * 4;
  if (done == length) return;
  const auto rest = static_cast<size_t>(length - done);
  uint32_t a = stills[0], b = stills[1];
  if (x_advances) std::memcpy(&a, x + done, rest);
  if (y_advances) std::memcpy(&b, y + done, rest);
  const uint32_t last = Word::store(each(Word::load(a), Word::load(b)));
  std::memcpy(z + done, &last, rest);
}

template <class Formula, class T>
struct CombineCodes {
  static constexpr KernelId id{Formula::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0, 1};
  static constexpr int kNumbers = sizeof(Formula) / sizeof(float);

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>, s = kernel_type_of<float>;
    const auto check = [&](std::initializer_list<KernelType> inputs) {
      return check_operands<ops::CombineCodes>(
          context, {.inputs = inputs, .required_inputs = 2 + kNumbers, .outputs = {t}});
    };
    if constexpr (kNumbers == 3) return check({t, t, s, s, s});
    if constexpr (kNumbers == 4) return check({t, t, s, s, s, s});
    if constexpr (kNumbers == 6) return check({t, t, s, s, s, s, s, s});
  }

  static Status run(const KernelContext& context) {
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
        if (piece.advances[0] && piece.advances[1] &&
            combine_codes(piece.at<T>(0), piece.at<T>(1), y + piece.first, piece.length, formula,
                          context.isa())) {
          continue;
        }
        on_widest_isa(context.isa(), [&] {
          combine_row(piece.at<T>(0), piece.advances[0], piece.at<T>(1), piece.advances[1],
                      y + piece.first, piece.length, formula);
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
    const auto map = byte_table(context.isa());
    for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
      map(x + begin, y + begin, end - begin, table);
    });
    return {};
  }
};

using Bytes = Types<int8_t, uint8_t>;

using Formulas = Types<AddCodes, MultiplyCodes, AddDequantized, MultiplyDequantized>;

}  // namespace

extern const KernelList codes_kernels;
constinit const KernelList codes_kernels =
    kernel_list<EachPair<CombineCodes, Formulas, Bytes>, Each<MapCodes, Bytes>>();

}  // namespace intarsia::cpu
