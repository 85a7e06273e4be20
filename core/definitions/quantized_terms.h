// SPDX-License-Identifier: Apache-2.0
//
// What expansion rules of quantised operators write alike.
//
// A quantised tensor is codes, a scale and a zero point; it stands for (code - zero) * scale.
#pragma once

#include "core/definitions/expansion.h"

namespace intarsia::definitions {

/// True of a scalar, and of a vector of one element.
bool is_single(const Term& term);
/// An input of one element, as a scalar; refuses others.
Term single(ExpansionContext& e, int input);
/// The same of a zero point that may be absent: 0 of the type of `codes`.
Term zero_point(ExpansionContext& e, int input, Term codes);

/// What codes stand for, and the codes that stand for numbers. Scale and zero point are single, or
/// belong to the positions of an axis.
Term dequantized(Term codes, Term scale, Term zero, int64_t axis = 1);
Term quantized(Term numbers, Term scale, Term zero);
/// Each code that the type of bytes `like` has, in the order of their bits: what is computed of
/// them is the table of MapCodes.
Term all_codes(Term like);
/// The nearest integers, those of the type: where a zero point is rounded together with the rest.
Term nearest(Term numbers, DataType type);

/// Sums of products times the scale, which belongs to the positions of an axis, or of several axes,
/// or is one for all: as numbers, or rounded, and shifted by input `zero`, in its type.
Term rescaled(Term sums, Term scale, int64_t axis);
Term requantized(ExpansionContext& e, Term sums, Term scale, int zero, int64_t axis);

/// [batch, spatial..., channels] as [batch, channels, spatial...], and the other way round.
Term channels_first(Term image);
Term channels_last(Term image);

}  // namespace intarsia::definitions
