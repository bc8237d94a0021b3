// SPDX-License-Identifier: Apache-2.0
// Operands that Tengine's operators describe by position and number of elements only, in the shape
// and type that ONNX's operators take. Beside emit.h, whose rule on failures holds here too.
#pragma once

#include "operator/onnx/window.h"
#include "operator/tengine/emit.h"

TENGINE_EXTERN_C_BEGIN

// Input `index` of the origin (`what` in messages) in the shape `dims` and the data type of input
// 0. Files give weights other shapes, and fp16 beside float data; only the number of elements is
// fixed. NULL, which is not a failure, when the input is absent.
struct tensor* emit_operand(emitter_t* emit, int index, const char* what, const int64_t dims[],
                            int dim_num);
// Like emit_operand(), as a list of `num` elements.
struct tensor* emit_operand_list(emitter_t* emit, int index, const char* what, int64_t num);

// Add constants: a list of `num` times the same value, as floats and in the data type of input 0.
struct tensor* emit_repeated(emitter_t* emit, float value, int num);
struct tensor* emit_repeated_like(emitter_t* emit, float value, int num);

// Appends Clip(input, minimum, maximum).
struct tensor* emit_clip(emitter_t* emit, struct tensor* input, float minimum, float maximum);
// Appends y = x * scale[c] + shift[c], c being the channel, as the node that is merged into a
// convolution before it. `channels` is their number.
struct tensor* emit_channel_scale(emitter_t* emit, struct tensor* input, struct tensor* scale,
                                  struct tensor* shift, int channels);

// Fails unless input 0 of the origin has a rank within [minimum, maximum].
void require_rank(emitter_t* emit, int minimum, int maximum);

// Raising to operators of rank 4: N x C x the rest x 1 for other ranks, which are 2 or more, and
// the end of it: `output` in the shape of the origin's output. Refused without elements.
bool has_plane_elements(struct node* node);
// Like has_plane_elements(); and no axis of the planes is 0, since a window needs an element.
bool has_full_planes(struct node* node);
// The second axis of a window over one dimension, in the plane that it becomes.
extern const struct window_axis one_element_axis;
struct tensor* raise_to_plane(emitter_t* emit, struct tensor* input);
int finish_with_plane(emitter_t* emit, struct tensor* output);

// Whether anything reads output `index`: raise functions refuse outputs that Tengine does not
// compute.
bool is_output_read(const struct node* node, int index);

TENGINE_EXTERN_C_END
