// SPDX-License-Identifier: Apache-2.0
//
// The plans of test/golden/ on the target, opened as if they came from outside with every kernel
// there is: recurrence, branches, extents that vary and that follow from values. Their outputs were
// stored by another machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "converter/graph/strings.h"
#include "converter/onnx/file.h"
#include "converter/onnx/npy.h"
#include "core/definitions/registry.h"
#include "intarsia/session.h"
#include "test/kernels/common/kernel_rows.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;

struct alignas(64) Line {
  std::byte bytes[64];
};

KernelSet all_kernels() {
  static const RowSet<Kernel> kKernels([] {
    std::vector<Kernel> rows;
    for (const KernelDescriptor& each : cpu_kernels()) rows.push_back(*each.kernel);
    return rows;
  }());
  static const RowSet<ShapeFunction> kShapes([] {
    std::map<uint64_t, ShapeFunction> rows;
    for (const auto* op : definitions::OperatorRegistry::builtin().all()) {
      if (op->shape.infer != nullptr) rows[op->shape.key] = op->shape;
    }
    std::vector<ShapeFunction> values;
    for (const auto& [key, row] : rows) values.push_back(row);
    return values;
  }());
  return {kKernels.span(), kShapes.span()};
}

std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_directory()) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

/// Sequences and maps are stored as their bytes.
converter::Constant stored(const fs::path& run, const char* what, int index, DataType type) {
  auto value = converter::read_npy(run / (what + ("_" + std::to_string(index)) + ".npy"));
  if (holds_elements(type)) value.type = type;
  return value;
}

/// Equal, but for floats the last bits: this machine may fuse what another one did not.
void expect_equal(const Session& session, const TensorView& found,
                  const converter::Constant& expected) {
  ASSERT_EQ(found.type, expected.type);
  ASSERT_TRUE(std::ranges::equal(found.dims(), expected.extents));
  for (int64_t i = 0; found.type == DataType::kString && i < found.count(); ++i) {
    EXPECT_EQ(session.string(found.as<const StringRef>()[i]), expected.string(i));
  }
  if (found.type == DataType::kString) return;
  if (found.type != DataType::kFloat) {
    EXPECT_EQ(std::memcmp(found.data, expected.data.get(), expected.size), 0);
    return;
  }
  float scale = 0;
  for (float value : expected.as<float>()) scale = std::max(scale, std::fabs(value));
  for (int64_t i = 0; i < found.count(); ++i) {
    const float value = expected.as<float>()[static_cast<size_t>(i)];
    EXPECT_NEAR(found.as<const float>()[i], value, 1e-5f * scale) << "element " << i;
  }
}

void expect_run(Session& session, const fs::path& run, int entry) {
  SCOPED_TRACE(run.string());
  for (int i = 0; i < session.input_count(entry); ++i) {
    const DataType type = session.input_port(i, entry).value().tensor.type;
    const converter::Constant value = stored(run, "input", i, type);
    const std::vector<int32_t> extents(value.extents.begin(), value.extents.end());
    ASSERT_TRUE(session.resize_input(i, extents, entry).ok());
    const TensorView input = session.input_port(i, entry).value().tensor;
    ASSERT_EQ(input.type, value.type);
    const std::vector<std::byte> bytes =
        converter::with_strings(value, [&session, entry](std::string_view text) {
          return session.add_string(text, entry).value();
        });
    if (!bytes.empty()) std::memcpy(input.data, bytes.data(), bytes.size());
  }
  ASSERT_TRUE(session.run(entry).ok());
  ASSERT_GT(session.output_count(entry), 0);
  for (int i = 0; i < session.output_count(entry); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    const TensorView output = session.output_port(i, entry).value().tensor;
    expect_equal(session, output, stored(run, "output", i, output.type));
  }
}

TEST(CrossGolden, PlansGiveTheOutputsOfAnotherMachine) {
  const std::vector<fs::path> folders = folders_in(INTARSIA_GOLDEN_DIR "/v1");
  EXPECT_GE(folders.size(), 11u);
  for (const fs::path& folder : folders) {
    SCOPED_TRACE(folder.string());
    const auto file = converter::MappedFile::open(folder / "model.plan");
    const auto info = plan_info(file->bytes());
    ASSERT_TRUE(info.ok());
    std::vector<Line> arena((info->arena_bytes + 63) / 64);
    const std::span<std::byte> memory(arena[0].bytes, info->arena_bytes);
    for (const Isa isa : {Isa::kPortable, detect_isa()}) {
      SessionOptions options;
      options.isa = isa;
      auto session = Session::open(file->bytes(), memory, all_kernels(), options);
      ASSERT_TRUE(session.ok());
      int number = 0;  // entry points take turns
      for (const fs::path& run : folders_in(folder)) {
        expect_run(*session, run, number++ % session->entry_count());
      }
    }
  }
}

}  // namespace
}  // namespace intarsia::test
