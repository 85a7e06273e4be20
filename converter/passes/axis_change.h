// SPDX-License-Identifier: Apache-2.0
//
// What a node becomes when the axes of its operands change places: from the facts in the operator's
// definition alone, for every operator alike.
//
// An order of axes is a list: axis i of the new order is axis order[i] of the old one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "converter/graph/graph.h"

namespace intarsia::converter {

using AxisOrder = std::vector<int64_t>;

/// N,C,spatial... to N,spatial...,C, and back.
AxisOrder channels_last_order(int rank);
AxisOrder channels_first_order(int rank);

/// Rank of a value, of a constant too; -1 if it is not known.
int rank_of(const Value& value);

struct AxisChange {
  enum Operand : uint8_t {
    kKept,       ///< as it is
    kMoved,      ///< its axes change places
    kBroadcast,  ///< likewise; of lower rank, it is a constant that is given the axes it lacks
  };
  int rank = 0;  ///< Of the operator's axis space.
  std::vector<Operand> inputs, outputs;
  /// The named axes in the new order, where the node has to name them anew.
  std::optional<std::vector<int64_t>> named;
};

/// How `node` computes the same with the channels last; nothing if it cannot, or if that is not
/// known. A permutation of axes is no such node: what becomes of it depends on both orders.
std::optional<AxisChange> channels_last_change(const Node& node);

/// Writes the named axes of a change, or sets the attribute `channels_last`. Operands are the
/// caller's affair.
void name_axes(Node& node, const AxisChange& change);

/// The constant with its axes, after those it lacks up to the rank of `order`, in the new order. It
/// has at least `least_rank` axes; leading ones of extent 1 beyond that are left out.
Constant reordered(const Constant& constant, const AxisOrder& order, int least_rank);

}  // namespace intarsia::converter
