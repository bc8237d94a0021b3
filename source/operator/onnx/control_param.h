// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/body.h"
#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct scan_param
{
    int num_scan_inputs;
    struct op_ints directions;  // opset 8: the inputs'
    struct op_ints scan_input_axes;
    struct op_ints scan_input_directions;
    struct op_ints scan_output_axes;
    struct op_ints scan_output_directions;
};

// The operands of a Scan. Its inputs are states, then the scanned tensors; its outputs states, then
// the gathered ones. In opset 8 the states and the scanned have a batch axis before all
// others, and lengths of the sequences come first.
typedef struct scan_form
{
    bool has_batch;
    int first_input;  // that is a state
    int state_num;
    int scanned_num;
    int gathered_num;
} scan_form_t;

scan_form_t get_scan_form(const struct node* node);

// The axis, of the node's tensor, along which input `index` of the scanned is walked, or output
// `index` of the gathered is stacked; and whether from the end. ERANGE for an axis that a tensor
// of `rank` does not have.
TENGINE_MUST_USE int get_scan_input_axis(const struct node* node, int index, int rank,
                                         int* out_axis, bool* out_reverse);
TENGINE_MUST_USE int get_scan_output_axis(const struct node* node, int index, int rank,
                                          int* out_axis, bool* out_reverse);

TENGINE_EXTERN_C_END
