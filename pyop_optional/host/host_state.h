// SPDX-License-Identifier: Apache-2.0
//
// What lies behind a PyHost: the operators of the sessions that use it.
//
// Everything here is touched only while the GIL is held, which therefore guards it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/kernel_descriptor.h"
#include "intarsia/pyop.h"
#include "pyop_optional/host/instance.h"

namespace intarsia {

namespace pyop {
/// PyHostCalls::create (kernel.cpp).
Status create_callee(const KernelContext& context, const internal::PythonCallee& callee);
}  // namespace pyop

struct PyHost::State : internal::PyHostCalls {
  /// One node of one session: the address of its state in the arena, which no other node has
  /// (core/runtime/verify_nodes.cpp).
  using Key = const void*;
  struct Operator {
    std::unique_ptr<pyop::Instance> instance;
    bool extents_vary = true;  ///< Else those of the outputs are known before every run.
    /// What the operator has told of its outputs for inputs of these extents, if it tells anything.
    bool tells = true;
    std::vector<pyop::TensorDescription> told;
    std::vector<int32_t> told_for;
    std::string failure;  ///< The text of its last failing run.
  };

  /// Adds the directories to the search path. Throws pyop::Failure.
  explicit State(const PyHostOptions& options);
  /// To be called when the PyHost or an operator goes. With the last of them it takes the
  /// directories out again and lets go of all that is Python's. The object itself stays for ever: a
  /// session that is open may ask it for a new operator (Session::reset_states).
  void end_if_unused();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// The state behind a service; null where there is none.
  static State* of(void* service) {
    return static_cast<State*>(static_cast<internal::PyHostCalls*>(service));
  }

  /// Keeps what an operator raised, if the failure has it, for `take_exception`.
  void keep(const pyop::Failure& failure);
  /// True if what is kept for this thread is none of an operator's errors: KeyboardInterrupt,
  /// SystemExit. Nothing more of Python is to be run then.
  bool is_interrupted() const;

  pyop::Tools tools;
  /// NodeAttributes::function of what may be called; nothing: everything.
  std::optional<std::set<std::string>> allowed;
  std::map<Key, Operator> operators;
  /// The texts of failing calls of `open`, by thread: no node is left that could keep them.
  std::map<std::thread::id, std::string> open_failures;
  /// What operators raised in failing calls, by thread, if somebody asks for it.
  std::map<std::thread::id, pyop::Ref> exceptions;
  std::vector<std::string> added_paths;
  bool uses_working_directory = false;
  /// The PyHost is gone: no operator is made any more.
  bool closed = false;
};

/// PyOp as the converter and programs find it (kernel.cpp).
extern const KernelList pyop_kernels;

}  // namespace intarsia
