// SPDX-License-Identifier: Apache-2.0
// The rules of operators that need more than a few lines, and what they share. A rule gives faults
// to the outputs that do not hold; all inputs that it does not compare itself hold.
#pragma once

#include "optimizer/bucket/step.h"

namespace tengine {

String quoted(const Pair& pair);  // the name of the tensor

// "mixes positions along axis 1 of 'x'", for the first axis from `first` on that differs.
void refuse_mixing(const Step& step, const Pair& input, int first);

// An axis of the attribute "axis".
void judge_axis(const Step& step, int64_t otherwise);

// Each input broadcasts to this output, or has the same size in all axes.
void require_broadcast(const Step& step, const Pair& output);
// The inputs from `first` on have the same sizes in both graphs.
void require_equal_sizes(const Step& step, int first);
// Whether the bucket's indices are constants, none of them below `first` or beyond `last`.
bool has_constant_indices(const Pair& indices, int64_t first, int64_t last);
// The positions of the indices that the request lacks are read, too: they must be valid for an axis
// of `size` elements.
bool require_safe_indices(const Step& step, const Pair& indices, int64_t size);

// axis_rules.cc
void judge_quantization(const Step& step);
void judge_sums(const Step& step);
void judge_reduction(const Step& step);
void judge_window(const Step& step);
void judge_resize(const Step& step);

// product_rules.cc
void judge_product(const Step& step);
void judge_gemm(const Step& step);
void judge_attention(const Step& step);
void judge_recurrence(const Step& step);

// movement_rules.cc
void judge_reshape(const Step& step);
void judge_expansion(const Step& step);
void judge_slice(const Step& step);
void judge_pad(const Step& step);
void judge_concat(const Step& step);
void judge_split(const Step& step);
void judge_gather(const Step& step);

}  // namespace tengine
