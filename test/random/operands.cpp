// SPDX-License-Identifier: Apache-2.0
#include "test/random/operands.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace intarsia::test {
namespace {

using definitions::AttributeField;
using definitions::AxisForm;
using definitions::Domain;

int64_t draw_extent(const Sizes& sizes, Random& random) {
  if (sizes.extents.size() > 0) return random.pick(sizes.extents);
  const int64_t kind = random.below(100);
  if (kind < 2) return 0;
  if (kind < 20) return 1;
  if (kind < 88) return random.between(2, 5);
  return random.pick<int64_t>({7, 8, 9, 15, 16, 17, 33});
}

int64_t draw_integer(const AttributeField& field, const Sizes& sizes, Random& random) {
  const AttributeLimits& limits = field.limits;
  if (limits.lowest == std::numeric_limits<int64_t>::min()) {
    // Numbers of element types among small ones.
    if (random.chance(35)) return random.pick<int64_t>({1, 1, 2, 3, 6, 7, 9, 10, 11, 16});
    return random.pick<int64_t>({-2, -1, 0, 0, 1, 1, 2, 3, 4});
  }
  if (limits.highest == std::numeric_limits<int64_t>::max()) {
    if (sizes.numbers.size() > 0 && random.chance(20)) {
      return std::max(limits.lowest, random.pick(sizes.numbers));
    }
    // Windows, steps and parts that small tensors have room for.
    return limits.lowest + random.pick<int64_t>({0, 0, 0, 1, 1, 1, 2, 2, 3, 7});
  }
  std::vector<int64_t> allowed;
  for (int64_t value = limits.lowest; value <= limits.highest; ++value) {
    if (limits.allow(value)) allowed.push_back(value);
  }
  return random.pick(allowed);
}

std::vector<int64_t> draw_axes(int rank, size_t count, Random& random) {
  std::vector<int64_t> axes(static_cast<size_t>(std::max(rank, 0)));
  std::iota(axes.begin(), axes.end(), 0);
  random.shuffle(axes);
  axes.resize(std::min(axes.size(), count));
  if (random.chance(50)) std::sort(axes.begin(), axes.end());
  for (int64_t& axis : axes) {
    if (random.chance(30)) axis -= rank;
  }
  return axes;
}

/// The attribute that names axes, if `field` is it.
std::optional<definitions::AttributeValue> draw_axis_attribute(const OperatorDefinition& op,
                                                               const AttributeField& field,
                                                               int rank, Random& random) {
  const definitions::AxisNaming& naming = op.facts.axes;
  if (naming.attribute.name == nullptr || naming.attribute.name() != field.name) {
    return std::nullopt;
  }
  if (field.kind == AttributeField::kInteger) {
    return rank > 0 ? random.between(-rank, rank - 1) : random.between(-1, 0);
  }
  if (naming.form == AxisForm::kPermutation) {
    std::vector<int64_t> order = draw_axes(rank, static_cast<size_t>(rank), random);
    for (int64_t& axis : order) axis += axis < 0 ? rank : 0;
    random.shuffle(order);
    return order;
  }
  return draw_axes(rank, static_cast<size_t>(random.between(1, std::max(1, rank))), random);
}

size_t draw_length(const AttributeField& field, int rank, Random& random) {
  const int spatial = std::max(1, rank - 2);
  const auto length = static_cast<size_t>(random.pick({spatial, spatial, 2 * spatial, rank, 1, 2}));
  return field.limit > 0 ? std::min(length, static_cast<size_t>(field.limit)) : length;
}

definitions::AttributeValue draw_attribute(const OperatorDefinition& op,
                                           const AttributeField& field, int rank,
                                           const Sizes& sizes, Random& random) {
  if (auto axes = draw_axis_attribute(op, field, rank, random)) return *axes;
  const size_t length = draw_length(field, rank, random);
  const auto real = [&] {
    return random.pick({0.125f, 0.25f, 0.5f, 1.0f, 1.5f, 2.0f, -0.5f, 0.0f});
  };
  const auto text = [&] {
    return field.choices.empty() ? std::string("text") : random.pick(field.choices);
  };
  switch (field.kind) {
    case AttributeField::kInteger:
      return draw_integer(field, sizes, random);
    case AttributeField::kReal:
      return real();
    case AttributeField::kText:
      return text();
    case AttributeField::kIntegers: {
      std::vector<int64_t> list(length);
      for (int64_t& element : list) element = draw_integer(field, sizes, random);
      return list;
    }
    case AttributeField::kReals: {
      std::vector<float> list(length);
      for (float& element : list) element = real();
      return list;
    }
    case AttributeField::kTexts: {
      std::vector<std::string> list(length);
      for (std::string& element : list) element = text();
      return list;
    }
    case AttributeField::kTensor:
      break;
  }
  const auto type = random.pick({DataType::kFloat, DataType::kInt64, DataType::kInt32,
                                 DataType::kBool, DataType::kDouble, DataType::kUint8});
  const Constant one = draw(type, {1}, Draw::kAny, random);
  return definitions::TensorValue{one.type, one.extents, one.data, one.size};
}

/// The axes that the node names, or all.
std::vector<int64_t> named_axes(const Candidate& candidate, int rank,
                                std::span<const Constant* const> inputs) {
  const definitions::AxisNaming& naming = candidate.op->facts.axes;
  std::vector<int64_t> axes;
  if (naming.attribute.get != nullptr) axes = naming.attribute.get(candidate.blob.data());
  if (naming.input >= 0 && static_cast<size_t>(naming.input) < inputs.size()) {
    const Constant* list = inputs[static_cast<size_t>(naming.input)];
    if (list != nullptr && list->is_integer()) axes = list->integers();
  }
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    axis = std::clamp<int64_t>(axis, 0, std::max(0, rank - 1));
  }
  return axes;
}

/// Extents with the same number of elements: neighbours joined, factors split off, -1 and 0 for
/// what follows from the rest.
std::vector<int64_t> reshaped(const std::vector<int64_t>& extents, Random& random) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < extents.size(); ++i) {
    const int64_t extent = extents[i];
    if (!result.empty() && random.chance(35)) {
      result.back() *= extent;
    } else if (extent > 2 && extent % 2 == 0 && random.chance(30)) {
      result.push_back(2);
      result.push_back(extent / 2);
    } else {
      result.push_back(extent);
    }
    if (random.chance(15) && result.size() < 6) result.push_back(1);
  }
  if (random.chance(40)) random.shuffle(result);
  if (!result.empty() && random.chance(40)) {
    result[static_cast<size_t>(random.below(static_cast<int64_t>(result.size())))] = -1;
  } else if (!result.empty() && result.size() <= extents.size() && random.chance(20)) {
    for (size_t i = 0; i < result.size(); ++i) {
      if (result[i] == extents[i]) result[i] = 0;
    }
  }
  return result;
}

/// `count` numbers that sum up to `total`.
std::vector<int64_t> parts_of(int64_t total, size_t count, Random& random) {
  std::vector<int64_t> parts(count, 0);
  for (int64_t i = 0; i < total && count > 0; ++i) {
    ++parts[static_cast<size_t>(random.below(static_cast<int64_t>(count)))];
  }
  return parts;
}

/// A matrix that is easy to invert without rounding: powers of two on the diagonal, above it
/// halves.
Constant invertible(DataType type, const std::vector<int64_t>& extents, Random& random) {
  Constant result = draw(type, extents, Draw::kZeros, random);
  const size_t rank = extents.size();
  if (rank < 2) return result;
  const int64_t rows = extents[rank - 2], columns = extents[rank - 1];
  int64_t at = 0;
  return changed(result, [&](double) -> double {
    const int64_t row = at / columns % rows, column = at % columns;
    ++at;
    if (row == column) return random.pick({0.5, 1.0, 2.0, -1.0});
    return row < column ? random.pick({0.0, 0.5, -1.0}) : 0;
  });
}

}  // namespace

definitions::AttributeMap draw_attributes(const OperatorDefinition& op, int rank,
                                          const Sizes& sizes, Random& random) {
  definitions::AttributeMap attributes;
  if (op.attributes.list == nullptr) return attributes;
  for (const AttributeField& field : op.attributes.list()) {
    // Without a seed the converter chooses one, and the node alone does not tell which.
    const bool seed = op.facts.stream && field.name == "seed";
    if (!field.required && !seed && random.chance(50)) continue;
    attributes[field.name] = draw_attribute(op, field, rank, sizes, random);
  }
  return attributes;
}

bool is_list(Domain domain) {
  switch (domain) {
    case Domain::kAxis:
    case Domain::kUnitAxes:
    case Domain::kNewAxes:
    case Domain::kExtents:
    case Domain::kReshape:
    case Domain::kExpand:
    case Domain::kRepeats:
    case Domain::kPads:
    case Domain::kScales:
    case Domain::kSizes:
    case Domain::kParts:
    case Domain::kPosition:
      return true;
    default:
      return false;
  }
}

std::vector<int64_t> list_extents(Domain domain, int rank, Random& random) {
  switch (domain) {
    case Domain::kPads:
      return {2 * random.pick<int64_t>({rank, rank, 1, 2})};
    case Domain::kRepeats:
      return {rank};
    case Domain::kScales:
    case Domain::kSizes:
      return {random.pick<int64_t>({rank, rank, rank, 1, 2})};
    case Domain::kAxis:
      if (random.chance(35)) return {};
      return {random.between(1, std::max(1, rank))};
    case Domain::kExtents:
    case Domain::kReshape:
    case Domain::kExpand:
      return {random.between(std::max(0, rank - 1), rank + 1)};
    default:
      return {random.between(1, std::max(1, std::min(rank, 3)))};
  }
}

Draw draw_for(Domain domain, Random& random) {
  switch (domain) {
    case Domain::kPositive:
    case Domain::kNonZero:
      return Draw::kPositive;
    case Domain::kAtLeastOne:
      return Draw::kAtLeastOne;
    case Domain::kNonNegative:
      return random.pick({Draw::kFraction, Draw::kWhole});
    case Domain::kUnit:
    case Domain::kFraction:
      return Draw::kFraction;
    case Domain::kSmall:
      return Draw::kSigned;
    case Domain::kShift:
      return Draw::kWhole;
    case Domain::kAny:
      if (random.chance(75)) return Draw::kAny;
      return static_cast<Draw>(random.below(kDrawCount));
    default:
      return random.pick({Draw::kZeros, Draw::kZeroOne, Draw::kWhole, Draw::kOnes});
  }
}

bool lies_in(const Constant& tensor, Domain domain) {
  double lowest = 0, highest = 0;
  switch (domain) {
    case Domain::kPositive:
    case Domain::kNonZero:
      lowest = 1e-3, highest = 1e9;
      break;
    case Domain::kNonNegative:
      highest = 1e9;
      break;
    case Domain::kUnit:
      lowest = -1, highest = 1;
      break;
    case Domain::kFraction:
      highest = 1;
      break;
    case Domain::kAtLeastOne:
      lowest = 1, highest = 1e9;
      break;
    case Domain::kSmall:
    case Domain::kShift:
      lowest = domain == Domain::kShift ? 0 : -7, highest = 7;
      break;
    default:
      return true;
  }
  if (!tensor.is_real() && !tensor.is_integer()) return true;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = tensor.real(i);
    if (!(value >= lowest && value <= highest)) return false;
  }
  return true;
}

std::optional<Constant> draw_list(const Candidate& candidate, const definitions::Values& values,
                                  DataType type, const std::vector<int64_t>& extents,
                                  std::span<const Constant* const> inputs, Random& random) {
  const auto of = static_cast<size_t>(values.of);
  const Constant* about = of < inputs.size() ? inputs[of] : nullptr;
  if (values.domain == Domain::kInvertible) return invertible(type, extents, random);
  if (about == nullptr) return std::nullopt;
  const int rank = about->rank();
  const std::vector<int64_t>& sizes = about->extents;
  const std::vector<int64_t> axes = named_axes(candidate, rank, inputs);
  const int64_t named = axes.empty() || rank == 0 ? 1 : sizes[static_cast<size_t>(axes.front())];
  const int64_t count =
      std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  const auto size = static_cast<size_t>(count);
  const auto extent_at = [&](size_t i) {
    const auto axis = i < axes.size() ? static_cast<size_t>(axes[i]) : i;
    return axis < sizes.size() ? sizes[axis] : 1;
  };
  std::vector<int64_t> list(size);
  const auto each = [&](const auto& element) {
    for (size_t i = 0; i < size; ++i) list[i] = element(i);
  };
  switch (values.domain) {
    case Domain::kIndex:
      if (named == 0) return std::nullopt;
      each([&](size_t) {
        return random.chance(25) ? -random.between(1, named) : random.below(named);
      });
      break;
    case Domain::kIndexTuple: {
      const int64_t smallest = sizes.empty() ? 1 : *std::min_element(sizes.begin(), sizes.end());
      if (smallest == 0) return std::nullopt;
      each([&](size_t) { return random.below(smallest); });
      break;
    }
    case Domain::kBelow:
      each([&](size_t) { return int64_t{0}; });
      break;
    case Domain::kLength: {
      // The extent of whichever axis it is about; those in question are the first two.
      const int64_t most = rank >= 2 ? std::min(sizes[0], sizes[1]) : named;
      each([&](size_t) { return random.between(0, most); });
      break;
    }
    case Domain::kParts:
      list = parts_of(named, size, random);
      break;
    case Domain::kPosition:
      each([&](size_t i) {
        const int64_t extent = extent_at(i);
        if (random.chance(10)) return random.pick<int64_t>({100, -100});
        return random.between(-extent, extent);
      });
      break;
    case Domain::kAxis:
      list = draw_axes(rank, size, random);
      list.resize(size, 0);
      break;
    case Domain::kUnitAxes: {
      std::vector<int64_t> ones;
      for (int axis = 0; axis < rank; ++axis) {
        if (sizes[static_cast<size_t>(axis)] == 1) ones.push_back(axis);
      }
      if (ones.size() < size) return std::nullopt;
      random.shuffle(ones);
      ones.resize(size);
      list = ones;
      break;
    }
    case Domain::kNewAxes:
      list = draw_axes(rank + static_cast<int>(size), size, random);
      break;
    case Domain::kExtents:
      each([&](size_t) { return draw_extent(kSmallSizes, random) % 6; });
      break;
    case Domain::kReshape: {
      for (int attempt = 0; attempt < 20; ++attempt) {
        list = reshaped(sizes, random);
        if (list.size() == size) break;
      }
      list.resize(size, 1);
      break;
    }
    case Domain::kExpand:
      each([&](size_t i) {
        const auto at = static_cast<int64_t>(i) + rank - static_cast<int64_t>(size);
        const int64_t extent = at >= 0 ? sizes[static_cast<size_t>(at)] : 1;
        return extent == 1 ? random.between(1, 4) : random.pick<int64_t>({extent, 1});
      });
      break;
    case Domain::kRepeats:
      each([&](size_t) { return random.pick<int64_t>({1, 1, 2, 3}); });
      break;
    case Domain::kPads:
      each([&](size_t) { return random.pick<int64_t>({0, 0, 1, 2, -1}); });
      break;
    case Domain::kScales:
      if (!is_rounded(type)) return std::nullopt;
      return changed(draw(type, extents, Draw::kOnes, random), [&](double) {
        return random.pick({1.0, 1.0, 2.0, 0.5, 1.5, 3.0});
      });
    case Domain::kSizes:
      each([&](size_t i) { return std::max<int64_t>(1, extent_at(i) * random.between(1, 4) / 2); });
      break;
    default:
      return std::nullopt;
  }
  return whole_numbers(type, extents, list);
}

std::vector<int64_t> draw_extents(const Sizes& sizes, Random& random) {
  const int rank = random.pick({0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6});
  std::vector<int64_t> extents;
  int64_t count = 1;
  for (int axis = 0; axis < rank; ++axis) {
    int64_t extent = draw_extent(sizes, random);
    while (extent > 1 && count * extent > sizes.most) extent /= 2;
    count *= std::max<int64_t>(1, extent);
    extents.push_back(extent);
  }
  if (rank > 0 && count < sizes.least) {  // one axis is longer than those that are picked
    const int64_t wanted = sizes.least << random.below(6);
    extents[static_cast<size_t>(random.below(rank))] *= std::min(wanted, sizes.most) / count;
  }
  return extents;
}

}  // namespace intarsia::test
