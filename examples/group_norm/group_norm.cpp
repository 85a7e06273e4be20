// SPDX-License-Identifier: Apache-2.0
#include "group_norm.h"

#include <Eigen/Core>

namespace mydomain {

using intarsia::Code;

template <class T>
intarsia::Status GroupNorm<T>::run(const intarsia::KernelContext& context,
                                   const Attributes& attributes, intarsia::Input<T> x,
                                   float num_groups, intarsia::Input<T> scale,
                                   intarsia::Input<T> bias, intarsia::Output<T> y) {
  const int64_t samples = x.dim(0), channels = x.dim(1);
  const bool in_range = num_groups >= 1 && num_groups <= static_cast<float>(channels);
  const int64_t groups = in_range ? static_cast<int64_t>(num_groups) : 0;
  if (groups < 1 || channels % groups != 0 || static_cast<float>(groups) != num_groups) {
    return context.fail(Code::kInvalidValue, "number of groups that divides the channels", channels,
                        groups, 1);
  }
  if (x.size() == 0) return {};
  // Maps view memory that is there already; nothing here allocates.
  using Values = Eigen::Array<T, Eigen::Dynamic, 1>;
  using In = Eigen::Map<const Values>;
  using Out = Eigen::Map<Values>;
  const int64_t per_group = channels / groups, area = x.size() / (samples * channels);
  for (int64_t group = 0; group < samples * groups; ++group) {
    const int64_t begin = group * per_group * area;
    const In values(x.data() + begin, per_group * area);
    const T mean = values.mean();
    const T variance = (values - mean).square().mean();
    const T inverse = T(1) / std::sqrt(variance + static_cast<T>(attributes.epsilon));
    for (int64_t i = 0; i < per_group; ++i) {
      const int64_t channel = (group % groups) * per_group + i;
      const T factor = inverse * scale[channel];
      Out(y.data() + begin + i * area, area) =
          In(x.data() + begin + i * area, area) * factor + (bias[channel] - mean * factor);
    }
  }
  return {};
}

}  // namespace mydomain

template struct intarsia::Instances<mydomain::Operators>;
