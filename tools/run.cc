// SPDX-License-Identifier: Apache-2.0
// `tengine run`: runs a model once and prints inputs and outputs, compares outputs with expected
// ones, or reports the placement and times.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "command.h"
#include "command_line.h"
#include "expectation.h"
#include "input_file.h"
#include "json_file.h"
#include "memory.h"
#include "memory_plan.h"
#include "model.h"
#include "named_value.h"
#include "output_path.h"
#include "output_text.h"
#include "report.h"
#include "state.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/small_element.h"
#include "tensor_file/tensor_file.h"
#include "tensor_folder.h"
#include "text.h"

namespace tengine::tools {
namespace {

constexpr int kMostRanked = 1000000;
constexpr int kUsualTop = 5;

struct RunOptions
{
    std::string model;
    std::string output;
    std::string state;
    std::string json;
    std::string labels;
    std::optional<int> top;
    std::vector<std::string> expected;  // NAME=FILE
    std::string tolerance;              // "": by the arithmetic
    bool memory = false;
    int threads = 1;
    ModelOptions common;
};

void print_heading(const char* role, const Tensor& tensor)
{
    std::printf("%-6s  %s  %s  %s\n", role, visible_text(tensor.name).c_str(),
                shape_text(tensor.shape).c_str(), tengine_data_type_get_name(tensor.data_type));
}

// Labels and --top require an output that is one row.
void check_ranking(const RunOptions& options, const std::vector<std::string>& labels,
                   const std::vector<Tensor>& outputs)
{
    const bool has_row = std::any_of(outputs.begin(), outputs.end(), is_row);
    if ((!labels.empty() || options.top) && !has_row)
        throw Failure(
            "--labels and --top need an output that is one row of real numbers; this model has "
            "none");
    for (const Tensor& output : outputs) {
        if (!labels.empty() && is_row(output) && labels.size() != output.element_number())
            throw Failure("'" + options.labels + "' has " + std::to_string(labels.size()) +
                          " labels, the output '" + output.name + "' has " +
                          std::to_string(output.element_number()) + " numbers");
    }
}

struct Comparison
{
    const Tensor* output;
    std::string file;
    Match match;
};

using FilesByName = std::map<std::string, std::string>;

FilesByName expected_files(const RunOptions& options, graph_t graph)
{
    std::vector<std::string> names;
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i)
        names.emplace_back(get_tensor_name(tengine_graph_get_output(graph, i)));
    return name_values("--expect", options.expected, names, "output");
}

std::vector<Comparison> compare_outputs(const RunOptions& options, const FilesByName& files,
                                        const std::vector<Tensor>& outputs)
{
    std::vector<Comparison> comparisons;
    for (const Tensor& output : outputs) {
        const auto file = files.find(output.name);
        if (file == files.end()) continue;
        Tensor expected = read_input_file(
            file->second, {output.name, output.data_type, output.data_type, output.shape, true},
            {});
        if (has_small_form(expected, output.data_type))
            expected = narrow_to_small(expected, output.data_type);
        const Tolerance tolerance =
            options.tolerance.empty() ? usual_tolerance(output.data_type, options.common.precision)
                                      : parse_tolerance(options.tolerance);
        comparisons.push_back({&output, file->second, compare(output, expected, tolerance)});
    }
    return comparisons;
}

void print_outputs(const RunOptions& options, const std::vector<Tensor>& outputs,
                   const std::vector<std::string>& labels)
{
    for (const Tensor& output : outputs) {
        print_heading("output", output);
        std::fputs(values_text(output).c_str(), stdout);
        if (is_row(output))
            std::fputs(top_text(output, options.top.value_or(kUsualTop), labels).c_str(), stdout);
    }
}

void print_run(const Model& model, const RunOptions& options, const std::vector<Tensor>& outputs,
               const std::vector<std::string>& labels)
{
    for (const Tensor& input : model.inputs()) {
        print_heading("input", input);
        std::fputs(summary_text(input).c_str(), stdout);
    }
    print_outputs(options, outputs, labels);
}

void print_notes(const Model& model, const RunOptions& options,
                 const std::vector<std::string>& paths, const std::vector<Comparison>& comparisons)
{
    const std::string reason = read_buckets(model.graph()).reason;
    if (!reason.empty()) std::printf("bucket  %s\n", visible_text(reason).c_str());
    if (options.threads == 0)
        std::printf("threads %d\n", tengine_graph_get_thread_number(model.graph()));
    for (const std::string& path : paths)
        std::printf("wrote   %s\n", path.c_str());
    for (const Comparison& comparison : comparisons) {
        if (comparison.match.agrees)
            std::printf("agrees  %s  %s\n", visible_text(comparison.output->name).c_str(),
                        comparison.match.text.c_str());
    }
    if (!options.memory) return;
    std::printf("\n%s", memory_text(read_graph_memory(model.graph())).c_str());
    const std::string memories = memories_text(read_memory_plan(model.graph()));
    if (!memories.empty()) std::printf("\n%s", memories.c_str());
}

bool is_finite(const Tensor& tensor)
{
    if (!is_floating(tensor.data_type)) return true;
    for (size_t i = 0; i < tensor.element_number(); ++i)
        if (!std::isfinite(get_element(tensor, i))) return false;
    return true;
}

// Values beyond the range of fp16 become infinite, and NaN after that.
void say_if_beyond_fp16(const RunOptions& options, const std::vector<Tensor>& outputs)
{
    if (options.common.precision != TENGINE_MODE_FP16) return;
    const auto found = std::find_if_not(outputs.begin(), outputs.end(), is_finite);
    if (found == outputs.end()) return;
    std::fprintf(
        stderr,
        "tengine: output '%s' is not finite: numbers of fp16 end at 65504; --precision "
        "bf16 has the range of fp32, and --option precision.keep_float=NODES keeps in fp32 "
        "those that `tengine verify --precision fp16 --model` names\n",
        visible_text(found->name).c_str());
}

// The first that differs is printed in full; for others only their number is printed.
void fail_if_different(const std::vector<Comparison>& comparisons)
{
    std::string text;
    int number = 0;
    for (const Comparison& comparison : comparisons) {
        if (comparison.match.agrees || ++number > 1) continue;
        text = "output '" + comparison.output->name + "' differs from '" + comparison.file +
               "': " + comparison.match.text;
    }
    if (number > 1) text += "; " + std::to_string(number - 1) + " more differ";
    if (number > 0) throw Failure(text);
}

void run(const RunOptions& options)
{
    ModelOptions common = options.common;
    const bool is_reported = !options.json.empty();
    // The option precedes the user's own, which take precedence.
    if (is_reported) common.options.insert(common.options.begin(), "run.profile=1");
    std::vector<std::string> labels;
    if (!options.labels.empty()) labels = read_labels(options.labels);
    if (!options.tolerance.empty()) parse_tolerance(options.tolerance);
    Model model(options.model, common);
    check_spares_model("--json", options.json, model.graph());
    const FilesByName files = expected_files(options, model.graph());
    model.set_inputs();
    model.prepare(options.threads);
    if (!options.state.empty()) read_states(model.graph(), options.state);
    model.run();
    if (!options.state.empty()) write_states(model.graph(), options.state);
    const std::vector<Tensor> outputs = model.outputs();
    check_ranking(options, labels, outputs);
    const std::vector<Comparison> comparisons = compare_outputs(options, files, outputs);
    std::vector<std::string> paths;
    if (!options.output.empty()) paths = write_tensors(options.output, outputs);
    if (options.json != "-") {
        print_run(model, options, outputs, labels);
        print_notes(model, options, paths, comparisons);
    }
    if (is_reported)
        write_json(options.json,
                   to_json(make_report(options.model, common.devices, model.graph())));
    say_if_beyond_fp16(options, outputs);
    fail_if_different(comparisons);
}

void add_output_options(Command* command, RunOptions* options)
{
    command->add_option("--output", &options->output, "Folder to write the outputs to, as .npy")
        .value_name("DIR");
    command
        ->add_option("--state", &options->state,
                     "Folder with the states that the model keeps from run to run, as .npy: those "
                     "that are there are read, and all are written after the run")
        .value_name("DIR");
    command
        ->add_option("--labels", &options->labels,
                     "File with names for the numbers of an output that is one row, one per line")
        .value_name("FILE");
    command
        ->add_option("--top", &options->top,
                     "How many of the largest numbers of such an output to print. Default: 5")
        .in_range(1, kMostRanked)
        .value_name("K");
    const CommandOption expect =
        command
            ->add_option(
                "--expect", &options->expected,
                "File to compare an output with, in any format of --input; may be repeated. NAME= "
                "may be omitted if the model has one output. The exit status is 1 if they differ")
            .value_name("[NAME=]FILE")
            .repeatable();
    command
        ->add_option("--tolerance", &options->tolerance,
                     "Allowed difference from the expected number: relative to it, plus absolute; "
                     "one number sets both. The default depends on the precision: 0.001,0.00001 in "
                     "fp32, 0.01 in fp16, 0.05 in bf16, 0.1 in int8; integers must be equal")
        .value_name("RELATIVE[,ABSOLUTE]")
        .needs(expect);
}

}  // namespace

void add_run_command(CommandLine* line)
{
    const auto options = std::make_shared<RunOptions>();
    Command command = line->add_command("run", "Run a model once and print its outputs");
    command.add_option("MODEL", &options->model, "Model file, such as net.onnx").required();
    add_entry_option(&command, &options->common);
    add_input_options(&command, &options->common);
    add_output_options(&command, options.get());
    command
        .add_option("--json", &options->json,
                    "File to write the placement to, with the times of this run; - for standard "
                    "output, which then carries nothing else")
        .value_name("FILE");
    command.add_flag("--memory", &options->memory, "Also print the memory that the model holds");
    add_placement_options(&command, &options->common);
    add_threads_option(&command, &options->threads);
    command.set_work([options] { run(*options); });
}

}  // namespace tengine::tools
