// SPDX-License-Identifier: Apache-2.0
//
// The list of shape functions for run time: of every rule that a definition names (add<Rule>,
// core/definitions/rows.h). Programs link those that their plans name.
#include "core/kernel_list.h"
#include "core/operators/elementwise/elementwise.h"
#include "core/operators/indexing/gather.h"
#include "core/operators/indexing/non_max_suppression.h"
#include "core/operators/indexing/one_hot.h"
#include "core/operators/indexing/scatter.h"
#include "core/operators/indexing/selection.h"
#include "core/operators/linear_algebra/inverse.h"
#include "core/operators/linear_algebra/matmul.h"
#include "core/operators/ml/support_vectors.h"
#include "core/operators/ml/tree_ensemble.h"
#include "core/operators/movement/concat_split.h"
#include "core/operators/movement/depth_to_space.h"
#include "core/operators/movement/grid_sample.h"
#include "core/operators/movement/pad.h"
#include "core/operators/movement/resize.h"
#include "core/operators/movement/reverse_sequence.h"
#include "core/operators/movement/slice.h"
#include "core/operators/movement/transpose.h"
#include "core/operators/movement/trilu.h"
#include "core/operators/nn/attention.h"
#include "core/operators/nn/conv.h"
#include "core/operators/nn/deform_conv.h"
#include "core/operators/nn/mel_weight_matrix.h"
#include "core/operators/nn/normalization.h"
#include "core/operators/nn/pool.h"
#include "core/operators/nn/roi.h"
#include "core/operators/nn/softmax.h"
#include "core/operators/quantization/codes.h"
#include "core/operators/quantization/matmul_blocks.h"
#include "core/operators/quantization/quantize.h"
#include "core/operators/random/random.h"
#include "core/operators/recurrent/linear_attention.h"
#include "core/operators/recurrent/rnn.h"
#include "core/operators/reduction/reduction.h"
#include "core/operators/shape/expand.h"
#include "core/operators/shape/extents.h"
#include "core/operators/shape/fill.h"
#include "core/operators/shape/range.h"
#include "core/operators/shape/reshape.h"
#include "core/operators/strings/lookup.h"
#include "core/operators/strings/murmur_hash.h"
#include "core/operators/strings/ngrams.h"
#include "core/operators/strings/regex.h"
#include "core/operators/strings/strings.h"
#include "core/operators/strings/tokens.h"

namespace intarsia::ops {

extern const std::span<const ShapeFunction* const> shape_functions;
constinit const std::span<const ShapeFunction* const> shape_functions = shape_list<
    ArgReduce, AveragePool, BatchNormalization, Bernoulli, BitCast, Broadcast, Cast, CombineCodes,
    Compress, Concat, ConstantOfShape, Conv, ConvInteger, ConvRequantize, ConvTranspose, DeformConv,
    DepthToSpace, DequantizeLinear, Det, Dropout, DynamicLstm, Expand, EyeLike, Flatten, Gather,
    GatherElements, GatherND, Gemm, GlobalLpPool, GlobalPool, GridSample, GroupNormalization, Gru,
    InstanceNormalization, Inverse, LayerNormalization, LinearAttention, Lookup, LpNormalization,
    LpPool, Lrn, Lstm, MapCodes, MatMul, MatMulBlocks, MatMulInteger, MaxPool, MaxRoiPool,
    MeanVarianceNormalization, MelWeightMatrix, Multinomial, MurmurHash3, NgramCounts,
    NonMaxSuppression, NonZero, OneHot, Pad, PairwiseProbabilities, QuantizeLinear, RandomNormal,
    RandomNormalLike, RandomUniform, RandomUniformLike, Range, Reduce, RegexFullMatch, RegexStates,
    Reinterpret, Requantize, Reshape, Resize, ReverseSequence, RmsNormalization, Rnn, RoiAlign,
    Rotate, SameShape, ScaledMatMul, ScatterElements, ScatterND, ShapeOf, Size, Slice, Softmax,
    SpaceToDepth, Split, Squeeze, StringNormalizer, StringSplit, SumCodes, SupportVectors, Tile,
    Tokens, TopK, Transpose, TreeEnsemble, Trilu, Unique, Unsqueeze, WhereShape>();

}  // namespace intarsia::ops
