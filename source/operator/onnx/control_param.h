// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/body.h"
#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct scan_param
{
    int num_scan_inputs;
    struct op_ints directions;  // opset 8: those of the inputs
    struct op_ints scan_input_axes;
    struct op_ints scan_input_directions;
    struct op_ints scan_output_axes;
    struct op_ints scan_output_directions;
};

// The operands of a Scan. Its inputs are states, then the scanned tensors; its outputs states, then
// the gathered ones. In opset 8 the states and the scanned tensors have a leading batch axis, and
// input 0 has the lengths of the sequences.
typedef struct scan_form
{
    bool has_batch;
    int first_input;  // the first that is a state
    int state_num;
    int scanned_num;
    int gathered_num;
} scan_form_t;

scan_form_t get_scan_form(const struct node* node);

// Return the axis of a scanned input `index`, or of a gathered output `index`, along which the Scan
// steps, and whether it begins at the end. ERANGE: a tensor of `rank` has no such axis.
TENGINE_MUST_USE int get_scan_input_axis(const struct node* node, int index, int rank,
                                         int* out_axis, bool* out_reverse);
TENGINE_MUST_USE int get_scan_output_axis(const struct node* node, int index, int rank,
                                          int* out_axis, bool* out_reverse);

TENGINE_EXTERN_C_END
