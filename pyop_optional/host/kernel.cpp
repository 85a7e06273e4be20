// SPDX-License-Identifier: Apache-2.0
//
// The kernel of Python operators. Exceptions end here: what leaves is a Status, and the text in the
// diagnostic, which lies with the node's operator.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/kernel_list.h"
#include "pyop_optional/host/buffer.h"
#include "pyop_optional/host/host_state.h"
#include "pyop_optional/host/interpreter.h"
#include "pyop_optional/host/warnings.h"

namespace intarsia {
namespace {

using pyop::dtype_name;
using pyop::extents_text;
using pyop::Failure;
using pyop::NodeAttributes;
using pyop::ResultTensor;

PyHost::State* host_of(const KernelContext& context) {
  return PyHost::State::of(context.service(kPyHostKey));
}

/// Calls `body`; a failure's text is kept in what `text` gives, reported, and logged.
template <class Body, class Text>
Status guarded(const KernelContext& context, const Body& body, const Text& text) {
  Code code = Code::kOperatorFailed;
  const char* what = pyop::kOperator;
  std::string message;
  bool interrupted = false;
  const pyop::Called called(host_of(context)->logger, context.node());
  host_of(context)->exceptions.erase(std::this_thread::get_id());
  try {
    body();
    return {};
  } catch (const Status& status) {
    return status;  // of the session, which has recorded it
  } catch (const Failure& failure) {
    code = failure.code;
    what = failure.what_failed;
    message = failure.text;
    interrupted = failure.interrupted;
    host_of(context)->keep(failure);
  } catch (const std::exception& error) {
    message = error.what();
  }
  std::string& kept = text();
  kept = std::move(message);
  if (!interrupted) called.warn(kept);
  return context.fail(code, what, kept);
}

/// Extents that a run may change lie with the session, not in the plan.
bool varies(const KernelContext& context, int index) {
  const TensorView& output = context.output(index);
  return output.present() && output.rank != 0 &&
         output.extents != context.planned_extents(context.input_count() + index);
}

/// Where the plan knows only how large outputs are at most, the operator tells what they are at the
/// extents of this run. It is asked if they are others than before.
void ask(const KernelContext& context, PyHost::State::Operator& op) {
  bool open = false;
  for (int i = 0; i < context.output_count(); ++i) open |= varies(context, i);
  if (!op.tells || !open) return;
  const NodeAttributes& attributes = op.instance->attributes();
  std::vector<int32_t>& extents = op.told_for;
  bool same = !op.told.empty();
  size_t count = 0;
  for (size_t i = 0; i < attributes.inputs.size(); ++i) {
    for (int32_t extent : context.input(static_cast<int>(i)).dims()) {
      if (count == extents.size()) extents.push_back(-1);
      same &= std::exchange(extents[count++], extent) == extent;
    }
  }
  if (same) return;
  std::vector<pyop::TensorDescription> inputs(attributes.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& input = context.input(static_cast<int>(i));
    if (input.present()) inputs[i] = {input.type, {input.dims().begin(), input.dims().end()}};
  }
  op.told.clear();
  if (attributes.convention == pyop::Convention::kBackward) {
    op.told = std::move(inputs);  // gradients of which they are
  } else if (auto told = op.instance->infer(inputs)) {
    op.told = std::move(*told);
  } else {
    op.tells = false;
  }
}

/// "[4,3]"; of extents that vary also what is known of the one that was refused.
std::string expected_text(const KernelContext& context, bool vary,
                          std::span<const int32_t> planned) {
  if (!vary) return extents_text(planned);
  std::string text = "at most " + extents_text(planned);
  const Diagnostic& refused = *context.host_->diagnostic;
  if (refused.axis < 0 || planned[static_cast<size_t>(refused.axis)] == refused.expected) {
    return text;
  }
  return text + ", and " + std::to_string(refused.expected) + " of axis " +
         std::to_string(refused.axis);
}

/// Writes one result into the arena, if it is what the plan expects.
void store(const KernelContext& context, const PyHost::State::Operator& op, int index,
           const ResultTensor& result) {
  const TensorView& output = context.output(index);
  if (!output.present()) return;
  const int32_t* planned = context.planned_extents(context.input_count() + index);
  const std::span<const int32_t> expected(op.extents_vary ? planned : output.extents, output.rank);
  const std::string name = "output " + std::to_string(index);
  if (result.type() != output.type) {
    throw Failure(
        Code::kWrongType, "element type of a result",
        name + ": expected " + dtype_name(output.type) + ", got " + dtype_name(result.type()));
  }
  const auto require = [&](Status status, const auto& text) {
    if (status.ok()) return;
    throw Failure(status.code(), "shape of a result",
                  name + ": expected " + text() + ", got " + result.extents_text());
  };
  const auto compare = [&](const auto& extents) -> Status {
    if (std::ranges::equal(extents, result.extents())) return {};
    return extents.size() == result.extents().size() ? Code::kWrongExtent : Code::kWrongRank;
  };
  if (!op.told.empty()) {
    const auto& told = op.told[static_cast<size_t>(index)].extents;
    require(compare(told), [&] { return extents_text(std::span(told)) + " for these inputs"; });
  }
  require(
      op.extents_vary ? context.resize_output(index, result.extents()) : compare(expected),
      [&] { return expected_text(context, op.extents_vary && varies(context, index), expected); });
  if (result.type() != DataType::kString) {
    result.copy_to(output.as<std::byte>());
    return;
  }
  auto* element = output.as<StringRef>();
  for (const std::string& text : result.strings()) {
    StringRef made;
    char* at = nullptr;
    if (Status added = context.add_string(text.size(), made, at); !added) throw added;
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    *element++ = made;
  }
}

/// Comes before everything that executes code.
void require_allowed(const PyHost::State& host, const std::string& function) {
  if (!host.allowed || host.allowed->count(function) != 0) return;
  throw Failure(Code::kUnsupported, pyop::kOperator,
                "'" + function +
                    "' is not allowed here; a program allows it by PyHostOptions::operators, the "
                    "command allows everything by --allow-pyop, and by --operators FILE.py only "
                    "what that file defines");
}

/// Makes the node's operator of what `attributes_of()` gives.
template <class Attributes>
Status create_operator(const KernelContext& context, bool extents_vary, bool tells,
                       const Attributes& attributes_of) {
  PyHost::State* host = host_of(context);
  if (host == nullptr || !pyop::interpreter_runs()) {
    return context.fail(Code::kUnsupported, internal::kNoPyHost);
  }
  if (context.state_bytes() < PyOp::state_bytes) {
    return context.fail(Code::kCorruptPlan, "state bytes", PyOp::state_bytes,
                        context.state_bytes());
  }
  const pyop::Gil gil;
  if (host->closed) return context.fail(Code::kUnsupported, internal::kNoPyHost);
  return guarded(
      context,
      [&] {
        NodeAttributes attributes = attributes_of();
        require_allowed(*host, attributes.function());
        PyHost::State::Operator op;
        op.extents_vary = extents_vary;
        op.tells = tells;
        std::vector<bool> wanted(attributes.outputs.size(), false);
        for (size_t i = 0; i < wanted.size(); ++i) {
          wanted[i] = context.output(static_cast<int>(i)).present();
        }
        op.instance =
            std::make_unique<pyop::Instance>(host->tools, std::move(attributes), std::move(wanted));
        host->operators[context.state()] = std::move(op);
      },
      [host]() -> std::string& { return host->open_failures[std::this_thread::get_id()]; });
}

}  // namespace

Status PyOp::check(const KernelContext& context) {
  const auto attributes = NodeAttributes::decode(context.attribute_blob());
  if (!attributes) return context.fail(Code::kCorruptPlan, "attributes of a Python operator");
  const auto agree = [&context](const std::vector<DataType>& declared, int count, bool outputs) {
    if (static_cast<size_t>(count) > declared.size()) {
      return context.fail(Code::kCorruptPlan, "operands of a Python operator",
                          static_cast<int64_t>(declared.size()), count);
    }
    for (int i = 0; i < count; ++i) {
      const TensorView& operand = outputs ? context.output(i) : context.input(i);
      if (!operand.present()) continue;
      const DataType expected = declared[static_cast<size_t>(i)];
      const int place = i + (outputs ? context.input_count() : 0);
      if (expected != DataType::kUndefined && operand.type != expected) {
        return context.fail(Code::kWrongType, "element type of an operand",
                            static_cast<int64_t>(expected), static_cast<int64_t>(operand.type),
                            place);
      }
      if (!pyop::is_for_python(operand.type)) {
        return context.fail(Code::kUnsupported, "element type that Python has no name for", 0,
                            static_cast<int64_t>(operand.type), place);
      }
    }
    return Status();
  };
  if (Status status = agree(attributes->inputs, context.input_count(), false); !status) {
    return status;
  }
  return agree(attributes->outputs, context.output_count(), true);
}

Status PyOp::create(const KernelContext& context) {
  return create_operator(context, true, true, [&context] {
    std::optional<NodeAttributes> attributes = NodeAttributes::decode(context.attribute_blob());
    if (!attributes) {
      throw Failure(Code::kCorruptPlan, "attributes of a Python operator", "are damaged");
    }
    return std::move(*attributes);
  });
}

Status pyop::create_callee(const KernelContext& context, const internal::PythonCallee& callee) {
  return create_operator(context, callee.extents_vary, false,
                         [&] { return NodeAttributes::of(context, callee); });
}

Status PyOp::run(const KernelContext& context) {
  PyHost::State* host = host_of(context);
  if (host == nullptr) return context.fail(Code::kInvalidArgument, "services of the session");
  const pyop::Gil gil;
  const auto found = host->operators.find(context.state());
  if (found == host->operators.end()) return context.fail(Code::kCorruptPlan, "node state");
  PyHost::State::Operator& op = found->second;
  const Status status = guarded(
      context,
      [&] {
        const NodeAttributes& attributes = op.instance->attributes();
        ask(context, op);
        std::vector<TensorView> inputs;
        std::vector<DataType> types;
        for (size_t i = 0; i < attributes.inputs.size(); ++i) {
          inputs.push_back(context.input(static_cast<int>(i)));
        }
        for (size_t i = 0; i < attributes.outputs.size(); ++i) {
          const TensorView& output = context.output(static_cast<int>(i));
          types.push_back(output.present() ? output.type : attributes.outputs[i]);
        }
        const auto characters = [&context](StringRef string) { return context.string(string); };
        op.instance->call(inputs, characters, types, [&](int index, const ResultTensor& result) {
          store(context, op, index, result);
        });
      },
      [&op]() -> std::string& { return op.failure; });
  host->memory_kept |= op.instance->keeps_memory();
  return status;
}

void PyOp::destroy(const KernelContext& context) {
  PyHost::State* host = host_of(context);
  if (host == nullptr || !pyop::interpreter_runs()) return;
  const pyop::Gil gil;
  // Taken out first: what the operator's destructor does may come back here.
  const auto released = host->operators.extract(context.state());
  host->end_if_unused();
}

constinit const KernelList pyop_kernels = kernel_list<PyOp>();

}  // namespace intarsia
