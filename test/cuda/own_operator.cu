// SPDX-License-Identifier: Apache-2.0
#include "test/cuda/own_operator.h"

#include "kernels_cuda/common/device.h"

namespace own {
namespace {

using cuda::Global;

INTARSIA_GLOBAL first_kernel(float gain, Global<const float> x, Global<const float> bias,
                             Global<float> first) {
  first[0] = gain * x[0] + (bias.present() ? bias[0] : 0);
}

INTARSIA_GLOBAL sum_kernel(Global<const float> x, Global<float> first, Global<float> y,
                           int64_t count) {
  const int64_t i = int64_t{cuda::block_x()} * cuda::block_size() + cuda::thread_x();
  if (i < count) y[i] = x[i] + first[0];
}

INTARSIA_GLOBAL leading_kernel(Global<const float> x, float factor, Global<float> y) {
  const int64_t i = cuda::block_x();
  y[i] = factor * x[i];
}

INTARSIA_GLOBAL twice_kernel(Global<const float> x, Global<float> y) {
  const int64_t i = cuda::block_x();
  y[i] = 2 * x[i];
}

INTARSIA_GLOBAL relu_kernel(Global<const float> x, Global<float> y) {
  const int64_t i = cuda::block_x();
  y[i] = x[i] > 0 ? x[i] + 1000 : 0;
}

}  // namespace

Status BlendOnDevice::run(cuda::Stream stream, const Attributes& attributes, Input<float> x,
                          Optional<Input<float>> bias, Workspace scratch, Output<float> y) {
  const Global<const float> in(x.data(), x.size());
  const Global<const float> shift =
      bias ? Global<const float>(bias->data(), bias->size()) : Global<const float>();
  const Global<float> first(scratch.as<float>(), 1), out(y.data(), y.size());
  const Status status = stream.launched(
      cuda::launch<first_kernel>(1, 1, stream.handle(), attributes.gain, in, shift, first));
  if (!status) return status;
  const auto blocks = static_cast<unsigned>((x.size() + 63) / 64);
  return stream.launched(
      cuda::launch<sum_kernel>(blocks, 64, stream.handle(), in, first, out, x.size()));
}

Status LeadingOnDevice::run(const KernelContext& context, cuda::Stream stream, Input<float> x,
                            int64_t count, float factor, Output<float> y) {
  if (Status s = agree(context, count, x.size(), y.size()); !s) return s;
  return stream.launched(cuda::launch<leading_kernel>(
      static_cast<unsigned>(count), 1, stream.handle(), Global<const float>(x.data(), x.size()),
      factor, Global<float>(y.data(), y.size())));
}

Status Twice::run(cuda::Stream stream, Input<float> x, Output<float> y) {
  in_place = x.data() == y.data();
  return stream.launched(cuda::launch<twice_kernel>(
      static_cast<unsigned>(x.size()), 1, stream.handle(), Global<const float>(x.data(), x.size()),
      Global<float>(y.data(), y.size())));
}

Status LoudRelu::run(cuda::Stream stream, Input<float> x, Output<float> y) {
  return stream.launched(cuda::launch<relu_kernel>(
      static_cast<unsigned>(x.size()), 1, stream.handle(), Global<const float>(x.data(), x.size()),
      Global<float>(y.data(), y.size())));
}

}  // namespace own
