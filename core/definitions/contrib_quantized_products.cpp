// SPDX-License-Identifier: Apache-2.0
//
// Quantised products of com.microsoft, and the layers that begin with one: sums of integers,
// rescaled.
#include "core/definitions/contrib_rows.h"
#include "core/definitions/quantized_terms.h"
#include "core/operators/nn/normalization.h"
#include "core/operators/quantization/contrib.h"
#include "core/operators/recurrent/rnn.h"

namespace intarsia::definitions {
namespace {

constexpr auto kOptional = Parameter::kOptional;
constexpr TypeSet kFloatType = types({DataType::kFloat});
constexpr TypeSet kInt32Type = types({DataType::kInt32});

// -- Matrices
// --------------------------------------------------------------------------------------

/// y = alpha * A' * B' + C, of codes; as numbers where there is no scale of the result.
void gemm(ExpansionContext& e) {
  enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kC, kYScale, kYZero };
  const auto& a = e.attributes<QuantizedGemmAttributes>();
  const auto matrix = [&](Input input, bool turned) {
    const Term term = e.x(input);
    if (term.rank() != 2) {
      e.refuse("A and B have to have 2 axes; input " + std::to_string(input) + " has " +
               std::to_string(term.rank()));
    }
    return turned ? transpose(term, {1, 0}) : term;
  };
  if (e.has_x(kYScale) != e.has_x(kYZero)) {
    e.refuse("y_scale and y_zero_point belong together; one is missing");
  }
  Term sums = call("MatMulInteger", {matrix(kA, a.trans_a != 0), matrix(kB, a.trans_b != 0),
                                     single(e, kAZero), e.x(kBZero)});
  if (e.has_x(kC)) sums = sums + e.x(kC);
  Term factor = single(e, kAScale);
  if (a.alpha != 1) factor = double{a.alpha} * factor;
  factor = factor * e.x(kBScale);
  if (e.has_x(kYScale)) {
    e.set(0, requantized(e, sums, factor / single(e, kYScale), kYZero, 1));
  } else {
    e.set(0, rescaled(sums, factor, 1));
  }
}

/// The product of codes as numbers; `a_scale` is a scalar, and the scale of b, its zero point and
/// the bias are inputs, of which the last two may be absent.
Term product(ExpansionContext& e, Term a, Term a_scale, Term a_zero, int b_scale, int b_zero,
             int bias) {
  const Term b = e.x(1), zero = e.has_x(b_zero) ? e.x(b_zero) : b.number(0);
  const Term sums = call("MatMulInteger", {a, b, a_zero, zero});
  const Term scale = cast_to(a_scale, DataType::kFloat) * cast_to(e.x(b_scale), DataType::kFloat);
  const Term y = rescaled(sums, scale, -1);
  return e.has_x(bias) ? y + cast_to(e.x(bias), DataType::kFloat) : y;
}

void integer_matmul(ExpansionContext& e) {
  const Term y = product(e, e.x(0), single(e, 2), zero_point(e, 4, e.x(0)), 3, 5, 6);
  e.set(0, cast(y, e.x(2)));
}

/// A as bytes, by a scale and a zero point such that its range and 0 lie in 0 to 255.
void dynamic_matmul(ExpansionContext& e) {
  const Term a = e.x(0);
  const AttributeMap whole{{"keepdims", int64_t{0}}};
  const Term low = call("Min", {call("ReduceMin", {a}, whole), a.number(0)});
  const Term range = call("Max", {call("ReduceMax", {a}, whole), a.number(0)}) - low;
  const Term scale = where(call("Equal", {range, a.number(0)}), 1, range / 255.0);
  const Term zero = nearest(-(low / scale), DataType::kUint8);
  e.set(0, product(e, quantized(a, scale, zero), scale, zero, 2, 3, 4));
}

// -- Layers
// ----------------------------------------------------------------------------------------

/// Attention of what the codes stand for: its projections become products of integers where the
/// codes are those of constants.
void attention(ExpansionContext& e) {
  enum Input {
    kInput,
    kWeight,
    kBias,
    kInputScale,
    kWeightScale,
    kMask,
    kInputZero,
    kWeightZero,
    kPast
  };
  const Term input = e.x(kInput), weight = e.x(kWeight), scale = e.x(kWeightScale);
  if (input.rank() != 3) {
    e.refuse("input has to have 3 axes, found " + std::to_string(input.rank()));
  }
  Term zero = e.has_x(kWeightZero) ? e.x(kWeightZero) : weight.number(0);
  // One zero point for all, and a scale for each column.
  if (is_single(zero) && !is_single(scale)) zero = expand(zero, scale);
  std::vector<Term> operands{
      dequantized(input, single(e, kInputScale), zero_point(e, kInputZero, input)),
      dequantized(weight, scale, zero), e.x(kBias)};
  if (e.has_x(kMask)) operands.push_back(e.x(kMask));
  if (e.has_x(kPast)) {
    const Term past = e.x(kPast);
    if (past.rank() != 5) {
      e.refuse("past has to have 5 axes, found " + std::to_string(past.rank()));
    }
    if (!e.has_x(kMask)) {
      // As many keys as there are, for each item of the batch.
      const Term keys = extents(past, 3, 4) + extents(input, 1, 2);
      operands.push_back(call("Expand", {cast_to(keys, DataType::kInt32), extents(input, 0, 1)}));
    }
    operands.push_back(past);
  }
  const int outputs = e.wants(1) ? 2 : 1;
  const std::vector<Term> made = e.add("com.microsoft:Attention", operands, e.given(), outputs);
  for (int output = 0; output < outputs; ++output) e.set(output, made[static_cast<size_t>(output)]);
}

/// Embeddings from what the codes of the tables stand for; rows are chosen as codes where scales
/// are constants.
void embed_layer_normalization(ExpansionContext& e) {
  enum Input {
    kIds,
    kSegmentIds,
    kWord,
    kPosition,
    kSegment,
    kGamma,
    kBeta,
    kMask,
    kScales,
    kZeros = 13
  };
  const bool has_segments = e.has_x(kSegmentIds);
  for (const int input : {int{kSegment}, kScales + 2, kZeros + 2}) {
    if (e.has_x(input) != has_segments) {
      e.refuse(
          "segment_ids, segment_embedding, its scale and its zero point belong together; "
          "one is missing");
    }
  }
  const auto scaled = [&](Input codes) {
    if (!e.has_x(codes)) return e.absent();
    const int table = codes - kWord;
    return dequantized(e.x(codes), single(e, kScales + table), single(e, kZeros + table));
  };
  const std::vector<Term> operands{e.x(kIds),         e.x_if_any(kSegmentIds), scaled(kWord),
                                   scaled(kPosition), scaled(kSegment),        scaled(kGamma),
                                   scaled(kBeta),     e.x_if_any(kMask)};
  const int outputs = e.wants(1) ? 2 : 1;
  const std::vector<Term> made =
      e.add("com.microsoft:EmbedLayerNormalization", operands, e.given(), outputs);
  for (int output = 0; output < outputs; ++output) e.set(output, made[static_cast<size_t>(output)]);
}

/// W and R become [directions, gates, size], as LSTM has them, with a scale and a zero point for
/// each row.
void dynamic_lstm(ExpansionContext& e) {
  enum Input { kX, kW, kR, kB, kLengths, kH, kC, kPeepholes, kWScale, kWZero, kRScale, kRZero };
  const auto require_axes = [&](Input input, int expected) {
    if (e.x(input).rank() == expected) return;
    e.refuse("input " + std::to_string(input) + " has to have " + std::to_string(expected) +
             " axes, found " + std::to_string(e.x(input).rank()));
  };
  if (e.attributes<LstmAttributes>().rnn.layout != 0) {
    e.refuse("attribute layout: the operator knows 0 only");
  }
  std::vector<Term> inputs;
  for (int input = 0; input < e.input_count(); ++input) inputs.push_back(e.x_if_any(input));
  for (const auto& [codes, scale, zero] :
       {std::tuple(kW, kWScale, kWZero), std::tuple(kR, kRScale, kRZero)}) {
    require_axes(codes, 3);
    const Term turned = transpose(e.x(codes), {0, 2, 1});
    const Term rows = extents(turned, 0, 2);
    inputs[codes] = turned;
    for (const Input input : {scale, zero}) {
      const Term term = e.x(input);
      if (term.rank() != 2) require_axes(input, 1);  // those of a row, or one for all
      inputs[input] = call("Expand", {term.rank() == 1 ? unsqueeze(term, {1}) : term, rows});
    }
  }
  const std::vector<Term> outputs = e.add("intarsia:DynamicLSTM", inputs, e.given(), 3);
  for (int output = 0; output < 3; ++output) {
    e.set(output, outputs[static_cast<size_t>(output)]);
  }
}

}  // namespace

void add_contrib_quantized_product_definitions(DefinitionRows& rows) {
  const ContribRows row(rows);
  row("QGemm", gemm,
      {Parameter{"A", "TA"}.with("M K | K M | M K"),
       Parameter{"a_scale", "T"}.with("()").of(Domain::kPositive),
       Parameter{"a_zero_point", "TA"}.with("()"), Parameter{"B", "TB"}.with("K N | K N | N K"),
       Parameter{"b_scale", "T"}.with("() | N | N").of(Domain::kPositive),
       Parameter{"b_zero_point", "TB"}.with("() | N | ()"),
       Parameter{"C", "TC", kOptional}.with("N | M N | 1 N"),
       Parameter{"y_scale", "T", kOptional}.with("() | absent | ()").of(Domain::kPositive),
       Parameter{"y_zero_point", "TYZ", kOptional}.with("() | absent | ()")},
      {{"Y", "TY"}},
      {{"T", kFloatType},
       {"TA", kByteTypes},
       {"TB", kByteTypes},
       {"TC", kInt32Type},
       {"TYZ", kByteTypes},
       {"TY", kFloatType | kByteTypes}},
      codec_of<QuantizedGemmAttributes>());
  row("DynamicQuantizeMatMul", dynamic_matmul,
      {Parameter{"A", "T1"}.with("... K"), Parameter{"B", "T2"}.with("K N"),
       Parameter{"b_scale", "T1"}.with("() | N").of(Domain::kPositive),
       Parameter{"b_zero_point", "T2", kOptional}.with("() | N"),
       Parameter{"bias", "T1", kOptional}.with("N")},
      {{"Y", "T1"}}, {{"T1", kFloatType}, {"T2", kByteTypes}}, codec_of<NoAttributes>());
  row("MatMulIntegerToFloat", integer_matmul,
      {Parameter{"A", "T1"}.with("... K"), Parameter{"B", "T2"}.with("K N"),
       Parameter{"a_scale", "T3"}.with("()").of(Domain::kPositive),
       Parameter{"b_scale", "T3"}.with("() | N").of(Domain::kPositive),
       Parameter{"a_zero_point", "T1", kOptional}.with("()"),
       Parameter{"b_zero_point", "T2", kOptional}.with("() | N"),
       Parameter{"bias", "T3", kOptional}.with("N")},
      {{"Y", "T3"}},
      {{"T1", kByteTypes}, {"T2", kByteTypes}, {"T3", kFloatType | types({DataType::kFloat16})}},
      codec_of<NoAttributes>());
  row("QAttention", attention,
      {Parameter{"input", "T1"}.with("B S I"), Parameter{"weight", "T2"}.with("I 3*num_heads*D"),
       Parameter{"bias", "T3"}.with("3*num_heads*D"),
       Parameter{"input_scale", "T3"}.with("()").of(Domain::kPositive),
       Parameter{"weight_scale", "T3"}.with("() | 3*num_heads*D | ()").of(Domain::kPositive),
       Parameter{"mask_index", "T4", kOptional}.with("B S | B | B P+S").of(Domain::kNonNegative),
       Parameter{"input_zero_point", "T1", kOptional}.with("()"),
       Parameter{"weight_zero_point", "T2", kOptional}.with("()"),
       Parameter{"past", "T3", kOptional}.with("absent | absent | 2 B num_heads P D")},
      {{"output", "T3"}, {"present", "T3", kOptional}},
      {{"T1", kByteTypes},
       {"T2", kByteTypes},
       {"T3", kFloatType | types({DataType::kFloat16})},
       {"T4", kInt32Type}},
      codec_of<QuantizedAttentionAttributes>());
  row("QEmbedLayerNormalization", embed_layer_normalization,
      {Parameter{"input_ids", "T1"}.with("B S").of(Domain::kIndex, 2),
       Parameter{"segment_ids", "T1", kOptional}.with("absent | B S").of(Domain::kIndex, 4),
       Parameter{"word_embedding_quant", "T2"}.with("V+3 C"),
       Parameter{"position_embedding_quant", "T2"}.with("S+P C"),
       Parameter{"segment_embedding", "T2", kOptional}.with("absent | G+3 C"),
       Parameter{"gamma_quant", "T2"}.with("C"), Parameter{"beta_quant", "T2"}.with("C"),
       Parameter{"mask", "T1", kOptional}.with("B S").of(Domain::kNonNegative),
       Parameter{"word_embedding_scale", "T"}.with("()").of(Domain::kPositive),
       Parameter{"position_embedding_scale", "T"}.with("()").of(Domain::kPositive),
       Parameter{"segment_embedding_scale", "T", kOptional}
           .with("absent | ()")
           .of(Domain::kPositive),
       Parameter{"gamma_scale", "T"}.with("()").of(Domain::kPositive),
       Parameter{"beta_scale", "T"}.with("()").of(Domain::kPositive),
       Parameter{"word_embedding_zero_point", "T2"}.with("()"),
       Parameter{"position_embedding_zero_point", "T2"}.with("()"),
       Parameter{"segment_embedding_zero_point", "T2", kOptional}.with("absent | ()"),
       Parameter{"gamma_zero_point", "T2"}.with("()"),
       Parameter{"beta_zero_point", "T2"}.with("()")},
      {{"layernorm_out", "T"}, {"mask_index_out", "T1", kOptional}},
      {{"T", kFloatType}, {"T1", kInt32Type}, {"T2", kByteTypes}}, codec_of<EpsilonAttributes>());
  row("DynamicQuantizeLSTM", dynamic_lstm,
      {Parameter{"X", "T"}.with("S B I"), Parameter{"W", "T2"}.with("1 I 4*hidden_size"),
       Parameter{"R", "T2"}.with("1 hidden_size 4*hidden_size"),
       Parameter{"B", "T", kOptional}.with("1 8*hidden_size"),
       Parameter{"sequence_lens", "T1", kOptional}.with("absent"),
       Parameter{"initial_h", "T", kOptional}.with("1 B hidden_size"),
       Parameter{"initial_c", "T", kOptional}.with("1 B hidden_size"),
       Parameter{"P", "T", kOptional}.with("1 3*hidden_size"),
       Parameter{"W_scale", "T"}.with("1 | 1 4*hidden_size").of(Domain::kPositive),
       Parameter{"W_zero_point", "T2"}.with("1 | 1 4*hidden_size"),
       Parameter{"R_scale", "T"}.with("1 | 1 4*hidden_size").of(Domain::kPositive),
       Parameter{"R_zero_point", "T2"}.with("1 | 1 4*hidden_size")},
      {{"Y", "T", kOptional}, {"Y_h", "T", kOptional}, {"Y_c", "T", kOptional}},
      {{"T", kFloatType}, {"T1", kInt32Type}, {"T2", kByteTypes}}, codec_of<LstmAttributes>());
  rows.back().facts.rounds_within = true;  // the nodes that stand for it
}

}  // namespace intarsia::definitions
