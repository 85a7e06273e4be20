// SPDX-License-Identifier: Apache-2.0
//
// The list of lists: one line for each source of kernels.
#include "kernels_cpu/kernels.h"

// clang-format off
#define INTARSIA_KERNEL_LISTS(List) \
  List(arg_reduce_kernels) \
  List(binary_arithmetic_kernels) \
  List(binary_bitwise_kernels) \
  List(binary_comparison_kernels) \
  List(binary_modulo_kernels) \
  List(binary_pow_kernels) \
  List(binary_variadic_kernels) \
  List(bernoulli_kernels) \
  List(cast_kernels) \
  List(cast_small_kernels) \
  List(clip_kernels) \
  List(codes_kernels) \
  List(compress_kernels) \
  List(concat_kernels) \
  List(concat_from_sequence_kernels) \
  List(conv_kernels) \
  List(conv_depthwise_kernels) \
  List(conv_integer_kernels) \
  List(conv_integer_depthwise_kernels) \
  List(conv_integer_panels_kernels) \
  List(conv_integer_products_kernels) \
  List(conv_requantize_kernels) \
  List(conv_requantize_depthwise_kernels) \
  List(conv_requantize_panels_kernels) \
  List(conv_packed_kernels) \
  List(conv_planes_kernels) \
  List(conv_winograd_kernels) \
  List(conv_transpose_kernels) \
  List(conv_transpose_depthwise_kernels) \
  List(conv_transpose_columns_kernels) \
  List(conv_transpose_packed_kernels) \
  List(conv_transpose_places_kernels) \
  List(cumsum_kernels) \
  List(deform_conv_kernels) \
  List(deform_conv_packed_kernels) \
  List(depth_to_space_kernels) \
  List(dequantize_kernels) \
  List(det_kernels) \
  List(dropout_kernels) \
  List(expand_kernels) \
  List(extents_kernels) \
  List(fill_kernels) \
  List(gather_kernels) \
  List(gemm_kernels) \
  List(gemm_computed_kernels) \
  List(gemm_packed_kernels) \
  List(gemm_typed_kernels) \
  List(grid_sample_kernels) \
  List(if_kernels) \
  List(inverse_kernels) \
  List(linear_attention_kernels) \
  List(loop_kernels) \
  List(lstm_dynamic_kernels) \
  List(lookup_kernels) \
  List(lrn_kernels) \
  List(map_kernels) \
  List(matmul_kernels) \
  List(matmul_computed_kernels) \
  List(matmul_integer_kernels) \
  List(matmul_packed_kernels) \
  List(matmul_typed_kernels) \
  List(murmur_hash_kernels) \
  List(ngram_kernels) \
  List(mel_weight_matrix_kernels) \
  List(multinomial_kernels) \
  List(non_max_suppression_kernels) \
  List(non_zero_kernels) \
  List(normalization_axes_kernels) \
  List(normalization_batch_kernels) \
  List(normalization_groups_kernels) \
  List(normalization_layer_kernels) \
  List(one_hot_kernels) \
  List(pad_kernels) \
  List(pairwise_probabilities_kernels) \
  List(pool_global_kernels) \
  List(pool_max_kernels) \
  List(pool_sum_kernels) \
  List(quantize_kernels) \
  List(random_normal_kernels) \
  List(random_uniform_kernels) \
  List(range_kernels) \
  List(reduce_exponential_kernels) \
  List(reduce_extreme_kernels) \
  List(reduce_sum_kernels) \
  List(regex_kernels) \
  List(matmul_blocks_kernels) \
  List(matmul_blocks_packed_kernels) \
  List(matmul_blocks_computed_kernels) \
  List(requantize_kernels) \
  List(resize_kernels) \
  List(resize_nearest_kernels) \
  List(reverse_sequence_kernels) \
  List(rnn_kernels) \
  List(rnn_beside_kernels) \
  List(rnn_packed_kernels) \
  List(roi_align_kernels) \
  List(roi_pool_kernels) \
  List(scatter_kernels) \
  List(scatter_reduce_kernels) \
  List(sequence_access_kernels) \
  List(sequence_construct_kernels) \
  List(sequence_edit_kernels) \
  List(slice_kernels) \
  List(rotate_kernels) \
  List(softmax_kernels) \
  List(softmax_fast_kernels) \
  List(split_kernels) \
  List(split_to_sequence_kernels) \
  List(string_cast_kernels) \
  List(string_concat_kernels) \
  List(string_normalizer_kernels) \
  List(string_split_kernels) \
  List(tokens_kernels) \
  List(support_vectors_kernels) \
  List(support_vectors_packed_kernels) \
  List(topk_kernels) \
  List(transpose_kernels) \
  List(tree_ensemble_kernels) \
  List(trilu_kernels) \
  List(unary_activation_kernels) \
  List(unary_arithmetic_kernels) \
  List(unary_fast_kernels) \
  List(unary_function_kernels) \
  List(unique_kernels) \
  List(value_check_kernels) \
  List(view_kernels) \
  List(where_kernels)
// clang-format on

namespace intarsia::cpu {

#define INTARSIA_DECLARE(list) extern const KernelList list;
INTARSIA_KERNEL_LISTS(INTARSIA_DECLARE)
#undef INTARSIA_DECLARE

std::span<const KernelList* const> kernel_lists() {
#define INTARSIA_ADDRESS(list) &list,
  static constexpr const KernelList* kLists[] = {INTARSIA_KERNEL_LISTS(INTARSIA_ADDRESS)};
#undef INTARSIA_ADDRESS
  return kLists;
}

}  // namespace intarsia::cpu
