// SPDX-License-Identifier: Apache-2.0
//
// Cast to strings and from them.
//
// Numbers are written as %.8g of C's library does in the "C" locale (%.17g those of double; INF,
// -INF, NaN), bool as 0 and 1. What is read may have white space around it; INF, INFINITY and NAN
// are read in any case and with a sign, integers also from a number with a fraction, which is
// dropped. Anything else is an error. https://onnx.ai/onnx/operators/onnx__Cast.html
#include <algorithm>
#include <charconv>
#include <limits>

#include "core/kernel_list.h"
#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/common/first_failure.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/small_element.h"
#include "kernels_cpu/strings/string_loops.h"

namespace intarsia::cpu {
namespace {

/// A number as characters.
class Written {
 public:
  template <class T>
  void set(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      set_text(value ? "1" : "0");
    } else if constexpr (std::is_floating_point_v<T>) {
      constexpr int kDigits = std::is_same_v<T, double> ? 17 : 8;
      if (value != value) return set_text("NaN");
      if (value - value != 0) return set_text(value > 0 ? "INF" : "-INF");
      set_end(std::to_chars(text_, text_ + kLongest, value, std::chars_format::general, kDigits));
    } else {
      set_end(std::to_chars(text_, text_ + kLongest, value));
    }
  }
  size_t size() const { return size_; }
  void write(char* at) const { std::memcpy(at, text_, size_); }

 private:
  static constexpr size_t kLongest = 32;  // longer than any number that is written

  void set_text(std::string_view text) { size_ = text.copy(text_, kLongest); }
  void set_end(std::to_chars_result end) { size_ = static_cast<size_t>(end.ptr - text_); }

  char text_[kLongest];
  size_t size_ = 0;
};

std::string_view trimmed(std::string_view text) {
  const auto is_white = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_white(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white(text.back())) text.remove_suffix(1);
  const auto is_sign = [](char c) { return c == '+' || c == '-'; };
  const bool plus = text.size() > 1 && text[0] == '+' && !is_sign(text[1]) && !is_white(text[1]);
  if (plus) text.remove_prefix(1);
  return text;
}

/// Of a number that its type cannot hold: whether it is too small, not too large. That follows from
/// the place of the first digit that is no zero, and the exponent.
bool is_tiny(std::string_view text) {
  int64_t place = 0, exponent = 0;
  bool fraction = false, begun = false;
  size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    const bool zero = text[at] == '0';
    if (text[at] == '.') fraction = true;
    begun = begun || (text[at] >= '1' && text[at] <= '9');
    if (begun && !fraction) ++place;
    if (zero && !begun && fraction) --place;
  }
  if (at == text.size()) return place < 1;
  text.remove_prefix(at + 1);
  const bool negative = text.front() == '-';
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (read.ec != std::errc()) return negative;
  exponent = std::min(exponent, int64_t{1} << 40);
  return place + (negative ? -exponent : exponent) < 1;
}

/// False unless all of `text` is one number. What a type cannot hold becomes its limit.
template <class T>
bool read_number(std::string_view text, T& value) {
  text = trimmed(text);
  const char* end = text.data() + text.size();
  if constexpr (std::is_integral_v<T>) {
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc() && read.ptr == end) return true;
    double real = 0;
    if (!read_number(text, real)) return false;
    value = saturate_cast<T>(real);
    return true;
  } else {
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc::result_out_of_range && read.ptr == end) {
      value = is_tiny(text) ? T{0} : std::numeric_limits<T>::infinity();
      if (text[0] == '-') value = -value;
      return true;
    }
    return read.ec == std::errc() && read.ptr == end;
  }
}

template <class T>
struct ToString {
  static constexpr KernelId id{"Cast", "", {kernel_type_of<T>, DataType::kString}};
  static Status check(const KernelContext& context) {
    return check_elementwise(context,
                             {.inputs = {kernel_type_of<T>}, .outputs = {DataType::kString}});
  }
  static Status run(const KernelContext& context) {
    const auto* x = context.input(0).as<const std::byte>();
    const TensorView& y = context.output(0);
    return make_strings<Written>(context, y.count(), y.as<StringRef>(),
                                 [x](int64_t first, auto batch) {
                                   for (Written& one : batch) one.set(load_at<T>(x, first++));
                                 });
  }
};

/// Reads all strings of input 0: `store(i, number)`.
template <class Read, class Store>
Status read_numbers(const KernelContext& context, const Store& store) {
  const auto* x = context.input(0).as<const StringRef>();
  FirstFailure wrong;
  for_strings(context, context.input(0).count(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Read value{};
      if (!read_number(context.string(x[i]), value)) return wrong.note(i);
      store(i, value);
    }
  });
  if (!wrong.any()) return {};
  return context.fail(Code::kInvalidValue, "a string that is no number, at element", 0,
                      wrong.index(), 0);
}

template <class T>
struct FromString {
  static constexpr KernelId id{"Cast", "", {DataType::kString, kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    return check_elementwise(context,
                             {.inputs = {DataType::kString}, .outputs = {kernel_type_of<T>}});
  }
  static Status run(const KernelContext& context) {
    using Y = Element<T>;
    using Read = std::conditional_t<std::is_same_v<T, bool>, double, typename Y::Value>;
    auto* y = context.output(0).as<typename Y::Stored>();
    return read_numbers<Read>(context, [y](int64_t i, Read value) {
      if constexpr (std::is_same_v<T, bool>) {
        y[i] = Y::store(value != 0);
      } else {
        y[i] = Y::store(value);
      }
    });
  }
};

template <DataType type>
struct FromString<Small<type>> {
  static constexpr KernelId id{"Cast", "", {DataType::kString, type}};
  static Status check(const KernelContext& context) {
    if (Status status = check_attributes<CastAttributes>(context); !status) return status;
    return check_elementwise(context, {.inputs = {DataType::kString}, .outputs = {type}});
  }
  static Status run(const KernelContext& context) {
    using Read = std::conditional_t<is_small_float<type>, double, int64_t>;
    const auto& a = context.attributes<CastAttributes>();
    const Encoding encoding{a.saturate != 0, static_cast<PowerRounding>(a.round_mode)};
    const TensorView& y = context.output(0);
    auto* codes = y.as<std::byte>();
    std::fill(codes, codes + y.bytes(), std::byte{0});
    // A thread's strings are a multiple of those whose codes share a byte.
    return read_numbers<Read>(context, [&](int64_t i, Read value) {
      set_packed_code(codes, i, element_bits(type), encode<type>(value, encoding));
    });
  }
};

struct Copy {
  static constexpr KernelId id{"Cast", "", {DataType::kString, DataType::kString}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    return check_elementwise(context,
                             {.inputs = {DataType::kString}, .outputs = {DataType::kString}});
  }
  static Status run(const KernelContext& context) {
    const TensorView &x = context.input(0), &y = context.output(0);
    if (y.bytes() != 0) std::memmove(y.data, x.data, static_cast<size_t>(y.bytes()));
    return {};
  }
};

}  // namespace

using CastTypes = Join<Numbers, Types<bool>, SmallTypes>;
extern const KernelList string_cast_kernels;
constinit const KernelList string_cast_kernels =
    kernel_list<Each<ToString, CastTypes>, Each<FromString, CastTypes>, Copy>();

}  // namespace intarsia::cpu
