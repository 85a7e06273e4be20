// SPDX-License-Identifier: Apache-2.0
//
// Makes a model that fails smaller while it still fails.
#pragma once

#include <functional>

#include "test/random/random_model.h"

namespace intarsia::test {

/// Drops outputs, nodes, attributes and runs, makes results inputs, and reduces extents, as long as
/// `fails` stays true. `library` gives the reference kernels for results at reduced extents.
RandomModel shrink(const RandomModel& model, const converter::OperatorLibrary& library,
                   const std::function<bool(const RandomModel&)>& fails);

}  // namespace intarsia::test
