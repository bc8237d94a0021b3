// SPDX-License-Identifier: Apache-2.0
// A device's duties besides correct values: checks of its behaviour in a program, each in a file
// behaviour_<check>.cc. They need no bounds: a device is compared with itself.
#pragma once

#include <string>
#include <vector>

#include "cases/case.h"
#include "verify/finding.h"
#include "verify/graph_of_case.h"
#include "verify/manifest.h"
#include "verify/target.h"

namespace tengine::tools {

// The outcome of a check of a specimen.
struct Outcome
{
    Verdict verdict = Verdict::kPassed;
    std::string detail;
};

Outcome passed(const std::string& detail = "");
Outcome failed(const std::string& detail);
Outcome skipped(const std::string& reason);

using Check = Outcome (*)(const Target&, const TypedCase&);

// The checks. Each may throw Failure, which is then its finding.
//
// A preparation for other shapes, and for the first again, gives the results of a new graph.
Outcome check_reshape(const Target& target, const TypedCase& specimen);
// Runs in flight (scheduler "pipeline", run_graph with block 0) give the results of single runs.
Outcome check_async(const Target& target, const TypedCase& specimen);
// Calls in a wrong order are refused, and later calls work.
Outcome check_misuse(const Target& target, const TypedCase& specimen);
// Memory after many preparations and runs is as large as after a few.
Outcome check_memory(const Target& target, const TypedCase& specimen);
// A run allocates no memory.
Outcome check_allocation(const Target& target, const TypedCase& specimen);
// Equal inputs give identical results, in later runs and in another graph.
Outcome check_determinism(const Target& target, const TypedCase& specimen);
// Any number of threads gives identical results.
Outcome check_threads(const Target& target, const TypedCase& specimen);
// Graphs that several threads prepare and run at the same time give the results that they give
// alone.
Outcome check_races(const Target& target, const TypedCase& specimen);

// All checks, on one case for each operator and type of those that the device takes, and the
// device's reasons on cases that it does not take: refusals have a reason, and after one the CPU
// gives a result. `cases`: all of which the report has a claim.
void check_behaviour(const Target& target, const std::vector<TypedCase>& taken,
                     Verification* report, const ShowProgress& show);
void check_faults(const Target& target, const std::vector<TypedCase>& cases, Verification* report,
                  const ShowProgress& show);

// ---- for the checks ----

Finding finding_of(const std::string& check, const TypedCase& specimen, const Outcome& outcome);

std::vector<Tensor> values_of(const TypedCase& specimen, uint64_t seed);

// The target with one more option, KEY=VALUE.
Target with_option(const Target& target, const std::string& option);

// The results of a new graph in these shapes. Throws Failure, also when the device does not run it.
std::vector<Tensor> run_alone(const Target& target, const TypedCase& specimen,
                              const std::vector<Tensor>& inputs);

// Sets the inputs and runs. Throws Failure, also when the CPU did the device's run.
std::vector<Tensor> run_once(CaseGraph* graph, const std::vector<Tensor>& inputs);

// The difference of results in bytes, "" if there is none: "output 0 differs in 3 of 100 elements,
// the first of them is 1.25 instead of 1 at [0,5]".
std::string difference(const std::vector<Tensor>& results, const std::vector<Tensor>& expected);

// Whether the operator gives random numbers, which differ in each run; and whether the shapes of
// all results are known before a run.
bool is_random(const Case& of);

}  // namespace tengine::tools
