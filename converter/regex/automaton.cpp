// SPDX-License-Identifier: Apache-2.0
#include "converter/regex/automaton.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "converter/regex/program.h"

namespace intarsia::converter::regex {
namespace {

/// Limits of what lists and a table may hold, of the states in the table's states, and of the work
/// to find it.
constexpr size_t kMostListed = 1'000'000;
constexpr size_t kMostStates = 10'000;
constexpr size_t kMostTransitions = 1'000'000;
constexpr size_t kMostHeld = 10'000'000;
constexpr size_t kMostWork = 100'000'000;
constexpr size_t kMostSplitting = 4'000'000;

/// Bytes that no position tells apart have the same class.
Classes classes_of(const Positions& positions) {
  std::vector<int> classes(256);
  std::set<std::string> distinct;
  int count = 1;
  for (const Position& position : positions) {
    if (!distinct.insert(position.bytes.to_string()).second) continue;
    std::map<std::pair<int, bool>, int> split;
    for (size_t byte = 0; byte < 256; ++byte) {
      const auto key = std::pair(classes[byte], position.bytes.test(byte));
      classes[byte] = split.try_emplace(key, static_cast<int>(split.size())).first->second;
    }
    count = static_cast<int>(split.size());
  }
  return {{classes.begin(), classes.end()}, count};
}

/// The classes whose bytes each position reads.
std::vector<std::vector<uint8_t>> classes_read(const Positions& positions, const Classes& classes) {
  std::vector<std::vector<uint8_t>> read;
  for (const Position& position : positions) {
    std::set<uint8_t> found;
    for (size_t byte = 0; byte < 256; ++byte) {
      if (position.bytes.test(byte)) found.insert(classes.of_byte[byte]);
    }
    read.emplace_back(found.begin(), found.end());
  }
  return read;
}

/// States as rows of the next state for each class.
struct Rows {
  std::vector<std::vector<int>> next;
  std::vector<bool> accepting;
};

/// A state of the table is a set of states; state 0 has none, state 1 begins.
class Determiner {
 public:
  explicit Determiner(const StateLists& lists)
      : lists_(lists),
        classes_(static_cast<size_t>(lists.classes.count)),
        seen_(lists.accepting.size()) {}

  /// Nothing where that would be too large.
  std::optional<Rows> run() {
    state({});
    state({0});
    for (size_t i = 0; i < states_.size(); ++i) {
      if (is_too_large()) return std::nullopt;
      std::vector<int> row;
      for (size_t column = 0; column < classes_; ++column) {
        row.push_back(state(after(*states_[i], column)));
      }
      rows_.next.push_back(std::move(row));
      rows_.accepting.push_back(std::any_of(
          states_[i]->begin(), states_[i]->end(),
          [this](int each) { return lists_.accepting[static_cast<size_t>(each)] != 0; }));
    }
    return std::move(rows_);
  }

 private:
  using Set = std::vector<int>;

  int state(Set wanted) {
    const auto [place, fresh] =
        numbers_.try_emplace(std::move(wanted), static_cast<int>(states_.size()));
    if (fresh) {
      states_.push_back(&place->first);
      held_ += place->first.size();
    }
    return place->second;
  }

  Set after(const Set& set, size_t column) {
    Set next;
    ++round_;
    for (const int each : set) {
      const size_t place = static_cast<size_t>(each) * classes_ + column;
      const bool is_last = place + 1 == lists_.begins.size();
      const size_t end =
          is_last ? lists_.next.size() : static_cast<size_t>(lists_.begins[place + 1]);
      for (auto i = static_cast<size_t>(lists_.begins[place]); i < end; ++i, ++work_) {
        const int behind = lists_.next[i];
        size_t& seen = seen_[static_cast<size_t>(behind)];
        if (seen != round_) next.push_back(behind);
        seen = round_;
      }
    }
    work_ += set.size();
    std::sort(next.begin(), next.end());
    return next;
  }

  bool is_too_large() const {
    return states_.size() > kMostStates || states_.size() * classes_ > kMostTransitions ||
           held_ > kMostHeld || work_ > kMostWork;
  }

  const StateLists& lists_;
  const size_t classes_;
  std::map<Set, int> numbers_;
  std::vector<const Set*> states_;
  Rows rows_;
  std::vector<size_t> seen_;
  size_t round_ = 0;
  size_t held_ = 0;
  size_t work_ = 0;
};

/// For each state the number of its block: states of one block accept the same strings. Blocks of
/// states that differ are split until none is left; where that takes long, the states stay apart.
std::vector<int> blocks_of(const Rows& rows) {
  std::vector<int> blocks(rows.accepting.begin(), rows.accepting.end());
  const size_t round = rows.next.size() * rows.next[0].size();
  for (size_t count = 0, work = round;; work += round) {
    if (work > kMostSplitting) {
      std::iota(blocks.begin(), blocks.end(), 0);
      return blocks;
    }
    std::map<std::vector<int>, int> by_row;
    std::vector<int> finer;
    for (size_t state = 0; state < blocks.size(); ++state) {
      std::vector<int> row = {blocks[state]};
      for (const int next : rows.next[state]) row.push_back(blocks[static_cast<size_t>(next)]);
      finer.push_back(
          by_row.try_emplace(std::move(row), static_cast<int>(by_row.size())).first->second);
    }
    if (by_row.size() == count) return finer;
    count = by_row.size();
    blocks = std::move(finer);
  }
}

}  // namespace

StateLists compile(std::string_view pattern) {
  const Positions positions = positions_of(program_of(*parse(pattern)));
  StateLists lists;
  lists.classes = classes_of(positions);
  const auto read = classes_read(positions, lists.classes);
  // Positions with the same ones behind them lead to the same state.
  std::map<std::pair<std::vector<int>, bool>, int> numbers;
  std::vector<const Position*> states;
  std::vector<int> state_behind;
  for (const Position& position : positions) {
    const auto [place, fresh] =
        numbers.try_emplace({position.follow, position.last}, static_cast<int>(states.size()));
    if (fresh) states.push_back(&position);
    state_behind.push_back(place->second);
  }
  std::vector<std::set<int>> next(static_cast<size_t>(lists.classes.count));
  for (const Position* state : states) {
    for (auto& each : next) each.clear();
    for (const int follower : state->follow) {
      const auto place = static_cast<size_t>(follower);
      for (const uint8_t column : read[place]) next[column].insert(state_behind[place]);
    }
    for (const auto& each : next) {
      lists.begins.push_back(static_cast<int32_t>(lists.next.size()));
      lists.next.insert(lists.next.end(), each.begin(), each.end());
    }
    lists.accepting.push_back(state->last ? 1 : 0);
    if (std::max(lists.next.size(), lists.begins.size()) > kMostListed) {
      throw PatternError("the pattern becomes too large: write smaller numbers in braces");
    }
  }
  return lists;
}

std::optional<Table> determine(const StateLists& lists) {
  const std::optional<Rows> found = Determiner(lists).run();
  if (!found) return std::nullopt;
  const std::vector<int> blocks = blocks_of(*found);
  Table table;
  table.classes = lists.classes;
  // Blocks are numbered as their first states are, so that the first two stay the first; they may
  // be one.
  for (size_t state = 0; state < blocks.size(); ++state) {
    if (blocks[state] != static_cast<int>(table.accepting.size())) continue;
    table.accepting.push_back(found->accepting[state] ? 1 : 0);
    for (const int next : found->next[state]) {
      table.transitions.push_back(static_cast<uint16_t>(blocks[static_cast<size_t>(next)]));
    }
  }
  return table;
}

}  // namespace intarsia::converter::regex
