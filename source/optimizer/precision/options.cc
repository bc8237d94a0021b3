// SPDX-License-Identifier: Apache-2.0
// The user's options about precision: precision.keep_float and precision.table become
// node.keep_float and quantisation parameters of float tensors, which every device reads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/maps.hpp"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/hint.h"
#include "graph/metadata.h"
#include "graph/option.h"
#include "graph/preparation.h"
#include "operator/affinity.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/pass.h"
#include "optimizer/precision/table.h"
#include "tengine/fixed_point.h"
#include "tengine/log.h"

namespace tengine {
namespace {

// ---- nodes ----

bool fits_any(const char* nodes, const graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i)
        if (fits_ir_node(nodes, graph.node_list[i])) return true;
    return false;
}

// Whether has() is true for the model of `graph` or a body in it: options are for the whole model,
// and each of its graphs looks up its own part.
template <class Has>
bool has_model(const graph& graph, Has has)
{
    const auto lacks = [](const struct graph* source, void* data) {
        return !(*static_cast<Has*>(data))(*source);
    };
    const struct graph* source = find_ir_outermost_source(&graph);
    return source && !visit_ir_graphs(source, lacks, &has);
}

bool has_nodes(const graph& graph, const char* nodes)
{
    return has_model(graph, [&](const struct graph& source) { return fits_any(nodes, source); });
}

void keep_listed(graph& graph, const String& list)
{
    for (size_t begin = 0; begin <= list.size();) {
        size_t end = list.find(',', begin);
        if (end == String::npos) end = list.size();
        String nodes = list.substr(begin, end - begin);
        begin = end + 1;
        nodes.erase(0, nodes.find_first_not_of(' '));
        nodes.erase(nodes.find_last_not_of(' ') + 1);
        if (!nodes.empty() && !keep_nodes(graph, nodes.c_str()) && !is_body(graph) &&
            !has_nodes(graph, nodes.c_str()))
            TLOG_WARNING("precision.keep_float: '%s' matches no node", nodes.c_str());
    }
}

// ---- tensors ----

int fail_line(const char* path, const CalibratedTensor& row, const char* cause)
{
    return tengine_error_set(TENGINE_ENOENT, "calibration table '%s', line %d: tensor '%s' %s",
                             path, row.line, row.name.c_str(), cause);
}

using TensorMap = UnorderedMap<String, tensor*>;

// The tensors that the model has, by its names.
TensorMap map_tensors(const graph& graph)
{
    TensorMap tensors;
    for (int i = 0; i < graph.tensor_num; ++i)
        if (graph.tensor_list[i]->core->source_index >= 0)
            tensors.emplace(graph.tensor_list[i]->name, graph.tensor_list[i]);
    return tensors;
}

int calibrate(tensor& tensor, const graph& graph, const char* path, const CalibratedTensor& row)
{
    if (tensor.data_type != TENGINE_DT_FP32)
        return fail_line(path, row, "is not fp32 in the model");
    const int shift = graph.run_options->precision == TENGINE_MODE_UINT8 ? 128 : 0;
    const int zero_point = row.zero_point + shift;
    return set_ir_tensor_quantization_parameter(&tensor, &row.scale, &zero_point, 1);
}

// Checks the tensors that the graph does not have: they are in a body, or earlier passes have
// dropped them with their nodes.
int check_others(const graph& graph, const char* path, const Vector<const CalibratedTensor*>& rows)
{
    if (rows.empty() || is_body(graph)) return TENGINE_OK;
    UnorderedSet<String> names;
    has_model(graph, [&](const struct graph& source) {
        for (int i = 0; i < source.tensor_num; ++i)
            names.emplace(source.tensor_list[i]->name);
        return false;
    });
    for (const CalibratedTensor* row : rows)
        if (names.count(row->name) == 0) return fail_line(path, *row, "is not in the model");
    return TENGINE_OK;
}

// ---- a tensor that has the elements of a calibrated one ----

constexpr const char* kRearranging[] = {"Flatten", "Identity",  "Reshape",
                                        "Squeeze", "Transpose", "Unsqueeze"};

// The input and output of a node that gives all elements of its input in another order or shape.
struct Rearrangement
{
    tensor* from = nullptr;  // null: another node, or one that stays in float
    tensor* to = nullptr;
};

Rearrangement find_rearrangement(const node& node)
{
    const bool rearranges = std::any_of(std::begin(kRearranging), std::end(kRearranging),
                                        [&](const char* op) { return is_op(&node, op); });
    tensor* from = rearranges ? get_ir_node_input(&node, 0) : nullptr;
    tensor* to = rearranges ? get_ir_node_output(&node, 0) : nullptr;
    if (!from || !to || node.core->keep_float || node.core->custom_kernel ||
        from->data_type != TENGINE_DT_FP32 || to->data_type != TENGINE_DT_FP32)
        return {};
    return {from, to};
}

bool is_calibrated(const tensor& tensor)
{
    return tensor.quant_param_num == 1;
}

// Whether the tensor has one writer and one reader, and the writer may compute in integers.
bool is_between(const graph& graph, const tensor& tensor)
{
    const node* writer = get_ir_graph_node(&graph, tensor.producer);
    return writer && !writer->core->keep_float && tensor.consumer_num == 1 &&
           !is_ir_graph_output(&graph, tensor.index);
}

// Copies scales over such nodes: a model in another format has more of them than the one that the
// table was made for, as around a convolution of one axis in a tmfile.
int spread_calibration(graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i) {
        const auto [from, to] = find_rearrangement(*graph.node_list[i]);
        if (from && is_calibrated(*from) && !is_calibrated(*to))
            TENGINE_RETURN_IF_ERROR(
                set_ir_tensor_quantization_parameter(to, &from->scale, &from->zero_point, 1));
    }
    for (int i = graph.node_num; i-- > 0;) {
        const auto [from, to] = find_rearrangement(*graph.node_list[i]);
        if (from && is_calibrated(*to) && !is_calibrated(*from) && is_between(graph, *from))
            TENGINE_RETURN_IF_ERROR(
                set_ir_tensor_quantization_parameter(from, &to->scale, &to->zero_point, 1));
    }
    return TENGINE_OK;
}

int apply_table(graph& graph, const char* path)
{
    CalibrationTable table;
    TENGINE_RETURN_IF_ERROR(read_calibration_table(path, &table));
    const TensorMap tensors = map_tensors(graph);
    Vector<const CalibratedTensor*> others;
    for (const CalibratedTensor& row : table.tensors) {
        const auto found = tensors.find(row.name);
        if (found == tensors.end())
            others.push_back(&row);
        else
            TENGINE_RETURN_IF_ERROR(calibrate(*found->second, graph, path, row));
    }
    TENGINE_RETURN_IF_ERROR(check_others(graph, path, others));
    UnorderedMap<String, bool> found;
    for (const KeptNode& row : table.nodes)
        found[row.name] = false;
    for (int i = 0; i < graph.node_num; ++i) {
        const auto row = found.find(graph.node_list[i]->name);
        if (row == found.end()) continue;
        graph.node_list[i]->core->keep_float = 1;
        row->second = true;
    }
    for (const KeptNode& row : table.nodes)
        if (!found[row.name] && !is_body(graph) && !has_nodes(graph, row.name.c_str()))
            TLOG_INFO("calibration table '%s', line %d: node '%s' is not in the model", path,
                      row.line, row.name.c_str());
    return spread_calibration(graph);
}

// Checks that quantisation that a program set with set_tensor_quant_param is for the type of this
// run.
int check_calibration(const graph& graph)
{
    const bool is_signed = graph.run_options->precision == TENGINE_MODE_INT8;
    const int lowest = is_signed ? -128 : 0;
    for (int i = 0; i < graph.tensor_num; ++i) {
        const tensor& tensor = *graph.tensor_list[i];
        if (tensor.data_type != TENGINE_DT_FP32 || tensor.quant_param_num != 1) continue;
        if (!std::isfinite(tensor.scale) || tensor.scale <= 0)
            return tengine_error_set(TENGINE_EINVAL,
                                     "tensor '%s' has the scale %g, expected a positive number",
                                     tensor.name, static_cast<double>(tensor.scale));
        if (tensor.zero_point < lowest || tensor.zero_point > lowest + 255)
            return tengine_error_set(
                TENGINE_ERANGE,
                "tensor '%s' has the zero point %d, expected %d to %d for a run in %s", tensor.name,
                tensor.zero_point, lowest, lowest + 255, is_signed ? "int8" : "uint8");
    }
    return TENGINE_OK;
}

int precision_of(int data_type)
{
    return data_type == TENGINE_DT_INT8    ? TENGINE_MODE_INT8
           : data_type == TENGINE_DT_UINT8 ? TENGINE_MODE_UINT8
                                           : TENGINE_MODE_FP32;
}

// The type that a QuantizeLinear makes; TENGINE_DT_UNKNOWN for another node.
int type_made_by(const node& node)
{
    if (!is_op(&node, "QuantizeLinear")) return TENGINE_DT_UNKNOWN;
    const struct tensor* zero_point = get_ir_node_input(&node, 2);
    return zero_point ? zero_point->data_type : TENGINE_DT_UINT8;
}

}  // namespace

// ---- the run ----

// The precision of the first quantised tensor that is computed, all have the same; in a file that
// says how its integers are rounded, also of the first QuantizeLinear.
int find_model_precision(const graph& graph)
{
    int precision = TENGINE_MODE_FP32;
    for (int i = 0; i < graph.tensor_num && precision == TENGINE_MODE_FP32; ++i) {
        const struct tensor& tensor = *graph.tensor_list[i];
        if (tensor.tensor_type != TENSOR_TYPE_CONST && is_quantized(tensor))
            precision = precision_of(tensor.data_type);
    }
    if (precision != TENGINE_MODE_FP32 || !states_rounding(graph)) return precision;
    for (int i = 0; i < graph.node_num && precision == TENGINE_MODE_FP32; ++i)
        precision = precision_of(type_made_by(*graph.node_list[i]));
    return precision;
}

bool keep_nodes(graph& graph, const char* nodes)
{
    bool found = graph.core->source && fits_any(nodes, *graph.core->source);
    for (int i = 0; i < graph.node_num; ++i) {
        node& node = *graph.node_list[i];
        const struct node* source =
            graph.core->source ? get_ir_graph_node(graph.core->source, node.core->source_index)
                               : nullptr;
        if (!fits_ir_node(nodes, &node) && !(source && fits_ir_node(nodes, source))) continue;
        node.core->keep_float = 1;
        found = true;
    }
    return found;
}

void take_model_precision(graph& graph)
{
    if (graph.run_options->precision == TENGINE_MODE_FP32)
        graph.core->run_options.precision = find_model_precision(graph);
}

int find_rounding(const graph& source, int inherited)
{
    const char* choice = get_ir_context_option(source.attribute->context, IR_ROUNDING_KEY);
    if (!std::strcmp(choice, "model"))
        choice = find_ir_property(find_ir_metadata(&source), IR_ROUNDING_KEY);
    if (!std::strcmp(choice, "nearest")) return IR_ROUNDING_NEAREST;
    if (!std::strcmp(choice, "litert")) return IR_ROUNDING_FLOAT;
    return !std::strcmp(choice, "litert-micro") ? IR_ROUNDING_TWICE : inherited;
}

int apply_precision_options(graph& graph)
{
    if (graph.run_options->precision == TENGINE_MODE_FP32) return TENGINE_OK;
    const ir_context_t* context = graph.attribute->context;
    keep_listed(graph, get_ir_graph_option(&graph, "precision.keep_float"));
    if (!is_integer_run(graph)) return TENGINE_OK;
    const char* path = get_ir_context_option(context, "precision.table");
    if (*path) TENGINE_RETURN_IF_ERROR(apply_table(graph, path));
    return check_calibration(graph);
}

}  // namespace tengine
