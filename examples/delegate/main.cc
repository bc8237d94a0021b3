// SPDX-License-Identifier: Apache-2.0
// Runs a model with one input on the delegate of elementwise.hpp: delegate_example MODEL.onnx INPUT
// OUTPUT. The files have the elements of the input, whose free dimensions become 1, and of the
// first output, in memory order. Prints the number of the delegate's nodes.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "elementwise.hpp"

static int fail(const char* step, const tengine::delegate::Status& status)
{
    std::fprintf(stderr, "%s: %s\n", step, status.GetErrDescription().c_str());
    return 1;
}

static void print_placement(graph_t graph)
{
    const int number = tengine_graph_get_execution_node_number(graph);
    int ours = 0;
    for (int i = 0; i < number; ++i) {
        tengine_execution_node node;
        if (tengine_graph_get_execution_node(graph, i, &node) == 0)
            ours += std::strcmp(node.device, "ELEMENTWISE") == 0;
    }
    std::printf("%d of %d nodes by ELEMENTWISE\n", ours, number);
}

int main(int number, char** arguments)
{
    if (number != 4) {
        std::fprintf(stderr, "usage: delegate_example MODEL.onnx INPUT OUTPUT\n");
        return 2;
    }
    auto context = std::make_shared<tengine::delegate::Context>();
    context->SetDelegate(std::make_shared<elementwise::Delegate>());
    tengine::delegate::Model model;
    auto status = model.Build(arguments[1], tengine::delegate::kONNX, context);
    if (status.IsError()) return fail("Build", status);

    auto inputs = model.GetInputs();
    std::vector<int64_t> shape = inputs[0].Shape();
    std::replace(shape.begin(), shape.end(), int64_t{-1}, int64_t{1});
    status = model.Resize(inputs, {shape});
    if (status.IsError()) return fail("Resize", status);
    print_placement(model.graph());

    std::ifstream file(arguments[2], std::ios::binary);
    if (!file) {
        std::fprintf(stderr, "%s: cannot be read\n", arguments[2]);
        return 1;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.size() != inputs[0].DataSize()) {
        std::fprintf(stderr, "%s: %zu bytes, expected %zu\n", arguments[2], bytes.size(),
                     inputs[0].DataSize());
        return 1;
    }
    std::copy(bytes.begin(), bytes.end(), static_cast<char*>(inputs[0].MutableData()));

    std::vector<tengine::delegate::MSTensor> outputs;
    status = model.Predict(inputs, &outputs);
    if (status.IsError()) return fail("Predict", status);
    std::ofstream result(arguments[3], std::ios::binary);
    result.write(static_cast<const char*>(outputs[0].MutableData()),
                 static_cast<std::streamsize>(outputs[0].DataSize()));
    if (!result.flush()) {
        std::fprintf(stderr, "%s: not written\n", arguments[3]);
        return 1;
    }
    return 0;
}
