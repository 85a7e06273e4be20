// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/kernel_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "converter/graph/node_extents.h"

namespace intarsia::converter {

void OperandViews::add_absent(bool is_output) {
  views_.push_back({});
  ++(is_output ? outputs_ : inputs_);
}

void OperandViews::add(bool is_output, DataType type, const std::vector<int64_t>& extents,
                       const void* data) {
  if (extents.size() > static_cast<size_t>(kMaxRank)) {
    throw Error(
        fmt::format("a tensor has rank {}; the largest supported is {}", extents.size(), kMaxRank));
  }
  std::vector<int32_t>& stored = extents_.emplace_back();
  for (int64_t extent : extents) {
    if (extent < 0 || extent > INT32_MAX) {
      throw Error(fmt::format("extents {} do not fit 31 bits", extents_text(extents)));
    }
    stored.push_back(static_cast<int32_t>(extent));
  }
  views_.push_back(
      {const_cast<void*>(data), stored.data(), type, static_cast<uint8_t>(extents.size())});
  ++(is_output ? outputs_ : inputs_);
}

void OperandViews::set_attributes(std::span<const std::byte> bytes) {
  attributes_.assign((bytes.size() + 7) / 8, 0);
  if (!bytes.empty()) std::memcpy(attributes_.data(), bytes.data(), bytes.size());
  context_.attribute_bytes_ = static_cast<uint32_t>(bytes.size());
}

void OperandViews::set_threads(int threads) {
  parallel_.threads = threads;
}

KernelContext& OperandViews::context() {
  host_.parallel = parallel_.threads > 1 ? &parallel_ : nullptr;
  host_.isa = Isa::kPortable;  // what is folded and planned is the same on every host
  host_.diagnostic = &diagnostic_;
  host_.resize_output = &resize;
  host_.service = &service;
  context_.operands_ = views_.data();
  context_.input_count_ = inputs_;
  context_.output_count_ = outputs_;
  context_.attributes_ = attributes_.data();
  context_.host_ = &host_;
  context_.runtime_ = this;
  return context_;
}

std::vector<int64_t> OperandViews::extents(int index) const {
  const TensorView& tensor = views_[static_cast<size_t>(index)];
  return {tensor.extents, tensor.extents + tensor.rank};
}

void* OperandViews::service(const KernelContext& context, uint64_t key) {
  for (const Service& each : static_cast<OperandViews*>(context.runtime_)->services_) {
    if (each.key == key) return each.pointer;
  }
  return nullptr;
}

Status OperandViews::resize(const KernelContext& context, int output,
                            std::span<const int32_t> extents) {
  auto& self = *static_cast<OperandViews*>(context.runtime_);
  const int index = self.inputs_ + output;
  TensorView& view = self.views_[static_cast<size_t>(index)];
  if (!view.present()) return {};
  if (extents.size() != view.rank) {
    return context.fail(Code::kWrongRank, "output rank", view.rank,
                        static_cast<int64_t>(extents.size()), index);
  }
  auto* stored = const_cast<int32_t*>(view.extents);
  for (int axis = 0; axis < view.rank; ++axis) {
    const int32_t extent = extents[static_cast<size_t>(axis)];
    if (extent > stored[axis] || extent < 0) {
      return context.fail(Code::kWrongExtent, "output extent beyond its planned maximum",
                          stored[axis], extent, index, axis);
    }
  }
  std::copy(extents.begin(), extents.end(), stored);
  return {};
}

namespace {

DataType type_of(const std::vector<Value*>& values,
                 const std::vector<definitions::Parameter>& parameters, std::string_view variable) {
  for (size_t i = 0; i < values.size(); ++i) {
    const definitions::Parameter* parameter = formal(parameters, i);
    if (values[i] != nullptr && parameter != nullptr && parameter->type == variable) {
      return values[i]->type;
    }
  }
  return DataType::kUndefined;
}

bool implements(const definitions::KernelRow& row, const definitions::OperatorDefinition& op,
                std::string_view qualified_name) {
  // A replacement serves the operator as models have it, not the converter's forms of it.
  if (row.replaces && op.domain == definitions::kInternalDomain) return false;
  return row.id.op == qualified_name &&
         (op.kernel_revision == 0 || op.kernel_revision == row.id.revision);
}

bool accepts(const definitions::KernelRow& row, const std::vector<DataType>& types) {
  for (size_t i = 0; i < row.id.types.size(); ++i) {
    const DataType type = i < types.size() ? types[i] : DataType::kUndefined;
    if (i >= types.size() ? row.id.types[i] != KernelType{} : !row.id.types[i].accepts(type)) {
      return false;
    }
  }
  return true;
}

bool serves_layout(const definitions::KernelRow& row, const Node& node) {
  if (row.layout == KernelLayout::kAny) return true;
  const bool last = node.op->facts.axes.channels_last.flag(node.attribute_bytes.data());
  return (row.layout == KernelLayout::kChannelsLast) == last;
}

std::string types_text(const Node& node, const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", node.op->kernel_types[i], names[i]);
  }
  return text;
}

std::string kernel_type_name(KernelType type) {
  if (type.code >= static_cast<uint8_t>(ElementWidth::k8)) {
    return fmt::format("any type of {} bits",
                       8 << (type.code - static_cast<uint8_t>(ElementWidth::k8)));
  }
  return std::string(data_type_name(static_cast<DataType>(type.code)));
}

/// The largest factor by which the kernel's packing makes a constant input longer; 1 without one.
double packing_growth(const definitions::KernelRow& row, const KernelContext& context) {
  double growth = 1;
  for (int input = 0; row.pack != nullptr && input < context.input_count(); ++input) {
    const TensorView& weight = context.input(input);
    const int64_t bytes = weight.present() ? weight.bytes() : 0;
    if (weight.data == nullptr || bytes == 0) continue;
    const int64_t packed = row.packed_bytes(context, input);
    growth = std::max(growth, static_cast<double>(packed) / static_cast<double>(bytes));
  }
  return growth;
}

/// What the program puts in the place of other kernels comes before them, and is no yardstick.
int rank(const definitions::KernelRow& row) {
  return row.replaces ? -1 : row.cost;
}

bool refuses(const definitions::KernelRow& row, const Node& node, OperandViews& views) {
  if (row.kernel->check == nullptr || !node.graphs.empty()) return false;
  const int64_t bytes = row.workspace != nullptr ? row.workspace(views.context()) : 0;
  return !checked(views, row, bytes).ok();
}

/// `context` shows the node; `supported(row)`: whether it may be chosen.
template <class Supported>
const definitions::KernelRow* select(const Node& node, const KernelContext& context,
                                     const definitions::KernelRows& rows,
                                     const KernelChoice& choice, const Supported& supported) {
  const std::string name = node.op->kernel_name();
  const std::vector<DataType> types = kernel_types(node);
  const definitions::KernelRow* best = nullptr;
  for (const definitions::KernelRow& row : rows) {
    if (!implements(row, *node.op, name) || row.device != choice.device) continue;
    if (!row.targets.has(choice.target) || !serves_layout(row, node)) continue;
    const bool better =
        best == nullptr || (choice.preference == Preference::kReference ? rank(row) > rank(*best)
                                                                        : rank(row) < rank(*best));
    if (!better || !accepts(row, types)) continue;
    if (!supported(row)) continue;
    if (packing_growth(row, context) > choice.plan_growth) continue;
    best = &row;
  }
  // A node goes where the kernel is that the program asked for.
  if (best != nullptr && node.op->has_replacement && !best->replaces &&
      choice.device != KernelDevice::kHost) {
    const definitions::KernelRow* host = select(node, context, rows, {}, supported);
    if (host != nullptr && host->replaces) return nullptr;
  }
  return best;
}

}  // namespace

std::vector<DataType> kernel_types(const Node& node) {
  std::vector<DataType> types;
  for (std::string_view variable : node.op->kernel_types) {
    DataType type = type_of(node.inputs, node.op->inputs, variable);
    if (type == DataType::kUndefined) type = type_of(node.outputs, node.op->outputs, variable);
    types.push_back(type);
  }
  return types;
}

Status checked(OperandViews& views, const definitions::KernelRow& kernel, int64_t workspace_bytes) {
  KernelContext context = views.context();
  const std::span<const TensorView> shown(
      context.operands_, static_cast<size_t>(context.input_count_ + context.output_count_));
  std::vector<TensorView> operands(shown.begin(), shown.end());
  for (TensorView& operand : operands) operand.data = nullptr;
  context.operands_ = operands.data();
  context.workspace_bytes_ = static_cast<size_t>(workspace_bytes);
  context.state_bytes_ = static_cast<size_t>(kernel.state(context));
  return kernel.kernel->check(context);
}

const definitions::KernelRow* select_kernel(const Node& node, const KernelContext& context,
                                            const definitions::KernelRows& rows,
                                            const KernelChoice& choice) {
  return select(node, context, rows, choice, [&](const definitions::KernelRow& row) {
    return row.supports == nullptr || row.supports(context);
  });
}

const definitions::KernelRow* select_kernel(const Node& node, NodeExtents& extents,
                                            const definitions::KernelRows& rows,
                                            const KernelChoice& choice) {
  const KernelContext& planned = extents.planned().context();
  const definitions::KernelRow* reference = nullptr;
  return select(node, planned, rows, choice, [&](const definitions::KernelRow& row) {
    if (row.supports != nullptr && !row.supports(planned)) return false;
    if (extents.others().empty()) return true;
    if (reference == nullptr) {
      reference = select_kernel(node, planned, rows, {.preference = Preference::kReference});
    }
    if (&row == reference || reference == nullptr) return true;
    // What the reference refuses as well is wrong in the model.
    return std::none_of(extents.others().begin(), extents.others().end(), [&](OperandViews& views) {
      return refuses(row, node, views) && !refuses(*reference, node, views);
    });
  });
}

bool has_kernel(const Node& node, const definitions::KernelRows& rows, KernelDevice device) {
  const std::string name = node.op->kernel_name();
  return std::any_of(rows.begin(), rows.end(), [&](const definitions::KernelRow& row) {
    return row.device == device && implements(row, *node.op, name);
  });
}

Problem no_kernel(const Node& node, const definitions::KernelRows& rows, KernelDevice device) {
  const std::string name = node.op->kernel_name();
  std::set<std::string> available;  // on this device
  std::set<std::string> elsewhere;
  bool by_form = false;
  for (const definitions::KernelRow& row : rows) {
    if (!implements(row, *node.op, name)) continue;
    std::vector<std::string> names;
    for (size_t i = 0; i < node.op->kernel_types.size() && i < row.id.types.size(); ++i) {
      names.push_back(kernel_type_name(row.id.types[i]));
    }
    const bool here = row.device == device;
    by_form = by_form || (here && accepts(row, kernel_types(node)));
    (here ? available : elsewhere).insert(types_text(node, names));
  }
  const auto on = [&](bool here) {
    return (device == KernelDevice::kCuda) == here ? " on CUDA" : " on the CPU";
  };
  const std::string here = elsewhere.empty() ? "" : on(true);
  std::vector<std::string> listed;
  for (const std::string& types : available) listed.push_back(types + here);
  for (const std::string& types : elsewhere) listed.push_back(types + on(false));
  std::vector<std::string> wanted;
  for (DataType type : kernel_types(node)) wanted.emplace_back(data_type_name(type));
  std::string hint = listed.empty()
                         ? "this operator has no kernel yet"
                         : fmt::format("there are kernels for {}", fmt::join(listed, "; "));
  const char* what = by_form ? " with these attributes and extents" : "";
  return node.problem(fmt::format("no kernel for {}{}{}", types_text(node, wanted), here, what),
                      std::move(hint));
}

namespace {

/// No product of extents may leave what kernels count with, an extent of 0 among them or not: the
/// verifier asks the same of plans.
std::vector<int64_t> countable(const Value& value, std::vector<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents) {
    if (extent > 0 && count > kMaxElements / extent) {
      const std::string text = fmt::format(
          "tensor '{}' has the type {} and the extents {}, whose product is more than 2^42",
          value.name, data_type_name(type_of(value)), extents_text(extents));
      const std::string hint = "look at the node's attributes, and at --dim and --shape";
      if (value.producer == nullptr) throw Error(text, hint);
      throw Error(value.producer->problem(text, hint));
    }
    if (extent > 0) count *= extent;
  }
  return extents;
}

}  // namespace

std::vector<int64_t> planned_extents(const Value& value) {
  if (value.constant) return countable(value, value.constant->extents);
  if (!value.shape) throw Error(fmt::format("the extents of '{}' are not known", value.name));
  std::vector<int64_t> extents;
  for (int axis = 0; axis < value.shape->rank; ++axis) {
    const definitions::Dim& extent = (*value.shape)[axis];
    const int64_t upper = extent.upper();
    if (upper > INT32_MAX) {
      throw UnboundedError(
          Problem{value.name, "",
                  fmt::format("extent {} of axis {} has no bound", extent.to_string(), axis),
                  fmt::format("declare it with --bound {}=EXTENTS", value.name)});
    }
    extents.push_back(upper < 0 ? 0 : upper);
  }
  return countable(value, std::move(extents));
}

namespace {

template <class ExtentsOf>
void show(const Node& node, OperandViews& views, ExtentsOf extents_of) {
  int operand = 0;
  const auto add = [&](const Value* value, bool is_output) {
    if (value == nullptr) {
      views.add_absent(is_output);
    } else {
      const void* data = value->constant ? value->constant->data.get() : nullptr;
      views.add(is_output, value->type, extents_of(*value, operand), data);
    }
    ++operand;
  };
  for (const Value* input : node.inputs) add(input, false);
  for (const Value* output : node.outputs) add(output, true);
  views.set_attributes(node.attribute_bytes);
}

/// One extent after the other, in the numbers that kernels count with.
template <class ExtentOf>
void show_each(const Node& node, OperandViews& views, ExtentOf extent_of) {
  show(node, views, [&](const Value& value, int operand) {
    std::vector<int64_t> extents;
    const Shape<definitions::Dim> shape = shape_of(value);
    for (int axis = 0; axis < shape.rank; ++axis) {
      const int64_t extent = extent_of(shape[axis], operand, axis);
      extents.push_back(std::clamp<int64_t>(extent, 0, INT32_MAX));
    }
    return extents;
  });
}

}  // namespace

void show_planned(const Node& node, OperandViews& views) {
  show(node, views, [](const Value& value, int) { return planned_extents(value); });
}

void show_smallest(const Node& node, OperandViews& views) {
  show_each(node, views, [](const definitions::Dim& extent, int, int) { return extent.lower(); });
}

void show_assigned(const Node& node, const Assignment& assignment, OperandViews& planned,
                   OperandViews& views) {
  show_each(node, views, [&](const definitions::Dim& extent, int operand, int axis) {
    const definitions::Dim value = extent.substitute(
        [&](const definitions::DimVariable& variable) -> std::optional<definitions::Dim> {
          return assignment.at(variable);
        });
    return std::min<int64_t>(value.constant(),
                             planned.view(operand).dims()[static_cast<size_t>(axis)]);
  });
}

}  // namespace intarsia::converter
