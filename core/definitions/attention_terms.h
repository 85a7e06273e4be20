// SPDX-License-Identifier: Apache-2.0
//
// What operators of attention have in common, in terms. Host only.
#pragma once

#include "core/definitions/term.h"

namespace intarsia::definitions {

/// The scores of q by k, both [batch, heads, length, size]. A scale that is NaN is 1 / sqrt(size).
Term scores_of_heads(Term q, Term k, float scale);
/// Scores between -cap and cap; as they are where that is 0.
Term capped(Term scores, float cap);

/// A product of [batch, heads of q, ...] by [batch, heads of k, ...]: heads of q that share one of
/// k are an axis of their own meanwhile.
Term product_of_heads(Term left, Term right, Term q, Term k);

/// The weights of keys, zeros for a query that no key is open to: for one whose row of the bias is
/// -infinity throughout.
Term without_closed_rows(Term weights, Term bias);

}  // namespace intarsia::definitions
