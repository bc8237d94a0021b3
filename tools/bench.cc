// SPDX-License-Identifier: Apache-2.0
// `tengine bench`: how long models take, where that time goes, and how much memory they need. What
// is measured and how is in measurement.h.
#include <memory>
#include <vector>

#include "bench_report.h"
#include "command.h"
#include "command_line.h"
#include "interrupt.h"
#include "json_file.h"
#include "measurement.h"
#include "output_path.h"
#include "progress.h"

namespace tengine::tools {
namespace {

constexpr int kMostRuns = 1000000;
constexpr int kMostSeconds = 86400;
constexpr int kMostFrames = 64;  // of the option pipeline.frames

struct BenchOptions
{
    std::vector<std::string> models;
    std::vector<int> threads = {1};
    std::string json;
    int top = 20;
    bool quiet = false;
    MeasureOptions measure;
};

// Until all are measured or Ctrl-C comes.
std::vector<Measurement> measure_all(const BenchOptions& options)
{
    std::vector<Measurement> measurements;
    for (const std::string& model : options.models) {
        for (const int threads : options.threads) {
            Progress progress(model, progress_output(options.quiet));
            const auto measurement = measure(model, threads, options.measure, &progress);
            if (measurement) measurements.push_back(*measurement);
            if (was_interrupted()) return measurements;
        }
    }
    return measurements;
}

void bench(const BenchOptions& options)
{
    if (options.measure.profile && options.measure.frames > 1)
        throw Misuse(
            "--profile cannot be combined with --frames: it needs runs that do not overlap");
    check_output_path("--json", options.json);
    catch_interrupt();
    const std::vector<Measurement> measurements = measure_all(options);
    if (options.json != "-") print_measurements(measurements, options.top);
    if (!options.json.empty())
        write_json(options.json, {{"version", 1},
                                  {"interrupted", was_interrupted()},
                                  {"results", to_json(measurements)}});
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
    command
        ->add_option("--warmup", &options->measure.warmup, "Warm-up runs before the measured ones")
        .shows_default()
        .in_range(0, kMostRuns)
        .value_name("N");
    command
        ->add_option("--frames", &options->measure.frames,
                     "Runs in flight at the same time, to measure the throughput of several "
                     "devices; uses the pipeline scheduler")
        .shows_default()
        .in_range(1, kMostFrames)
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
    command
        .add_option("--threads", &options->threads,
                    "Thread counts, separated by commas, measured one after the other; 0: one "
                    "thread for each core")
        .separated_by_commas()
        .in_range(0, kMostThreads)
        .value_name("LIST");
    add_core_options(&command, &options->measure.common);
    add_run_options(&command, options.get());
    add_report_options(&command, options.get());
    add_input_options(&command, &options->measure.common);
    add_placement_options(&command, &options->measure.common);
    command.set_work([options] { bench(*options); });
}

}  // namespace tengine::tools
