// SPDX-License-Identifier: Apache-2.0
//
// A group of sequences of a recurrent layer (rnn_sequence.h): its steps, one after the other, on
// one thread or on all.
//
// How weights are stored and multiplied is a class W, one object for a direction:
//
//     Element, Value     type of the operands, type of the arithmetic
//     kRows              rows that products are fast with: the most that are projected at once, of
//                        several steps, and the most sequences of a group, but for small states; 1:
//                        there are no groups
//     kRuns              whether the rows that are projected may be several runs
//     Summary            what a step needs to know of the states of all sequences before it; then a
//                        direction's sequences are one group, however many. NoSummary: nothing
//     kUnits             threads may have multiples of so many hidden units; 0 if none
//     kShared            products by R from which they gain more in a step than they wait for each
//                        other
//     W(context, node, direction)
//     own(node, rows)    Values that a thread needs besides, for so many rows: units.own
//     project(x, gates, units)
//                        gates = W x + its bias, for rows of x
//     recur(step, first, count, h, y)
//                        y += R h + its bias, for some of the gates, of all sequences
//     activate(function, x, n)
//     summarize(x, n, summary)
//                        if there is a Summary: what it says of n more elements of states
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "intarsia/per_thread.h"
#include "kernels_cpu/recurrent/rnn_step.h"

namespace intarsia::cpu {

/// Extents and places of one node's operands.
struct RnnNode {
  const RnnAttributes& attributes;
  int gates;
  int directions;
  int64_t time, batch, features, hidden;

  RnnNode(const KernelContext& context, const RnnAttributes& a, int gate_count)
      : attributes(a), gates(gate_count), directions(a.directions()) {
    const int32_t* x = context.input(0).extents;
    time = x[a.layout == 0 ? 0 : 1];
    batch = x[a.layout == 0 ? 1 : 0];
    features = x[2];
    hidden = context.input(2).extents[2];
  }

  int64_t rows() const { return gates * hidden; }
  int64_t x_row(int64_t t, int64_t b) const {
    return (attributes.layout == 0 ? t * batch + b : b * time + t) * features;
  }
  int64_t y_row(int64_t t, int64_t d, int64_t b) const {
    return (attributes.layout == 0 ? (t * directions + d) * batch + b
                                   : (b * time + t) * directions + d) *
           hidden;
  }
  int64_t state_row(int64_t d, int64_t b) const {
    return (attributes.layout == 0 ? d * batch + b : b * directions + d) * hidden;
  }
};

/// Scratch in elements of a thread whose groups have so many sequences, which is enough for smaller
/// extents, too: what W needs; the gates of some steps; hidden and cell state, one more vector for
/// the cell, and one of the input for several sequences; whole cache lines. No more than before:
/// plans that exist have no more.
template <class W>
struct RnnScratch {
  int64_t rows, gates, states, input, elements;

  RnnScratch(const RnnNode& node, int64_t sequences) {
    const int64_t steps = sequences * node.time, some = steps < W::kRows ? steps : W::kRows;
    const bool all = kTogether<W> || sequences > W::kRows;
    rows = all && sequences > some ? sequences : some;
    gates = W::own(node, rows);
    states = gates + rows * node.rows();
    input = states + sequences * 3 * node.hidden;
    elements = (input + (W::kRows > 1 ? sequences * node.features : 0) + 15) / 16 * 16;
  }
};

template <class T, class V>
[[gnu::noinline]] void load_state(const TensorView& view, int64_t row, int64_t count, V* state) {
  const T* values = view.as<const T>();
  for (int64_t i = 0; i < count; ++i) {
    state[i] = values != nullptr ? Element<T>::load(values[row + i]) : 0;
  }
}
template <class T, class V>
[[gnu::noinline]] void store_state(const TensorView& view, int64_t row, int64_t count,
                                   const V* state) {
  T* values = view.as<T>();
  for (int64_t i = 0; values != nullptr && i < count; ++i) {
    values[row + i] = Element<T>::store(state[i]);
  }
}

/// The sequences [first, first + sequences) of direction d, on `thread`, or on all, if there are no
/// other groups. "Cold" is what is done once for all steps, or next to nothing of one: it is
/// compiled for size.
template <class Layer, class W>
class RnnGroup {
 public:
  using T = typename W::Element;
  using V = typename W::Value;
  using Step = RnnStep<W>;

  [[gnu::cold]] RnnGroup(const KernelContext& context, const RnnNode& node,
                         const RnnFunction* functions, int64_t d, int64_t first, int64_t sequences,
                         const PerThread<V>& memory, int thread)
      : context_(context),
        attributes_(context.attributes<typename Layer::Rule::Attributes>()),
        node_(node),
        d_(d),
        first_(first),
        sequences_(sequences),
        memory_(memory),
        thread_(thread),
        weights_(context, node, d),
        places_(node, sequences),
        scratch_(memory[thread]),
        phases_(Layer::phases(attributes_)),
        reverse_(d == 1 ||
                 node.attributes.direction == static_cast<int32_t>(RnnDirection::kReverse)),
        units_((node.hidden + kUnits - 1) / kUnits),
        x_(context.input(0).as<const T>()),
        step_{weights_,
              node.hidden,
              nullptr,
              functions + d * Layer::functions,
              node.attributes.clip,
              first,
              sequences,
              node.time,
              nullptr,
              {0, node.hidden, scratch_},
              {},
              {}} {
    const int64_t states = sequences * node.hidden;
    const T* peepholes = context.input(7).as<const T>();
    const auto* lengths = context.input(4).as<const int32_t>();
    V* const h = scratch_ + places_.states;
    step_.states = {h, h, h + states, h + 2 * states};
    if (peepholes != nullptr) step_.peepholes = peepholes + d * 3 * node.hidden;
    if (lengths != nullptr) step_.lengths = lengths + first;
    steps_ = steps_of(step_);
  }

  /// `shared`: all threads take part.
  [[gnu::cold]] void run(bool shared) {
    begin();
    const auto ahead = [this](int64_t at, int part, int parts) { prepare(at, part, parts); };
    const auto body = [this](int64_t at, int part, int parts) { take(at, part, parts); };
    const int64_t steps = longest_ * phases_;
    if (shared) {
      const int64_t most = by_sequences() ? sequences_ : units_;
      context_.parallel_steps(steps, most < kRnnParts ? most : kRnnParts, ahead, body);
    } else {
      for (int64_t at = 0; at < steps; ++at) {
        ahead(at, 0, 1);
        body(at, 0, 1);
      }
    }
    clear_rest();
  }

 private:
  static constexpr int64_t kUnits = W::kUnits > 0 ? W::kUnits : 1;

  [[gnu::cold]] void begin() {
    [[maybe_unused]] typename W::Summary initial{};
    for (int64_t i = 0; i < sequences_; ++i) {
      const int64_t state = node_.state_row(d_, first_ + i), place = i * node_.hidden;
      V* const h = step_.states.h;
      load_state<T>(context_.input(5), state, node_.hidden, h + place);
      load_state<T>(context_.input(6), state, node_.hidden, step_.states.c + place);
      if constexpr (kTogether<W>) weights_.summarize(h + place, node_.hidden, initial);
      if (step_.ended(i)) finish(step_, h, i);
      longest_ = step_.length(i) > longest_ ? step_.length(i) : longest_;
    }
    if constexpr (kTogether<W>) told_.tell(0, 0, 1, initial);
  }

  /// The final states of a sequence, as far as `part` has computed them.
  [[gnu::noinline]] void finish(const Step& part, const V* last, int64_t i) const {
    const int64_t begin = part.units.begin, end = part.units.end;
    const int64_t state = node_.state_row(d_, part.first + i) + begin,
                  place = i * node_.hidden + begin;
    store_state<T>(context_.output(1), state, end - begin, last + place);
    store_state<T>(context_.output(2), state, end - begin, part.states.c + place);
  }

  int64_t time_of(int64_t length, int64_t step) const {
    return reverse_ ? length - 1 - step : step;
  }

  /// What is a part's own of a step. Sequences that nobody else reads lie in its thread's memory:
  /// processors fetch ahead of a line what lies behind it, from whoever is writing that.
  [[gnu::noinline]] Step own_of(int64_t at, int part, int parts) const {
    Step own = step_;
    own.at = at / phases_;
    own.units.own = memory_[thread_ + part];
    for (V** each : {&own.states.h, &own.states.next, &own.states.c, &own.states.extra}) {
      if (by_sequences()) *each += own.units.own - scratch_;
    }
    if (phases_ == 1) {
      // Who is done before others must not touch the state that they still read.
      if (own.at % 2 != 0) std::swap(own.states.h, own.states.extra);
      own.states.next = own.states.extra;
    }
    if (by_sequences()) {
      own.narrow(sequences_ * part / parts, sequences_ * (part + 1) / parts);
    } else {
      own.units.begin = units_ * part / parts * kUnits;
      const int64_t end = units_ * (part + 1) / parts * kUnits;
      if (end < node_.hidden) own.units.end = end;
    }
    return own;
  }

  /// Rows of the input for so many steps of a part's sequences.
  [[gnu::cold, gnu::noinline]] RnnRows<T> rows_of(const Step& part, int64_t steps) const {
    const int64_t t = time_of(part.length(0), part.at);
    const int64_t next = (node_.x_row(1, first_) - node_.x_row(0, first_)) * (reverse_ ? -1 : 1);
    RnnRows<T> rows{x_ + node_.x_row(t, part.first), node_.x_row(0, 1) - node_.x_row(0, 0),
                    part.sequences, next, steps * part.sequences};
    // One run of all, if that is the same.
    if (part.sequences == 1) rows.pitch = next;
    if (rows.run * rows.pitch == next) rows.run = rows.count;
    return rows;
  }
  /// If there is a Summary, threads need not know more of each other's sequences.
  bool by_sequences() const { return kTogether<W> && sequences_ >= context_.threads(); }
  bool has_lengths() const { return step_.lengths != nullptr && sequences_ > 1; }
  /// Steps whose gates are projected at once.
  [[gnu::cold, gnu::noinline]] int64_t steps_of(const Step& part) const {
    const int64_t steps = has_lengths() ? 1 : places_.rows / part.sequences;
    return steps > 1 && (W::kRuns || rows_of(part, steps).run > part.sequences) ? steps : 1;
  }
  void project(const Step& part, int64_t steps) const {
    RnnRows<T> rows = rows_of(part, steps);
    if constexpr (W::kRows > 1) {
      if (has_lengths()) {
        static_assert(std::is_same_v<T, V>);
        V* const input = part.units.own + places_.input;
        for (int64_t i = 0; i < part.sequences; ++i) {
          // Of one that has ended any row does.
          const int64_t own = part.ended(i) ? 0 : time_of(part.length(i), part.at);
          std::memcpy(input + i * node_.features, x_ + node_.x_row(own, part.first + i),
                      static_cast<size_t>(node_.features) * sizeof(V));
        }
        rows = {input, node_.features, part.sequences, 0, part.sequences};
      }
    }
    weights_.project(rows, part.gates, part.units);
  }
  /// The steps whose gates are projected with those of a step. Threads that share sequences do so
  /// each on its own; those that share units, all in the same steps.
  RnnProjected projected_of(int64_t step, int part) const {
    if (by_sequences()) return projected_[part];
    const int64_t begin = step - step % steps_;
    return {begin, begin + steps_, 1};
  }
  /// Of a single sequence the gates of a step lie together, of several those of a gate.
  void place_gates(Step& own, const RnnProjected& of) const {
    const bool one = sequences_ == 1;
    const int64_t row = one ? node_.rows() : node_.hidden, of_step = own.sequences * row;
    V* const memory = by_sequences() ? own.units.own : scratch_;
    own.gates = {memory + places_.gates + (own.at - of.begin) * of_step, row,
                 one ? node_.hidden : (of.end - of.begin) * of_step};
  }

  /// What a part of a step needs of no other.
  [[gnu::noinline]] void prepare(int64_t at, int part, int parts) {
    RnnProjected& last = projected_[by_sequences() ? part : 0];
    if (by_sequences() ? last.parts == parts && at < last.end : at % (steps_ * phases_) != 0)
      return;
    Step own = own_of(at, part, parts);
    if (by_sequences()) last = {own.at, own.at + steps_of(own), parts};
    if (own.units.begin >= own.units.end) return;
    const RnnProjected of = projected_of(own.at, part);
    const int64_t steps = of.end - of.begin, left = longest_ - own.at;
    place_gates(own, of);
    project(own, steps < left ? steps : left);
  }

  /// A part of a step.
  [[gnu::noinline]] void take(int64_t at, int part, int parts) {
    Step own = own_of(at, part, parts);
    place_gates(own, projected_of(own.at, part));
    // What the others have written is asked for at once: a product would come to it line by line.
    const int64_t states = sequences_ * node_.hidden;
    for (int64_t i = 0; !by_sequences() && parts > 1 && i < states; i += 64 / sizeof(V)) {
      __builtin_prefetch(own.states.h + i);
    }
    if constexpr (kTogether<W>) {
      own.summary = told_.of_step(own.at);
      const int before = told_.parts(own.at);
      if (by_sequences() && before != parts) fetch(own, part, before);
    }
    if (own.units.begin < own.units.end) compute(own, static_cast<int>(at % phases_));
    if constexpr (kTogether<W>) told_.tell(own.at + 1, part, parts, summary_of(own));
  }

  /// The states of its sequences, from the parts that had them in the step before.
  void fetch(const Step& own, int part, int before) const {
    const auto bytes = static_cast<size_t>(node_.hidden) * sizeof(V);
    for (int64_t i = 0; i < own.sequences; ++i) {
      const int64_t of_group = own.first - first_ + i, place = i * node_.hidden;
      const auto owner = static_cast<int>(((of_group + 1) * before - 1) / sequences_);
      const int64_t from = memory_[thread_ + owner] - memory_[thread_ + part];
      if (owner == part) continue;
      for (V* to : {own.states.h, own.states.c}) std::memcpy(to + place, to + place + from, bytes);
    }
  }

  void compute(const Step& part, int phase) const {
    const int64_t begin = part.units.begin, end = part.units.end;
    Layer::advance(attributes_, part, phase);
    if (phase + 1 < phases_) return;
    // Several sequences at once, where their rows of Y are neighbours.
    const bool dense = part.lengths == nullptr && end - begin == node_.hidden &&
                       node_.y_row(0, d_, 1) - node_.y_row(0, d_, 0) == node_.hidden;
    const int64_t run = dense ? part.sequences : 1;
    for (int64_t i = 0; i < part.sequences; i += run) {
      if (part.ended(i)) continue;
      const int64_t row = node_.y_row(time_of(part.length(i), part.at), d_, part.first + i) + begin;
      store_state<T>(context_.output(0), row, run * (end - begin),
                     part.states.next + i * node_.hidden + begin);
    }
    for (int64_t i = 0; i < part.sequences; ++i) {
      if (part.at + 1 == part.length(i)) finish(part, part.states.next, i);
    }
  }

  typename W::Summary summary_of(const Step& own) const {
    typename W::Summary summary{};
    const int64_t count = own.units.end - own.units.begin;
    const int64_t run = own.lengths == nullptr && count == node_.hidden ? own.sequences : 1;
    for (int64_t i = 0; i < own.sequences; i += run) {
      if (own.ended(i)) continue;
      const V* next = own.states.next + i * node_.hidden + own.units.begin;
      weights_.summarize(next, run * count, summary);
    }
    return summary;
  }

  /// Y beyond a sequence's length.
  [[gnu::cold]] void clear_rest() const {
    T* y = context_.output(0).as<T>();
    for (int64_t i = 0; i < sequences_; ++i) {
      for (int64_t t = step_.length(i); y != nullptr && t < node_.time; ++t) {
        std::memset(static_cast<void*>(y + node_.y_row(t, d_, first_ + i)), 0,
                    static_cast<size_t>(node_.hidden) * sizeof(T));  // 0 in all types
      }
    }
  }

  const KernelContext& context_;
  const typename Layer::Rule::Attributes& attributes_;
  const RnnNode& node_;
  const int64_t d_, first_, sequences_;
  const PerThread<V>& memory_;
  const int thread_;
  const W weights_;
  const RnnScratch<W> places_;
  V* const scratch_;
  const int phases_;
  const bool reverse_;
  const int64_t units_;
  const T* const x_;
  Step step_;          // the first one of all sequences
  int64_t steps_ = 1;  // that are projected at once, of all sequences
  int64_t longest_ = 0;
  RnnTold<W> told_;
  RnnProjected projected_[kTogether<W> ? kRnnParts : 1];
};

}  // namespace intarsia::cpu
