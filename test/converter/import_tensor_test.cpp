// SPDX-License-Identifier: Apache-2.0
//
// Tensors of a model: every encoding, external data, tensor files, and what is malformed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "converter/onnx/tensor_file.h"
#include "test/converter/onnx_builder.h"

namespace intarsia::converter {
namespace {

using ::testing::Test;

Constant import_constant(const OnnxBuilder& builder) {
  const Model model = builder.import();
  return *model.graph->outputs()[0]->constant;
}

TEST(Tensor, TypedFields) {
  const auto tensor = [](DataType type, std::vector<int64_t> extents, auto fill) {
    OnnxBuilder builder;
    fill(builder.initializer("t", type, std::move(extents)));
    builder.output("t");
    return import_constant(builder);
  };
  const auto int32s = [](std::vector<int32_t> values) {
    return [values](onnx::TensorProto& proto) {
      for (int32_t value : values) proto.add_int32_data(value);
    };
  };
  using Ints = std::vector<int64_t>;
  using Reals = std::vector<double>;
  EXPECT_EQ(tensor(DataType::kInt8, {2}, int32s({-128, 127})).integers(), (Ints{-128, 127}));
  EXPECT_EQ(tensor(DataType::kUint8, {2}, int32s({0, 255})).integers(), (Ints{0, 255}));
  EXPECT_EQ(tensor(DataType::kInt16, {1}, int32s({-32768})).integers(), (Ints{-32768}));
  EXPECT_EQ(tensor(DataType::kUint16, {1}, int32s({65535})).integers(), (Ints{65535}));
  EXPECT_EQ(tensor(DataType::kInt32, {1}, int32s({-5})).integers(), (Ints{-5}));
  EXPECT_EQ(tensor(DataType::kBool, {3}, int32s({0, 1, 7})).integers(), (Ints{0, 1, 1}));
  EXPECT_EQ(tensor(DataType::kFloat16, {2}, int32s({0x3c00, 0xc000})).reals(), (Reals{1, -2}));
  EXPECT_EQ(tensor(DataType::kBfloat16, {1}, int32s({0x4040})).reals(), (Reals{3}));
  EXPECT_EQ(tensor(DataType::kInt4, {3}, int32s({0xf7, 0x08})).integers(), (Ints{7, -1, -8}));
  EXPECT_EQ(tensor(DataType::kUint4, {3}, int32s({0xf7, 0x08})).integers(), (Ints{7, 15, 8}));
  EXPECT_EQ(tensor(DataType::kInt2, {5}, int32s({0xe4, 0x01})).integers(), (Ints{0, 1, -2, -1, 1}));
  EXPECT_EQ(tensor(DataType::kFloat8E5M2, {2}, int32s({1, 2})).size, 2U);
  EXPECT_EQ(tensor(DataType::kUint32, {1}, [](auto& proto) { proto.add_uint64_data(4294967295U); })
                .integers(),
            (Ints{4294967295}));
  EXPECT_EQ(tensor(DataType::kUint64, {1}, [](auto& proto) { proto.add_uint64_data(9); }).real(0),
            9);
  EXPECT_EQ(tensor(DataType::kInt64, {1}, [](auto& proto) { proto.add_int64_data(-9); }).integer(0),
            -9);
  EXPECT_EQ(tensor(DataType::kDouble, {1}, [](auto& proto) { proto.add_double_data(0.1); }).real(0),
            0.1);
  EXPECT_EQ(tensor(DataType::kFloat, {0}, [](auto&) {}).count(), 0);
  const Constant complex = tensor(DataType::kComplex64, {1}, [](auto& proto) {
    proto.add_float_data(1);
    proto.add_float_data(2);
  });
  EXPECT_EQ(complex.as<float>()[1], 2);
  const Constant words = tensor(DataType::kString, {2}, [](auto& proto) {
    proto.add_string_data("");
    proto.add_string_data("abc");
  });
  EXPECT_EQ(words.string(0), "");
  EXPECT_EQ(words.string(1), "abc");
}

TEST(Tensor, RawBoolsBecomeZeroOrOne) {
  OnnxBuilder builder;
  builder.initializer("t", DataType::kBool, {3}, "\x00\x02\xff", 3);
  builder.output("t");
  const Constant constant = import_constant(builder);
  EXPECT_EQ(constant.bytes()[1], std::byte{1});
  EXPECT_EQ(constant.bytes()[2], std::byte{1});
}

TEST(Tensor, MalformedTensors) {
  const auto error = [](DataType type, std::vector<int64_t> extents, size_t raw_bytes) {
    OnnxBuilder builder;
    const std::string raw(raw_bytes, 'x');
    builder.initializer("t", type, std::move(extents), raw.data(), raw.size());
    builder.output("t");
    return builder.error();
  };
  EXPECT_CONTAINS(error(DataType::kFloat, {2, 2}, 15), "raw_data has 15 bytes");
  EXPECT_CONTAINS(error(DataType::kFloat, {2, 2}, 15), "needs 16");
  EXPECT_CONTAINS(error(DataType::kFloat, {2, 2}, 0), "float_data holds 0 values");
  EXPECT_CONTAINS(error(DataType::kFloat, {-2}, 8), "negative or too large");
  EXPECT_CONTAINS(error(DataType::kFloat, {1 << 30, 1 << 30, 1 << 30}, 8), "too large");
  EXPECT_CONTAINS(error(DataType::kFloat, {0, 1 << 30, 1 << 30, 1 << 30}, 8), "too large");
  EXPECT_CONTAINS(error(DataType::kFloat, {int64_t{1} << 40}, 8), "too large");
  EXPECT_CONTAINS(error(DataType::kFloat, {1, 1, 1, 1, 1, 1, 1, 1, 1}, 4), "9 axes");
  EXPECT_CONTAINS(error(DataType::kUndefined, {1}, 4), "element type 0");
  EXPECT_CONTAINS(error(static_cast<DataType>(99), {1}, 4), "element type 99");
  OnnxBuilder narrow;
  narrow.initializer("t", DataType::kInt8, {1}).add_int32_data(256);
  narrow.output("t");
  EXPECT_CONTAINS(narrow.error(), "element 0 is 256, which does not fit int8");
}

class ExternalData : public Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("intarsia_external_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "inside");
    std::ofstream(folder_ / "inside/data.bin", std::ios::binary)
        << std::string("....", 4) << std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
    std::ofstream(folder_ / "outside.bin", std::ios::binary) << "01234567";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string import(std::vector<std::pair<std::string, std::string>> entries) {
    OnnxBuilder builder;
    auto& tensor = builder.initializer("t", DataType::kFloat, {2});
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (auto& [key, value] : entries) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    builder.output("t");
    std::ofstream(folder_ / "inside/model.onnx", std::ios::binary) << builder.bytes();
    try {
      const Model model = import_file(folder_ / "inside/model.onnx");
      values_ = model.graph->outputs()[0]->constant->reals();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::filesystem::path folder_;
  std::vector<double> values_;
};

TEST_F(ExternalData, ReadsTheRange) {
  EXPECT_EQ(import({{"location", "data.bin"}, {"offset", "4"}, {"length", "8"}}), "");
  EXPECT_EQ(values_, (std::vector<double>{1, 2}));
}

TEST_F(ExternalData, RefusesWhatIsNotThere) {
  EXPECT_CONTAINS(import({{"location", "none.bin"}}), "none.bin");
  EXPECT_CONTAINS(import({{"offset", "4"}}), "no location");
  EXPECT_CONTAINS(import({{"location", "data.bin"}, {"offset", "8"}}), "which has 12");
  EXPECT_CONTAINS(import({{"location", "data.bin"}, {"offset", "18446744073709551615"}}),
                  "which has 12");
  EXPECT_CONTAINS(import({{"location", "data.bin"}, {"offset", "-4"}}), "which is no number");
  EXPECT_CONTAINS(import({{"location", "data.bin"}, {"length", "9"}}), "needs 8");
  EXPECT_CONTAINS(import({{"location", "."}}), "not a regular file");
}

TEST_F(ExternalData, RefusesPathsThatLeaveTheFolder) {
  const std::string outside = "outside the model's folder";
  EXPECT_CONTAINS(import({{"location", "../outside.bin"}}), outside);
  EXPECT_CONTAINS(import({{"location", "a/../../outside.bin"}}), outside);
  EXPECT_CONTAINS(import({{"location", (folder_ / "inside/data.bin").string()}}), outside);
  std::filesystem::create_symlink(folder_ / "outside.bin", folder_ / "inside/link.bin");
  EXPECT_CONTAINS(import({{"location", "link.bin"}}), outside);
}

TEST_F(ExternalData, NeedsAFile) {
  OnnxBuilder builder;
  auto& tensor = builder.initializer("t", DataType::kFloat, {2});
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = tensor.add_external_data();
  entry->set_key("location");
  entry->set_value("data.bin");
  builder.output("t");
  EXPECT_CONTAINS(builder.error(), "load the model from its file");
}

TEST_F(ExternalData, TensorFilesRoundTrip) {
  const Constant words = Constant::strings({2}, {"one", ""});
  write_tensor_file(folder_ / "words.pb", "words", words);
  const NamedConstant read = read_tensor_file(folder_ / "words.pb");
  EXPECT_EQ(read.name, "words");
  EXPECT_TRUE(read.value == words);
  const std::vector<float> values = {1, 2.5F};
  const Constant floats = Constant::of<float>({2, 1}, values);
  write_tensor_file(folder_ / "floats.pb", "", floats);
  EXPECT_TRUE(read_tensor_by_extension(folder_ / "floats.pb") == floats);
  EXPECT_THROW(read_tensor_file(folder_ / "outside.bin"), Error);
  EXPECT_THROW(read_tensor_by_extension(folder_ / "outside.bin"), Error);
}

}  // namespace
}  // namespace intarsia::converter
