// SPDX-License-Identifier: Apache-2.0
//
// The options with which a fuzzed model is converted. They follow from the model, so that one file
// is the whole input: names say what applies.
//
//     producer_name "cuda"          placed on the device
//     input "state", output "next"  kept from run to run
//     input "nhwc"                  the caller's buffer is channels-last
#pragma once

#include <span>

#include "converter/convert.h"

namespace intarsia::fuzz {

/// Ranges for every symbolic dimension, values for inputs of known and small extents, so that the
/// trial execution is reached too, and limits of a fraction of a second. Throws converter::Error.
converter::ConvertOptions options_for(std::span<const std::byte> model);

}  // namespace intarsia::fuzz
