// SPDX-License-Identifier: Apache-2.0
// DISPATCH_OP: a part that LiteRT's compilers have made byte code of. It is not lowered: the
// dispatch of the maker runs it (source/adapter).
#include "operator/infer.h"
#include "operator/tflite/lower.h"

// The byte code is the last input, a constant. A list of shapes has the rank and the dimensions of
// each.
struct tfl_dispatch_param
{
    char* name;          // the entry point
    char* manufacturer;  // the maker of the chip; "": the file does not name it
    char* soc_model;
    struct op_ints input_shapes;
    struct op_ints output_shapes;
    struct op_ints output_types;  // TENGINE_DT_*
};

static const op_field_t dispatch_fields[] = {
    OP_FIELD(struct tfl_dispatch_param, STRING, name, .text = ""),
    OP_FIELD(struct tfl_dispatch_param, STRING, manufacturer, .text = ""),
    OP_FIELD(struct tfl_dispatch_param, STRING, soc_model, .text = ""),
    OP_FIELD(struct tfl_dispatch_param, INTS, input_shapes, .required = 0),
    OP_FIELD(struct tfl_dispatch_param, INTS, output_shapes, .required = 0),
    OP_FIELD(struct tfl_dispatch_param, INTS, output_types, .required = 0),
};

// Reads the next shape of a list. EGRAPH: the list has no more.
static int read_shape(const struct node* node, const struct op_ints* list, int* place,
                      const int64_t** out_dims, int* out_rank)
{
    const int64_t rank = *place < list->num ? list->values[*place] : -1;
    if (rank < 0 || rank > MAX_SHAPE_DIM_NUM || *place + 1 + rank > list->num)
        return fail_node(node, TENGINE_EGRAPH, "its lists of shapes are too short");
    *out_dims = list->values + *place + 1;
    *out_rank = (int)rank;
    *place += 1 + (int)rank;
    return TENGINE_OK;
}

static bool has_shape(const struct tensor* tensor, const int64_t* dims, int rank)
{
    if (tensor->dim_num != rank) return false;
    for (int i = 0; i < rank; ++i)
        if (tensor->dims[i] != dims[i]) return false;
    return true;
}

static int infer_dispatch(struct node* node)
{
    const struct tfl_dispatch_param* param = node->op.param_mem;
    const int64_t* dims = NULL;
    int rank = 0, place = 0;
    for (int i = 0; i < node->input_num - 1; ++i) {
        const struct tensor* input = get_ir_node_input(node, i);
        TENGINE_RETURN_IF_ERROR(read_shape(node, &param->input_shapes, &place, &dims, &rank));
        if (input && !has_shape(input, dims, rank))
            return fail_node(node, TENGINE_EINVAL,
                             "its byte code is for the shapes of the file, and input '%s' has "
                             "another",
                             input->name);
    }
    place = 0;
    for (int i = 0; i < node->output_num; ++i) {
        TENGINE_RETURN_IF_ERROR(read_shape(node, &param->output_shapes, &place, &dims, &rank));
        if (i >= param->output_types.num)
            return fail_node(node, TENGINE_EGRAPH, "its list of types is too short");
        TENGINE_RETURN_IF_ERROR(
            set_node_output(node, i, (int)param->output_types.values[i], dims, rank));
    }
    return TENGINE_OK;
}

static const ir_method_t* const rows[] = {
    UNLOWERED_ROW(DISPATCH_OP, TFL_CUSTOM, TFL_COUNTS(1, -1, -1), OP_FIELDS(dispatch_fields),
                  .param_size = sizeof(struct tfl_dispatch_param), .infer_shape = infer_dispatch),
};

OPERATOR_TABLE(tflite_dispatch_ops, rows);
