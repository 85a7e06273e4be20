// SPDX-License-Identifier: Apache-2.0
//
// What holds of the `check` of every kernel, on every device: whatever it is given, it neither
// crashes nor hangs, and it refuses operands that the operator's definition forbids.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "test/kernels/common/hostile_node.h"

namespace intarsia::test {

inline constexpr int64_t kSmallBytes = 1 << 15;  // of the operands of a node that is run

/// Says what was going on if a call does not end, and ends the program.
class Watch {
 public:
  static constexpr int kSeconds = 20;
  Watch(const std::string& kernel, const std::string& node) {
    std::snprintf(text_, sizeof(text_), "\nno end of %s: %s\n", kernel.c_str(), node.c_str());
    std::signal(SIGALRM, [](int) {
      (void)!write(STDERR_FILENO, text_, std::strlen(text_));
      _exit(1);
    });
    alarm(kSeconds);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { alarm(0); }

 private:
  static inline char text_[2000];
};

/// Calls everything that the converter and `open` call; false if the node is refused.
inline bool is_accepted(const KernelDescriptor& row, NodeMaker& maker, HostileNode& node) {
  if (maker.valid()) {
    // What the converter asks of nodes that have passed shape inference.
    HostileContext planned(node, node.views(true));
    // Constants have data, which `supports` may read; so packed kernels are asked for their sizes.
    static uint64_t zeros[kSmallBytes / 8];
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      TensorView& view = planned.view(i);
      if (view.present() && view.data == nullptr && view.bytes() <= kSmallBytes) {
        view.data = zeros;
      }
    }
    if (row.supports == nullptr || row.supports(planned.context)) {
      if (row.workspace != nullptr) node.workspace_bytes = row.workspace(planned.context);
      for (int i = 0; row.packed_bytes != nullptr && i < planned.context.input_count(); ++i) {
        EXPECT_GE(row.packed_bytes(planned.context, i), 0) << node.describe();
      }
    }
  }
  EXPECT_GE(node.workspace_bytes, 0) << kernel_text(row.id) << ": " << node.describe();
  HostileContext hostile(node, node.views(false));
  return row.kernel->check(hostile.context).ok();
}

/// Calls body(row, maker) for each kernel that a plan can hold by itself: control flow needs its
/// sub-graphs.
template <class Body>
void for_kernels(KernelList rows, uint64_t seed, const Body& body) {
  for (const KernelDescriptor& row : rows) {
    NodeMaker maker(row, seed);
    ASSERT_FALSE(maker.known().empty()) << kernel_text(row.id);
    ASSERT_NE(row.kernel->check, nullptr) << kernel_text(row.id) << " lets every operand pass";
    body(row, maker);
  }
}

/// Gives every kernel operands that its operator's definition forbids: too few, too many, absent,
/// or of another type. Fails the test where a `check` lets them pass.
struct Violations {
  int removed = 0, added = 0, retyped = 0;
};
inline Violations try_violations(KernelList rows, size_t nodes) {
  Violations tried;
  for_kernels(rows, 2, [&](const KernelDescriptor& row, NodeMaker& maker) {
    int left = 8;  // valid nodes of this kernel
    for (size_t i = 0; i < nodes && left > 0; ++i) {
      HostileNode valid = maker.next();
      const Watch watch(kernel_text(row.id), valid.describe());
      if (!is_accepted(row, maker, valid)) continue;
      --left;
      const OperatorDefinition& definition = maker.definition();
      const auto refused = [&](HostileNode& node, const std::string& what) {
        HostileContext hostile(node, node.views(false));
        EXPECT_FALSE(row.kernel->check(hostile.context).ok())
            << kernel_text(row.id) << ", " << what << ": " << node.describe();
      };
      for (const bool input : {true, false}) {
        const auto& formal = input ? definition.inputs : definition.outputs;
        const std::string side = input ? "input " : "output ";
        auto& operands = input ? valid.inputs : valid.outputs;
        // Too few.
        for (size_t k = 0; k < operands.size(); ++k) {
          const Parameter* parameter = definitions::formal(formal, k);
          const bool variadic = parameter->kind == Parameter::kVariadic;
          if (parameter->kind == Parameter::kOptional || (variadic && parameter->may_lack))
            continue;
          HostileNode node = valid;
          (input ? node.inputs : node.outputs)[k] = {};
          refused(node, side + std::to_string(k) + " absent");
          node = valid;
          (input ? node.inputs : node.outputs).resize(k);
          const size_t least = formal.size() - 1 + static_cast<size_t>(parameter->minimum);
          if (!variadic || k < least) refused(node, "only " + std::to_string(k) + " of " + side);
          ++tried.removed;
        }
        // Too many, for all operators that the kernel serves.
        size_t most = 0;
        for (const OperatorDefinition* each : maker.known()) {
          const auto& other = input ? each->inputs : each->outputs;
          const bool any = definitions::formal(other, other.size()) != nullptr;
          most = any ? SIZE_MAX : std::max(most, other.size());
          if (any) break;
        }
        if (most != SIZE_MAX) {
          HostileNode node = valid;
          auto& list = input ? node.inputs : node.outputs;
          list.resize(most);
          list.push_back(valid.inputs.empty() ? HostileNode::Operand{} : valid.inputs[0]);
          if (list.back().type == DataType::kUndefined) list.back().type = DataType::kFloat;
          refused(node, "one " + side + "more");
          ++tried.added;
        }
        // Of another type.
        for (size_t k = 0; k < operands.size(); ++k) {
          const auto type =
              maker.foreign_type(definitions::formal(formal, k)->type, operands[k].type);
          if (operands[k].type == DataType::kUndefined) continue;
          HostileNode node = valid;
          (input ? node.inputs : node.outputs)[k].type = type;
          refused(node,
                  side + std::to_string(k) + " of type " + std::to_string(static_cast<int>(type)));
          ++tried.retyped;
        }
      }
    }
  });
  std::printf("%d operands removed, %d added, %d of another type\n", tried.removed, tried.added,
              tried.retyped);
  return tried;
}

}  // namespace intarsia::test
