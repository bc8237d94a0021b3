// SPDX-License-Identifier: Apache-2.0
// `tengine bench`: the time of a model's runs, its share by node, and the memory of models.
// measurement.h measures.
#include <memory>
#include <vector>

#include "bench_report.h"
#include "command.h"
#include "command_line.h"
#include "instance_bench.h"
#include "interrupt.h"
#include "json_file.h"
#include "measurement.h"
#include "output_path.h"
#include "progress.h"
#include "shape_bench.h"
#include "token_bench.h"

namespace tengine::tools {
namespace {

constexpr int kMostRuns = 1000000;
constexpr int kMostSeconds = 86400;
constexpr int kMostInstances = 1024;
constexpr int kMostFrames = 64;  // limit of the option pipeline.frames

struct BenchOptions
{
    std::vector<std::string> models;
    std::vector<int> threads = {1};
    std::vector<std::string> shapes;  // one after the other; empty: one shape
    std::string json;
    int top = 20;
    int instances = 1;
    bool quiet = false;
    TokenOptions tokens;
    MeasureOptions measure;
};

// Measures until all are done or Ctrl-C is pressed; `measure_one` may return no result.
template <typename Result, typename MeasureOne>
std::vector<Result> measure_all(const BenchOptions& options, const MeasureOne& measure_one)
{
    std::vector<Result> measurements;
    for (const std::string& model : options.models) {
        for (const int threads : options.threads) {
            Progress progress(model, progress_output(options.quiet));
            until_interrupted([&] {
                const std::optional<Result> measurement = measure_one(model, threads, &progress);
                if (measurement) measurements.push_back(*measurement);
            });
            if (was_interrupted()) return measurements;
        }
    }
    return measurements;
}

void write_report(const BenchOptions& options, const Json& results)
{
    if (options.json.empty()) return;
    write_json(options.json,
               {{"version", 1}, {"interrupted", was_interrupted()}, {"results", results}});
}

void bench_one_shape(const BenchOptions& options)
{
    MeasureOptions measure_options = options.measure;
    measure_options.report = !options.json.empty();
    const auto measurements = measure_all<Measurement>(
        options, [&](const std::string& model, int threads, Progress* progress) {
            return measure(model, threads, measure_options, progress);
        });
    if (options.json != "-") print_measurements(measurements, options.top);
    write_report(options, to_json(measurements));
}

void bench_shapes(const BenchOptions& options)
{
    const auto measurements = measure_all<ShapeMeasurement>(
        options, [&](const std::string& model, int threads, Progress* progress) {
            return measure_shapes(model, threads, options.shapes, options.measure, progress);
        });
    if (options.json != "-") print_shape_measurements(measurements);
    write_report(options, to_json(measurements));
}

void bench_instances(const BenchOptions& options)
{
    const auto measurements = measure_all<InstanceMeasurement>(
        options, [&](const std::string& model, int threads, Progress* progress) {
            return measure_instances(model, threads, options.instances, options.measure, progress);
        });
    if (options.json != "-") print_instance_measurements(measurements);
    write_report(options, to_json(measurements));
}

void bench_tokens(const BenchOptions& options)
{
    const auto measurements = measure_all<TokenMeasurement>(
        options, [&](const std::string& model, int threads, Progress* progress) {
            return measure_tokens(model, threads, options.tokens, options.measure, progress);
        });
    if (options.json != "-") print_token_measurements(measurements);
    write_report(options, to_json(measurements));
}

void check_tokens(const BenchOptions& options)
{
    const MeasureOptions& measure = options.measure;
    if (options.tokens.tokens == 0) return;
    if (measure.profile || measure.frames > 1 || measure.seconds > 0 || !options.shapes.empty() ||
        !measure.common.shapes.empty() || !measure.common.inputs.empty())
        throw Misuse(
            "--tokens cannot be combined with --profile, --frames, --seconds, --shapes, --shape or "
            "--input");
}

void check_shapes(const BenchOptions& options)
{
    const MeasureOptions& measure = options.measure;
    if (options.shapes.empty()) return;
    if (measure.profile || measure.frames > 1 || measure.seconds > 0 ||
        !measure.common.shapes.empty() || !measure.common.inputs.empty())
        throw Misuse(
            "--shapes cannot be combined with --profile, --frames, --seconds, --shape or --input");
    for (const std::string& shape : options.shapes)
        parse_shape(shape);
}

void check_instances(const BenchOptions& options)
{
    const MeasureOptions& measure = options.measure;
    if (options.instances == 1) return;
    if (measure.profile || measure.frames > 1 || measure.seconds > 0 || !options.shapes.empty() ||
        options.tokens.tokens > 0)
        throw Misuse(
            "--instances cannot be combined with --profile, --frames, --seconds, --shapes or "
            "--tokens");
}

void bench(const BenchOptions& options)
{
    if (options.measure.profile && options.measure.frames > 1)
        throw Misuse(
            "--profile cannot be combined with --frames: it needs runs that do not overlap");
    check_shapes(options);
    check_tokens(options);
    check_instances(options);
    check_output_path("--json", options.json);
    for (const std::string& model : options.models)
        check_spares_file("--json", options.json, model);
    catch_interrupt();
    const auto work = options.tokens.tokens > 0 ? bench_tokens
                      : options.instances > 1   ? bench_instances
                      : options.shapes.empty()  ? bench_one_shape
                                                : bench_shapes;
    work(options);
    if (was_interrupted()) end_interrupted();
}

void add_run_options(Command* command, BenchOptions* options)
{
    const CommandOption runs =
        command->add_option("--runs", &options->measure.runs, "Runs to measure")
            .shows_default()
            .in_range(1, kMostRuns)
            .value_name("N");
    command
        ->add_option("--seconds", &options->measure.seconds,
                     "Measure as many runs as fit into this time instead")
        .excludes(runs)
        .in_range(0.001, double{kMostSeconds})
        .value_name("S");
    const CommandOption warmup = command
                                     ->add_option("--warmup", &options->measure.warmup,
                                                  "Warm-up runs before the measured ones")
                                     .shows_default()
                                     .in_range(0, kMostRuns)
                                     .value_name("N");
    const CommandOption tokens =
        command
            ->add_option("--tokens", &options->tokens.tokens,
                         "Tokens that a decoder makes, one after the other, with its cache in "
                         "place: shows how long its prompt and each of them take")
            .excludes(runs)
            .excludes(warmup)
            .in_range(1, kMostRuns)
            .value_name("N");
    command->add_option("--prompt", &options->tokens.prompt, "Tokens of the prompt before them")
        .needs(tokens)
        .shows_default()
        .in_range(1, kMostRuns)
        .value_name("N");
    command
        ->add_option("--frames", &options->measure.frames,
                     "Runs in flight at the same time, to measure the throughput of several "
                     "devices; uses the pipeline scheduler")
        .shows_default()
        .in_range(1, kMostFrames)
        .value_name("N");
    command
        ->add_option("--instances", &options->instances,
                     "Instances of the model that share its weights, each on a thread of its own: "
                     "shows their memory and throughput")
        .shows_default()
        .in_range(1, kMostInstances)
        .value_name("N");
}

void add_report_options(Command* command, BenchOptions* options)
{
    command->add_flag("--profile", &options->measure.profile,
                      "Show the time spent in each operator and node");
    command->add_option("--top", &options->top, "Number of slowest nodes that the profile lists")
        .shows_default()
        .in_range(1, kMostRuns)
        .value_name("N");
    command
        ->add_option("--json", &options->json, "File to write the report to; - for standard output")
        .value_name("FILE");
    command->add_flag("--quiet", &options->quiet, "Do not show progress");
}

}  // namespace

void add_bench_command(CommandLine* line)
{
    const auto options = std::make_shared<BenchOptions>();
    Command command = line->add_command("bench", "Measure the speed and memory use of models");
    command.add_option("MODEL", &options->models, "Model files, such as net.onnx").required();
    add_entry_option(&command, &options->measure.common);
    command
        .add_option("--threads", &options->threads,
                    "Thread counts, separated by commas, measured one after the other; 0: one "
                    "thread for each core")
        .separated_by_commas()
        .in_range(0, kMostThreads)
        .value_name("LIST");
    command
        .add_option("--shapes", &options->shapes,
                    "Shapes that the inputs take in turns, separated by commas: shows the "
                    "times to prepare for the first, a new and a known one")
        .separated_by_commas()
        .value_name("LIST");
    add_core_options(&command, &options->measure.common);
    add_run_options(&command, options.get());
    add_report_options(&command, options.get());
    add_input_options(&command, &options->measure.common);
    add_placement_options(&command, &options->measure.common);
    command.set_work([options] { bench(*options); });
}

}  // namespace tengine::tools
