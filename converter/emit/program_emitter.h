// SPDX-License-Identifier: Apache-2.0
//
// Emits the C++ side of a converted model: a typed header that programs include, and one source
// that embeds the plan and names exactly the kernels that it requires.
//
// The source embeds the plan with the assembler's .incbin, in a read-only section of its own that
// is aligned as plans must be: nothing is parsed by the compiler, and the linker drops it if
// unused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "converter/emit/plan_writer.h"
#include "intarsia/types.h"

namespace intarsia::converter {

struct ProgramDescription {
  /// A port of the plan: an input or output of an entry point, or a state.
  struct Port {
    std::string name;
    DataType type = DataType::kUndefined;
    std::vector<int64_t> extents;      ///< Planned maxima.
    std::vector<std::string> symbols;  ///< Per axis; "" where the extent is fixed. May be empty.
  };
  struct Entry {
    std::string name;
    std::vector<Port> inputs, outputs;
  };
  std::string model_name;      ///< For comments: the model's file name.
  std::string namespace_name;  ///< "vad" or "app::vad"; see `namespace_of`.
  std::string header_name;     ///< As the source includes it, "vad.h".
  std::string plan_path;  ///< As .incbin opens it: absolute, or relative to the compiler's folder.
  uint64_t arena_bytes = 0;
  uint64_t plan_bytes = 0;
  int threads = 1;  ///< Largest number of threads that workspace is planned for.
  /// Where there are several, each has a namespace of its own.
  std::vector<Entry> entries;
  std::vector<Port> states;
  /// The plan is for a CUDA device: the program opens an intarsia::cuda::Session.
  bool cuda = false;
  uint64_t device_arena_bytes = 0;
  uint64_t device_weights_bytes = 0;
  std::vector<Requirement> kernels, shapes;
  /// Extents vary at run time: kernels keep their checks, and shape functions are linked.
  bool varying = false;
  /// The plan has tensors of strings: what sessions do for them is linked.
  bool strings = false;
};

struct ProgramText {
  std::string header;
  std::string source;
};

/// Throws Error if `namespace_name` is not a usable C++ namespace.
ProgramText emit_program(const ProgramDescription& description);

/// A C++ identifier for any name: characters that C++ does not allow become '_', reserved words and
/// names that the emitted code uses itself get a '_' at the end, leading digits "tensor_" in front.
std::string identifier_of(std::string_view name);

/// The identifiers of several names in one scope, made unique by "_2", "_3", ... at the end.
std::vector<std::string> unique_identifiers(const std::vector<std::string>& names);

}  // namespace intarsia::converter
