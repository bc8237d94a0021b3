// SPDX-License-Identifier: Apache-2.0
// Einsum: equations of numpy.einsum, including "..." and the form without "->". Kernel:
// device/cpu/reference/matmul/einsum.cc.
#include <stdbool.h>
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx/einsum_param.h"
#include "operator/onnx/macs.h"
#include "operator/row.h"
#include "operator/type_set.h"

static const op_field_t fields[] = {
    OP_FIELD(struct einsum_param, STRING, equation, .required = 1),
};

// A label is a letter (upper case first, the order of implicit outputs) or one of the dimensions
// under "...", counted from the last, which has the highest label.
struct label
{
    int64_t size;  // -1: the label does not occur
    int occurrences;
    int64_t strides[EINSUM_MAX_INPUTS];
};

struct parser
{
    const struct node* node;
    const char* cursor;
    struct label labels[EINSUM_MAX_LABELS];
    int ellipsis_rank;  // largest number of dimensions under "..."
    int output[EINSUM_MAX_LABELS];
    int output_rank;
    int8_t axes[EINSUM_MAX_INPUTS][MAX_SHAPE_DIM_NUM];  // the label of each axis of an input
};

// The kinds of tokens of a term.
enum
{
    TOKEN_END = -1,
    TOKEN_ELLIPSIS = -2,
    TOKEN_COMMA = -3,
    TOKEN_ARROW = -4,
    TOKEN_BAD = -5
};

// Returns the label of the next letter, or a TOKEN_*. Spaces are skipped.
static int next_token(const char** cursor)
{
    while (**cursor == ' ')
        ++*cursor;
    const char c = **cursor;
    if (c == '\0') return TOKEN_END;
    ++*cursor;
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c == ',') return TOKEN_COMMA;
    if (c == '-' && **cursor == '>') return ++*cursor, TOKEN_ARROW;
    if (c == '.' && strncmp(*cursor, "..", 2) == 0) return *cursor += 2, TOKEN_ELLIPSIS;
    return TOKEN_BAD;
}

static int fail_equation(const struct parser* parser, const char* what)
{
    const struct einsum_param* param = parser->node->op.param_mem;
    return fail_node(parser->node, TENGINE_EINVAL, "equation '%.200s': %s", param->equation, what);
}

// Counts the letters and ellipses of the term at the cursor, without moving it. False: an unknown
// character, or "..." twice.
static bool measure_term(const char* cursor, int* out_letters, bool* out_ellipsis)
{
    *out_letters = 0;
    *out_ellipsis = false;
    for (int token = next_token(&cursor); token >= 0 || token == TOKEN_ELLIPSIS;
         token = next_token(&cursor)) {
        if (token >= 0) {
            ++*out_letters;
        } else if (*out_ellipsis) {
            return false;
        } else {
            *out_ellipsis = true;
        }
    }
    return true;
}

// Adds dimension `dim` of input `input`, whose elements are `stride` apart, to its label.
static int add_dimension(struct parser* parser, int input, int label_index, int dim, int64_t stride)
{
    struct label* label = &parser->labels[label_index];
    if (label->size < 0 || label->size == 1) label->size = dim;
    if (dim != label->size && dim != 1)
        return fail_node(parser->node, TENGINE_EINVAL,
                         "a label of input %d has size %d here and %lld before", input, dim,
                         (long long)label->size);
    ++label->occurrences;
    // Dimensions of size one broadcast.
    if (dim != 1) label->strides[input] += stride;
    return TENGINE_OK;
}

// Reads the term of one input. *out_token is the token that ended it.
static int parse_input(struct parser* parser, int input, int* out_token)
{
    const struct tensor* tensor = get_ir_node_input(parser->node, input);
    int letters;
    bool has_ellipsis;
    if (!measure_term(parser->cursor, &letters, &has_ellipsis))
        return fail_equation(parser, "two ellipses in one term");
    const int hidden = tensor->dim_num - letters;
    if (hidden < 0 || (hidden > 0 && !has_ellipsis))
        return fail_node(parser->node, TENGINE_EINVAL,
                         "the equation has %d labels for input %d of rank %d", letters, input,
                         tensor->dim_num);
    if (hidden > parser->ellipsis_rank) parser->ellipsis_rank = hidden;

    int axis = 0;
    for (;;) {
        const int token = next_token(&parser->cursor);
        if (token < 0 && token != TOKEN_ELLIPSIS) {
            *out_token = token;
            return TENGINE_OK;
        }
        const int count = token == TOKEN_ELLIPSIS ? hidden : 1;
        const int first = token == TOKEN_ELLIPSIS ? EINSUM_MAX_LABELS - hidden : token;
        for (int i = 0; i < count; ++i, ++axis) {
            parser->axes[input][axis] = (int8_t)(first + i);
            TENGINE_RETURN_IF_ERROR(
                add_dimension(parser, input, first + i, tensor->dims[axis],
                              multiply_dims(tensor, axis + 1, tensor->dim_num)));
        }
    }
}

static void add_ellipsis_outputs(struct parser* parser)
{
    for (int i = EINSUM_MAX_LABELS - parser->ellipsis_rank; i < EINSUM_MAX_LABELS; ++i)
        parser->output[parser->output_rank++] = i;
}

// Without "->" the output has the dimensions under "...", then the letters that occur once.
static void infer_output(struct parser* parser)
{
    add_ellipsis_outputs(parser);
    for (int i = 0; i < EINSUM_LETTERS; ++i)
        if (parser->labels[i].occurrences == 1) parser->output[parser->output_rank++] = i;
}

static int parse_output(struct parser* parser)
{
    bool seen[EINSUM_LETTERS] = {false};
    int letters;
    bool has_ellipsis;
    if (!measure_term(parser->cursor, &letters, &has_ellipsis))
        return fail_equation(parser, "two ellipses in the output");
    int token;
    while ((token = next_token(&parser->cursor)) >= 0 || token == TOKEN_ELLIPSIS) {
        if (token == TOKEN_ELLIPSIS) {
            add_ellipsis_outputs(parser);
            continue;
        }
        if (seen[token] || parser->labels[token].size < 0)
            return fail_equation(parser, "a label of the output is repeated or in no input");
        seen[token] = true;
        parser->output[parser->output_rank++] = token;
    }
    return token == TOKEN_END ? TENGINE_OK : fail_equation(parser, "invalid term after '->'");
}

static int parse_equation(struct parser* parser)
{
    const int input_num = parser->node->input_num;
    int token = TOKEN_COMMA;
    for (int input = 0; input < input_num; ++input) {
        if (token != TOKEN_COMMA) return fail_equation(parser, "fewer terms than inputs");
        TENGINE_RETURN_IF_ERROR(parse_input(parser, input, &token));
    }
    if (token == TOKEN_ARROW) return parse_output(parser);
    if (token == TOKEN_COMMA) return fail_equation(parser, "more terms than inputs");
    if (token == TOKEN_BAD) return fail_equation(parser, "expected letters, ',', '...' and '->'");
    infer_output(parser);
    return TENGINE_OK;
}

// Adds the loop of the label at `index`; axes with the label get the loop's number.
static void add_loop(const struct parser* parser, int index, struct einsum_plan* plan)
{
    const struct label* label = &parser->labels[index];
    const int input_num = parser->node->input_num;
    plan->sizes[plan->loop_num] = label->size;
    for (int input = 0; input < input_num; ++input)
        plan->strides[input][plan->loop_num] = label->strides[input];
    for (int input = 0; input < input_num; ++input)
        for (int i = 0; i < get_ir_node_input(parser->node, input)->dim_num; ++i)
            if (parser->axes[input][i] == index) plan->axes[input][i] = (int8_t)plan->loop_num;
    ++plan->loop_num;
}

int plan_einsum(const struct node* node, struct einsum_plan* out_plan)
{
    const struct einsum_param* param = node->op.param_mem;
    if (node->input_num > EINSUM_MAX_INPUTS)
        return fail_node(node, TENGINE_ELIMIT, "%d inputs, expected at most %d", node->input_num,
                         EINSUM_MAX_INPUTS);
    struct parser parser = {.node = node, .cursor = param->equation};
    for (int i = 0; i < EINSUM_MAX_LABELS; ++i)
        parser.labels[i].size = -1;
    TENGINE_RETURN_IF_ERROR(parse_equation(&parser));

    out_plan->loop_num = 0;
    out_plan->output_rank = parser.output_rank;
    for (int i = 0; i < parser.output_rank; ++i) {
        add_loop(&parser, parser.output[i], out_plan);
        parser.labels[parser.output[i]].size = -1;  // the labels that are left are summed over
    }
    for (int i = 0; i < EINSUM_MAX_LABELS; ++i)
        if (parser.labels[i].size >= 0) add_loop(&parser, i, out_plan);
    return TENGINE_OK;
}

static int infer_einsum(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_NUMBER));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, node->input_num - 1));
    for (int i = 0; i < node->input_num; ++i)
        if (!get_ir_node_input(node, i))
            return fail_node(node, TENGINE_EINVAL, "input %d is missing", i);
    struct einsum_plan plan;
    TENGINE_RETURN_IF_ERROR(plan_einsum(node, &plan));
    return set_node_output(node, 0, get_ir_node_input(node, 0)->data_type, plan.sizes,
                           plan.output_rank);
}

static int64_t count_einsum_macs(const struct node* node)
{
    struct einsum_plan plan;
    if (node->input_num < 2 || plan_einsum(node, &plan) < 0) return 0;
    int64_t macs = node->input_num - 1;
    for (int i = 0; i < plan.loop_num; ++i)
        macs = multiply_macs(macs, plan.sizes[i]);
    return macs;
}

static const ir_method_t* const rows[] = {
    OP_ROW(Einsum, .version = 12, .min_input = 1, .max_input = -1, .min_output = 1, .max_output = 1,
           OP_FIELDS(fields), .param_size = sizeof(struct einsum_param),
           .infer_shape = infer_einsum, .macs = count_einsum_macs),
};

OPERATOR_TABLE(einsum_ops, rows);
