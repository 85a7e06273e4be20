// SPDX-License-Identifier: Apache-2.0
//
// .npy files: every type, order of axes and bytes; what is malformed gives an error.
#include "converter/onnx/npy.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace intarsia::converter {
namespace {

// A file of format version 1 with that header and data.
std::string file_of(const std::string& header, const std::string& data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  file += static_cast<char>(header.size());
  file += '\0';
  if (version > 1) file += std::string(2, '\0');
  return file + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

Constant parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file)));
}

std::string error_of(const std::string& file) {
  try {
    parse(file);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

template <class... Bytes>
std::string bytes(Bytes... values) {
  return {static_cast<char>(values)...};
}

TEST(Npy, ReadsLittleAndBigEndian) {
  const Constant little = parse(file_of(header_of("<i4", "(2,)"), bytes(1, 0, 0, 0, 2, 1, 0, 0)));
  EXPECT_EQ(little.type, DataType::kInt32);
  EXPECT_EQ(little.extents, (std::vector<int64_t>{2}));
  EXPECT_EQ(little.integers(), (std::vector<int64_t>{1, 258}));
  const Constant big = parse(file_of(header_of(">i4", "(2,)"), bytes(0, 0, 0, 1, 0, 0, 1, 2)));
  EXPECT_EQ(big.integers(), (std::vector<int64_t>{1, 258}));
}

TEST(Npy, ReadsFortranOrder) {
  const std::string data = bytes(1, 2, 3, 4, 5, 6);  // columns of a 2 x 3 matrix
  const Constant matrix = parse(file_of(header_of("|u1", "(2, 3)", "True"), data));
  EXPECT_EQ(matrix.integers(), (std::vector<int64_t>{1, 3, 5, 2, 4, 6}));
  const Constant cube = parse(file_of(header_of("|u1", "(1, 2, 3)", "True"), data));
  EXPECT_EQ(cube.integers(), (std::vector<int64_t>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(parse(file_of(header_of("|u1", "(6,)", "True"), data)).integers(),
            (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, ReadsEveryVersionAndScalars) {
  for (char version : {1, 2, 3}) {
    const Constant scalar = parse(file_of(header_of("<f2", "()"), bytes(0x00, 0x3c), version));
    EXPECT_EQ(scalar.type, DataType::kFloat16);
    EXPECT_EQ(scalar.rank(), 0);
    EXPECT_EQ(scalar.real(0), 1);
  }
}

TEST(Npy, ReadsBoolsAndEmptyArrays) {
  EXPECT_EQ(parse(file_of(header_of("|b1", "(3,)"), bytes(0, 1, 9))).bytes()[2], std::byte{1});
  EXPECT_EQ(parse(file_of(header_of("<f8", "(0, 4)"), "")).extents, (std::vector<int64_t>{0, 4}));
}

TEST(Npy, ReadsStrings) {
  const Constant narrow = parse(file_of(header_of("|S3", "(2,)"), std::string("ab\0xyz", 6)));
  EXPECT_EQ(narrow.string(0), "ab");
  EXPECT_EQ(narrow.string(1), "xyz");
  const Constant wide =
      parse(file_of(header_of("<U2", "(1,)"), bytes(0xe4, 0, 0, 0, 0x61, 0, 0, 0)));
  EXPECT_EQ(wide.string(0),
            "\xc3\xa4"
            "a");
}

TEST(Npy, RoundTripsEveryType) {
  for (int number = 1; number <= kLastDataType; ++number) {
    const auto type = static_cast<DataType>(number);
    if (type == DataType::kString) continue;
    const bool bits_only = type == DataType::kBfloat16 || number >= 17;
    std::vector<std::byte> data(static_cast<size_t>(byte_size(type, 6)));
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = std::byte(type == DataType::kBool ? i % 2 : i);
    const Constant constant = Constant::own(type, {2, 3}, data);
    const Constant read = parse_npy(format_npy(constant));
    EXPECT_EQ(read.extents, constant.extents);
    if (!bits_only) {
      EXPECT_TRUE(read == constant) << data_type_name(type);
    }
  }
  const Constant words = Constant::strings({2}, {"one", "three"});
  EXPECT_TRUE(parse_npy(format_npy(words)) == words);
  const Constant nibbles = Constant::own(DataType::kInt4, {2}, {std::byte{0xf7}});
  EXPECT_EQ(parse_npy(format_npy(nibbles)).integers(), (std::vector<int64_t>{7, -1}));
}

TEST(Npy, DataStartsAligned) {
  const std::vector<std::byte> file = format_npy(Constant::scalar<double>(1));
  EXPECT_EQ((file.size() - sizeof(double)) % 64, 0U);
}

TEST(Npy, FilesRoundTrip) {
  const auto path = std::filesystem::temp_directory_path() / "intarsia_npy_test.npy";
  const Constant constant = Constant::ints({1, -2, 3});
  write_npy(path, constant);
  EXPECT_TRUE(read_npy(path) == constant);
  std::filesystem::remove(path);
  EXPECT_THROW(read_npy(path), Error);
}

TEST(Npy, MalformedFiles) {
  const auto expect = [](const std::string& file, const std::string& part) {
    EXPECT_NE(error_of(file).find(part), std::string::npos) << error_of(file) << "\n" << part;
  };
  const std::string good = file_of(header_of("<i2", "(2,)"), bytes(1, 0, 2, 0));
  EXPECT_EQ(error_of(good), "");
  expect("", "magic number");
  expect("PK\x03\x04", "magic number");
  expect(file_of("", "", 9), "format version 9");
  expect(file_of(header_of("<i2", "(3,)"), bytes(1, 0, 2, 0)), "4 bytes of data");
  expect(file_of(header_of("<i2", "(-1,)"), ""), "something else than extents");
  expect(file_of(header_of("<i2", "(4611686018427387904, 4)"), ""), "too large");
  expect(file_of(header_of("<i2", "(1,1,1,1,1,1,1,1,1)"), bytes(1, 0)), "9 axes");
  expect(file_of(header_of("<q9", "(1,)"), ""), "'<q9' is not supported");
  expect(file_of(header_of("|O", "(1,)"), ""), "'|O' is not supported");
  expect(file_of(header_of("|S0", "(1000000000,)"), ""), "'|S0' is not understood");
  expect(file_of("{'descr': [('a', '<i2')], 'shape': (), }", ""), "records");
  expect(file_of("{'shape': (), }", bytes(0)), "lacks 'descr'");
  expect(file_of("{'descr': '<i2', 'other': 1}", ""), "unknown key 'other'");
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(error_of(good.substr(0, length)), "") << length;
  }
}

}  // namespace
}  // namespace intarsia::converter
