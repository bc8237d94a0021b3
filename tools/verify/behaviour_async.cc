// SPDX-License-Identifier: Apache-2.0
// Runs in flight: the scheduler "pipeline" calls the device's async_run and async_wait if it has
// them, with the values of several runs in memory at the same time.
#include "model.h"
#include "verify/behaviour.h"

namespace tengine::tools {
namespace {

constexpr int kFrames = 3;
constexpr int kRuns = 12;
constexpr int kSets = 4;  // sets of inputs

using Results = std::vector<std::vector<Tensor>>;

Results make_sets(const TypedCase& specimen)
{
    Results sets;
    for (int i = 0; i < kSets; ++i) {
        sets.push_back(values_of(specimen, static_cast<uint64_t>(i) + 1));
        // The results of the first set are the graph's.
        for (size_t k = 0; k < sets[0].size(); ++k)
            if (specimen.of.inputs[k].is_constant) sets.back()[k] = sets[0][k];
    }
    return sets;
}

const std::vector<Tensor>& set_of(const Results& sets, int run)
{
    return sets[static_cast<size_t>(run % kSets)];
}

}  // namespace

Outcome check_async(const Target& target, const TypedCase& specimen)
{
    if (is_random(specimen.of)) return skipped("the operator gives random numbers");
    const Results sets = make_sets(specimen);
    Results expected;
    CaseGraph plain(specimen.of, specimen.data_type, sets[0], target);
    plain.prepare();
    for (const std::vector<Tensor>& inputs : sets)
        expected.push_back(run_once(&plain, inputs));

    const Target pipelined = with_option(with_option(target, "scheduler=pipeline"),
                                         "pipeline.frames=" + std::to_string(kFrames));
    CaseGraph graph(specimen.of, specimen.data_type, sets[0], pipelined);
    graph.prepare();
    int waited = 0;
    for (int started = 0; waited < kRuns;) {
        if (started < kRuns && started - waited < kFrames) {
            graph.feed(set_of(sets, started++));
            if (run_graph(graph.graph(), 0) < 0) fail_api("run_graph without waiting");
            continue;
        }
        if (wait_graph(graph.graph(), 0) < 0) fail_api("wait_graph");
        const std::string found = difference(graph.outputs(), set_of(expected, waited++));
        if (!found.empty())
            return failed("run " + std::to_string(waited) + " of those in flight: " + found);
    }
    if (graph.redo_number() > 0) return failed("the device failed to run, and the CPU did it");
    return passed();
}

}  // namespace tengine::tools
