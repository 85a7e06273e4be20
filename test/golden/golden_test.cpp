// SPDX-License-Identifier: Apache-2.0
//
// Plans of every format version that was ever released open and give the stored outputs. A plan in
// test/golden/ is never made anew once its format version is released; docs/testing.md says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "converter/onnx/npy.h"
#include "converter/tool/compare.h"
#include "converter/tool/program.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_in(const fs::path& path, const std::string& prefix = "") {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.rfind(prefix, 0) == 0) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Sequences and maps are stored as their bytes.
converter::Constant stored(const fs::path& run, const std::string& name, DataType type) {
  converter::Constant value = converter::read_npy(run / (name + ".npy"));
  if (holds_elements(type)) value.type = type;
  return value;
}

void expect_run(tool::Program& program, const fs::path& run, int entry) {
  SCOPED_TRACE(run.string());
  tool::Values inputs;
  for (int i = 0; i < program.session().input_count(entry); ++i) {
    const Port port = program.session().input_port(i, entry).value();
    inputs[std::string(port.name)] = stored(run, "input_" + std::to_string(i), port.tensor.type);
  }
  program.set_inputs(inputs, entry);
  program.run(entry);
  const auto outputs = program.outputs(entry);
  ASSERT_FALSE(outputs.empty());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto expected = stored(run, "output_" + std::to_string(i), outputs[i].second.type);
    const double scale = tool::largest_magnitude(expected);
    EXPECT_EQ(tool::compare(outputs[i].second, expected, {1e-5, 1e-5 * scale}), "")
        << "output " << i << " '" << outputs[i].first << "'";
  }
}

TEST(Golden, PlansOfEveryVersionRunToTheirStoredOutputs) {
  std::set<std::string> versions;
  for (const fs::path& version : folders_in(INTARSIA_GOLDEN_DIR, "v")) {
    versions.insert(version.filename().string());
    for (const fs::path& folder : folders_in(version)) {
      SCOPED_TRACE(folder.string());
      try {
        tool::Program program(folder / "model.plan", {}, {});
        const auto runs = folders_in(folder, "run_");
        EXPECT_FALSE(runs.empty());
        // Entry points take turns.
        const int entries = program.session().entry_count();
        int number = 0;
        for (const fs::path& run : runs) expect_run(program, run, number++ % entries);
      } catch (const converter::Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
    // A folder that was lost would make this test pass for nothing.
    EXPECT_GE(folders_in(version).size(), 11u);
  }
  EXPECT_EQ(versions, std::set<std::string>{"v1"});
}

}  // namespace
}  // namespace intarsia::test
