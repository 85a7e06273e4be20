// SPDX-License-Identifier: Apache-2.0
//
// How Intarsia reports failure: a one-byte `Status`, a `Result<T>`, and a `Diagnostic` of plain
// data.
//
// No function of the runtime throws, logs or formats text. A function that can fail returns
// `Status` or `Result<T>`, both `[[nodiscard]]`. What exactly was wrong (node, tensor, axis,
// expected, found) is left in a `Diagnostic`; `describe` in "intarsia/describe.h" turns it into a
// sentence on demand and lives in its own object file, so that a program which never asks for text
// links none.
//
// All types here are plain values; they may be copied between threads.
//
//     intarsia::Status s = session.run();
//     if (!s) {
//       char text[256];
//       intarsia::describe(session.diagnostic(), session.plan(), text, sizeof(text));
//     }
//
// Which code means what for the caller: a wrong call (kInvalidArgument, kUnknownName, kWrongType,
// kWrongRank, kWrongExtent at resize) is a mistake in the program; kNotAPlan to kCorruptPlan
// concern the file; kMissingKernel the program's kernel set; the arena's two codes the memory it
// was given; kIndexOutOfRange, kDivisionByZero, kInvalidValue, kContradiction, kTooManySteps and
// kTooManyCharacters the data of this run, after which the session may be run again with other
// data. docs/errors.md has a row for each.
#pragma once

#include <cstdint>

namespace intarsia {

/// Why a call failed. Numbers are stable within a major version.
enum class Code : uint8_t {
  kOk = 0,
  kInvalidArgument,     ///< A call's argument is unusable: null buffer, index out of range.
  kNotAPlan,            ///< The bytes do not begin with a plan's magic number.
  kUnsupportedVersion,  ///< The plan's format is newer than this library reads.
  kTruncatedPlan,       ///< The bytes end before the plan does.
  kCorruptPlan,         ///< An offset, extent, type or checksum in the plan is impossible.
  kMissingKernel,       ///< The program's kernel set lacks a kernel that the plan requires.
  kArenaTooSmall,       ///< The arena has fewer bytes than the plan requires.
  kArenaMisaligned,     ///< The arena does not start at a multiple of kArenaAlignment.
  kUnknownName,         ///< No input, output or entry point has this name.
  kWrongType,           ///< A tensor's element type differs from the requested or planned one.
  kWrongRank,           ///< A tensor's rank differs from the planned one.
  kWrongExtent,         ///< An extent is outside the planned range or contradicts another one.
  kIndexOutOfRange,     ///< A value used as an index lies outside its axis.
  kDivisionByZero,      ///< An integer division by zero.
  kInvalidValue,        ///< A value that the operator's specification does not allow.
  kContradiction,       ///< A branch that contradicts itself at the planned extents was taken.
  kUnsupported,         ///< A valid request that this kernel does not serve.
  kBusy,                ///< The session is running in another thread.
  kOperatorFailed,      ///< An operator reported a failure of its own.
  kTooManySteps,        ///< A run executed more nodes of sub-graphs than the session permits.
  kTooManyCharacters,   ///< Strings have more characters than the plan has room for.
};

/// Outcome of a call: one byte, true when it succeeded. Compares with codes; never carries text or
/// memory, so returning one costs a register. Ignoring one is a compiler warning.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr Status(Code code) : code_(code) {}  // NOLINT: a code is a status
  constexpr bool ok() const { return code_ == Code::kOk; }
  constexpr explicit operator bool() const { return ok(); }
  constexpr Code code() const { return code_; }
  friend constexpr bool operator==(Status, Status) = default;

 private:
  Code code_ = Code::kOk;
};

/// A value, or the reason why there is none.
///
/// Invariant: `ok()` exactly if `status()` is kOk. `value()`, `*` and `->` REQUIRE `ok()`; on
/// failure they give a default-made T, which for a Session is one that is not open. Of a temporary,
/// `value()` and `*` give the T itself, so that `for (float& x : session.input<float>(0).value())`
/// is safe. T must be movable and have a default constructor.
template <class T>
class [[nodiscard]] Result {
 public:
  constexpr Result(T value) : value_(static_cast<T&&>(value)) {}  // NOLINT
  constexpr Result(Status status) : status_(status) {}            // NOLINT
  constexpr Result(Code code) : status_(code) {}                  // NOLINT
  constexpr bool ok() const { return status_.ok(); }
  constexpr explicit operator bool() const { return ok(); }
  constexpr Status status() const { return status_; }
  constexpr T& value() & { return value_; }
  constexpr const T& value() const& { return value_; }
  constexpr T value() && { return static_cast<T&&>(value_); }
  constexpr T& operator*() & { return value_; }
  constexpr T operator*() && { return static_cast<T&&>(value_); }
  constexpr T* operator->() { return &value_; }
  constexpr const T* operator->() const { return &value_; }

 private:
  T value_{};
  Status status_;
};

/// What went wrong, as data. Fields that do not apply hold -1 (indices) or 0 (numbers).
///
/// A session keeps the diagnostic of its last failing call; the next run clears it. Nothing in it
/// needs freeing. `what` has static storage; `text` belongs to whoever supplied it: the caller
/// whose name was looked up, or the operator that failed, whose message stays until the next call
/// that reaches the operator.
struct Diagnostic {
  Code code = Code::kOk;
  /// The thing that is wrong, a string literal such as "input extent"; never null. In it "{}"
  /// stands for `found`, and "{expected}" for `expected`.
  const char* what = "";
  /// Index of the node in the plan, or -1.
  int32_t node = -1;
  /// Index of the operand of that node (inputs, then outputs), or of the graph input; -1 if none.
  int32_t operand = -1;
  /// The axis, or -1.
  int32_t axis = -1;
  /// What was required and what was found; units follow from `what` (bytes, extents, versions).
  int64_t expected = 0;
  int64_t found = 0;
  /// The name that was looked up (kUnknownName), or what an operator says of its own failure, of
  /// any length, for instance the traceback of a Python operator; else null.
  const char* text = nullptr;
  uint32_t text_length = 0;
};

}  // namespace intarsia
