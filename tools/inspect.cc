// SPDX-License-Identifier: Apache-2.0
// `tengine inspect`: the contents of a model, and the device of each node with reasons. report.h
// collects the data.
#include "tengine/inspect.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>

#include "command.h"
#include "command_line.h"
#include "dot.h"
#include "json_file.h"
#include "model.h"
#include "output_path.h"
#include "report.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "terminal.h"
#include "text.h"

namespace tengine::tools {
namespace {

constexpr size_t kRoleWidth = 10;
constexpr size_t kShortestName = 11;

struct InspectOptions
{
    std::string model;
    std::string json;
    std::string dot;
    int threads = 1;
    bool operators = false;
    ModelOptions common;
};

// The operators that a build needs for this model, one a line.
void print_needed_operators()
{
    for (int i = 0; i < tengine_operator_get_number(); ++i) {
        if (tengine_operator_is_used(i) != 1) continue;
        const std::string domain = tengine_operator_get_domain(i);
        std::printf("%s%s%s\n", domain.c_str(), domain.empty() ? "" : ".",
                    tengine_operator_get_name(i));
    }
}

// The line width of running text.
size_t line_width()
{
    constexpr size_t kMost = 96;
    return terminal_width() > 0 ? std::min(kMost, terminal_width()) : kMost;
}

// "  (batch x 10)": the model's own shape of an output, if it has free dimensions.
std::string declared_note(const DeclaredShape& output)
{
    const bool is_free_one = output.has_rank && is_free(output);
    return is_free_one ? "  (" + visible_text(declared_text(output)) + ")" : "";
}

void print_outputs(const Report& report)
{
    for (size_t i = 0; i < report.outputs.size(); ++i) {
        const Value& output = report.outputs[i];
        const std::string rest = "  " + shape_text(output) + "  " +
                                 tengine_data_type_get_name(output.data_type) +
                                 declared_note(report.declared_outputs[i]);
        const size_t taken = kRoleWidth + 2 + rest.size();
        const size_t width = std::max(terminal_width(), taken + kShortestName);
        const std::string name =
            terminal_width() > 0 ? shortened_text(output.name, width - taken) : output.name;
        std::printf("%-*s  %s%s\n", static_cast<int>(kRoleWidth), "output",
                    visible_text(name).c_str(), rest.c_str());
    }
}

// The one that the report is about has a star.
void print_entries(const Report& report)
{
    if (report.entries.size() < 2) return;
    std::string text;
    for (const std::string& name : report.entries)
        text += (text.empty() ? "" : ", ") + visible_text(name) + (name == report.entry ? "*" : "");
    std::printf("entries     %s\n", text.c_str());
}

// A shape that was set is followed by the model's own.
void print_inputs(const Report& report)
{
    print_entries(report);
    for (size_t i = 0; i < report.inputs.size(); ++i) {
        const Tensor& input = report.inputs[i];
        const std::string declared = declared_text(report.declared[i]);
        const bool is_settled = !is_free(report.declared[i]);
        const std::string shape = is_settled ? shape_text(input.shape) : declared;
        std::printf("input       %s  %s  %s%s\n", visible_text(input.name).c_str(), shape.c_str(),
                    tengine_data_type_get_name(input.data_type),
                    is_settled && declared != shape ? ("  (" + declared + ")").c_str() : "");
    }
}

void print_totals(const Report& report)
{
    const std::string constants = bytes_text(static_cast<double>(report.constant_bytes));
    std::printf("parameters  %s in %s\n",
                count_text(static_cast<double>(report.parameters)).c_str(), constants.c_str());
    std::printf("MACs        %s\n", count_text(static_cast<double>(report.macs)).c_str());
    std::printf("threads     %d\n", report.threads);
    std::printf("memory      %s constants, %s planned for intermediate results\n",
                constants.c_str(), bytes_text(static_cast<double>(report.arena_bytes)).c_str());
}

void print_operators(const Report& report)
{
    std::vector<std::string> words;
    for (const auto& [name, number] : report.operators)
        words.push_back(name + ":" + std::to_string(number));
    std::printf("\n%d nodes by operator\n%s", report.node_num,
                paragraph_text(words, 2, line_width()).c_str());
}

// Names are cut to the terminal's width, and a device has one colour in all tables.
TableStyle table_style(const Report& report)
{
    static const char* const kCodes[] = {"36", "33", "32", "35", "34", "31"};
    TableStyle style;
    style.width = terminal_width();
    style.shortened = {"node"};
    if (!wants_colours()) return style;
    style.coloured = "device";
    for (size_t i = 0; i < report.devices.size(); ++i)
        style.codes[report.devices[i]] = kCodes[i % std::size(kCodes)];
    return style;
}

// Adds the column of groups if a part has one.
void add_groups(const Report& report, Rows* rows)
{
    const auto has_group = [](const Part& part) { return part.group != 0; };
    if (std::none_of(report.parts.begin(), report.parts.end(), has_group)) return;
    constexpr ptrdiff_t kColumn = 2;  // after the device
    rows->front().insert(rows->front().begin() + kColumn, ">group");
    for (size_t i = 0; i < report.parts.size(); ++i) {
        const int group = report.parts[i].group;
        auto& row = (*rows)[i + 1];
        row.insert(row.begin() + kColumn, group == 0 ? "" : std::to_string(group));
    }
}

// Adds the origin of each part if devices have loaded any.
void add_origins(const Report& report, Rows* rows)
{
    const auto is_loaded = [](const Part& part) { return part.origin != TENGINE_PART_COMPILED; };
    if (std::none_of(report.parts.begin(), report.parts.end(), is_loaded)) return;
    static const char* const kOrigins[] = {"compiled", "model's file", "cache.dir"};
    rows->front().emplace_back("from");
    for (size_t i = 0; i < report.parts.size(); ++i)
        (*rows)[i + 1].emplace_back(kOrigins[report.parts[i].origin]);
}

void print_parts(const Report& report)
{
    Rows rows = {{">part", "device", ">nodes", ">MACs", ">in", ">out", ">predicted ms"}};
    for (size_t i = 0; i < report.parts.size(); ++i) {
        const Part& part = report.parts[i];
        rows.push_back({std::to_string(i), part.device, std::to_string(part.nodes),
                        count_text(static_cast<double>(part.macs)),
                        bytes_text(static_cast<double>(part.bytes_in)),
                        bytes_text(static_cast<double>(part.bytes_out)),
                        time_text(part.predicted_ms)});
    }
    add_groups(report, &rows);
    add_origins(report, &rows);
    std::printf("\n%s", table_text(rows, table_style(report)).c_str());
}

void print_compiled_parts(const Report& report)
{
    if (!report.compiled.empty())
        std::printf("\n%s", compiled_parts_text(report.compiled, terminal_width()).c_str());
    if (!report.preparations.empty())
        std::printf("\n%s", preparations_text(report.preparations, terminal_width()).c_str());
}

// One cell: all better devices that refused the node, with their messages.
std::string reason_text(const PlacedNode& node)
{
    if (node.refused.empty()) return "first device in the list that takes it";
    std::string text;
    for (const Refusal& refusal : node.refused)
        text += (text.empty() ? "" : "; ") + refusal.device + ": " + refusal.message;
    return text;
}

// Nodes by reason, both in their order.
std::vector<std::pair<std::string, std::vector<std::string>>> list_reasons(const Report& report)
{
    std::vector<std::pair<std::string, std::vector<std::string>>> list;
    for (const PlacedNode& node : report.nodes) {
        const std::string reason = reason_text(node);
        auto entry = std::find_if(list.begin(), list.end(),
                                  [&](const auto& known) { return known.first == reason; });
        if (entry == list.end()) entry = list.insert(list.end(), {reason, {}});
        entry->second.push_back(node.name);
    }
    return list;
}

// Prints the reasons below the nodes, when they do not fit beside them.
void print_reasons(const Report& report, size_t width)
{
    std::printf("\nreasons\n");
    for (const auto& [reason, nodes] : list_reasons(report)) {
        std::vector<std::string> names;
        for (const std::string& name : nodes)
            names.push_back(shortened_text(name, width - 4));
        std::printf("%s%s", paragraph_text(words_of(reason), 2, width).c_str(),
                    paragraph_text(names, 4, width).c_str());
    }
}

// The reasons are a column, unless they are all the same or the terminal is too narrow.
void print_nodes(const Report& report)
{
    Rows rows = {{">part", "device", "operator", ">MACs", ">ms", "node"}};
    for (const PlacedNode& node : report.nodes)
        rows.push_back({std::to_string(node.part), node.device, node.op,
                        count_text(static_cast<double>(node.macs)), time_text(node.predicted_ms),
                        node.name});
    const TableStyle style = table_style(report);
    const auto reasons = list_reasons(report);
    Rows explained = rows;
    explained[0].push_back("reason");
    for (size_t i = 0; i < report.nodes.size(); ++i)
        explained[i + 1].push_back(reason_text(report.nodes[i]));
    const bool fits = style.width == 0 || width_of(table_text(explained)) <= style.width;
    if (reasons.size() > 1 && fits) {
        std::printf("\n%s", table_text(explained, style).c_str());
        return;
    }
    std::printf("\n%s", table_text(rows, style).c_str());
    if (reasons.size() > 1) print_reasons(report, style.width);
    if (reasons.size() == 1) std::printf("\nreason: %s (all nodes)\n", reasons[0].first.c_str());
}

// The kernels of nodes for which there was a choice, with the option CPU.timing.
void print_kernels(const Report& report)
{
    Rows rows = {{"kernel", "node", "because"}};
    for (const PlacedNode& node : report.nodes)
        if (!node.kernel_reason.empty())
            rows.push_back({node.kernel, node.name, node.kernel_reason});
    if (rows.size() > 1) std::printf("\n%s", table_text(rows, table_style(report)).c_str());
}

void print_metadata(const Report& report)
{
    std::printf("%s", metadata_text(report.metadata, terminal_width()).c_str());
}

void print_variants(const Report& report)
{
    if (!report.variants.empty())
        std::printf("\n%s", variants_text(report.variants, terminal_width()).c_str());
}

void print_hints(const Report& report)
{
    if (!report.hints.empty())
        std::printf("\n%s", hints_text(report.hints, terminal_width()).c_str());
}

void print_buckets(const Report& report)
{
    if (!report.buckets.shapes.empty())
        std::printf("\n%s", buckets_text(report.buckets, terminal_width()).c_str());
}

void print_report(const Report& report)
{
    print_inputs(report);
    print_outputs(report);
    print_totals(report);
    print_metadata(report);
    std::printf("\n%s", memory_text(report.memory, terminal_width()).c_str());
    const std::string memories = memories_text(report.plan, terminal_width());
    if (!memories.empty()) std::printf("\n%s", memories.c_str());
    print_operators(report);
    print_parts(report);
    print_compiled_parts(report);
    print_variants(report);
    print_hints(report);
    print_buckets(report);
    print_nodes(report);
    print_kernels(report);
}

// The properties that are known without the shapes.
void print_model(const Report& report, const std::string& missing)
{
    print_inputs(report);
    for (const DeclaredShape& output : report.declared_outputs)
        std::printf("output      %s%s\n", visible_text(output.input).c_str(),
                    output.has_rank ? ("  " + visible_text(declared_text(output))).c_str() : "");
    const std::string constants = bytes_text(static_cast<double>(report.constant_bytes));
    std::printf(
        "parameters  %s in %s\nMACs        ?\nmemory      %s constants, ? planned for intermediate "
        "results\n",
        count_text(static_cast<double>(report.parameters)).c_str(), constants.c_str(),
        constants.c_str());
    print_metadata(report);
    print_operators(report);
    print_compiled_parts(report);
    print_variants(report);
    print_hints(report);
    print_buckets(report);
    std::vector<std::vector<std::string>> rows = {{"operator", "node"}};
    for (const PlacedNode& node : report.nodes)
        rows.push_back({node.op, node.name});
    std::printf("\n%s\nThe rest depends on the inputs' free dimensions: %s\n",
                table_text(rows).c_str(), missing.c_str());
}

void inspect_model(const InspectOptions& options, const Model& model, const std::string& missing)
{
    if (options.operators || !options.dot.empty())
        throw Failure(options.model +
                      ": --operators and --dot need the shapes of all inputs: " + missing);
    const Report report = describe_model(options.model, model.graph());
    if (options.json != "-") print_model(report, missing);
    if (!options.json.empty()) write_json(options.json, to_json(report));
}

void inspect(const InspectOptions& options)
{
    if (options.json == "-" && options.dot == "-")
        throw Misuse("--json and --dot cannot both go to standard output");
    ModelOptions common = options.common;
    common.says_guess = false;  // the report contains it
    Model model(options.model, common);
    check_spares_model("--json", options.json, model.graph());
    check_spares_model("--dot", options.dot, model.graph());
    const std::string missing = model.missing_shapes();
    if (!missing.empty()) return inspect_model(options, model, missing);
    model.set_inputs();
    model.prepare(options.threads);
    if (options.operators) return print_needed_operators();
    const Report report = make_report(options.model, options.common.devices, model.graph());
    if (options.json != "-" && options.dot != "-") print_report(report);
    if (!options.json.empty()) write_json(options.json, to_json(report));
    if (!options.dot.empty()) write_text(options.dot, to_dot(report));
}

}  // namespace

void add_inspect_command(CommandLine* line)
{
    const auto options = std::make_shared<InspectOptions>();
    Command command =
        line->add_command("inspect", "Show the needs of a model and the device of each operator");
    command.add_option("MODEL", &options->model, "Model file, such as net.onnx").required();
    add_entry_option(&command, &options->common);
    add_placement_options(&command, &options->common);
    add_threads_option(&command, &options->threads);
    command
        .add_option("--json", &options->json, "File to write the report to; - for standard output")
        .value_name("FILE");
    command
        .add_option("--dot", &options->dot,
                    "File to write the placement to, as a Graphviz graph; - for standard output")
        .value_name("FILE");
    command.add_flag("--operators", &options->operators,
                     "Print only the operators that this model needs, one per line, for the CMake "
                     "option TENGINE_OPERATORS_FROM");
    command.set_work([options] { inspect(*options); });
}

}  // namespace tengine::tools
