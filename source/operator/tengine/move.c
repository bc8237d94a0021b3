// SPDX-License-Identifier: Apache-2.0
// See move.h.
#include "operator/tengine/move.h"

#include <limits.h>

#include "base/alloc.h"
#include "graph/graph.h"

struct tensor* emit_cuts(emitter_t* emit, struct tensor* input, const struct axis_cut cuts[],
                         int num)
{
    if (num == 0) return input;
    int64_t begins[MAX_SHAPE_DIM_NUM], ends[MAX_SHAPE_DIM_NUM];
    int64_t axes[MAX_SHAPE_DIM_NUM], steps[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < num; ++i) {
        begins[i] = cuts[i].begin;
        ends[i] = cuts[i].end;
        axes[i] = cuts[i].axis;
        steps[i] = cuts[i].step;
    }
    return emit_op(emit, "Slice", 5, input, emit_ints(emit, begins, num),
                   emit_ints(emit, ends, num), emit_ints(emit, axes, num),
                   emit_ints(emit, steps, num));
}

int finish_with_parts(emitter_t* emit, struct tensor* input, int axis, const int64_t sizes[],
                      int num)
{
    struct tensor** parts = alloc_memory(sizeof *parts * (size_t)num);
    if (!parts) return fail_emitting(emit, TENGINE_ENOMEM, "out of memory for %d parts", num);
    begin_op(emit, "Split", 2, input, emit_ints(emit, sizes, num));
    emit_attr_int(emit, "axis", axis);
    end_op_with(emit, parts, num);
    const int status = finish_emitting_list(emit, parts, num);
    free_memory(parts);
    return status;
}

struct tensor* emit_indices(emitter_t* emit, struct tensor* input)
{
    return input->data_type == TENGINE_DT_INT64 ? input : emit_cast(emit, input, TENGINE_DT_INT64);
}

int read_dims(const struct tensor* tensor, int64_t out_dims[MAX_SHAPE_DIM_NUM])
{
    for (int i = 0; i < tensor->dim_num; ++i)
        out_dims[i] = tensor->dims[i];
    return tensor->dim_num;
}

int check_order(const struct node* node, const char* name, const int64_t order[], int num)
{
    unsigned seen = 0;
    for (int i = 0; i < num; ++i) {
        if (order[i] < 0 || order[i] >= num || seen >> order[i] & 1u)
            return fail_node(node, TENGINE_ERANGE,
                             "%s has %lld at index %d, expected each of 0 to %d once", name,
                             (long long)order[i], i, num - 1);
        seen |= 1u << order[i];
    }
    return TENGINE_OK;
}

void emit_attr_list(emitter_t* emit, const char* name, const char* length, const int64_t* values,
                    int num)
{
    emit_attr_ints(emit, name, values, num);
    emit_attr_int(emit, length, num);
}

static struct tensor* add_int32s(emitter_t* emit, const int dims[], int dim_num)
{
    if (emit->status < 0) return NULL;
    struct tensor* constant = create_ir_tensor(emit->graph, NULL, TENGINE_DT_INT32);
    if (constant) constant->tensor_type = TENSOR_TYPE_CONST;
    if (constant && set_ir_tensor_shape(constant, dims, dim_num) == TENGINE_OK &&
        allocate_ir_tensor(constant) == TENGINE_OK)
        return constant;
    fail_emitting(emit, TENGINE_ENOMEM, "out of memory for a constant of integers");
    return NULL;
}

static int32_t narrow(int64_t value)
{
    return value < INT_MIN ? INT_MIN : value > INT_MAX ? INT_MAX : (int32_t)value;
}

struct tensor* emit_int32s(emitter_t* emit, const int64_t* values, int num)
{
    struct tensor* constant = add_int32s(emit, &num, 1);
    for (int i = 0; constant && i < num; ++i)
        constant->i32[i] = narrow(values[i]);
    return constant;
}

static int64_t read_wrapped(const struct tensor* tensor, int64_t place, int wrap)
{
    const int64_t value =
        tensor->data_type == TENGINE_DT_INT64 ? tensor->i64[place] : tensor->i32[place];
    return value < 0 ? value + wrap : value;
}

struct tensor* emit_narrowed(emitter_t* emit, struct tensor* input, int wrap)
{
    const bool integers =
        input->data_type == TENGINE_DT_INT64 || input->data_type == TENGINE_DT_INT32;
    if (!integers || input->tensor_type != TENSOR_TYPE_CONST || !input->data) return input;
    for (int64_t i = 0; i < input->elem_num; ++i) {
        const int64_t value = read_wrapped(input, i, wrap);
        if (value != narrow(value)) return input;
    }
    struct tensor* constant = add_int32s(emit, input->dims, input->dim_num);
    for (int64_t i = 0; constant && i < input->elem_num; ++i)
        constant->i32[i] = narrow(read_wrapped(input, i, wrap));
    return constant;
}

struct tensor* raise_to_reshape(emitter_t* emit, struct tensor* input, const int64_t dims[],
                                int num)
{
    begin_op(emit, "tengine.Reshape", 1, input);
    emit_attr_list(emit, "re_shape", "dim_size", dims, num);
    emit_attr_int(emit, "is_onnx", 1);
    return end_op(emit);
}

struct tensor* raise_to_transpose(emitter_t* emit, struct tensor* input, const int64_t order[],
                                  int num)
{
    begin_op(emit, "tengine.Transpose", 1, input);
    emit_attr_list(emit, "tr_shape", "tr_shape_size", order, num);
    return end_op(emit);
}

int raise_as_reshape(struct graph* graph, struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    if (output->elem_num == 0) return refuse_raising(node, "its output has no elements");
    if (output->dim_num == 0) return refuse_raising(node, "its output is a scalar");
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int num = read_dims(output, dims);
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           raise_to_reshape(&emit, get_ir_node_input(node, 0), dims, num));
}
