// SPDX-License-Identifier: Apache-2.0
//
// Operators that become others.
#include "core/definitions/expansion.h"

#include "core/definitions/rows.h"
#include "core/operators/elementwise/elementwise.h"
#include "core/operators/movement/resize.h"

namespace intarsia::definitions {
namespace {

void cast_like(ExpansionContext& e) {
  const auto& a = e.attributes<CastLikeAttributes>();
  static constexpr const char* kModes[] = {"up", "down", "nearest"};
  e.set(0, call("Cast", {e.x(0)},
                {{"to", static_cast<int64_t>(e.x(1).known().type)},
                 {"saturate", int64_t{a.saturate}},
                 {"round_mode", std::string(kModes[a.round_mode])}}));
}

/// The places of an image's points along axis `axis` of `size`, from -1 to 1, in double.
Term grid_places(Term size, int64_t axis, bool corners) {
  TermContext& context = size.context();
  const Term count =
      call("Gather", {size, context.number(DataType::kInt64, static_cast<double>(axis))});
  const Term index = call(
      "Range", {context.number(DataType::kInt64, 0), count, context.number(DataType::kInt64, 1)});
  const Term place = cast_to(index, DataType::kDouble), points = cast_to(count, DataType::kDouble);
  if (!corners) return (2 * place + 1.0) / points - 1.0;
  // One point lies in the middle.
  const Term steps = points - 1.0;
  return (2 * place - steps) / call("Max", {steps, steps.number(1)});
}

/// grid = theta[:, :, 0] * x + theta[:, :, 1] * y + ... + theta[:, :, last], broadcast over an
/// image.
void affine_grid(ExpansionContext& e) {
  const bool corners = e.attributes<AffineGridAttributes>().align_corners != 0;
  const Term theta = e.x(0), size = e.x(1);
  const Dim rows = theta.rank() == 3 ? theta.extent(1) : Dim(0);
  const bool plane = is_constant(rows) && constant_value(rows) == 2;
  if (!plane && !(is_constant(rows) && constant_value(rows) == 3)) {
    e.refuse("theta has to have the extents [N, 2, 3] or [N, 3, 4]");
  }
  const int64_t axes = plane ? 2 : 3;
  const auto column = [&](int64_t number) {
    const Term index = e.number(DataType::kInt64, static_cast<double>(number));
    const Term one = call("Gather", {theta, index}, {{"axis", int64_t{2}}});
    std::vector<int64_t> between;
    for (int64_t axis = 1; axis <= axes; ++axis) between.push_back(axis);
    return unsqueeze(one, between);
  };
  Term grid = column(axes);
  for (int64_t number = 0; number < axes; ++number) {
    // x, which theta has first, is along the last axis of the image.
    Term places = cast(grid_places(size, axes + 1 - number, corners), theta);
    std::vector<int64_t> behind;
    for (int64_t axis = 1; axis <= number + 1; ++axis) behind.push_back(axis);
    grid = grid + unsqueeze(places, behind) * column(number);
  }
  e.set(0, grid);
}

}  // namespace

void add_expanded_definitions(DefinitionRows& rows) {
  rows.push_back({.name = "AffineGrid",
                  .since_version = 20,
                  .inputs = {apart({"theta", "T1"}).with("N 2 3 | N 3 4"),
                             apart({"size", "T2"}).with("4 | 5").deciding(Domain::kExtents)},
                  .outputs = {{"grid", "T1"}},
                  .facts = {.expand = affine_grid},
                  .types = {{"T1", kFloatTypes}, {"T2", kInt64Type}},
                  .kernel_types = {},
                  .attributes = codec_of<AffineGridAttributes>()});
  rows.push_back({.name = "CastLike",
                  .since_version = 15,
                  .inputs = {same({"input", "T1"}), apart({"target_type", "T2"})},
                  .outputs = {same({"output", "T2"})},
                  .facts = {.expand = cast_like},
                  .types = {{"T1", kCastTypes}, {"T2", kCastTypes}},
                  .kernel_types = {},
                  .attributes = codec_of<CastLikeAttributes>()});
}

}  // namespace intarsia::definitions
