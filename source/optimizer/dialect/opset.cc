// SPDX-License-Identifier: Apache-2.0
// ONNX's operators in the form of another opset, for files. A node that has the same form in an
// earlier opset stays. Other nodes are first lowered to the newest form, as in a run, and then
// converted to the earlier opset.
#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "graph/body.h"
#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/onnx_form.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "operator/type_rule.h"
#include "operator/type_set.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

bool fits(const node& node, int opset)
{
    const onnx_form_t form = find_onnx_form(&node);
    return opset >= form.first && opset <= form.last;
}

// ---- down ----

// Removes a constant without readers, which a file need not have.
void drop_if_unread(const graph& graph, struct tensor& constant)
{
    if (constant.consumer_num == 0 && !is_ir_graph_output(&graph, constant.index))
        constant.tensor_type = TENSOR_TYPE_VAR;
}

int drop_input(node& node, int index)
{
    struct tensor* constant = get_ir_node_input(&node, index);
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, index, nullptr));
    drop_if_unread(*node.graph, *constant);
    return TENGINE_OK;
}

int fail_computed(const node& node, const op_field_t& field, int opset)
{
    return fail_node(&node, TENGINE_ENOTSUP,
                     "'%s' is computed, which opset %d has and opset %d does not: there it is an "
                     "attribute",
                     field.name, field.until + 1, opset);
}

int set_from_ints(node& node, const op_field_t& field, int count)
{
    Vector<int64_t> values(static_cast<size_t>(count));
    int number = 0;
    TENGINE_RETURN_IF_ERROR(
        read_int_input(&node, field.moved_input, values.data(), count, &number));
    return field.kind == OP_FIELD_INT ? set_node_int(&node, field.name, values[0])
                                      : set_node_ints(&node, field.name, values.data(), number);
}

int set_from_floats(node& node, const op_field_t& field, int count)
{
    Vector<float> values(static_cast<size_t>(count));
    int number = 0;
    TENGINE_RETURN_IF_ERROR(
        read_float_input(&node, field.moved_input, values.data(), count, &number));
    return field.kind == OP_FIELD_FLOAT ? set_node_float(&node, field.name, values[0])
                                        : set_node_floats(&node, field.name, values.data(), number);
}

int fold_constant(node& constant)
{
    TENGINE_RETURN_IF_ERROR(infer_node(&constant));
    return evaluate_node(constant);
}

int take_moved_input(node& node, const op_field_t& field, int opset)
{
    const struct tensor* input = get_ir_node_input(&node, field.moved_input);
    if (!input) return TENGINE_OK;
    struct node* producer = get_ir_graph_node(node.graph, input->producer);
    if (producer && is_op(producer, "Constant")) TENGINE_RETURN_IF_ERROR(fold_constant(*producer));
    if (input->tensor_type != TENSOR_TYPE_CONST) return fail_computed(node, field, opset);
    const int count = std::max(1, static_cast<int>(input->elem_num));
    const bool is_float = field.kind == OP_FIELD_FLOAT || field.kind == OP_FIELD_FLOATS;
    TENGINE_RETURN_IF_ERROR(is_float ? set_from_floats(node, field, count)
                                     : set_from_ints(node, field, count));
    return drop_input(node, field.moved_input);
}

// Turns inputs into attributes that they are in `opset`.
int take_moved_inputs(node& node, int opset)
{
    const method& method = *node.op.method;
    if (find_op_method(node.op.type, opset) != &method) return TENGINE_OK;
    for (int i = 0; i < method.field_num; ++i) {
        const op_field_t& field = method.fields[i];
        if (field.moved_as != OP_MOVED_NOT && find_op_field(&method, field.name, opset) == &field)
            TENGINE_RETURN_IF_ERROR(take_moved_input(node, field, opset));
    }
    return TENGINE_OK;
}

// Before opset 18, outputs without given sizes are of equal size.
int split_equally(node& node, int opset)
{
    const struct tensor* input = get_ir_node_input(&node, 0);
    int axis = 0;
    if (get_ir_node_input(&node, 1)) {
        node.op.version = opset;
        return TENGINE_OK;
    }
    if (!input || !is_ir_tensor_shape_known(input))
        return fail_node(&node, TENGINE_ENOTSUP,
                         "opset 18 has num_outputs, opset %d needs an input of known shape", opset);
    TENGINE_RETURN_IF_ERROR(
        normalize_axis(&node, get_ir_node_int(&node, "axis", 0), input->dim_num, &axis));
    if (node.output_num < 1 || input->dims[axis] % node.output_num != 0)
        return fail_node(&node, TENGINE_ENOTSUP,
                         "opset 18 has parts of different sizes by num_outputs, opset %d does not",
                         opset);
    TENGINE_RETURN_IF_ERROR(set_node_int(&node, "num_outputs", 0));
    node.op.version = opset;
    return TENGINE_OK;
}

// Before opset 16 the only mode has no name.
int unname_roi_mode(node& node, int opset)
{
    static const char kNew[] = "half_pixel";
    const String mode = get_ir_node_text(&node, "coordinate_transformation_mode", kNew);
    if (mode != "output_half_pixel") return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(
        set_node_text(&node, "coordinate_transformation_mode", kNew, sizeof(kNew) - 1));
    node.op.version = opset;
    return TENGINE_OK;
}

// Before opset 13, Softmax treats the axes from `axis` on as one. At the last axis that makes no
// difference.
int flatten_softmax(node& node, int opset)
{
    const struct tensor* input = get_ir_node_input(&node, 0);
    const int64_t axis = get_ir_node_int(&node, "axis", -1);
    const int rank = input && input->shape_set ? input->dim_num : 0;
    if (axis != -1 && axis != rank - 1)
        return fail_node(&node, TENGINE_ENOTSUP,
                         "opset 13 has it along axis %lld, opset %d along the last axis only",
                         static_cast<long long>(axis), opset);
    TENGINE_RETURN_IF_ERROR(change_node_opset(&node, opset));
    return rank > 0 ? set_node_int(&node, "axis", rank - 1) : TENGINE_OK;
}

// Before opset 10 every step is 1.
int drop_steps(node& node, int)
{
    const struct tensor* steps = get_ir_node_input(&node, 4);
    int64_t values[MAX_SHAPE_DIM_NUM];
    int number = 0;
    if (!steps || steps->tensor_type != TENSOR_TYPE_CONST) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(read_int_input(&node, 4, values, MAX_SHAPE_DIM_NUM, &number));
    const bool is_plain = std::all_of(values, values + number, [](int64_t i) { return i == 1; });
    return is_plain ? drop_input(node, 4) : TENGINE_OK;
}

// Adds a constant of zeroes for an absent input.
int fill_input(node& node, int index, const char* name, int data_type, int count)
{
    if (get_ir_node_input(&node, index)) return TENGINE_OK;
    struct tensor* made =
        create_ir_tensor(node.graph, (String(node.name) + "." + name).c_str(), data_type);
    if (!made) return tengine_error_code();
    made->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(made, &count, 1));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(made));
    if (count > 0) std::memset(made->data, 0, get_ir_tensor_bytes(made));
    return set_ir_node_input_tensor(&node, index, made);
}

// Before opset 13, an absent list is an empty input.
int fill_resize(node& node, int)
{
    TENGINE_RETURN_IF_ERROR(fill_input(node, 1, "roi", TENGINE_DT_FP32, 0));
    return fill_input(node, 2, "scales", TENGINE_DT_FP32, 0);
}

// Before opset 11, the bias is required.
int fill_bias(node& node, int)
{
    const struct tensor* input = get_ir_node_input(&node, 0);
    const int type = input ? input->data_type : TENGINE_DT_UNKNOWN;
    const bool is_number = type < 32 && ((TYPES_FLOAT | TYPES_WORD) >> type & 1u);
    return is_number ? fill_input(node, 2, "bias", type, 1) : TENGINE_OK;
}

// Before opset 14, a 0 in the shape means a dimension of the input. The shape of a tensor with
// elements contains no 0.
int drop_allowzero(node& node, int)
{
    for (const struct tensor* data : {get_ir_node_input(&node, 0), get_ir_node_output(&node, 0)})
        if (data && is_ir_tensor_shape_known(data) && data->elem_num > 0)
            return set_node_int(&node, "allowzero", 0);
    return TENGINE_OK;
}

struct Descent
{
    const char* op;
    int opset;  // for those before it
    int (*take)(node& node, int opset);
};

constexpr Descent kDescents[] = {
    {"Gemm", 11, fill_bias},
    {"Hardmax", 13, flatten_softmax},
    {"LogSoftmax", 13, flatten_softmax},
    {"Reshape", 14, drop_allowzero},
    {"Resize", 13, fill_resize},
    {"RoiAlign", 16, unname_roi_mode},
    {"Slice", 10, drop_steps},
    {"Softmax", 13, flatten_softmax},
    {"Split", 18, split_equally},
};

// The tensor to whose dimensions `axis` and `axes` refer.
const struct tensor* find_counted(const node& node)
{
    return is_op(&node, "Unsqueeze") ? get_ir_node_output(&node, 0) : get_ir_node_input(&node, 0);
}

// Before opset 11, axes are not negative.
int count_axes_forwards(node& node, int opset)
{
    const struct tensor* counted = find_counted(node);
    if (opset >= 11 || !has_negative_axis(&node) || !counted || !counted->shape_set)
        return TENGINE_OK;
    const auto forwards = [=](int64_t axis) { return axis < 0 ? axis + counted->dim_num : axis; };
    const int64_t axis = get_ir_node_int(&node, "axis", 0);
    if (axis < 0) TENGINE_RETURN_IF_ERROR(set_node_int(&node, "axis", forwards(axis)));
    int number = 0;
    const int64_t* given = get_ir_node_ints(&node, "axes", &number);
    Vector<int64_t> axes(static_cast<size_t>(number));
    std::transform(given, given + number, axes.begin(), forwards);
    return number > 0 ? set_node_ints(&node, "axes", axes.data(), number) : TENGINE_OK;
}

// Converts a node of the newest form to `opset`.
int take_down(node& node, int opset)
{
    for (const Descent& descent : kDescents)
        if (is_op(&node, descent.op) && opset < descent.opset)
            TENGINE_RETURN_IF_ERROR(descent.take(node, opset));
    const int meant = node.op.version;
    node.op.version = opset;  // its row has the attributes
    TENGINE_RETURN_IF_ERROR(take_moved_inputs(node, opset));
    TENGINE_RETURN_IF_ERROR(count_axes_forwards(node, opset));
    node.op.version = meant;
    TENGINE_RETURN_IF_ERROR(check_onnx_form(&node, opset));
    node.op.version = opset;
    return check_onnx_form(&node, opset);
}

// ---- up ----

// Repeats the elements of each group for its channels.
int repeat_for_channels(node& node, int index, int groups, int channels)
{
    const struct tensor* given = get_ir_node_input(&node, index);
    if (!given || given->tensor_type != TENSOR_TYPE_CONST)
        return fail_node(&node, TENGINE_ENOTSUP,
                         "input %d is computed and has an element for each group, which opset 18 "
                         "has and opset 21 does not",
                         index);
    TENGINE_RETURN_IF_ERROR(require_type(&node, index, TYPES_FLOAT));
    if (given->elem_num != groups)
        return fail_node(&node, TENGINE_EINVAL, "input %d has %lld elements for %d groups", index,
                         static_cast<long long>(given->elem_num), groups);
    const String name = String(given->name) + "_channels";
    struct tensor* made = create_ir_tensor(node.graph, name.c_str(), given->data_type);
    if (!made) return tengine_error_code();
    made->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(made, &channels, 1));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(made));
    const auto size = static_cast<size_t>(get_data_type_size(given->data_type));
    const int repeats = channels / groups;
    for (int i = 0; i < channels; ++i)
        std::memcpy(static_cast<char*>(made->data) + size * static_cast<size_t>(i),
                    static_cast<const char*>(given->data) + size * static_cast<size_t>(i / repeats),
                    size);
    TENGINE_RETURN_IF_ERROR(drop_input(node, index));
    return set_ir_node_input_tensor(&node, index, made);
}

int raise_group_norm(node& node)
{
    const struct tensor* input = get_ir_node_input(&node, 0);
    const auto groups = static_cast<int>(get_ir_node_int(&node, "num_groups", 0));
    const int channels = input && input->dim_num >= 2 ? input->dims[1] : -1;
    if (channels < 1 || groups < 1 || channels % groups != 0)
        return fail_node(
            &node, TENGINE_ENOTSUP,
            "it has %d channels (-1: not known) in %d groups, and opset 21, other than "
            "opset 18, has scales of channels",
            channels, groups);
    for (int index = 1; index <= 2; ++index) {
        const struct tensor* list = get_ir_node_input(&node, index);
        if (list && list->dim_num == 1 && list->dims[0] == channels) continue;
        TENGINE_RETURN_IF_ERROR(repeat_for_channels(node, index, groups, channels));
    }
    node.op.version = NEWEST_KNOWN_OPSET;
    return TENGINE_OK;
}

int raise_to_newest(graph& graph, node& node)
{
    if (is_op(&node, "GroupNormalization") && node.op.version < 21) return raise_group_norm(node);
    const bool is_equal_split = is_op(&node, "Split") && node.op.version < 18;
    TENGINE_RETURN_IF_ERROR(lower_node(graph, node));
    TENGINE_RETURN_IF_ERROR(settle_moved_inputs(node));
    if (is_equal_split && !get_ir_node_input(&node, 1))
        return set_node_int(&node, "num_outputs", node.output_num);
    return TENGINE_OK;
}

// ---- graphs ----

int rewrite_graph(graph& graph, int opset);

int rewrite_bodies(const node& node, int opset)
{
    const ir_bodies_t* bodies = node.core->bodies;
    for (int i = 0; bodies && i < bodies->num; ++i)
        TENGINE_RETURN_IF_ERROR(rewrite_graph(*bodies->list[i].graph, opset));
    return TENGINE_OK;
}

// Whether the node cannot be converted: the operator is newer than `opset`, or its row is not the
// newest.
bool is_before(const node& node, int opset)
{
    const method& method = *node.op.method;
    return opset < method.version && (method.until || !find_op_method(node.op.type, opset));
}

// Infers types, which follow from those of inputs even if shapes do not, as in a model whose input
// has free dimensions. Code that needs a type that stays unknown refuses it.
void learn_types(node& node)
{
    const auto is_open = [](const struct tensor* tensor) {
        return tensor && tensor->data_type == TENGINE_DT_UNKNOWN;
    };
    bool has_open_result = false;
    for (int i = 0; i < node.input_num; ++i)
        if (is_open(get_ir_node_input(&node, i))) return;
    for (int i = 0; i < node.output_num; ++i)
        has_open_result |= is_open(get_ir_node_output(&node, i));
    if (has_open_result && infer_node_types(&node) != TENGINE_OK) tengine_error_clear();
}

int rewrite_node(graph& graph, node& node, int opset)
{
    TENGINE_RETURN_IF_ERROR(rewrite_bodies(node, opset));
    learn_types(node);
    if (!has_onnx_opset(&node) || fits(node, opset)) return TENGINE_OK;
    if (node.op.method->traits & OP_OPEN) return check_onnx_form(&node, opset);
    if (is_op(&node, "Constant")) return fold_constant(node);
    if (is_before(node, opset)) return check_onnx_form(&node, opset);
    TENGINE_RETURN_IF_ERROR(raise_to_newest(graph, node));
    return fits(node, opset) ? TENGINE_OK : take_down(node, opset);
}

int rewrite_graph(graph& graph, int opset)
{
    // A lower function may append nodes, which this loop visits, too.
    for (int i = 0; i < graph.node_num; ++i)
        if (struct node* node = graph.node_list[i])
            TENGINE_RETURN_IF_ERROR(rewrite_node(graph, *node, opset));
    return tidy_graph(graph);
}

// Copies types and shapes from the source: copying a graph drops those that operators compute.
int take_types(const graph& source, graph& copy)
{
    for (int i = 0; i < copy.tensor_num; ++i) {
        struct tensor& to = *copy.tensor_list[i];
        const struct tensor& from = *source.tensor_list[i];
        if (from.data_type != TENGINE_DT_UNKNOWN)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&to, from.data_type));
        if (from.shape_set)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(&to, from.dims, from.dim_num));
    }
    for (int i = 0; i < copy.node_num; ++i) {
        const node& to = *copy.node_list[i];
        const ir_bodies_t* bodies = to.core->bodies;
        for (int k = 0; bodies && k < bodies->num; ++k)
            TENGINE_RETURN_IF_ERROR(
                take_types(*source.node_list[to.core->source_index]->core->bodies->list[k].graph,
                           *bodies->list[k].graph));
    }
    return TENGINE_OK;
}

bool has_functions_of_programs(const graph& graph)
{
    return std::any_of(graph.node_list, graph.node_list + graph.node_num,
                       [](const struct node* node) { return node->core->custom_kernel; });
}

// Infers the shapes that do not need functions of the program, which may fail. A graph that cannot
// be prepared can still be written.
void learn_shapes(const graph& source, graph& copy)
{
    if (has_functions_of_programs(source)) return;
    GraphPointer prepared;
    if (copy_to_execution_graph(source, &prepared) != TENGINE_OK) return;
    prepared->core->run_options = copy.core->run_options;
    if (sort_ir_graph(prepared.get()) != TENGINE_OK || lower_graph(*prepared) != TENGINE_OK ||
        tidy_graph(*prepared) != TENGINE_OK)
        return;
    const bool is_inferred = infer_nodes(*prepared) == TENGINE_OK;
    for (int i = 0; is_inferred && i < prepared->tensor_num; ++i) {
        const struct tensor* known = prepared->tensor_list[i];
        struct tensor* to = known ? get_ir_graph_tensor(&copy, known->core->source_index) : nullptr;
        if (!to || to->shape_set || !is_ir_tensor_shape_known(known)) continue;
        if (set_ir_tensor_data_type(to, known->data_type) != TENGINE_OK ||
            set_ir_tensor_shape(to, known->dims, known->dim_num) != TENGINE_OK)
            return;
    }
}

}  // namespace

int copy_for_opset(const graph& source, const ir_run_options_t& options, int opset,
                   GraphPointer* out_graph)
{
    TENGINE_RETURN_IF_ERROR(copy_to_execution_graph(source, out_graph));
    graph& copy = **out_graph;
    copy.core->run_options = options;
    TENGINE_RETURN_IF_ERROR(take_types(source, copy));
    learn_shapes(source, copy);
    tengine_error_clear();
    return rewrite_graph(copy, opset);
}

int take_opset(graph& graph, int opset)
{
    return rewrite_graph(graph, opset);
}

}  // namespace tengine
