// SPDX-License-Identifier: Apache-2.0
//
// An open plan as the tool has it, on whatever device: the functions that all sessions share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "intarsia/session.h"

namespace intarsia::tool {

/// As `intarsia::Session`, whose functions these are.
class OpenPlan {
 public:
  virtual ~OpenPlan() = default;

  virtual int entry_count() const = 0;
  virtual int input_count(int entry = 0) const = 0;
  virtual int output_count(int entry = 0) const = 0;
  virtual Result<int> find_entry(std::string_view name) const = 0;
  virtual Result<int> find_input(std::string_view name, int entry = 0) const = 0;
  virtual Result<Port> input_port(int index, int entry = 0) const = 0;
  virtual Result<Port> output_port(int index, int entry = 0) const = 0;
  virtual Result<StringRef> add_string(std::string_view text, int entry = 0) = 0;
  virtual std::string_view string(StringRef element) const = 0;
  virtual Status resize_input(int index, std::span<const int32_t> extents, int entry = 0) = 0;
  virtual Status bind_input(int index, const void* buffer, size_t bytes, int entry = 0) = 0;
  virtual Status bind_output(int index, void* buffer, size_t bytes, int entry = 0) = 0;
  virtual Status run(int entry = 0) = 0;
  virtual const Diagnostic& diagnostic() const = 0;

  /// Graphs on a device; 0 for plans of the CPU.
  virtual int graph_count() const { return 0; }
  /// Launches the graphs of an entry point `times` times without copies or nodes of the host, and
  /// waits: what the device's part of a run takes. They compute on what is in memory, so that
  /// outputs are undefined until the next run.
  virtual Status launch_graphs(int /*entry*/, int /*times*/) { return {}; }
};

template <class S>
class OpenPlanOf : public OpenPlan {
 public:
  explicit OpenPlanOf(S&& session) : session_(std::move(session)) {}

  int entry_count() const override { return session_.entry_count(); }
  int input_count(int entry) const override { return session_.input_count(entry); }
  int output_count(int entry) const override { return session_.output_count(entry); }
  Result<int> find_entry(std::string_view name) const override { return session_.find_entry(name); }
  Result<int> find_input(std::string_view name, int entry) const override {
    return session_.find_input(name, entry);
  }
  Result<Port> input_port(int index, int entry) const override {
    return session_.input_port(index, entry);
  }
  Result<Port> output_port(int index, int entry) const override {
    return session_.output_port(index, entry);
  }
  Result<StringRef> add_string(std::string_view text, int entry) override {
    return session_.add_string(text, entry);
  }
  std::string_view string(StringRef element) const override { return session_.string(element); }
  Status resize_input(int index, std::span<const int32_t> extents, int entry) override {
    return session_.resize_input(index, extents, entry);
  }
  Status bind_input(int index, const void* buffer, size_t bytes, int entry) override {
    return session_.bind_input(index, buffer, bytes, entry);
  }
  Status bind_output(int index, void* buffer, size_t bytes, int entry) override {
    return session_.bind_output(index, buffer, bytes, entry);
  }
  Status run(int entry) override { return session_.run(entry); }
  const Diagnostic& diagnostic() const override { return session_.diagnostic(); }

 protected:
  S session_;
};

/// Opens a plan that has nodes on a device, in memory that the result owns; the arena is the
/// host's. Null if the session refuses it, which `diagnostic` explains. Throws converter::Error if
/// there is no device, or no memory on it.
using OpenOnDevice = std::unique_ptr<OpenPlan> (*)(std::span<const std::byte> plan,
                                                   std::span<std::byte> arena, KernelSet kernels,
                                                   const SessionOptions& options,
                                                   Diagnostic& diagnostic);

/// That of the command: null in builds without CUDA.
OpenOnDevice open_on_device();

}  // namespace intarsia::tool
