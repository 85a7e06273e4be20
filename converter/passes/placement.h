// SPDX-License-Identifier: Apache-2.0
//
// Placement: which nodes run on a device, and the copies between its memory and the host's.
//
// A node of the main graph goes to the device if a kernel there serves its types and extents and
// none of its extents vary; a view goes where its input is. Values that the other side needs are
// copied by nodes of their own, ToDevice and ToHost, each value at most once. Then nodes are
// ordered so that the device's stand in as few runs as the copies allow: each run becomes one
// graph.
#pragma once

#include <unordered_set>

#include "converter/graph/graph.h"
#include "core/definitions/kernel_descriptor.h"

namespace intarsia::converter {

/// Nodes that take their kernels from the device's rows: those on the device, and the copies.
using Placement = std::unordered_set<const Node*>;

/// Places `model`'s main graph. Adds a warning to the model for every node that stays on the host,
/// with the reason. REQUIRES: types and extents are inferred; outputs are materialised.
Placement place_on_device(Model& model, const definitions::KernelRows& rows);

/// Where operands of a kernel of the device's rows lie; every other kernel's are the host's.
bool reads_device(const definitions::KernelRow& kernel);
bool writes_device(const definitions::KernelRow& kernel);

}  // namespace intarsia::converter
