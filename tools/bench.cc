// SPDX-License-Identifier: Apache-2.0
// `tengine bench`: how long models take, and how much memory. What is measured and how is in
// measurement.h.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <vector>

#include "command.h"
#include "json_file.h"
#include "measurement.h"
#include "progress.h"
#include "text.h"

namespace tengine::tools {
namespace {

constexpr int kMostRuns = 1000000;

struct BenchOptions
{
    std::vector<std::string> models;
    std::vector<int> threads = {1};
    std::string json;
    MeasureOptions measure;
};

std::string milliseconds_text(double milliseconds)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", milliseconds);
    return text;
}

std::string memory_text(int64_t bytes)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / (1024.0 * 1024.0));
    return bytes == 0 ? "?" : text;
}

void print_table(const std::vector<Measurement>& measurements)
{
    std::vector<std::vector<std::string>> rows = {{"model", ">threads", ">load ms", ">prepare ms",
                                                   ">first ms", ">min ms", ">median ms", ">p90 ms",
                                                   ">p99 ms", ">GFLOP/s", ">peak MiB"}};
    for (const Measurement& m : measurements) {
        char gflops[32];
        std::snprintf(gflops, sizeof gflops, "%.2f", m.gflops);
        rows.push_back({m.model, std::to_string(m.threads), milliseconds_text(m.load),
                        milliseconds_text(m.prepare), milliseconds_text(m.first_run),
                        milliseconds_text(m.min), milliseconds_text(m.median),
                        milliseconds_text(m.p90), milliseconds_text(m.p99), gflops,
                        memory_text(m.peak_memory)});
    }
    std::fputs(table_text(rows).c_str(), stdout);
}

void print_counters(const std::vector<Measurement>& measurements)
{
    for (const Measurement& m : measurements) {
        for (const CountedPart& counted : m.counted)
            std::printf("\n%s, part %d on %s:\n%s", m.model.c_str(), counted.part,
                        counted.device.c_str(), counters_text(counted.counters).c_str());
    }
}

Json counted_json(const Measurement& measurement)
{
    Json list = Json::array();
    for (const CountedPart& counted : measurement.counted)
        list.push_back({{"part", counted.part},
                        {"device", counted.device},
                        {"counters", to_json(counted.counters)}});
    return list;
}

Json to_json(const std::vector<Measurement>& measurements)
{
    Json results = Json::array();
    for (const Measurement& m : measurements) {
        results.push_back({{"model", m.model},
                           {"threads", m.threads},
                           {"runs", m.runs},
                           {"load_ms", m.load},
                           {"prepare_ms", m.prepare},
                           {"first_run_ms", m.first_run},
                           {"min_ms", m.min},
                           {"median_ms", m.median},
                           {"p90_ms", m.p90},
                           {"p99_ms", m.p99},
                           {"macs", m.macs},
                           {"gflops", m.gflops},
                           {"peak_memory", m.peak_memory},
                           {"counted", counted_json(m)}});
    }
    return {{"version", 1}, {"results", results}};
}

void bench(const BenchOptions& options)
{
    std::vector<Measurement> measurements;
    for (const std::string& model : options.models) {
        for (const int threads : options.threads) {
            Progress progress(model);
            measurements.push_back(
                measure(model, threads, options.measure,
                        [&](int done, int total) { progress.show(done, total); }));
        }
    }
    if (options.json != "-") {
        print_table(measurements);
        print_counters(measurements);
    }
    if (!options.json.empty()) write_json(options.json, to_json(measurements));
}

}  // namespace

void add_bench_command(CLI::App* app)
{
    const auto options = std::make_shared<BenchOptions>();
    options->measure.runs = 20;
    options->measure.warmup = 3;
    CLI::App* command = app->add_subcommand("bench", "Measure the time and memory of models");
    command->add_option("MODEL", options->models, "Model files, such as net.onnx")->required();
    command
        ->add_option("--threads", options->threads,
                     "Numbers of threads, separated by commas: one measurement for each; "
                     "0: one thread for each core")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(0, kMostThreads))
        ->type_name("LIST");
    command->add_option("--runs", options->measure.runs, "Runs to measure")
        ->capture_default_str()
        ->check(CLI::Range(1, kMostRuns))
        ->type_name("N");
    command->add_option("--warmup", options->measure.warmup, "Runs before these")
        ->capture_default_str()
        ->check(CLI::Range(0, kMostRuns))
        ->type_name("N");
    command->add_option("--json", options->json, "File to write the report to; - : standard output")
        ->type_name("FILE");
    add_input_options(command, &options->measure.common);
    add_placement_options(command, &options->measure.common);
    command->callback([options] { bench(*options); });
}

}  // namespace tengine::tools
