// SPDX-License-Identifier: Apache-2.0
// The contract is in instance_bench.h.
#include "instance_bench.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <thread>

#include "interrupt.h"
#include "peak_memory.h"
#include "stopwatch.h"
#include "tengine/inspect.h"
#include "terminal.h"
#include "text.h"

namespace tengine::tools {
namespace {

// One instance and all of them run in turns, so that both see the same machine.
constexpr int kMostRounds = 10;

using Instances = std::vector<std::unique_ptr<Model>>;

// Runs of each model on a thread of its own, all from the same moment on.
class Runners
{
  public:
    Runners(const Instances& instances, size_t number, int runs)
    {
        for (size_t i = 0; i < number; ++i)
            threads_.emplace_back([this, model = instances[i].get(), runs] { work(model, runs); });
    }
    ~Runners() { join(); }

    // Milliseconds until the last has ended, for each of the runs of one model. Throws the Failure
    // of one.
    double time(int runs)
    {
        while (ready_ < static_cast<int>(threads_.size()))
            std::this_thread::yield();
        const double total = milliseconds([&] {
            may_start_ = true;
            join();
        });
        if (failure_) std::rethrow_exception(failure_);
        return total / runs;
    }

  private:
    void work(Model* model, int runs)
    {
        ++ready_;
        while (!may_start_)
            std::this_thread::yield();
        try {
            for (int i = 0; i < runs && !was_interrupted(); ++i)
                model->run();
        } catch (...) {
            if (!has_failed_.exchange(true)) failure_ = std::current_exception();
        }
    }

    void join()
    {
        may_start_ = true;
        for (std::thread& thread : threads_)
            if (thread.joinable()) thread.join();
    }

    std::vector<std::thread> threads_;
    std::atomic<int> ready_{0};
    std::atomic<bool> may_start_{false}, has_failed_{false};
    std::exception_ptr failure_;
};

double time_runs(const Instances& instances, size_t number, int runs)
{
    return Runners(instances, number, runs).time(runs);
}

// Prepares the instances, each of which has run once, and measures their memory.
Instances make_instances(const std::string& path, int threads, int number,
                         const MeasureOptions& options, InstanceMeasurement* result)
{
    reset_peak_memory();
    Instances instances;
    instances.push_back(std::make_unique<Model>(path, options.common));
    Model& first = *instances.front();
    first.set_inputs();
    result->prepare = milliseconds([&] { first.prepare(threads); });
    first.run();
    result->memory = peak_memory();
    double total = 0;
    for (int i = 1; i < number && !was_interrupted(); ++i) {
        total += milliseconds([&] { instances.push_back(first.share()); });
        instances.back()->set_inputs();
        total += milliseconds([&] { instances.back()->prepare(threads); });
        instances.back()->run();
    }
    result->prepare_next = total / (number - 1);
    result->memory_next = (peak_memory() - result->memory) / (number - 1);
    return instances;
}

}  // namespace

std::optional<InstanceMeasurement> measure_instances(const std::string& path, int threads,
                                                     int number, const MeasureOptions& options,
                                                     Progress* progress)
{
    InstanceMeasurement result;
    const Instances instances = make_instances(path, threads, number, options, &result);
    for (int i = 0; i < options.warmup && !was_interrupted(); ++i)
        instances.front()->run();
    const int rounds = std::min(options.runs, kMostRounds), runs = options.runs / rounds;
    std::vector<double> alone, together;
    for (int round = 0; round < rounds; ++round) {
        const double one = time_runs(instances, 1, runs);
        const double all = time_runs(instances, instances.size(), runs);
        if (was_interrupted()) break;
        alone.push_back(one);
        together.push_back(all);
        progress->show(round + 1, rounds);
    }
    if (alone.empty()) return std::nullopt;
    result.model = path;
    result.threads = tengine_graph_get_thread_number(instances.front()->graph());
    result.instances = number;
    result.alone = summarise(alone);
    result.together = summarise(together);
    result.scaling = number * result.alone.median / result.together.median;
    return result;
}

void print_instance_measurements(const std::vector<InstanceMeasurement>& measurements)
{
    if (measurements.empty()) return;
    Rows rows = {{"model", ">threads", ">instances", ">prepare ms", ">others ms", ">memory",
                  ">others", ">one ms", ">all ms", ">scaling"}};
    for (const InstanceMeasurement& m : measurements)
        rows.push_back({m.model, std::to_string(m.threads), std::to_string(m.instances),
                        time_text(m.prepare), time_text(m.prepare_next),
                        bytes_text(static_cast<double>(m.memory)),
                        bytes_text(static_cast<double>(m.memory_next)), time_text(m.alone.median),
                        time_text(m.together.median), decimal_text(m.scaling, 2)});
    std::printf("%s", broken_table_text(rows, terminal_style({"model"})).c_str());
}

Json to_json(const std::vector<InstanceMeasurement>& measurements)
{
    Json results = Json::array();
    for (const InstanceMeasurement& m : measurements)
        results.push_back({{"model", m.model},
                           {"threads", m.threads},
                           {"instances", m.instances},
                           {"prepare_ms", m.prepare},
                           {"prepare_other_ms", m.prepare_next},
                           {"peak_memory", m.memory},
                           {"other_memory", m.memory_next},
                           {"alone_ms", m.alone.median},
                           {"together_ms", m.together.median},
                           {"scaling", m.scaling}});
    return results;
}

}  // namespace tengine::tools
