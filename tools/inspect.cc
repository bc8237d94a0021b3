// SPDX-License-Identifier: Apache-2.0
// `tengine inspect`: what a model is made of, which device runs what, and why. What there is to
// know is collected by report.h.
#include "tengine/inspect.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "command.h"
#include "dot.h"
#include "json_file.h"
#include "report.h"
#include "tensor_file/tensor_file.h"
#include "text.h"

namespace tengine::tools {
namespace {

struct InspectOptions
{
    std::string model;
    std::string json;
    std::string dot;
    int threads = 1;
    bool operators = false;
    ModelOptions common;
};

// What a build needs for this model, one operator a line.
void print_needed_operators()
{
    for (int i = 0; i < tengine_operator_get_number(); ++i) {
        if (tengine_operator_is_used(i) != 1) continue;
        const std::string domain = tengine_operator_get_domain(i);
        std::printf("%s%s%s\n", domain.c_str(), domain.empty() ? "" : ".",
                    tengine_operator_get_name(i));
    }
}

void print_tensors(const char* role, const std::vector<Tensor>& tensors)
{
    for (const Tensor& tensor : tensors)
        std::printf("%-10s  %s  %s  %s\n", role, tensor.name.c_str(),
                    shape_text(tensor.shape).c_str(), tengine_data_type_get_name(tensor.data_type));
}

void print_totals(const Report& report)
{
    const std::string constants = bytes_text(static_cast<double>(report.constant_bytes));
    std::printf("parameters  %s in %s\n",
                count_text(static_cast<double>(report.parameters)).c_str(), constants.c_str());
    std::printf("MACs        %s\n", count_text(static_cast<double>(report.macs)).c_str());
    std::printf("memory      %s constants, %s planned for what is computed\n", constants.c_str(),
                bytes_text(static_cast<double>(report.arena_bytes)).c_str());
}

void print_operators(const Report& report)
{
    std::vector<std::string> words;
    for (const auto& [name, number] : report.operators)
        words.push_back(name + ":" + std::to_string(number));
    std::printf("\n%d nodes by operator\n%s", report.node_number, paragraph_text(words, 2).c_str());
}

void print_parts(const Report& report)
{
    std::vector<std::vector<std::string>> rows = {
        {">part", "device", ">nodes", ">MACs", ">in", ">out", ">predicted ms"}};
    for (size_t i = 0; i < report.parts.size(); ++i) {
        const Part& part = report.parts[i];
        rows.push_back({std::to_string(i), part.device, std::to_string(part.nodes),
                        count_text(static_cast<double>(part.macs)),
                        bytes_text(static_cast<double>(part.bytes_in)),
                        bytes_text(static_cast<double>(part.bytes_out)),
                        time_text(part.predicted_ms)});
    }
    std::printf("\n%s", table_text(rows).c_str());
}

// One cell: every device that came first and did not get the node, with its sentence.
std::string reason_text(const PlacedNode& node)
{
    if (node.refused.empty()) return "first in the list to take it";
    std::string text;
    for (const Refusal& refusal : node.refused)
        text += (text.empty() ? "" : "; ") + refusal.device + ": " + refusal.message;
    return text;
}

void print_nodes(const Report& report)
{
    std::vector<std::vector<std::string>> rows = {
        {">part", "device", "operator", ">MACs", ">ms", "node", "why there"}};
    for (const PlacedNode& node : report.nodes)
        rows.push_back({std::to_string(node.part), node.device, node.op,
                        count_text(static_cast<double>(node.macs)), time_text(node.predicted_ms),
                        node.name, reason_text(node)});
    std::printf("\n%s", table_text(rows).c_str());
}

void print_report(const Report& report)
{
    print_tensors("input", report.inputs);
    print_tensors("output", report.outputs);
    print_totals(report);
    std::printf("\n%s", memory_text(report.memory).c_str());
    print_operators(report);
    print_parts(report);
    print_nodes(report);
}

void write_dot(const std::string& path, const Report& report)
{
    const std::string text = to_dot(report);
    if (path == "-") {
        std::fputs(text.c_str(), stdout);
    } else {
        write_file(path, text);
    }
}

void inspect(const InspectOptions& options)
{
    if (options.json == "-" && options.dot == "-")
        throw CLI::ValidationError("--json and --dot cannot both go to standard output");
    Model model(options.model, options.common);
    model.set_inputs();
    model.prepare(options.threads);
    if (options.operators) return print_needed_operators();
    const Report report = make_report(options.model, options.common.devices, model.graph());
    if (options.json != "-" && options.dot != "-") print_report(report);
    if (!options.json.empty()) write_json(options.json, to_json(report));
    if (!options.dot.empty()) write_dot(options.dot, report);
}

}  // namespace

void add_inspect_command(CLI::App* app)
{
    const auto options = std::make_shared<InspectOptions>();
    CLI::App* command =
        app->add_subcommand("inspect", "Show what a model needs and which device runs what");
    command->add_option("MODEL", options->model, "Model file, such as net.onnx")->required();
    add_placement_options(command, &options->common);
    add_threads_option(command, &options->threads);
    command->add_option("--json", options->json, "File to write the report to; - : standard output")
        ->type_name("FILE");
    command
        ->add_option("--dot", options->dot,
                     "File to draw the placement to, for Graphviz; - : standard output")
        ->type_name("FILE");
    command->add_flag("--operators", options->operators,
                      "Print only the operators that a library for this model needs, one a line, "
                      "for its CMake option TENGINE_OPERATORS_FROM");
    command->callback([options] { inspect(*options); });
}

}  // namespace tengine::tools
