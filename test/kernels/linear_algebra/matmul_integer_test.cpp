// SPDX-License-Identifier: Apache-2.0
//
// MatMulInteger, the reference and the fast kernel on every instruction set, beside numpy's rules
// written out: signed and unsigned bytes, zero points of each form, vectors, broadcast matrices,
// odd and empty extents.
#include "core/operators/common/attributes.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using cpu::available_byte_isas;
using cpu::Random;

/// A tensor that broadcasts, as numpy has it: axes are aligned at the last one.
struct Broadcast {
  Dims dims;
  std::vector<double> values;

  double at(const Dims& index) const {
    size_t place = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const int32_t i = index[index.size() - dims.size() + axis];
      place =
          place * static_cast<size_t>(dims[axis]) + static_cast<size_t>(dims[axis] == 1 ? 0 : i);
    }
    return values[place];
  }
};

struct Operand {
  DataType type;
  Dims dims;
  bool has_zero;
  Dims zero_dims;
};

struct IntegerProduct {
  Operand a, b;
  Dims y;
};

Broadcast random_bytes(DataType type, const Dims& dims, std::mt19937& engine) {
  const bool is_signed = type == DataType::kInt8;
  return {dims, random_numbers(type, count_of(dims), engine, is_signed ? -128 : 0,
                               is_signed ? 127 : 255)};
}

/// The operand as a matrix, its zero point with as many axes.
struct Matrix {
  Broadcast elements, zeros;

  Matrix(const Operand& operand, bool left, std::mt19937& engine)
      : elements(random_bytes(operand.type, operand.dims, engine)),
        zeros(random_bytes(operand.type, operand.zero_dims, engine)) {
    given = elements.values;
    given_zeros = zeros.values;
    if (elements.dims.size() == 1) elements.dims.insert(elements.dims.begin() + (left ? 0 : 1), 1);
    if (left && zeros.dims.size() == 1) zeros.dims.push_back(1);
    if (!operand.has_zero) zeros = {{}, {0}};
  }
  double at(const Dims& index) const { return elements.at(index) - zeros.at(index); }

  std::vector<double> given, given_zeros;
};

void expect_product(const IntegerProduct& p, uint32_t seed) {
  std::mt19937 engine(seed);
  const Matrix a(p.a, true, engine), b(p.b, false, engine);
  const int32_t inner = p.a.dims.back();
  Dims full = p.y;  // with the rows and columns of vectors
  if (p.b.dims.size() == 1) full.push_back(1);
  if (p.a.dims.size() == 1) full.insert(full.end() - 1, 1);
  std::vector<double> expected;
  for_each_index(full, [&](const Dims& index) {
    Dims left = index, right = index;
    double sum = 0;
    for (int32_t k = 0; k < inner; ++k) {
      left.back() = k;
      right[right.size() - 2] = k;
      sum += a.at(left) * b.at(right);
    }
    expected.push_back(sum);
  });
  const auto run = [&](const std::string& variant, Isa isa, int threads) {
    const std::string kernel = kernel_name("MatMulInteger" + variant, {p.a.type, p.b.type});
    SCOPED_TRACE(kernel + " " + cpu::isa_name(isa) + " " + ::testing::PrintToString(p.a.dims) +
                 ::testing::PrintToString(p.b.dims) + " zero points " +
                 ::testing::PrintToString(p.a.zero_dims) + ::testing::PrintToString(p.b.zero_dims));
    Node node;
    node.input(p.a.type, p.a.dims, a.given).input(p.b.type, p.b.dims, b.given);
    if (p.a.has_zero) {
      node.input(p.a.type, p.a.zero_dims, a.given_zeros);
    } else if (p.b.has_zero) {
      node.absent();
    }
    if (p.b.has_zero) node.input(p.b.type, p.b.zero_dims, b.given_zeros);
    node.output(DataType::kInt32, p.y).attributes(NoAttributes{}).isa(isa).threads(threads);
    ASSERT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
    expect_numbers_near(node.numbers(), expected, 0, 0);
  };
  run("", Isa::kPortable, 1);
  for (Isa isa : available_byte_isas()) {
    for (int threads : {1, 3}) run(".fast", isa, threads);
  }
}

constexpr DataType kBytes[] = {DataType::kInt8, DataType::kUint8};

TEST(MatMulInteger, FormsOfOperandsAndZeroPoints) {
  const IntegerProduct forms[] = {
      {{{}, {5}, false, {}}, {{}, {5}, false, {}}, {}},
      {{{}, {7}, true, {1}}, {{}, {7, 4}, true, {4}}, {4}},
      {{{}, {3, 6}, true, {3}}, {{}, {6}, true, {}}, {3}},
      {{{}, {3, 6}, true, {3, 1}}, {{}, {6, 5}, true, {1, 5}}, {3, 5}},
      {{{}, {3, 6}, false, {}}, {{}, {6, 5}, true, {5}}, {3, 5}},
      {{{}, {2, 3, 9}, true, {3}}, {{}, {9, 5}, true, {}}, {2, 3, 5}},
      {{{}, {2, 3, 9}, true, {2, 3, 1}}, {{}, {2, 9, 5}, true, {2, 1, 5}}, {2, 3, 5}},
      {{{}, {2, 1, 3, 9}, true, {}}, {{}, {4, 9, 5}, true, {4, 1, 1}}, {2, 4, 3, 5}},
      {{{}, {2, 3, 9}, true, {}}, {{}, {9, 5}, true, {1}}, {2, 3, 5}},
      {{{}, {3, 0}, true, {3}}, {{}, {0, 2}, true, {2}}, {3, 2}},
      {{{}, {0, 5}, true, {}}, {{}, {5, 2}, true, {2}}, {0, 2}},
      {{{}, {2, 250, 601}, true, {250}}, {{}, {601, 140}, true, {140}}, {2, 250, 140}},
  };
  uint32_t seed = 0;
  for (IntegerProduct p : forms) {
    for (DataType a : kBytes) {
      for (DataType b : kBytes) {
        p.a.type = a;
        p.b.type = b;
        if (kSlowBuild && p.y.size() == 3 && p.y[1] > 100 && (a != DataType::kUint8 || a == b))
          continue;
        expect_product(p, ++seed);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(MatMulInteger, AnyExtents) {
  for (uint32_t seed = 0; seed < static_cast<uint32_t>(part_of(80)); ++seed) {
    Random random(seed);
    const auto extent = [&] {
      return static_cast<int32_t>(random.between(1, random.coin() ? 5 : 90));
    };
    const int32_t m = extent(), n = extent(), k = extent();
    const Dims rows[] = {{}, {1}, {m}, {m, 1}}, columns[] = {{}, {1}, {n}, {1, n}};
    const IntegerProduct p{
        {kBytes[seed % 2], {m, k}, random.coin(), rows[random.between(0, 3)]},
        {kBytes[seed / 2 % 2], {k, n}, random.coin(), columns[random.between(0, 3)]},
        {m, n}};
    expect_product(p, seed);
    if (HasFailure()) return;
  }
}

// B is read in place: strips of any width, several passes over K, the last rows of B.
TEST(MatMulInteger, FewRows) {
  uint32_t seed = 0;
  for (const int32_t m : {1, 2, 3, 7, 12}) {
    for (const int32_t n : {2, 16, 33, 65, 150}) {
      for (const int32_t k : {3, 64, 515, 1030}) {
        if (kSlowBuild && m * n * k > 30000) continue;
        const DataType a = kBytes[seed % 2], b = kBytes[seed / 2 % 2];
        const Dims columns[] = {{}, {n}};
        const IntegerProduct one{
            {a, {m, k}, seed % 3 == 0, {m}}, {b, {k, n}, true, columns[seed % 2]}, {m, n}};
        const IntegerProduct two{
            {a, {2, m, k}, true, {}}, {b, {2, k, n}, true, {2, 1, 1}}, {2, m, n}};
        expect_product(seed % 4 == 0 ? two : one, seed);
        if (HasFailure()) return;
        ++seed;
      }
    }
  }
}

}  // namespace
}  // namespace intarsia::test
