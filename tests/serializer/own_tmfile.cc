// SPDX-License-Identifier: Apache-2.0
#include "serializer/own_tmfile.h"

#include <gtest/gtest.h>

#include "base/alloc.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/model_part.h"
#include "graph/variant.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "serializer/onnx_builder.h"
#include "serializer/synthetic_graph.h"
#include "serializer/tmfile_model.h"

namespace tengine::test {
namespace {

std::string make_digits()
{
    const Loaded onnx{std::filesystem::path(TENGINE_EXAMPLES_DATA_DIR "/digits.onnx")};
    EXPECT_EQ(onnx.status, 0) << onnx.message;
    const int dims[] = {1, 1, 8, 8};
    EXPECT_EQ(
        set_ir_tensor_shape(get_ir_graph_tensor(onnx.graph, onnx.graph->input_tensors[0]), dims, 4),
        0);
    struct graph* translated = nullptr;
    EXPECT_EQ(create_saved_graph(onnx.graph, "tengine", &translated), 0) << tengine_error_message();
    std::string bytes = write_graph(translated);
    destroy_ir_graph(translated);
    return bytes;
}

// Weights with a scale for each output channel.
struct tensor* add_weights(SyntheticGraph* made, const std::string& name, int channels)
{
    struct tensor* weights = made->add_constant(name.c_str(), {channels, 3, 3, 3}, TENGINE_DT_INT8);
    std::vector<float> scales;
    for (int i = 0; i < channels; ++i)
        scales.push_back(0.25f / static_cast<float>(i + 1));
    const std::vector<int> zero_points(scales.size(), 0);
    EXPECT_EQ(
        set_ir_tensor_quantization_parameter(weights, scales.data(), zero_points.data(), channels),
        0);
    return weights;
}

void quantise_activation(struct tensor* tensor, float scale, int zero_point)
{
    EXPECT_EQ(set_ir_tensor_data_type(tensor, TENGINE_DT_UINT8), 0);
    EXPECT_EQ(set_ir_tensor_quantization_parameter(tensor, &scale, &zero_point, 1), 0);
}

// Four convolutions of 3x3, one after the other.
std::string make_quantised()
{
    constexpr int kChannels = 3;
    SyntheticGraph made;
    const struct node* input = made.add_input();
    const struct node* last = input;
    quantise_activation(get_ir_node_output(input, 0), 0.5f, 128);
    for (const std::string name : {"a", "b", "c", "d"}) {
        struct tensor* weights = add_weights(&made, name + "_weights", kChannels);
        struct tensor* bias =
            made.add_constant((name + "_bias").c_str(), {kChannels}, TENGINE_DT_INT32);
        struct node* node = made.add(name.c_str(), get_op_type("tengine", "Convolution"),
                                     {get_ir_node_output(last, 0), weights, bias});
        for (const char* field : {"kernel_h", "kernel_w", "output_channel"})
            EXPECT_EQ(set_node_int(node, field, 3), 0);
        quantise_activation(get_ir_node_output(node, 0), 0.125f, 120);
        last = node;
    }
    made.set_borders(input, last);
    return write_graph(made.graph);
}

std::string make_operators()
{
    std::mt19937 random(7);
    SyntheticGraph made;
    const struct node* input = made.add_input();
    const struct node* last = input;
    for (const ir_method_t* method : list_written_operators()) {
        struct node* node =
            made.add(("node of " + std::string(method->name)).c_str(),
                     get_op_type("tengine", method->name), {get_ir_node_output(last, 0)});
        EXPECT_EQ(set_random_fields(node, random), 0) << tengine_error_message();
        last = node;
    }
    made.set_borders(input, last);
    return write_graph(made.graph);
}

void add_compiled_part(struct graph* graph, uint8_t mark, const std::string& device,
                       const std::vector<int32_t>& nodes)
{
    static const char kBytes[] = "what a device has saved";
    ir_model_part_t part = {};
    std::snprintf(part.device, sizeof part.device, "%s", device.c_str());
    ir_model_bytes_t bytes = {};
    bytes.fingerprint[0] = mark;
    std::snprintf(bytes.target, sizeof bytes.target, "compiler of %s", device.c_str());
    bytes.data = kBytes;
    bytes.size = sizeof kBytes;
    find_sha256_of_pieces(nullptr, bytes.data, bytes.size, bytes.digest);
    EXPECT_EQ(set_ir_model_part_nodes(&part, nodes.data(), static_cast<int>(nodes.size())), 0);
    EXPECT_EQ(add_ir_model_part(graph, &part, &bytes, nullptr), 0);
}

std::string make_compiled()
{
    const LoadedTmfile loaded(make_quantised());
    EXPECT_EQ(loaded.status, 0) << loaded.message;
    const auto index_of = [&](const char* name) { return loaded.node(name)->index; };
    add_compiled_part(loaded.graph, 7, "NPU", {index_of("b"), index_of("a")});
    add_compiled_part(loaded.graph, 9, "DSP", {index_of("d")});
    const auto digest = static_cast<ir_digest_t*>(alloc_memory(sizeof(ir_digest_t)));
    struct tensor* weights = loaded.tensor("a_weights");
    find_sha256_of_pieces(nullptr, weights->data, get_ir_tensor_bytes(weights), digest->bytes);
    digest->found = true;
    weights->core->digest = digest;
    return write_graph(loaded.graph);
}

void add_variant(struct graph* graph, const char* name)
{
    ir_variant_t variant;
    int place;
    EXPECT_EQ(init_ir_variant(&variant, name, "DSP,CPU", "A1", ""), 0);
    variant.precision = TENGINE_MODE_INT8;
    EXPECT_EQ(set_ir_key_value(&variant.options, "DSP.mode", "quick"), 0);
    const ir_model_part_t* part = get_ir_model_part(graph, 1);
    EXPECT_EQ(add_ir_variant_parts(&variant, part->bytes->fingerprint, 1), 0);
    EXPECT_EQ(put_ir_variant(graph, &variant, &place), 0);
}

std::string make_variants()
{
    const LoadedTmfile loaded(make_compiled());
    add_variant(loaded.graph, "first");
    add_variant(loaded.graph, "second");
    return write_graph(loaded.graph);
}

struct OwnTmfile
{
    const char* name;
    std::string (*make)();
};

constexpr OwnTmfile kFiles[] = {{"digits", make_digits},
                                {"quantised", make_quantised},
                                {"operators", make_operators},
                                {"compiled", make_compiled},
                                {"variants", make_variants}};

}  // namespace

std::vector<std::string> own_tmfile_names()
{
    std::vector<std::string> names;
    for (const OwnTmfile& file : kFiles)
        names.push_back(file.name);
    return names;
}

std::string make_own_tmfile(const std::string& name)
{
    for (const OwnTmfile& file : kFiles)
        if (file.name == name) return file.make();
    return "";
}

}  // namespace tengine::test
