// SPDX-License-Identifier: Apache-2.0
//
// Blocks of threads as fibers (ucontext). A thread runs until it waits at a barrier or a shuffle,
// or ends; when none can run, what all of them wait for is granted, or the block is divergent.
#include "test/cuda/emulation/emulation.h"

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>

#include "kernels_cuda/common/device.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define INTARSIA_FIBERS_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define INTARSIA_FIBERS_UNDER_ASAN 1
#endif
#endif

namespace intarsia::cuda::emulation {
namespace {

constexpr size_t kStackBytes = size_t{128} << 10;
constexpr unsigned kMostThreads = 1024;  // of a block

enum class Waiting : uint8_t { kReady, kBarrier, kShuffle, kDone };

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack;
  void* fake_stack = nullptr;  // AddressSanitizer's
  Waiting waiting = Waiting::kDone;
  ThreadIndex index;
  uint64_t counts[4] = {};  // by Mistake::Kind
  WarpData shown;           // its own part until granted, then that of all lanes
  uint64_t fence_epoch = 0;
  struct Copy {
    void (*complete)(void*, int64_t, const void*);
    void* array;
    int64_t at;
    unsigned char values[16];
    uint64_t group;
  };
  std::deque<Copy> copies;
  uint64_t groups = 0;  // that were committed
};

/// Epochs start at 1 and never repeat: records of earlier blocks are older than any of this one.
uint64_t epoch = 1;
uint64_t block_epoch = 1;

std::vector<Fiber> fibers;
Fiber* running = nullptr;
/// The host's own stack; all but the context is for AddressSanitizer.
struct Scheduler {
  ucontext_t context;
  void* fake_stack;
  const void* stack;
  size_t stack_bytes;
} scheduler;
const Task* task = nullptr;

void enter([[maybe_unused]] void* fake_stack) {
#ifdef INTARSIA_FIBERS_UNDER_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, &scheduler.stack, &scheduler.stack_bytes);
#endif
}

/// From the running fiber back to the scheduler.
void yield(Waiting waiting) {
  Fiber& self = *running;
  self.waiting = waiting;
#ifdef INTARSIA_FIBERS_UNDER_ASAN
  __sanitizer_start_switch_fiber(&self.fake_stack, scheduler.stack, scheduler.stack_bytes);
#endif
  swapcontext(&self.context, &scheduler.context);
  enter(self.fake_stack);
}

void fiber_main() {
  enter(nullptr);
  for (;;) {
    task->run(task->call);
    yield(Waiting::kDone);
  }
}

void resume(Fiber& fiber) {
  running = &fiber;
#ifdef INTARSIA_FIBERS_UNDER_ASAN
  __sanitizer_start_switch_fiber(&scheduler.fake_stack, fiber.stack.get(), kStackBytes);
#endif
  swapcontext(&scheduler.context, &fiber.context);
#ifdef INTARSIA_FIBERS_UNDER_ASAN
  __sanitizer_finish_switch_fiber(scheduler.fake_stack, nullptr, nullptr);
#endif
  running = nullptr;
}

void prepare(Fiber& fiber) {
  if (!fiber.stack) fiber.stack = std::make_unique<char[]>(kStackBytes);
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, fiber_main, 0);
}

/// Counts a site of the running thread; true if it is the one to make a mistake at.
bool at_mistake(Mistake::Kind kind, const Mistake& mistake) {
  return running->counts[kind]++ == mistake.site && mistake.kind == kind;
}

}  // namespace

/// One block of a launch.
struct Block {
  Emulator& emulator;
  unsigned threads;

  void run(const std::vector<unsigned>& order) {
    block_epoch = ++epoch;
    for (unsigned t = 0; t < threads; ++t) {
      fibers[t].waiting = Waiting::kReady;
      fibers[t].fence_epoch = 0;
      fibers[t].copies.clear();
      std::fill(std::begin(fibers[t].counts), std::end(fibers[t].counts), 0);
    }
    while (step(order)) {
    }
    for (unsigned t = 0; t < threads; ++t) {
      for (size_t kind = 0; kind < 4; ++kind) {
        emulator.most_[kind] = std::max(emulator.most_[kind], fibers[t].counts[kind]);
      }
    }
  }

 private:
  bool all(Waiting waiting) const {
    return std::all_of(fibers.begin(), fibers.begin() + threads,
                       [&](const Fiber& fiber) { return fiber.waiting == waiting; });
  }

  /// Runs what can run, then grants what is waited for. False when the block has ended.
  bool step(const std::vector<unsigned>& order) {
    for (unsigned t : order) {
      if (fibers[t].waiting == Waiting::kReady) resume(fibers[t]);
    }
    if (all(Waiting::kDone)) return false;
    if (all(Waiting::kBarrier)) {
      ++epoch;
      for (unsigned t = 0; t < threads; ++t) fibers[t].waiting = Waiting::kReady;
      return true;
    }
    bool granted = false;
    for (unsigned first = 0; first < threads; first += kWarpSize) granted |= shuffle(first);
    if (granted) return true;
    emulator.violation(
        "threads of a block wait for different things: divergent barrier or shuffle");
    // The fibers never continue; they start anew with the next block.
    for (unsigned t = 0; t < threads; ++t) prepare(fibers[t]);
    return false;
  }

  /// Exchanges what the lanes of a warp show, if all of them have come for it.
  bool shuffle(unsigned first) {
    const unsigned end = std::min(first + kWarpSize, threads);
    WarpData all{};
    all.count = end - first;
    for (unsigned t = first; t < end; ++t) {
      if (fibers[t].waiting != Waiting::kShuffle) return false;
      std::memcpy(all.lanes[t - first], fibers[t].shown.lanes[t - first], WarpData::kBytes);
    }
    for (unsigned t = first; t < end; ++t) {
      fibers[t].shown = all;
      fibers[t].waiting = Waiting::kReady;
    }
    return true;
  }
};

Emulator& Emulator::get() {
  static Emulator emulator;
  return emulator;
}

void Emulator::reset(Order order, const Mistake& mistake) {
  const int held = held_;
  *this = Emulator();
  held_ = held;
  order_ = order;
  mistake_ = mistake;
}

void Emulator::violation(const std::string& text) {
  if (std::find(violations_.begin(), violations_.end(), text) == violations_.end()) {
    violations_.push_back(text);
  }
}

int Emulator::call() {
  return ++calls_ == failing_call_ ? failing_error_ : 0;
}

void Emulator::execute(const Stream::Work& work) {
  if (work.kind == Stream::Work::kCopy) {
    std::memcpy(work.to, work.from, work.bytes);
    return;
  }
  if (work.kind == Stream::Work::kFill) {
    std::memset(work.to, work.byte, work.bytes);
    return;
  }
  ++launches_;
  // Only growing moves fibers, and then none has a context that points into itself yet.
  if (fibers.size() < kMostThreads) {
    fibers.resize(kMostThreads);
    for (Fiber& fiber : fibers) prepare(fiber);
  }
  const auto numbers = [this](unsigned count) {
    std::vector<unsigned> all(count);
    std::iota(all.begin(), all.end(), 0u);
    if (order_ == Order::kReverse) std::reverse(all.begin(), all.end());
    return all;
  };
  std::vector<unsigned> threads = numbers(work.threads), blocks = numbers(work.blocks);
  std::mt19937 random(12345);
  if (order_ == Order::kShuffled) std::shuffle(blocks.begin(), blocks.end(), random);
  task = work.task.get();
  Block block{*this, work.threads};
  for (unsigned b : blocks) {
    if (order_ == Order::kShuffled) std::shuffle(threads.begin(), threads.end(), random);
    for (unsigned t = 0; t < work.threads; ++t) fibers[t].index = {t, b, work.threads, work.blocks};
    block.run(threads);
  }
  task = nullptr;
}

const ThreadIndex& current() {
  return running->index;
}

void barrier() {
  if (at_mistake(Mistake::kSkipBarrier, Emulator::get().mistake())) return;
  yield(Waiting::kBarrier);
}

const WarpData& exchange_bytes(const void* data, size_t bytes) {
  std::memcpy(running->shown.lanes[running->index.thread_x % kWarpSize], data, bytes);
  yield(Waiting::kShuffle);
  return running->shown;
}

unsigned WarpData::checked_lane(unsigned lane) const {
  if (lane < count) return lane;
  Emulator::get().violation("a shuffle reads a lane that the block does not have");
  return running->index.thread_x % kWarpSize;
}

void fence() {
  running->fence_epoch = epoch;
}

void check_announcement() {
  for (unsigned t = 0; t < running->index.block_size; ++t) {
    const uint64_t fenced = fibers[t].fence_epoch;
    if (fenced != 0 && fenced < epoch) continue;
    Emulator::get().violation("a block announces results before all of its threads have fenced");
  }
}

void begin_copy(void (*complete)(void*, int64_t, const void*), void* array, int64_t at,
                const void* values, size_t bytes) {
  Fiber::Copy copy{complete, array, at, {}, running->groups};
  std::memcpy(copy.values, values, bytes);
  running->copies.push_back(copy);
}

void copy_commit() {
  ++running->groups;
}

void wait_for_copies(int groups) {
  std::deque<Fiber::Copy>& copies = running->copies;
  while (!copies.empty() &&
         copies.front().group + static_cast<uint64_t>(groups) < running->groups) {
    const Fiber::Copy copy = copies.front();
    copies.pop_front();
    copy.complete(copy.array, copy.at, copy.values);
  }
}

void multiply_add(float (&sums)[4], const unsigned (&a)[4], unsigned b_first, unsigned b_second) {
  struct Operands {
    uint16_t a[4][2], b[2][2];
  } operands;
  std::memcpy(operands.a, a, sizeof(operands.a));
  std::memcpy(operands.b[0], &b_first, sizeof(b_first));
  std::memcpy(operands.b[1], &b_second, sizeof(b_second));
  const auto number = [](uint16_t bits) { return static_cast<float>(Float16::from_bits(bits)); };
  const WarpData& all = exchange(operands);
  const unsigned lane = running->index.thread_x % kWarpSize;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4, column = lane % 4 * 2 + i % 2;
    for (unsigned k = 0; k < 16; ++k) {
      const auto left = all.of_lane<Operands>(row * 4 + k % 8 / 2);
      const auto right = all.of_lane<Operands>(column * 4 + k % 8 / 2);
      sums[i] += number(left.a[i / 2 + k / 8 * 2][k % 2]) * number(right.b[k / 8][k % 2]);
    }
  }
}

int start(unsigned blocks, unsigned threads, void* stream, Task made) {
  Stream::Work work;
  work.blocks = blocks;
  work.threads = threads;
  work.task = std::shared_ptr<Task>(new Task(made), [](Task* owned) {
    owned->drop(owned->call);
    delete owned;
  });
  if (threads == 0 || threads > kMostThreads || blocks == 0 || blocks > 0x7fffffffu) {
    constexpr int kInvalidConfiguration = 9;
    return kInvalidConfiguration;
  }
  if (const int error = Emulator::get().call(); error != 0) return error;
  static_cast<Stream*>(stream)->add(std::move(work));
  return 0;
}

namespace {

int64_t checked(int64_t index, int64_t count, Mistake::Kind kind, const char* what) {
  Emulator& emulator = Emulator::get();
  if (at_mistake(kind, emulator.mistake())) ++index;
  if (index >= 0 && index < count) return index;
  emulator.violation(what);
  return 0;
}

}  // namespace

int64_t shared_index(int64_t index, int64_t count) {
  return checked(index, count, Mistake::kShiftShared, "access outside shared memory");
}
int64_t global_index(int64_t index, int64_t count) {
  return checked(index, count, Mistake::kShiftGlobal, "access outside an operand");
}
int64_t global_pack_index(int64_t index, int64_t n, int64_t count, uintptr_t address) {
  Emulator& emulator = Emulator::get();
  // A shifted pack is a neighbouring one: any other shift would be found by its alignment alone.
  if (at_mistake(Mistake::kShiftGlobal, emulator.mistake())) index += n;
  if ((address + static_cast<uintptr_t>(index)) % static_cast<uintptr_t>(n) != 0) {
    emulator.violation("several elements at once that are not aligned");
    return -1;
  }
  if (index >= 0 && index + n <= count) return index;
  emulator.violation("access outside an operand");
  return -1;
}

int64_t shared_pack_index(int64_t index, int64_t n, int64_t count) {
  Emulator& emulator = Emulator::get();
  if (at_mistake(Mistake::kShiftShared, emulator.mistake())) index += n;
  if (index % n == 0 && index >= 0 && index + n <= count) return index;
  emulator.violation("several elements at once outside shared memory, or not aligned");
  return 0;
}

void on_read(AccessRecord& record) {
  const unsigned self = running->index.thread_x;
  if (record.in_flight && record.write_epoch >= block_epoch) {
    Emulator::get().violation("shared memory is read while a copy to it is under way");
  }
  if (record.write_epoch < block_epoch) {
    Emulator::get().violation("shared memory is read before it is written");
  }
  if (record.write_epoch == epoch && record.writer != self) {
    Emulator::get().violation("race: one thread writes, another reads, with no barrier between");
  }
  if (record.read_epoch != epoch) {
    record.read_epoch = epoch;
    record.reader = self;
  } else if (record.reader != self) {
    record.reader = AccessRecord::kSeveral;
  }
}

void on_write(AccessRecord& record) {
  const unsigned self = running->index.thread_x;
  if (record.write_epoch == epoch && record.writer != self) {
    Emulator::get().violation("race: two threads write, with no barrier between");
  }
  if (record.read_epoch == epoch && record.reader != self) {
    Emulator::get().violation("race: one thread reads, another writes, with no barrier between");
  }
  record.write_epoch = epoch;
  record.writer = self;
}

}  // namespace intarsia::cuda::emulation
