// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's hash tables, whose keys and values the reader gives to the operators that look
// them up (serializer/tflite/states.h), and its tables of sorted keys.
#include "base/alloc.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/tflite/lower.h"

// The places of the queries among the keys, which are constant; -1: none of them.
static struct tensor* emit_places(emitter_t* emit, struct tensor* query, const struct tensor* keys)
{
    const int number = (int)keys->elem_num;
    int64_t* places = alloc_memory((size_t)number * sizeof *places);
    if (!places) {
        fail_emitting(emit, TENGINE_ENOMEM, "out of memory for the places of its keys");
        return NULL;
    }
    for (int i = 0; i < number; ++i)
        places[i] = i;
    begin_op(emit, "ai.onnx.ml.LabelEncoder", 1, query);
    if (keys->data_type == TENGINE_DT_INT64)
        emit_attr_ints(emit, "keys_int64s", keys->data, number);
    else if (emit->status == TENGINE_OK)
        emit->status = set_node_texts(emit->op, "keys_strings", keys->data, number);
    emit_attr_ints(emit, "values_int64s", places, number);
    emit_attr_int(emit, "default_int64", -1);
    free_memory(places);
    return end_op(emit);
}

static int check_table(emitter_t* emit, const struct tensor* keys, const struct tensor* values)
{
    if (keys->tensor_type != TENSOR_TYPE_CONST || !keys->data)
        return fail_emitting(emit, TENGINE_ENOTSUP, "the keys of its table are not constant");
    if (keys->data_type != TENGINE_DT_INT64 && keys->data_type != TENGINE_DT_STRING)
        return fail_emitting(emit, TENGINE_EDTYPE, "the keys of its table are %s, expected %s",
                             get_data_type_name(keys->data_type), "int64 or strings");
    if (keys->dim_num == 1 && values->dim_num == 1 && keys->elem_num == values->elem_num)
        return TENGINE_OK;
    return fail_emitting(emit, TENGINE_EINVAL,
                         "its table has %lld keys and %lld values in tensors of rank %d and %d, "
                         "expected as many, of rank 1",
                         (long long)keys->elem_num, (long long)values->elem_num, keys->dim_num,
                         values->dim_num);
}

// Queries, the value of those that are no keys, keys, values.
static int lower_find(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *query = get_operand(&emit, 0), *other = get_operand(&emit, 1);
    struct tensor *keys = get_operand(&emit, 2), *values = get_operand(&emit, 3);
    TENGINE_RETURN_IF_ERROR(check_table(&emit, keys, values));
    if (other->elem_num == 1 && other->dim_num > 0) other = emit_reshape(&emit, other, NULL, 0);
    if (keys->elem_num == 0) {
        struct tensor* shape = emit_op(&emit, "Shape", 1, query);
        return finish_emitting(&emit, 1, emit_op(&emit, "Expand", 2, other, shape));
    }
    struct tensor* place = emit_places(&emit, query, keys);
    struct tensor* is_known = emit_op(&emit, "GreaterOrEqual", 2, place, emit_int(&emit, 0));
    struct tensor* row = emit_op(&emit, "Max", 2, place, emit_int(&emit, 0));
    struct tensor* value = emit_op(&emit, "Gather", 2, values, row);
    return finish_emitting(&emit, 1, emit_op(&emit, "Where", 3, is_known, value, other));
}

// Keys and values.
static int lower_size(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_op(&emit, "Shape", 1, get_operand(&emit, 0)));
}

// Rows of values whose key is the query, or zeros; and whether there is such a key.
static int lower_lookup(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *query = get_operand(&emit, 0), *keys = get_operand(&emit, 1);
    struct tensor* values = get_operand(&emit, 2);
    const int64_t last = 1;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    if (query->dim_num != 1 || keys->dim_num != 1 || values->dim_num < 1 ||
        keys->elem_num != values->dims[0] || keys->elem_num == 0)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its queries and keys have rank %d and %d, its %lld keys values of "
                             "rank %d, expected rank 1, and a row of values for each key",
                             query->dim_num, keys->dim_num, (long long)keys->elem_num,
                             values->dim_num);
    struct tensor* column = emit_op(&emit, "Unsqueeze", 2, query, emit_ints(&emit, &last, 1));
    struct tensor* is_equal = emit_op(&emit, "Equal", 2, column, keys);
    is_equal = emit_cast(&emit, is_equal, TENGINE_DT_INT32);
    begin_op(&emit, "ReduceMax", 2, is_equal, emit_ints(&emit, &last, 1));
    emit_attr_int(&emit, "keepdims", 0);
    struct tensor* hit = end_op(&emit);
    begin_op(&emit, "ArgMax", 1, is_equal);
    emit_attr_int(&emit, "axis", 1);
    emit_attr_int(&emit, "keepdims", 0);
    struct tensor* row = emit_op(&emit, "Gather", 2, values, end_op(&emit));
    for (int i = 0; i < values->dim_num; ++i)
        dims[i] = i == 0 ? query->dims[0] : 1;
    struct tensor* is_known = emit_cast(&emit, hit, TENGINE_DT_BOOL);
    is_known = emit_reshape(&emit, is_known, dims, values->dim_num);
    struct tensor* zero = emit_number(&emit, 0, values);
    return finish_emitting(&emit, 2, emit_op(&emit, "Where", 3, is_known, row, zero),
                           emit_cast(&emit, hit, TENGINE_DT_UINT8));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(HASHTABLE_LOOKUP, 10, TFL_COUNTS(3, 3, 2), .lower = lower_lookup),
    TFLITE_ROW(HASHTABLE_FIND, 137, TFL_COUNTS(4, 4, 1), .lower = lower_find),
    TFLITE_ROW(HASHTABLE_SIZE, 139, TFL_COUNTS(2, 2, 1), .lower = lower_size),
};

OPERATOR_TABLE(tflite_table_ops, rows);
