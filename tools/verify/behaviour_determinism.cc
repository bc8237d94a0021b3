// SPDX-License-Identifier: Apache-2.0
// Equal inputs give identical results: in each run, and in another graph.
#include "verify/behaviour.h"

namespace tengine::tools {

Outcome check_determinism(const Target& target, const TypedCase& specimen)
{
    constexpr int kRuns = 20;
    if (is_random(specimen.of)) return skipped("the operator gives random numbers");
    const std::vector<Tensor> inputs = values_of(specimen, 1);
    CaseGraph graph(specimen.of, specimen.data_type, inputs, target);
    graph.prepare();
    const std::vector<Tensor> first = run_once(&graph, inputs);
    for (int run = 2; run <= kRuns; ++run) {
        const std::string found = difference(run_once(&graph, inputs), first);
        if (!found.empty())
            return failed("run " + std::to_string(run) + " on the same inputs: " + found);
    }
    const std::string found = difference(run_alone(target, specimen, inputs), first);
    if (!found.empty()) return failed("another graph on the same inputs: " + found);
    return passed();
}

}  // namespace tengine::tools
