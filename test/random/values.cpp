// SPDX-License-Identifier: Apache-2.0
#include "test/random/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "converter/graph/sequence.h"
#include "intarsia/sequence.h"
#include "intarsia/small_types.h"

namespace intarsia::test {
namespace {

/// One number as the element of a tensor; types that are neither real nor integer take its low
/// bits, which is a small number in each of them.
void store(std::vector<std::byte>& bytes, DataType type, size_t index, double value) {
  if (type == DataType::kFloat) {  // most are
    const auto element = static_cast<float>(value);
    std::memcpy(bytes.data() + index * sizeof(element), &element, sizeof(element));
    return;
  }
  const int bits = element_bits(type);
  if (is_rounded(type) || (bits >= 8 && Constant{type, {}, {}, 0, {}}.is_integer())) {
    const Constant element = Constant::scalar_of(type, value);
    std::memcpy(bytes.data() + index * element.size, element.data.get(), element.size);
    return;
  }
  if (type == DataType::kComplex64) {
    const float pair[] = {static_cast<float>(value), static_cast<float>(-value) / 2};
    std::memcpy(bytes.data() + index * sizeof(pair), pair, sizeof(pair));
    return;
  }
  if (type == DataType::kComplex128) {
    const double pair[] = {value, -value / 2};
    std::memcpy(bytes.data() + index * sizeof(pair), pair, sizeof(pair));
    return;
  }
  const auto pattern = static_cast<unsigned>(std::fabs(value) * 8);
  if (bits == 8) {
    bytes[index] = static_cast<std::byte>(pattern & 0x7f);
    return;
  }
  set_packed_code(bytes.data(), static_cast<int64_t>(index), bits, static_cast<uint8_t>(pattern));
}

int64_t count_of(const std::vector<int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

template <class Element>
Constant fill(DataType type, const std::vector<int64_t>& extents, const Element& element) {
  const int64_t count = count_of(extents);
  std::vector<std::byte> bytes(static_cast<size_t>(byte_size(type, count)));
  for (int64_t i = 0; i < count; ++i) store(bytes, type, static_cast<size_t>(i), element(i));
  return Constant::own(type, extents, std::move(bytes));
}

}  // namespace

bool is_rounded(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

Constant draw(DataType type, const std::vector<int64_t>& extents, Draw how, Random& random) {
  if (type == DataType::kString) {
    // Numbers, so that casts read some; nothing, zero bytes, letters that change their length.
    static const std::string kWords[] = {
        "",  "7", "-2.5", "1e2", " 3", "a", "A a", std::string("x\0y", 3), "\xc3\xbc\xe2\xb1\xa5",
        "12"};
    std::vector<std::string> words(static_cast<size_t>(count_of(extents)));
    const int64_t numbers = random.chance(40) ? 1 : 0;  // of all words
    for (std::string& word : words) {
      word = numbers != 0 ? kWords[random.between(1, 4)] : kWords[random.below(std::size(kWords))];
    }
    return Constant::strings(extents, words);
  }
  const bool real = !Constant{type, {}, {}, 0, {}}.is_integer();
  const bool is_signed = real || type == DataType::kInt8 || type == DataType::kInt16 ||
                         type == DataType::kInt32 || type == DataType::kInt64;
  std::vector<int64_t> order(static_cast<size_t>(count_of(extents)));
  std::iota(order.begin(), order.end(), 0);
  if (how == Draw::kPermutation) random.shuffle(order);
  // Beyond what float holds: what becomes a float on the way shows.
  const double fine = type == DataType::kDouble && random.chance(15) ? 1 + 0x1p-30 : 1;
  return fill(type, extents, [&](int64_t i) -> double {
    if (type == DataType::kBool && how != Draw::kOnes && how != Draw::kZeros) {
      return static_cast<double>(random.below(2));
    }
    const int64_t low = is_signed ? 1 : 0;
    switch (how) {
      case Draw::kAny:
        return real ? fine * static_cast<double>(random.between(-16, 16)) / 8
                    : static_cast<double>(random.between(-4 * low, 4));
      case Draw::kPositive:
        return real ? fine * static_cast<double>(random.between(1, 16)) / 8
                    : static_cast<double>(random.between(1, 4));
      case Draw::kAtLeastOne:
        return real ? static_cast<double>(random.between(8, 24)) / 8
                    : static_cast<double>(random.between(1, 3));
      case Draw::kFraction:
        return real ? static_cast<double>(random.between(0, 8)) / 8
                    : static_cast<double>(random.below(2));
      case Draw::kWhole:
        return static_cast<double>(random.below(4));
      case Draw::kZeroOne:
        return static_cast<double>(random.below(2));
      case Draw::kOnes:
        return 1;
      case Draw::kZeros:
        return 0;
      case Draw::kSigned:
        return static_cast<double>(random.between(-2 * low, 2));
      case Draw::kPermutation:
        return static_cast<double>(order[static_cast<size_t>(i)] % 100);
      case Draw::kLarge:
        return static_cast<double>(random.below(100));
    }
    return 0;
  });
}

Constant whole_numbers(DataType type, const std::vector<int64_t>& extents,
                       const std::vector<int64_t>& values) {
  return fill(type, extents,
              [&](int64_t i) { return static_cast<double>(values[static_cast<size_t>(i)]); });
}

Constant changed(const Constant& tensor, const std::function<double(double)>& change) {
  return fill(tensor.type, tensor.extents, [&](int64_t i) {
    const double value = tensor.real(i);
    return std::isfinite(value) ? change(value) : value;
  });
}

Constant with_signs_turned(const Constant& tensor) {
  return fill(tensor.type, tensor.extents, [&](int64_t i) {
    const double value = tensor.real(i);
    return std::isnan(value) || value == 0 ? std::copysign(value, std::signbit(value) ? 1.0 : -1.0)
                                           : value;
  });
}

namespace {

template <class T>
Constant as_real(const Constant& tensor) {
  std::vector<T> values;
  for (int64_t i = 0; i < tensor.count(); ++i) values.push_back(static_cast<T>(tensor.real(i)));
  return Constant::of<T>(tensor.extents, std::span<const T>(values));
}

}  // namespace

Constant as_double(const Constant& tensor) {
  return as_real<double>(tensor);
}

Constant as_float(const Constant& tensor) {
  return as_real<float>(tensor);
}

Scale scale_of(const Constant& tensor) {
  Scale scale;
  if (!tensor.is_real() && !tensor.is_integer()) return scale;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = std::fabs(tensor.real(i));
    if (std::isfinite(value)) {
      scale.largest = std::max(scale.largest, value);
    } else {
      ++scale.nonfinite;
    }
  }
  return scale;
}

double epsilon_of(DataType type) {
  switch (type) {
    case DataType::kDouble:
      return 0x1p-52;
    case DataType::kFloat16:
      return 0x1p-10;
    case DataType::kBfloat16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

std::optional<double> distance(const Constant& found, const Constant& expected) {
  if (found.type != expected.type || found.extents != expected.extents) return std::nullopt;
  if (holds_elements(expected.type)) {
    if (!SequenceView::of(found.bytes())) return std::nullopt;
    const auto left = converter::elements_of(found), right = converter::elements_of(expected);
    if (left.size() != right.size()) return std::nullopt;
    double largest = 0;
    for (size_t i = 0; i < left.size(); ++i) {
      const std::optional<double> apart = distance(left[i], right[i]);
      if (!apart) return std::nullopt;
      largest = std::max(largest, *apart);
    }
    return largest;
  }
  if (!is_rounded(expected.type)) {
    if (found == expected) return 0;
    if (!expected.is_integer()) return std::nullopt;
    double largest = 1;  // integers of 64 bits may be equal as doubles
    for (int64_t i = 0; i < expected.count(); ++i) {
      largest = std::max(largest, std::fabs(found.real(i) - expected.real(i)));
    }
    return largest;
  }
  double largest = 0;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double a = found.real(i), b = expected.real(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!std::isfinite(a) || !std::isfinite(b)) return std::nullopt;
    largest = std::max(largest, std::fabs(a - b));
  }
  return largest;
}

}  // namespace intarsia::test
