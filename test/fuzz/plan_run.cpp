// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/plan_run.h"

#include <cstring>
#include <vector>

#include "converter/tool/program.h"
#include "intarsia/cuda.h"
#include "intarsia/describe.h"
#include "intarsia/sequence.h"
#include "kernels_cuda/kernels.h"
#include "test/cuda/device_bytes.h"
#include "test/cuda/emulation/emulation.h"
#include "test/fuzz/operators.h"

namespace intarsia::fuzz {
namespace {

/// Nodes of loops in a run: a hostile plan's may go on as long as they are let.
constexpr int64_t kMostSteps = 300;

/// Values near what kernels branch on: small numbers, negative ones, and any byte now and then.
void fill(const TensorView& tensor, Bytes& values) {
  const int64_t bytes = tensor.bytes();
  auto* data = tensor.as<uint8_t>();
  const int width = element_bits(tensor.type) / 8;
  for (int64_t i = 0; i < bytes; ++i) data[i] = 0;
  if (width == 0) return;
  for (int64_t i = 0; i < bytes / width && !values.empty(); ++i) {
    const uint8_t value = values.next();
    uint8_t* element = data + i * width;
    const bool real = tensor.type == DataType::kFloat;
    if (value >= 0xf0) {
      for (int b = 0; b < width; ++b) element[b] = values.next();
    } else if (real) {
      const float number = (static_cast<float>(value) - 112) / 16;
      std::memcpy(element, &number, sizeof(number));
    } else if (tensor.type == DataType::kBool) {
      element[0] = value & 1;
    } else {
      // Little endian, sign extended.
      element[0] = value;
      for (int b = 1; b < width; ++b) element[b] = value >= 0x80 ? 0xff : 0;
    }
  }
}

/// Writes elements of types and extents that operators take, as many as fit, and gives the bytes
/// that they occupy: arbitrary bytes are hardly ever a sequence.
int32_t fill_sequence(const TensorView& tensor, Bytes& values) {
  static constexpr DataType kTypes[] = {DataType::kFloat,   DataType::kFloat, DataType::kFloat,
                                        DataType::kInt64,   DataType::kBool,  DataType::kUint8,
                                        DataType::kDouble,  DataType::kUint4, DataType::kString,
                                        DataType::kOptional};
  SequenceWriter writer({tensor.as<std::byte>(), static_cast<size_t>(tensor.count())});
  const bool map = tensor.type == DataType::kMap;
  const int32_t entries = values.next() % 4;
  for (int count = map ? 2 : values.next() % 8; count > 0; --count) {
    int32_t extents[3];
    alignas(kSequenceAlignment) std::byte data[27 * 8];
    TensorView element{data, extents, kTypes[values.next() % std::size(kTypes)],
                       static_cast<uint8_t>(values.next() % 4)};
    if (holds_elements(element.type)) element.rank = 1;
    for (int32_t& extent : extents) extent = values.next() % 4;
    if (map && values.next() < 0xe0) {  // keys, then values
      element.rank = 1;
      extents[0] = entries;
      if (count == 2) element.type = values.next() % 2 == 0 ? DataType::kInt64 : DataType::kString;
    }
    fill(element, values);
    if (!writer.append(element)) break;
  }
  return static_cast<int32_t>(writer.bytes());
}

/// Strings of letters, blanks and digits; references that lead anywhere now and then.
template <class S>
void fill_strings(S& session, const TensorView& tensor, int entry, Bytes& values) {
  fill(tensor, values);
  for (int64_t i = 0; i < tensor.count() && !values.empty(); ++i) {
    const uint8_t length = values.next();
    if (length >= 0xf0) continue;
    char text[8];
    for (char& letter : text) letter = static_cast<char>(values.next());
    Result<StringRef> added =
        session.add_string({text, std::min<size_t>(length % 10, sizeof(text))}, entry);
    if (added.ok()) tensor.as<StringRef>()[i] = *added;
  }
}

template <class S>
void set_inputs(S& session, int entry, Bytes& values) {
  for (int i = 0; i < session.input_count(entry); ++i) {
    const TensorView planned = session.input_port(i, entry).value().tensor;
    if (holds_elements(planned.type) && planned.rank == 1 && values.next() < 0xc0) {
      const int32_t bytes = fill_sequence(planned, values);
      (void)session.resize_input(i, {&bytes, 1}, entry);
      continue;
    }
    std::vector<int32_t> extents(planned.extents, planned.extents + planned.rank);
    for (int32_t& extent : extents) {
      const uint8_t change = values.next();
      if (change < 64 && extent > 0) extent -= change % extent;
    }
    // Extents that do not vary, or leave their range, are refused, and stay what they were.
    (void)session.resize_input(i, extents, entry);
    const TensorView input = session.input_port(i, entry).value().tensor;
    if (input.type == DataType::kString) {
      fill_strings(session, input, entry, values);
    } else {
      fill(input, values);
    }
  }
}

void describe_failure(const Diagnostic& diagnostic, std::span<const std::byte> plan) {
  char text[64];
  const size_t length = describe(diagnostic, plan, text, sizeof(text));
  require(length > 0, "a failure has a sentence");
  require(std::memchr(text, 0, sizeof(text)) != nullptr, "the sentence ends with a zero byte");
}

/// Opens by `open`, runs twice, closes.
template <class Open>
Outcome run_twice(std::span<const std::byte> plan, const Open& open, Bytes& values) {
  Diagnostic diagnostic;
  auto session = open(diagnostic);
  if (!session.ok()) {
    require(diagnostic.code == session.status().code(), "a refusal has its diagnostic");
    describe_failure(diagnostic, plan);
    return Outcome::kRefused;
  }
  Outcome outcome = Outcome::kRan;
  for (int run = 0; run < 2; ++run) {
    const int entry = run % session->entry_count();
    set_inputs(*session, entry, values);
    if (Status status = session->run(entry); !status) {
      require(session->diagnostic().code == status.code(), "a failed run has its diagnostic");
      describe_failure(session->diagnostic(), plan);
      outcome = Outcome::kFailed;
    }
    for (int i = 0; i < session->output_count(entry); ++i) {
      const TensorView output = session->output_port(i, entry).value().tensor;
      // Every byte of an output may be read.
      volatile uint8_t sum = 0;
      for (int64_t b = 0; b < output.bytes(); ++b) sum = sum ^ output.as<const uint8_t>()[b];
      if (output.type != DataType::kString) continue;
      for (int64_t s = 0; s < output.count(); ++s) {
        for (const char c : session->string(output.as<const StringRef>()[s])) {
          sum = sum ^ static_cast<uint8_t>(c);
        }
      }
    }
  }
  return outcome;
}

Outcome run_on_device(std::span<const std::byte> plan, const PlanInfo& info,
                      std::span<std::byte> arena, Bytes& values) {
  namespace emulation = cuda::emulation;
  emulation::Emulator::get().reset();
  emulation::Stream stream;
  test::DeviceBytes device_arena(info.device_arena_bytes);
  test::DeviceBytes device_weights(info.device_weights_bytes);
  const cuda::Memory memory{arena, device_arena.span(), device_weights.span()};
  const auto open = [&](Diagnostic& diagnostic) {
    cuda::Options options;
    options.stream = &stream;
    options.host.max_steps = kMostSteps;
    return cuda::Session::open(plan, memory, {library()->kernels(), cuda::all_kernels()}, options,
                               &diagnostic);
  };
  const Outcome outcome = run_twice(plan, open, values);
  const auto& found = emulation::Emulator::get().violations();
  require(found.empty(), found.empty() ? "" : found.front().c_str());
  return outcome;
}

}  // namespace

Outcome open_and_run(std::span<const std::byte> plan, Bytes values) {
  Diagnostic diagnostic;
  const Result<PlanInfo> info = plan_info(plan, &diagnostic);
  if (!info.ok()) {
    require(diagnostic.code == info.status().code(), "a refusal has its diagnostic");
    describe_failure(diagnostic, plan);
    return Outcome::kRefused;
  }
  if (info->arena_bytes > kLargestArena || info->device_arena_bytes > kLargestDeviceArena) {
    return Outcome::kTooLarge;
  }
  tool::AlignedBytes arena(info->arena_bytes);
  const std::vector<std::byte> before(plan.begin(), plan.end());
  // A session with a device opens plans of the CPU, too, and must not run device kernels for them.
  const bool on_device = info->device_arena_bytes != 0 || values.next() >= 0xc0;
  const auto open = [&](Diagnostic& found) {
    SessionOptions options;
    options.max_steps = kMostSteps;
    return Session::open(plan, arena.span(), library()->kernels(), options, &found);
  };
  const Outcome outcome = on_device ? run_on_device(plan, info.value(), arena.span(), values)
                                    : run_twice(plan, open, values);
  require(std::memcmp(before.data(), plan.data(), plan.size()) == 0, "plans are read only");
  return outcome;
}

}  // namespace intarsia::fuzz
