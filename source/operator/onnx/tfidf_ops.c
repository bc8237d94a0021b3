// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: counts n-grams of a pool in sequences of integers or strings. Parameters and the
// layout of the pool are in tfidf_param.h.
#include <limits.h>

#include "operator/infer.h"
#include "operator/onnx/tfidf_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

// Checks that the pool has n-grams of the requested lengths.
static int check_gram_lengths(const struct node* node, const struct tfidf_param* param)
{
    if (param->min_gram_length <= param->max_gram_length &&
        param->max_gram_length <= param->ngram_counts.num)
        return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "n-grams of length %d to %d are requested, ngram_counts has lengths 1 to %d",
                     param->min_gram_length, param->max_gram_length, param->ngram_counts.num);
}

// Checks that the pool divides into whole n-grams with an output index each.
static int check_pool(const struct node* node, const struct tfidf_param* param)
{
    int64_t begin = 0;
    int64_t total = 0;
    if (param->ngram_counts.num > 0 && param->ngram_counts.values[0] != 0)
        return fail_node(node, TENGINE_EINVAL, "ngram_counts begins with %lld, expected 0",
                         (long long)param->ngram_counts.values[0]);
    for (int length = 1; length <= param->ngram_counts.num; ++length) {
        const int64_t end = get_ngram_end(param, length);
        if (end < begin || end > get_pool_num(param) || (end - begin) % length != 0)
            return fail_node(node, TENGINE_EINVAL,
                             "ngram_counts puts the %d-grams at %lld to %lld in a pool of %d "
                             "values",
                             length, (long long)begin, (long long)end, get_pool_num(param));
        total += (end - begin) / length;
        begin = end;
    }
    if (total != param->ngram_indexes.num)
        return fail_node(node, TENGINE_EINVAL, "the pool has %lld n-grams, ngram_indexes has %d",
                         (long long)total, param->ngram_indexes.num);
    return TENGINE_OK;
}

static int check_weights(const struct node* node, const struct tfidf_param* param)
{
    if (param->weights.num == 0 || param->weights.num == param->ngram_indexes.num)
        return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "there are %d weights for %d n-grams",
                     param->weights.num, param->ngram_indexes.num);
}

// Returns max(ngram_indexes) + 1.
static int find_width(const struct node* node, const struct op_ints* indexes, int64_t* out_width)
{
    *out_width = 0;
    for (int i = 0; i < indexes->num; ++i) {
        const int64_t index = indexes->values[i];
        if (index < 0 || index >= INT_MAX)
            return fail_node(node, TENGINE_ERANGE, "ngram_indexes[%d] is %lld, expected 0 to %d", i,
                             (long long)index, INT_MAX - 1);
        if (index >= *out_width) *out_width = index + 1;
    }
    return TENGINE_OK;
}

static int infer_tfidf(struct node* node)
{
    const struct tfidf_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    if (param->pool_strings.num > 0 && param->pool_int64s.num > 0)
        return fail_node(node, TENGINE_EINVAL,
                         "both pool_strings and pool_int64s are set, expected one");
    TENGINE_RETURN_IF_ERROR(require_type(
        node, 0,
        param->pool_strings.num > 0 ? TYPE_BIT(STRING) : TYPE_BIT(INT32) | TYPE_BIT(INT64)));
    if (input->dim_num != 1 && input->dim_num != 2)
        return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected 1 or 2",
                         input->dim_num);
    TENGINE_RETURN_IF_ERROR(check_gram_lengths(node, param));
    TENGINE_RETURN_IF_ERROR(check_pool(node, param));
    TENGINE_RETURN_IF_ERROR(check_weights(node, param));
    int64_t width;
    TENGINE_RETURN_IF_ERROR(find_width(node, &param->ngram_indexes, &width));
    const int64_t dims[] = {input->dims[0], width};
    const int batched = input->dim_num == 2;
    return set_node_output(node, 0, TENGINE_DT_FP32, batched ? dims : dims + 1, batched ? 2 : 1);
}

static const op_field_t tfidf_fields[] = {
    OP_FIELD(struct tfidf_param, INT, min_gram_length, .required = 1, .minimum = 1,
             .maximum = INT_MAX),
    OP_FIELD(struct tfidf_param, INT, max_gram_length, .required = 1, .minimum = 1,
             .maximum = INT_MAX),
    OP_FIELD(struct tfidf_param, INT, max_skip_count, .required = 1, .maximum = INT_MAX),
    OP_FIELD(struct tfidf_param, STRING, mode, .required = 1, .choices = "TF|IDF|TFIDF"),
    OP_FIELD(struct tfidf_param, INTS, ngram_counts, .required = 1),
    OP_FIELD(struct tfidf_param, INTS, ngram_indexes, .required = 1),
    OP_FIELD(struct tfidf_param, INTS, pool_int64s, .required = 0),
    OP_FIELD(struct tfidf_param, STRINGS, pool_strings, .required = 0),
    OP_FIELD(struct tfidf_param, FLOATS, weights, .required = 0),
};

static const ir_method_t* const rows[] = {
    OP_ROW(TfIdfVectorizer, .version = 9, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(tfidf_fields), .param_size = sizeof(struct tfidf_param),
           .traits = OP_TAKES_STRINGS, .infer_shape = infer_tfidf, .types = "fp32"),
};

OPERATOR_TABLE(tfidf_ops, rows);
