// SPDX-License-Identifier: Apache-2.0
#include "intarsia/checked_int.h"

namespace intarsia::internal {
namespace {

constexpr int64_t kBeyond = CheckedInt::kBeyond;

bool exact(int64_t value) {
  return CheckedInt(value).exact();
}
bool is_short(int64_t value) {
  return value == static_cast<int32_t>(value);
}

}  // namespace

int64_t checked_sum(int64_t a, int64_t b) {
  if (!exact(a)) return a;
  if (!exact(b)) return b;
  if (b > 0 ? a > kBeyond - b : a < -kBeyond - b) return b > 0 ? kBeyond : -kBeyond;
  return a + b;
}

int64_t checked_product(int64_t a, int64_t b) {
  if (is_short(a) && is_short(b)) return a * b;
  const int64_t beyond = (a < 0) == (b < 0) ? kBeyond : -kBeyond;
  if (!exact(a) || !exact(b)) return beyond;
  const int64_t magnitude = a < 0 ? -a : a, factor = b < 0 ? -b : b;
  return factor != 0 && magnitude > kBeyond / factor ? beyond : a * b;
}

int64_t checked_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (!exact(a) || !exact(b)) return (a < 0) == (b < 0) ? kBeyond : -kBeyond;
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace intarsia::internal
