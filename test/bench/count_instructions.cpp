// SPDX-License-Identifier: Apache-2.0
//
// Runs plans for instructions.py, under callgrind, which counts the instructions of one run of
// each.
//
//   count_instructions LIST
//
// A line of LIST is a plan's path and NAME=FILE for each of its inputs, with tabs between them. The
// counts go to callgrind's files, one for each line. AVX2, which callgrind knows, is used.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "test/bench/bound_plan.h"

namespace intarsia::tool {
namespace {

void count(const std::string& line) {
  std::istringstream words(line);
  std::string path;
  std::getline(words, path, '\t');
  InputArguments inputs;
  for (std::string word; std::getline(words, word, '\t');) inputs.inputs.push_back(word);
  const Values given = inputs.read();
  Program::Options options;
  options.force_isa = true;
  options.isa = Isa::kAvx2;
  Program program(path, given, options);
  BoundPlan plan(program, program.completed(given));
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  plan.run();
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS;
}

int run(int argc, char** argv) {
  if (argc != 2) throw converter::Error("usage: count_instructions LIST");
  std::ifstream list(argv[1]);
  if (!list) throw converter::Error(std::string(argv[1]) + " cannot be read");
  for (std::string line; std::getline(list, line);) count(line);
  return 0;
}

}  // namespace
}  // namespace intarsia::tool

int main(int argc, char** argv) {
  try {
    return intarsia::tool::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "count_instructions: %s\n", error.what());
    return 1;
  }
}
