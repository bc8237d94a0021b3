// SPDX-License-Identifier: Apache-2.0
// Threads inside the device, and threads of the program that use it at the same time.
#include <atomic>
#include <thread>

#include "tensor_file/failure.h"
#include "verify/behaviour.h"

namespace tengine::tools {

Outcome check_threads(const Target& target, const TypedCase& specimen)
{
    if (is_random(specimen.of)) return skipped("the operator gives random numbers");
    const std::vector<Tensor> inputs = values_of(specimen, 1);
    Target other = target;
    other.threads = 1;
    const std::vector<Tensor> expected = run_alone(other, specimen, inputs);
    for (const int threads : {2, 4}) {
        other.threads = threads;
        const std::string found = difference(run_alone(other, specimen, inputs), expected);
        if (!found.empty())
            return failed(std::to_string(threads) + " threads instead of one: " + found);
    }
    return passed();
}

namespace {

constexpr int kThreads = 3;
constexpr int kGraphs = 3;  // for a thread, one after the other
constexpr int kRuns = 10;   // for a graph

// Prepares and runs graphs until one fails, or another thread's has failed; "" if none does.
std::string work(const Target& target, const TypedCase& specimen, const std::vector<Tensor>& inputs,
                 const std::vector<Tensor>& expected, std::atomic<bool>* is_over)
{
    for (int i = 0; i < kGraphs; ++i) {
        CaseGraph graph(specimen.of, specimen.data_type, inputs, target);
        graph.prepare();
        for (int run = 1; run <= kRuns && !*is_over; ++run) {
            const std::string found = difference(run_once(&graph, inputs), expected);
            if (found.empty()) continue;
            *is_over = true;
            return "run " + std::to_string(run) + " beside " + std::to_string(kThreads - 1) +
                   " other graphs: " + found;
        }
    }
    return "";
}

}  // namespace

Outcome check_races(const Target& target, const TypedCase& specimen)
{
    if (is_random(specimen.of)) return skipped("the operator gives random numbers");
    std::vector<std::vector<Tensor>> inputs, expected;
    for (uint64_t seed = 1; seed <= kThreads; ++seed) {
        inputs.push_back(values_of(specimen, seed));
        expected.push_back(run_alone(target, specimen, inputs.back()));
    }
    std::atomic<bool> is_over{false};
    std::vector<std::string> found(kThreads);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i] {
            try {
                found[i] = work(target, specimen, inputs[i], expected[i], &is_over);
            } catch (const std::exception& failure) {
                is_over = true;
                found[i] = failure.what();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const std::string& text : found)
        if (!text.empty()) return failed(text);
    return passed();
}

}  // namespace tengine::tools
