// SPDX-License-Identifier: Apache-2.0
//
// Operators that keep what was lent to them: they are told, and nothing dangles.
#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

TEST_F(Pyop, AnInputThatIsKeptIsFoundOut) {
  module(R"(
class Keeps:
    def __init__(self):
        self.kept = []
    def compute(self, x):
        self.kept.append(x[::2])
        return x
class Copies:
    def __init__(self):
        self.last = None
    def compute(self, x):
        last, self.last = self.last, x.copy()
        return x if last is None else x - last
class Cycle:
    def compute(self, x):
        cycle = [x]
        cycle.append(cycle)
        return x
)");
  auto keeps = load(unary("Keeps", {2}));
  EXPECT_EQ(keeps->run().code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(keeps->text(), "keeps an input beyond the call");
  EXPECT_CONTAINS(keeps->text(), "x.copy()");
  auto copies = load(unary("Copies", {2}));
  copies->set<float>(0, {1, 2});
  ASSERT_TRUE(copies->run()) << copies->text();
  copies->set<float>(0, {5, 5});
  ASSERT_TRUE(copies->run()) << copies->text();
  EXPECT_EQ(copies->get<float>(), (Floats{4, 3}));
  auto cycle = load(unary("Cycle", {2}));
  EXPECT_TRUE(cycle->run()) << cycle->text();
}

TEST_F(Pyop, WhatAnOperatorKeepsOutlivesTheSessionsMemory) {
  // Every way that Python has to hold on to memory; the operator fails, and the program goes on
  // with the session closed and its memory used for something else.
  module(R"(
import numpy as np
kept = {}
class Keeps:
    def __init__(self, way):
        self.way = way
    def compute(self, x):
        kept[self.way] = {
            "array": lambda: x,
            "slice": lambda: x[1:],
            "reversed": lambda: x[::-1],
            "matrix": lambda: x.reshape(2, 2).T,
            "bytes": lambda: x.view(np.uint8),
            "subclass": lambda: x.view(np.recarray),
            "memoryview": lambda: memoryview(x),
            "slice of memoryview": lambda: memoryview(x)[1:],
            "array of memoryview": lambda: np.asarray(memoryview(x)),
            "base": lambda: x.base,
            "buffer": lambda: x.base.obj,
            "tuple": lambda: (x, 1),
            "dict": lambda: {"x": {"y": x}},
            "array of objects": lambda: np.array([x[:2], None], object)[:1],
            "generator": lambda: (each for each in [x, x[2:]] if each is not None),
            "closure": lambda: (lambda: x),
            "several": lambda: [x, x[1:3], memoryview(x)],
        }[self.way]()
        return x
class Raises(Keeps):
    def compute(self, x):
        Keeps.compute(self, x)
        raise ValueError("and fails")
class Wrong(Keeps):
    def compute(self, x):
        Keeps.compute(self, x)
        return x[:1]
class Frame:
    def __init__(self, way):
        self.way = way
    def compute(self, x):
        try:
            raise ValueError("kept with its frame")
        except ValueError as error:
            kept[self.way] = error
        return x
def numbers(found):
    """The elements of whatever is found, whole ones; what refuses to be read has none."""
    if isinstance(found, BaseException):
        found = found.__traceback__.tb_frame.f_locals["x"]
    if callable(found):
        found = found()
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (list, tuple)) or hasattr(found, "__next__"):
        return [n for each in found for n in numbers(each)]
    if isinstance(found, (int, type(None))):
        return []
    try:
        array = np.asarray(found)
    except (ValueError, BufferError):
        return []
    if array.dtype == object:
        if array.ndim == 0:
            return []
        return [n for each in array for n in numbers(each)]
    return np.ascontiguousarray(array).view(np.float32).reshape(-1).tolist()
class Reads:
    def __init__(self, way):
        self.way = way
    def compute(self, x):
        found = kept.pop(self.way)
        values = numbers(found)
        assert set(values) <= {1, 2, 3, 4}, (self.way, values)
        return x * 0 + len(values)
)");
  const auto open = [this](const char* type, const char* way) {
    OnnxBuilder model = unary(type, {4});
    OnnxBuilder::set(*model.graph().mutable_node(0), "way", way);
    return load(model);
  };
  const std::pair<const char*, float> ways[] = {
      {"array", 4},  {"slice", 3},     {"reversed", 4},   {"matrix", 4},
      {"bytes", 4},  {"subclass", 4},  {"memoryview", 0}, {"slice of memoryview", 0},
      {"base", 0},   {"buffer", 0},    {"tuple", 4},      {"array of memoryview", 4},
      {"dict", 4},   {"generator", 6}, {"closure", 4},    {"array of objects", 2},
      {"several", 6}};
  for (const auto& [way, expected] : ways) {
    for (const std::string type : {"Keeps", "Raises", "Wrong"}) {
      // However a call ends, it ends in one place.
      if (type != "Keeps" && way != std::string("several")) continue;
      {
        auto keeps = open(type.c_str(), way);
        keeps->set<float>(0, {1, 2, 3, 4});
        // Nobody can see anything through a buffer that is closed: that is not kept.
        const bool harmless = type == "Keeps" && way == std::string("buffer");
        EXPECT_EQ(keeps->run().ok(), harmless) << way;
        EXPECT_CONTAINS(keeps->text(), harmless           ? "no error"
                                       : type == "Keeps"  ? "keeps an input beyond"
                                       : type == "Raises" ? "and fails"
                                                          : "expected [4]");
        keeps->set<float>(0, {9, 9, 9, 9});
      }
      auto reads = open("Reads", way);
      ASSERT_TRUE(reads->run()) << type << ", " << way << ": " << reads->text();
      EXPECT_EQ(reads->get<float>()[0], expected) << way;
    }
  }
  {
    // Whoever has kept something gets copies, which may be kept, and is told again.
    auto keeps = open("Keeps", "memoryview");
    for (const float number : {1.0f, 2.0f}) {
      keeps->set<float>(0, {number, number, number, number});
      EXPECT_EQ(keeps->run().code(), Code::kOperatorFailed);
      EXPECT_CONTAINS(keeps->text(), "keeps an input beyond");
    }
    keeps->set<float>(0, {9, 9, 9, 9});
  }
  auto copies = open("Reads", "memoryview");
  ASSERT_TRUE(copies->run()) << copies->text();
  EXPECT_EQ(copies->get<float>()[0], 4);
  {
    auto frame = open("Frame", "frame");
    frame->set<float>(0, {1, 2, 3, 4});
    EXPECT_EQ(frame->run().code(), Code::kOperatorFailed);
    frame->set<float>(0, {9, 9, 9, 9});
  }
  auto reads = open("Reads", "frame");
  ASSERT_TRUE(reads->run()) << reads->text();
  EXPECT_EQ(reads->get<float>()[0], 4);
}

}  // namespace
}  // namespace intarsia::test
