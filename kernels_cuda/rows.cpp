// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/rows.h"

#include "kernels_cuda/binary.h"
#include "kernels_cuda/conv.h"
#include "kernels_cuda/gemm.h"
#include "kernels_cuda/inverse.h"
#include "kernels_cuda/movement.h"
#include "kernels_cuda/pool.h"
#include "kernels_cuda/softmax.h"
#include "kernels_cuda/transfer.h"
#include "kernels_cuda/unary.h"

namespace intarsia::cuda {
namespace {

using definitions::KernelRows;

template <class K>
void add(KernelRows& rows, const std::string& name, std::string_view header) {
  rows.push_back(definitions::describe_apart<K>("intarsia::cuda::" + name, header));
}

/// K<W> for each width; `name` is how K is spelled.
template <template <ElementWidth> class K>
void add_widths(KernelRows& rows, const std::string& name) {
  constexpr std::string_view kHeader = "kernels_cuda/movement.h";
  add<K<ElementWidth::k8>>(rows, name + "<intarsia::ElementWidth::k8>", kHeader);
  add<K<ElementWidth::k16>>(rows, name + "<intarsia::ElementWidth::k16>", kHeader);
  add<K<ElementWidth::k32>>(rows, name + "<intarsia::ElementWidth::k32>", kHeader);
  add<K<ElementWidth::k64>>(rows, name + "<intarsia::ElementWidth::k64>", kHeader);
}

void add_unary(KernelRows& rows) {
  constexpr std::string_view kHeader = "kernels_cuda/unary.h";
  add<Abs>(rows, "Abs", kHeader);
  add<Ceil>(rows, "Ceil", kHeader);
  add<Clip>(rows, "Clip", kHeader);
  add<Elu>(rows, "Elu", kHeader);
  add<Erf>(rows, "Erf", kHeader);
  add<Exp>(rows, "Exp", kHeader);
  add<Floor>(rows, "Floor", kHeader);
  add<Gelu>(rows, "Gelu", kHeader);
  add<HardSigmoid>(rows, "HardSigmoid", kHeader);
  add<HardSwish>(rows, "HardSwish", kHeader);
  add<LeakyRelu>(rows, "LeakyRelu", kHeader);
  add<Log>(rows, "Log", kHeader);
  add<Neg>(rows, "Neg", kHeader);
  add<Reciprocal>(rows, "Reciprocal", kHeader);
  add<Relu>(rows, "Relu", kHeader);
  add<Sigmoid>(rows, "Sigmoid", kHeader);
  add<Softplus>(rows, "Softplus", kHeader);
  add<Sqrt>(rows, "Sqrt", kHeader);
  add<Swish>(rows, "Swish", kHeader);
  add<Tanh>(rows, "Tanh", kHeader);
}

void add_binary(KernelRows& rows) {
  constexpr std::string_view kHeader = "kernels_cuda/binary.h";
  add<Add>(rows, "Add", kHeader);
  add<Div>(rows, "Div", kHeader);
  add<Max>(rows, "Max", kHeader);
  add<Min>(rows, "Min", kHeader);
  add<Mul>(rows, "Mul", kHeader);
  add<Pow>(rows, "Pow", kHeader);
  add<PRelu>(rows, "PRelu", kHeader);
  add<Sub>(rows, "Sub", kHeader);
  add<Sum>(rows, "Sum", kHeader);
}

}  // namespace

const KernelRows& kernel_rows() {
  static const KernelRows kRows = [] {
    KernelRows rows;
    add<ToDevice>(rows, "ToDevice", "kernels_cuda/transfer.h");
    add<ToHost>(rows, "ToHost", "kernels_cuda/transfer.h");
    add_unary(rows);
    add_binary(rows);
    add<ConvPacked>(rows, "ConvPacked", "kernels_cuda/conv.h");
    add<Conv>(rows, "Conv", "kernels_cuda/conv.h");
    add<GemmPacked>(rows, "GemmPacked", "kernels_cuda/gemm.h");
    add<Gemm>(rows, "Gemm", "kernels_cuda/gemm.h");
    add<MatMul>(rows, "MatMul", "kernels_cuda/gemm.h");
    add<MaxPool>(rows, "MaxPool", "kernels_cuda/pool.h");
    add<AveragePool>(rows, "AveragePool", "kernels_cuda/pool.h");
    add<GlobalAveragePool>(rows, "GlobalAveragePool", "kernels_cuda/pool.h");
    add<GlobalMaxPool>(rows, "GlobalMaxPool", "kernels_cuda/pool.h");
    add<Softmax>(rows, "Softmax", "kernels_cuda/softmax.h");
    add<LogSoftmax>(rows, "LogSoftmax", "kernels_cuda/softmax.h");
    add_widths<Concat>(rows, "Concat");
    add<Flatten>(rows, "Flatten", "kernels_cuda/movement.h");
    add<Identity>(rows, "Identity", "kernels_cuda/movement.h");
    add<Reshape>(rows, "Reshape", "kernels_cuda/movement.h");
    add<Squeeze>(rows, "Squeeze", "kernels_cuda/movement.h");
    add_widths<Transpose>(rows, "Transpose");
    add<Unsqueeze>(rows, "Unsqueeze", "kernels_cuda/movement.h");
    add<Inverse<float>>(rows, "Inverse<float>", "kernels_cuda/inverse.h");
    add<Inverse<double>>(rows, "Inverse<double>", "kernels_cuda/inverse.h");
    add<Inverse<Float16>>(rows, "Inverse<intarsia::Float16>", "kernels_cuda/inverse.h");
    return rows;
  }();
  return kRows;
}

}  // namespace intarsia::cuda
