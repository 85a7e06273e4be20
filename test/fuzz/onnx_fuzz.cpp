// SPDX-License-Identifier: Apache-2.0
//
// ONNX models from outside: bytes -> import, every pass -> plan -> open and run. What the converter
// emits must open: it comes from the same hands as the verifier.
#include <cstring>

#include "converter/tool/program.h"
#include "test/fuzz/model_options.h"
#include "test/fuzz/plan_run.h"

using namespace intarsia;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = std::as_bytes(std::span(data, size));
  converter::ConvertOptions options;
  try {
    options = fuzz::options_for(model);
  } catch (const converter::Error&) {
    return 0;
  }
  const auto result = converter::convert_bytes(model, options);
  if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
    const std::string text = failure->text();
    fuzz::require(!text.empty(), "a failure has a text");
    // Exceptions that no pass expects: std::out_of_range and the like.
    fuzz::require(!text.starts_with("internal error"), text.c_str());
    return 0;
  }
  const auto& bytes = std::get<converter::Conversion>(result).plan.bytes;
  tool::AlignedBytes plan(bytes.size());
  std::memcpy(plan.span().data(), bytes.data(), bytes.size());
  fuzz::require(fuzz::open_and_run(plan.span(), {data, size}) != fuzz::Outcome::kRefused,
                "a plan of this converter opens");
  return 0;
}
