// SPDX-License-Identifier: Apache-2.0
//
// How the converter reports failure inside: one exception that carries every problem found.
//
// Nothing throws across the converter's API: its entry points catch `Error` and hand out the text.
// A problem names the node and operator it concerns, says what was found and expected, and what to
// do about it.
#pragma once

#include <exception>
#include <string>
#include <vector>

namespace intarsia::converter {

/// One thing that is wrong with a model or a request.
struct Problem {
  std::string node;     ///< Name of the node, or of the tensor or input; empty for the whole model.
  std::string op;       ///< "Conv", "com.microsoft:Inverse"; empty if no node is concerned.
  std::string message;  ///< What was found and what was expected.
  std::string hint;     ///< What to do; may be empty.
  std::string entry = {};                ///< The entry point, where a plan has several.
  std::vector<std::string> others = {};  ///< Further nodes that have this problem.

  /// One line: "entry point 'step': node 'conv1' (Conv): message; hint", or of several nodes
  /// "nodes 'conv1', 'conv2', 'conv3' and 7 more (Conv): message; hint".
  std::string text() const {
    std::string line;
    if (!entry.empty()) line = "entry point '" + entry + "': ";
    if (!node.empty() || !op.empty()) {
      if (!op.empty()) line += others.empty() ? "node " : "nodes ";
      line += names();
      if (!op.empty()) line += " (" + op + ")";
      line += ": ";
    }
    line += message;
    if (!hint.empty()) line += "; " + hint;
    return line;
  }

 private:
  std::string names() const {
    constexpr size_t kListed = 2;  // after the first
    std::string list = "'" + node + "'";
    for (size_t i = 0; i < others.size() && i < kListed; ++i) list += ", '" + others[i] + "'";
    if (others.size() > kListed)
      list += " and " + std::to_string(others.size() - kListed) + " more";
    return list;
  }
};

/// Thrown by the converter's parts; `what()` is the text of all problems, one per line.
class Error : public std::exception {
 public:
  explicit Error(std::string message, std::string hint = {})
      : Error(Problem{{}, {}, std::move(message), std::move(hint)}) {}
  explicit Error(Problem problem) : Error(std::vector<Problem>{std::move(problem)}) {}
  explicit Error(std::vector<Problem> problems) : problems_(std::move(problems)) {
    for (const Problem& problem : problems_) {
      if (!text_.empty()) text_ += '\n';
      text_ += problem.text();
    }
  }
  const std::vector<Problem>& problems() const { return problems_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Problem> problems_;
  std::string text_;
};

}  // namespace intarsia::converter
