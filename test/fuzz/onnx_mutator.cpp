// SPDX-License-Identifier: Apache-2.0
//
// Mutations of models that keep the message whole: one field of one node, value or attribute
// changes, mostly to what another of the model has. Without it nearly every mutation ends in
// Protobuf's parser or at an unknown name. Linked with libFuzzer only.
#include <random>
#include <string>

#include "converter/onnx/onnx.pb.h"
#include "core/definitions/registry.h"
#include "test/fuzz/operators.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t capacity);

namespace {

using namespace intarsia;
namespace pb = google::protobuf;

class Mutation {
 public:
  Mutation(onnx::ModelProto& model, unsigned seed) : model_(model), random_(seed) {}

  void apply() {
    onnx::GraphProto& graph = some_graph();
    switch (below(13)) {
      case 0:
        return operator_of(graph);
      case 1:
      case 2:
        return operand_of(graph);
      case 3:
      case 4:
      case 5:
        return attribute_of(graph);
      case 6:
        return add_attribute(graph);
      case 7:
        return repeat_or_remove(*graph.mutable_node());
      case 8:
      case 9:
        return extent_of(graph);
      case 10:
        return constant_of(graph);
      case 11:
        return make_constant(graph);
      default:
        return option();
    }
  }

 private:
  uint32_t below(size_t limit) {
    return static_cast<uint32_t>(random_() % std::max<size_t>(limit, 1));
  }
  template <class T>
  T* some(pb::RepeatedPtrField<T>* list) {
    return list->empty() ? nullptr : list->Mutable(static_cast<int>(below(list->size())));
  }
  /// The main graph, or one inside it.
  onnx::GraphProto& some_graph() {
    onnx::GraphProto* graph = model_.mutable_graph();
    while (below(2) == 0) {
      onnx::NodeProto* node = some(graph->mutable_node());
      onnx::AttributeProto* attribute = node != nullptr ? some(node->mutable_attribute()) : nullptr;
      if (attribute == nullptr || !attribute->has_g()) break;
      graph = attribute->mutable_g();
    }
    return *graph;
  }
  int64_t number(int64_t old) {
    static constexpr int64_t kNumbers[] = {0,  1,   -1,        2,         3,        8,
                                           -8, 100, INT32_MAX, INT64_MAX, INT64_MIN};
    return below(2) == 0 ? kNumbers[below(std::size(kNumbers))]
                         : static_cast<int64_t>(static_cast<uint64_t>(old) + below(7) - 3);
  }
  float real(float old) {
    static constexpr float kNumbers[] = {0, 1, -1, 0.5f, 1e-30f, 1e30f, -1e30f};
    return below(4) == 0 ? old * 2 : kNumbers[below(std::size(kNumbers))];
  }
  /// A name that some value of the graph has; now and then none.
  std::string value_name(onnx::GraphProto& graph) {
    if (below(8) == 0) return "";
    if (below(3) == 0) {
      if (auto* input = some(model_.mutable_graph()->mutable_input())) return input->name();
    }
    if (below(3) == 0) {
      if (auto* constant = some(model_.mutable_graph()->mutable_initializer())) {
        return constant->name();
      }
    }
    onnx::NodeProto* node = some(graph.mutable_node());
    return node != nullptr && node->output_size() > 0
               ? node->output(static_cast<int>(below(node->output_size())))
               : "";
  }

  void operator_of(onnx::GraphProto& graph) {
    onnx::NodeProto* node = some(graph.mutable_node());
    if (node == nullptr) return;
    const auto& all = fuzz::library()->operators().all();
    const definitions::OperatorDefinition& op = *all[below(all.size())];
    node->set_op_type(std::string(op.name));
    node->set_domain(std::string(op.domain));
    if (below(2) == 0) node->clear_attribute();
  }
  void operand_of(onnx::GraphProto& graph) {
    onnx::NodeProto* node = some(graph.mutable_node());
    if (node == nullptr) return;
    auto* list = below(4) == 0 ? node->mutable_output() : node->mutable_input();
    if (list->empty() || below(4) == 0) {
      list->Add(value_name(graph));
    } else if (below(8) == 0) {
      list->RemoveLast();
    } else {
      *list->Mutable(static_cast<int>(below(list->size()))) = value_name(graph);
    }
  }
  void attribute_of(onnx::GraphProto& graph) {
    onnx::NodeProto* node = some(graph.mutable_node());
    onnx::AttributeProto* attribute = node != nullptr ? some(node->mutable_attribute()) : nullptr;
    if (attribute == nullptr) return;
    if (attribute->has_i()) attribute->set_i(number(attribute->i()));
    if (attribute->has_f()) attribute->set_f(real(attribute->f()));
    numbers(attribute->mutable_ints());
    for (float& value : *attribute->mutable_floats()) value = real(value);
    if (attribute->has_t()) elements(*attribute->mutable_t());
    if (below(8) == 0) {
      attribute->set_type(static_cast<onnx::AttributeProto::AttributeType>(1 + below(8)));
    }
  }
  /// An attribute that another node has.
  void add_attribute(onnx::GraphProto& graph) {
    onnx::NodeProto* from = some(graph.mutable_node());
    onnx::NodeProto* to = some(graph.mutable_node());
    if (from == nullptr || from->attribute_size() == 0) return;
    const onnx::AttributeProto copied = *some(from->mutable_attribute());
    if (!copied.has_g()) *to->add_attribute() = copied;
  }
  template <class T>
  void repeat_or_remove(pb::RepeatedPtrField<T>& list) {
    if (list.empty()) return;
    const auto index = static_cast<int>(below(list.size()));
    if (below(2) == 0) {
      list.DeleteSubrange(index, 1);
    } else if (list.size() < 64) {
      const T copied = list.Get(index);
      *list.Add() = copied;
    }
  }
  void extent_of(onnx::GraphProto& graph) {
    auto* list = below(8) == 0 ? graph.mutable_output() : graph.mutable_input();
    onnx::ValueInfoProto* value = some(list);
    if (value == nullptr) return;
    auto& tensor = *value->mutable_type()->mutable_tensor_type();
    if (below(6) == 0) return tensor.set_elem_type(static_cast<int32_t>(below(24)));
    auto& shape = *tensor.mutable_shape();
    if (below(6) == 0) return repeat_or_remove(*shape.mutable_dim());
    auto* dim = some(shape.mutable_dim());
    if (dim == nullptr) return;
    if (below(4) == 0) {
      dim->set_dim_param(below(2) == 0 ? "n" : "m");
    } else {
      dim->set_dim_value(below(4) == 0 ? number(dim->dim_value()) : below(6));
    }
  }
  void numbers(pb::RepeatedField<int64_t>* list) {
    if (!list->empty() && below(4) != 0) {
      const auto index = static_cast<int>(below(list->size()));
      list->Set(index, number(list->Get(index)));
    } else if (!list->empty() && below(2) == 0) {
      list->RemoveLast();
    } else if (!list->empty() && list->size() < 16) {
      list->Add(number(0));
    }
  }
  void elements(onnx::TensorProto& tensor) {
    if (below(4) == 0) return numbers(tensor.mutable_dims());
    if (below(8) == 0) return tensor.set_data_type(static_cast<int32_t>(below(24)));
    numbers(tensor.mutable_int64_data());
    std::string& raw = *tensor.mutable_raw_data();
    if (raw.empty()) return;
    raw[below(raw.size())] = static_cast<char>(below(4) == 0 ? random_() : below(5));
  }
  void constant_of(onnx::GraphProto& graph) {
    if (onnx::TensorProto* tensor = some(graph.mutable_initializer())) elements(*tensor);
  }
  /// An input becomes a constant of the same extents: more is folded, other kernels serve.
  void make_constant(onnx::GraphProto& graph) {
    onnx::ValueInfoProto* input = some(graph.mutable_input());
    if (input == nullptr) return;
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(input->name());
    const auto& type = input->type().tensor_type();
    tensor.set_data_type(type.elem_type());
    int64_t count = 1;
    for (const auto& dim : type.shape().dim()) {
      const int64_t extent = dim.dim_value() > 0 && dim.dim_value() < 64 ? dim.dim_value() : 1;
      tensor.add_dims(extent);
      count = std::min<int64_t>(count * extent, 256);
    }
    const int bits = element_bits(static_cast<DataType>(type.elem_type()));
    tensor.set_raw_data(std::string(static_cast<size_t>((count * bits + 7) / 8), '\1'));
  }
  /// What model_options.h reads, and the version of ONNX.
  void option() {
    static constexpr const char* kNames[] = {"cuda", "", "cuda"};
    if (below(2) == 0) return model_.set_producer_name(kNames[below(3)]);
    if (auto* import = some(model_.mutable_opset_import())) import->set_version(1 + below(24));
  }

  onnx::ModelProto& model_;
  std::minstd_rand random_;
};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t capacity,
                                          unsigned seed) {
  onnx::ModelProto model;
  if (seed % 16 == 0 || !model.ParseFromArray(data, static_cast<int>(size))) {
    return LLVMFuzzerMutate(data, size, capacity);
  }
  std::minstd_rand random(seed);
  for (unsigned i = 0; i <= random() % 3; ++i) {
    Mutation(model, static_cast<unsigned>(random())).apply();
  }
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > capacity) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
