// SPDX-License-Identifier: Apache-2.0
#include "converter/regex/program.h"

#include <algorithm>
#include <map>
#include <utility>

namespace intarsia::converter::regex {
namespace {

constexpr size_t kMostInstructions = 60'000;
constexpr size_t kMostPositions = 30'000;
constexpr size_t kMostFollowing = 2'000'000;

[[noreturn]] void too_large() {
  throw PatternError(
      "the pattern becomes too large: its repetitions multiply; write smaller numbers in braces");
}

/// Makes instructions from the end of the expression to its begin: each part is told where it goes
/// on.
class Builder {
 public:
  Program run(const Expression& expression) {
    program_.instructions.emplace_back();
    program_.start = build(expression, 0);
    return std::move(program_);
  }

 private:
  int add(Expression::Kind kind, std::vector<int> next) {
    if (program_.instructions.size() >= kMostInstructions) too_large();
    program_.instructions.push_back({kind, {}, std::move(next)});
    return static_cast<int>(program_.instructions.size()) - 1;
  }
  int read(const ByteSet& bytes, int next) {
    const int made = add(Expression::kSet, {next});
    program_.instructions.back().bytes = bytes;
    return made;
  }
  int any_of(std::vector<int> next) {
    return next.size() == 1 ? next[0] : add(Expression::kChoice, std::move(next));
  }

  int build(const Expression& expression, int next) {
    if (++steps_ > 10 * kMostInstructions) too_large();
    switch (expression.kind) {
      case Expression::kEmpty:
        return next;
      case Expression::kSet:
        return any_of(code_points(expression.set, next));
      case Expression::kByte:
        return read(ByteSet().set(), next);
      case Expression::kSequence:
        for (size_t i = expression.children.size(); i-- > 0;) {
          next = build(*expression.children[i], next);
        }
        return next;
      case Expression::kChoice: {
        std::vector<int> branches;
        for (const auto& child : expression.children) branches.push_back(build(*child, next));
        return any_of(std::move(branches));
      }
      case Expression::kRepeat:
        return repeat(expression, next);
      default:
        return add(expression.kind, {next});
    }
  }

  int repeat(const Expression& expression, int next) {
    const Expression& body = *expression.children[0];
    int left = expression.least;
    if (expression.most == Expression::kAnyNumber) {
      const int again = add(Expression::kChoice, {});
      const int first = build(body, again);
      program_.instructions[static_cast<size_t>(again)].next = {first, next};
      next = left > 0 ? first : again;
      if (left > 0) --left;
    } else {
      int tail = next;
      for (int i = expression.least; i < expression.most; ++i) {
        tail = any_of({build(body, tail), next});
      }
      next = tail;
    }
    for (; left > 0; --left) next = build(body, next);
    return next;
  }

  /// Instructions, any of which begins one code point of the set.
  std::vector<int> code_points(const CodeSet& set, int next) {
    ends_.clear();
    std::vector<int> begins;
    ByteSet bytes;
    for (const CodeRange& range : set) {
      for (uint32_t i = range.first; i <= std::min(range.last, 0x7fu); ++i) bytes.set(i);
    }
    if (bytes.any()) begins.push_back(read(bytes, next));
    constexpr uint32_t kFirst[] = {0x80, 0x800, 0x10000, kLastCodePoint + 1};
    constexpr uint32_t kLead[] = {0xc0, 0xe0, 0xf0};
    for (int more = 1; more <= 3; ++more) {
      const CodeSet part = within(set, kFirst[more - 1], kFirst[more] - 1, 0);
      const std::vector<int> found = sequences(part, kLead[more - 1], more, next);
      begins.insert(begins.end(), found.begin(), found.end());
    }
    if (begins.empty()) begins.push_back(read(ByteSet(), next));  // matches nothing
    return begins;
  }

  /// The part of a set in [first, last], counted from `base`.
  static CodeSet within(const CodeSet& set, uint32_t first, uint32_t last, uint32_t base) {
    CodeSet part;
    for (const CodeRange& range : set) {
      if (range.last < first || range.first > last) continue;
      part.push_back({std::max(range.first, first) - base, std::min(range.last, last) - base});
    }
    return part;
  }

  /// Instructions that read a byte and `more` bytes of 6 bits behind it, which together say a
  /// number of the set; `lead` is the first byte's part that says no number. Bytes with equal rests
  /// share them.
  std::vector<int> sequences(const CodeSet& set, uint32_t lead, int more, int next) {
    if (set.empty()) return {};
    const auto key = std::pair(more, set);
    if (const auto found = ends_.find(key); lead == 0x80 && found != ends_.end()) {
      return found->second;
    }
    const uint32_t shift = 6 * static_cast<uint32_t>(more);
    std::map<CodeSet, ByteSet> by_rest;
    for (uint32_t part = set.front().first >> shift; part <= set.back().last >> shift; ++part) {
      const uint32_t base = part << shift;
      CodeSet rest = within(set, base, base + (1u << shift) - 1, base);
      if (!rest.empty()) by_rest[std::move(rest)].set(lead | part);
    }
    std::vector<int> begins;
    for (const auto& [rest, bytes] : by_rest) {
      const int behind = more == 0 ? next : any_of(sequences(rest, 0x80, more - 1, next));
      begins.push_back(read(bytes, behind));
    }
    if (lead == 0x80) ends_[key] = begins;
    return begins;
  }

  Program program_;
  /// Of the set that is being built.
  std::map<std::pair<int, CodeSet>, std::vector<int>> ends_;
  size_t steps_ = 0;
};

/// A set of kinds, one bit for each.
using Kinds = uint32_t;
constexpr Kinds bit(ByteKind kind) {
  return 1u << static_cast<uint32_t>(kind);
}
constexpr Kinds kAllKinds = 15;

/// The kinds of what may follow where an assertion stands behind `before`.
Kinds allowed(Expression::Kind assertion, ByteKind before) {
  constexpr Kinds kWord = bit(ByteKind::kWord), kEnd = bit(ByteKind::kEnd);
  const bool after_word = before == ByteKind::kWord;
  const bool after_line = before == ByteKind::kEnd || before == ByteKind::kNewline;
  switch (assertion) {
    case Expression::kTextBegin:
      return before == ByteKind::kEnd ? kAllKinds : 0;
    case Expression::kTextEnd:
      return kEnd;
    case Expression::kLineBegin:
      return after_line ? kAllKinds : 0;
    case Expression::kLineEnd:
      return kEnd | bit(ByteKind::kNewline);
    case Expression::kWordBoundary:
      return after_word ? kAllKinds & ~kWord : kWord;
    case Expression::kNoWordBoundary:
      return after_word ? kWord : kAllKinds & ~kWord;
    default:
      return kAllKinds;
  }
}

/// Finds the positions of a program.
class Finder {
 public:
  explicit Finder(const Program& program) : program_(program) {}

  Positions run() {
    number_positions();
    size_t following = 0;
    for (size_t i = 0; i < positions_.size(); ++i) {
      const auto [next, kind] = behind_[i];
      const auto key = std::pair(next, kind);
      if (!reached_.contains(key)) reached_[key] = reach(next, kind);
      positions_[i].follow = reached_[key].first;
      positions_[i].last = reached_[key].second;
      following += positions_[i].follow.size();
      if (following > kMostFollowing) too_large();
    }
    return std::move(positions_);
  }

 private:
  using Reached = std::pair<std::vector<int>, bool>;

  /// A position for each kind of byte that an instruction reads, as far as assertions tell kinds
  /// apart.
  void number_positions() {
    bool words = false, lines = false;
    for (const Instruction& each : program_.instructions) {
      words = words || each.kind == Expression::kWordBoundary ||
              each.kind == Expression::kNoWordBoundary;
      lines = lines || each.kind == Expression::kLineBegin || each.kind == Expression::kLineEnd;
    }
    std::map<ByteKind, ByteSet> bytes_of;
    for (int byte = 0; byte < 256; ++byte) {
      const ByteKind kind = kind_of(byte);
      const bool known = kind == ByteKind::kWord ? words : lines;
      bytes_of[known ? kind : ByteKind::kOther].set(static_cast<size_t>(byte));
    }
    positions_.push_back({});
    behind_.push_back({program_.start, ByteKind::kEnd});
    at_.resize(program_.instructions.size());
    seen_.resize(program_.instructions.size());
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& each = program_.instructions[i];
      if (each.kind != Expression::kSet) continue;
      for (const auto& [kind, bytes] : bytes_of) {
        const ByteSet read = each.bytes & bytes;
        if (read.none()) continue;
        if (positions_.size() >= kMostPositions) too_large();
        at_[i].push_back({static_cast<int>(positions_.size()), kind});
        positions_.push_back({read});
        behind_.push_back({each.next[0], kind});
      }
    }
  }

  /// What may read the next byte behind a byte of kind `before`, from an instruction on; and
  /// whether the string may end.
  Reached reach(int from, ByteKind before) {
    std::vector<std::pair<int, Kinds>> open = {{from, kAllKinds}};
    Reached found;
    ++round_;
    while (!open.empty()) {
      const auto [index, kinds] = open.back();
      open.pop_back();
      const auto place = static_cast<size_t>(index);
      auto& [round, seen] = seen_[place];
      if (round != round_) seen = 0;
      round = round_;
      const Kinds fresh = kinds & ~seen;
      if (fresh == 0) continue;
      seen |= fresh;
      const Instruction& each = program_.instructions[place];
      if (index == 0) {
        found.second = found.second || (fresh & bit(ByteKind::kEnd)) != 0;
      } else if (each.kind == Expression::kSet) {
        for (const auto& [position, kind] : at_[place]) {
          if ((fresh & bit(kind)) != 0) found.first.push_back(position);
        }
      } else {
        for (const int next : each.next) open.push_back({next, fresh & allowed(each.kind, before)});
      }
    }
    std::sort(found.first.begin(), found.first.end());
    return found;
  }

  const Program& program_;
  Positions positions_;
  /// For each position the instruction behind it, and the kind of its byte.
  std::vector<std::pair<int, ByteKind>> behind_;
  /// For each instruction its positions, and what they read.
  std::vector<std::vector<std::pair<int, ByteKind>>> at_;
  std::map<std::pair<int, ByteKind>, Reached> reached_;
  /// For each instruction the last search that came by, and with which kinds.
  std::vector<std::pair<size_t, Kinds>> seen_;
  size_t round_ = 0;
};

}  // namespace

ByteKind kind_of(int byte) {
  if (byte == '\n') return ByteKind::kNewline;
  const bool word = byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                    (byte >= 'a' && byte <= 'z');
  return word ? ByteKind::kWord : ByteKind::kOther;
}

Program program_of(const Expression& expression) {
  return Builder().run(expression);
}

Positions positions_of(const Program& program) {
  return Finder(program).run();
}

}  // namespace intarsia::converter::regex
