// SPDX-License-Identifier: Apache-2.0
//
// DFT and STFT: what their inputs say of a signal, its length and its axis. The transforms
// themselves: fourier_terms.h.
#include <numeric>
#include <optional>

#include "core/definitions/fourier_terms.h"
#include "core/definitions/rows.h"
#include "core/operators/nn/fourier.h"

namespace intarsia::definitions {
namespace {

/// [..., elements, 1 or 2], with axis `axis` as the elements.
Signal signal_of(ExpansionContext& e, Term x, int axis, DataType type) {
  const int rank = x.rank();
  const Dim parts = x.extent(-1);
  if (!is_constant(parts) || constant_value(parts) < 1 || constant_value(parts) > 2) {
    e.refuse("the last extent of its input has to be 1 (real) or 2 (complex), found " +
             parts.to_string());
  }
  if (axis != rank - 2) {
    std::vector<int64_t> order = axes_between(0, rank - 1);
    order.erase(order.begin() + axis);
    order.push_back(axis);
    order.push_back(rank - 1);
    x = transpose(x, order);
  }
  return {cast_to(x, type), static_cast<int>(constant_value(parts)), false};
}

/// Puts the axis of the transform back in its place.
void put(ExpansionContext& e, const Signal& y, int axis, DataType type) {
  Term x = y.x;
  const int rank = x.rank();
  if (axis != rank - 2) {
    std::vector<int64_t> order = axes_between(0, rank - 2);
    order.insert(order.begin() + axis, rank - 2);
    order.push_back(rank - 1);
    x = transpose(x, order);
  }
  e.set(0, cast_to(x, type));
}

DataType computed_in(DataType given) {
  return given == DataType::kDouble ? given : DataType::kFloat;
}

/// A scalar, or its one element, as int64.
Term scalar(Term given) {
  const Term wide = cast_to(given, DataType::kInt64);
  return wide.rank() == 0 ? wide : call("Squeeze", {wide});
}

Length half_of(ExpansionContext& e, const Length& n) {
  return length_of(n.term / e.number(DataType::kInt64, 2) + e.number(DataType::kInt64, 1));
}

void dft(ExpansionContext& e) {
  const auto& a = e.attributes<DftAttributes>();
  const Term x = e.x(0);
  const int rank = x.rank();
  int64_t axis = -2;
  if (e.has_x(2)) {
    const auto known = known_integer(e.x(2));
    if (!known) e.undecided(e.x(2), "its axis has to be known");
    axis = *known;
  }
  if (axis < -rank || axis >= rank - 1 || axis == -1) {
    e.refuse("axis " + std::to_string(axis) + " has to be one of its input, which has " +
             std::to_string(rank) + ", without the last");
  }
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  const bool inverse = a.inverse != 0, onesided = a.onesided != 0;
  const DataType given = x.known().type, type = computed_in(given);
  const Fourier fourier(e, type, inverse ? 1 : -1);
  Signal signal = signal_of(e, x, at, type);
  const Term extent = call("Squeeze", {extents(x, at, at + 1)});
  Term count = extent;
  if (e.has_x(1)) {
    count = scalar(e.x(1));
  } else if (inverse && onesided) {
    count = 2 * (extent - e.number(DataType::kInt64, 1));
  }
  const Length n = length_of(count);
  require_positive(e, "the length of the transform", n);
  const Term one = e.number(type, 1);
  Wanted wanted;
  if (onesided && !inverse) {
    if (signal.parts == 2) e.refuse("a one-sided transform needs a real input");
    wanted.count = half_of(e, n);
  }
  if (onesided && inverse) {
    if (signal.parts == 1) e.refuse("the inverse of a one-sided transform needs a complex input");
    // The other half is the conjugate of this one, turned round: elements n - half ... 1.
    const Length half = half_of(e, n);
    signal = fourier.resized(Fourier::planar(signal), half);
    const Term first = unsqueeze(n.term - half.term, {0});
    const Term rest =
        call("Slice", {signal.x, first, e.integers({0}), e.integers({-1}), e.integers({-1})});
    const Term conjugate = join({unsqueeze(one, {0, 1}), unsqueeze(-one, {0, 1})}, 0);
    signal.x = join({signal.x, rest * conjugate}, rank - 1);
    wanted.parts = 1;
  }
  if (inverse) wanted.scale = one / cast_to(n.term, type);
  put(e, fourier.transform(fourier.resized(signal, n), n, wanted), at, given);
}

/// Frames of the signal times the window, each transformed.
void stft(ExpansionContext& e) {
  const Term x = e.x(0);
  if (x.rank() != 3) e.refuse("signal has to have 3 axes, found " + std::to_string(x.rank()));
  const DataType given = x.known().type, type = computed_in(given);
  const Term whole = call("Squeeze", {extents(x, 1, 2)});
  const Length frame = length_of(e.has_x(3)   ? scalar(e.x(3))
                                 : e.has_x(2) ? call("Squeeze", {extents(e.x(2), 0, 1)})
                                              : whole);
  const Term one = e.number(DataType::kInt64, 1), zero = e.number(DataType::kInt64, 0);
  const Term step = scalar(e.x(1));
  require_positive(e, "frame_length", frame);
  require_positive(e, "frame_step", length_of(step));
  Signal frames = signal_of(e, x, 1, type);
  // Whole blocks, as long as they can be: each begins where a frame may.
  const Length every = length_of(step);
  int64_t block = 1;
  if (frame.value && every.value) block = std::gcd(*frame.value, *every.value);
  const Term size = e.number(DataType::kInt64, static_cast<double>(block));
  const Term blocks = whole / size, length = frame.term / size;
  const Term starts = call("Range", {zero, blocks - length + one, step / size});
  const Term places = unsqueeze(starts, {1}) + call("Range", {zero, length, one});
  const Dim found = x.extent(1);
  if (!is_constant(found) || constant_value(found) % block != 0) {
    frames.x =
        call("Slice", {frames.x, e.integers({0}), unsqueeze(blocks * size, {0}), e.integers({1})});
  }
  const Term parts = e.number(DataType::kInt64, frames.parts);
  frames.x = with_last(frames.x, 2, {blocks, size * parts});
  frames.x = call("Gather", {frames.x, places}, {{"axis", int64_t{1}}});
  frames.x = with_last(frames.x, 2, {frame.term, parts});
  if (e.has_x(2)) frames.x = frames.x * unsqueeze(cast_to(e.x(2), type), {1});
  Wanted wanted;
  if (e.attributes<StftAttributes>().onesided != 0) {
    if (frames.parts == 2) e.refuse("a one-sided transform needs a real signal");
    wanted.count = half_of(e, frame);
  }
  put(e, Fourier(e, type, -1).transform(frames, frame, wanted), 2, given);
}

}  // namespace

void add_fourier_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  rows.push_back(
      {.name = "DFT",
       .since_version = 20,
       .inputs = {Parameter{"input", "T1"}.with("B L 1 | B L 2 | B L M 1 | L 2"),
                  Parameter{"dft_length", "T2", kOptional}.with("()").deciding(Domain::kAtLeastOne),
                  Parameter{"axis", "I", kOptional}.with("()").deciding(Domain::kAxis)},
       .outputs = {{"output", "T1"}},
       .facts = {.expand = dft},
       .types = {{"T1", kFloatTypes}, {"T2", kIndexTypes}, {"I", kInt64Type}},
       .kernel_types = {},
       .attributes = codec_of<DftAttributes>()});
  rows.push_back({.name = "STFT",
                  .since_version = 17,
                  .inputs = {Parameter{"signal", "T1"}.with("B F+L 1 | B F+L 1 | B F+L 2"),
                             Parameter{"frame_step", "T2"}.with("()").deciding(Domain::kAtLeastOne),
                             Parameter{"window", "T1", kOptional}.with("F | absent | F"),
                             Parameter{"frame_length", "T2", kOptional}
                                 .with("absent | () | absent")
                                 .deciding(Domain::kAtLeastOne)},
                  .outputs = {{"output", "T1"}},
                  .facts = {.expand = stft},
                  .types = {{"T1", kFloatTypes}, {"T2", kIndexTypes}},
                  .kernel_types = {},
                  .attributes = codec_of<StftAttributes>()});
}

}  // namespace intarsia::definitions
