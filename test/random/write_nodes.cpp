// SPDX-License-Identifier: Apache-2.0
//
// write_random_nodes DIRECTORY SEED COUNT OPSET: writes, for each operator, COUNT models of one
// node with operands of ordinary size and their elements, to DIRECTORY/<number>, for sweep.py
// --random. Prints the operators of which no node came about.
#include <cstdlib>
#include <iostream>

#include "test/random/generator.h"

int main(int count, char** arguments) {
  using namespace intarsia;
  if (count != 5) {
    std::cerr << "usage: write_random_nodes DIRECTORY SEED COUNT OPSET\n";
    return 2;
  }
  const auto number = [&](int index) { return std::atoll(arguments[index]); };
  const converter::OperatorLibrary& library = converter::builtin_library();
  int written = 0;
  auto seed = static_cast<uint64_t>(number(2)) << 32;
  for (const auto* op : test::operators_of(library)) {
    bool any = false;
    for (long long i = 0; i < number(3); ++i) {
      const auto model = test::random_node(seed++, *op, library);
      if (!model) continue;
      any = true;
      const std::string folder = std::string(arguments[1]) + "/" + std::to_string(written++);
      test::write_case(*model, folder, static_cast<int>(number(4)));
    }
    if (!any) std::cout << op->qualified_name() << "\n";
  }
  return 0;
}
