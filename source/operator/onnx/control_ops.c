// SPDX-License-Identifier: Apache-2.0
// Control flow: If, Loop, Scan. The types and shapes of their results are those of their bodies,
// which the optimizer infers (optimizer/pass/bodies.cc).
#include <stdbool.h>

#include "operator/infer.h"
#include "operator/onnx/control_param.h"
#include "operator/row.h"

// Called only at run time: the kernel finds the types and shapes when the bodies have run.
static int infer_later(struct node* node)
{
    (void)node;
    return OP_SHAPE_LATER;
}

scan_form_t get_scan_form(const struct node* node)
{
    const struct scan_param* param = node->op.param_mem;
    const int own = count_ir_own_inputs(node);
    scan_form_t form = {.has_batch = node->op.version < 9, .scanned_num = param->num_scan_inputs};
    form.first_input = form.has_batch;
    form.state_num = own - form.first_input - form.scanned_num;
    form.gathered_num = node->output_num - form.state_num;
    return form;
}

static int get_axis(const struct node* node, const struct op_ints* axes,
                    const struct op_ints* directions, int index, int rank, int* out_axis,
                    bool* out_reverse)
{
    *out_reverse = index < directions->num && directions->values[index] != 0;
    return normalize_axis(node, index < axes->num ? axes->values[index] : 0, rank, out_axis);
}

int get_scan_input_axis(const struct node* node, int index, int rank, int* out_axis,
                        bool* out_reverse)
{
    const struct scan_param* param = node->op.param_mem;
    const bool has_batch = node->op.version < 9;
    return get_axis(node, &param->scan_input_axes,
                    has_batch ? &param->directions : &param->scan_input_directions, index, rank,
                    out_axis, out_reverse);
}

int get_scan_output_axis(const struct node* node, int index, int rank, int* out_axis,
                         bool* out_reverse)
{
    const struct scan_param* param = node->op.param_mem;
    return get_axis(node, &param->scan_output_axes, &param->scan_output_directions, index, rank,
                    out_axis, out_reverse);
}

static const op_field_t scan_8_fields[] = {
    OP_FIELD(struct scan_param, INT, num_scan_inputs, .required = 1, .minimum = 1, .maximum = 4096),
    OP_FIELD(struct scan_param, INTS, directions, .minimum = 0, .maximum = 1),
};

static const op_field_t scan_fields[] = {
    OP_FIELD(struct scan_param, INT, num_scan_inputs, .required = 1, .minimum = 1, .maximum = 4096),
    OP_FIELD(struct scan_param, INTS, scan_input_axes, .minimum = -8, .maximum = 7),
    OP_FIELD(struct scan_param, INTS, scan_input_directions, .minimum = 0, .maximum = 1),
    OP_FIELD(struct scan_param, INTS, scan_output_axes, .minimum = -8, .maximum = 7),
    OP_FIELD(struct scan_param, INTS, scan_output_directions, .minimum = 0, .maximum = 1),
};

#define CONTROL(graphs) \
    .bodies = graphs, .max_input = -1, .min_output = 1, .max_output = -1, .infer_shape = infer_later

static const ir_method_t* const rows[] = {
    OP_ROW(If, .version = 1, .min_input = 1, CONTROL("then_branch|else_branch"),
           .traits = OP_SELF_SHAPED | OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX),
    OP_ROW(Loop, .version = 1, .min_input = 0, CONTROL("body"),
           .traits = OP_SELF_SHAPED | OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX),
    OP_ROW(Scan, .version = 8, .until = 8, .min_input = 0, CONTROL("body"),
           OP_FIELDS(scan_8_fields), .param_size = sizeof(struct scan_param),
           .traits = OP_SELF_SHAPED | OP_TAKES_STRINGS | OP_TAKES_COMPLEX),
    OP_ROW(Scan, .version = 9, .min_input = 1, CONTROL("body"), OP_FIELDS(scan_fields),
           .param_size = sizeof(struct scan_param),
           .traits = OP_SELF_SHAPED | OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX),
};

OPERATOR_TABLE(control_ops, rows);
