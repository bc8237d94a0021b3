// SPDX-License-Identifier: Apache-2.0
// The contract is in shape_bench.h.
#include "shape_bench.h"

#include <cstdio>

#include "interrupt.h"
#include "stopwatch.h"
#include "tengine/inspect.h"
#include "terminal.h"
#include "text.h"

namespace tengine::tools {
namespace {

// All shapes stay prepared, unless the user's options prevent that.
ModelOptions model_options(const MeasureOptions& options, size_t shape_num)
{
    ModelOptions common = options.common;
    common.options.insert(common.options.begin(),
                          "run.shape_cache=" + std::to_string(shape_num - 1));
    return common;
}

// The times of one shape in each round.
struct Times
{
    std::vector<double> prepare;
    std::vector<double> run;
};

class ShapeMeasuring
{
  public:
    ShapeMeasuring(Model* model, int threads, const std::vector<std::string>& shapes)
        : model_(model), threads_(threads), shapes_(shapes), times_(shapes.size())
    {
    }

    // False: Ctrl-C was pressed.
    bool run_round()
    {
        for (size_t i = 0; i < shapes_.size(); ++i) {
            model_->set_shape(shapes_[i]);
            times_[i].prepare.push_back(milliseconds([&] { model_->prepare(threads_); }));
            if (was_interrupted()) return false;
            times_[i].run.push_back(milliseconds([&] { model_->run(); }));
        }
        ++rounds_;
        return !was_interrupted();
    }

    int rounds() const { return rounds_; }

    // The times of whole rounds; the first one had new shapes and cold runs.
    std::vector<ShapeTimes> result() const
    {
        std::vector<ShapeTimes> list;
        for (size_t i = 0; i < shapes_.size(); ++i) {
            const auto behind_first = [this](const std::vector<double>& times) {
                return summarise({times.begin() + 1, times.begin() + rounds_});
            };
            list.push_back({shapes_[i], times_[i].prepare[0], behind_first(times_[i].prepare),
                            behind_first(times_[i].run)});
        }
        return list;
    }

  private:
    Model* model_;
    const int threads_;
    const std::vector<std::string>& shapes_;
    std::vector<Times> times_;
    int rounds_ = 0;
};

Json shape_json(const ShapeTimes& times)
{
    return {{"shape", times.shape},           {"prepare_ms", times.prepare},
            {"known_ms", times.known.median}, {"min_ms", times.run.min},
            {"median_ms", times.run.median},  {"mean_ms", times.run.mean}};
}

}  // namespace

std::optional<ShapeMeasurement> measure_shapes(const std::string& path, int threads,
                                               const std::vector<std::string>& shapes,
                                               const MeasureOptions& options, Progress* progress)
{
    Model model(path, model_options(options, shapes.size()));
    const InterruptedRuns interrupted(model.graph());
    ShapeMeasuring measuring(&model, threads, shapes);
    until_interrupted([&] {
        while (measuring.rounds() <= options.runs && measuring.run_round())
            progress->show(measuring.rounds(), options.runs + 1);
    });
    if (measuring.rounds() < 2) return std::nullopt;
    return ShapeMeasurement{path, tengine_graph_get_thread_number(model.graph()),
                            measuring.rounds() - 1, measuring.result()};
}

void print_shape_measurements(const std::vector<ShapeMeasurement>& measurements)
{
    if (measurements.empty()) return;
    Rows rows = {{"model", ">threads", "shape", ">first ms", ">new ms", ">known ms", ">rounds",
                  ">min ms", ">median ms"}};
    for (const ShapeMeasurement& m : measurements) {
        for (const ShapeTimes& times : m.shapes) {
            const bool is_first = &times == &m.shapes.front();
            rows.push_back({m.model, std::to_string(m.threads), times.shape,
                            is_first ? time_text(times.prepare) : "",
                            is_first ? "" : time_text(times.prepare), time_text(times.known.median),
                            std::to_string(m.rounds), time_text(times.run.min),
                            time_text(times.run.median)});
        }
    }
    std::printf("%s", broken_table_text(rows, terminal_style({"model"})).c_str());
}

Json to_json(const std::vector<ShapeMeasurement>& measurements)
{
    Json results = Json::array();
    for (const ShapeMeasurement& m : measurements) {
        Json shapes = Json::array();
        for (const ShapeTimes& times : m.shapes)
            shapes.push_back(shape_json(times));
        results.push_back(
            {{"model", m.model}, {"threads", m.threads}, {"rounds", m.rounds}, {"shapes", shapes}});
    }
    return results;
}

}  // namespace tengine::tools
