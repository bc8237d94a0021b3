// SPDX-License-Identifier: Apache-2.0
#include "calibration_fixture.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace tengine {

std::string read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string bytes_of(graph_t graph)
{
    const std::string path =
        testing::TempDir() + "calibration_test_" + std::to_string(getpid()) + ".onnx";
    EXPECT_NE(graph, nullptr) << get_tengine_error();
    EXPECT_EQ(save_graph(graph, "onnx", path.c_str()), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    const std::string bytes = read_file(path);
    std::remove(path.c_str());
    return bytes;
}

graph_t create_conv_graph()
{
    graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const float weight = 2, bias = 1;
    const tensor_t x = add_input(graph, "x", {1, 1, 1, 4});
    const tensor_t w = add_constant(graph, "w", {1, 1, 1, 1}, &weight);
    const tensor_t b = add_constant(graph, "b", {1}, &bias);
    const tensor_t c = add_node(graph, "c", "Conv", {x, w, b});
    add_node(graph, "y", "Relu", {c});
    EXPECT_TRUE(set_borders(graph, {"x"}, {"y"}));
    return graph;
}

}  // namespace tengine
