// SPDX-License-Identifier: Apache-2.0
//
// Our numbers beside another's, PyTorch's for the examples with a model that it has exported.
#pragma once

#include <span>
#include <string>
#include <vector>

/// The numbers of a text file, one per line; none if it cannot be read.
std::vector<float> read_numbers(const std::string& path);

/// Prints both side by side; true if as many, and |ours - theirs| <= absolute + relative * |theirs|
/// for each.
bool compare(const char* title, std::span<const float> ours, const std::vector<float>& theirs,
             float relative, float absolute, const char* reference = "PyTorch");
