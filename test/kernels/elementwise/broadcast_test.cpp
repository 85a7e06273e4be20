// SPDX-License-Identifier: Apache-2.0
//
// Broadcasting in pieces: what a piece says of each operand is what ONNX's definition says of the
// elements that it covers, for random extents with many short rows, ranges that begin and end
// anywhere, and elements of every width.
#include <array>
#include <cstring>

#include "core/operators/elementwise/operators.h"
#include "kernels_cpu/common/repeat.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"
#include "test/slow_build.h"

namespace intarsia::cpu {
namespace {

struct Operand {
  std::vector<int32_t> extents;
  TensorView view;
  size_t bytes = 1;  // of an element, whose first bytes are its number
  std::vector<uint8_t> data;

  uint32_t number_at(const void* array, int64_t element) const {
    uint32_t number = 0;
    const auto* at = static_cast<const uint8_t*>(array) + element * static_cast<int64_t>(bytes);
    std::memcpy(&number, at, std::min(bytes, sizeof number));
    return number;
  }
};

/// A view that points at the extents, which have to outlive it.
TensorView view_of(const std::vector<int32_t>& extents) {
  TensorView view;
  view.rank = static_cast<decltype(view.rank)>(extents.size());
  view.extents = extents.data();
  return view;
}

int32_t draw_extent(Random& random) {
  constexpr int32_t kExtents[] = {1, 2, 2, 3, 4, 5, 7, 15, 16, 17, 40, 47, 48, 100, 143, 300};
  return kExtents[random.between(0, std::ssize(kExtents) - 1)];
}

/// Element of an operand at element `flat` of the output.
int64_t element_at(const TensorView& operand, const TensorView& output, int64_t flat) {
  int64_t element = 0, stride = 1;
  for (int i = 1; i <= output.rank; ++i) {
    const int64_t index = flat % output.extents[output.rank - i];
    flat /= output.extents[output.rank - i];
    if (i > operand.rank) continue;
    const int32_t extent = operand.extents[operand.rank - i];
    if (extent != 1) element += index * stride;
    stride *= extent;
  }
  return element;
}

void check_pieces(Random& random, const TensorView& output, const std::vector<Operand>& operands) {
  std::vector<const TensorView*> views;
  std::vector<BroadcastOperand> arrays;
  for (const Operand& operand : operands) {
    views.push_back(&operand.view);
    BroadcastOperand array(operand.data.data());
    array.bytes = operand.bytes;
    arrays.push_back(array);
  }
  const BroadcastLoop loop(output, views);
  const int64_t begin = random.coin() ? 0 : random.between(0, loop.count);
  const int64_t end = random.coin() ? loop.count : random.between(begin, loop.count);
  int64_t next = begin;
  BroadcastPieces pieces(loop, arrays, begin, end);
  for (BroadcastPiece piece; pieces.next(piece); next += piece.length) {
    ASSERT_EQ(piece.first, next);
    ASSERT_GT(piece.length, 0);
    for (size_t i = 0; i < operands.size(); ++i) {
      const Operand& operand = operands[i];
      ASSERT_EQ(reinterpret_cast<uintptr_t>(piece.data[i]) % operand.bytes, 0U);
      for (int64_t k = 0; k < piece.length; ++k) {
        const int64_t expected = element_at(operand.view, output, next + k);
        ASSERT_EQ(operand.number_at(piece.data[i], piece.advances[i] ? k : 0),
                  operand.number_at(operand.data.data(), expected))
            << "operand " << i << " of " << operand.bytes << " bytes, element " << next + k;
      }
    }
  }
  ASSERT_EQ(next, std::max(begin, end));
}

TEST(BroadcastPieces, CoverEachElementOnce) {
  for (uint32_t seed = 0; seed < test::part_of(400); ++seed) {
    Random random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<int32_t> extents;
    int64_t count = 1;
    for (int64_t rank = random.between(0, 5); rank > 0; --rank) {
      const int32_t extent = draw_extent(random);
      extents.push_back(count * extent > 20000 ? 2 : extent);
      count *= extents.back();
    }
    std::vector<Operand> operands(static_cast<size_t>(random.between(1, 3)));
    for (Operand& operand : operands) {
      std::vector<int32_t>& own = operand.extents;
      own = extents;
      for (int32_t& extent : own) extent = random.coin() ? extent : 1;
      if (!own.empty() && random.coin()) own.erase(own.begin());
      operand.view = view_of(own);
      operand.bytes = size_t{1} << random.between(0, 4);
      operand.data.resize(static_cast<size_t>(operand.view.count()) * operand.bytes);
      for (int64_t i = 0; i < operand.view.count(); ++i) {
        const auto number = static_cast<uint32_t>(i);
        std::memcpy(operand.data.data() + static_cast<size_t>(i) * operand.bytes, &number,
                    std::min(operand.bytes, sizeof number));
      }
    }
    check_pieces(random, view_of(extents), operands);
    if (HasFatalFailure()) return;
  }
}

TEST(RepeatEach, WritesEachElementSoOftenAndNothingElse) {
  Random random(3);
  for (const size_t bytes : {1, 2, 4, 8, 16}) {
    for (int64_t times = 0; times <= 67; ++times) {
      const int64_t count = random.between(0, 70);
      const auto size = static_cast<size_t>(count) * bytes;
      std::vector<uint8_t> from(size);
      for (uint8_t& byte : from) byte = static_cast<uint8_t>(random.between(0, 255));
      std::vector<uint8_t> to(size * static_cast<size_t>(times) + 16, 0xa5);
      repeat_each(to.data(), from.data(), count, times, bytes);
      std::vector<uint8_t> expected;
      for (size_t i = 0; i < static_cast<size_t>(count * times); ++i) {
        const auto first = from.begin() + static_cast<std::ptrdiff_t>(i / times * bytes);
        expected.insert(expected.end(), first, first + static_cast<std::ptrdiff_t>(bytes));
      }
      expected.insert(expected.end(), 16, 0xa5);
      ASSERT_EQ(to, expected) << bytes << " bytes, " << times << " times";
    }
  }
}

/// Rows that stand still in one operand, of several blocks each.
TEST(Broadcast, BytesShiftedByTheSame) {
  constexpr int32_t kRows = 3, kColumns = 700;
  std::vector<uint8_t> x, expected;
  for (int32_t i = 0; i < kRows * kColumns; ++i) {
    x.push_back(static_cast<uint8_t>(i * 37));
    expected.push_back(static_cast<uint8_t>(x.back() >> (2 + i / kColumns)));
  }
  test::Node node;
  node.input<uint8_t>({kRows, kColumns}, x).input<uint8_t>({kRows, 1}, {2, 3, 4});
  node.output<uint8_t>({kRows, kColumns});
  node.attributes(BitShiftAttributes{BitShiftAttributes::kRight});
  for (Isa isa : available_isas()) {
    ASSERT_TRUE(node.isa(isa).run("BitShift<uint8>").ok());
    EXPECT_EQ(node.result<uint8_t>(), expected);
  }
}

}  // namespace
}  // namespace intarsia::cpu
