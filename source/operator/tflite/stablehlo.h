// SPDX-License-Identifier: Apache-2.0
// The common part of the lowering of StableHLO's operators in TensorFlow Lite's files. Their lists
// have 64 bits, and the shapes of results are those of the file.
#pragma once

#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tflite/body.h"
#include "operator/tflite/lower.h"

TENGINE_EXTERN_C_BEGIN

#define HLO_LIST(type, member, place) TFL_FIELD(type, INTS, member, LONGS, place)
#define HLO_NUMBER(type, member, place) TFL_FIELD(type, INT, member, LONG, place)
#define HLO_BODY(type, place) TM_FIELD(type, INT, body, BODY, place, .maximum = TFL_BODY_SECOND)

// Fails unless the list has as many elements as there are axes; absent ones are `otherwise`.
void read_hlo_list(emitter_t* emit, const struct op_ints* list, const char* name, int num,
                   int64_t otherwise, int64_t out_values[]);
// Fails unless the elements are different axes of a tensor of this rank.
void check_hlo_axes(emitter_t* emit, const struct op_ints* list, const char* name, int rank);
static inline bool has_hlo_axis(const struct op_ints* list, int axis)
{
    for (int i = 0; i < list->num; ++i)
        if (list->values[i] == axis) return true;
    return false;
}
// Transposes; the input itself where nothing moves.
struct tensor* emit_hlo_order(emitter_t* emit, struct tensor* input, const int64_t order[],
                              int num);
// Adds elements at both ends of each axis, takes negative numbers of them away, and puts
// `interior` of them between the elements. `value` is a scalar.
struct tensor* emit_hlo_pad(emitter_t* emit, struct tensor* input, const int64_t low[],
                            const int64_t high[], const int64_t interior[], struct tensor* value);
// The scalars from input `first` on as a list of int64.
struct tensor* emit_hlo_starts(emitter_t* emit, int first, int num);
// ONNX's operator for two values, NULL for those that are none.
const char* find_hlo_operator(int body, const struct tensor* like);

TENGINE_EXTERN_C_END
