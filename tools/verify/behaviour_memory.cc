// SPDX-License-Identifier: Apache-2.0
// Memory over the life of a graph: no preparation loses memory, and runs allocate none.
#include "model.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "text.h"
#include "verify/allocation.h"
#include "verify/behaviour.h"

namespace tengine::tools {
namespace {

constexpr int kCycles = 20;  // between two measurements
// A leak grows in all of these; a heap that other threads use, or that reaches its size, in some.
constexpr int kRounds = 8;

struct Memory
{
    int64_t told = 0;  // by the graph
    int64_t heap = 0;
    int64_t resident = 0;
};

int64_t told_bytes(graph_t graph)
{
    tengine_graph_memory memory = {};
    if (get_graph_memory(graph, &memory, sizeof memory) < 0) fail_api("get_graph_memory");
    return memory.total_bytes;
}

// Preparations and runs of one graph, and of graphs that are destroyed.
void cycle(const Target& target, const TypedCase& specimen, const std::vector<Tensor>& inputs,
           CaseGraph* graph, int64_t* told)
{
    for (int i = 0; i < kCycles; ++i) {
        graph->prepare();
        run_once(graph, inputs);
        *told = told_bytes(graph->graph());
        if (postrun_graph(graph->graph()) < 0) fail_api("postrun_graph");
    }
    for (int i = 0; i < kCycles; ++i)
        run_alone(target, specimen, inputs);
}

std::string growth_text(const char* what, int64_t from, int64_t to)
{
    return std::string(what) + " grew from " + bytes_text(static_cast<double>(from)) + " to " +
           bytes_text(static_cast<double>(to)) + " in " + std::to_string(kRounds * kCycles) +
           " preparations and runs of a graph and as many of new ones";
}

// The figures that have grown in every round so far.
struct Growth
{
    bool told = true;
    bool heap = true;
    bool resident = true;

    void look(const Memory& before, const Memory& after)
    {
        // One byte in each cycle may be no leak: blocks of threads that ended, for example.
        constexpr int64_t kLeastHeap = kCycles * 32, kLeastResident = 512 << 10;
        told = told && after.told > before.told;
        heap = heap && after.heap - before.heap > kLeastHeap;
        resident = resident && after.resident - before.resident > kLeastResident;
    }
    bool any() const { return told || heap || resident; }
};

}  // namespace

Outcome check_memory(const Target& target, const TypedCase& specimen)
{
    const std::vector<Tensor> inputs = values_of(specimen, 1);
    const Target each_anew = with_option(target, "run.shape_cache=0");
    CaseGraph graph(specimen.of, specimen.data_type, inputs, each_anew);
    const auto measure = [&] {
        Memory memory;
        cycle(each_anew, specimen, inputs, &graph, &memory.told);
        memory.heap = heap_bytes();
        memory.resident = resident_bytes();
        return memory;
    };
    // Memory taken once, by the first graph or the first run, is not lost.
    const Memory first = measure();
    Memory last = first;
    Growth growth;
    for (int round = 0; round < kRounds && growth.any(); ++round) {
        const Memory before = last;
        last = measure();
        growth.look(before, last);
    }
    if (growth.told)
        return failed(growth_text("the memory that the graph reports", first.told, last.told));
    if (growth.heap) return failed(growth_text("the heap", first.heap, last.heap));
    if (growth.resident) return failed(growth_text("the process", first.resident, last.resident));
    return passed();
}

namespace {

// The shapes of all results are known before the first run.
bool has_known_shapes(graph_t graph)
{
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i) {
        tengine_execution_tensor output = {};
        if (tengine_graph_get_execution_output(graph, i, &output) < 0) fail_api("output");
        if (output.dim_number < 0) return false;
        for (int axis = 0; axis < output.dim_number; ++axis)
            if (output.dims[axis] < 0) return false;
    }
    return true;
}

}  // namespace

Outcome check_allocation(const Target& target, const TypedCase& specimen)
{
    constexpr int kRuns = 5;
    if (!can_count_allocations()) return skipped("this build cannot count allocations");
    const std::vector<Tensor> inputs = values_of(specimen, 1);
    CaseGraph graph(specimen.of, specimen.data_type, inputs, target);
    graph.prepare();
    if (!has_known_shapes(graph.graph())) return skipped("the shape of a result depends on data");
    // The first run may make the memory of threads.
    run_once(&graph, inputs);
    const int64_t before = count_allocations();
    for (int run = 0; run < kRuns; ++run)
        graph.run();
    const int64_t taken = count_allocations() - before;
    if (taken == 0) return passed();
    return failed("run_graph takes memory from the heap " + std::to_string(taken) + " times in " +
                  std::to_string(kRuns) + " runs");
}

}  // namespace tengine::tools
