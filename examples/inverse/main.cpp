// SPDX-License-Identifier: Apache-2.0
//
// Runs torch.inverse(x) + x as PyTorch exported it, once for each way in which models name the
// domain com.microsoft, and prints the results beside PyTorch's own:
//   inverse FOLDER      the folder that export.py has written
#include <algorithm>
#include <cstdio>
#include <string>

#include "common/compare.h"
#include "inverse_no_import.h"
#include "inverse_opset_1.h"
#include "inverse_opset_5.h"

namespace {

constexpr std::size_t kArenaBytes = std::max(
    {inverse_opset_1::arena_bytes, inverse_opset_5::arena_bytes, inverse_no_import::arena_bytes});
alignas(inverse_opset_1::arena_alignment) std::byte arena[kArenaBytes];

using Open = intarsia::Result<intarsia::Session> (*)(std::span<std::byte>,
                                                     const intarsia::SessionOptions&,
                                                     intarsia::Diagnostic*);

bool check(const char* title, Open open, const std::string& folder) {
  intarsia::Result<intarsia::Session> session = open(std::span<std::byte>(arena), {}, nullptr);
  if (!session.ok()) return false;
  const std::vector<float> input = read_numbers(folder + "/input.txt");
  const std::span<float> x = session->input<float>(0).value();
  if (x.size() != input.size()) return false;
  std::copy(input.begin(), input.end(), x.begin());
  return session->run() && compare(title, session->output<float>(0).value(),
                                   read_numbers(folder + "/expected.txt"), 1e-3f, 1e-5f);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: inverse FOLDER\n");
    return 2;
  }
  const bool first = check("com.microsoft version 1", &inverse_opset_1::open, argv[1]);
  const bool second = check("com.microsoft version 5", &inverse_opset_5::open, argv[1]);
  const bool third = check("com.microsoft not imported", &inverse_no_import::open, argv[1]);
  return first && second && third ? 0 : 1;
}
