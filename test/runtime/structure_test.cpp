// SPDX-License-Identifier: Apache-2.0
//
// core/runtime/structure.cpp against the verifier that FlatBuffers generates from the schema: over
// damaged structures both say the same.
#include <random>

#include "core/runtime/session_state.h"
#include "test/runtime/forged_plan.h"
#include "test/runtime/sequence_ports.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// Names, an input with a symbol, a state: every kind of table and field.
OnnxBuilder model() {
  OnnxBuilder model;
  symbol(model.input("x", {0, 3}), 0, "n");
  model.input("state", {2, 3});
  model.output("y");
  model.output("next");
  model.floats("w", {3, 3}, std::vector<float>(9, 0.25f));
  model.node("MatMul", {"x", "w"}, {"p"});
  model.node("Tanh", {"p"}, {"y"});
  model.node("Neg", {"state"}, {"next"});
  sequence_input(model, "s");
  model.output("length");
  model.node("SequenceLength", {"s"}, {"length"});
  return model;
}
converter::ConvertOptions options() {
  converter::ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, 3};
  options.states["next"] = "state";
  options.max_lengths["s"] = 2;
  options.shapes["s"] = {3};
  return options;
}

class StructureTest : public testing::Test {
 protected:
  void SetUp() override {
    std::memcpy(&header, plan.plan().data(), sizeof(header));
    const plan::Plan& root = plan.root();
    ASSERT_TRUE(root.symbols()->size() > 0 && root.state_ports()->size() > 0 &&
                root.states()->size() > 0 && root.node_names()->size() > 0);
    const plan::Port* sequence = root.entries()->Get(0)->inputs()->Get(1);
    ASSERT_TRUE(sequence->holds() != nullptr && sequence->holds()->Get(0) == 1);
    ASSERT_TRUE(agree());
  }
  std::span<uint8_t> structure() {
    return {reinterpret_cast<uint8_t*>(plan.plan().data()) + header.structure_offset,
            static_cast<size_t>(header.structure_bytes)};
  }

  bool accepted() {
    Diagnostic diagnostic;
    return verify_structure(plan.plan(), header, false, diagnostic).ok();
  }
  bool accepted_by_generated() {
    flatbuffers::Verifier verifier(structure().data(), structure().size(), 8,
                                   static_cast<uint32_t>(structure().size() / 8));
    return plan::VerifyPlanBuffer(verifier);
  }
  template <class T>
  static bool has_zero(const flatbuffers::Vector<flatbuffers::Offset<T>>* offsets) {
    for (uint32_t i = 0; offsets != nullptr && i < offsets->size(); ++i) {
      if (flatbuffers::ReadScalar<uint32_t>(offsets->Data() + 4 * size_t{i}) == 0) return true;
    }
    return false;
  }
  /// An offset that leads to itself is nonsense, which the generated verifier accepts in vectors.
  bool leads_to_itself() {
    const plan::Plan& root = plan.root();
    bool found = has_zero(root.entries()) || has_zero(root.symbols()) ||
                 has_zero(root.state_ports()) || has_zero(root.node_names()) ||
                 has_zero(root.operators()) || has_zero(root.kernel_names());
    for (uint32_t i = 0; root.entries() != nullptr && i < root.entries()->size(); ++i) {
      const plan::Entry* entry = root.entries()->Get(i);
      found = found || has_zero(entry->inputs()) || has_zero(entry->outputs());
    }
    return found;
  }
  bool agree() {
    const bool expected = accepted_by_generated();
    ++(expected ? accepted_count : refused_count);
    return accepted() == (expected && !leads_to_itself());
  }

  ForgedPlan plan{model(), options()};
  PlanHeader header;
  int accepted_count = 0, refused_count = 0;
};

TEST_F(StructureTest, EveryByte) {
  for (size_t at = 0; at < structure().size(); ++at) {
    for (int value : {0x00, 0x01, 0x04, 0x10, 0x7f, 0x80, 0xff, ~structure()[at] & 0xff}) {
      const Forgery forgery(structure().data(), at, static_cast<uint8_t>(value));
      ASSERT_TRUE(agree()) << "byte " << at << " is " << value;
    }
  }
  EXPECT_GT(accepted_count, 1000);
  EXPECT_GT(refused_count, 1000);
}

TEST_F(StructureTest, EveryLength) {
  const uint64_t whole = header.structure_bytes;
  for (header.structure_bytes = 10; header.structure_bytes <= whole; ++header.structure_bytes) {
    ASSERT_TRUE(agree()) << header.structure_bytes << " bytes";
  }
  EXPECT_GT(refused_count, 500);
}

TEST_F(StructureTest, ManyWords) {
  std::minstd_rand random(1);
  const auto below = [&random](size_t limit) { return random() % limit; };
  const std::vector<uint8_t> whole(structure().begin(), structure().end());
  for (int i = 0; i < 200000; ++i) {
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t at = 4 * below(whole.size() / 4);
      uint32_t value;
      std::memcpy(&value, whole.data() + at, 4);
      switch (below(4)) {
        case 0:  // another word of it: offsets that lead elsewhere, and are shared
          std::memcpy(&value, whole.data() + 4 * below(whole.size() / 4), 4);
          break;
        case 1:
          value += static_cast<uint32_t>(below(64)) - 32;
          break;
        case 2:
          value ^= uint32_t{1} << below(32);
          break;
        default:
          value = static_cast<uint32_t>(below(whole.size()));
      }
      std::memcpy(structure().data() + at, &value, 4);
    }
    ASSERT_TRUE(agree()) << "round " << i;
    std::memcpy(structure().data(), whole.data(), whole.size());
  }
  EXPECT_GT(accepted_count, 1000);
  EXPECT_GT(refused_count, 1000);
}

}  // namespace
}  // namespace intarsia::test
