// SPDX-License-Identifier: Apache-2.0
//
// What the command shows of a conversion that takes longer than a second.
#pragma once

#include "converter/progress.h"

namespace intarsia::tool {

/// Writes one line, again and again, where standard error is a terminal, and takes it away at the
/// end; else it is empty.
converter::ProgressListener progress_line();

}  // namespace intarsia::tool
