// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/nn/conv_packed.h"
#include "kernels_cpu/nn/conv_reference.h"
#include "kernels_cpu/nn/conv_transpose.h"
#include "kernels_cpu/nn/lrn.h"
#include "kernels_cpu/nn/normalization.h"
#include "kernels_cpu/nn/normalization_axes.h"
#include "kernels_cpu/nn/pool.h"
#include "kernels_cpu/nn/pool_global.h"
#include "kernels_cpu/nn/softmax.h"

namespace intarsia::cpu {

extern const KernelList nn_kernels;
constinit const KernelList nn_kernels =
    kernel_list<Bounded<ConvDepthwise<DepthwiseWindow<3, 1>>>, ConvDepthwise<DepthwiseWindow<3, 1>>,
                Bounded<ConvDepthwise<DepthwiseWindow<3, 2>>>, ConvDepthwise<DepthwiseWindow<3, 2>>,
                Bounded<ConvDepthwise<DepthwiseWindow<5, 1>>>, ConvDepthwise<DepthwiseWindow<5, 1>>,
                Bounded<ConvDepthwise<DepthwiseWindow<5, 2>>>, ConvDepthwise<DepthwiseWindow<5, 2>>,
                Bounded<ConvDepthwise<DepthwiseWindow<7, 1>>>, ConvDepthwise<DepthwiseWindow<7, 1>>,
                Bounded<ConvDepthwise<DepthwiseWindow<0, 0>>>, ConvDepthwise<DepthwiseWindow<0, 0>>,
                Bounded<ConvPacked>, ConvPacked, Each<Conv, Floats>, Each<ConvTranspose, Floats>,
                Each<MaxPool, Join<Floats, Types<int8_t, uint8_t>>>, Each<AveragePool, Floats>,
                Each<LpPool, Floats>, Each<GlobalAveragePool, Floats>, Each<GlobalMaxPool, Floats>,
                Each<GlobalLpPool, Floats>, BatchNormalization<float, float>,
                BatchNormalization<double, double>,
                EachPair<BatchNormalization, Types<Float16>, Types<Float16, float>>,
                EachPair<BatchNormalization, Types<BFloat16>, Types<BFloat16, float>>,
                Each<InstanceNormalization, Floats>, Each<GroupNormalization, Floats>,
                Each<LayerNormalization, Floats>, RMSNormalization<float, float>,
                RMSNormalization<double, double>,
                EachPair<RMSNormalization, Types<Float16>, Types<Float16, float>>,
                EachPair<RMSNormalization, Types<BFloat16>, Types<BFloat16, float>>,
                Each<LpNormalization, Floats>, Each<MeanVarianceNormalization, Floats>,
                Each<LRN, Floats>,
                EachPair<FastSoftmaxLike, Types<SoftmaxOp, LogSoftmaxOp>, Types<float>>,
                EachPair<SoftmaxLike, Types<SoftmaxOp, LogSoftmaxOp, HardmaxOp>, Floats>>();

}  // namespace intarsia::cpu
