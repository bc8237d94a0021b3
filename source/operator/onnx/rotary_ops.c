// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding, which encodes the positions of tokens for an attention (Su et al., "RoFormer",
// 2021): pairs of a head's elements are rotated by angles that depend on the position. ONNX
// Runtime's form, older than ONNX's, has its inputs in another order, and derives the size of a
// head. Kernels: device/cpu/reference/attention/rotary.cc.
#include "operator/infer.h"
#include "operator/onnx/rotary_param.h"
#include "operator/row.h"
#include "operator/type_set.h"
#include "tengine/device.h"

#define SHARED_FIELDS                                                                         \
    OP_FIELD(struct rotary_param, INT, interleaved, .number = 0, .minimum = 0, .maximum = 1), \
        OP_FIELD(struct rotary_param, INT, num_heads, .number = 0, .minimum = 0,              \
                 .maximum = INT32_MAX),                                                       \
        OP_FIELD(struct rotary_param, INT, rotary_embedding_dim, .number = 0, .minimum = 0,   \
                 .maximum = INT32_MAX)

static const op_field_t rotary_fields[] = {SHARED_FIELDS};

static const op_field_t microsoft_rotary_fields[] = {
    SHARED_FIELDS,
    OP_FIELD(struct rotary_param, FLOAT, scale, .number = 1),
    OP_FIELD(struct rotary_param, INT, is_packed_batching, .number = 0),
};

static bool is_microsoft(const struct node* node)
{
    return *get_ir_node_domain(node) != '\0';
}

// Returns twice the width of the cosines; 0 if a token has fewer elements.
static int find_head_size(const struct tensor* cosines, int hidden)
{
    const int width = cosines->dim_num > 0 ? cosines->dims[cosines->dim_num - 1] : 0;
    return width <= hidden / 2 ? 2 * width : 0;
}

// Divides the last dimension of input 0 of rank 3 into heads. ONNX has their number as an
// attribute; in ONNX Runtime it may follow from the cosines, which have half a head.
static int divide_heads(const struct node* node, struct rotary_form* form)
{
    const struct rotary_param* param = node->op.param_mem;
    const struct tensor* cosines = get_ir_node_input(node, form->cosine_input);
    const int hidden = get_ir_node_input(node, 0)->dims[2];
    form->head_size = 0;
    if (param->num_heads > 0)
        form->head_size = hidden % param->num_heads == 0 ? hidden / param->num_heads : 0;
    else if (is_microsoft(node) && param->rotary_embedding_dim == 0)
        form->head_size = find_head_size(cosines, hidden);
    if (form->head_size <= 0 || hidden % form->head_size != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d elements of a token do not divide into heads (num_heads %d)", hidden,
                         param->num_heads);
    form->heads = hidden / form->head_size;
    return TENGINE_OK;
}

static int read_input_shape(const struct node* node, struct rotary_form* form)
{
    const struct rotary_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num != 3 && input->dim_num != 4)
        return fail_node(node, TENGINE_EINVAL, "input '%s' has rank %d, expected 3 or 4",
                         input->name, input->dim_num);
    form->batch = input->dims[0];
    form->heads_first = input->dim_num == 4;
    form->sequence = input->dims[form->heads_first ? 2 : 1];
    if (!form->heads_first) return divide_heads(node, form);
    form->heads = input->dims[1];
    form->head_size = input->dims[3];
    if (param->num_heads == 0 || param->num_heads == form->heads) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "num_heads is %d, but input '%s' has %d heads",
                     param->num_heads, input->name, form->heads);
}

static int read_rotated_size(const struct node* node, struct rotary_form* form)
{
    const struct rotary_param* param = node->op.param_mem;
    const int size =
        param->rotary_embedding_dim > 0 ? param->rotary_embedding_dim : form->head_size;
    form->half = size / 2;
    if (size % 2 == 0 && size <= form->head_size) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "%d elements of heads of %d are to be rotated, expected an even number of at "
                     "most that",
                     size, form->head_size);
}

static int check_positions(const struct node* node, struct rotary_form* form)
{
    const struct tensor* positions = get_ir_node_input(node, form->position_input);
    form->has_positions = positions != NULL;
    form->is_offset = false;
    if (!positions) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(require_type(node, form->position_input, TYPE_BIT(INT64)));
    form->is_offset = is_microsoft(node) && positions->dim_num == 1 && positions->elem_num == 1;
    if (form->is_offset || (positions->dim_num == 2 && positions->dims[0] == form->batch &&
                            positions->dims[1] == form->sequence))
        return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "positions '%s' have rank %d and %lld values, expected %d x %d%s",
                     positions->name, positions->dim_num, (long long)positions->elem_num,
                     form->batch, form->sequence, is_microsoft(node) ? ", or one" : "");
}

static int check_table(const struct node* node, int index, const struct rotary_form* form)
{
    const struct tensor* table = get_ir_node_input(node, index);
    const struct tensor* cosines = get_ir_node_input(node, form->cosine_input);
    if (form->has_positions) {
        if (table->dim_num == 2 && table->dims[0] == cosines->dims[0] &&
            table->dims[1] == form->half)
            return TENGINE_OK;
        return fail_node(node, TENGINE_EINVAL,
                         "input %d '%s' has rank %d and %lld values, expected rows of %d, as many "
                         "as the cosines have",
                         index, table->name, table->dim_num, (long long)table->elem_num,
                         form->half);
    }
    if (table->dim_num == 3 && table->dims[0] == form->batch && table->dims[1] == form->sequence &&
        table->dims[2] == form->half)
        return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "input %d '%s' has rank %d and %lld values, expected %d x %d x %d", index,
                     table->name, table->dim_num, (long long)table->elem_num, form->batch,
                     form->sequence, form->half);
}

int read_rotary(const struct node* node, struct rotary_form* out_form)
{
    struct rotary_form form = {.cosine_input = 1, .sine_input = 2, .position_input = 3};
    if (is_microsoft(node))
        form = (struct rotary_form){.position_input = 1, .cosine_input = 2, .sine_input = 3};
    TENGINE_RETURN_IF_ERROR(read_input_shape(node, &form));
    TENGINE_RETURN_IF_ERROR(read_rotated_size(node, &form));
    TENGINE_RETURN_IF_ERROR(check_positions(node, &form));
    TENGINE_RETURN_IF_ERROR(check_table(node, form.cosine_input, &form));
    TENGINE_RETURN_IF_ERROR(check_table(node, form.sine_input, &form));
    *out_form = form;
    return TENGINE_OK;
}

static int infer_rotary(struct node* node)
{
    struct rotary_form form;
    TENGINE_RETURN_IF_ERROR(read_rotary(node, &form));
    const int tables[] = {0, form.cosine_input, form.sine_input};
    const struct tensor* input = get_ir_node_input(node, 0);
    for (int i = 0; i < 3; ++i) {
        const struct tensor* table = get_ir_node_input(node, tables[i]);
        TENGINE_RETURN_IF_ERROR(require_type(node, tables[i], TYPES_FLOAT));
        if (table->data_type != input->data_type)
            return fail_node(node, TENGINE_EDTYPE, "'%s' is %s but '%s' is %s", input->name,
                             get_data_type_name(input->data_type), table->name,
                             get_data_type_name(table->data_type));
    }
    return set_node_output_like(node, 0, input, -1);
}

// Refuses forms that ONNX Runtime's CPU provider has never computed.
static int infer_microsoft_rotary(struct node* node)
{
    const struct rotary_param* param = node->op.param_mem;
    if (param->scale != 1.0f)
        return fail_node(node, TENGINE_ENOTSUP, "scale is %g, expected 1", (double)param->scale);
    if (param->is_packed_batching != 0)
        return fail_node(node, TENGINE_ENOTSUP, "is_packed_batching is %d, expected 0",
                         param->is_packed_batching);
    return infer_rotary(node);
}

static const ir_method_t* const rows[] = {
    OP_ROW(RotaryEmbedding, .version = 23, .min_input = 3, .max_input = 4, .min_output = 1,
           .max_output = 1, OP_FIELDS(rotary_fields), .param_size = sizeof(struct rotary_param),
           .infer_shape = infer_rotary),
    MICROSOFT_ROW(RotaryEmbedding, .version = 1, .until = 1, .min_input = 4, .max_input = 4,
                  .min_output = 1, .max_output = 1, OP_FIELDS(microsoft_rotary_fields),
                  .param_size = sizeof(struct rotary_param), .infer_shape = infer_microsoft_rotary),
};

OPERATOR_TABLE(rotary_ops, rows);
