// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any string as affinities of nodes, a line each: "<nodes>=<devices>", for a small
// graph that is then prepared.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "fuzz/refusal.h"
#include "tengine/c_api.h"
#include "tengine/inspect.h"

namespace {

// x → Relu first → Exp second.
graph_t make_graph()
{
    graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const char* names[] = {"x", "first", "second"};
    const char* operators[] = {"InputOp", "Relu", "Exp"};
    const int dims[] = {2, 3};
    tensor_t last = nullptr;
    for (int i = 0; i < 3; ++i) {
        node_t node = create_graph_node(graph, names[i], operators[i]);
        tensor_t tensor = create_graph_tensor(graph, names[i], TENGINE_DT_FP32);
        bool is_made = set_node_output_tensor(node, 0, tensor,
                                              i == 0 ? TENSOR_TYPE_INPUT : TENSOR_TYPE_VAR) == 0;
        if (i == 0) is_made = is_made && set_tensor_shape(tensor, dims, 2) == 0;
        if (i > 0) is_made = is_made && set_node_input_tensor(node, 0, last) == 0;
        if (!is_made) std::abort();
        last = tensor;
    }
    if (set_graph_input_node(graph, names, 1) != 0 ||
        set_graph_output_node(graph, names + 2, 1) != 0)
        std::abort();
    return graph;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***)
{
    set_log_level(LOG_EMERG);
    return init_tengine();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    graph_t graph = make_graph();
    std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
    bool is_set = true;
    for (std::string line; is_set && std::getline(lines, line);) {
        const size_t end = line.find('=');
        const std::string devices = end == std::string::npos ? "" : line.substr(end + 1);
        is_set =
            tengine_graph_set_affinity(graph, line.substr(0, end).c_str(), devices.c_str()) == 0;
    }
    tengine::test::note_input(is_set && prerun_graph(graph) == 0);
    destroy_graph(graph);
    return 0;
}
