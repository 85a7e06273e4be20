// SPDX-License-Identifier: Apache-2.0
//
// A plan as the command-line tool has it: from a .plan file, or from an ONNX model converted on the
// spot. Reading one needs neither its kernels nor its device; a Program opens it as well, with all
// kernels of the CPU and an arena of the tool's; a plan for a device, with what the command has for
// it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/graph/aligned_bytes.h"
#include "converter/graph/describe_text.h"
#include "converter/onnx/file.h"
#include "converter/tool/open_plan.h"
#include "intarsia/thread_team.h"

namespace intarsia::tool {

using converter::AlignedBytes;
using converter::describe_text;
using Values = std::map<std::string, converter::Constant>;

/// Every kernel and shape function that comes with Intarsia.
inline KernelSet all_kernels() {
  return converter::builtin_library().kernels();
}

/// The bytes of a plan, verified.
class LoadedPlan {
 public:
  /// Symbolic dimensions of an ONNX model take the extents of `inputs` unless the options say
  /// otherwise. Throws converter::Error.
  LoadedPlan(const std::filesystem::path& path, const Values& inputs,
             const converter::ConvertOptions& conversion);

  std::span<const std::byte> bytes() const { return bytes_; }
  const PlanInfo& info() const { return info_; }
  /// Conversion's warnings; empty for a .plan file.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::shared_ptr<const converter::MappedFile> file_;
  std::unique_ptr<AlignedBytes> converted_;
  std::span<const std::byte> bytes_;
  PlanInfo info_;
  std::vector<std::string> warnings_;
};

class Program {
 public:
  struct Options {
    converter::ConvertOptions conversion;
    const Observer* observer = nullptr;
    bool force_isa = false;
    Isa isa = Isa::kPortable;
    /// For plans with nodes on a device; without it they are refused, and with an observer.
    OpenOnDevice open_on_device = nullptr;
  };

  /// Opens `path`, which is loaded as LoadedPlan does. Throws converter::Error.
  Program(const std::filesystem::path& path, const Values& inputs, const Options& options);
  ~Program();

  OpenPlan& session() { return *session_; }
  std::span<const std::byte> plan() const { return plan_.bytes(); }
  const std::vector<std::string>& warnings() const { return plan_.warnings(); }
  const PlanInfo& info() const { return plan_.info(); }
  size_t arena_bytes() const { return plan_.info().arena_bytes; }
  /// True if nodes run on a device; they have no observer.
  bool uses_device() const { return plan_.info().device_arena_bytes != 0; }

  /// The entry points that have to run for `entry`, one after another; itself is the last.
  std::vector<int> runs_for(int entry) const;
  /// Those of the values whose names are inputs of the entry point.
  Values inputs_among(const Values& values, int entry) const;
  /// Throws if a value is no input of these entry points.
  void require_inputs(const Values& values, const std::vector<int>& entries) const;
  /// Copies values into the entry point's inputs of these names. Throws for a name, type or extents
  /// that do not fit. Of an entry point that continues another: after the other's run.
  void set_inputs(const Values& values, int entry = 0);
  /// `given`, and for every other input the value that the plan is made for, or seeded random ones
  /// of the planned extents.
  Values completed(const Values& given, int entry = 0) const;
  /// True if the plan is made for the value of an input.
  bool checks_values() const;
  /// Index of the entry point of that name, 0 for an empty name. Throws, naming those there are.
  int find_entry(const std::string& name) const;
  /// Runs the entry point; throws with the diagnostic's text.
  void run(int entry = 0);
  std::vector<std::pair<std::string, converter::Constant>> outputs(int entry = 0) const;
  /// The text of the session's diagnostic.
  std::string failure() const;

 private:
  LoadedPlan plan_;
  std::unique_ptr<AlignedBytes> arena_;
  std::unique_ptr<ThreadTeam> team_;
  std::unique_ptr<OpenPlan> session_;
};

/// What a StringRef refers to.
using ReadString = std::function<std::string_view(StringRef)>;
/// A tensor's elements as a constant of its own.
converter::Constant constant_of(const TensorView& tensor, const ReadString& read);
/// Of an operand of a node that has run.
converter::Constant constant_of(const TensorView& tensor, const KernelContext& context);

}  // namespace intarsia::tool
