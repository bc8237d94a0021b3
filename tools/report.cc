// SPDX-License-Identifier: Apache-2.0
// Collects the data of the library's inspect.h. The contract is in report.h.
#include "report.h"

#include <algorithm>

#include "entries.h"
#include "tengine/entry.h"
#include "tengine/inspect.h"
#include "tengine/metadata.h"

namespace tengine::tools {
namespace {

Value describe_output(tensor_t tensor)
{
    const Tensor described = describe_tensor(tensor);
    Value value;
    value.name = described.name;
    value.data_type = described.data_type;
    value.shape = described.shape;
    value.has_rank = tengine_tensor_has_rank(tensor) == 1;
    return value;
}

void add_tensors(graph_t graph, Report* report)
{
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i) {
        report->inputs.push_back(describe_tensor(tengine_graph_get_input(graph, i)));
        report->declared.push_back(declared_shape(tengine_graph_get_input(graph, i)));
    }
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i) {
        const tensor_t output = tengine_graph_get_output(graph, i);
        report->outputs.push_back(describe_output(output));
        report->declared_outputs.push_back(declared_output(output));
        report->depends_on_data.push_back(report->is_placed &&
                                          tengine_tensor_has_data_shape(output) == 1);
    }
    report->metadata = read_metadata(graph);
}

// The library's -1 is a time that is not known.
std::optional<double> known_time(double milliseconds)
{
    return milliseconds < 0 ? std::nullopt : std::optional<double>(milliseconds);
}

tengine_graph_stats add_stats(graph_t graph, Report* report)
{
    tengine_graph_stats stats;
    if (tengine_graph_get_stats(graph, &stats) < 0) fail_api(report->model);
    report->node_num = stats.node_number;
    report->macs = stats.mac_number;
    report->parameters = stats.parameter_number;
    report->constant_bytes = stats.constant_bytes;
    report->arena_bytes = stats.arena_bytes;
    return stats;
}

void add_totals(graph_t graph, Report* report)
{
    const tengine_graph_stats stats = add_stats(graph, report);
    const char* scheduler = tengine_graph_get_scheduler(graph);
    if (!scheduler) fail_api(report->model);
    report->scheduler = scheduler;
    report->threads = tengine_graph_get_thread_number(graph);
    for (int i = 0; i < stats.subgraph_number; ++i) {
        tengine_subgraph part;
        int group, origin;
        if (tengine_graph_get_subgraph(graph, i, &part) < 0 ||
            tengine_graph_get_subgraph_group(graph, i, &group) < 0 ||
            tengine_graph_get_subgraph_origin(graph, i, &origin) < 0)
            fail_api(report->model);
        report->parts.push_back({part.device, group, part.node_number, part.input_number,
                                 part.output_number, part.mac_number, part.bytes_in, part.bytes_out,
                                 part.predicted_ms, known_time(part.measured_ms), origin,
                                 part.redo_number, read_counters(graph, i)});
    }
}

// Nodes for inputs and constants compute nothing and are not counted.
bool is_work(node_t node)
{
    const std::string op = get_node_op(node);
    return op != "InputOp" && op != "Const";
}

// A node whose operator the library does not have keeps the model's name for it.
std::string operator_of(node_t node)
{
    const std::string op = get_node_op(node);
    char name[256];
    if (op != "Generic" || get_node_attr_generic(node, "op_name", "string", name, sizeof name) < 0)
        return op;
    return name;
}

void add_operators(graph_t graph, Report* report)
{
    for (int i = 0; i < get_graph_node_num(graph); ++i) {
        node_t node = get_graph_node_by_idx(graph, i);
        if (is_work(node)) ++report->operators[operator_of(node)];
    }
}

void add_model_nodes(graph_t graph, Report* report)
{
    for (int i = 0; i < get_graph_node_num(graph); ++i) {
        node_t node = get_graph_node_by_idx(graph, i);
        if (!is_work(node)) continue;
        PlacedNode placed;
        placed.name = get_node_name(node);
        placed.op = operator_of(node);
        placed.doc_string = tengine_node_get_doc_string(node);
        report->nodes.push_back(std::move(placed));
    }
}

Value describe_value(const tengine_execution_tensor& tensor)
{
    Value value;
    value.name = tensor.name;
    value.data_type = tensor.data_type;
    value.has_rank = tensor.dim_number >= 0;
    if (value.has_rank) value.shape.assign(tensor.dims, tensor.dims + tensor.dim_number);
    value.bytes = tensor.bytes;
    value.producer = tensor.producer;
    value.is_constant = tensor.type == TENSOR_TYPE_CONST;
    return value;
}

void add_inputs(graph_t graph, int index, int number, PlacedNode* node)
{
    for (int i = 0; i < number; ++i) {
        tengine_execution_tensor input;
        if (tengine_graph_get_execution_input(graph, index, i, &input) < 0) fail_api(node->name);
        const bool is_absent = input.name[0] == '\0';
        if (!is_absent) node->inputs.push_back(describe_value(input));
    }
}

std::vector<int> read_tensors(int (*get)(graph_t, int, int*, int), graph_t graph, int node)
{
    const int number = get(graph, node, nullptr, 0);
    std::vector<int> tensors(number > 0 ? static_cast<size_t>(number) : 0);
    if (number < 0 || get(graph, node, tensors.data(), number) < 0) fail_api("tensors of a node");
    return tensors;
}

void add_details(graph_t graph, int index, PlacedNode* node)
{
    tengine_node_detail detail;
    if (tengine_graph_get_execution_detail(graph, index, &detail, sizeof detail) < 0)
        fail_api(node->name);
    node->scope = node->name.substr(0, static_cast<size_t>(detail.scope_length));
    node->precision = detail.precision;
    for (int i = 0; i < detail.attribute_number; ++i) {
        tengine_node_attribute attribute;
        if (tengine_graph_get_execution_attribute(graph, index, i, &attribute, sizeof attribute) <
            0)
            fail_api(node->name);
        node->attributes.push_back({attribute.name, attribute.value});
    }
    node->reads = read_tensors(tengine_graph_get_execution_inputs, graph, index);
    node->writes = read_tensors(tengine_graph_get_execution_outputs, graph, index);
    node->counters = read_node_counters(graph, index);
}

void add_refusals(graph_t graph, int index, int number, PlacedNode* node)
{
    for (int i = 0; i < number; ++i) {
        tengine_refusal refusal;
        if (tengine_graph_get_refusal(graph, index, i, &refusal) < 0) fail_api(node->name);
        node->refused.push_back(
            {refusal.device, refusal.reason, refusal.attribute, refusal.value, refusal.message});
    }
}

void add_nodes(graph_t graph, Report* report)
{
    const int number = tengine_graph_get_execution_node_number(graph);
    if (number < 0) fail_api(report->model);
    for (int i = 0; i < number; ++i) {
        tengine_execution_node node;
        if (tengine_graph_get_execution_node(graph, i, &node) < 0) fail_api(report->model);
        PlacedNode placed;
        placed.name = node.name;
        placed.op = node.op;
        placed.device = node.device;
        placed.part = node.subgraph;
        placed.macs = node.mac_number;
        placed.predicted_ms = node.predicted_ms;
        placed.measured_ms = known_time(node.measured_ms);
        tengine_node_kernel kernel;
        if (tengine_graph_get_execution_kernel(graph, i, &kernel, sizeof kernel) < 0)
            fail_api(report->model);
        if (node.source) placed.doc_string = tengine_node_get_doc_string(node.source);
        placed.kernel = kernel.name;
        placed.kernel_reason = kernel.reason;
        add_refusals(graph, i, node.refusal_number, &placed);
        add_inputs(graph, i, node.input_number, &placed);
        add_details(graph, i, &placed);
        report->nodes.push_back(std::move(placed));
    }
}

void add_results(graph_t graph, Report* report)
{
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i) {
        tengine_execution_tensor output;
        if (tengine_graph_get_execution_output(graph, i, &output) < 0) fail_api(report->model);
        report->results.push_back(describe_value(output));
    }
}

void add_tensors_of_nodes(graph_t graph, Report* report)
{
    const int number = tengine_graph_get_execution_tensor_number(graph);
    if (number < 0) fail_api(report->model);
    for (int i = 0; i < number; ++i) {
        tengine_execution_tensor tensor;
        if (tengine_graph_get_execution_tensor(graph, i, &tensor) < 0) fail_api(report->model);
        report->tensors.push_back(describe_value(tensor));
    }
    report->input_tensors = read_tensors(tengine_graph_get_execution_inputs, graph, -1);
    report->output_tensors = read_tensors(tengine_graph_get_execution_outputs, graph, -1);
}

void add_devices(const std::vector<std::string>& devices, Report* report)
{
    report->devices = devices;
    for (const PlacedNode& node : report->nodes) {
        if (std::find(report->devices.begin(), report->devices.end(), node.device) ==
            report->devices.end())
            report->devices.push_back(node.device);
    }
}

Json tensor_json(const Tensor& tensor)
{
    return {{"name", tensor.name},
            {"type", tengine_data_type_get_name(tensor.data_type)},
            {"shape", tensor.shape}};
}

Json inputs_json(const Report& report)
{
    Json list = Json::array();
    for (size_t i = 0; i < report.inputs.size(); ++i) {
        Json input = tensor_json(report.inputs[i]);
        input["names"] = report.declared[i].names;
        if (report.is_placed) input["tensor"] = report.input_tensors.at(i);
        list.push_back(input);
    }
    return list;
}

Json output_json(const Value& output)
{
    return {{"name", output.name},
            {"type", tengine_data_type_get_name(output.data_type)},
            {"shape", output.has_rank ? Json(output.shape) : Json(nullptr)}};
}

// Before the preparation type and shape of a result are not known.
Json outputs_json(const Report& report)
{
    Json list = Json::array();
    for (size_t i = 0; i < report.outputs.size(); ++i) {
        const Value& output = report.outputs[i];
        const DeclaredShape& declared = report.declared_outputs[i];
        Json shown = report.is_placed ? output_json(output) : Json{{"name", output.name}};
        if (report.is_placed) shown["tensor"] = report.output_tensors.at(i);
        shown["declared"] = declared.has_rank ? Json(declared.dims) : Json(nullptr);
        shown["names"] = declared.names;
        if (report.is_placed) shown["depends_on_data"] = bool{report.depends_on_data[i]};
        list.push_back(shown);
    }
    return list;
}

Json time_json(const std::optional<double>& milliseconds)
{
    return milliseconds ? Json(*milliseconds) : Json(nullptr);
}

const char* origin_text(int origin)
{
    return origin == TENGINE_PART_FROM_MODEL   ? "model"
           : origin == TENGINE_PART_FROM_CACHE ? "cache"
                                               : "compiled";
}

Json parts_json(const std::vector<Part>& parts)
{
    Json list = Json::array();
    for (const Part& part : parts)
        list.push_back({{"id", list.size()},
                        {"device", part.device},
                        {"group", part.group},
                        {"nodes", part.nodes},
                        {"inputs", part.inputs},
                        {"outputs", part.outputs},
                        {"macs", part.macs},
                        {"bytes_in", part.bytes_in},
                        {"bytes_out", part.bytes_out},
                        {"predicted_ms", part.predicted_ms},
                        {"measured_ms", time_json(part.measured_ms)},
                        {"origin", origin_text(part.origin)},
                        {"redone", part.redone},
                        {"counters", to_json(part.counters)}});
    return list;
}

bool has_run(const Report& report)
{
    const auto is_measured = [](const Part& part) { return part.measured_ms.has_value(); };
    return std::any_of(report.parts.begin(), report.parts.end(), is_measured);
}

Json times_json(const Report& report)
{
    if (!has_run(report)) return nullptr;
    return report.is_warm ? "warm" : "cold";
}

Json refusals_json(const std::vector<Refusal>& refusals)
{
    Json list = Json::array();
    for (const Refusal& refusal : refusals)
        list.push_back({{"device", refusal.device},
                        {"code", refusal.reason},
                        {"attribute", refusal.attribute},
                        {"value", refusal.value},
                        {"message", refusal.message}});
    return list;
}

// Before the first run the type of a tensor whose shape depends on data may be unknown.
std::string type_text(int data_type)
{
    return data_type == TENGINE_DT_UNKNOWN ? "" : tengine_data_type_get_name(data_type);
}

Json tensors_json(const Report& report)
{
    const auto places = place_tensors(report.plan, report.tensors.size());
    Json list = Json::array();
    for (size_t i = 0; i < report.tensors.size(); ++i) {
        const Value& tensor = report.tensors[i];
        const bool is_written = tensor.producer >= 0;
        list.push_back(
            {{"name", tensor.name},
             {"type", type_text(tensor.data_type)},
             {"shape", tensor.has_rank ? Json(tensor.shape) : Json(nullptr)},
             {"bytes", tensor.bytes},
             {"producer", tensor.producer},
             {"constant", tensor.is_constant},
             {"part", is_written ? report.nodes.at(static_cast<size_t>(tensor.producer)).part : -1},
             {"arena", places[i] ? Json(places[i]->arena) : Json(nullptr)},
             {"offset", places[i] ? Json(places[i]->offset) : Json(nullptr)}});
    }
    return list;
}

Json attributes_json(const PlacedNode& node)
{
    Json attributes = Json::object();
    for (const auto& [name, value] : node.attributes)
        attributes[name] = value;
    return attributes;
}

Json nodes_json(const std::vector<PlacedNode>& nodes)
{
    Json list = Json::array();
    for (const PlacedNode& node : nodes)
        list.push_back({{"name", node.name},
                        {"op", node.op},
                        {"device", node.device},
                        {"part", node.part},
                        {"macs", node.macs},
                        {"predicted_ms", node.predicted_ms},
                        {"measured_ms", time_json(node.measured_ms)},
                        {"kernel", node.kernel},
                        {"kernel_reason", node.kernel_reason},
                        {"inputs", node.reads},
                        {"outputs", node.writes},
                        {"scope", node.scope},
                        {"precision", type_text(node.precision)},
                        {"attributes", attributes_json(node)},
                        {"counters", to_json(node.counters)},
                        {"doc_string", node.doc_string},
                        {"refused", refusals_json(node.refused)}});
    return list;
}

}  // namespace

static void add_entries(graph_t graph, Report* report)
{
    report->entries = entry_names(graph);
    if (!report->entries.empty())
        report->entry = report->entries[static_cast<size_t>(tengine_graph_get_entry_index(graph))];
}

Report make_report(const std::string& model, const std::vector<std::string>& devices, graph_t graph)
{
    Report report;
    report.model = model;
    add_tensors(graph, &report);
    add_totals(graph, &report);
    add_operators(graph, &report);
    add_nodes(graph, &report);
    add_results(graph, &report);
    add_tensors_of_nodes(graph, &report);
    report.plan = read_memory_plan(graph);
    report.trace = read_trace(graph);
    add_devices(devices, &report);
    report.compiled = read_compiled_parts(graph);
    report.hints = read_hints(graph);
    report.preparations = read_preparations(graph);
    add_entries(graph, &report);
    report.buckets = read_buckets(graph);
    report.variants = read_variants(graph);
    report.memory = read_graph_memory(graph);
    return report;
}

Report describe_model(const std::string& model, graph_t graph)
{
    Report report;
    report.model = model;
    report.is_placed = false;
    add_tensors(graph, &report);
    add_stats(graph, &report);
    add_operators(graph, &report);
    add_model_nodes(graph, &report);
    report.compiled = read_compiled_parts(graph);
    report.hints = read_hints(graph);
    report.preparations = read_preparations(graph);
    add_entries(graph, &report);
    report.buckets = read_buckets(graph);
    report.variants = read_variants(graph);
    report.memory = read_graph_memory(graph);
    return report;
}

Json to_json(const Report& report)
{
    Json memory = to_json(report.memory);
    memory["constants"] = report.constant_bytes;
    memory["arena"] = report.arena_bytes;
    return {{"version", 1},
            {"model", report.model},
            {"entry", report.entry},
            {"entries", report.entries},
            {"metadata", to_json(report.metadata)},
            {"placed", report.is_placed},
            {"inputs", inputs_json(report)},
            {"outputs", outputs_json(report)},
            {"operators", report.operators},
            {"macs", report.macs},
            {"parameters", report.parameters},
            {"memory", memory},
            {"threads", report.threads},
            {"scheduler", report.scheduler},
            {"times", times_json(report)},
            {"devices", report.devices},
            {"parts", parts_json(report.parts)},
            {"compiled_parts", to_json(report.compiled)},
            {"hints", to_json(report.hints)},
            {"preparations", to_json(report.preparations)},
            {"buckets", to_json(report.buckets)},
            {"variants", to_json(report.variants)},
            {"nodes", nodes_json(report.nodes)},
            {"tensors", tensors_json(report)},
            {"plan", to_json(report.plan)},
            {"trace", to_json(report.trace)}};
}

}  // namespace tengine::tools
