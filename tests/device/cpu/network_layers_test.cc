// SPDX-License-Identifier: Apache-2.0
// The layers of ten networks and the kernels that compute them: another choice is a change that
// users see. network_layers.txt has a line for each layer: the first network with it, the operator,
// the shapes of its inputs, its attributes; then the kernel for fp32, fp16, bf16 and int8, if the
// operator has such a type. Those after a slash are chosen on processors with instructions for
// products of bf16 (AVX512-BF16, BFMMLA) and of int8 (VNNI, the dot product). With
// TENGINE_WRITE_TABLE=1 the kernels of this build are written to the file.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>

#include "device/cpu/byte_node.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_list.h"
#include "device/cpu/kernel_runner.h"
#include "device/cpu/runnable.h"
#include "support/written_table.h"

namespace tengine::cpu {
namespace {

const char* const kFile = TENGINE_SOURCE_DIR "/tests/device/cpu/network_layers.txt";

struct Layer
{
    std::string text;  // "resnet50: Conv 1x3x224x224 64x3x7x7 64 strides=2,2 pads=3,3,3,3"
    std::vector<std::string> kernels;
};

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

template <class T>
std::vector<T> read_numbers(const std::string& text, char separator)
{
    std::vector<T> numbers;
    for (const std::string& part : split(text, separator))
        numbers.push_back(static_cast<T>(std::stoll(part)));
    return numbers;
}

// Both operands of Add are computed; weights and biases are constants.
Case read_case(const std::string& layer)
{
    const std::vector<std::string> words = split(layer, ' ');
    Case made;
    made.op = words[1];
    for (size_t i = 2; i < words.size(); ++i) {
        const size_t place = words[i].find('=');
        if (place == std::string::npos) {
            const std::vector<int> dims = read_numbers<int>(words[i], 'x');
            const bool is_fed = made.inputs.empty() || made.op == "Add";
            made.inputs.push_back(is_fed ? tools::fed(dims) : tools::constant(dims));
            continue;
        }
        const std::string name = words[i].substr(0, place), value = words[i].substr(place + 1);
        if (name == "group" || name == "ceil_mode")
            made.ints.push_back({name, std::stoi(value)});
        else
            made.lists.push_back({name, read_numbers<int64_t>(value, ',')});
    }
    return made;
}

std::vector<Layer> read_layers()
{
    std::vector<Layer> layers;
    std::ifstream stream(kFile);
    for (std::string line; std::getline(stream, line);) {
        const size_t place = std::min(line.find(" | "), line.size());
        layers.push_back({line.substr(0, place), split(line.substr(place), ' ')});
        if (!layers.back().kernels.empty())
            layers.back().kernels.erase(layers.back().kernels.begin());  // the bar
    }
    return layers;
}

void write_layers(const std::vector<Layer>& layers)
{
    std::ofstream stream(kFile);
    for (const Layer& layer : layers) {
        stream << layer.text << " |";
        for (const std::string& kernel : layer.kernels)
            stream << ' ' << kernel;
        stream << '\n';
    }
}

// As on a processor with nothing except vectors, and with special instructions for `kernel`.
template <class Choose>
std::string choose(const char* kernel, const Choose& choose_with)
{
    const std::string plain = choose_with(0);
    std::string chosen = plain;
    for (const SpecialInstructions& special : list_special_instructions()) {
        const bool is_for_fp16 = std::strcmp(special.word, "fhm") == 0;
        if (!special.is_compiled || is_for_fp16 || std::strcmp(special.kernel, kernel) != 0)
            continue;
        const std::string other = choose_with(special.feature);
        if (other != plain) chosen = plain + "/" + other;
    }
    return chosen;
}

// After a convolution, whose results are NHWC.
std::string pick(const node& node, uint64_t features)
{
    const ForcedFeatures forced(features);
    KernelList kernels;
    EXPECT_EQ(kernels.fill(), TENGINE_OK) << tengine_error_message();
    const Kernel* kernel = kernels.pick(node, Layout::kChannelsLast);
    return (kernel ? kernel : kernels.pick_usual(node))->name;
}

std::string choose_float(const Case& layer, int data_type)
{
    const KernelRunner runner(layer, data_type);
    const char* kernel = data_type == TENGINE_DT_BF16 ? "conv.f16.nhwc" : "";
    return choose(kernel, [&](uint64_t features) { return pick(runner.get(), features); });
}

// Makes the layer's integer operator, with a scale for each tensor; no node if there is none.
void make_int8_node(const Case& layer, test::ByteNode* node)
{
    const auto add = [&](const char* name, const std::vector<int>& shape) {
        node->bytes(name, shape, TENGINE_DT_INT8);
        node->bytes(std::string(name) + "_zero", {}, TENGINE_DT_INT8);
        *node->find(std::string(name) + "_zero")->i8 = 0;
        node->floats(std::string(name) + "_scale", {}, {0.02f});
    };
    add("x", layer.inputs[0].dims);
    node->find("x")->tensor_type = TENSOR_TYPE_VAR;
    if (layer.inputs.size() > 1) add("w", layer.inputs[1].dims);
    add("y", {});
    if (layer.op == "Conv") {
        const int filters = layer.inputs[1].dims[0];
        node->builder().constant("bias", {filters},
                                 std::vector<int32_t>(static_cast<size_t>(filters)),
                                 TENGINE_DT_INT32);
        node->make("QLinearConv", {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale",
                                   "y_zero", "bias"});
    } else if (layer.op == "MatMul") {
        node->make("QLinearMatMul",
                   {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"});
    } else if (layer.op == "MaxPool") {
        node->make("MaxPool", {"x"});
    } else if (layer.op == "Add") {
        node->find("w")->tensor_type = TENSOR_TYPE_VAR;
        node->make("com.microsoft.QLinearAdd",
                   {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"});
    } else if (layer.op == "GlobalAveragePool") {
        node->make("com.microsoft.QLinearGlobalAveragePool",
                   {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
    }
}

std::string choose_bytes(const Case& layer)
{
    test::ByteNode node;
    make_int8_node(layer, &node);
    if (!node.node()) return "";
    for (const auto& [name, values] : layer.lists)
        node.set(name, values);
    for (const auto& [name, value] : layer.ints)
        node.set(name, value);
    node.infer();
    return choose("conv.s8.nhwc", [&](uint64_t features) { return pick(*node.node(), features); });
}

std::vector<std::string> choose_kernels(const Case& layer)
{
    std::vector<std::string> chosen;
    for (const int data_type : {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16})
        chosen.push_back(choose_float(layer, data_type));
    const std::string bytes = choose_bytes(layer);
    if (!bytes.empty()) chosen.push_back(bytes);
    return chosen;
}

TEST(NetworkLayers, HaveTheirKernels)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the reference is all that this build has";
    std::vector<Layer> layers = read_layers();
    ASSERT_GT(layers.size(), 250u);
    std::set<std::string> networks;
    for (Layer& layer : layers) {
        const std::vector<std::string> chosen = choose_kernels(read_case(layer.text));
        networks.insert(layer.text.substr(0, layer.text.find(':')));
        if (test::is_table_written()) layer.kernels = chosen;
        EXPECT_EQ(chosen, layer.kernels) << layer.text;
    }
    EXPECT_EQ(networks.size(), 10u);
    if (test::is_table_written()) write_layers(layers);
}

// Names are <operator>.<type>.<algorithm>, as docs/add-a-kernel.md describes them.
TEST(KernelName, HasOperatorTypeAndAlgorithm)
{
    const std::regex grammar(
        "[a-z0-9_]+\\.(f32|f16|fp|s8|x)\\.[a-z0-9_]+|reference(\\.[a-z]+)?|custom");
    for (int i = 0; i < kernel_table_num; ++i)
        for (size_t k = 0; k < kernel_tables[i]->row_num; ++k) {
            const char* name = kernel_tables[i]->rows[k].name;
            EXPECT_TRUE(std::regex_match(name, grammar)) << name;
        }
}

}  // namespace
}  // namespace tengine::cpu
