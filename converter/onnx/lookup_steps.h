// SPDX-License-Identifier: Apache-2.0
//
// Steps of rules that make look-ups (core/operators/strings/lookup.h).
#pragma once

#include <string>
#include <vector>

#include "converter/onnx/score_steps.h"
#include "core/operators/strings/lookup.h"

namespace intarsia::converter::version_steps {

/// Throws: the node is invalid, or more than is supported.
[[noreturn]] void fail(const Node& node, std::string message, std::string hint = {});

/// A list attribute of strings, which may be absent.
std::vector<std::string> texts(const Node& node, const std::string& name);
/// The same as a vector.
Constant strings_of(const std::vector<std::string>& list);

/// The index of the key that is equal to each element of `x`, or their number; where that is not
/// allowed, `strict`. Of equal keys the last one counts.
Value* look_up(Node& node, Value* x, Constant keys, bool strict = false);

}  // namespace intarsia::converter::version_steps
