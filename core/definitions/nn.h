// SPDX-License-Identifier: Apache-2.0
//
// The parts of the neural-network family of definitions; nn.cpp calls them.
#pragma once

#include "core/definitions/rows.h"

namespace intarsia::definitions {

void add_normalization_definitions(DefinitionRows& rows);

}  // namespace intarsia::definitions
