// SPDX-License-Identifier: Apache-2.0
// Micro-benchmarks: one node at sizes of real networks (tools/cases/network.cc) through the public
// API, with one thread and with two, and for comparison the libraries of peers.h with one.
// Multiply-adds are also counted in GFLOP/s and in per cent of the cores' peak (peak.h).
// --benchmark_filter=Conv selects cases.
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "benchmark/peak.h"
#include "peers.h"
#include "tengine/c_api.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

// A failure means that the program or the library is wrong.
void require(bool condition, const std::string& what)
{
    if (condition) return;
    std::fprintf(stderr, "kernel_benchmark: %s\n", what.c_str());
    std::exit(1);
}

// Adds a tensor and a node of the same name.
tensor_t add_input(graph_t graph, const std::string& name, const std::vector<int>& shape,
                   bool is_constant, int data_type)
{
    node_t node = create_graph_node(graph, name.c_str(), is_constant ? "Const" : "InputOp");
    tensor_t tensor = create_graph_tensor(graph, name.c_str(), data_type);
    require(node && tensor, name);
    const int role = is_constant ? TENSOR_TYPE_CONST : TENSOR_TYPE_INPUT;
    require(set_node_output_tensor(node, 0, tensor, role) == 0, name);
    require(set_tensor_shape(tensor, shape.data(), static_cast<int>(shape.size())) == 0, name);
    return tensor;
}

void set_attributes(node_t node, const tools::Case& node_case)
{
    for (const auto& [name, values] : node_case.lists)
        require(set_node_attr_generic(node, name.c_str(), "int64[]", values.data(),
                                      static_cast<int>(values.size() * sizeof(int64_t))) == 0,
                name);
    for (const auto& [name, value] : node_case.ints)
        require(set_node_attr_int(node, name.c_str(), &value) == 0, name);
    for (const auto& [name, value] : node_case.floats)
        require(set_node_attr_float(node, name.c_str(), &value) == 0, name);
}

context_t create_profiling_context()
{
    context_t context = create_context("kernel_benchmark", 0);
    require(context && tengine_context_set_option(context, "run.profile", "1") == 0, "run.profile");
    return context;
}

// Adds a pooling over single elements, whose output equals its input.
node_t add_identity(graph_t graph, const char* name)
{
    node_t node = create_graph_node(graph, name, "MaxPool");
    tensor_t output = create_graph_tensor(graph, name, TENGINE_DT_FP32);
    require(node && output && set_node_output_tensor(node, 0, output, TENSOR_TYPE_VAR) == 0, name);
    const int64_t window[] = {1, 1};
    require(set_node_attr_generic(node, "kernel_shape", "int64[]", window, sizeof window) == 0,
            name);
    return node;
}

// A prepared graph of one node, and the buffers of its inputs. A convolution is between two
// poolings, which convert its input and result from and to the layout of the graph.
class Network
{
  public:
    Network(const tools::Case& node_case, int thread_num)
        : context_(create_profiling_context()), graph_(create_graph(context_, nullptr, nullptr))
    {
        require(graph_ != nullptr, "graph");
        node_t node = create_graph_node(graph_, "node", node_case.op.c_str());
        require(node != nullptr, node_case.op);
        const bool is_inside = node_case.op.compare(0, 4, "Conv") == 0;
        for (size_t i = 0; i < node_case.inputs.size(); ++i) {
            tensor_t input = add_operand(static_cast<int>(i), node_case.inputs[i]);
            if (i == 0 && is_inside) {
                node_t before = add_identity(graph_, "before");
                require(set_node_input_tensor(before, 0, input) == 0, "before");
                input = get_graph_tensor(graph_, "before");
            }
            require(set_node_input_tensor(node, static_cast<int>(i), input) == 0, "input");
        }
        tensor_t output = create_graph_tensor(graph_, "node", TENGINE_DT_FP32);
        require(set_node_output_tensor(node, 0, output, TENSOR_TYPE_VAR) == 0, "output");
        set_attributes(node, node_case);
        if (is_inside)
            require(set_node_input_tensor(add_identity(graph_, "after"), 0, output) == 0, "after");
        prepare(is_inside ? "after" : "node", thread_num);
    }
    ~Network()
    {
        destroy_graph(graph_);
        destroy_context(context_);
    }
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    // Returns the seconds that the node took.
    double run()
    {
        require(run_graph(graph_, 1) == 0, "run");
        double seconds = 0;
        const int number = tengine_graph_get_execution_node_number(graph_);
        for (int i = 0; i < number; ++i) {
            tengine_execution_node node;
            require(tengine_graph_get_execution_node(graph_, i, &node) == 0, "node");
            if (std::strcmp(node.name, "node") == 0) seconds += node.measured_ms * 1e-3;
        }
        return seconds;
    }

    // Returns the multiply-adds of a run.
    int64_t macs() const
    {
        tengine_graph_stats stats;
        require(tengine_graph_get_stats(graph_, &stats) == 0, "stats");
        return stats.mac_number;
    }

  private:
    // Integers have the values that the case states; floats are 0.5, as the exponents are.
    tensor_t add_operand(int index, const tools::Operand& operand)
    {
        const std::string name = "input" + std::to_string(index);
        const bool is_list = operand.data_type == TENGINE_DT_INT64;
        tensor_t input = add_input(graph_, name, operand.dims, operand.is_constant,
                                   is_list ? TENGINE_DT_INT64 : TENGINE_DT_FP32);
        const int size = get_tensor_buffer_size(input);
        void* values = nullptr;
        if (is_list) {
            lists_.emplace_back(operand.values.begin(), operand.values.end());
            values = lists_.back().data();
        } else {
            values_.emplace_back(static_cast<size_t>(size) / sizeof(float), 0.5f);
            values = values_.back().data();
        }
        require(set_tensor_buffer(input, values, size) == 0, name);
        return input;
    }
    void prepare(const char* output, int thread_num)
    {
        const char* input = "input0";
        require(set_graph_input_node(graph_, &input, 1) == 0, "input node");
        require(set_graph_output_node(graph_, &output, 1) == 0, "output node");
        struct options options = {};
        options.num_thread = thread_num;
        require(prerun_graph_multithread(graph_, options) == 0, "prerun");
    }

    context_t context_;
    graph_t graph_;
    std::vector<std::vector<float>> values_;
    std::vector<std::vector<int64_t>> lists_;
};

#ifdef TENGINE_HAVE_HIGHWAY
double peak_gflops()
{
    static const double peak = machine::measure_peak_gflops();
    return peak;
}
#else
double peak_gflops()
{
    return 0;
}
#endif

// `run` returns the seconds that it took.
template <class Run>
void measure(benchmark::State& state, int64_t macs, const Run& run)
{
    double seconds = 0;
    for (auto _ : state) {
        const double taken = run();
        state.SetIterationTime(taken);
        seconds += taken;
    }
    if (macs == 0) return;
    const double gflops =
        2e-9 * static_cast<double>(macs) * static_cast<double>(state.iterations()) / seconds;
    state.counters["GFLOP/s"] = gflops;
    if (peak_gflops() > 0)
        state.counters["% of peak"] =
            100 * gflops / (peak_gflops() * static_cast<double>(state.range(0)));
}

void measure_ours(benchmark::State& state, const tools::Case& node_case)
{
    Network network(node_case, static_cast<int>(state.range(0)));
    measure(state, network.macs(), [&] { return network.run(); });
}

void measure_peer(benchmark::State& state, const tools::Case& node_case, size_t index)
{
    const auto run = find_peers(node_case)[index].prepare();
    measure(state, Network(node_case, 1).macs(), [&] {
        const double start = machine::now_ns();
        run();
        return (machine::now_ns() - start) * 1e-9;
    });
}

template <class Measure>
benchmark::internal::Benchmark* add(const std::string& name, const Measure& function)
{
    return benchmark::RegisterBenchmark(name.c_str(), function)
        ->ArgName("threads")
        ->Arg(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

void add_case(const tools::Case& node_case)
{
    add(node_case.name(), [node_case](benchmark::State& state) {
        measure_ours(state, node_case);
    })->Arg(2);
    const std::vector<Peer> peers = find_peers(node_case);
    for (size_t i = 0; i < peers.size(); ++i)
        add(node_case.name() + " " + peers[i].library,
            [node_case, i](benchmark::State& state) { measure_peer(state, node_case, i); });
}

}  // namespace
}  // namespace tengine

int main(int argc, char** argv)
{
    tengine::keep_peers_single_threaded();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    tengine::require(init_tengine() == 0, "init");
    for (const tengine::tools::Case& node_case : tengine::tools::list_network_cases())
        tengine::add_case(node_case);
    for (const tengine::tools::Case& node_case : tengine::tools::list_measured_cases())
        tengine::add_case(node_case);
    benchmark::RunSpecifiedBenchmarks();
    release_tengine();
    return 0;
}
