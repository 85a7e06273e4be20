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

/// What belongs to a sequence at a step. The new state is `next`, which may be `h` or `extra`.
template <class V>
struct RnnRow {
  V* h;
  V* next;
  V* c;
  V* extra;
  V* gates;
};

/// A step of a group of sequences, for Layer::advance.
template <class W>
struct RnnStep {
  using V = typename W::Value;
  const W& weights;
  int64_t hidden, pitch;                 // pitch: from the gates of a sequence to the next one's
  const typename W::Element* peepholes;  // 3 * hidden, or null
  const RnnFunction* functions;
  V clip;
  int64_t first, sequences, time;  // first: of the sequences, in the batch
  const int32_t* lengths;          // of the sequences; null: all have `time` steps
  RnnUnits<V> units;
  RnnRow<V> all;  // those of the first sequence; all but the gates are dense
  int64_t at = 0;
  typename W::Summary summary{};

  /// The sequences from `begin` to `end` alone.
  void narrow(int64_t begin, int64_t end) {
    first += begin;
    sequences = end - begin;
    if (lengths != nullptr) lengths += begin;
    for (V** state : {&all.h, &all.next, &all.c, &all.extra}) *state += begin * hidden;
    all.gates += begin * pitch;
  }

  int64_t length(int64_t sequence) const { return lengths != nullptr ? lengths[sequence] : time; }
  bool ended(int64_t sequence) const { return at >= length(sequence); }

  /// Of all sequences; what those get that have ended is never looked at.
  void recur(int first, int count, const V* state, V* y, int64_t y_pitch) const {
    weights.recur(*this, first, count, state, y, y_pitch);
  }
  /// Calls body(row) for each sequence that has not ended.
  template <class Body>
  void for_sequences(const Body& body) const {
    for (int64_t i = 0; i < sequences; ++i) {
      if (ended(i)) continue;
      const int64_t place = i * hidden;
      body(RnnRow<V>{all.h + place, all.next + place, all.c + place, all.extra + place,
                     all.gates + i * pitch});
    }
  }
  /// Of a gate, after clipping to [-clip, clip] if clip > 0. Not inlined, as what follows: there
  /// are many calls.
  [[gnu::noinline]] void activate(int function, V* gate) const {
    for (int64_t i = units.begin; clip > 0 && i < units.end; ++i) {
      gate[i] = gate[i] > clip ? clip : gate[i] < -clip ? -clip : gate[i];
    }
    weights.activate(functions[function], gate + units.begin, units.end - units.begin);
  }
  [[gnu::noinline]] void add_peephole(int which, const V* c, V* gate) const {
    for (int64_t i = units.begin; peepholes != nullptr && i < units.end; ++i) {
      gate[i] += Element<typename W::Element>::load(peepholes[which * hidden + i]) * c[i];
    }
  }
};

/// What each part of a step says of the states that it has computed, to all parts of the next one.
template <class W>
class RnnTold {
 public:
  static constexpr int kMostParts = kTogether<W> ? 16 : 1;
  using Summary = typename W::Summary;

  void tell(int64_t step, int part, int parts, const Summary& summary) {
    Said& said = said_[step % 2];
    said.of_part[part].summary = summary;
    if (part == 0) said.parts = parts;
  }
  Summary of_step(int64_t step) const {
    const Said& said = said_[step % 2];
    Summary all = said.of_part[0].summary;
    for (int part = 1; part < said.parts; ++part) all.merge(said.of_part[part].summary);
    return all;
  }

 private:
  struct alignas(64) Part {  // a cache line for each thread
    Summary summary{};
  };
  struct Said {
    Part of_part[kMostParts];
    int parts = 1;
  };
  Said said_[2];
};

}  // namespace intarsia::cpu
