// SPDX-License-Identifier: Apache-2.0
//
// A step of some sequences of a recurrent layer (rnn_sequence.h), as the layers' formulas see it
// (rnn_cells.h), and what its parts tell those of the next step.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels_cpu/math/element.h"
#include "kernels_cpu/recurrent/rnn_activation.h"

namespace intarsia::cpu {

struct NoSummary {
  void merge(NoSummary) {}
};

template <class W>
inline constexpr bool kTogether = !std::is_same_v<typename W::Summary, NoSummary>;

/// Hidden units [begin, end) of every gate, and the scratch of the thread that computes them, which
/// begins with what is W's own.
template <class V>
struct RnnUnits {
  int64_t begin, end;
  V* own;
};

/// Rows of the input: runs of so many, `pitch` apart; a run begins `next_run` after the last one.
template <class T>
struct RnnRows {
  const T* first;
  int64_t pitch, run, next_run, count;

  const T* row(int64_t i) const { return first + i / run * next_run + i % run * pitch; }
};

/// Where the gates of sequences, or of steps, lie: `row` from one's to the next one's, `gate` from
/// a gate to the next.
template <class V>
struct RnnGates {
  V* first;
  int64_t row, gate;
};

/// Of the first sequence; those of the others follow. The new state is `next`, which may be `h` or
/// `extra`.
template <class V>
struct RnnStates {
  V* h;
  V* next;
  V* c;
  V* extra;
};

/// A step of a group of sequences, for Layer::advance.
template <class W>
struct RnnStep {
  using V = typename W::Value;
  const W& weights;
  int64_t hidden;
  const typename W::Element* peepholes;  // 3 * hidden, or null
  const RnnFunction* functions;
  V clip;
  int64_t first, sequences, time;  // first: of the sequences, in the batch
  const int32_t* lengths;          // of the sequences; null: all have `time` steps
  RnnUnits<V> units;
  RnnStates<V> states;
  RnnGates<V> gates;  // of several sequences as dense as the states
  int64_t at = 0;
  typename W::Summary summary{};

  /// The sequences from `begin` to `end` alone.
  void narrow(int64_t begin, int64_t end) {
    first += begin;
    sequences = end - begin;
    if (lengths != nullptr) lengths += begin;
    for (V** each : {&states.h, &states.next, &states.c, &states.extra}) *each += begin * hidden;
  }

  int64_t length(int64_t sequence) const { return lengths != nullptr ? lengths[sequence] : time; }
  bool ended(int64_t sequence) const { return at >= length(sequence); }
  V* gate(int which) const { return gates.first + which * gates.gate; }

  /// Of all sequences, as all of the following: what those get that have ended is never looked at.
  void recur(int first_gate, int count, const V* h, const RnnGates<V>& y) const {
    weights.recur(*this, first_gate, count, h, y);
  }
  /// Calls body(at, count) for runs of units that lie side by side in the states and in each gate:
  /// one run, unless the thread has some of the units of several sequences.
  template <class Body>
  void for_runs(const Body& body) const {
    const int64_t count = units.end - units.begin;
    if (count == hidden) return body(int64_t{0}, sequences * hidden);
    for (int64_t i = 0; i < sequences; ++i) body(i * hidden + units.begin, count);
  }
  /// Of units of a gate, after clipping to [-clip, clip] if clip > 0. Not inlined, as what follows:
  /// there are many calls.
  [[gnu::noinline]] void activate(int function, V* gate, int64_t count) const {
    if (const V most = clip; most > 0) {
      for (int64_t i = 0; i < count; ++i) {
        gate[i] = gate[i] > most ? most : gate[i] < -most ? -most : gate[i];
      }
    }
    weights.activate(functions[function], gate, count);
  }
  [[gnu::noinline]] void add_peephole(int which, int to) const {
    for (int64_t k = 0; peepholes != nullptr && k < sequences; ++k) {
      const V* c = states.c + k * hidden;
      V* sums = gate(to) + k * hidden;
      for (int64_t i = units.begin; i < units.end; ++i) {
        sums[i] += Element<typename W::Element>::load(peepholes[which * hidden + i]) * c[i];
      }
    }
  }
};

/// The most parts of a step.
inline constexpr int kRnnParts = 16;

/// The steps [begin, end) whose gates a thread has projected, as the same part of as many.
struct alignas(64) RnnProjected {
  int64_t begin = 0, end = 0;
  int parts = 0;
};

/// What each part of a step says of the states that it has computed, to all parts of the next one.
template <class W>
class RnnTold {
 public:
  using Summary = typename W::Summary;

  void tell(int64_t step, int part, int parts, const Summary& summary) {
    said_[step % 2][part] = {summary, parts};
  }
  /// Asks for what the others have told of a step, if they have.
  void fetch(int64_t step, int parts) const {
    for (int part = 0; part < parts; ++part) __builtin_prefetch(&said_[step % 2][part]);
  }
  /// How many parts have told something of this step.
  int parts(int64_t step) const { return said_[step % 2][0].parts; }
  Summary of_step(int64_t step) const {
    Summary all = said_[step % 2][0].summary;
    for (int part = 1; part < parts(step); ++part) all.merge(said_[step % 2][part].summary);
    return all;
  }

 private:
  struct alignas(64) Said {  // a cache line for each thread
    Summary summary{};
    int parts = 1;
  };
  Said said_[2][kTogether<W> ? kRnnParts : 1];
};

}  // namespace intarsia::cpu
