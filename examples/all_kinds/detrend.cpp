// SPDX-License-Identifier: Apache-2.0
#include "detrend.h"

namespace kinds {

void Detrend::run(intarsia::Input<float> x, intarsia::Output<float> y) {
  const int64_t columns = x.rank() > 0 ? x.dim(x.rank() - 1) : 1;
  const double middle = static_cast<double>(columns - 1) / 2;
  for (int64_t first = 0; first < x.size(); first += columns) {
    double sum = 0, moment = 0, spread = 0;
    for (int64_t i = 0; i < columns; ++i) {
      const double place = static_cast<double>(i) - middle;
      sum += static_cast<double>(x[first + i]);
      moment += place * static_cast<double>(x[first + i]);
      spread += place * place;
    }
    const double mean = sum / static_cast<double>(columns),
                 slope = spread > 0 ? moment / spread : 0;
    for (int64_t i = 0; i < columns; ++i) {
      const double line = mean + slope * (static_cast<double>(i) - middle);
      y[first + i] = static_cast<float>(static_cast<double>(x[first + i]) - line);
    }
  }
}

}  // namespace kinds
