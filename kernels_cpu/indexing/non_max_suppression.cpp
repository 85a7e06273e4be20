// SPDX-License-Identifier: Apache-2.0
//
// NonMaxSuppression: for each batch and class the boxes in descending order of score (of equal ones
// the first), without those that score no more than score_threshold and those whose overlap with a
// box already selected (intersection over union) exceeds iou_threshold. The output is resized to
// what was selected. https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html
#include "core/operators/indexing/non_max_suppression.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/indexing/index_heap.h"

namespace intarsia::cpu {
namespace {

struct Box {
  float y1, x1, y2, x2;
  float area;
};

struct Selected {
  int32_t group, number;  ///< Class, counted over all batches, and box.
  Box box;
};

float larger(float a, float b) {
  return a < b ? b : a;
}
float smaller(float a, float b) {
  return b < a ? b : a;
}

Box read_box(const float* b, bool center) {
  Box box;
  if (center) {
    box = {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2, 0};
  } else {
    box = {smaller(b[0], b[2]), smaller(b[1], b[3]), larger(b[0], b[2]), larger(b[1], b[3]), 0};
  }
  box.area = (box.y2 - box.y1) * (box.x2 - box.x1);
  return box;
}

bool overlap(const Box& a, const Box& b, float threshold) {
  const float height = smaller(a.y2, b.y2) - larger(a.y1, b.y1);
  const float width = smaller(a.x2, b.x2) - larger(a.x1, b.x1);
  if (!(height > 0) || !(width > 0) || !(a.area > 0) || !(b.area > 0)) return false;
  const float common = height * width;
  return common / (a.area + b.area - common) > threshold;
}

float scalar(const TensorView& view, float absent) {
  return view.present() ? *view.as<const float>() : absent;
}

struct NonMaxSuppression {
  static constexpr KernelId id{"NonMaxSuppression", "", {}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kFloat = DataType::kFloat, kIndex = DataType::kInt64;
    if (Status s = check_operand_types<ops::NonMaxSuppression>(
            context, {.inputs = {kFloat, kFloat, kIndex, kFloat, kFloat},
                      .required_inputs = 2,
                      .outputs = {kIndex}});
        !s) {
      return s;
    }
    if (Status s = check_scalars(context, {2, 3, 4}); !s) return s;
    const TensorView& boxes = context.input(0);
    const TensorView& scores = context.input(1);
    if (boxes.rank != 3 || scores.rank != 3 || context.output(0).rank != 2) {
      return context.fail(Code::kWrongRank, "rank of boxes and scores", 3, boxes.rank, 0);
    }
    if (boxes.extents[2] != 4 || boxes.extents[0] != scores.extents[0] ||
        boxes.extents[1] != scores.extents[2]) {
      return context.fail(Code::kWrongExtent, "batches and boxes of scores", boxes.extents[1],
                          scores.extents[2], 1);
    }
    return check_workspace(context, boxes.extents[1] * static_cast<int64_t>(sizeof(int32_t)));
  }
  static int64_t workspace(const KernelContext& context) {
    const TensorView& boxes = context.input(0);
    const TensorView& y = context.output(0);
    if (boxes.rank != 3 || y.rank != 2) return 0;
    return (CheckedInt(y.extents[0]) * sizeof(Selected) +
            CheckedInt(boxes.extents[1]) * sizeof(int32_t))
        .value();
  }
  static Status run(const KernelContext& context) {
    const TensorView& boxes = context.input(0);
    const TensorView& scores = context.input(1);
    const int32_t count = boxes.extents[1];
    const int64_t classes = scores.extents[1];
    const bool center = context.attributes<NonMaxSuppressionAttributes>().center_point_box != 0;
    const int64_t limit = context.input(2).present() ? *context.input(2).as<const int64_t>() : 0;
    const float iou_threshold = scalar(context.input(3), 0.0f);
    const bool has_score_threshold = context.input(4).present();
    const float score_threshold = scalar(context.input(4), 0.0f);

    auto* heap = reinterpret_cast<int32_t*>(context.workspace().data());
    auto* selected = reinterpret_cast<Selected*>(heap + count);
    const int64_t capacity =
        (context.workspace_bytes() - count * static_cast<int64_t>(sizeof(int32_t))) /
        static_cast<int64_t>(sizeof(Selected));
    int64_t total = 0;
    const int64_t groups = count > 0 ? boxes.extents[0] * classes : 0;
    for (int64_t group = 0; group < groups && limit > 0; ++group) {
      const float* box = boxes.as<const float>() + group / classes * count * 4;
      const float* score = scores.as<const float>() + group * count;
      const auto after = [score](int32_t a, int32_t b) {
        return score[a] < score[b] || (!(score[a] > score[b]) && a > b);
      };
      int64_t candidates = 0;
      for (int32_t i = 0; i < count; ++i) {
        const bool counts = has_score_threshold ? score[i] > score_threshold : score[i] == score[i];
        if (counts) heap[candidates++] = i;
      }
      // The best of those that are left, one by one: most are never looked at.
      make_heap(heap, candidates, after);
      const int64_t begin = total;
      while (candidates > 0 && total - begin < limit) {
        const int32_t best = pop_heap(heap, candidates, after);
        const Box candidate = read_box(box + int64_t{best} * 4, center);
        bool hidden = false;
        for (int64_t j = begin; j < total && !hidden; ++j) {
          hidden = overlap(candidate, selected[j].box, iou_threshold);
        }
        if (hidden) continue;
        if (total >= capacity) {
          return context.fail(Code::kWrongExtent, "selected boxes beyond the planned maximum",
                              capacity, total + 1, context.input_count(), 0);
        }
        selected[total++] = {static_cast<int32_t>(group), best, candidate};
      }
    }
    const int32_t extents[2] = {static_cast<int32_t>(total), 3};
    if (Status s = context.resize_output(0, extents); !s) return s;
    auto* out = context.output(0).as<int64_t>();
    for (int64_t i = 0; i < total; ++i) {
      out[3 * i] = selected[i].group / classes;
      out[3 * i + 1] = selected[i].group % classes;
      out[3 * i + 2] = selected[i].number;
    }
    return {};
  }
};

}  // namespace

extern const KernelList non_max_suppression_kernels;
constinit const KernelList non_max_suppression_kernels = kernel_list<NonMaxSuppression>();

}  // namespace intarsia::cpu
