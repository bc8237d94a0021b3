// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention of ONNX Runtime: attention of decoders with keys and values of earlier tokens
// in a cache. Parameters are in group_query_param.h; kernels are
// device/cpu/reference/attention/group_query.cc and device/cpu/kernel/attention/attention.cc.
#include <stdio.h>
#include <string.h>

#include "graph/core.h"
#include "graph/preparation.h"
#include "operator/infer.h"
#include "operator/onnx/group_query_param.h"
#include "operator/onnx/macs.h"
#include "operator/row.h"
#include "operator/type_set.h"

#define FLAG(member, start) \
    OP_FIELD(struct group_query_param, INT, member, .number = start, .minimum = 0, .maximum = 1)

static const op_field_t group_query_fields[] = {
    OP_FIELD(struct group_query_param, INT, num_heads, .required = 1, .minimum = 1,
             .maximum = INT32_MAX),
    OP_FIELD(struct group_query_param, INT, kv_num_heads, .required = 1, .minimum = 1,
             .maximum = INT32_MAX),
    OP_FIELD(struct group_query_param, FLOAT, scale, .number = 0),
    OP_FIELD(struct group_query_param, FLOAT, softcap, .number = 0),
    FLAG(do_rotary, 0),
    FLAG(rotary_interleaved, 0),
    OP_FIELD(struct group_query_param, INT, local_window_size, .number = -1, .minimum = -1,
             .maximum = INT32_MAX),
    OP_FIELD(struct group_query_param, INT, smooth_softmax, .minimum = -1, .maximum = 1),
    FLAG(causal, 1),
    OP_FIELD(struct group_query_param, INT, qk_output, .minimum = 0, .maximum = 2),
    OP_FIELD(struct group_query_param, STRING, k_quant_type, .text = "NONE"),
    OP_FIELD(struct group_query_param, STRING, v_quant_type, .text = "NONE"),
    OP_FIELD(struct group_query_param, INT, kv_cache_bit_width, .number = 0),
    OP_FIELD(struct group_query_param, INT, sliding_window_cache, .number = 0),
    OP_FIELD(struct group_query_param, FLOAT, qk_norm_epsilon, .number = 1e-6f),
};

static const char* const input_names[GROUP_QUERY_INPUTS] = {"query",
                                                            "key",
                                                            "value",
                                                            "past_key",
                                                            "past_value",
                                                            "seqlens_k",
                                                            "total_sequence_length",
                                                            "cos_cache",
                                                            "sin_cache",
                                                            "position_ids",
                                                            "attention_bias",
                                                            "head_sink",
                                                            "k_scale",
                                                            "v_scale",
                                                            "q_norm_weight",
                                                            "k_norm_weight"};

static const struct group_query_param* param_of(const struct node* node)
{
    return node->op.param_mem;
}

// ---- what is refused ----

static int check_cache_form(const struct node* node)
{
    const struct group_query_param* param = param_of(node);
    const struct tensor* past = get_ir_node_input(node, GROUP_QUERY_PAST_KEY);
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    const bool is_quantized = (param->k_quant_type && strcmp(param->k_quant_type, "NONE") != 0) ||
                              (param->v_quant_type && strcmp(param->v_quant_type, "NONE") != 0);
    if (is_quantized || param->kv_cache_bit_width != 0)
        return fail_node(node, TENGINE_ENOTSUP,
                         "a quantised cache (k_quant_type %s, v_quant_type %s, kv_cache_bit_width "
                         "%d) is not supported: expected NONE, NONE and 0",
                         param->k_quant_type, param->v_quant_type, param->kv_cache_bit_width);
    if (past && past->data_type != query->data_type)
        return fail_node(node, TENGINE_ENOTSUP,
                         "a cache of %s beside a query of %s is not supported: expected one type",
                         get_data_type_name(past->data_type), get_data_type_name(query->data_type));
    if (param->sliding_window_cache != 0)
        return fail_node(node, TENGINE_ENOTSUP,
                         "sliding_window_cache %d is not supported: expected 0",
                         param->sliding_window_cache);
    if (!param->causal && param->local_window_size > 0)
        return fail_node(node, TENGINE_ENOTSUP,
                         "local_window_size %d without causal is not supported",
                         param->local_window_size);
    for (int index = GROUP_QUERY_REFUSED; index < GROUP_QUERY_INPUTS; ++index)
        if (get_ir_node_input(node, index))
            return fail_node(node, TENGINE_ENOTSUP, "input %d, %s, is not supported", index,
                             input_names[index]);
    return TENGINE_OK;
}

// ---- shapes ----

int get_group_query_depth(const struct node* node)
{
    const struct group_query_param* param = param_of(node);
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    const bool is_packed = !get_ir_node_input(node, GROUP_QUERY_KEY);
    return (int)(query->dims[2] /
                 (param->num_heads + (is_packed ? 2 * (int64_t)param->kv_num_heads : 0)));
}

static bool has_dims(const struct tensor* tensor, const int64_t dims[], int dim_num)
{
    bool fits = tensor->dim_num == dim_num;
    for (int i = 0; fits && i < dim_num; ++i)
        fits = tensor->dims[i] == dims[i];
    return fits;
}

static int fail_dims(const struct node* node, int index, const char* expected)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    char dims[16 * MAX_SHAPE_DIM_NUM] = "";
    size_t length = 0;
    for (int i = 0; i < tensor->dim_num; ++i)
        length += (size_t)snprintf(dims + length, sizeof dims - length, "%s%d", i > 0 ? "x" : "",
                                   tensor->dims[i]);
    return fail_node(node, TENGINE_EINVAL, "%s '%s' has shape [%s], expected %s",
                     input_names[index], tensor->name, dims, expected);
}

static int fail_missing(const struct node* node, int index)
{
    return fail_node(node, TENGINE_EINVAL, "input %d, %s, is missing", index, input_names[index]);
}

// Checks that both inputs exist or neither does.
static int check_pair(const struct node* node, int first)
{
    const bool has_first = get_ir_node_input(node, first);
    if (has_first == (get_ir_node_input(node, first + 1) != NULL)) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input %d, %s, is missing beside %s", first + has_first,
                     input_names[first + has_first], input_names[first + !has_first]);
}

static int check_heads(const struct node* node)
{
    const struct group_query_param* param = param_of(node);
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    const struct tensor* key = get_ir_node_input(node, GROUP_QUERY_KEY);
    if (query->dim_num != 3)
        return fail_dims(node, GROUP_QUERY_QUERY, "three dimensions: batch, tokens, heads");
    if (param->num_heads % param->kv_num_heads != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d heads of the query do not divide into %d of the keys",
                         param->num_heads, param->kv_num_heads);
    const int64_t heads = param->num_heads + (key ? 0 : 2 * (int64_t)param->kv_num_heads);
    if (query->dims[2] == 0 || query->dims[2] % heads != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d columns of the query do not divide into %lld heads", query->dims[2],
                         (long long)heads);
    const int64_t dims[] = {query->dims[0], query->dims[1],
                            (int64_t)param->kv_num_heads * get_group_query_depth(node)};
    for (int index = GROUP_QUERY_KEY; key && index <= GROUP_QUERY_VALUE; ++index)
        if (!has_dims(get_ir_node_input(node, index), dims, 3))
            return fail_dims(node, index,
                             "batch and tokens of the query, and as many elements for each of "
                             "kv_num_heads heads as a head of the query has");
    return TENGINE_OK;
}

static int check_past(const struct node* node)
{
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    const struct tensor* key = get_ir_node_input(node, GROUP_QUERY_PAST_KEY);
    const int64_t dims[] = {query->dims[0], param_of(node)->kv_num_heads,
                            key && key->dim_num == 4 ? key->dims[2] : 0,
                            get_group_query_depth(node)};
    for (int index = GROUP_QUERY_PAST_KEY; key && index <= GROUP_QUERY_PAST_VALUE; ++index)
        if (!has_dims(get_ir_node_input(node, index), dims, 4))
            return fail_dims(node, index,
                             "batch, kv_num_heads, the same rows in keys and values, and the "
                             "elements of a head");
    return TENGINE_OK;
}

static int check_lengths(const struct node* node)
{
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    for (int index = GROUP_QUERY_LAST_KEY; index <= GROUP_QUERY_TOTAL; ++index) {
        if (!get_ir_node_input(node, index)) return fail_missing(node, index);
        TENGINE_RETURN_IF_ERROR(require_type(node, index, TYPE_BIT(INT32)));
    }
    if (get_ir_node_input(node, GROUP_QUERY_LAST_KEY)->elem_num != query->dims[0])
        return fail_dims(node, GROUP_QUERY_LAST_KEY, "one number for each batch");
    if (get_ir_node_input(node, GROUP_QUERY_TOTAL)->elem_num != 1)
        return fail_dims(node, GROUP_QUERY_TOTAL, "one number");
    return TENGINE_OK;
}

static int check_rotary(const struct node* node)
{
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    const struct tensor* cos = get_ir_node_input(node, GROUP_QUERY_COS);
    const struct tensor* positions = get_ir_node_input(node, GROUP_QUERY_POSITIONS);
    TENGINE_RETURN_IF_ERROR(check_pair(node, GROUP_QUERY_COS));
    TENGINE_RETURN_IF_ERROR(require_type(node, GROUP_QUERY_POSITIONS, TYPE_BIT(INT64)));
    if (param_of(node)->do_rotary && !cos) return fail_missing(node, GROUP_QUERY_COS);
    if (cos && (cos->dim_num != 2 || 2 * (int64_t)cos->dims[1] > get_group_query_depth(node)))
        return fail_dims(node, GROUP_QUERY_COS,
                         "a row for each position, of half the elements of a head at most");
    if (cos && !has_dims(get_ir_node_input(node, GROUP_QUERY_SIN),
                         (const int64_t[]){cos->dims[0], cos->dims[1]}, 2))
        return fail_dims(node, GROUP_QUERY_SIN, "that of cos_cache");
    if (positions && !has_dims(positions, (const int64_t[]){query->dims[0], query->dims[1]}, 2))
        return fail_dims(node, GROUP_QUERY_POSITIONS, "batch and tokens of the query");
    return TENGINE_OK;
}

static int check_score_inputs(const struct node* node)
{
    const struct group_query_param* param = param_of(node);
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    const struct tensor* bias = get_ir_node_input(node, GROUP_QUERY_BIAS);
    const struct tensor* sink = get_ir_node_input(node, GROUP_QUERY_SINK);
    if (bias && (bias->dim_num != 4 || (bias->dims[0] != 1 && bias->dims[0] != query->dims[0]) ||
                 (bias->dims[1] != 1 && bias->dims[1] != param->num_heads) ||
                 bias->dims[2] != query->dims[1]))
        return fail_dims(node, GROUP_QUERY_BIAS,
                         "batch or 1, num_heads or 1, tokens of the query, and keys");
    if (sink && !has_dims(sink, (const int64_t[]){param->num_heads}, 1))
        return fail_dims(node, GROUP_QUERY_SINK, "one number for each of num_heads heads");
    return TENGINE_OK;
}

static int check_inputs(const struct node* node)
{
    TENGINE_RETURN_IF_ERROR(check_cache_form(node));
    TENGINE_RETURN_IF_ERROR(require_type(node, GROUP_QUERY_QUERY, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, GROUP_QUERY_QUERY, GROUP_QUERY_PAST_VALUE));
    static const int others[] = {GROUP_QUERY_COS, GROUP_QUERY_SIN, GROUP_QUERY_BIAS,
                                 GROUP_QUERY_SINK};
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        TENGINE_RETURN_IF_ERROR(require_type(node, others[i], UINT32_C(1) << query->data_type));
    TENGINE_RETURN_IF_ERROR(check_pair(node, GROUP_QUERY_KEY));
    TENGINE_RETURN_IF_ERROR(check_heads(node));
    TENGINE_RETURN_IF_ERROR(check_pair(node, GROUP_QUERY_PAST_KEY));
    TENGINE_RETURN_IF_ERROR(check_past(node));
    TENGINE_RETURN_IF_ERROR(check_lengths(node));
    TENGINE_RETURN_IF_ERROR(check_rotary(node));
    return check_score_inputs(node);
}

static int check_outputs(const struct node* node)
{
    for (int index = GROUP_QUERY_PRESENT_KEY; index <= GROUP_QUERY_PRESENT_VALUE; ++index)
        if (!get_ir_node_output(node, index))
            return fail_node(node, TENGINE_ENOTSUP, "output %d, %s, is missing", index,
                             index == GROUP_QUERY_PRESENT_KEY ? "present_key" : "present_value");
    if (get_ir_node_output(node, GROUP_QUERY_SCORES) && param_of(node)->qk_output == 0)
        return fail_node(node, TENGINE_EINVAL, "output 3 exists only with qk_output 1 or 2");
    return TENGINE_OK;
}

// Returns the rows of the present for a total, if the past grows by the tokens of the query; else
// 0.
static int64_t get_grown_rows(const struct node* node, int64_t total)
{
    const struct tensor* past = get_ir_node_input(node, GROUP_QUERY_PAST_KEY);
    const int64_t past_rows = past ? past->dims[2] : 0;
    const int64_t tokens = get_ir_node_input(node, GROUP_QUERY_QUERY)->dims[1];
    if (total < tokens || total - tokens > past_rows) return 0;
    return total > past_rows ? total : past_rows;
}

// Returns the rows for the total that an input of the graph has now; 0: it has no value, or one
// that kernels refuse.
static int64_t get_rows_for(const struct node* node, const struct tensor* total)
{
    int32_t value;
    if (!total->data || total->data_type != TENGINE_DT_INT32 || total->elem_num != 1) return 0;
    memcpy(&value, total->data, sizeof value);
    return get_grown_rows(node, value);
}

// Returns the total before the run, if it is an input of the graph; NULL: nodes compute it.
static const struct tensor* get_given_total(const struct node* node)
{
    const struct graph* source = node->graph->core->source;
    const struct tensor* total = get_ir_node_input(node, GROUP_QUERY_TOTAL);
    const bool is_given =
        source && total->tensor_type == TENSOR_TYPE_INPUT && total->core->source_index >= 0;
    return is_given ? source->tensor_list[total->core->source_index] : NULL;
}

// Whether the rows are left to the run, as for a total that nodes compute.
static bool awaits_total(const struct node* node, const struct tensor* given)
{
    return are_ir_shapes_left_to_runs(node->graph) &&
           (!given || node->graph->core->source->core->outer);
}

static bool has_rows_for(const struct node* node, int output, const struct tensor* total)
{
    if (output != GROUP_QUERY_PRESENT_KEY && output != GROUP_QUERY_PRESENT_VALUE) return true;
    const int64_t rows = get_rows_for(node, total);
    return rows == 0 || rows == get_ir_node_output(node, output)->dims[2];
}

static const struct value_shape total_shape = {GROUP_QUERY_TOTAL, has_rows_for};

// Finds the rows for a total that may differ between runs: a past with room for the new tokens
// keeps its length, or grows to the present total. Kernels then check it, and a graph with a cache
// of full size needs no shapes at run time. Later runs may have another total, see has_rows_for().
static int find_later_rows(const struct node* node, int64_t past_rows, int64_t* out_rows)
{
    const struct tensor* given = get_given_total(node);
    if (awaits_total(node, given)) return OP_SHAPE_LATER;
    const int64_t rows = given ? get_rows_for(node, given) : 0;
    const bool has_room =
        past_rows > 0 && past_rows >= get_ir_node_input(node, GROUP_QUERY_QUERY)->dims[1];
    *out_rows = rows > 0 ? rows : past_rows;
    return rows > 0 || has_room ? TENGINE_OK : OP_SHAPE_LATER;
}

// Finds the rows that the present has room for. *out_total is left unchanged if it is not known.
static int find_present_rows(const struct node* node, int64_t* out_total, int64_t* out_rows)
{
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    const struct tensor* past = get_ir_node_input(node, GROUP_QUERY_PAST_KEY);
    const int64_t past_rows = past ? past->dims[2] : 0;
    int number;
    const int status = read_int_input(node, GROUP_QUERY_TOTAL, out_total, 1, &number);
    if (status < 0) return status;
    if (status == OP_SHAPE_LATER) return find_later_rows(node, past_rows, out_rows);
    if (*out_total < query->dims[1])
        return fail_node(node, TENGINE_EINVAL,
                         "total_sequence_length is %lld, expected at least the %d tokens of the "
                         "query",
                         (long long)*out_total, query->dims[1]);
    *out_rows = *out_total > past_rows ? *out_total : past_rows;
    return TENGINE_OK;
}

static int infer_group_query(struct node* node)
{
    const struct group_query_param* param = param_of(node);
    const struct tensor* query = get_ir_node_input(node, GROUP_QUERY_QUERY);
    TENGINE_RETURN_IF_ERROR(check_inputs(node));
    TENGINE_RETURN_IF_ERROR(check_outputs(node));
    const int depth = get_group_query_depth(node);
    const int64_t result[] = {query->dims[0], query->dims[1], (int64_t)param->num_heads * depth};
    TENGINE_RETURN_IF_ERROR(set_node_output(node, GROUP_QUERY_RESULT, query->data_type, result, 3));
    int64_t total = -1, rows = 0;
    const int status = find_present_rows(node, &total, &rows);
    if (status != TENGINE_OK) return status;
    const int64_t present[] = {query->dims[0], param->kv_num_heads, rows, depth};
    for (int index = GROUP_QUERY_PRESENT_KEY; index <= GROUP_QUERY_PRESENT_VALUE; ++index)
        TENGINE_RETURN_IF_ERROR(set_node_output(node, index, query->data_type, present, 4));
    if (!get_ir_node_output(node, GROUP_QUERY_SCORES)) return TENGINE_OK;
    if (total < 0) return OP_SHAPE_LATER;
    const int64_t scores[] = {query->dims[0], param->num_heads, query->dims[1], total};
    return set_node_output(node, GROUP_QUERY_SCORES, query->data_type, scores, 4);
}

// Counts both products, of all tokens and all keys that there is room for.
static int64_t count_macs(const struct node* node)
{
    const struct tensor* present = get_ir_node_output(node, GROUP_QUERY_PRESENT_KEY);
    const int64_t keys = multiply_macs(2, present->dims[2]);
    return multiply_macs(get_ir_node_output(node, GROUP_QUERY_RESULT)->elem_num, keys);
}

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(GroupQueryAttention, .version = 1, .min_input = 1,
                  .max_input = GROUP_QUERY_INPUTS, .min_output = 1,
                  .max_output = GROUP_QUERY_OUTPUTS, OP_FIELDS(group_query_fields),
                  .param_size = sizeof(struct group_query_param), .infer_shape = infer_group_query,
                  .value_shape = &total_shape, .macs = count_macs),
};

OPERATOR_TABLE(group_query_ops, rows);
