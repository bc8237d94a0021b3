// SPDX-License-Identifier: Apache-2.0
// Micro-benchmarks: one node at sizes of real networks (kernel_case.h) through the public API, with
// one thread and with two. Use --benchmark_filter=Conv to choose.
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernel_case.h"
#include "tengine/c_api.h"

namespace tengine {
namespace {

// Nothing here fails unless the program or the library is wrong.
void require(bool condition, const std::string& what)
{
    if (condition) return;
    std::fprintf(stderr, "kernel_benchmark: %s\n", what.c_str());
    std::exit(1);
}

// Tensor and node of the same name, with the same value in all elements.
tensor_t add_input(graph_t graph, const std::string& name, const std::vector<int>& shape,
                   bool is_constant)
{
    node_t node = create_graph_node(graph, name.c_str(), is_constant ? "Const" : "InputOp");
    tensor_t tensor = create_graph_tensor(graph, name.c_str(), TENGINE_DT_FP32);
    require(node && tensor, name);
    const int role = is_constant ? TENSOR_TYPE_CONST : TENSOR_TYPE_INPUT;
    require(set_node_output_tensor(node, 0, tensor, role) == 0, name);
    require(set_tensor_shape(tensor, shape.data(), static_cast<int>(shape.size())) == 0, name);
    return tensor;
}

void set_attributes(node_t node, const KernelCase& node_case)
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

// A prepared graph of one node, and the buffers its inputs use.
class Network
{
  public:
    Network(const KernelCase& node_case, int thread_num)
        : graph_(create_graph(nullptr, nullptr, nullptr))
    {
        require(graph_ != nullptr, "graph");
        node_t node = create_graph_node(graph_, "node", node_case.op.c_str());
        require(node != nullptr, node_case.op);
        for (size_t i = 0; i < node_case.inputs.size(); ++i) {
            tensor_t input =
                add_input(graph_, "input" + std::to_string(i), node_case.inputs[i], i > 0);
            const int size = get_tensor_buffer_size(input);
            std::vector<float>& data = data_.emplace_back(size / sizeof(float), 0.5f);
            require(set_tensor_buffer(input, data.data(), size) == 0, "input");
            require(set_node_input_tensor(node, static_cast<int>(i), input) == 0, "input");
        }
        tensor_t output = create_graph_tensor(graph_, "node", TENGINE_DT_FP32);
        require(set_node_output_tensor(node, 0, output, TENSOR_TYPE_VAR) == 0, "output");
        set_attributes(node, node_case);
        prepare(thread_num);
    }
    ~Network() { destroy_graph(graph_); }
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    void run() { require(run_graph(graph_, 1) == 0, "run"); }

  private:
    void prepare(int thread_num)
    {
        const char* input = "input0";
        const char* output = "node";
        require(set_graph_input_node(graph_, &input, 1) == 0, "input node");
        require(set_graph_output_node(graph_, &output, 1) == 0, "output node");
        struct options options = {};
        options.num_thread = thread_num;
        require(prerun_graph_multithread(graph_, options) == 0, "prerun");
    }

    graph_t graph_;
    std::vector<std::vector<float>> data_;
};

void measure(benchmark::State& state, const KernelCase& node_case)
{
    Network network(node_case, static_cast<int>(state.range(0)));
    for (auto _ : state)
        network.run();
}

}  // namespace
}  // namespace tengine

int main(int argc, char** argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    tengine::require(init_tengine() == 0, "init");
    for (const tengine::KernelCase& node_case : tengine::list_kernel_cases()) {
        if (!node_case.is_benchmark) continue;
        benchmark::RegisterBenchmark(
            node_case.name().c_str(),
            [node_case](benchmark::State& state) { tengine::measure(state, node_case); })
            ->ArgName("threads")
            ->Arg(1)
            ->Arg(2)
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
    }
    benchmark::RunSpecifiedBenchmarks();
    release_tengine();
    return 0;
}
