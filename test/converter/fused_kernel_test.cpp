// SPDX-License-Identifier: Apache-2.0
//
// What a fusion puts into a node must not cost it its kernel: of every operator with an epilogue,
// drawn at random, the kernel for residual and activation is as cheap as that without them.
#include <map>
#include <random>
#include <set>

#include "converter/graph/kernel_selection.h"
#include "converter/passes/fuse.h"
#include "converter/passes/layout.h"
#include "converter/passes/simplify.h"
#include "test/converter/inferred_model.h"

namespace intarsia::test {
namespace {

using converter::Node;
using converter::OnnxBuilder;
using Ints = std::vector<int64_t>;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {
    const DataType types[] = {DataType::kFloat, DataType::kFloat, DataType::kFloat16};
    type_ = types[pick(0, 2)];
  }

  /// A product, then the sum with a tensor of its extents, then an activation.
  OnnxBuilder build() {
    const int form = pick(0, 6);
    const Ints y = form == 0 ? gemm() : form == 1 ? scaled() : form == 2 ? matmul() : convolution();
    model_.input("z", y, type_);
    model_.node("Add", {last_, "z"}, {"sum"});
    model_.node(pick(0, 1) != 0 ? "Relu" : "Sigmoid", {"sum"}, {"y"});
    model_.output("y");
    return std::move(model_);
  }

 private:
  int pick(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  int64_t some() { return pick(0, 2) == 0 ? pick(1, 4) : 16 * pick(1, 4); }
  std::string weights(const Ints& extents) {
    size_t bytes = type_ == DataType::kFloat ? 4 : 2;
    for (const int64_t extent : extents) bytes *= static_cast<size_t>(extent);
    const std::string name = "w" + std::to_string(++weights_);
    if (pick(0, 7) == 0) {
      model_.input(name.c_str(), extents, type_);
    } else {
      model_.initializer(name, type_, extents, std::vector<char>(bytes, 1).data(), bytes);
    }
    return name;
  }
  onnx::NodeProto& node(const char* op, const std::vector<std::string>& inputs) {
    last_ = "t" + std::to_string(++nodes_);
    return model_.node(op, inputs, {last_});
  }

  Ints gemm() {
    const int64_t m = some(), k = some(), n = some();
    model_.input("x", {m, k}, type_);
    const bool transposed = pick(0, 1) != 0;
    const std::string b = weights(transposed ? Ints{n, k} : Ints{k, n});
    OnnxBuilder::set(node("Gemm", {"x", b}), "transB", int64_t{transposed});
    return {m, n};
  }
  Ints scaled() {
    const int64_t m = some(), k = some(), n = some();
    model_.input("x", {2, m, k}, type_);
    model_.input("b", {2, n, k}, type_);
    OnnxBuilder::set(node("Transpose", {"b"}), "perm", Ints{0, 2, 1});
    node("MatMul", {"x", std::string(last_)});
    return {2, m, n};
  }
  Ints matmul() {
    const int64_t m = some(), k = some(), n = some();
    model_.input("x", {2, m, k}, type_);
    node("MatMul", {"x", weights({k, n})});
    return {2, m, n};
  }
  /// Perhaps behind another one, which asks for another layout.
  Ints convolution() {
    const int spatial = pick(1, 3);
    const int64_t group = pick(0, 1) != 0 ? some() : 1, depth = pick(0, 1) != 0 ? 1 : some();
    const int64_t channels = group * depth, filters = group * (pick(0, 1) != 0 ? 1 : some());
    Ints x{1, channels}, y{1, filters}, w{filters, depth}, strides,
        pads(static_cast<size_t>(spatial) * 2);
    for (int axis = 0; axis < spatial; ++axis) {
      const int64_t kernel = 2 * pick(0, 3) + 1, stride = pick(1, 2), in = 4 * pick(2, 7);
      x.push_back(in), w.push_back(kernel), strides.push_back(stride);
      y.push_back((in - 1) / stride + 1);
      pads[static_cast<size_t>(axis)] = pads[static_cast<size_t>(spatial + axis)] = kernel / 2;
    }
    last_ = "x";
    if (pick(0, 1) != 0) {
      Ints before(x.size(), 1);
      before[0] = channels, before[1] = 16;
      const std::string square = weights(before);
      Ints image = x;
      image[1] = 16;
      model_.input("x", image, type_);
      node("Conv", {"x", square});
    } else {
      model_.input("x", x, type_);
    }
    auto& conv = node("Conv", {std::string(last_), weights(w)});
    OnnxBuilder::set(conv, "group", group);
    OnnxBuilder::set(conv, "strides", strides);
    OnnxBuilder::set(conv, "pads", pads);
    return y;
  }

  std::mt19937 random_;
  OnnxBuilder model_{28};
  DataType type_;
  std::string last_;
  int weights_ = 0, nodes_ = 0;
};

const definitions::KernelRow& kernel_of(const Node& node) {
  converter::OperandViews views;
  converter::show_planned(node, views);
  const auto* row =
      converter::select_kernel(node, views.context(), converter::builtin_library().rows(), {});
  static const definitions::KernelRow none{};
  EXPECT_NE(row, nullptr) << node.qualified_type();
  return row != nullptr ? *row : none;
}

TEST(FusedKernels, AreAsCheapAsThoseOfTheBareNodes) {
  std::map<std::string, int> checked;  // of each operator, with a residual
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    InferredModel model(Draw(seed).build());
    converter::simplify(model.graph());
    converter::fuse(model.graph(), model.inference);
    converter::simplify(model.graph());
    converter::assign_layout(model.graph(), model.inference);
    for (const auto& node : model.graph().nodes()) {
      const definitions::Epilogue& epilogue = node->op->facts.epilogue;
      if (!epilogue || epilogue.get(node->attribute_bytes.data()).kind == Activation::kNone)
        continue;
      ASSERT_NE(node->input(epilogue.residual), nullptr);
      const definitions::KernelRow& fused = kernel_of(*node);
      node->set_input(epilogue.residual, nullptr);
      const definitions::KernelRow& activated = kernel_of(*node);
      epilogue.set(node->attribute_bytes.data(), {});
      const definitions::KernelRow& bare = kernel_of(*node);
      EXPECT_EQ(fused.id.variant, activated.id.variant);
      // Kernels of bounded activations alone are preferred by as much.
      EXPECT_LE(activated.cost, bare.cost + 1) << activated.id.variant << ", " << bare.id.variant;
      ++checked[std::string(epilogue.op)];
    }
    if (HasFailure()) return;
  }
  std::set<std::string> all;
  for (const definitions::OperatorDefinition* row :
       definitions::OperatorRegistry::builtin().all()) {
    if (row->facts.epilogue) all.insert(std::string(row->facts.epilogue.op));
  }
  for (const std::string& op : all) EXPECT_GT(checked[op], 20) << op;
}

}  // namespace
}  // namespace intarsia::test
