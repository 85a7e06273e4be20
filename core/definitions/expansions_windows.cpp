// SPDX-License-Identifier: Apache-2.0
//
// Windows put back into an image: sums of them by a transposed convolution, largest elements by a
// scatter.
#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"
#include "core/operators/nn/unpool.h"

namespace intarsia::definitions {
namespace {

template <int kMost>
std::vector<int64_t> listed(const FixedList<int32_t, kMost>& list, size_t count, int64_t absent) {
  if (list.count == 0) return std::vector<int64_t>(count, absent);
  return {list.values, list.values + list.count};
}

/// Fails unless a list has as many elements as there are axes, or none.
void require_count(ExpansionContext& e, const char* name, int found, size_t expected) {
  if (found == 0 || found == static_cast<int>(expected)) return;
  e.refuse(std::string(name) + " has " + std::to_string(found) + " elements, expected " +
           std::to_string(expected));
}

std::vector<int64_t> known_list(ExpansionContext& e, int input, const char* name) {
  const Term given = e.x(input);
  const SymbolicInput known = given.known();
  std::vector<int64_t> list;
  for (size_t i = 0; known.values && i < known.values->size(); ++i) {
    const Dim& value = (*known.values)[i];
    if (is_constant(value)) list.push_back(constant_value(value));
  }
  if (!known.values || list.size() != known.values->size()) {
    e.undecided(given, std::string(name) + " has to be known");
  }
  if (list.empty() || list.size() > size_t{kMaxSpatial}) {
    e.refuse(std::string(name) + " has " + std::to_string(list.size()) +
             " extents, expected 1 to " + std::to_string(kMaxSpatial));
  }
  return list;
}

/// A convolution transposed whose weights pick one place of the window each.
void col2im(ExpansionContext& e) {
  const auto& a = e.attributes<Col2ImAttributes>();
  const Term x = e.x(0);
  if (x.rank() != 3) e.refuse("input has to have 3 axes, found " + std::to_string(x.rank()));
  const std::vector<int64_t> image = known_list(e, 1, "image_shape");
  const std::vector<int64_t> block = known_list(e, 2, "block_shape");
  const size_t axes = image.size();
  if (block.size() != axes) {
    e.refuse("image_shape has " + std::to_string(axes) + " extents and block_shape " +
             std::to_string(block.size()));
  }
  require_count(e, "strides", a.strides.count, axes);
  require_count(e, "dilations", a.dilations.count, axes);
  require_count(e, "pads", a.pads.count, 2 * axes);
  const std::vector<int64_t> strides = listed(a.strides, axes, 1);
  const std::vector<int64_t> dilations = listed(a.dilations, axes, 1);
  const std::vector<int64_t> pads = listed(a.pads, 2 * axes, 0);
  int64_t places = 1, count = 1;  // of a block, and of blocks
  std::vector<int64_t> blocks{0, 0}, window{places, 1}, left;
  for (size_t i = 0; i < axes; ++i) {
    constexpr int64_t kMost = INT32_MAX;
    if (block[i] < 1 || block[i] > kMost || image[i] < 1 || image[i] > kMost) {
      e.refuse("has a block of " + std::to_string(block[i]) + " elements in an image of " +
               std::to_string(image[i]) + " along an axis; both have to be positive extents");
    }
    const int64_t reach = dilations[i] * (block[i] - 1) + 1;
    const int64_t room = image[i] + pads[i] + pads[axes + i] - reach;
    if (room < 0) {
      e.refuse("a window of " + std::to_string(reach) + " elements does not fit into an image of " +
               std::to_string(image[i]) + " with its pads");
    }
    blocks.push_back(room / strides[i] + 1);
    left.push_back(room % strides[i]);
    if (blocks.back() > kMost / count) e.refuse("has too many blocks");
    count *= blocks.back();
    window.push_back(block[i]);
    places *= block[i];
    if (places > kMost) e.refuse("has blocks of too many elements");
  }
  const Dim rows = x.extent(1), columns = x.extent(2);
  if (!is_constant(rows) || constant_value(rows) % places != 0) {
    e.refuse_extent(0, 1, places,
                    "input has " + rows.to_string() + " rows, expected a multiple of the " +
                        std::to_string(places) + " elements of a block");
  }
  if (is_constant(columns) && constant_value(columns) != count) {
    e.refuse_extent(0, 2, count,
                    "input has " + columns.to_string() + " columns, expected " +
                        std::to_string(count) + ", one for each block");
  }
  const int64_t channels = constant_value(rows) / places;
  window[0] = places;
  const Term index = call("Range", {e.number(DataType::kInt64, 0),
                                    e.number(DataType::kInt64, static_cast<double>(places)),
                                    e.number(DataType::kInt64, 1)});
  const Term one_place = call("Equal", {unsqueeze(index, {1}), index});
  std::vector<int64_t> repeats(axes + 2, 1);
  repeats[0] = channels;
  const Term weight =
      call("Tile", {with_extents(one_place, e.integers(window)), e.integers(repeats)});
  const auto image_of = [&](Term blocks_of_it) {
    return call("ConvTranspose",
                {with_extents(blocks_of_it, e.integers(blocks)), cast(weight, blocks_of_it)},
                {{"group", channels},
                 {"strides", strides},
                 {"dilations", dilations},
                 {"pads", pads},
                 {"output_padding", left}});
  };
  const DataType type = x.known().type;
  if (contains(kFloatTypes, type)) {
    e.set(0, image_of(x));
    return;
  }
  // Integers, and bools as such, wrap around: the sums of their halves, of 32 bits, are exact.
  const Term wide = cast_to(x, DataType::kInt64), half = e.number(DataType::kInt64, 0x1p32);
  const Term low = call("Mod", {wide, half});
  const auto summed = [&](Term part) {
    return cast_to(image_of(cast_to(part, DataType::kDouble)), DataType::kInt64);
  };
  e.set(0, cast_to(summed((wide - low) / half) * half + summed(low), type));
}

/// Elements go where their indices say, in an image whose others are 0.
void max_unpool(ExpansionContext& e) {
  const auto& a = e.attributes<UnpoolAttributes>();
  const Term x = e.x(0);
  const auto axes = static_cast<size_t>(a.kernel_shape.count);
  if (x.rank() != static_cast<int>(axes) + 2) {
    e.refuse("kernel_shape has " + std::to_string(axes) + " extents, its input " +
             std::to_string(x.rank()) + " axes; expected two more");
  }
  require_count(e, "strides", a.strides.count, axes);
  require_count(e, "pads", a.pads.count, 2 * axes);
  std::vector<int64_t> window = listed(a.kernel_shape, axes, 1);
  const std::vector<int64_t> pads = listed(a.pads, 2 * axes, 0);
  for (size_t i = 0; i < axes; ++i) window[i] -= pads[i] + pads[axes + i];
  const Term one = e.number(DataType::kInt64, 1);
  const Term inside =
      (extents(x, 2, x.rank()) - one) * e.integers(listed(a.strides, axes, 1)) + e.integers(window);
  const Term shape = join({extents(x, 0, 2), inside}, 0);
  const Term count = call("ReduceProd", {shape, e.integers({0})});
  const Term zeros = call("Expand", {x.number(0), count});
  const auto flat = [&](Term term) { return with_extents(term, e.integers({-1})); };
  const Term placed = call("ScatterElements", {zeros, flat(e.x(1)), flat(x)});
  const Term y = with_extents(placed, shape);
  if (!e.has_x(2)) {
    e.set(0, y);
    return;
  }
  const std::vector<int64_t> none(axes + 2, 0);
  e.set(0, call("Pad", {y, join({e.integers(none), e.x(2) - shape}, 0)}));
}

}  // namespace

void add_window_definitions(DefinitionRows& rows) {
  rows.push_back({.name = "Col2Im",
                  .since_version = 18,
                  .inputs = {Parameter{"input", "T"}.with("N C L"),
                             Parameter{"image_shape", "I"}.with("A").deciding(Domain::kExtents),
                             Parameter{"block_shape", "I"}.with("A").deciding(Domain::kRepeats)},
                  .outputs = {{"output", "T"}},
                  .facts = {.expand = col2im},
                  .types = {{"T", kNumericTypes | kBoolType}, {"I", kInt64Type}},
                  .kernel_types = {},
                  .attributes = codec_of<Col2ImAttributes>()});
  rows.push_back(
      {.name = "MaxUnpool",
       .since_version = 22,
       .inputs = {Parameter{"X", "T1"}.with("N C H W | N C L | N C D H W"),
                  Parameter{"I", "T2"}.with("N C H W | N C L | N C D H W").of(Domain::kNonNegative),
                  Parameter{"output_shape", "T2", Parameter::kOptional}.with("absent").deciding(
                      Domain::kExtents)},
       .outputs = {{"output", "T1"}},
       .facts = {.expand = max_unpool},
       .types = {{"T1", kFloatTypes}, {"T2", kInt64Type}},
       .kernel_types = {},
       .attributes = codec_of<UnpoolAttributes>()});
}

}  // namespace intarsia::definitions
