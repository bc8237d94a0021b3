// SPDX-License-Identifier: Apache-2.0
#include "optimizer/pass/bodies.h"

#include <algorithm>

#include "base/containers.hpp"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/model_part.h"
#include "graph/sequence.h"
#include "operator/infer.h"
#include "operator/onnx/control_param.h"
#include "operator/registry.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// ---- what is known of a value ----

struct Value
{
    int data_type = TENGINE_DT_UNKNOWN;
    bool is_shape_known = false;
    Vector<int> dims;

    static Value of(const tensor& tensor)
    {
        Value value;
        value.data_type = tensor.data_type;
        value.is_shape_known = is_ir_tensor_shape_known(&tensor);
        if (value.is_shape_known) value.dims.assign(tensor.dims, tensor.dims + tensor.dim_num);
        return value;
    }
    static Value of(int data_type, Vector<int> dims)
    {
        Value value;
        value.data_type = data_type;
        value.is_shape_known = true;
        value.dims = std::move(dims);
        return value;
    }
    bool has_shape_of(const Value& other) const
    {
        return is_shape_known && other.is_shape_known && dims == other.dims;
    }
    void forget_shape() { is_shape_known = false; }
};
using Values = Vector<Value>;

int give_value(tensor& tensor, const Value& value)
{
    if (value.data_type == TENGINE_DT_UNKNOWN)
        forget_ir_tensor_type(&tensor);
    else
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&tensor, value.data_type));
    if (value.is_shape_known)
        return set_ir_tensor_shape(&tensor, value.dims.data(), static_cast<int>(value.dims.size()));
    tensor.shape_set = 0;
    tensor.dim_num = 0;
    tensor.elem_num = 0;
    return TENGINE_OK;
}

int give_output(node& node, int index, const Value& value)
{
    tensor* output = get_ir_node_output(&node, index);
    return output ? give_value(*output, value) : TENGINE_OK;
}

Value input_of(const node& node, int index)
{
    const tensor* input = get_ir_node_input(&node, index);
    return input ? Value::of(*input) : Value();
}

// ---- one body ----

tensor& input_of(const ir_body_t& body, int index)
{
    return *body.graph->tensor_list[body.inputs[index]];
}

int count_own_inputs(const ir_body_t& body)
{
    return body.input_num - body.capture_num;
}

// A capture that is constant outside becomes constant in the body.
int give_captured(const node& node, ir_body_t& body)
{
    for (int i = 0; i < body.capture_num; ++i) {
        const tensor& outside = *get_ir_node_input(&node, body.first_capture + i);
        tensor& inside = input_of(body, count_own_inputs(body) + i);
        TENGINE_RETURN_IF_ERROR(give_value(inside, Value::of(outside)));
        if (outside.tensor_type != TENSOR_TYPE_CONST) continue;
        inside.tensor_type = TENSOR_TYPE_CONST;
        set_ir_tensor_data(&inside, outside.data, false);
    }
    Vector<int32_t> inputs;
    for (int i = 0; i < body.input_num; ++i)
        if (input_of(body, i).tensor_type != TENSOR_TYPE_CONST) inputs.push_back(body.inputs[i]);
    return set_ir_graph_input_tensor(body.graph, inputs.data(), static_cast<int>(inputs.size()));
}

// Infers the results of a body for these values. An input without a type in the file gets the
// value's.
int infer_body(const node& node, ir_body_t& body, const Values& inputs, Values* out_outputs)
{
    for (size_t i = 0; i < inputs.size(); ++i)
        TENGINE_RETURN_IF_ERROR(give_value(input_of(body, static_cast<int>(i)), inputs[i]));
    GraphPointer copy;
    TENGINE_RETURN_IF_ERROR(copy_to_execution_graph(*body.graph, &copy));
    copy->core->run_options = *node.graph->run_options;
    TENGINE_RETURN_IF_ERROR(sort_ir_graph(copy.get()));
    TENGINE_RETURN_IF_ERROR(lower_graph(*copy));
    TENGINE_RETURN_IF_ERROR(tidy_graph(*copy));
    TENGINE_RETURN_IF_ERROR(infer_nodes(*copy));
    out_outputs->clear();
    for (int i = 0; i < copy->output_tensor_num; ++i)
        out_outputs->push_back(Value::of(*copy->tensor_list[copy->output_tensors[i]]));
    return TENGINE_OK;
}

int check_number(const node& node, const char* what, int number, int expected)
{
    if (number == expected) return TENGINE_OK;
    return fail_node(&node, TENGINE_EGRAPH, "its body has %d %s, expected %d", number, what,
                     expected);
}

int check_type(const node& node, const char* what, int index, int data_type, int expected)
{
    if (data_type == expected) return TENGINE_OK;
    return fail_node(&node, TENGINE_EGRAPH, "%s %d of its body is %s, expected %s", what, index,
                     get_data_type_name(data_type), get_data_type_name(expected));
}

// Fails unless a value that is sliced, stacked or put into a sequence is a tensor.
int require_tensor(const node& node, const char* what, int index, int data_type)
{
    if (get_ir_container(data_type) == 0) return TENGINE_OK;
    return fail_node(&node, TENGINE_EDTYPE, "%s %d is a %s, expected a tensor", what, index,
                     get_data_type_name(data_type));
}

// The shape of an input of the node, which may be absent.
int check_input_type(const node& node, int index, int expected)
{
    const tensor* input = get_ir_node_input(&node, index);
    if (!input || input->data_type == expected) return TENGINE_OK;
    return fail_node(&node, TENGINE_EDTYPE, "input %d, '%s', is %s, expected %s", index,
                     input->name, get_data_type_name(input->data_type),
                     get_data_type_name(expected));
}

// Checks that the node's own inputs from `first` on are present.
int require_inputs(const node& node, int first)
{
    for (int i = first; i < count_ir_own_inputs(&node); ++i)
        if (!get_ir_node_input(&node, i))
            return fail_node(&node, TENGINE_EGRAPH, "input %d is missing", i);
    return TENGINE_OK;
}

// Compares the shape of a carried value with that of the first round. False: it has changed.
bool keeps_shape(Value* first, const Value& next)
{
    if (!first->is_shape_known || first->has_shape_of(next)) return true;
    first->forget_shape();
    return false;
}

// ---- If ----

// A branch whose shapes are wrong is an error of the run that takes it: a model for several forms
// of its input has branches for the others.
int infer_if(node& node)
{
    ir_bodies_t& bodies = *node.core->bodies;
    Values results[2];
    int misfit = -1;
    TENGINE_RETURN_IF_ERROR(check_input_type(node, 0, TENGINE_DT_BOOL));
    for (int i = 0; i < 2; ++i) {
        TENGINE_RETURN_IF_ERROR(check_number(node, "inputs", count_own_inputs(bodies.list[i]), 0));
        TENGINE_RETURN_IF_ERROR(check_number(
            node, "outputs", bodies.list[i].graph->output_tensor_num, node.output_num));
        const int status = infer_body(node, bodies.list[i], {}, &results[i]);
        if (status < 0 && (!is_ir_misfit(status) || misfit >= 0)) return status;
        if (status < 0) misfit = i;
    }
    if (misfit >= 0) {
        tengine_error_clear();
        results[misfit] = results[1 - misfit];
    }
    for (int i = 0; i < node.output_num; ++i) {
        Value& result = results[0][static_cast<size_t>(i)];
        const Value& other = results[1][static_cast<size_t>(i)];
        TENGINE_RETURN_IF_ERROR(check_type(node, "output", i, other.data_type, result.data_type));
        if (!result.has_shape_of(other)) result.forget_shape();
        TENGINE_RETURN_IF_ERROR(give_output(node, i, result));
    }
    return TENGINE_OK;
}

// ---- Loop ----

// The value of input 0, unless a condition ends the loop earlier. -1: known at run time only.
int64_t find_trip_count(const node& node)
{
    const tensor* most = get_ir_node_input(&node, 0);
    const bool is_bounded = most && most->tensor_type == TENSOR_TYPE_CONST && most->elem_num == 1 &&
                            most->data_type == TENGINE_DT_INT64;
    if (!is_bounded || get_ir_node_input(&node, 1)) return -1;
    return std::max<int64_t>(0, *most->i64);
}

// The limit of rounds for inferring shapes, fewer for a Loop in other bodies, since each round
// infers inner loops again: values that change until the limit have no shapes.
int most_rounds(const node& node)
{
    int rounds = 16;
    for (const graph* at = node.graph; at && at->core->source; at = at->core->source->core->outer)
        rounds = std::max(1, rounds / 2);
    return rounds;
}

// Whether all rounds have the same shapes; inputs whose shapes change lose them.
bool settle_loop(const Values& results, int carried_num, Values* inputs)
{
    bool is_settled = true;
    for (int i = 0; i < carried_num; ++i)
        if (!keeps_shape(&(*inputs)[static_cast<size_t>(i) + 2],
                         results[static_cast<size_t>(i) + 1]))
            is_settled = false;
    return is_settled;
}

Value stack(const Value& element, int64_t count)
{
    Value stacked = element;
    if (count < 0 || count > INT32_MAX)
        stacked.forget_shape();
    else if (element.is_shape_known)
        stacked.dims.insert(stacked.dims.begin(), static_cast<int>(count));
    return stacked;
}

// A body may turn an absent optional sequence into a present one.
int check_carried_type(const node& node, int index, int data_type, int given)
{
    const bool is_filled = get_ir_container(data_type) == TENGINE_DT_SEQUENCE &&
                           given == data_type + TENGINE_DT_OPTIONAL;
    return is_filled ? TENGINE_OK : check_type(node, "output", index, data_type, given);
}

int give_loop_outputs(node& node, const Values& inputs, const Values& results, int carried_num)
{
    for (int i = 0; i < node.output_num; ++i) {
        const auto place = static_cast<size_t>(i);
        const Value& result = results[place + 1];
        if (i >= carried_num) {
            TENGINE_RETURN_IF_ERROR(require_tensor(node, "output", i + 1, result.data_type));
            TENGINE_RETURN_IF_ERROR(give_output(node, i, stack(result, find_trip_count(node))));
            continue;
        }
        Value carried = inputs[place + 2];
        TENGINE_RETURN_IF_ERROR(
            check_carried_type(node, i + 1, result.data_type, carried.data_type));
        carried.data_type = result.data_type;
        TENGINE_RETURN_IF_ERROR(give_output(node, i, carried));
    }
    return TENGINE_OK;
}

int infer_loop(node& node)
{
    ir_body_t& body = node.core->bodies->list[0];
    const int carried_num = std::max(0, count_ir_own_inputs(&node) - 2);
    TENGINE_RETURN_IF_ERROR(require_inputs(node, 2));
    TENGINE_RETURN_IF_ERROR(check_input_type(node, 0, TENGINE_DT_INT64));
    TENGINE_RETURN_IF_ERROR(check_input_type(node, 1, TENGINE_DT_BOOL));
    TENGINE_RETURN_IF_ERROR(check_number(node, "inputs", count_own_inputs(body), carried_num + 2));
    TENGINE_RETURN_IF_ERROR(
        check_number(node, "outputs", body.graph->output_tensor_num, node.output_num + 1));
    if (node.output_num < carried_num)
        return fail_node(&node, TENGINE_EGRAPH, "it has %d outputs for %d values that go round",
                         node.output_num, carried_num);
    Values inputs = {Value::of(TENGINE_DT_INT64, {}), Value::of(TENGINE_DT_BOOL, {})};
    for (int i = 0; i < carried_num; ++i)
        inputs.push_back(input_of(node, i + 2));
    const Values first = inputs;
    Values results;
    for (int left = most_rounds(node);; --left) {
        TENGINE_RETURN_IF_ERROR(infer_body(node, body, inputs, &results));
        if (settle_loop(results, carried_num, &inputs)) break;
        for (int i = 0; left == 1 && i < carried_num; ++i)
            inputs[static_cast<size_t>(i) + 2].forget_shape();
    }
    TENGINE_RETURN_IF_ERROR(check_type(node, "output", 0, results[0].data_type, TENGINE_DT_BOOL));
    for (size_t i = 0; i < first.size(); ++i)  // values of a run's first round
        TENGINE_RETURN_IF_ERROR(give_value(input_of(body, static_cast<int>(i)), first[i]));
    return give_loop_outputs(node, inputs, results, carried_num);
}

// ---- Scan ----

struct ScanShape
{
    scan_form_t form;
    int batch = -1;
    int length = -1;
};

// The shape of a scanned input in the body, and the common length.
int describe_scanned(const node& node, int index, ScanShape* shape, Value* value)
{
    const int place = shape->form.first_input + shape->form.state_num + index;
    *value = input_of(node, place);
    TENGINE_RETURN_IF_ERROR(require_tensor(node, "input", place, value->data_type));
    if (!value->is_shape_known) return TENGINE_OK;
    if (shape->form.has_batch && !value->dims.empty()) value->dims.erase(value->dims.begin());
    int axis;
    bool reverse;
    TENGINE_RETURN_IF_ERROR(
        get_scan_input_axis(&node, index, static_cast<int>(value->dims.size()), &axis, &reverse));
    const int length = value->dims[static_cast<size_t>(axis)];
    if (shape->length >= 0 && shape->length != length)
        return fail_node(&node, TENGINE_EINVAL, "input %d has %d elements to scan, others have %d",
                         place, length, shape->length);
    shape->length = length;
    value->dims.erase(value->dims.begin() + axis);
    return TENGINE_OK;
}

int describe_scan_inputs(const node& node, ScanShape* shape, Values* out_inputs)
{
    for (int i = 0; i < shape->form.state_num; ++i) {
        out_inputs->push_back(input_of(node, shape->form.first_input + i));
        Value& state = out_inputs->back();
        TENGINE_RETURN_IF_ERROR(
            require_tensor(node, "input", shape->form.first_input + i, state.data_type));
        if (!shape->form.has_batch || state.dims.empty()) continue;
        shape->batch = state.dims.front();
        state.dims.erase(state.dims.begin());
    }
    for (int i = 0; i < shape->form.scanned_num; ++i) {
        const Value whole = input_of(node, shape->form.first_input + shape->form.state_num + i);
        if (shape->form.has_batch && !whole.dims.empty()) shape->batch = whole.dims.front();
        out_inputs->emplace_back();
        TENGINE_RETURN_IF_ERROR(describe_scanned(node, i, shape, &out_inputs->back()));
    }
    return TENGINE_OK;
}

int gather_scan_output(const node& node, int index, const ScanShape& shape, Value* value)
{
    if (!value->is_shape_known || shape.length < 0) {
        value->forget_shape();
        return TENGINE_OK;
    }
    int axis;
    bool reverse;
    TENGINE_RETURN_IF_ERROR(get_scan_output_axis(
        &node, index, static_cast<int>(value->dims.size()) + 1, &axis, &reverse));
    value->dims.insert(value->dims.begin() + axis, shape.length);
    return TENGINE_OK;
}

int infer_scan(node& node)
{
    ir_body_t& body = node.core->bodies->list[0];
    ScanShape shape;
    shape.form = get_scan_form(&node);
    if (shape.form.state_num < 0 || shape.form.gathered_num < 0)
        return fail_node(&node, TENGINE_EGRAPH, "it has %d inputs, %d outputs and scans %d",
                         count_ir_own_inputs(&node), node.output_num, shape.form.scanned_num);
    TENGINE_RETURN_IF_ERROR(check_number(node, "inputs", count_own_inputs(body),
                                         shape.form.state_num + shape.form.scanned_num));
    TENGINE_RETURN_IF_ERROR(
        check_number(node, "outputs", body.graph->output_tensor_num, node.output_num));
    Values inputs, results;
    TENGINE_RETURN_IF_ERROR(require_inputs(node, shape.form.first_input));
    if (shape.form.has_batch) TENGINE_RETURN_IF_ERROR(check_input_type(node, 0, TENGINE_DT_INT64));
    TENGINE_RETURN_IF_ERROR(describe_scan_inputs(node, &shape, &inputs));
    TENGINE_RETURN_IF_ERROR(infer_body(node, body, inputs, &results));
    for (int i = 0; i < node.output_num; ++i) {
        Value& result = results[static_cast<size_t>(i)];
        const int gathered = i - shape.form.state_num;
        TENGINE_RETURN_IF_ERROR(require_tensor(node, "output", i, result.data_type));
        if (gathered >= 0)
            TENGINE_RETURN_IF_ERROR(gather_scan_output(node, gathered, shape, &result));
        else
            TENGINE_RETURN_IF_ERROR(check_type(node, "output", i, result.data_type,
                                               inputs[static_cast<size_t>(i)].data_type));
        if (gathered < 0 && !result.has_shape_of(inputs[static_cast<size_t>(i)]))
            result.forget_shape();
        if (shape.form.has_batch && result.is_shape_known)
            result.dims.insert(result.dims.begin(), shape.batch);
        TENGINE_RETURN_IF_ERROR(give_output(node, i, result));
    }
    return TENGINE_OK;
}

// ---- SequenceMap ----

// The body gets one element of each sequence, and tensors whole.
int infer_map(node& node)
{
    ir_body_t& body = node.core->bodies->list[0];
    TENGINE_RETURN_IF_ERROR(require_inputs(node, 0));
    TENGINE_RETURN_IF_ERROR(
        check_number(node, "inputs", count_own_inputs(body), count_ir_own_inputs(&node)));
    TENGINE_RETURN_IF_ERROR(
        check_number(node, "outputs", body.graph->output_tensor_num, node.output_num));
    Values inputs, results;
    for (int i = 0; i < count_own_inputs(body); ++i) {
        inputs.push_back(input_of(node, i));
        Value& value = inputs.back();
        if (get_ir_container(value.data_type) != TENGINE_DT_SEQUENCE) continue;
        value.data_type = get_ir_element_type(value.data_type);
        value.forget_shape();
    }
    TENGINE_RETURN_IF_ERROR(infer_body(node, body, inputs, &results));
    for (int i = 0; i < node.output_num; ++i) {
        Value& result = results[static_cast<size_t>(i)];
        TENGINE_RETURN_IF_ERROR(require_tensor(node, "output", i, result.data_type));
        result.data_type += TENGINE_DT_SEQUENCE;
        result.forget_shape();
        TENGINE_RETURN_IF_ERROR(give_output(node, i, result));
    }
    return TENGINE_OK;
}

// ---- a branch instead of its If ----

// The graph's tensors for those of the body, by index; null: not made yet.
using Stand = Vector<tensor*>;

int copy_branch_tensor(const node& node, tensor& from, tensor** out_tensor)
{
    tensor* to = nullptr;
    TENGINE_RETURN_IF_ERROR(copy_tensor_head(from, *node.graph, &to));
    to->core->source_index = -1;
    *out_tensor = to;
    if (from.tensor_type != TENSOR_TYPE_CONST) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(to, from.dims, from.dim_num));
    // Data that the branch has borrowed from the model stay; data of its own end with it.
    set_ir_tensor_data(to, from.data, from.free_host_mem != 0);
    from.free_host_mem = 0;
    return TENGINE_OK;
}

// The captured tensor that the body's tensor stands for, or null.
tensor* find_captured(const node& node, const ir_body_t& body, int index)
{
    for (int i = 0; index >= 0 && i < body.capture_num; ++i)
        if (body.inputs[count_own_inputs(body) + i] == index)
            return get_ir_node_input(&node, body.first_capture + i);
    return nullptr;
}

int copy_branch_node(const node& from, const node& origin, const Stand& stand)
{
    node* to = nullptr;
    TENGINE_RETURN_IF_ERROR(copy_node_head(from, *origin.graph, &to));
    TENGINE_RETURN_IF_ERROR(copy_bodies(*to));
    to->core->source_index = origin.core->source_index;
    to->core->custom_kernel = from.core->custom_kernel;
    for (int i = 0; i < from.input_num; ++i)
        if (from.input_tensors[i] >= 0)
            TENGINE_RETURN_IF_ERROR(
                set_ir_node_input_tensor(to, i, stand[static_cast<size_t>(from.input_tensors[i])]));
    for (int i = 0; i < from.output_num; ++i)
        if (from.output_tensors[i] >= 0)
            TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(
                to, i, stand[static_cast<size_t>(from.output_tensors[i])]));
    return TENGINE_OK;
}

int hand_over(const node& origin, tensor* from, tensor* to)
{
    node* identity = create_op_node(origin.graph, origin.name, "Identity", origin.name);
    if (!identity) return tengine_error_code();
    identity->core->source_index = origin.core->source_index;
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(identity, 0, from));
    return set_ir_node_output_tensor(identity, 0, to);
}

// The nodes of the branch write to the outputs of the node.
int take_outputs(node& node, const graph& branch, Stand* stand, Vector<tensor*>* out_outputs)
{
    for (int i = 0; i < node.output_num; ++i) {
        const int inside = branch.output_tensors[i];
        tensor*& outside = (*stand)[static_cast<size_t>(inside)];
        tensor* output = get_ir_node_output(&node, i);
        out_outputs->push_back(output);
        if (!output) continue;
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&node, i, nullptr));
        if (!outside && branch.tensor_list[inside]->producer >= 0) outside = output;
    }
    return TENGINE_OK;
}

// Adds a node for a result that no node of the branch writes, or that is several results at once.
int hand_over_others(const node& node, const graph& branch, const Stand& stand,
                     const Vector<tensor*>& outputs)
{
    for (int i = 0; i < node.output_num; ++i) {
        tensor* from = stand[static_cast<size_t>(branch.output_tensors[i])];
        tensor* to = outputs[static_cast<size_t>(i)];
        if (to && from != to) TENGINE_RETURN_IF_ERROR(hand_over(node, from, to));
    }
    return TENGINE_OK;
}

// The nodes of the model's body own the custom kernels.
void share_kernels(const graph& source, graph& copy)
{
    for (int i = 0; i < copy.node_num; ++i) {
        ir_node_core_t& core = *copy.node_list[i]->core;
        core.custom_kernel = source.node_list[core.source_index]->core->custom_kernel;
    }
}

}  // namespace

int copy_bodies(node& node)
{
    ir_bodies_t* from = node.core->bodies;
    if (!from) return TENGINE_OK;
    ir_bodies_t* to = create_ir_bodies(from->num);
    node.core->bodies = to;
    release_ir_bodies(from);  // the source node holds the bodies
    if (!to) return tengine_error_set(TENGINE_ENOMEM, "node '%s': out of memory", node.name);
    for (int i = 0; i < from->num; ++i) {
        const ir_body_t& given = from->list[i];
        ir_body_t& body = to->list[i];
        GraphPointer copy;
        TENGINE_RETURN_IF_ERROR(copy_to_execution_graph(*given.graph, &copy));
        TENGINE_RETURN_IF_ERROR(leave_source(*given.graph, *copy));
        copy->core->outer = node.graph;
        copy->attribute->context = node.graph->attribute->context;
        share_kernels(*given.graph, *copy);
        TENGINE_RETURN_IF_ERROR(share_ir_model_parts(given.graph, copy.get()));
        body.graph = copy.release();
        body.first_capture = given.first_capture;
        for (int k = 0; k < given.input_num; ++k)
            TENGINE_RETURN_IF_ERROR(add_ir_body_input(
                &body, body.graph->tensor_list[given.inputs[k]], k >= count_own_inputs(given)));
    }
    return TENGINE_OK;
}

int infer_bodies(node& node)
{
    ir_bodies_t& bodies = *node.core->bodies;
    for (int i = 0; i < bodies.num; ++i)
        TENGINE_RETURN_IF_ERROR(give_captured(node, bodies.list[i]));
    if (is_op(&node, "If")) return infer_if(node);
    if (is_op(&node, "SequenceMap")) return infer_map(node);
    return is_op(&node, "Loop") ? infer_loop(node) : infer_scan(node);
}

bool is_decided(const node& node)
{
    if (!is_op(&node, "If")) return false;
    const tensor* condition = get_ir_node_input(&node, 0);
    return condition->tensor_type == TENSOR_TYPE_CONST && condition->elem_num == 1 &&
           condition->data_type == TENGINE_DT_BOOL;
}

int take_branch(graph& graph, node& node)
{
    ir_bodies_t& bodies = *node.core->bodies;
    ir_body_t& body = bodies.list[*get_ir_node_input(&node, 0)->u8 ? 0 : 1];
    TENGINE_RETURN_IF_ERROR(check_number(node, "inputs", count_own_inputs(body), 0));
    TENGINE_RETURN_IF_ERROR(
        check_number(node, "outputs", body.graph->output_tensor_num, node.output_num));
    GraphPointer branch;
    TENGINE_RETURN_IF_ERROR(copy_to_execution_graph(*body.graph, &branch));
    TENGINE_RETURN_IF_ERROR(lower_graph(*branch));
    TENGINE_RETURN_IF_ERROR(tidy_graph(*branch));
    Stand stand;
    for (int i = 0; i < branch->tensor_num; ++i)
        stand.push_back(find_captured(node, body, branch->tensor_list[i]->core->source_index));
    Vector<tensor*> outputs;
    TENGINE_RETURN_IF_ERROR(take_outputs(node, *branch, &stand, &outputs));
    for (int i = 0; i < branch->tensor_num; ++i)
        if (!stand[static_cast<size_t>(i)])
            TENGINE_RETURN_IF_ERROR(
                copy_branch_tensor(node, *branch->tensor_list[i], &stand[static_cast<size_t>(i)]));
    for (int i = 0; i < branch->node_num; ++i)
        TENGINE_RETURN_IF_ERROR(copy_branch_node(*branch->node_list[i], node, stand));
    TENGINE_RETURN_IF_ERROR(hand_over_others(node, *branch, stand, outputs));
    destroy_ir_node(&graph, &node);
    return TENGINE_OK;
}

}  // namespace tengine
