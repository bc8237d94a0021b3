// SPDX-License-Identifier: Apache-2.0
// See operand.h.
#include "operator/tengine/operand.h"

#include "base/alloc.h"
#include "base/text.h"
#include "graph/graph.h"
#include "operator/tengine/move.h"

static void fail_operand(emitter_t* emit, const struct tensor* operand, const char* what,
                         const int64_t dims[], int dim_num)
{
    text_t expected = {0};
    for (int i = 0; i < dim_num; ++i)
        append_text(&expected, "%s%lld", i > 0 ? " x " : "", (long long)dims[i]);
    fail_emitting(emit, TENGINE_EINVAL, "%s '%s' has %lld elements, expected %s", what,
                  operand->name, (long long)operand->elem_num,
                  expected.data ? expected.data : "others");
    free_text(&expected);
}

static bool has_count(const struct tensor* tensor, const int64_t dims[], int dim_num)
{
    int64_t num = 1;
    for (int i = 0; i < dim_num; ++i)
        if (dims[i] < 0 || __builtin_mul_overflow(num, dims[i], &num)) return false;
    return num == tensor->elem_num;
}

static bool has_dims(const struct tensor* tensor, const int64_t dims[], int dim_num)
{
    bool same = tensor->dim_num == dim_num;
    for (int i = 0; same && i < dim_num; ++i)
        same = tensor->dims[i] == dims[i];
    return same;
}

static struct tensor* emit_like_data(emitter_t* emit, struct tensor* tensor)
{
    const int data_type = get_ir_node_input(emit->origin, 0)->data_type;
    if (!tensor || tensor->data_type == data_type) return tensor;
    return emit_cast(emit, tensor, data_type);
}

struct tensor* emit_operand(emitter_t* emit, int index, const char* what, const int64_t dims[],
                            int dim_num)
{
    struct tensor* operand = get_ir_node_input(emit->origin, index);
    if (!operand || emit->status < 0) return NULL;
    if (!has_count(operand, dims, dim_num)) {
        fail_operand(emit, operand, what, dims, dim_num);
        return NULL;
    }
    if (!has_dims(operand, dims, dim_num)) operand = emit_reshape(emit, operand, dims, dim_num);
    return emit_like_data(emit, operand);
}

struct tensor* emit_operand_list(emitter_t* emit, int index, const char* what, int64_t num)
{
    return emit_operand(emit, index, what, &num, 1);
}

// No network has as many channels; a few bytes of a hostile file must not allocate all memory.
#define MAX_REPEATED (1 << 24)

struct tensor* emit_repeated(emitter_t* emit, float value, int num)
{
    if (emit->status < 0) return NULL;
    if (num > MAX_REPEATED) {
        fail_emitting(emit, TENGINE_ERANGE, "it has %d channels, expected at most %d", num,
                      MAX_REPEATED);
        return NULL;
    }
    float* values = alloc_memory(sizeof *values * (size_t)num);
    if (!values && num > 0) {
        fail_emitting(emit, TENGINE_ENOMEM, "out of memory for %d floats", num);
        return NULL;
    }
    for (int i = 0; i < num; ++i)
        values[i] = value;
    struct tensor* list = emit_floats(emit, values, num);
    free_memory(values);
    return list;
}

struct tensor* emit_repeated_like(emitter_t* emit, float value, int num)
{
    return emit_like_data(emit, emit_repeated(emit, value, num));
}

struct tensor* emit_clip(emitter_t* emit, struct tensor* input, float minimum, float maximum)
{
    return emit_op(emit, "Clip", 3, input, emit_number(emit, minimum, input),
                   emit_number(emit, maximum, input));
}

struct tensor* emit_channel_scale(emitter_t* emit, struct tensor* input, struct tensor* scale,
                                  struct tensor* shift, int channels)
{
    if (!shift) shift = emit_repeated_like(emit, 0, channels);
    begin_op(emit, "BatchNormalization", 5, input, scale, shift,
             emit_repeated_like(emit, 0, channels), emit_repeated_like(emit, 1, channels));
    emit_attr_float(emit, "epsilon", 0);
    return end_op(emit);
}

void require_rank(emitter_t* emit, int minimum, int maximum)
{
    const int rank = get_ir_node_input(emit->origin, 0)->dim_num;
    if (rank >= minimum && rank <= maximum) return;
    if (minimum == maximum)
        fail_emitting(emit, TENGINE_EINVAL, "its input has rank %d, expected %d", rank, minimum);
    else
        fail_emitting(emit, TENGINE_EINVAL, "its input has rank %d, expected %d to %d", rank,
                      minimum, maximum);
}

const struct window_axis one_element_axis = {1, 1, 1, 1, 1, 0, 0};

bool has_plane_elements(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num == 4 || (input->dim_num >= 2 && input->elem_num > 0)) return true;
    refuse_raising(node, "its input, of rank %d and with %lld elements, is not a batch of planes",
                   input->dim_num, (long long)input->elem_num);
    return false;
}

bool has_full_planes(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    for (int i = 2; i < input->dim_num; ++i)
        if (input->dims[i] == 0) {
            refuse_raising(node, "its input has no elements along axis %d", i);
            return false;
        }
    return has_plane_elements(node);
}

struct tensor* raise_to_plane(emitter_t* emit, struct tensor* input)
{
    if (input->dim_num == 4) return input;
    const int64_t rest = multiply_dims(input, 2, input->dim_num);
    return raise_to_reshape(emit, input, (const int64_t[]){input->dims[0], input->dims[1], rest, 1},
                            4);
}

int finish_with_plane(emitter_t* emit, struct tensor* output)
{
    const struct tensor* wanted = get_ir_node_output(emit->origin, 0);
    if (wanted->dim_num == 4) return finish_emitting(emit, 1, output);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int num = read_dims(wanted, dims);
    return finish_emitting(emit, 1, raise_to_reshape(emit, output, dims, num));
}

bool is_output_read(const struct node* node, int index)
{
    const struct tensor* output = get_ir_node_output(node, index);
    return output && (output->consumer_num > 0 || is_ir_graph_output(node->graph, output->index));
}
