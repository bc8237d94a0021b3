// SPDX-License-Identifier: Apache-2.0
// The forms of ONNX's operators. Fields and rows of the operator tables say most; the tables here
// have the rest: inputs, words and types that came later.
#include "operator/onnx_form.h"

#include <string.h>

#include "graph/body.h"
#include "graph/sequence.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/type_set.h"

// ---- inputs, outputs and words ----

typedef enum later_kind
{
    INPUT_GIVEN,
    INPUT_LEFT_OUT,
    INPUT_IS_LIST,  // more than one element
    INPUTS_DIFFER,  // in their shapes
    SECOND_OUTPUT,
    WORD_IS,
    OTHER_BEFORE,           // earlier opsets mean something else by the same form,
    OTHER_BEFORE_LEFT_OUT,  // without this input,
    OTHER_BEFORE_OUTPUTS    // or with more than one output
} later_kind_t;

typedef struct later
{
    const char* ops;  // "A|B"
    later_kind_t kind;
    int opset;
    int input;
    const char* attribute;
    const char* what;  // for WORD_IS the word
} later_t;

#define LATER_WORD(op_names, first, name, word)                                           \
    {                                                                                     \
        .ops = op_names, .kind = WORD_IS, .opset = first, .attribute = name, .what = word \
    }

static const later_t later_table[] = {
    {"Max|Mean|Min|Sum", INPUTS_DIFFER, 8, .what = "broadcasting"},
    {"MaxPool", SECOND_OUTPUT, 8, .what = "a second output"},
    {"Slice", INPUT_GIVEN, 10, .input = 4, .what = "steps"},
    {"Gemm", INPUT_LEFT_OUT, 11, .input = 2, .what = "an absent bias"},
    {"Dropout", INPUT_GIVEN, 12, .input = 2, .what = "training_mode"},
    {"Resize", INPUT_LEFT_OUT, 13, .input = 1, .what = "an absent roi"},
    {"Resize", INPUT_LEFT_OUT, 13, .input = 2, .what = "absent scales"},
    {"DequantizeLinear|QuantizeLinear", INPUT_IS_LIST, 13, .input = 1,
     .what = "more than one scale"},
    {.ops = "BatchNormalization", .kind = OTHER_BEFORE_OUTPUTS, .opset = 14},
    {.ops = "RoiAlign", .kind = OTHER_BEFORE, .opset = 16},
    {"Pad", INPUT_GIVEN, 18, .input = 3, .what = "axes"},
    {"Split", OTHER_BEFORE_LEFT_OUT, 18, .input = 1},
    LATER_WORD("ScatterElements|ScatterND", 18, "reduction", "max"),
    LATER_WORD("ScatterElements|ScatterND", 18, "reduction", "min"),
    {"OptionalHasElement", INPUT_LEFT_OUT, 18, .what = "an absent input"},
    LATER_WORD("Pad", 19, "mode", "wrap"),
    LATER_WORD("Resize", 19, "coordinate_transformation_mode", "half_pixel_symmetric"),
    {.ops = "DFT", .kind = OTHER_BEFORE, .opset = 20},
    {.ops = "GroupNormalization", .kind = OTHER_BEFORE, .opset = 21},
    {"Attention", INPUT_GIVEN, 24, .input = 6, .what = "nonpad_kv_seqlen"},
};

// Their attributes `axis` and `axes` may count from the last dimension since opset 11.
static const char axis_ops[] =
    "ArgMax|ArgMin|Compress|Concat|Flatten|Hardmax|LogSoftmax|ReduceL1|ReduceL2|ReduceLogSum|"
    "ReduceLogSumExp|ReduceMax|ReduceMean|ReduceMin|ReduceProd|ReduceSum|ReduceSumSquare|Slice|"
    "Softmax|Split|Squeeze|Unsqueeze";

// ---- types ----

#define TYPES_SHORT (TYPE_BIT(UINT16) | TYPE_BIT(INT16))
#define TYPES_INT (TYPES_BYTE | TYPES_SHORT | TYPES_WORD)
#define TYPES_HALF (TYPE_BIT(FP16) | TYPE_BIT(BF16))
#define TYPE_SEQUENCE (UINT32_C(1) << 30)
#define TYPE_OPTIONAL (UINT32_C(1) << 31)

typedef struct later_types
{
    const char* ops;  // "A|B"; NULL: any
    int opset;
    uint32_t types;
} later_types_t;

static const later_types_t later_types[] = {
    {NULL, 13, TYPE_BIT(BF16)},
    {NULL, 19, TYPES_FLOAT8},
    {NULL, 21, TYPE_BIT(UINT4) | TYPE_BIT(INT4)},
    {NULL, 23, TYPE_BIT(FLOAT4E2M1)},
    {NULL, 24, TYPE_BIT(FLOAT8E8M0)},
    {NULL, 25, TYPE_BIT(UINT2) | TYPE_BIT(INT2)},
    {"Gemm|MatMul|PRelu", 9, TYPES_WORD},
    {"Greater|Less", 9, TYPES_INT},
    {"Constant|Flatten", 9, TYPES_INT | TYPE_BIT(BOOL) | TYPE_BIT(STRING) | TYPES_COMPLEX},
    {"Cast", 9, TYPE_BIT(STRING)},
    {"Dropout", 10, TYPE_BIT(BOOL)},
    {"Equal", 11, TYPES_FLOAT | TYPES_BYTE | TYPES_SHORT | TYPE_BIT(UINT32) | TYPE_BIT(UINT64)},
    {"Pad", 11, TYPES_INT},
    {"TopK", 11, TYPES_INT & ~TYPE_BIT(INT64)},  // which its k and Indices are
    {"Clip|Max|Min|Pow", 12, TYPES_INT},
    {"MaxPool|ReduceMax|ReduceMin", 12, TYPES_BYTE},
    {"If|Loop", 13, TYPE_SEQUENCE},
    {"Pad", 13, TYPE_BIT(BOOL) | TYPE_BIT(STRING) | TYPES_COMPLEX},
    {"Identity", 14, TYPE_SEQUENCE},
    {"Add|Div|Mul|Sub", 14, TYPES_BYTE | TYPES_SHORT},
    {"BatchNormalization", 14, TYPE_BIT(BF16)},
    {"CumSum", 14, TYPES_HALF},
    {"Relu", 14, TYPES_BYTE | TYPES_SHORT | TYPE_BIT(INT32) | TYPE_BIT(INT64)},
    {"Pow", 15, TYPE_BIT(BF16)},
    {"Identity|If|Loop", 16, TYPE_OPTIONAL},
    {"GreaterOrEqual|LeakyRelu|LessOrEqual|PRelu|Scan|Where", 16, TYPE_BIT(BF16)},
    {"DequantizeLinear|QuantizeLinear", 19, TYPES_HALF},
    {"Equal", 19, TYPE_BIT(STRING)},
    {"ConstantOfShape", 20, TYPES_FLOAT8 | TYPE_BIT(BF16)},
    {"IsInf", 20, TYPES_HALF | TYPES_FLOAT8},
    {"IsNaN", 20, TYPES_FLOAT8},
    {"ReduceMax|ReduceMin", 20, TYPE_BIT(BOOL)},
    {"Flatten|Pad|Squeeze|Transpose|Unsqueeze", 21, TYPES_FLOAT8},
    {"DequantizeLinear|QuantizeLinear", 21, TYPES_SHORT},
    {"QLinearMatMul", 21, TYPES_HALF | TYPES_FLOAT8},
    {"Acos|Acosh|Asin|Asinh|Atan|Atanh|AveragePool|Bernoulli|Conv|ConvTranspose|Cos|Cosh|"
     "DeformConv|Det|Dropout|Elu|EyeLike|GRU|GlobalAveragePool|GlobalLpPool|GlobalMaxPool|"
     "GridSample|HardSigmoid|HardSwish|InstanceNormalization|LSTM|LpNormalization|LpPool|MaxPool|"
     "MaxRoiPool|MaxUnpool|Mish|Multinomial|NegativeLogLikelihoodLoss|RNN|RandomNormal|"
     "RandomNormalLike|RandomUniform|RandomUniformLike|RoiAlign|Round|Selu|Sin|Sinh|Softplus|"
     "Softsign|Tan|ThresholdedRelu",
     22, TYPE_BIT(BF16)},
    {"Dropout", 22, TYPES_FLOAT8},
    {"SplitToSequence|TopK", 24, TYPE_BIT(BF16)},
    {"Range", 27, TYPES_HALF},
    {"Celu", 28, TYPES_HALF | TYPE_BIT(FP64)},
};

// ---- the form of a node ----

static void raise_first(onnx_form_t* form, int opset, const char* what)
{
    if (form->first >= opset) return;
    form->first = opset;
    form->what = what;
}

static void lower_last(onnx_form_t* form, int opset)
{
    if (form->last > opset) form->last = opset;
}

bool has_own_param(const struct node* node, const op_field_t* field)
{
    const void* memory = (const char*)node->op.param_mem + field->offset;
    const bool valid = find_op_field(node->op.method, field->name, node->op.version) == field;
    return valid && (field->required || is_given_param(node->op.method, field, memory));
}

static void add_field(const struct node* node, const op_field_t* field, onnx_form_t* form)
{
    const bool was_attribute = field->until && node->op.version <= field->until;
    if (has_own_param(node, field)) {
        raise_first(form, field->since, field->name);
        if (was_attribute) lower_last(form, field->until);
    }
    if (field->moved_as != OP_MOVED_NOT && !was_attribute &&
        get_ir_node_input(node, field->moved_input))
        raise_first(form, field->until + 1, field->name);
}

static void divide(const struct node* node, int opset, onnx_form_t* form)
{
    if (node->op.version < opset)
        lower_last(form, opset - 1);
    else
        raise_first(form, opset, "this meaning");
}

static bool has_inputs_of_one_shape(const struct node* node)
{
    const struct tensor* first = get_ir_node_input(node, 0);
    for (int i = 1; first && i < node->input_num; ++i) {
        const struct tensor* other = get_ir_node_input(node, i);
        if (!other || !is_ir_tensor_shape_known(first) || !is_ir_tensor_shape_known(other) ||
            first->dim_num != other->dim_num ||
            memcmp(first->dims, other->dims, sizeof *first->dims * first->dim_num) != 0)
            return false;
    }
    return true;
}

static void add_later(const struct node* node, const later_t* later, onnx_form_t* form)
{
    const struct tensor* input = get_ir_node_input(node, later->input);
    bool is_later = false;
    switch (later->kind) {
        case INPUT_GIVEN:
            is_later = input != NULL;
            break;
        case INPUT_LEFT_OUT:
            is_later = !input;
            break;
        case INPUT_IS_LIST:
            is_later = input && input->shape_set && input->elem_num != 1;
            break;
        case INPUTS_DIFFER:
            is_later = !has_inputs_of_one_shape(node);
            break;
        case SECOND_OUTPUT:
            is_later = get_ir_node_output(node, 1) != NULL;
            break;
        case WORD_IS:
            is_later = strcmp(get_ir_node_text(node, later->attribute, ""), later->what) == 0;
            break;
        case OTHER_BEFORE:
            divide(node, later->opset, form);
            break;
        case OTHER_BEFORE_LEFT_OUT:
            if (!input) divide(node, later->opset, form);
            break;
        case OTHER_BEFORE_OUTPUTS:
            if (node->output_num > 1) divide(node, later->opset, form);
            break;
    }
    if (is_later) raise_first(form, later->opset, later->what);
}

// Whether `op` is one of "A|B".
static bool is_listed(const char* ops, const char* op)
{
    const size_t length = strlen(op);
    for (const char* word = ops; word; word = strchr(word, '|')) {
        word += *word == '|';
        if (strncmp(word, op, length) == 0 && (word[length] == '|' || word[length] == '\0'))
            return true;
    }
    return false;
}

bool has_negative_axis(const struct node* node)
{
    if (!is_listed(axis_ops, get_ir_node_op(node))) return false;
    int num = 0;
    const int64_t* axes = get_ir_node_ints(node, "axes", &num);
    for (int i = 0; i < num; ++i)
        if (axes[i] < 0) return true;
    return get_ir_node_int(node, "axis", 0) < 0;
}

static uint32_t types_of(const struct tensor* tensor)
{
    if (!tensor || tensor->data_type == TENGINE_DT_UNKNOWN) return 0;
    const int container = get_ir_container(tensor->data_type);
    return UINT32_C(1) << get_ir_element_type(tensor->data_type) |
           (container % TENGINE_DT_OPTIONAL ? TYPE_SEQUENCE : 0) |
           (container >= TENGINE_DT_OPTIONAL ? TYPE_OPTIONAL : 0);
}

static void add_type(const char* op, const struct tensor* tensor, onnx_form_t* form)
{
    const uint32_t types = types_of(tensor);
    for (size_t i = 0; i < sizeof later_types / sizeof *later_types; ++i)
        if ((later_types[i].types & types) &&
            (!later_types[i].ops || is_listed(later_types[i].ops, op)))
            raise_first(form, later_types[i].opset, get_data_type_name(tensor->data_type));
}

// An operator without description, of which only the file's own opset is known.
static bool is_unknown(const struct node* node)
{
    return (node->op.method->traits & OP_OPEN) != 0;
}

onnx_form_t find_onnx_form(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    if (is_unknown(node)) {
        const int own = (int)get_ir_node_int(node, "domain_version", 1);
        return (onnx_form_t){own, own, "the operator"};
    }
    const char* op = get_ir_node_op(node);
    const int last = method->until ? method->until : NEWEST_KNOWN_OPSET;
    onnx_form_t form = {method->version, last, "the operator in this form"};
    for (int i = 0; i < method->field_num; ++i)
        add_field(node, &method->fields[i], &form);
    for (size_t i = 0; i < sizeof later_table / sizeof *later_table; ++i)
        if (is_listed(later_table[i].ops, op)) add_later(node, &later_table[i], &form);
    if (has_negative_axis(node)) raise_first(&form, 11, "a negative axis");
    for (int i = 0; i < node->input_num; ++i)
        add_type(op, get_ir_node_input(node, i), &form);
    for (int i = 0; i < node->output_num; ++i)
        add_type(op, get_ir_node_output(node, i), &form);
    return form;
}

bool has_onnx_opset(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    if (is_unknown(node)) return !strchr(get_ir_node_text(node, "op_name", ""), '.');
    return !method->tengine && (!method->domain || !*method->domain);
}

int check_onnx_form(const struct node* node, int opset)
{
    const onnx_form_t form = find_onnx_form(node);
    if (opset < form.first)
        return fail_node(node, TENGINE_ENOTSUP, "%s came with opset %d, the file is for opset %d",
                         form.what, form.first, opset);
    if (opset > form.last)
        return fail_node(node, TENGINE_ENOTSUP,
                         "the operator in this form ended with opset %d, the file is for opset %d",
                         form.last, opset);
    return TENGINE_OK;
}

// ---- the opset of a graph ----

int check_onnx_forms(const struct graph* graph, int opset)
{
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        const ir_bodies_t* bodies = node->core->bodies;
        if (has_onnx_opset(node)) TENGINE_RETURN_IF_ERROR(check_onnx_form(node, opset));
        for (int k = 0; bodies && k < bodies->num; ++k)
            TENGINE_RETURN_IF_ERROR(check_onnx_forms(bodies->list[k].graph, opset));
    }
    return TENGINE_OK;
}

// The opsets that all nodes have in common.
static void meet_forms(const struct graph* graph, onnx_form_t* common)
{
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        const ir_bodies_t* bodies = node->core->bodies;
        for (int k = 0; bodies && k < bodies->num; ++k)
            meet_forms(bodies->list[k].graph, common);
        if (!has_onnx_opset(node)) continue;
        const onnx_form_t form = find_onnx_form(node);
        raise_first(common, form.first, form.what);
        lower_last(common, form.last);
    }
}

int choose_onnx_opset(const struct graph* graph, int asked)
{
    onnx_form_t common = {1, NEWEST_KNOWN_OPSET, NULL};
    meet_forms(graph, &common);
    if (common.first > common.last) return 0;
    if (asked) return asked >= common.first && asked <= common.last ? asked : 0;
    if (common.first > USUAL_OPSET) return common.first;
    return common.last < USUAL_OPSET ? common.last : USUAL_OPSET;
}

int get_ir_version_of_opset(int opset)
{
    static const int first_opsets[] = {9,  10, 11, 12, 15,
                                       19, 21, 23, 24, 25};  // those of IR 4 to 13
    int version = 3;
    for (size_t i = 0; i < sizeof first_opsets / sizeof *first_opsets; ++i)
        if (opset >= first_opsets[i]) ++version;
    return version;
}
