// SPDX-License-Identifier: Apache-2.0
// Times the steps from file to result. The contract is in measurement.h.
#include "measurement.h"

#include <deque>

#include "interrupt.h"
#include "peak_memory.h"
#include "stopwatch.h"
#include "tengine/inspect.h"

namespace tengine::tools {
namespace {

// Runs the model, `frames` runs in flight at once, as long as `may_start(number of runs started)`,
// until Ctrl-C, which ends the runs in flight; `ended` gets the milliseconds of each.
template <typename MayStart, typename Ended>
void run_frames(Model* model, int frames, const MayStart& may_start, const Ended& ended)
{
    std::deque<Clock::time_point> starts;
    int started = 0;
    for (;;) {
        while (static_cast<int>(starts.size()) < frames && !was_interrupted() &&
               may_start(started)) {
            starts.push_back(Clock::now());
            if (!until_interrupted([&] { frames > 1 ? model->start() : model->run(); })) return;
            ++started;
        }
        if (starts.empty()) return;
        if (frames > 1 && !until_interrupted([&] { model->finish(); })) return;
        ended(milliseconds_since(starts.front()));
        starts.pop_front();
    }
}

// The options of the context that a measurement needs follow the user's own, so they take
// precedence.
ModelOptions model_options(const MeasureOptions& options)
{
    ModelOptions common = options.common;
    if (options.profile) common.options.push_back("run.profile=1");
    if (options.frames > 1) {
        common.options.push_back("scheduler=pipeline");
        common.options.push_back("pipeline.frames=" + std::to_string(options.frames));
    }
    return common;
}

class Measuring
{
  public:
    Measuring(Model* model, const MeasureOptions& options, Progress* progress)
        : model_(model), options_(options), progress_(progress)
    {
    }

    void warm_up();
    // Fills the result's fields on the measured runs.
    void measure(Measurement* result);

  private:
    void show(int runs) const;

    Model* model_;
    const MeasureOptions& options_;
    Progress* progress_;
    Clock::time_point begin_;
};

void Measuring::warm_up()
{
    int ended = 0;
    run_frames(
        model_, options_.frames, [&](int started) { return started < options_.warmup; },
        [&](double) {
            ++ended;
            if (options_.seconds == 0) progress_->show(ended, options_.warmup + options_.runs);
        });
}

void Measuring::show(int runs) const
{
    if (options_.seconds > 0)
        progress_->show_share(runs, milliseconds_since(begin_) / (options_.seconds * 1e3));
    else
        progress_->show(options_.warmup + runs, options_.warmup + options_.runs);
}

void Measuring::measure(Measurement* result)
{
    std::optional<Profiler> profiler;
    if (options_.profile) profiler.emplace(model_->graph());
    const auto may_start = [&](int started) {
        return options_.seconds > 0
                   ? started == 0 || milliseconds_since(begin_) < options_.seconds * 1e3
                   : started < options_.runs;
    };
    std::vector<double> times;
    begin_ = Clock::now();
    double elapsed = 0;
    run_frames(model_, options_.frames, may_start, [&](double time) {
        times.push_back(time);
        elapsed = milliseconds_since(begin_);
        if (profiler) profiler->add_run(time);
        show(static_cast<int>(times.size()));
    });
    result->runs = static_cast<int>(times.size());
    if (times.empty()) return;
    result->times = summarise(std::move(times));
    // In consecutive runs the time between them is the tool's own.
    result->runs_per_second =
        1e3 * (options_.frames > 1 ? result->runs / elapsed : 1 / result->times.mean);
    if (profiler) result->profile = profiler->result();
}

void read_counted_parts(graph_t graph, int part_num, Measurement* result)
{
    for (int i = 0; i < part_num; ++i) {
        std::vector<Counter> counters = read_counters(graph, i);
        if (counters.empty()) continue;
        tengine_subgraph part;
        if (tengine_graph_get_subgraph(graph, i, &part) < 0) fail_api("part");
        if (const std::optional<double> ms = simulated_ms(counters))
            result->simulated[part.device] += *ms;
        result->counted.push_back({i, part.device, std::move(counters)});
    }
}

double gflops_of(const Measurement& measurement)
{
    const double operations = 2.0 * static_cast<double>(measurement.macs);
    return measurement.frames > 1 ? operations * measurement.runs_per_second / 1e9
                                  : operations / (measurement.times.median * 1e6);
}

}  // namespace

std::optional<Measurement> measure(const std::string& path, int threads,
                                   const MeasureOptions& options, Progress* progress)
{
    Measurement result;
    result.model = path;
    result.frames = options.frames;
    reset_peak_memory();

    std::unique_ptr<Model> model;
    result.load =
        milliseconds([&] { model = std::make_unique<Model>(path, model_options(options)); });
    const InterruptedRuns interrupted(model->graph());
    model->set_inputs();
    result.prepare = milliseconds([&] { model->prepare(threads); });
    if (was_interrupted()) return std::nullopt;
    result.first_run = milliseconds([&] { model->run(); });

    tengine_graph_stats stats;
    if (tengine_graph_get_stats(model->graph(), &stats) < 0) fail_api(path);
    result.macs = stats.mac_number;
    result.threads = tengine_graph_get_thread_number(model->graph());

    Measuring measuring(model.get(), options, progress);
    measuring.warm_up();
    measuring.measure(&result);
    if (result.runs == 0) return std::nullopt;
    result.peak_memory = peak_memory();
    read_counted_parts(model->graph(), stats.subgraph_number, &result);
    if (result.simulated.empty()) result.gflops = gflops_of(result);
    if (options.report) {
        result.report = make_report(path, options.common.devices, model->graph());
        result.report->is_warm = true;
    }
    return result;
}

}  // namespace tengine::tools
