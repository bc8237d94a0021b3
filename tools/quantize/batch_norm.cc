// SPDX-License-Identifier: Apache-2.0
// Folds batch normalisation into convolutions. The contract is in batch_norm.h.
#include "quantize/batch_norm.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "quantize/onnx_model.h"

namespace tengine::tools {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr float kDefaultEpsilon = 1e-5f;

// y = factor x + offset, for each channel
struct Affine
{
    std::vector<double> factor;
    std::vector<double> offset;
};

bool is_constant_float(const GraphProto& graph, const GraphIndex& index, const std::string& name)
{
    const auto found = index.initializers.find(name);
    return found != index.initializers.end() && is_float(graph.initializer(found->second));
}

std::vector<float> constant_values(const GraphProto& graph, const GraphIndex& index,
                                   const std::string& name)
{
    return float_values(graph.initializer(index.initializers.at(name)));
}

// The Conv in front of `norm` that can take it, or -1.
int find_conv(const GraphProto& graph, const GraphIndex& index, const NodeProto& norm)
{
    const auto producer = index.producers.find(input_of(norm, 0));
    if (norm.op_type() != "BatchNormalization" || producer == index.producers.end()) return -1;
    const NodeProto& conv = graph.node(producer->second);
    const bool has_constants =
        is_constant_float(graph, index, input_of(conv, 1)) &&
        (input_of(conv, 2).empty() || is_constant_float(graph, index, input_of(conv, 2)));
    bool fits = conv.op_type() == "Conv" && has_constants && norm.input_size() == 5 &&
                int_attribute(norm, "training_mode", 0) == 0 &&
                index.consumers.at(conv.output(0)).size() == 1 &&
                index.outputs.count(conv.output(0)) == 0;
    for (int i = 1; fits && i < 5; ++i)
        fits = is_constant_float(graph, index, norm.input(i));
    return fits ? producer->second : -1;
}

Affine affine_of(const GraphProto& graph, const GraphIndex& index, const NodeProto& norm)
{
    const std::vector<float> scale = constant_values(graph, index, norm.input(1));
    const std::vector<float> bias = constant_values(graph, index, norm.input(2));
    const std::vector<float> mean = constant_values(graph, index, norm.input(3));
    const std::vector<float> variance = constant_values(graph, index, norm.input(4));
    const double epsilon = float_attribute(norm, "epsilon", kDefaultEpsilon);
    Affine affine;
    const size_t channels = scale.size();
    if (bias.size() != channels || mean.size() != channels || variance.size() != channels)
        return affine;
    for (size_t c = 0; c < channels; ++c) {
        affine.factor.push_back(scale[c] / std::sqrt(variance[c] + epsilon));
        affine.offset.push_back(bias[c] - mean[c] * affine.factor[c]);
    }
    return affine;
}

// A name that no tensor has; it is one from now on.
std::string new_name(std::set<std::string>* names, std::string name)
{
    while (!names->insert(name).second)
        name += "_";
    return name;
}

// Returns false, and changes nothing, if the numbers of channels differ.
bool fold(GraphProto* graph, GraphIndex* index, const NodeProto& norm, NodeProto* conv)
{
    const Affine affine = affine_of(*graph, *index, norm);
    const TensorProto weight = graph->initializer(index->initializers.at(conv->input(1)));
    const size_t channels = affine.factor.size();
    std::vector<float> weights = float_values(weight);
    std::vector<float> bias(channels, 0.0f);
    if (!input_of(*conv, 2).empty()) bias = constant_values(*graph, *index, conv->input(2));
    const bool fits = weight.dims_size() > 2 && channels != 0 && bias.size() == channels &&
                      weight.dims(0) == static_cast<int64_t>(channels);
    if (!fits) return false;
    const size_t row = weights.size() / channels;
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<float>(weights[i] * affine.factor[i / row]);
    for (size_t c = 0; c < channels; ++c)
        bias[c] = static_cast<float>(bias[c] * affine.factor[c] + affine.offset[c]);

    // Other nodes may read the old ones.
    const std::string weight_name = new_name(&index->names, conv->input(1) + "_folded");
    const std::string bias_name = new_name(&index->names, conv->name() + "_bias_folded");
    *graph->add_initializer() = make_proto(weight_name, TensorProto::FLOAT,
                                           {weight.dims().begin(), weight.dims().end()}, weights);
    *graph->add_initializer() =
        make_proto(bias_name, TensorProto::FLOAT, {static_cast<int64_t>(channels)}, bias);
    conv->set_input(1, weight_name);
    if (conv->input_size() < 3) conv->add_input();
    conv->set_input(2, bias_name);
    conv->set_output(0, norm.output(0));
    return true;
}

}  // namespace

int fold_batch_norms(GraphProto* graph)
{
    GraphIndex index(*graph);
    std::vector<int> folded;
    for (int i = 0; i < graph->node_size(); ++i) {
        const NodeProto& norm = graph->node(i);
        const int conv = find_conv(*graph, index, norm);
        if (conv >= 0 && fold(graph, &index, norm, graph->mutable_node(conv))) folded.push_back(i);
    }
    for (auto i = folded.rbegin(); i != folded.rend(); ++i)
        graph->mutable_node()->DeleteSubrange(*i, 1);
    drop_unused_initializers(graph);
    return static_cast<int>(folded.size());
}

}  // namespace tengine::tools
