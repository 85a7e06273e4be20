// SPDX-License-Identifier: Apache-2.0
//
// Dropout. In training y = x mask / (1 - ratio), with mask true where u >= ratio, u in [0, 1) of
// the precision in which x is computed (8- and 16-bit types: float); a dropped infinity or NaN
// gives NaN, as the formula has it. Outside training, and with ratio 0, y = x and mask is true; no
// number is drawn then. See draw.h for u. y may be x: each element is read before it is written.
// https://onnx.ai/onnx/operators/onnx__Dropout.html
#include <cstring>

#include "core/kernel_list.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/math/small_element.h"
#include "kernels_cpu/random/draw.h"

namespace intarsia::cpu {
namespace {

/// Types of 8 bits as elements.
template <class T>
struct Carried : Element<T> {};
template <DataType type>
struct Carried<Small<type>> {
  using Stored = uint8_t;
  using Value = float;
  static Value load(Stored code) { return decode<type>(code); }
  static Stored store(Value value) { return encode<type>(value, {}); }
};

bool is_real(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16 || float_format(type).bits() == 8;
}

/// The ratio, whose type need not be that of the data; without one it is 0.5.
double ratio_of(const TensorView& ratio) {
  if (!ratio.present()) return 0.5;
  const auto* bytes = ratio.as<const std::byte>();
  switch (ratio.type) {
    case DataType::kFloat:
      return static_cast<double>(load_at<float>(bytes, 0));
    case DataType::kDouble:
      return load_at<double>(bytes, 0);
    case DataType::kFloat16:
      return static_cast<double>(load_at<Float16>(bytes, 0));
    case DataType::kBfloat16:
      return static_cast<double>(load_at<BFloat16>(bytes, 0));
    default:
      return static_cast<double>(
          decode_float(float_format(ratio.type), std::to_integer<uint8_t>(*bytes)));
  }
}

template <class E, class V>
void place(const V* u, const typename E::Stored* x, typename E::Stored* y, uint8_t* mask, int count,
           V ratio, V scale) {
  INTARSIA_INDEPENDENT
  for (int i = 0; i < count; ++i) {
    const bool kept = u[i] >= ratio;
    mask[i] = kept ? 1 : 0;
    y[i] = E::store(E::load(x[i]) * (kept ? scale : V(0)));
  }
}

template <class T>
struct Dropout : DrawingKernel<DropoutAttributes, Draws::kDropout> {
  static constexpr KernelId id{"Dropout", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>, flag = DataType::kBool;
    const OperandTypes types{.inputs = {t, kAnyType, flag}, .outputs = {t, flag}};
    if (Status status = check_operands<ops::Dropout>(context, types); !status) return status;
    const TensorView& ratio = context.input(1);
    if (ratio.present() && !is_real(ratio.type)) {
      return context.fail(Code::kWrongType, "type of ratio", static_cast<int64_t>(DataType::kFloat),
                          static_cast<int64_t>(ratio.type), 1);
    }
    return check_scalars(context, {1, 2});
  }

  static Status run(const KernelContext& context) {
    const TensorView &input = context.input(0), &output = context.output(0);
    const TensorView& training = context.input(2);
    const bool drops = training.present() && *training.as<const uint8_t>() != 0;
    const double ratio = drops ? ratio_of(context.input(1)) : 0;
    if (!(ratio >= 0 && ratio < 1)) {
      return context.fail(Code::kInvalidValue, "ratio, which has to lie in [0, 1)", 0,
                          saturate_cast<int64_t>(ratio), 1);
    }
    const int64_t elements = output.count();
    auto* mask = context.output(1).as<uint8_t>();
    if (ratio == 0) {
      if (elements == 0) return {};
      copy_tensor(context, output, input);
      if (mask != nullptr) std::memset(mask, 1, static_cast<size_t>(elements));
      return {};
    }
    drop(context, ratio, mask);
    return {};
  }

 private:
  static void drop(const KernelContext& context, double wide_ratio, uint8_t* mask) {
    using E = Carried<T>;
    using V = typename E::Value;
    const auto* x = context.input(0).as<const typename E::Stored>();
    auto* y = context.output(0).as<typename E::Stored>();
    const auto ratio = static_cast<V>(wide_ratio);
    const auto scale = static_cast<V>(1 / (1 - wide_ratio));
    const Numbers numbers = next_numbers(context);
    for_pieces(context, context.output(0).count(), [&](int64_t first, int count) {
      V u[kPiece];
      uint8_t unwanted[kPiece];
      numbers.uniforms(first, count, u);
      uint8_t* flags = mask != nullptr ? mask + first : unwanted;
      on_isa(numbers.isa(),
             [=, &u] { place<E>(u, x + first, y + first, flags, count, ratio, scale); });
    });
  }
};

using DroppedTypes =
    Join<Floats, Types<Small<DataType::kFloat8E4M3FN>, Small<DataType::kFloat8E4M3FNUZ>,
                       Small<DataType::kFloat8E5M2>, Small<DataType::kFloat8E5M2FNUZ>>>;

}  // namespace

extern const KernelList dropout_kernels;
constinit const KernelList dropout_kernels = kernel_list<Each<Dropout, DroppedTypes>>();

}  // namespace intarsia::cpu
