// SPDX-License-Identifier: Apache-2.0
//
// write_random_models DIRECTORY FIRST COUNT STEP OPSET: writes the models of the seeds FIRST, FIRST
// + STEP, ... with inputs and expected outputs, for onnx_runtime_test.py.
#include <cstdlib>
#include <iostream>

#include "test/random/generator.h"

int main(int count, char** arguments) {
  using namespace intarsia;
  if (count != 6) {
    std::cerr << "usage: write_random_models DIRECTORY FIRST COUNT STEP OPSET\n";
    return 2;
  }
  const auto number = [&](int index) { return std::atoll(arguments[index]); };
  test::Coverage coverage;
  for (long long i = 0; i < number(3); ++i) {
    const long long seed = number(2) + i * number(4);
    const test::RandomModel model =
        test::random_model(static_cast<uint64_t>(seed), converter::builtin_library(), coverage);
    test::write_case(model, std::string(arguments[1]) + "/" + std::to_string(seed),
                     static_cast<int>(number(5)));
  }
  return 0;
}
