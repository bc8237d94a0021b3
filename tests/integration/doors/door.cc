// SPDX-License-Identifier: Apache-2.0
#include "door.h"

#include <filesystem>

#include "onnx_graph.h"

namespace tengine {

using namespace onnx;

std::vector<Door> list_doors()
{
    const std::string vendors = TENGINE_TEST_PLUGIN_DIR "/compiler_plugin/";
    const std::string plugins = TENGINE_PLUGIN_DIR "/";
    const std::vector<Door> all = {
        {"CPU", {}},
        {"today", {TENGINE_TEST_PLUGIN_DIR "/plugin/version/versioned_today.so"}},
        {"ACME", {vendors + "acme_compiler.so", vendors + "acme_dispatch.so"}},
        {"EXAMPLE", {vendors + "litert_compiler.so", vendors + "litert_dispatch.so"}},
        {"ELEMENTWISE", {plugins + "elementwise_delegate.so"}},
        {"TPU_PLUGIN", {plugins + "tpu_compiler.so", plugins + "tpu_dispatch.so"}}};
    std::vector<Door> present;
    for (const Door& door : all) {
        bool is_present = true;
        for (const std::string& plugin : door.plugins)
            is_present = is_present && std::filesystem::exists(plugin);
        if (is_present) present.push_back(door);
    }
    return present;
}

std::string make_ten_nodes()
{
    Names nodes;
    std::string last = "x";
    for (const std::string round : {"a", "b"}) {
        const Names values = {last,        round + "0", round + "1",
                              round + "2", round + "3", round == "b" ? "y" : "b_"};
        nodes.push_back(node("Mul", {values[0], "f"}, {values[1]}));
        nodes.push_back(node("Add", {values[1], "f"}, {values[2]}));
        nodes.push_back(node("Relu", {values[2]}, {values[3]}));
        nodes.push_back(node("Abs", {values[3]}, {values[4]}));
        nodes.push_back(node("Tanh", {values[4]}, {values[5]}));
        last = values[5];
    }
    const std::vector<float> factor = {1, 2, 3, 4, 5, 6, 7, 8};
    const std::string contents =
        graph(nodes, {value("x", kFloat, {1, 8})}, {value("y", kFloat, {1, 8})},
              {constant<float>("f", kFloat, {1, 8}, factor)});
    const std::string opset = Message().bytes(1, "").number(2, 16).text();
    return Message().number(1, 8).bytes(8, opset).bytes(7, contents).text();
}

}  // namespace tengine
