// SPDX-License-Identifier: Apache-2.0
//
// A plan with inputs and outputs bound to buffers apart from the arena, in the layout that the
// model states, as a program has it whose data is in ONNX's layout.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "converter/tool/options.h"
#include "converter/tool/program.h"

namespace intarsia::tool {

class BoundPlan {
 public:
  /// Throws converter::Error, as `run` does.
  BoundPlan(Program& program, const Values& inputs)
      : session_(program.session()), program_(program) {
    // Buffers hold the planned maxima, which are the extents until they are set.
    for (int i = 0; i < session_.input_count(); ++i) add_buffer(session_.input_port(i).value());
    for (int i = 0; i < session_.output_count(); ++i) add_buffer(session_.output_port(i).value());
    program.set_inputs(inputs);  // checks names, types and extents, and sets the extents
    auto buffer = buffers_.begin();
    for (int i = 0; i < session_.input_count(); ++i, ++buffer) {
      const std::span<std::byte> bytes = (*buffer)->span();
      const converter::Constant& value = inputs.at(std::string(session_.input_port(i)->name));
      if (value.size != 0) std::memcpy(bytes.data(), value.data.get(), value.size);
      expect(session_.bind_input(i, bytes.data(), bytes.size()));
    }
    for (int i = 0; i < session_.output_count(); ++i, ++buffer) {
      const std::span<std::byte> bytes = (*buffer)->span();
      expect(session_.bind_output(i, bytes.data(), bytes.size()));
    }
  }

  OpenPlan& session() { return session_; }
  std::span<const std::byte> plan() const { return program_.plan(); }
  void run() { expect(session_.run()); }
  void expect(const Status& status) {
    if (!status) throw converter::Error(program_.failure());
  }

 private:
  void add_buffer(const Port& port) {
    buffers_.push_back(std::make_unique<AlignedBytes>(static_cast<size_t>(port.tensor.bytes())));
  }

  OpenPlan& session_;
  Program& program_;
  std::vector<std::unique_ptr<AlignedBytes>> buffers_;
};

}  // namespace intarsia::tool
